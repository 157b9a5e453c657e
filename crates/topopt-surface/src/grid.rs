//! `Grid`: places of the points of a lattice.

use topopt_mesh::BoundingBox;

/// Places of the points of a lattice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub origin: [f64; 3],
    pub spacing: f64,
    pub counts: [usize; 3],
}

/// Most points of a lattice: 16 GB.
const MOST: f64 = 1e9;

impl Grid {
    /// The lattice of `places` and all within the `reach` of them; none with too many points.
    pub fn around(places: &[[f64; 3]], spacing: f64, reach: f64) -> Option<Self> {
        let bounds = BoundingBox::around(places);
        // Besides two more layers, a part of a spacing: no plane of the part is one of the lattice.
        let margin = [2.0137, 2.0191, 2.0113].map(|share| reach + share * spacing);
        let origin = [0, 1, 2].map(|i| bounds.min[i] - margin[i]);
        let count = |i: usize| (bounds.extent()[i] + 2.0 * margin[i]) / spacing + 2.0;
        let counts = [0, 1, 2].map(count);
        let product = counts.iter().product::<f64>();
        (product <= MOST).then(|| Self { origin, spacing, counts: counts.map(|n| n as usize) })
    }

    /// Numbers of the points in the layer `k` across `axis`, rows along the axis that follows.
    pub fn layer(&self, axis: usize, k: usize) -> Vec<usize> {
        let strides = [1, self.counts[0], self.counts[0] * self.counts[1]];
        let [along, over] = [(axis + 1) % 3, (axis + 2) % 3];
        let first = |j: usize| k * strides[axis] + j * strides[over];
        let row = |j| (0..self.counts[along]).map(move |i| first(j) + i * strides[along]);
        (0..self.counts[over]).flat_map(row).collect()
    }

    /// Coordinates of a point by its number.
    pub fn point(&self, number: usize) -> [f64; 3] {
        let [nx, ny, _] = self.counts;
        let counted = [number % nx, number / nx % ny, number / (nx * ny)];
        [0, 1, 2].map(|i| self.origin[i] + self.spacing * counted[i] as f64)
    }

    /// Place of `x` along `axis` in corners from the first one on, a positive number.
    pub fn place(&self, axis: usize, x: f64) -> f64 {
        (x - self.origin[axis]) / self.spacing
    }

    /// The first and the last plane across `axis` within the `reach` of `x`.
    pub fn range(&self, axis: usize, x: f64, reach: f64) -> [usize; 2] {
        // A cast rounds down.
        let place = |x: f64| self.place(axis, x) as usize;
        [place(x - reach) + 1, place(x + reach)]
    }
}

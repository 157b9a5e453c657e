//! The volume that a threshold encloses, and the threshold that encloses a volume.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, tetrahedra};

use crate::Field;
use crate::cut::Cut;

/// Elements whose volumes are added up by one task, so that sums do not depend on the number of
/// threads.
const CHUNK: usize = 4096;

/// The volume of {`field` >= `threshold`}, enclosed by exactly the triangles of
/// [`iso_surface`](crate::iso_surface).
pub fn clipped_volume(mesh: &HexMesh, field: &Field, threshold: f64) -> f64 {
    Elements::of(mesh, field).clipped(threshold)
}

/// The threshold whose solid has the volume `target`, and that solid's volume. The two volumes
/// differ where no threshold gives the target: where large parts of the field have one value. A
/// field of one value up to rounding is inside as a whole or not at all, whichever is nearer.
pub fn threshold_of_volume(mesh: &HexMesh, field: &Field, target: f64) -> (f64, f64) {
    let elements = Elements::of(mesh, field);
    let [least, most] = field.range();

    // The volume falls from `low`, where all is inside, to `high`, where nothing is.
    let (mut low, mut high) = ((least, elements.total), (most.next_up(), 0.0));
    let nearer = |a: (f64, f64), b: (f64, f64)| {
        if (a.1 - target).abs() < (b.1 - target).abs() { a } else { b }
    };
    let mut best = nearer(low, high);

    let is_uniform = most - least <= ROUNDING * most.abs().max(least.abs());
    let evaluations = if is_uniform { 0 } else { MOST_EVALUATIONS };
    for evaluation in 0..evaluations {
        // False position and bisection in turn: plateaus and jumps cannot hold it up.
        let share = match evaluation % 2 {
            0 => ((low.1 - target) / (low.1 - high.1)).clamp(0.01, 0.99),
            _ => 0.5,
        };

        let threshold = low.0 + share * (high.0 - low.0);
        // Between neighboring numbers there is none.
        let is_between = low.0 < threshold && threshold < high.0;
        if high.0 - low.0 <= RESOLUTION * (most - least) || !is_between {
            break;
        }

        let found = (threshold, elements.clipped(threshold));
        best = nearer(found, best);
        if (found.1 - target).abs() <= TOLERANCE * target {
            break;
        }
        *if found.1 > target { &mut low } else { &mut high } = found;
    }
    best
}

/// Relative difference of volumes that counts as none.
const TOLERANCE: f64 = 1e-6;

/// Thresholds are not told apart below this share of the range of the values.
const RESOLUTION: f64 = 1e-8;

/// Relative difference of values that counts as none: filters are solved to 1e-11.
const ROUNDING: f64 = 1e-9;

/// Every second evaluation halves the interval: 2^-32 of it is well below [`RESOLUTION`].
const MOST_EVALUATIONS: usize = 64;

/// What does not change with the threshold.
struct Elements<'a> {
    mesh: &'a HexMesh,
    field: &'a Field,
    /// Smallest and largest value and the volume of every element, `[n_elements]`.
    bounds: Vec<[f64; 3]>,
    total: f64,
}

impl<'a> Elements<'a> {
    fn of(mesh: &'a HexMesh, field: &'a Field) -> Self {
        let bounds = |element: usize| {
            let center = field.at((mesh.n_nodes() + element) as u32);
            let values = mesh.hexes()[element].map(|node| field.at(node));
            let low = values.iter().fold(center, |low, value| low.min(*value));
            let high = values.iter().fold(center, |high, value| high.max(*value));
            let volumes = tetrahedra::of_element(mesh, element).map(|t| volume(mesh, t));
            [low, high, volumes.sum::<f64>()]
        };
        let bounds: Vec<_> = (0..mesh.n_elements()).into_par_iter().map(bounds).collect();
        let total = bounds.iter().map(|[.., volume]| volume).sum();
        Self { mesh, field, bounds, total }
    }

    fn clipped(&self, threshold: f64) -> f64 {
        let cut = Cut { mesh: self.mesh, field: self.field, threshold };
        let of_element = |element: usize, [low, high, volume]: [f64; 3]| {
            if low >= threshold {
                volume
            } else if high < threshold {
                0.0
            } else {
                let tetrahedra = tetrahedra::of_element(self.mesh, element);
                let clipped = |t: [u32; 4]| cut.share_inside(t) * self::volume(self.mesh, t);
                tetrahedra.map(clipped).sum()
            }
        };
        let of_chunk = |(chunk, bounds): (usize, &[[f64; 3]])| -> f64 {
            let elements = (chunk * CHUNK..).zip(bounds);
            elements.map(|(element, bounds)| of_element(element, *bounds)).sum()
        };
        let sums: Vec<f64> = self.bounds.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        sums.iter().sum()
    }
}

fn volume(mesh: &HexMesh, tetrahedron: [u32; 4]) -> f64 {
    tetrahedra::volume(tetrahedron.map(|vertex| tetrahedra::coordinates(mesh, vertex)))
}

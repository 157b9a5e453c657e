//! `Depths`: how deep points of the elements lie below the skin of a solid.

use rayon::prelude::*;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{HexMesh, tetrahedra};

use crate::TriangleSurface;
use crate::ramps::Ramps;

/// Depths at points of all elements, element by element. Elements that the skin may cut have one
/// in each of their tetrahedra, since a depth is not linear across the middle of a member; all
/// others have one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Depths {
    /// Depth below the skin, negative outside, `[n_points]`.
    values: Vec<f64>,
    /// Volumes that the points stand for, `[n_points]`.
    volumes: Vec<f64>,
    /// Rises of the depth across these volumes, `[n_points]`.
    rises: Vec<f64>,
    /// Number of points of each element, `[n_elements]`.
    counts: Vec<u32>,
}

/// Difference of the field from its level beyond which a place is at least an element from the
/// skin, and the depth that it gets, in element widths.
const FAR: f64 = 0.48;
const FAR_DEPTH: f64 = 4.0;

/// Distance from the skin, in element widths, up to which its normal is better known than the way.
const ON_SKIN: f64 = 1e-6;

/// Elements whose points are found by one task.
const CHUNK: usize = 1024;

/// The skin to which depths are measured.
struct Walls<'a, F> {
    skin: &'a TriangleSurface,
    triangles: Triangles,
    normals: Vec<[f64; 3]>,
    /// Field whose level surface is nearly the skin, less that level.
    above: F,
    width: f64,
}

impl Depths {
    /// The depths below `skin` of elements with `volumes` and about the `width`; `above` is the
    /// field less the level at which the skin lay before its fairing.
    pub fn below(
        skin: &TriangleSurface,
        above: impl Fn([f64; 3]) -> f64 + Sync,
        (mesh, volumes): (&HexMesh, &[f64]),
        width: f64,
    ) -> Self {
        let triangles = skin.tree();
        let walls = Walls { skin, triangles, normals: skin.normals(), above, width };
        let chunks = volumes.par_chunks(CHUNK).enumerate().map(|(chunk, volumes)| {
            let mut depths = Self::default();
            for (element, volume) in (chunk * CHUNK..).zip(volumes) {
                depths.add(mesh, element, *volume, &walls);
            }
            depths
        });
        let chunks: Vec<Self> = chunks.collect();
        let mut all = Self::default();
        for chunk in chunks {
            all.values.extend(chunk.values);
            all.volumes.extend(chunk.volumes);
            all.rises.extend(chunk.rises);
            all.counts.extend(chunk.counts);
        }
        all
    }

    /// Adds the points of an element, whose volumes add up to its `volume`.
    fn add<F: Fn([f64; 3]) -> f64>(
        &mut self,
        mesh: &HexMesh,
        element: usize,
        volume: f64,
        walls: &Walls<F>,
    ) {
        let center = mesh.center(element);
        let (depth, _) = walls.depth(center);
        let corners = mesh.element(element).iter().map(|&node| mesh.coordinates()[node as usize]);
        let reach = corners.map(|x| length(difference(x, center))).fold(0.0, f64::max);
        if depth.abs() > reach {
            self.push(depth, volume, volume.cbrt());
            self.counts.push(1);
            return;
        }

        let first = self.values.len();
        for (tetrahedron, volume) in tetrahedra::with_volumes(mesh, element) {
            let corners = tetrahedron.map(|vertex| tetrahedra::coordinates(mesh, vertex));
            let center = [0, 1, 2].map(|i| corners.iter().map(|x| 0.25 * x[i]).sum::<f64>());
            let (depth, normal) = walls.depth(center);
            let heights = corners.map(|x| dot(difference(x, center), normal));
            self.push(depth, volume.abs(), rise(heights));
        }
        // The faces of a bent element are not those of its tetrahedra.
        let scale = volume / self.volumes[first..].iter().sum::<f64>();
        self.volumes[first..].iter_mut().for_each(|of_point| *of_point *= scale);
        self.counts.push((self.values.len() - first) as u32);
    }

    fn push(&mut self, depth: f64, volume: f64, rise: f64) {
        self.values.push(depth);
        self.volumes.push(volume);
        self.rises.push(rise.max(f64::MIN_POSITIVE));
    }

    fn ramps(&self) -> Ramps<'_> {
        Ramps { values: &self.values, volumes: &self.volumes, rises: &self.rises }
    }

    /// The depth up to which elements of the `width` hold the `volume`: 0 where none holds it
    /// better than the skin.
    pub fn level(&self, volume: f64, width: f64) -> f64 {
        // Points that are far from the skin stay inside or outside.
        let (ramps, most) = (self.ramps(), (FAR_DEPTH - 1.0) * width);
        let missed = |level: f64| (ramps.above(level) - volume).abs();
        let level = ramps.level(volume, [-most, most]);
        if missed(level) < missed(0.0) { level } else { 0.0 }
    }

    /// Share of every element that is deeper than `level`, `[n_elements]`.
    pub fn shares(&self, level: f64) -> Vec<f64> {
        let (ramps, mut first) = (self.ramps(), 0);
        let mut share = |count: &u32| {
            let points = first..first + *count as usize;
            first = points.end;
            let whole: f64 = self.volumes[points.clone()].iter().sum();
            points.map(|point| ramps.above_at(point, level)).sum::<f64>() / whole
        };
        self.counts.iter().map(&mut share).collect()
    }
}

/// Rise across a tetrahedron whose corners have these heights over its center: that of a layer in
/// which heights scatter as much. Squares have a mean of sum / 20 in the tetrahedron, and of
/// rise^2 / 12 in the layer.
fn rise(heights: [f64; 4]) -> f64 {
    let sum: f64 = heights.iter().map(|height| height * height).sum();
    (0.6 * sum).sqrt()
}

impl<F: Fn([f64; 3]) -> f64> Walls<'_, F> {
    /// Depth of `x` below the skin, negative outside, and the direction in which it changes most;
    /// far from the skin a bound, and none.
    fn depth(&self, x: [f64; 3]) -> (f64, [f64; 3]) {
        let (value, far) = ((self.above)(x), FAR_DEPTH * self.width);
        if value.abs() > FAR {
            return (far.copysign(value), [0.0; 3]);
        }
        let Some((triangle, wall)) = self.triangles.nearest_of(x) else {
            return (far.copysign(value), [0.0; 3]);
        };
        let way = difference(x, wall);
        let normal = self.skin.normal_at(triangle, wall, &self.normals);
        let depth = length(way).min(far).copysign(-dot(way, normal));
        let steepest = if length(way) > ON_SKIN * self.width { way } else { normal };
        (depth, steepest.map(|x| x / length(steepest).max(f64::MIN_POSITIVE)))
    }
}

impl TriangleSurface {
    /// The normal, not of length 1, in a point `x` of a triangle, linear between those of vertices.
    fn normal_at(&self, triangle: usize, x: [f64; 3], normals: &[[f64; 3]]) -> [f64; 3] {
        let corners = self.triangles[triangle];
        let places = corners.map(|vertex| self.vertices[vertex as usize]);
        let [a, b, c] = places.map(|place| difference(place, x));
        let whole = self.area_vector(&corners);
        let shares = [cross(b, c), cross(c, a), cross(a, b)].map(|part| dot(part, whole));
        let normal =
            |i: usize| -> f64 { (0..3).map(|k| shares[k] * normals[corners[k] as usize][i]).sum() };
        [0, 1, 2].map(normal)
    }
}

#[cfg(test)]
mod tests {
    use topopt_testing::mapped_box;

    use super::*;

    /// The boundary of the box from `low` to `high`.
    fn plate(low: [f64; 3], high: [f64; 3]) -> TriangleSurface {
        let extent = difference(high, low);
        let mesh = mapped_box([1, 1, 1], |x| [0, 1, 2].map(|i| low[i] + extent[i] * x[i]));
        crate::Part::of_mesh(&mesh).unwrap().surface().clone()
    }

    /// Plates thinner than two elements, whose middle lies within elements.
    #[test]
    fn thin_plates_fill_what_they_hold() {
        let mesh = mapped_box([6, 6, 6], |x| x.map(|x| 6.0 * x));
        let volumes = mesh.volumes();
        for (low, high) in [(2.4, 3.9), (2.2, 3.4), (2.3, 3.0), (2.7, 4.6)] {
            let skin = plate([low, -1.0, -1.0], [high, 7.0, 7.0]);
            let shares = Depths::below(&skin, |_| 0.0, (&mesh, &volumes), 1.0).shares(0.0);
            let held: f64 = shares.iter().sum();
            assert!((held / 36.0 - (high - low)).abs() < 0.02, "{low} {high} {held}");
            for (share, x) in shares.iter().zip(mesh.centers()) {
                let truth = (high.min(x[0] + 0.5) - low.max(x[0] - 0.5)).max(0.0);
                assert!((share - truth).abs() < 0.05, "{share} {truth}");
            }
        }
    }
}

//! `Depths`: how deep points of the elements lie below the skin of a solid.

use rayon::prelude::*;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{HexMesh, tetrahedra};

use crate::TriangleSurface;
use crate::ramps::Ramps;

/// Depths at points of all elements, element by element. Elements that the skin may cut have four
/// points in each of their tetrahedra, since a depth is not linear across the middle of a member;
/// all others have one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Depths {
    /// Depth below the skin, negative outside, `[n_points]`.
    values: Vec<f64>,
    /// Volumes that the points stand for, `[n_points]`.
    volumes: Vec<f64>,
    /// Widths of the points: edges of cubes of these volumes, `[n_points]`.
    widths: Vec<f64>,
    /// Number of points of each element, `[n_elements]`.
    counts: Vec<u32>,
}

/// Barycentric coordinates of the points of a tetrahedron: at one corner this, at the others the
/// rest in equal parts \[Hughes2000, 3.I\].
const NEAR: f64 = 0.585_410_196_624_968_5;

/// Difference of the field from its level beyond which a place is at least an element from the
/// skin, and the depth that it gets, in element widths.
const FAR: f64 = 0.48;
const FAR_DEPTH: f64 = 4.0;

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
    /// field less the level at which the skin lies, but for its fairing.
    pub fn below(
        skin: &TriangleSurface,
        above: impl Fn([f64; 3]) -> f64 + Sync,
        (mesh, volumes): (&HexMesh, &[f64]),
        width: f64,
    ) -> Self {
        let triangles = Triangles::new(skin.corners_of_all());
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
            all.widths.extend(chunk.widths);
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
        let depth = walls.depth(center);
        let corners = mesh.element(element).iter().map(|&node| mesh.coordinates()[node as usize]);
        let reach = corners.map(|x| length(difference(x, center))).fold(0.0, f64::max);
        if depth.abs() > reach {
            self.push(depth, volume);
            self.counts.push(1);
            return;
        }

        let first = self.values.len();
        for (tetrahedron, volume) in tetrahedra::with_volumes(mesh, element) {
            let corners = tetrahedron.map(|vertex| tetrahedra::coordinates(mesh, vertex));
            for x in points(corners) {
                self.push(walls.depth(x), 0.25 * volume.abs());
            }
        }
        // The faces of a bent element are not those of its tetrahedra.
        let scale = volume / self.volumes[first..].iter().sum::<f64>();
        self.volumes[first..].iter_mut().for_each(|of_point| *of_point *= scale);
        self.counts.push((self.values.len() - first) as u32);
    }

    fn push(&mut self, depth: f64, volume: f64) {
        self.values.push(depth);
        self.volumes.push(volume);
        self.widths.push(volume.cbrt().max(f64::MIN_POSITIVE));
    }

    fn ramps(&self) -> Ramps<'_> {
        Ramps { values: &self.values, volumes: &self.volumes, rises: &self.widths }
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

/// The four points of a tetrahedron.
fn points(corners: [[f64; 3]; 4]) -> [[f64; 3]; 4] {
    let rest = (1.0 - NEAR) / 3.0;
    let sum = [0, 1, 2].map(|i| corners.iter().map(|x| x[i]).sum::<f64>());
    corners.map(|x| [0, 1, 2].map(|i| rest * sum[i] + (NEAR - rest) * x[i]))
}

impl<F: Fn([f64; 3]) -> f64> Walls<'_, F> {
    /// Depth of `x` below the skin, negative outside; far from it only a bound.
    fn depth(&self, x: [f64; 3]) -> f64 {
        let (value, far) = ((self.above)(x), FAR_DEPTH * self.width);
        if value.abs() > FAR {
            return far.copysign(value);
        }
        let Some((triangle, wall)) = self.triangles.nearest_of(x) else {
            return far.copysign(value);
        };
        let way = difference(x, wall);
        let outwards = dot(way, self.skin.normal_at(triangle, wall, &self.normals));
        dot(way, way).sqrt().min(far).copysign(-outwards)
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

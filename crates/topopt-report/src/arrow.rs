//! Forces as arrows.

use std::collections::BTreeMap;

use topopt_mesh::HexMesh;
use topopt_mesh::vector::{cross, dot, length};
use topopt_surface::TriangleSurface;

use crate::picture::normalized;

/// Lengths as shares of the diagonal of the part: of the longest arrow, of its head, of half the
/// thickness of head and shaft.
const LONGEST: f64 = 0.16;
const HEAD: f64 = 0.045;
const HEAD_RADIUS: f64 = 0.016;
const SHAFT_RADIUS: f64 = 0.0055;

/// The shortest arrow as a share of the longest; forces below the second share have none.
const SHORTEST: f64 = 0.4;
const LEAST_FORCE: f64 = 0.02;

/// Number of boxes along the diagonal of the part; the forces in a box become one arrow.
const BOXES: f64 = 9.0;

/// Corners of the circles.
const CORNERS: usize = 16;

/// A force and where it acts.
#[derive(Debug, Clone, Copy, Default)]
struct Force {
    sum: [f64; 3],
    /// Sum of the places by the sizes of the forces, and of these.
    moment: [f64; 3],
    weight: f64,
}

/// Arrows from where the `forces`, `[n_nodes][3]`, act on the nodes of a mesh, the longest for the
/// largest; a `scale` below 1 makes all of them smaller. Forces near each other become one.
pub(crate) fn arrows(mesh: &HexMesh, forces: &[[f64; 3]], scale: f64) -> TriangleSurface {
    let bounds = mesh.bounding_box();
    let diagonal = length(bounds.extent());
    let mut boxes: BTreeMap<[i64; 3], Force> = BTreeMap::new();
    for (x, force) in mesh.coordinates().iter().zip(forces) {
        let weight = length(*force);
        if weight > 0.0 {
            let place = |i: usize| (BOXES * (x[i] - bounds.min[i]) / diagonal).floor() as i64;
            let total = boxes.entry([0, 1, 2].map(place)).or_default();
            (0..3).for_each(|i| total.sum[i] += force[i]);
            (0..3).for_each(|i| total.moment[i] += weight * x[i]);
            total.weight += weight;
        }
    }

    let largest = boxes.values().map(|force| length(force.sum)).fold(0.0, f64::max);
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for Force { sum, moment, weight } in boxes.into_values() {
        let share = length(sum) / largest;
        if share > LEAST_FORCE {
            let start = moment.map(|moment| moment / weight);
            let length = LONGEST * diagonal * share.max(SHORTEST);
            let of = scale * diagonal;
            add(start, normalized(sum), scale * length, of, &mut vertices, &mut triangles);
        }
    }
    TriangleSurface::new(vertices, triangles)
}

/// Adds an arrow: circles at the ends of the shaft and at that of the head, and its two ends.
fn add(
    start: [f64; 3],
    direction: [f64; 3],
    length: f64,
    diagonal: f64,
    vertices: &mut Vec<[f64; 3]>,
    triangles: &mut Vec<[u32; 3]>,
) {
    // Any vector across.
    let axis = (0..3).min_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs()));
    let mut least = [0.0; 3];
    least[axis.unwrap_or(0)] = 1.0;
    let side = normalized(cross(direction, least));
    let other = cross(direction, side);
    debug_assert!(dot(side, direction).abs() < 1e-9);

    let neck = length - HEAD * diagonal;
    let first = vertices.len() as u32;
    let rings = [(0.0, SHAFT_RADIUS), (neck, SHAFT_RADIUS), (neck, HEAD_RADIUS)];
    for (along, radius) in rings {
        vertices.extend((0..CORNERS).map(|corner| {
            let angle = std::f64::consts::TAU * corner as f64 / CORNERS as f64;
            let (sine, cosine) = angle.sin_cos();
            let across = |i: usize| radius * diagonal * (cosine * side[i] + sine * other[i]);
            std::array::from_fn(|i| start[i] + along * direction[i] + across(i))
        }));
    }
    vertices.push(start);
    vertices.push(std::array::from_fn(|i| start[i] + length * direction[i]));

    let n = CORNERS as u32;
    let (tail, tip) = (first + 3 * n, first + 3 * n + 1);
    for corner in 0..n {
        let next = (corner + 1) % n;
        let at = |ring: u32, corner: u32| first + ring * n + corner;
        triangles.push([tail, at(0, next), at(0, corner)]);
        for ring in 0..2 {
            let [a, b] = [at(ring, corner), at(ring, next)];
            let [c, d] = [at(ring + 1, next), at(ring + 1, corner)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([at(2, corner), at(2, next), tip]);
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;

    #[test]
    fn forces_near_each_other_are_one_arrow_along_their_sum() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let diagonal = length(mesh.bounding_box().extent());
        let force = |x: &[f64; 3]| match x[..] {
            [10.0, 5.0, z] if z < 1.5 => [0.0, -3.0, 0.0],
            [0.0, 0.0, 5.0] => [1.0, 0.0, 0.0],
            _ => [0.0; 3],
        };
        let forces: Vec<[f64; 3]> = mesh.coordinates().iter().map(force).collect();
        let surface = arrows(&mesh, &forces, 1.0);
        assert!(surface.volume() > 0.0);
        assert_eq!(surface.vertices().len(), 2 * (3 * CORNERS + 2));
        let has = |x: [f64; 3]| {
            let near = |y: &[f64; 3]| (0..3).all(|i| (x[i] - y[i]).abs() < 1e-9);
            assert!(surface.vertices().iter().any(near), "{x:?}");
        };
        has([10.0, 5.0, 0.5]);
        has([10.0, 5.0 - LONGEST * diagonal, 0.5]);
        has([SHORTEST * LONGEST * diagonal, 0.0, 5.0]);
        assert_eq!(arrows(&mesh, &vec![[0.0; 3]; mesh.n_nodes()], 1.0), TriangleSurface::default());
    }
}

//! Shape of the elements: scaled Jacobian and aspect ratio.

use rayon::prelude::*;

use crate::HexMesh;
use crate::cells::Shape;
use crate::hexahedron::{self, EDGES, EDGES_AT};
use crate::vector::{difference, dot, length};

/// Shape measures of every element.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// Scaled Jacobian, `[n_elements]`; see [`element_scaled_jacobian`].
    pub scaled_jacobian: Vec<f64>,
    /// Aspect ratio, `[n_elements]`; see [`aspect_ratio`].
    pub aspect_ratio: Vec<f64>,
}

/// An element of a smaller scaled Jacobian is as good as flat: its stiffness is 1000 times that of
/// its neighbors, and wrong. Elements are checked for it where a part is meshed or computed.
pub const LEAST_SCALED_JACOBIAN: f64 = 1e-3;

/// A tetrahedron of ten nodes is right however flat it is; below this scaled Jacobian rounding
/// takes over. One of 1e-3 changes the deflection of a beam by 1e-5.
pub const LEAST_OF_TETRAHEDRA: f64 = 1e-6;

/// The least scaled Jacobian that elements of a mesh may have.
pub fn least_scaled_jacobian(mesh: &HexMesh) -> f64 {
    match mesh.shape() {
        Shape::Tetrahedron => LEAST_OF_TETRAHEDRA,
        _ => LEAST_SCALED_JACOBIAN,
    }
}

/// Stresses in an element of a smaller scaled Jacobian say nothing of the part.
pub const LEAST_OF_STRESSES: f64 = 0.05;

/// The element of the smallest scaled Jacobian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    /// The element.
    pub element: u32,
    /// Scaled Jacobian of the element.
    pub scaled_jacobian: f64,
    /// The least that its mesh may have.
    pub least: f64,
}

impl Worst {
    /// The first of the worst elements of `mesh`.
    pub fn of(mesh: &HexMesh) -> Self {
        Self::among(mesh, &scaled_jacobians(mesh))
    }

    /// Returns the first of the worst elements of `mesh`, which have these scaled Jacobians,
    /// `[n_elements]`.
    pub fn among(mesh: &HexMesh, scaled_jacobians: &[f64]) -> Self {
        let all = scaled_jacobians.par_iter().enumerate();
        let least = least_scaled_jacobian(mesh);
        let of = |(e, &scaled_jacobian): (usize, &f64)| Self {
            element: e as u32,
            scaled_jacobian,
            least,
        };
        let none = || Self { element: u32::MAX, scaled_jacobian: f64::INFINITY, least };
        all.map(of).reduce(none, Self::or)
    }

    /// Whether the element is [as good as flat](least_scaled_jacobian), or inverted.
    pub fn is_flat(self) -> bool {
        self.scaled_jacobian < self.least
    }

    fn or(self, other: Self) -> Self {
        let order = self.scaled_jacobian.total_cmp(&other.scaled_jacobian);
        if order.then(self.element.cmp(&other.element)).is_le() { self } else { other }
    }
}

/// The shape measures of a mesh at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct QualitySummary {
    /// Scaled Jacobian over the elements; 1 is best.
    pub scaled_jacobian: Spread,
    /// Aspect ratio over the elements; 1 is best.
    pub aspect_ratio: Spread,
    /// Up to ten elements with the smallest scaled Jacobian, worst first.
    pub worst: Vec<u32>,
    /// Number of elements by scaled Jacobian: bin i from i/10 to (i + 1)/10. The first bin also
    /// holds the negative ones.
    pub histogram: [usize; 10],
}

/// Smallest value, mean and largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Quality {
    /// The quality of every element of `mesh`.
    pub fn of(mesh: &HexMesh) -> Self {
        Self { scaled_jacobian: scaled_jacobians(mesh), aspect_ratio: aspect_ratios(mesh) }
    }

    /// The summary over all elements.
    pub fn summary(&self) -> QualitySummary {
        let jacobian = |&e: &u32| self.scaled_jacobian[e as usize];
        let by_jacobian = |a: &u32, b: &u32| jacobian(a).total_cmp(&jacobian(b)).then(a.cmp(b));
        let mut worst: Vec<u32> = (0..self.scaled_jacobian.len() as u32).collect();
        if worst.len() > 10 {
            worst.select_nth_unstable_by(10, by_jacobian);
            worst.truncate(10);
        }
        worst.sort_unstable_by(by_jacobian);
        let mut histogram = [0; 10];
        for value in &self.scaled_jacobian {
            histogram[(value * 10.0).clamp(0.0, 9.0) as usize] += 1;
        }
        QualitySummary {
            scaled_jacobian: Spread::of(&self.scaled_jacobian),
            aspect_ratio: Spread::of(&self.aspect_ratio),
            worst,
            histogram,
        }
    }
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { min, mean: values.iter().sum::<f64>() / values.len() as f64, max }
    }
}

/// The scaled Jacobian of every element, `[n_elements]`; that of the corners of a tetrahedron.
fn scaled_jacobians(mesh: &HexMesh) -> Vec<f64> {
    if mesh.shape() == Shape::Tetrahedron {
        let of = |_: &[u32; 10], [a, b, c, d, ..]: &[[f64; 3]; 10]| {
            tetrahedron_scaled_jacobian(&[*a, *b, *c, *d])
        };
        return mesh.of_elements(of);
    }
    mesh.of_elements(element_scaled_jacobian)
}

/// The aspect ratio of every element, `[n_elements]`; that of the straight edges of a tetrahedron.
fn aspect_ratios(mesh: &HexMesh) -> Vec<f64> {
    if mesh.shape() == Shape::Tetrahedron {
        let edges = Shape::Tetrahedron.edges();
        let of = |_: &[u32; 10], x: &[[f64; 3]; 10]| {
            ratio(edges.iter().map(|&[a, b]| difference(x[a], x[b])))
        };
        return mesh.of_elements(of);
    }
    mesh.of_elements(aspect_ratio)
}

/// The scaled Jacobian of the element with nodes `hex` at `x`, as the hexahedron, the wedge or the
/// pyramid that it is.
pub fn element_scaled_jacobian(hex: &[u32; 8], x: &[[f64; 3]; 8]) -> f64 {
    if !hexahedron::has_twice(hex) {
        return scaled_jacobian(x);
    }
    if let Some(corners) = hexahedron::wedge(hex) {
        return wedge_scaled_jacobian(&corners.map(|a| x[a]));
    }
    match hexahedron::pyramid(hex) {
        Some(corners) => pyramid_scaled_jacobian(&corners.map(|a| x[a])),
        None => scaled_jacobian(x),
    }
}

/// The smallest over the eight corners of the Jacobian determinant of the element with node
/// coordinates `x`, divided by the lengths of the three edges there: 1 for a brick, 0 for a flat
/// corner or an edge without length, negative for an inverted one.
pub fn scaled_jacobian(x: &[[f64; 3]; 8]) -> f64 {
    // The determinant is an eighth of the triple product of the edges along the three axes.
    let edges = EDGES.map(|[low, high]| difference(x[high], x[low]));
    let lengths = edges.map(length);
    let at_corner = |at: [usize; 3]| sine(&at.map(|k| edges[k]), at.map(|k| lengths[k]));
    EDGES_AT.map(at_corner).into_iter().fold(f64::INFINITY, f64::min)
}

/// The smallest over the six corners of the triple product of the edges there, divided by their
/// lengths and by the sine of 60 degrees: 1 for a straight wedge over an equilateral triangle, as
/// VTK has it. `x`: the corners in the order of [`hexahedron::wedge`].
pub fn wedge_scaled_jacobian(x: &[[f64; 3]; 6]) -> f64 {
    let corners = (0..6).map(|a| {
        // The next and the previous corner of the triangle, and the one in the other triangle.
        let (triangle, other) = (a / 3 * 3, (a + 3) % 6);
        let (next, last) = (triangle + (a + 1) % 3, triangle + (a + 2) % 3);
        corner(x, a, if a < 3 { [next, last, other] } else { [last, next, other] })
    });
    corners.fold(f64::INFINITY, f64::min) / 0.75_f64.sqrt()
}

/// The smallest over the four corners of the triple product of the edges there, divided by their
/// lengths and by the value of the regular tetrahedron, the square root of a half.
pub fn tetrahedron_scaled_jacobian(x: &[[f64; 3]; 4]) -> f64 {
    let ends = [[1, 2, 3], [2, 0, 3], [0, 1, 3], [0, 2, 1]];
    let corners = (0..4).map(|a| corner(x, a, ends[a]));
    corners.fold(f64::INFINITY, f64::min) / 0.5_f64.sqrt()
}

/// Returns the smallest triple product of the edges at a corner of the base, divided by their
/// lengths and by the value of the pyramid of equal edges, the square root of a half. `x`: the
/// corners in the order of [`hexahedron::pyramid`].
pub fn pyramid_scaled_jacobian(x: &[[f64; 3]; 5]) -> f64 {
    let corners = (0..4).map(|a| corner(x, a, [(a + 1) % 4, (a + 3) % 4, 4]));
    corners.fold(f64::INFINITY, f64::min) / 0.5_f64.sqrt()
}

/// The triple product of the edges from corner `a` to `ends`, divided by their lengths; 0 for an
/// edge of no length.
fn corner(x: &[[f64; 3]], a: usize, ends: [usize; 3]) -> f64 {
    let edges = ends.map(|b| difference(x[b], x[a]));
    sine(&edges, edges.map(length))
}

/// The triple product of `edges` divided by their `lengths`; 0 for an edge of no length.
#[inline]
fn sine(edges: &[[f64; 3]; 3], lengths: [f64; 3]) -> f64 {
    let lengths: f64 = lengths.iter().product();
    if lengths > 0.0 { hexahedron::determinant(edges) / lengths } else { 0.0 }
}

/// The longest edge over the shortest of the element with nodes `hex` at `x`, without the edges
/// that join a node with itself, as in a wedge or a pyramid; infinite if another edge has no length.
pub fn aspect_ratio(hex: &[u32; 8], x: &[[f64; 3]; 8]) -> f64 {
    let has_twice = hexahedron::has_twice(hex);
    let edges = EDGES.into_iter().filter(|&[a, b]| !has_twice || hex[a] != hex[b]);
    ratio(edges.map(|[a, b]| difference(x[a], x[b])))
}

/// The longest of `edges` over the shortest; infinite if one has no length.
#[inline]
fn ratio(edges: impl Iterator<Item = [f64; 3]>) -> f64 {
    let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
    for edge in edges {
        let square = dot(edge, edge);
        (min, max) = (min.min(square), max.max(square));
    }
    if min > 0.0 { max.sqrt() / min.sqrt() } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sets;
    use crate::hexahedron::NODES;

    const BRICK: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn bricks_are_perfect_and_slender_ones_only_long() {
        let brick = NODES.map(|n| [3.0 * n[0], 0.5 * n[1], n[2]]);
        assert!((scaled_jacobian(&brick) - 1.0).abs() < 1e-14);
        assert!((aspect_ratio(&BRICK, &brick) - 6.0).abs() < 1e-14);
    }

    #[test]
    fn a_sheared_cube_has_the_sine_of_its_angle() {
        let angle = 0.7_f64; // between the x and y edges
        let sheared = NODES.map(|n| [n[0] + angle.cos() * n[1], angle.sin() * n[1], n[2]]);
        assert!((scaled_jacobian(&sheared) - angle.sin()).abs() < 1e-14);
        assert!((aspect_ratio(&BRICK, &sheared) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_worst_corner_counts() {
        let mut dented = NODES;
        dented[6] = [-0.5, -0.5, -0.5]; // beyond the plane of its three neighbors
        assert!(scaled_jacobian(&dented) < 0.0);
        dented[6] = dented[5]; // an edge of no length
        assert!(scaled_jacobian(&dented) <= 0.0);
        assert_eq!(aspect_ratio(&BRICK, &dented), f64::INFINITY);
    }

    #[test]
    fn summary_sorts_counts_and_averages() {
        // A row of twelve unit cubes; the face between numbers 5 and 6 is moved in y.
        let shift = |i: usize| if i == 6 { 1.0 } else { 0.0 };
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let coordinates =
            (0..=12).flat_map(|i| corners.map(|[y, z]| [i as f64, y + shift(i), z])).collect();
        let hex = |i: u32| [0, 4, 5, 1, 3, 7, 6, 2].map(|a| 4 * i + a);
        let mesh = HexMesh::new(coordinates, (0..12).map(hex).collect(), Sets::default()).unwrap();
        let summary = Quality::of(&mesh).summary();
        assert_eq!(summary.worst[..2], [5, 6]);
        let worst = Worst::of(&mesh);
        assert_eq!((worst.element, worst.is_flat()), (5, false));
        assert_eq!(worst.scaled_jacobian, summary.scaled_jacobian.min);
        assert_eq!(summary.worst.len(), 10);
        assert_eq!(summary.histogram, [0, 0, 0, 0, 0, 0, 0, 2, 0, 10]);
        let sine = 0.5_f64.sqrt();
        assert!((summary.scaled_jacobian.min - sine).abs() < 1e-14);
        assert!((summary.scaled_jacobian.mean - (10.0 + 2.0 * sine) / 12.0).abs() < 1e-14);
        assert!((summary.aspect_ratio.max - 2.0_f64.sqrt()).abs() < 1e-14);
        assert_eq!(summary.aspect_ratio.min, 1.0);
    }
}

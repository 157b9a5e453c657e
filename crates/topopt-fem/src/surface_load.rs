//! Loads on surfaces as consistent nodal forces: f_a = integral of N_a t dA over bilinear faces, or
//! over triangles of six nodes.
//!
//! The 2x2 Gauss rule integrates a pressure exactly, on warped faces too, because the normal times
//! the area element is a polynomial there; so does a rule of six points on triangles.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::GAUSS;
use topopt_mesh::surface::face_coordinates;
use topopt_mesh::vector::{cross, length};
use topopt_mesh::{Face, HexMesh};

/// Forces on nodes, by increasing node.
pub type NodalForces = Vec<(u32, [f64; 3])>;

/// Nodal forces of a `traction`, a force per area of fixed direction, on `faces`.
pub fn traction(mesh: &HexMesh, faces: &[Face], traction: [f64; 3]) -> NodalForces {
    integrate(mesh, faces, |area| traction.map(|t| t * length(area)))
}

/// Nodal forces of a `pressure`, a force per area against the outward normal, on `faces`.
pub fn pressure(mesh: &HexMesh, faces: &[Face], pressure: f64) -> NodalForces {
    integrate(mesh, faces, |area| area.map(|a| -pressure * a))
}

/// Nodal forces of a `force` in all, spread over `faces` as a uniform traction. Their sum is
/// `force`, to rounding.
pub fn total_force(mesh: &HexMesh, faces: &[Face], force: [f64; 3]) -> NodalForces {
    let areas = areas(mesh, faces);
    let total = accurate_sum(areas.iter().map(|(_, area)| *area));
    areas.into_iter().map(|(node, area)| (node, force.map(|f| f * (area / total)))).collect()
}

/// Tributary areas of the nodes of `faces`: the integral of N_a, by increasing node.
pub fn areas(mesh: &HexMesh, faces: &[Face]) -> Vec<(u32, f64)> {
    let shares = integrate(mesh, faces, |area| [length(area), 0.0, 0.0]);
    shares.into_iter().map(|(node, share)| (node, share[0])).collect()
}

/// The integral of N_a N_b over `faces` for all pairs of different nodes a < b of a face, by
/// increasing pair. With [`areas`] as row sums these are the matrix of the faces.
pub fn couplings(mesh: &HexMesh, faces: &[Face]) -> Vec<([u32; 2], f64)> {
    let mut entries: Vec<([u32; 2], f64)> =
        faces.par_iter().flat_map_iter(|face| of_pairs(mesh, *face)).collect();
    entries.par_sort_by_key(|(nodes, _)| *nodes);
    let pairs = entries.chunk_by(|a, b| a.0 == b.0);
    pairs.map(|pair| (pair[0].0, pair.iter().map(|(_, weight)| weight).sum())).collect()
}

/// Yields the integrals of N_a N_b over `face` for node pairs a < b; a pair may come several times.
fn of_pairs(mesh: &HexMesh, face: Face) -> impl Iterator<Item = ([u32; 2], f64)> {
    let mut pairs = Vec::new();
    for (first, point) in points(mesh, &[face]).enumerate() {
        let area = length(point.area);
        let at = || point.at_nodes();
        let products =
            at().flat_map(|(a, n_a)| at().map(move |(b, n_b)| ([a, b], area * n_a * n_b)));
        if first == 0 {
            pairs = products.collect();
        } else {
            pairs.iter_mut().zip(products).for_each(|((_, sum), (_, product))| *sum += product);
        }
    }
    pairs.into_iter().filter(|([a, b], _)| a < b)
}

/// Nodal forces of a load whose force on the area vector dA is `force(dA)`.
fn integrate(mesh: &HexMesh, faces: &[Face], force: impl Fn([f64; 3]) -> [f64; 3]) -> NodalForces {
    sum_at_nodes(points(mesh, faces).map(|point| {
        let force = force(point.area);
        (point, force)
    }))
}

/// A point of the Gauss rule on a face.
pub(crate) struct Point {
    nodes: [u32; 6],
    /// N_a.
    shape: [f64; 6],
    /// Number of nodes: four of a quadrilateral, six of a triangle.
    n_nodes: usize,
    /// The outward normal times the area of the integration point.
    pub area: [f64; 3],
}

impl Point {
    /// The nodes of the face with their shape functions.
    fn at_nodes(&self) -> impl Iterator<Item = (u32, f64)> {
        self.nodes.into_iter().zip(self.shape).take(self.n_nodes)
    }
}

/// The points of all `faces`.
pub(crate) fn points(mesh: &HexMesh, faces: &[Face]) -> impl Iterator<Item = Point> {
    let are_triangles = mesh.shape() == Shape::Tetrahedron;
    faces.iter().flat_map(move |&face| {
        if are_triangles { on_triangle(mesh, face) } else { on_quadrilateral(mesh, face) }
    })
}

fn on_quadrilateral(mesh: &HexMesh, face: Face) -> Vec<Point> {
    let (x, [a, b, c, d]) = (face_coordinates(mesh, face), face.nodes(mesh));
    let point = |corner: [f64; 2]| {
        let at = corner.map(|s| s * GAUSS);
        let [p, q, r, s] = shape_functions(at);
        let (nodes, shape) = ([a, b, c, d, a, a], [p, q, r, s, 0.0, 0.0]);
        Point { nodes, shape, n_nodes: 4, area: area_element(&x, at) }
    };
    CORNERS.map(point).into()
}

fn on_triangle(mesh: &HexMesh, face: Face) -> Vec<Point> {
    let nodes = face.nodes_of_triangle(mesh);
    let x = nodes.map(|node| mesh.coordinates()[node as usize]);
    let point = |(at, weight): ([f64; 3], f64)| {
        let area = triangle_area_element(&x, at).map(|area| weight * area);
        Point { nodes, shape: triangle_shape_functions(at), n_nodes: 6, area }
    };
    triangle_rule().map(point).into()
}

/// The six points of the rule of degree 4 by barycentric coordinates, with their shares of twice
/// the area \[Dunavant1985\].
fn triangle_rule() -> [([f64; 3], f64); 6] {
    const FAR: (f64, f64) = (0.091_576_213_509_770_74, 0.109_951_743_655_321_87);
    const NEAR: (f64, f64) = (0.445_948_490_915_964_9, 0.223_381_589_678_011_46);
    std::array::from_fn(|i| {
        let (other, weight) = if i < 3 { FAR } else { NEAR };
        let own = |a: usize| if a == i % 3 { 1.0 - 2.0 * other } else { other };
        ([own(0), own(1), own(2)], 0.5 * weight)
    })
}

/// Forces at points as forces on nodes.
pub(crate) fn sum_at_nodes(forces: impl Iterator<Item = (Point, [f64; 3])>) -> NodalForces {
    let mut sums: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    for (point, force) in forces {
        for (node, shape) in point.at_nodes() {
            let sum = sums.entry(node).or_default();
            *sum = std::array::from_fn(|i| sum[i] + shape * force[i]);
        }
    }
    sums.into_iter().collect()
}

/// Reference coordinates of the four nodes of a face.
const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// N_a at (s, t).
fn shape_functions([s, t]: [f64; 2]) -> [f64; 4] {
    CORNERS.map(|[a, b]| 0.25 * (1.0 + a * s) * (1.0 + b * t))
}

/// dx/ds x dx/dt at (s, t): the outward normal, as long as the area of a unit of ds dt.
fn area_element(x: &[[f64; 3]; 4], [s, t]: [f64; 2]) -> [f64; 3] {
    let (mut ds, mut dt) = ([0.0; 3], [0.0; 3]);
    for ([a, b], x) in CORNERS.into_iter().zip(x) {
        for i in 0..3 {
            ds[i] += 0.25 * a * (1.0 + b * t) * x[i];
            dt[i] += 0.25 * b * (1.0 + a * s) * x[i];
        }
    }
    cross(ds, dt)
}

/// N_a of a triangle of six nodes: its corners, then the middles after each.
fn triangle_shape_functions(at: [f64; 3]) -> [f64; 6] {
    let [a, b, c] = at;
    let corner = |l: f64| l * (2.0 * l - 1.0);
    [corner(a), corner(b), corner(c), 4.0 * a * b, 4.0 * b * c, 4.0 * c * a]
}

/// The outward normal of a triangle of six nodes at `x`, as long as twice the area of a flat one.
fn triangle_area_element(x: &[[f64; 3]; 6], [a, b, c]: [f64; 3]) -> [f64; 3] {
    // By the second and third coordinate, the first being 1 minus the others.
    let first = 1.0 - 4.0 * a;
    let along_b = [first, 4.0 * b - 1.0, 0.0, 4.0 * (a - b), 4.0 * c, -4.0 * c];
    let along_c = [first, 0.0, 4.0 * c - 1.0, -4.0 * b, 4.0 * b, 4.0 * (a - c)];
    let tangent = |along: [f64; 6]| -> [f64; 3] {
        std::array::from_fn(|i| (0..6).map(|n| along[n] * x[n][i]).sum())
    };
    cross(tangent(along_b), tangent(along_c))
}

/// The sum with the rounding errors of the additions carried along (Neumaier).
pub(crate) fn accurate_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        let (large, small) = if sum.abs() >= value.abs() { (sum, value) } else { (value, sum) };
        lost += (large - next) + small;
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use topopt_mesh::Sets;
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_mesh::hexahedron::NODES;
    use topopt_mesh::surface::{area_vector, boundary_faces, face_center};

    /// The connecting rod twisted and bent: all faces warped.
    fn warped() -> HexMesh {
        let mesh = Benchmark::ConnectingRod.generate(Resolution::Elements(800)).unwrap();
        let size = mesh.bounding_box().extent()[0];
        let coordinates = mesh.coordinates().iter().map(|&[x, y, z]| {
            let turn = 0.6 * x / size;
            [
                x + 0.1 * y * z / size,
                y * turn.cos() - z * turn.sin(),
                y * turn.sin() + z * turn.cos() + 0.2 * x * x / size,
            ]
        });
        HexMesh::new(coordinates.collect(), mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
    }

    fn sum(forces: &NodalForces) -> [f64; 3] {
        std::array::from_fn(|i| accurate_sum(forces.iter().map(|(_, force)| force[i])))
    }

    /// Sum of x cross f.
    fn moment(mesh: &HexMesh, forces: &NodalForces) -> [f64; 3] {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let x = |node: u32| mesh.coordinates()[node as usize];
            accurate_sum(forces.iter().map(|(n, f)| x(*n)[j] * f[k] - x(*n)[k] * f[j]))
        })
    }

    fn size(forces: &NodalForces) -> f64 {
        forces.iter().map(|(_, force)| length(*force)).sum()
    }

    #[test]
    fn a_total_force_is_that_force() {
        let mesh = warped();
        let force = [3.0, -0.7, 1e-3];
        let forces = total_force(&mesh, &boundary_faces(&mesh), force);
        for (sum, force) in sum(&forces).into_iter().zip(force) {
            assert!((sum / force - 1.0).abs() < 1e-14, "{sum} {force}");
        }
        assert!(forces.iter().all(|(_, share)| share[0] > 0.0));
    }

    #[test]
    fn a_pressure_on_a_closed_surface_is_in_equilibrium() {
        let mesh = warped();
        let forces = pressure(&mesh, &boundary_faces(&mesh), 2.5);
        let (scale, arm) = (size(&forces), length(mesh.bounding_box().extent()));
        assert!(length(sum(&forces)) < 1e-14 * scale, "{:?}", sum(&forces));
        assert!(length(moment(&mesh, &forces)) < 1e-14 * scale * arm);
    }

    #[test]
    fn a_pressure_on_a_face_is_its_area_vector() {
        // One warped face: 2x2 Gauss against the area vector, which is exact.
        let mut x = NODES;
        x[6] = [1.4, 1.1, 1.7];
        x[5] = [1.2, -0.9, 0.8];
        let mesh =
            HexMesh::new(x.to_vec(), vec![[0, 1, 2, 3, 4, 5, 6, 7]], Sets::default()).unwrap();
        for face in boundary_faces(&mesh) {
            let found = sum(&pressure(&mesh, &[face], 3.0));
            let area = area_vector(&face_coordinates(&mesh, face));
            (0..3).for_each(|i| assert!((found[i] + 3.0 * area[i]).abs() < 1e-14));
        }
    }

    #[test]
    fn a_flat_face_takes_p_a_n_in_its_middle() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let end: Vec<Face> = boundary_faces(&mesh)
            .into_iter()
            .filter(|&face| face_center(&face_coordinates(&mesh, face))[0] > 10.0 - 1e-9)
            .collect();
        let forces = pressure(&mesh, &end, 2.0);
        assert!(length(std::array::from_fn(|i| sum(&forces)[i] + [50.0, 0.0, 0.0][i])) < 1e-13);

        // The resultant acts at the center (2.5, 2.5): moment x cross f.
        let expected = [0.0, -2.5 * 50.0, 2.5 * 50.0];
        let moment = moment(&mesh, &forces);
        (0..3).for_each(|i| assert!((moment[i] - expected[i]).abs() < 1e-12, "{moment:?}"));

        // Inner nodes take four quarters of a face, corners one.
        assert_eq!(forces.len(), 36);
        let mut pushes: Vec<f64> = forces.iter().map(|(_, force)| -force[0]).collect();
        pushes.sort_by(f64::total_cmp);
        assert!((pushes[0] - 0.5).abs() < 1e-14 && (pushes[35] - 2.0).abs() < 1e-14);

        // A traction against the normal is a pressure.
        let same = traction(&mesh, &end, [-2.0, 0.0, 0.0]);
        for ((_, a), (_, b)) in same.iter().zip(&forces) {
            assert!((0..3).all(|i| (a[i] - b[i]).abs() < 1e-14));
        }
    }

    /// On a triangle of area A, a face with a node that stands twice, the integral of N_a N_b is A
    /// / 12; on a parallelogram A / 18 along an edge and A / 36 across. With A / 6 and A / 9 of N_a
    /// N_a the rows sum to the shares of the area.
    #[test]
    fn couplings_of_a_wedge_are_those_of_triangles_and_quadrilaterals() {
        let corners = [[0.0, 0.0], [3.0, 0.5], [1.0, 2.0]];
        let x = [0.0, 4.0].map(|z| corners.map(|[x, y]| [x, y, z])).concat();
        let wedge = [0, 1, 2, 2, 3, 4, 5, 5];
        let mesh = HexMesh::new(x, vec![wedge], Sets::default()).unwrap();

        let mut n_triangles = 0;
        for face in boundary_faces(&mesh) {
            let area = length(area_vector(&face_coordinates(&mesh, face)));
            let shares = areas(&mesh, &[face]);
            let found = couplings(&mesh, &[face]);
            n_triangles += usize::from(shares.len() == 3);
            assert_eq!(found.len(), shares.len() * (shares.len() - 1) / 2);

            for ([a, b], weight) in &found {
                let expected = match (shares.len(), b - a) {
                    (3, _) => area / 12.0,
                    (_, 3) => area / 18.0,
                    _ if a / 3 == b / 3 => area / 18.0,
                    _ => area / 36.0,
                };
                assert!((weight / expected - 1.0).abs() < 1e-13, "{a} {b} {weight}");
            }
            for (node, share) in &shares {
                let own = if shares.len() == 3 { area / 6.0 } else { area / 9.0 };
                let of_node = found.iter().filter(|(nodes, _)| nodes.contains(node));
                let row: f64 = of_node.map(|(_, weight)| weight).sum();
                assert!((own + row - share).abs() < 1e-13 * area);
            }
        }
        assert_eq!(n_triangles, 2);
    }
}

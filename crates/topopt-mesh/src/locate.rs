//! The element that holds a point, and where in it the point is.

use crate::cells::Shape;
use crate::tetrahedron::{N_NODES, TetrahedronNodes, with_first};
use crate::{HexMesh, hexahedron, tetrahedron};

/// Rounding by which a point on a face may lie outside of the element, in reference coordinates.
const TOLERANCE: f64 = 1e-6;
const NEWTON_STEPS: usize = 30;

/// The element of `mesh` that holds `point`, and the values of its shape functions there,
/// `[nodes_per_element]`; none outside of the mesh. On a face the element of the lowest number.
pub fn locate(mesh: &HexMesh, point: [f64; 3]) -> Option<(u32, Vec<f64>)> {
    (0..mesh.n_elements() as u32).find_map(|e| Some((e, within(mesh, e, point)?)))
}

/// Values of the shape functions of an `element` at `point`, if that is in it,
/// `[nodes_per_element]`.
pub(crate) fn within(mesh: &HexMesh, element: u32, point: [f64; 3]) -> Option<Vec<f64>> {
    let element = element as usize;
    match mesh.shape() {
        Shape::Tetrahedron => in_tetrahedron(&mesh.tetrahedron_coordinates(element), point),
        _ => in_hexahedron(&mesh.element_coordinates(element), point),
    }
}

/// Values of the shape functions at `point`, if it is in the element at `x`.
fn in_hexahedron(x: &[[f64; 3]; 8], point: [f64; 3]) -> Option<Vec<f64>> {
    let map = |xi| (hexahedron::map(x, xi), hexahedron::jacobian(x, xi));
    let xi = local(x, point, [0.0; 3], map)?;
    let is_inside = xi.iter().all(|xi| xi.abs() <= 1.0 + TOLERANCE);
    is_inside.then(|| hexahedron::shape_functions(xi).to_vec())
}

/// Values of the shape functions at `point`, if it is in the tetrahedron of ten nodes at `x`.
fn in_tetrahedron(x: &TetrahedronNodes, point: [f64; 3]) -> Option<Vec<f64>> {
    let map_at = |at| (tetrahedron::map(x, at), tetrahedron::jacobian(x, at));
    let map = |xi| map_at(with_first(xi));
    let at = with_first(local(x, point, [0.25; 3], map)?);
    let is_inside = at.iter().all(|share| *share >= -TOLERANCE);
    is_inside.then(|| tetrahedron::shape_functions(at).to_vec())
}

/// Reference coordinates of `point` by Newton's method from a `start`, if it is in the bounding box
/// of the element at `x`; `map` gives the place and the Jacobian of reference coordinates.
fn local(
    x: &[[f64; 3]],
    point: [f64; 3],
    start: [f64; 3],
    map: impl Fn([f64; 3]) -> ([f64; 3], [[f64; 3]; 3]),
) -> Option<[f64; 3]> {
    for i in 0..3 {
        let low = x.iter().map(|x| x[i]).fold(f64::INFINITY, f64::min);
        let high = x.iter().map(|x| x[i]).fold(f64::NEG_INFINITY, f64::max);
        // Faces of curved tetrahedra bulge beyond their nodes, by less than their extent.
        let slack = if x.len() == N_NODES { high - low } else { TOLERANCE * (high - low) };
        if point[i] < low - slack || point[i] > high + slack {
            return None;
        }
    }

    let mut xi = start;
    for _ in 0..NEWTON_STEPS {
        let (place, jacobian) = map(xi);
        let away: [f64; 3] = std::array::from_fn(|i| point[i] - place[i]);
        let det = hexahedron::determinant(&jacobian);
        if det == 0.0 {
            return None;
        }
        let inverse = hexahedron::inverse(&jacobian, det);
        let step: [f64; 3] = std::array::from_fn(|j| (0..3).map(|i| inverse[j][i] * away[i]).sum());
        (0..3).for_each(|j| xi[j] = (xi[j] + step[j]).clamp(-3.0, 3.0));
        if step.iter().all(|step| step.abs() < 1e-12) {
            return Some(xi);
        }
    }
    Some(xi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sets;

    #[test]
    fn points_of_a_distorted_element_are_found_again() {
        let corners = vec![
            [0.0, 0.0, 0.0],
            [2.0, 0.1, 0.2],
            [2.2, 1.5, 0.0],
            [0.1, 1.2, 0.1],
            [0.0, 0.2, 1.0],
            [1.8, 0.0, 1.3],
            [2.0, 1.4, 1.5],
            [-0.1, 1.1, 1.2],
        ];
        let mesh = HexMesh::new(corners, vec![[0, 1, 2, 3, 4, 5, 6, 7]], Sets::default()).unwrap();

        for xi in [[0.0; 3], [0.3, -0.7, 0.9], [-1.0, 1.0, -1.0]] {
            let shape = hexahedron::shape_functions(xi);
            let x = mesh.element_coordinates(0);
            let point = std::array::from_fn(|i| (0..8).map(|a| shape[a] * x[a][i]).sum());
            let (element, found) = locate(&mesh, point).unwrap();
            assert_eq!(element, 0);
            assert!(found.iter().zip(shape).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
        assert_eq!(locate(&mesh, [5.0, 0.0, 0.0]), None);
    }
    #[test]
    fn points_of_a_curved_tetrahedron_are_found_again() {
        let vertices = [[0.0, 0.1, 0.0], [2.0, 0.0, 0.3], [0.1, 1.5, 0.2], [0.4, 0.3, 1.2]];
        let mut x = tetrahedron::straight(vertices);
        x[4] = [1.0, -0.2, 0.3];
        let nodes = std::array::from_fn(|a| a as u32);
        let mesh = HexMesh::of_tetrahedra(x.to_vec(), vec![nodes], Sets::default()).unwrap();
        for at in [[0.25; 4], [0.5, 0.5, 0.0, 0.0], [0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.1, 0.9]] {
            let (_, found) = locate(&mesh, tetrahedron::map(&x, at)).unwrap();
            let shape = tetrahedron::shape_functions(at);
            assert!(found.iter().zip(shape).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
        assert_eq!(locate(&mesh, [1.0, -0.25, 0.3]), None);
    }
}

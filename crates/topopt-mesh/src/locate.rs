//! The element that holds a point, and where in it the point is.

use crate::{HexMesh, hexahedron};

/// Rounding by which a point on a face may lie outside of the element, in reference coordinates.
const TOLERANCE: f64 = 1e-6;
const NEWTON_STEPS: usize = 30;

/// The element of `mesh` that holds `point`, and the values of its shape functions there; none
/// outside of the mesh. On a face the element of the lowest number.
pub fn locate(mesh: &HexMesh, point: [f64; 3]) -> Option<(u32, [f64; 8])> {
    (0..mesh.n_elements()).find_map(|e| {
        let x = mesh.element_coordinates(e);
        let xi = local(&x, point)?;
        let is_inside = xi.iter().all(|xi| xi.abs() <= 1.0 + TOLERANCE);
        is_inside.then(|| (e as u32, hexahedron::shape_functions(xi)))
    })
}

/// Reference coordinates of `point` by Newton's method, if it is in the bounding box of the element
/// at `x`.
fn local(x: &[[f64; 3]; 8], point: [f64; 3]) -> Option<[f64; 3]> {
    for i in 0..3 {
        let low = x.iter().map(|x| x[i]).fold(f64::INFINITY, f64::min);
        let high = x.iter().map(|x| x[i]).fold(f64::NEG_INFINITY, f64::max);
        let slack = TOLERANCE * (high - low);
        if point[i] < low - slack || point[i] > high + slack {
            return None;
        }
    }

    let mut xi = [0.0; 3];
    for _ in 0..NEWTON_STEPS {
        let shape = hexahedron::shape_functions(xi);
        let at = |i: usize| (0..8).map(|a| shape[a] * x[a][i]).sum::<f64>();
        let away: [f64; 3] = std::array::from_fn(|i| point[i] - at(i));
        let jacobian = hexahedron::jacobian(x, xi);
        let det = hexahedron::determinant(&jacobian);
        if det == 0.0 {
            return None;
        }
        let inverse = hexahedron::inverse(&jacobian, det);
        let step: [f64; 3] = std::array::from_fn(|j| (0..3).map(|i| inverse[j][i] * away[i]).sum());
        (0..3).for_each(|j| xi[j] = (xi[j] + step[j]).clamp(-3.0, 3.0));
        if step.iter().all(|step| step.abs() < 1e-12) {
            break;
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
}

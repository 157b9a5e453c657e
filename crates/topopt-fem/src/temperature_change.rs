//! Changes of temperature in elements, from values at nodes.

use rayon::prelude::*;
use serde::Serialize;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{NODES, determinant, inverse};
use topopt_mesh::vector::{difference, dot};
use topopt_mesh::{HexMesh, tetrahedron};

use crate::DIM;
use crate::strain_modes::N_MODES;

/// Change of temperature in an element, linear in the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TemperatureChange {
    /// Mean over the element.
    pub mean: f64,
    /// Gradient along x, y and z.
    pub gradient: [f64; DIM],
}

impl TemperatureChange {
    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.mean.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }

    /// Change at the reference coordinates `xi` of element `e` of `mesh`.
    pub(crate) fn at(&self, mesh: &HexMesh, e: usize, xi: [f64; DIM]) -> f64 {
        if self.gradient == [0.0; DIM] {
            return self.mean;
        }
        let center = mesh.point(e, mesh.reference_center());
        self.mean + dot(self.gradient, difference(mesh.point(e, xi), center))
    }

    /// Factors of the strain modes of hexahedron `e`.
    pub(crate) fn by_mode(&self, mesh: &HexMesh, e: usize) -> [f64; N_MODES] {
        let jacobian = mesh.jacobian(e, mesh.reference_center());
        let along = |k: usize| (0..DIM).map(|i| self.gradient[i] * jacobian[i][k]).sum();
        [self.mean, along(0), along(1), along(2), 0.0, 0.0, 0.0]
    }
}

/// Changes of temperature in the elements of `mesh` for changes `at_nodes`, `[n_nodes]`: linear
/// functions that are exact for fields which are. Tetrahedra take those of their vertices alone, as
/// their strains are linear.
pub fn temperature_changes(mesh: &HexMesh, at_nodes: &[f64]) -> Vec<TemperatureChange> {
    (0..mesh.n_elements()).into_par_iter().map(|e| of_element(mesh, e, at_nodes)).collect()
}

fn of_element(mesh: &HexMesh, e: usize, at_nodes: &[f64]) -> TemperatureChange {
    let values = mesh.element(e).iter().map(|&node| at_nodes[node as usize]);
    let values: Vec<f64> = values.collect();
    match mesh.shape() {
        Shape::Tetrahedron => of_tetrahedron(mesh, e, &values),
        _ => of_hexahedron(mesh, e, &values),
    }
}

fn of_tetrahedron(mesh: &HexMesh, e: usize, values: &[f64]) -> TemperatureChange {
    let x = mesh.tetrahedron_coordinates(e);
    let edges = [1, 2, 3].map(|a| difference(x[a], x[0]));
    let slopes = [1, 2, 3].map(|a| values[a] - values[0]);
    let columns = std::array::from_fn(|i| edges.map(|edge| edge[i]));
    let gradient = gradient(&columns, slopes);
    let center = tetrahedron::map(&x, [0.25; 4]);
    TemperatureChange { mean: values[0] + dot(gradient, difference(center, x[0])), gradient }
}

fn of_hexahedron(mesh: &HexMesh, e: usize, values: &[f64]) -> TemperatureChange {
    let slope = |k: usize| NODES.iter().zip(values).map(|(node, v)| 0.125 * node[k] * v).sum();
    let slopes = [0, 1, 2].map(slope);
    let (mut sum, mut volume) = (0.0, 0.0);
    for xi in mesh.integration_points() {
        let shape = mesh.shape_functions(xi);
        let det = mesh.determinant(e, xi);
        // Counted from one value, so that a uniform change stays so to the bit.
        let value: f64 = shape.iter().zip(values).map(|(n, v)| n * (v - values[0])).sum();
        sum += det * value;
        volume += det;
    }
    let jacobian = mesh.jacobian(e, mesh.reference_center());
    TemperatureChange { mean: values[0] + sum / volume, gradient: gradient(&jacobian, slopes) }
}

/// The gradient along x, y and z of `slopes` along reference coordinates, for dx_i/dxi_k.
fn gradient(jacobian: &[[f64; DIM]; DIM], slopes: [f64; DIM]) -> [f64; DIM] {
    let inverse = inverse(jacobian, determinant(jacobian));
    std::array::from_fn(|i| (0..DIM).map(|k| inverse[k][i] * slopes[k]).sum())
}

#[cfg(test)]
mod tests {
    use topopt_testing::{distorted_cube, distorted_tetrahedra, kuhn, wheel};

    use super::*;

    #[test]
    fn a_linear_field_is_exact_in_any_element() {
        let curved = kuhn([2; 3], |[x, y, z]| [x + 0.1 * y * y, y, z - 0.1 * x * y], true);
        let g = [3.0, -7.0, 5.0];
        for mesh in
            [distorted_cube(3, 0.3, true), wheel(2), distorted_tetrahedra(2, 0.2, true), curved]
        {
            let at = |x: [f64; 3]| 20.0 + dot(g, x);
            let at_nodes: Vec<f64> = mesh.coordinates().iter().map(|&x| at(x)).collect();
            for (e, change) in temperature_changes(&mesh, &at_nodes).iter().enumerate() {
                let error = difference(change.gradient, g).map(f64::abs);
                assert!(error.into_iter().fold(0.0, f64::max) < 1e-12, "{change:?}");
                let (mut sum, mut volume) = (0.0, 0.0);
                for xi in mesh.integration_points() {
                    let det = mesh.determinant(e, xi);
                    sum += det * at(mesh.point(e, xi));
                    volume += det;
                }
                let mean = match mesh.shape() {
                    Shape::Tetrahedron => at(mesh.point(e, mesh.reference_center())),
                    _ => sum / volume,
                };
                assert!((change.mean - mean).abs() < 1e-12, "{change:?}, {mean}");
            }
        }
    }
}

//! Nodal values of hexahedra: those of linear fields through the centers of the patches around.
//!
//! Across a member of one layer the centers say nothing, and the slope is that of the elements,
//! which is right in bending.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, map};

use super::around::Around;
use super::samples::{AtNodes, Samples};
use crate::elements::Corners;
use crate::stress::CENTER;

/// Second moment of the centers of a patch about their mean, over that of a single element, from
/// which on they say how the field varies in a direction: three for two layers, zero for one. Along
/// the diagonal of a corner, where four elements make the patch, it is 0.75, and 0.58 where their
/// sizes double.
const VARIED: f64 = 0.5;

/// Volume, center and second moments about it of an element.
struct Body {
    volume: f64,
    center: Vector3<f64>,
    moments: Matrix3<f64>,
}

impl Body {
    fn of(x: &Corners) -> Self {
        let points = gauss_points().map(|xi| (map(x, xi), determinant(&jacobian(x, xi))));
        let volume: f64 = points.iter().map(|(_, weight)| weight).sum();
        let center = Vector3::from(map(x, CENTER));
        let moments = points.iter().map(|(at, weight)| {
            let arm = Vector3::from(*at) - center;
            *weight * arm * arm.transpose()
        });
        Self { volume, center, moments: moments.sum() }
    }
}

/// The values at the nodes of hexahedra.
pub(super) fn at_nodes<const C: usize>(samples: &Samples<C>, around: &Around) -> AtNodes<C> {
    let mesh = around.mesh;
    let body = |e: usize| Body::of(&mesh.element_coordinates(e));
    let bodies = (0..mesh.n_elements()).into_par_iter().map(body).collect();
    let patches = Patches { samples, bodies };
    let of_node = |node: usize| {
        let x = Vector3::from(mesh.coordinates()[node]);
        let value = |material| (material, patches.value(&around.patch(node, material), x));
        around.materials_at(node).into_iter().map(value).collect()
    };
    (0..mesh.n_nodes()).into_par_iter().map(of_node).collect()
}

/// Patches of hexahedra.
struct Patches<'a, const C: usize> {
    samples: &'a Samples<C>,
    bodies: Vec<Body>,
}

impl<const C: usize> Patches<'_, C> {
    /// The value at `x` of the linear field through a patch.
    fn value(&self, patch: &[u32], x: Vector3<f64>) -> [f64; C] {
        let of = |e: &u32| &self.bodies[*e as usize];
        let volume: f64 = patch.iter().map(|e| of(e).volume).sum();
        let mean = patch.iter().map(|e| of(e).volume * of(e).center).sum::<Vector3<f64>>() / volume;
        let own: Matrix3<f64> = patch.iter().map(|e| of(e).moments).sum();
        let between: Matrix3<f64> = patch
            .iter()
            .map(|e| {
                let arm = of(e).center - mean;
                of(e).volume * arm * arm.transpose()
            })
            .sum();

        let values = &self.samples.values;
        let mut value = [0.0; C];
        for e in patch {
            (0..C).for_each(|i| value[i] += of(e).volume / volume * values[*e as usize][i]);
        }
        // Directions in which the arms of the centers are independent, in units of an element.
        let Some(root) = own.cholesky().map(|cholesky| cholesky.l()) else { return value };
        let Some(inverse) = root.try_inverse() else { return value };
        let eigen = (inverse * between * inverse.transpose()).symmetric_eigen();
        for (k, &share) in eigen.eigenvalues.iter().enumerate() {
            let direction = eigen.eigenvectors.column(k);
            let arm = |x: Vector3<f64>| direction.dot(&(inverse * (x - mean)));
            let along = root * direction;
            let scale = if share > VARIED { arm(x) / share } else { arm(x) / volume };
            for e in patch {
                let factor = scale * of(e).volume;
                for i in 0..C {
                    let slope = if share > VARIED {
                        arm(of(e).center) * values[*e as usize][i]
                    } else {
                        (0..3).map(|j| along[j] * self.samples.slopes[*e as usize][j][i]).sum()
                    };
                    value[i] += factor * slope;
                }
            }
        }
        value
    }
}

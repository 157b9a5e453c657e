//! The heat flux in trilinear hexahedra from nodal temperatures.

use rayon::prelude::*;

use crate::orthotropy::conductivities_along;
use crate::shape_gradients::physical_gradients;
use crate::{DIM, Diffusion, Discretization};

/// The flux -k_i du/dx_i (heat per time and area) of every element at the reference coordinates `xi`,
/// for instance [`CENTER`](crate::stress::CENTER), where it is more accurate by an order than
/// elsewhere on a smooth mesh: `[n_elements][3]`.
///
/// `conductivities`: k_e, the coefficient of the conduction, `[n_elements]`; `u`: temperatures,
/// `[n_nodes]`.
pub fn heat_flux(
    problem: &Discretization<Diffusion, 1>,
    conductivities: &[f64],
    u: &[f64],
    xi: [f64; DIM],
) -> Vec<[f64; DIM]> {
    let (mesh, stretches) = (problem.mesh(), problem.elements().stretches());
    let fluxes = (0..mesh.n_elements()).into_par_iter().map(|e| {
        let k = conductivities[e];
        let along = stretches.map_or([k; DIM], |factors| conductivities_along(k, factors[e]));
        let (gradients, _) = physical_gradients(&mesh.element_coordinates(e), xi);
        let nodes = mesh.hexes()[e].iter().zip(gradients);
        nodes.fold([0.0; DIM], |flux, (&node, gradient)| {
            let u = u[node as usize];
            std::array::from_fn(|i| flux[i] - along[i] * u * gradient[i])
        })
    });
    fluxes.collect()
}

//! The heat flux in trilinear hexahedra from nodal temperatures.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::DIM;
use crate::shape_gradients::physical_gradients;

/// The flux -k_e grad u (heat per time and area) of every element at the reference coordinates `xi`,
/// for instance [`CENTER`](crate::stress::CENTER), where it is more accurate by an order than
/// elsewhere on a smooth mesh: `[n_elements][3]`.
///
/// `conductivities`: k_e, `[n_elements]`; `u`: temperatures, `[n_nodes]`.
pub fn heat_flux(
    mesh: &HexMesh,
    conductivities: &[f64],
    u: &[f64],
    xi: [f64; DIM],
) -> Vec<[f64; DIM]> {
    let of_element = |e: usize| {
        let (gradients, _) = physical_gradients(&mesh.element_coordinates(e), xi);
        let nodes = mesh.hexes()[e].iter().zip(gradients);
        nodes.fold([0.0; DIM], |flux, (&node, gradient)| {
            let slope = conductivities[e] * u[node as usize];
            std::array::from_fn(|i| flux[i] - slope * gradient[i])
        })
    };
    (0..mesh.n_elements()).into_par_iter().map(of_element).collect()
}

//! The diagonal of K without stored stiffness, and Jacobi's need for it.

use crate::patches::{Patch, Patches};
use crate::stiffness::element_diagonal_blocks;
use crate::{DIM, Problem};

/// Writes the diagonal of sum_e E_e K_e, 1 at held components.
pub fn by_patches(problem: &Problem, patches: &Patches, moduli: &[f64], out: &mut [f64]) {
    let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; DIM]]| {
        for (e, hex) in patch.elements.clone().zip(&patch.hexes) {
            let x = problem.mesh().element_coordinates(e);
            let blocks = element_diagonal_blocks(&x, problem.material());
            for (a, &node) in hex.iter().enumerate() {
                for i in 0..DIM {
                    sums[node as usize][i] += moduli[e] * blocks[a][i];
                }
            }
        }
    };
    patches.scatter(out, work, |node, sum| problem.supports().choose(node, [1.0; DIM], sum));
}

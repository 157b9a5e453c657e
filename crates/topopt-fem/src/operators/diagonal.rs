//! The diagonal of K and its diagonal blocks, without stored stiffness.

use crate::patches::{Patch, Patches};
use crate::stiffness::element_diagonal_blocks;
use crate::{DIM, Problem};

/// Writes the diagonal of sum_e E_e K_e, 1 at held components.
pub fn by_patches(problem: &Problem, patches: &Patches, moduli: &[f64], out: &mut [f64]) {
    let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; DIM]]| {
        for (e, hex) in patch.elements.clone().zip(&patch.hexes) {
            let x = problem.mesh().element_coordinates(e);
            let blocks =
                element_diagonal_blocks(&problem.mesh().hexes()[e], &x, problem.material());
            for (a, &node) in hex.iter().enumerate() {
                for i in 0..DIM {
                    sums[node as usize][i] += moduli[e] * blocks[a][i];
                }
            }
        }
    };
    patches.scatter(out, work, |node, sum| problem.supports().choose(node, [1.0; DIM], sum));
}

/// The 3x3 diagonal blocks of K and the springs, with the identity at held components, \[n_nodes\].
pub fn blocks_by_patches(
    problem: &Problem,
    patches: &Patches,
    moduli: &[f64],
) -> Vec<[[f64; DIM]; DIM]> {
    // Symmetric blocks as (xx, yy, zz, xy, yz, zx).
    let mut sums = vec![0.0; 6 * problem.mesh().n_nodes()];
    let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; 6]]| {
        for (e, hex) in patch.elements.clone().zip(&patch.hexes) {
            let x = problem.mesh().element_coordinates(e);
            let blocks =
                element_diagonal_blocks(&problem.mesh().hexes()[e], &x, problem.material());
            for (a, &node) in hex.iter().enumerate() {
                (0..6).for_each(|i| sums[node as usize][i] += moduli[e] * blocks[a][i]);
            }
        }
    };
    patches.scatter(&mut sums, work, |_, sum| sum);
    let springs = problem.supports().springs().map(|springs| springs.as_chunks::<DIM>().0);
    let block = |(node, s): (usize, &[f64; 6])| {
        let mut block = [[s[0], s[3], s[5]], [s[3], s[1], s[4]], [s[5], s[4], s[2]]];
        if let Some(springs) = springs {
            (0..DIM).for_each(|i| block[i][i] += springs[node][i]);
        }
        for i in (0..DIM).filter(|&i| problem.supports().is_fixed(node, i)) {
            (0..DIM).for_each(|j| (block[i][j], block[j][i]) = (0.0, 0.0));
            block[i][i] = 1.0;
        }
        block
    };
    sums.as_chunks::<6>().0.iter().enumerate().map(block).collect()
}

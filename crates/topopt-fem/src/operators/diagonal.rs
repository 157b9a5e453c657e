//! The diagonal of K and its diagonal blocks, without stored stiffness.

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{BlockDiagonal, pseudo_inverse};

use super::nodal_blocks::{Gradients, load_coordinates, load_lame};
use crate::lanes::MAX_LANES;
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

/// Writes the pseudo-inverses of the 3x3 diagonal blocks of K and the springs, with the identity at
/// held components, to `inverse`, which has a block for every node.
pub fn inverse_blocks_by_patches(
    problem: &Problem,
    patches: &Patches,
    moduli: &[f64],
    inverse: &mut BlockDiagonal<DIM>,
) {
    let arch = Arch::new();
    let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; 6]]| {
        arch.dispatch(AddBlocks { problem, patch, moduli, sums });
    };
    let springs = problem.supports().springs().map(|springs| springs.as_chunks::<DIM>().0);
    let finish = |node: usize, s: [f64; 6]| {
        let mut block = [[s[0], s[1], s[3]], [s[1], s[2], s[4]], [s[3], s[4], s[5]]];
        if let Some(springs) = springs {
            (0..DIM).for_each(|i| block[i][i] += springs[node][i]);
        }
        for i in (0..DIM).filter(|&i| problem.supports().is_fixed(node, i)) {
            (0..DIM).for_each(|j| (block[i][j], block[j][i]) = (0.0, 0.0));
            block[i][i] = 1.0;
        }
        let [x, y, z] = pseudo_inverse(&block);
        [x[0], y[0], y[1], z[0], z[1], z[2]]
    };
    patches.scatter(inverse.packed_mut(), work, finish);
}

/// Adds the diagonal blocks of E_e K_e of all elements of a patch to `sums`, \[patch nodes\]\[6\], as
/// (xx, yx, yy, zx, zy, zz).
struct AddBlocks<'a> {
    problem: &'a Problem,
    patch: &'a Patch,
    moduli: &'a [f64],
    sums: &'a mut [[f64; 6]],
}

impl WithSimd for AddBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { problem, patch, moduli, sums } = self;
        let lame = problem.material().unit_lame();
        let mut gradients = Gradients::zeros(simd);
        let mut elements = patch.elements.clone().map(|e| e as u32);
        for hexes in patch.hexes.chunks(S::F64_LANES) {
            let mut numbers = [0; MAX_LANES];
            (0..hexes.len()).for_each(|lane| numbers[lane] = elements.next().unwrap_or_default());
            let numbers = &numbers[..hexes.len()];
            gradients.set(simd, &load_coordinates(simd, problem.mesh(), numbers));
            let lame = load_lame(simd, numbers, moduli, lame);
            let mut blocks = [[[0.0; MAX_LANES]; 6]; 8];
            for a in 0..8 {
                let block = gradients.block(a, a, lame);
                for (k, (i, j)) in LOWER.into_iter().enumerate() {
                    block[i][j].store(&mut blocks[a][k]);
                }
            }
            for (lane, hex) in hexes.iter().enumerate() {
                if is_degenerate(hex) {
                    add_degenerate(problem, moduli, numbers[lane] as usize, hex, sums);
                    continue;
                }
                for a in 0..8 {
                    (0..6).for_each(|k| sums[hex[a] as usize][k] += blocks[a][k][lane]);
                }
            }
        }
    }
}

/// Entries of a lower triangle.
const LOWER: [(usize, usize); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];

/// Whether a node stands twice in an element.
fn is_degenerate(hex: &[u16; 8]) -> bool {
    (1..8).any(|a| hex[..a].contains(&hex[a]))
}

/// Adds the blocks of an element in which nodes stand twice: they have the terms between the places
/// of a node as well.
fn add_degenerate(
    problem: &Problem,
    moduli: &[f64],
    e: usize,
    hex: &[u16; 8],
    sums: &mut [[f64; 6]],
) {
    let x = problem.mesh().element_coordinates(e);
    let blocks = element_diagonal_blocks(&problem.mesh().hexes()[e], &x, problem.material());
    for (a, &node) in hex.iter().enumerate() {
        let [xx, yy, zz, xy, yz, zx] = blocks[a];
        let lower = [xx, xy, yy, zx, yz, zz];
        (0..6).for_each(|k| sums[node as usize][k] += moduli[e] * lower[k]);
    }
}

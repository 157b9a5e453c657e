//! The diagonal of K and its diagonal blocks, without stored matrices.

use std::borrow::Cow;

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{BlockDiagonal, pseudo_inverse};

use super::element_lanes::{load_coefficients, load_coordinates};
use super::gradients::Gradients;
use crate::kernel::{Summed, unpacked};
use crate::lane_laws::lane_groups;
use crate::lanes::MAX_LANES;
use crate::patches::{Patch, Patches};
use crate::{Discretization, ElementKernel, tetrahedra};

/// Writes the diagonal of `sum_e sum_t c_et K_et`, 1 at held components; `coefficients` by term.
pub fn by_patches<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patches: &Patches,
    coefficients: &[&Vec<f64>],
    out: &mut [f64],
) {
    let constraints = problem.constraints();
    let add = |_: &mut (), patch: &Patch, sums: &mut [[f64; N]]| match problem
        .elements()
        .are_tetrahedra()
    {
        true => add_diagonals_of_tetrahedra(problem, patch, coefficients, sums),
        false => add_diagonals(problem, patch, coefficients, sums),
    };
    patches.scatter(out, add, |node, sum| constraints.choose(node, [1.0; N], sum));
}

fn add_diagonals_of_tetrahedra<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patch: &Patch,
    coefficients: &[&Vec<f64>],
    sums: &mut [[f64; N]],
) {
    let mut blocks = vec![K::Packed::ZERO; sums.len()];
    tetrahedra::add_blocks(problem, patch, coefficients, &mut blocks);
    for (sum, block) in sums.iter_mut().zip(blocks) {
        *sum = std::array::from_fn(|i| block.numbers()[i * (i + 1) / 2 + i]);
    }
}

fn add_diagonals<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patch: &Patch,
    coefficients: &[&Vec<f64>],
    sums: &mut [[f64; N]],
) {
    for (e, hex) in patch.elements.clone().zip(patch.locals::<8>()) {
        let x = problem.elements().corners(e);
        let kernel = problem.kernel().of_element(&problem.elements(), e);
        for (term, coefficients) in coefficients.iter().enumerate() {
            let blocks = kernel.diagonal_blocks(term, &problem.mesh().hexes()[e], &x);
            for (block, &node) in blocks.iter().zip(hex) {
                for i in 0..N {
                    let entry = block.numbers()[i * (i + 1) / 2 + i];
                    sums[node as usize][i] += coefficients[e] * entry;
                }
            }
        }
    }
}

/// Writes the pseudo-inverses of the diagonal blocks of K and the springs, with the identity at
/// held components, to `inverse`, which has a block for every node.
pub fn inverse_blocks_by_patches<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patches: &Patches,
    coefficients: &[&Vec<f64>],
    inverse: &mut BlockDiagonal<N>,
) {
    let arch = Arch::new();
    let work = |_: &mut (), patch: &Patch, sums: &mut [K::Packed]| match problem
        .elements()
        .are_tetrahedra()
    {
        true => tetrahedra::add_blocks(problem, patch, coefficients, sums),
        false => arch.dispatch(AddBlocks { problem, patch, coefficients, sums }),
    };

    let constraints = problem.constraints();
    let springs = stiffness_to_ground(problem);
    let springs = springs.as_deref().map(|springs| springs.as_chunks::<N>().0);
    patches.scatter(inverse.packed_mut(), work, |node, sum| {
        let mut block: [[f64; N]; N] = unpacked(&sum);
        if let Some(springs) = springs {
            (0..N).for_each(|i| block[i][i] += springs[node][i]);
        }

        // After the springs: a held component with a spring is a row of the identity, too.
        for i in (0..N).filter(|&i| constraints.is_fixed(node, i)) {
            (0..N).for_each(|j| (block[i][j], block[j][i]) = (0.0, 0.0));
            block[i][i] = 1.0;
        }

        let inverse = pseudo_inverse(&block);
        let mut packed = K::Packed::ZERO;
        let lower = (0..N).flat_map(|i| (0..=i).map(move |j| (i, j)));
        packed.numbers_mut().iter_mut().zip(lower).for_each(|(p, (i, j))| *p = inverse[i][j]);
        packed
    });
}

/// Springs, `[n_nodes][N]`, with the positive entries on the diagonal of films.
fn stiffness_to_ground<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
) -> Option<Cow<'_, [f64]>> {
    let springs = Cow::Borrowed(problem.constraints().springs()?);
    let Some(rows) = problem.film_rows() else { return Some(springs) };
    let mut sums = springs.into_owned();
    rows.each_positive(|node, entry| sums[node] += entry);
    Some(Cow::Owned(sums))
}

/// Adds the diagonal blocks of `sum_t c_et K_et` of all elements of a patch to `sums`,
/// `[patch nodes]`.
struct AddBlocks<'a, K: ElementKernel<N>, const N: usize> {
    problem: &'a Discretization<K, N>,
    patch: &'a Patch,
    coefficients: &'a [&'a Vec<f64>],
    sums: &'a mut [K::Packed],
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for AddBlocks<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { problem, patch, coefficients, sums } = self;
        let mut gradients = Gradients::zeros(simd);
        let (elements, first) = (problem.elements(), patch.elements.start);
        let numbers: Vec<u32> = patch.elements.clone().map(|e| e as u32).collect();

        for (kernel, numbers) in lane_groups(problem.kernel(), &elements, &numbers, S::F64_LANES) {
            let at = numbers[0] as usize - first;
            let hexes = &patch.locals::<8>()[at..at + numbers.len()];
            let x = load_coordinates(simd, &elements, numbers);
            kernel.integrate(simd, &x, &mut gradients);
            let loaded = load_coefficients(simd, numbers, coefficients);

            // Lower triangles alone: the blocks are symmetric.
            let mut blocks = [[[[0.0; MAX_LANES]; N]; N]; 8];
            for a in 0..8 {
                let block = kernel.block(simd, &gradients, [a, a], &loaded);
                for i in 0..N {
                    for j in 0..=i {
                        block[i][j].store(&mut blocks[a][i][j]);
                    }
                }
            }

            for (lane, hex) in hexes.iter().enumerate() {
                if is_degenerate(hex) {
                    add_degenerate(problem, coefficients, numbers[lane] as usize, hex, sums);
                    continue;
                }

                for a in 0..8 {
                    let sum = sums[hex[a] as usize].numbers_mut();
                    for i in 0..N {
                        for j in 0..=i {
                            sum[i * (i + 1) / 2 + j] += blocks[a][i][j][lane];
                        }
                    }
                }
            }
        }
    }
}

/// Whether a node stands twice in an element.
fn is_degenerate(hex: &[u16; 8]) -> bool {
    (1..8).any(|a| hex[..a].contains(&hex[a]))
}

/// Adds the blocks of an element in which nodes stand twice: they have the terms between the places
/// of a node as well.
fn add_degenerate<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    coefficients: &[&Vec<f64>],
    e: usize,
    hex: &[u16; 8],
    sums: &mut [K::Packed],
) {
    let x = problem.elements().corners(e);
    let kernel = problem.kernel().of_element(&problem.elements(), e);
    for (term, coefficients) in coefficients.iter().enumerate() {
        let blocks = kernel.diagonal_blocks(term, &problem.mesh().hexes()[e], &x);
        for (block, &node) in blocks.iter().zip(hex) {
            let sum = sums[node as usize].numbers_mut().iter_mut();
            sum.zip(block.numbers()).for_each(|(sum, b)| *sum += coefficients[e] * b);
        }
    }
}

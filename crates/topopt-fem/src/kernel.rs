//! What a physics is to operators and preconditioners: the integrals over one hexahedron.

use std::fmt::Debug;

use pulp::Simd;
use rayon::prelude::*;
use topopt_linalg::pseudo_inverse;
use topopt_mesh::HexMesh;

use crate::operators::{Gradients, Lanes, Nodal};
use crate::{Constraints, Corners, Elements};

/// Values at the nodes of an element, `[8][N]`.
pub type ElementVector<const N: usize> = [[f64; N]; 8];

/// Rows of an element matrix by node and unknown, `[8][N][8][N]`.
pub type ElementMatrix<const N: usize> = [[ElementVector<N>; N]; 8];

/// Most terms of a kernel.
pub const MAX_TERMS: usize = 2;

/// Integrals over one hexahedron with N unknowns per node: the matrix of an element is
/// `sum_t c_t K_t` with a coefficient c_t per element and term.
///
/// All integrals are by the 2x2x2 Gauss rule. A kernel says the same thing three times: by plain
/// loops (`matrix`, the oracle), for several elements at a time (`product`), and by the blocks
/// between nodes (`diagonal_blocks`, `block`); tests hold them against each other.
pub trait ElementKernel<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// Terms that have a coefficient of their own, 1 to [`MAX_TERMS`].
    const TERMS: usize;

    /// Additions and multiplications of [`ElementKernel::product`] for one element, counted.
    const FLOPS: f64;

    /// Modes by which an aggregate of nodes moves without energy, apart from the ground: the M of a
    /// [`crate::Multigrid`].
    const MODES: usize;

    /// Whether a term holds nodes to the ground, see [`ElementKernel::ground`].
    const HAS_GROUND: bool = false;

    /// Whether elements may be stretched, see [`Elements`].
    const IS_STRETCHED: bool = false;

    /// The lower triangle of a symmetric N x N block, row by row: `[f64; N (N + 1) / 2]`.
    type Packed: Summed;

    /// K_t at unit coefficient, of the element at `x`.
    fn matrix(&self, term: usize, x: &Corners) -> ElementMatrix<N>;

    /// The blocks of K_t that couple each node of the element `hex` at `x` with itself. A node that
    /// stands twice has the block of the sum of its two shape functions at the first place, and
    /// zero at the other.
    fn diagonal_blocks(&self, term: usize, hex: &[u32; 8], x: &Corners) -> [Self::Packed; 8];

    /// `sum_t c_t K_t u` for elements with coordinates `x` and values `u`, an element per lane.
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S, N>,
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S, N>;

    /// The block of `sum_t c_t K_t` between nodes a and b, an element per lane.
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        nodes: [usize; 2],
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; N]; N];

    /// The diagonal of the terms that are diagonal matrices and give energy to every motion, where
    /// there are any: what holds nodes to the ground, as springs do. All other terms give no energy
    /// to the motions by which aggregates move.
    fn ground(&self, _coefficients: &[f64; MAX_TERMS], _x: &Corners) -> ElementVector<N> {
        [[0.0; N]; 8]
    }

    /// The motions without energy that `held` leaves to the connected `nodes`, in words.
    fn free_motions(&self, held: &Constraints<N>, mesh: &HexMesh, nodes: &[u32]) -> Vec<String>;

    /// For every element about the largest eigenvalue mu_e of D_e^-1 K_e, with the blocks D_e on
    /// the diagonal of its matrix K_e, `[n_elements]`, whatever the coefficients are.
    ///
    /// As u^T K_e u <= mu_e u^T D_e u holds element by element, sum_e c_e K_e is at most sum_e c_e
    /// mu_e D_e whatever the coefficients c_e are \[Wathen1987\]: a smoother scaled by the latter
    /// cannot diverge.
    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        let terms: Vec<usize> = (0..Self::TERMS).collect();
        bounds_of(self, elements, &terms)
    }
}

/// The same of some terms.
pub(crate) fn bounds_of<K: ElementKernel<N>, const N: usize>(
    kernel: &K,
    elements: &Elements,
    terms: &[usize],
) -> Vec<f32> {
    let bound = |e: usize| {
        let of_term = |&term: &usize| largest_eigenvalue(kernel, elements, e, term);
        terms.iter().map(of_term).fold(1.0, f64::max) as f32
    };
    (0..elements.n_elements()).into_par_iter().map(bound).collect()
}

/// Steps of the power method in an element, and what its result, which comes from below, is
/// multiplied by. A Chebyshev smoother diverges only beyond 1.125 times the bound; of diffusion on
/// distorted hexahedra and wedges twelve steps left up to 9 %, forty leave less than 3 %.
const POWER_STEPS: usize = 40;
const MARGIN: f64 = 1.02;

/// The largest eigenvalue of D_e^-1 K_e of one term by the power method.
fn largest_eigenvalue<K: ElementKernel<N>, const N: usize>(
    kernel: &K,
    elements: &Elements,
    e: usize,
    term: usize,
) -> f64 {
    let (hex, x) = (elements.hex(e), elements.corners(e));
    let ke = kernel.matrix(term, &x);
    let blocks = kernel.diagonal_blocks(term, hex, &x);
    let inverse: [[[f64; N]; N]; 8] = blocks.map(|block| pseudo_inverse(&unpacked(&block)));
    let first: [usize; 8] =
        std::array::from_fn(|a| hex.iter().position(|node| *node == hex[a]).unwrap_or(a));

    // All modes have a share of a start without any symmetry.
    let mut u: ElementVector<N> =
        std::array::from_fn(|a| std::array::from_fn(|i| ((3 * first[a] + i + 1) as f64).sin()));
    let mut growth = 0.0;
    for _ in 0..POWER_STEPS {
        let mut forces = [[0.0; N]; 8];
        for a in 0..8 {
            for i in 0..N {
                let row = ke[a][i].as_flattened().iter().zip(u.as_flattened());
                forces[first[a]][i] += row.map(|(k, u)| k * u).sum::<f64>();
            }
        }
        let mut work = 0.0;
        for a in 0..8 {
            let (force, inverse) = (forces[first[a]], &inverse[first[a]]);
            for i in 0..N {
                u[a][i] = (0..N).map(|j| inverse[i][j] * force[j]).sum();
                work += if first[a] == a { u[a][i] * force[i] } else { 0.0 };
            }
        }
        growth = work.sqrt();
        if growth == 0.0 {
            return 0.0;
        }

        // To length 1 in terms of D, so that the next growth is about the eigenvalue.
        u.as_flattened_mut().iter_mut().for_each(|u| *u /= growth);
    }
    MARGIN * growth
}

/// A symmetric block from its lower triangle.
pub(crate) fn unpacked<const N: usize>(packed: &impl Summed) -> [[f64; N]; N] {
    let packed = packed.numbers();
    let place = |i: usize, j: usize| i.max(j) * (i.max(j) + 1) / 2 + i.min(j);
    std::array::from_fn(|i| std::array::from_fn(|j| packed[place(i, j)]))
}

/// Several numbers that are summed at a node.
pub trait Summed: Copy + Send + Sync {
    /// Zeros.
    const ZERO: Self;
    /// As many numbers one after the other as there are.
    fn slice(numbers: &mut [f64]) -> &mut [Self];
    /// The numbers.
    fn numbers(&self) -> &[f64];
    /// The numbers, to be changed.
    fn numbers_mut(&mut self) -> &mut [f64];
}

impl<const D: usize> Summed for [f64; D] {
    const ZERO: Self = [0.0; D];

    fn slice(numbers: &mut [f64]) -> &mut [Self] {
        numbers.as_chunks_mut::<D>().0
    }

    fn numbers(&self) -> &[f64] {
        self
    }

    fn numbers_mut(&mut self) -> &mut [f64] {
        self
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::Diffusion;
    use topopt_testing::{distorted_cube, hexagon, mapped_cube, wheel};

    /// The largest eigenvalue of D^-1 L of element `e`, each of its nodes taken once.
    fn exact(elements: &Elements, e: usize) -> f64 {
        let hex = elements.hex(e);
        let ke = Diffusion.matrix(Diffusion::CONDUCTION, &elements.corners(e));
        let mut nodes = hex.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let at = |a: usize| nodes.binary_search(&hex[a]).unwrap();
        let mut k = DMatrix::zeros(nodes.len(), nodes.len());
        for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
            k[(at(a), at(b))] += ke[a][0][b][0];
        }
        let scale = k.diagonal().map(|d: f64| d.sqrt().recip());
        DMatrix::from_fn(nodes.len(), nodes.len(), |i, j| k[(i, j)] * scale[i] * scale[j])
            .symmetric_eigenvalues()
            .max()
    }

    #[test]
    fn bounds_are_about_the_largest_eigenvalues_of_elements() {
        let plate = mapped_cube(2, |[x, y, z]| [9.0 * x + 2.0 * z, 4.0 * y, z * (1.0 + x)]);
        let stretches = [[1.0; 3], [5.0, 0.4, 0.5], [0.1, 10.0, 1.0], [0.01, 10.0, 10.0]];
        for mesh in [distorted_cube(3, 0.3, true), hexagon(2), wheel(2), plate] {
            for stretch in stretches {
                let stretched = vec![stretch; mesh.n_elements()];
                let elements = Elements::new(&mesh, Some(&stretched));
                for (e, &bound) in Diffusion.bounds(&elements).iter().enumerate() {
                    let share = f64::from(bound) / exact(&elements, e);
                    assert!((0.95..1.03).contains(&share), "{stretch:?}, element {e}: {share}");
                }
            }
        }
        let cube = Diffusion.bounds(&(&mapped_cube(1, |x| x)).into())[0];
        assert!((f64::from(cube) / (1.5 * MARGIN) - 1.0).abs() < 1e-3, "{cube}");
    }
}

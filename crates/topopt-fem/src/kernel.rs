//! `ElementKernel`: the integrals of one physics over a hexahedron, for operators and
//! preconditioners.

use std::fmt::Debug;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_linalg::pseudo_inverse;
use topopt_mesh::HexMesh;

use crate::lanes::MAX_LANES;
use crate::operators::{Gradients, Lanes, Nodal, load_coordinates};
use crate::thermal_strain::Restrained;
use crate::{Constraints, Corners, DIM, Elements, Formulation, FreePart, Law, ThermalStrains};

/// Values at the nodes of an element, `[E][N]`; by default a hexahedron.
pub type ElementVector<const N: usize, const E: usize = 8> = [[f64; N]; E];

/// Rows of an element matrix by node and unknown, `[E][N][E][N]`.
pub type ElementMatrix<const N: usize, const E: usize = 8> = [[ElementVector<N, E>; N]; E];

/// Most terms of a kernel.
pub const MAX_TERMS: usize = 2;

/// Integrals over one element with N unknowns per node: the matrix of an element is
/// `sum_t c_t K_t` with a coefficient c_t per element and term.
///
/// Those over a tetrahedron follow from its law between gradient and flux (`coupling`,
/// `constitutive`) and from `MASS`, see [`crate::tetrahedra`]; all other methods are of hexahedra.
///
/// Integrals are by the 2x2x2 Gauss rule, or by strain modes ([`crate::StrainMode`]). A kernel says
/// the same thing three times: by plain loops (`matrix`, the oracle), for several elements at a
/// time (`product`), and by the blocks between nodes (`diagonal_blocks`, `block`); tests hold them
/// against each other.
pub trait ElementKernel<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// Terms that have a coefficient of their own, 1 to [`MAX_TERMS`].
    const TERMS: usize;

    /// Number of motions of an aggregate of nodes without energy, apart from the ground: the M of a
    /// [`crate::Multigrid`].
    const MODES: usize;

    /// Whether a term holds nodes to the ground, see [`ElementKernel::ground`].
    const HAS_GROUND: bool = false;

    /// Term of tetrahedra that is a mass, lumped at their nodes; all others follow from the law.
    const MASS: Option<usize> = None;

    /// Whether elements may be stretched, see [`Elements`].
    const IS_STRETCHED: bool = false;

    /// Whether elements may have a law of their own, see [`Law`].
    const HAS_LAWS: bool = false;

    /// The lower triangle of a symmetric N x N block, row by row: `[f64; N (N + 1) / 2]`.
    type Packed: Summed;

    /// The formulation of its hexahedra.
    fn formulation(&self) -> Formulation {
        Formulation::Full
    }

    /// Returns the kernel of another law of single elements.
    #[must_use]
    fn of_law(&self, _law: &Law) -> Self {
        *self
    }

    /// Returns the kernel of element `e`: that of its law, if it has one of its own.
    #[must_use]
    fn of_element(&self, elements: &Elements, e: usize) -> Self {
        elements.laws().and_then(|laws| laws.of(e)).map_or(*self, |law| self.of_law(law))
    }

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

    /// Additions and multiplications of [`ElementKernel::product`] for one element, counted.
    fn flops(&self) -> f64;

    /// Sets the gradients that [`ElementKernel::block`] reads, for elements with coordinates `x`.
    #[inline(always)]
    fn integrate<S: Simd>(&self, simd: S, x: &Nodal<S>, gradients: &mut Gradients<S>) {
        gradients.set(simd, x);
    }

    /// The block of `sum_t c_t K_t` between nodes a and b, an element per lane.
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        nodes: [usize; 2],
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; N]; N];

    /// The block of K_t per volume between shape functions of the gradients `a` and `b`, by plain
    /// loops; terms without gradients, such as a capacity, have none.
    fn coupling(&self, term: usize, a: [f64; DIM], b: [f64; DIM]) -> [[f64; N]; N];

    /// The constitutive law: the flux of a `gradient` of the unknowns, `[N][3]`, such as the
    /// stress, an element per lane.
    fn constitutive<S: Simd>(
        &self,
        simd: S,
        gradient: &[[Lanes<S>; DIM]; N],
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; DIM]; N];

    /// The diagonal of the terms that are diagonal matrices and give energy to every motion, where
    /// there are any: what holds nodes to the ground, as springs do. All other terms give no energy
    /// to the motions by which aggregates move.
    fn ground(&self, _coefficients: &[f64; MAX_TERMS], _x: &Corners) -> ElementVector<N> {
        [[0.0; N]; 8]
    }

    /// Computes what it takes to hold element `e` against its thermal strain, in the first term.
    fn restrained(
        &self,
        _elements: &Elements,
        _e: usize,
        _strains: &ThermalStrains,
    ) -> Restrained<N> {
        Restrained::default()
    }

    /// The motions without energy that `held` leaves to the connected `nodes`, in words.
    fn free_motions(&self, held: &Constraints<N>, mesh: &HexMesh, nodes: &[u32]) -> Vec<String>;

    /// Pins the connected `nodes`, which `held` leaves free, for inertia relief; `anchors` are
    /// nodes that will have material. None where motions have no inertia.
    fn free_part(
        &self,
        _held: &Constraints<N>,
        _mesh: &HexMesh,
        _nodes: Vec<u32>,
        _anchors: &[u32],
    ) -> Option<FreePart> {
        None
    }

    /// Bounds per element the largest eigenvalue mu_e of D_e^-1 K_e, a few percent above
    /// it, with the blocks D_e on the diagonal of its matrix K_e, `[n_elements]`, whatever the
    /// coefficients are.
    ///
    /// As u^T K_e u <= mu_e u^T D_e u holds element by element, sum_e c_e K_e is at most sum_e c_e
    /// mu_e D_e whatever the coefficients c_e are \[Wathen1987\]: a smoother scaled by the latter
    /// cannot diverge.
    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        let terms: Vec<usize> = (0..Self::TERMS).collect();
        let all: Vec<u32> = (0..elements.n_elements() as u32).collect();
        bounds_of(self, elements, &all, &terms)
    }
}

/// Computes the [`ElementKernel::bounds`] of some elements over some terms only.
pub(crate) fn bounds_of<K: ElementKernel<N>, const N: usize>(
    kernel: &K,
    elements: &Elements,
    numbers: &[u32],
    terms: &[usize],
) -> Vec<f32> {
    let arch = Arch::new();
    let mut bounds = vec![1.0; numbers.len()];
    let chunks = bounds.par_chunks_mut(CHUNK).zip(numbers.par_chunks(CHUNK));
    chunks.for_each(|(bounds, numbers)| {
        let of_law = |a: &u32, b: &u32| elements.is_of_one_law([*a, *b]);
        let mut rest = bounds;
        for numbers in numbers.chunk_by(of_law) {
            let (bounds, others) = std::mem::take(&mut rest).split_at_mut(numbers.len());
            let kernel = &kernel.of_element(elements, numbers[0] as usize);
            arch.dispatch(RaiseBounds { kernel, elements, terms, numbers, bounds });
            rest = others;
        }
    });
    bounds
}

/// Elements that a thread takes at a time.
const CHUNK: usize = 256;

/// Raises the bounds of elements to those of each term.
struct RaiseBounds<'a, K, const N: usize> {
    kernel: &'a K,
    elements: &'a Elements<'a>,
    terms: &'a [usize],
    numbers: &'a [u32],
    bounds: &'a mut [f32],
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for RaiseBounds<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kernel, elements, terms, numbers, bounds } = self;
        let mut gradients = Gradients::zeros(simd);
        let mut entries = [0.0; MAX_LANES];
        let chunks = numbers.chunks(S::F64_LANES).zip(bounds.chunks_mut(S::F64_LANES));
        for (numbers, bounds) in chunks {
            kernel.integrate(simd, &load_coordinates(simd, elements, numbers), &mut gradients);

            for &term in terms {
                let mut unit = [Lanes::splat(simd, 0.0); MAX_TERMS];
                unit[term] = Lanes::splat(simd, 1.0);
                let mut matrices = [[[[[0.0; N]; 8]; N]; 8]; MAX_LANES];
                for (a, b) in (0..64).map(|k| (k / 8, k % 8)).filter(|(a, b)| a <= b) {
                    let block = kernel.block(simd, &gradients, [a, b], &unit);
                    for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                        block[i][j].store(&mut entries);
                        for (matrix, entry) in matrices.iter_mut().zip(entries) {
                            (matrix[a][i][b][j], matrix[b][j][a][i]) = (entry, entry);
                        }
                    }
                }

                for ((bound, &e), ke) in bounds.iter_mut().zip(numbers).zip(&matrices) {
                    let largest = largest_eigenvalue(elements.hex(e as usize), ke);
                    *bound = bound.max(largest as f32);
                }
            }
        }
    }
}

/// Number of times that D_e^-1 K_e is squared, which gives its power 2^SQUARINGS.
const SQUARINGS: i32 = 5;

/// A bound of the largest eigenvalue of B = D_e^-1 K_e, for the matrix of one term. No eigenvalue
/// is negative, so that the largest to the power 64 is at most the sum of all to that power, tr
/// B^64; of n of the same size the bound is n^(1/64) times that size, 3 % more for all but one of a
/// hexahedron.
fn largest_eigenvalue<const N: usize>(hex: &[u32; 8], ke: &ElementMatrix<N>) -> f64 {
    let ke = joined(hex, ke);
    let mut power: ElementMatrix<N> = [[[[0.0; N]; 8]; N]; 8];
    for a in 0..8 {
        let block: [[f64; N]; N] = std::array::from_fn(|i| ke[a][i][a]);
        let inverse = pseudo_inverse(&block);
        for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
            add_multiple(inverse[i][j], &ke[a][j], &mut power[a][i]);
        }
    }
    for _ in 0..SQUARINGS {
        power = square(&power);
    }

    // tr P^2 of the power P.
    let mut trace = 0.0;
    for (a, i) in (0..8 * N).map(|k| (k / N, k % N)) {
        for (b, j) in (0..8 * N).map(|k| (k / N, k % N)) {
            trace += power[a][i][b][j] * power[b][j][a][i];
        }
    }
    trace.powf(0.5f64.powi(SQUARINGS + 1))
}

/// K_e with each node once: what belongs to a node that stands twice is at its first place, and
/// zero at the other.
pub(crate) fn joined<const N: usize>(hex: &[u32; 8], ke: &ElementMatrix<N>) -> ElementMatrix<N> {
    let first: [usize; 8] =
        std::array::from_fn(|a| hex.iter().position(|node| *node == hex[a]).unwrap_or(a));
    if first == [0, 1, 2, 3, 4, 5, 6, 7] {
        return *ke;
    }
    let mut joined = [[[[0.0; N]; 8]; N]; 8];
    for (a, i) in (0..8 * N).map(|k| (k / N, k % N)) {
        for b in 0..8 {
            (0..N).for_each(|j| joined[first[a]][i][first[b]][j] += ke[a][i][b][j]);
        }
    }
    joined
}

/// The product of a matrix with itself.
fn square<const N: usize>(matrix: &ElementMatrix<N>) -> ElementMatrix<N> {
    let mut square = [[[[0.0; N]; 8]; N]; 8];
    for (rows, sums) in matrix.iter().zip(&mut square) {
        for (row, sum) in rows.iter().zip(sums) {
            for (factor, other) in row.as_flattened().iter().zip(matrix.as_flattened()) {
                add_multiple(*factor, other, sum);
            }
        }
    }
    square
}

/// sum += factor row.
fn add_multiple<const N: usize>(factor: f64, row: &ElementVector<N>, sum: &mut ElementVector<N>) {
    let sum = sum.as_flattened_mut().iter_mut();
    sum.zip(row.as_flattened()).for_each(|(sum, entry)| *sum += factor * entry);
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
    /// Views consecutive numbers as a slice of values; a remainder is left out.
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
    use crate::{Diffusion, ElementData};
    use topopt_testing::{distorted_cube, hexagon, mapped_cube, wheel};

    /// The largest eigenvalue of D^-1 L of element `e`, each of its nodes taken once.
    fn exact(kernel: Diffusion, elements: &Elements, e: usize) -> f64 {
        let hex = elements.hex(e);
        let ke = kernel.matrix(Diffusion::CONDUCTION, &elements.corners(e));
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
        let meshes = [distorted_cube(3, 0.3, true), hexagon(2), wheel(2), plate];
        let formulations = [Formulation::Full, Formulation::Incompatible].map(Diffusion::by);
        for (mesh, kernel) in meshes.iter().flat_map(|mesh| formulations.map(|k| (mesh, k))) {
            for stretch in stretches {
                let data = ElementData::stretched(vec![stretch; mesh.n_elements()]);
                let elements = Elements::new(mesh, &data);
                for (e, &bound) in kernel.bounds(&elements).iter().enumerate() {
                    let share = f64::from(bound) / exact(kernel, &elements, e);
                    let range = 0.999_999..1.032;
                    assert!(range.contains(&share), "{stretch:?}, element {e}: {share}");
                }
            }
        }
    }
}

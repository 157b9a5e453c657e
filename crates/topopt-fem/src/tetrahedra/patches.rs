//! Products, energies and diagonal blocks of the tetrahedra of a patch.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::integrals::diagonal_blocks;
use super::lanes::{TetrahedronLanes, product};
use crate::kernel::Summed;
use crate::lane_laws::ByLaws;
use crate::lanes::{Lanes, MAX_LANES, Quads};
use crate::operators::local_fields::{
    LocalFields, add_nodes, load_in_order, load_nodes, load_other, stretch,
};
use crate::patches::Patch;
use crate::{Discretization, ElementKernel, Elements, MAX_TERMS};

/// Writes the sums of `sum_t c_t K_t u_e` of all tetrahedra of a patch to `sums`, `[patch
/// nodes][N]`.
pub(crate) struct AddTetrahedra<'a, K, const N: usize> {
    pub kernel: &'a K,
    pub elements: Elements<'a>,
    pub patch: &'a Patch,
    pub local: &'a mut LocalFields<N>,
    /// Coefficients of all elements of the mesh, `[n_elements]` per term.
    pub coefficients: &'a [Vec<f64>],
    pub sums: &'a mut [[f64; N]],
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for AddTetrahedra<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut sums = std::mem::take(&mut self.local.nodes.sums);
        sums.clear();
        sums.resize(self.sums.len(), [0.0; 4]);

        let groups = self.patch.locals::<10>().chunks(S::F64_LANES);
        for (group, nodes) in groups.enumerate() {
            let range = self.patch.range(group * S::F64_LANES, nodes.len());
            let mut coefficients = [Lanes::splat(simd, 0.0); MAX_TERMS];
            for term in 0..K::TERMS {
                coefficients[term] = load_in_order(simd, &self.coefficients[term][range.clone()]);
            }
            let mut xu = load_nodes(simd, &self.local.nodes.xu, nodes);
            if K::IS_STRETCHED
                && let Some(factors) = self.elements.stretches_of(range.clone())
            {
                stretch(simd, factors, true, &mut xu.0);
            }
            let is_straight = self.patch.are_straight[group * S::F64_LANES / MAX_LANES];
            let of_group = OfGroup { elements: &self.elements, range, is_straight };
            let forces = of_group.forces(simd, self.kernel, &xu, &coefficients);
            add_nodes(simd, &forces, &mut sums, nodes);
        }

        for (out, sum) in self.sums.iter_mut().zip(&sums) {
            out.copy_from_slice(&sum[..N]);
        }
        self.local.nodes.sums = sums;
    }
}

/// A group of tetrahedra, as many as lanes.
struct OfGroup<'a> {
    elements: &'a Elements<'a>,
    range: Range<usize>,
    is_straight: bool,
}

impl OfGroup<'_> {
    /// The product, for coordinates and values `xu` of the nodes.
    #[inline(always)]
    fn forces<S: Simd, K: ElementKernel<N>, const N: usize>(
        self,
        simd: S,
        kernel: &K,
        (x, u): &(TetrahedronLanes<S>, TetrahedronLanes<S, N>),
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> TetrahedronLanes<S, N> {
        // A product of its own for each: a branch within takes values out of the registers.
        if !K::HAS_LAWS || self.elements.laws().is_none() {
            return match self.is_straight {
                true => product(simd, kernel, (x, true), u, coefficients),
                false => product(simd, kernel, (x, false), u, coefficients),
            };
        }

        let by_laws = ByLaws { elements: self.elements, range: self.range, in_order: false };
        let mut sum = [[Lanes::splat(simd, 0.0); N]; 10];
        for first in by_laws.firsts() {
            let kernel = kernel.of_element(self.elements, first);
            let own = by_laws.of_law(simd, first, coefficients);
            let forces = product(simd, &kernel, (x, self.is_straight), u, &own);
            for a in 0..10 {
                for i in 0..N {
                    sum[a][i] = sum[a][i] + forces[a][i];
                }
            }
        }
        sum
    }
}

/// Writes v_e^T K_et u_e at unit coefficient of one term for all tetrahedra of a patch.
pub(crate) struct TetrahedraWorks<'a, K, const N: usize> {
    pub kernel: &'a K,
    pub elements: Elements<'a>,
    pub term: usize,
    pub patch: &'a Patch,
    pub local: &'a LocalFields<N>,
    pub works: &'a mut [f64],
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for TetrahedraWorks<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut unit = [Lanes::splat(simd, 0.0); MAX_TERMS];
        unit[self.term] = Lanes::splat(simd, 1.0);

        let groups = self.patch.locals::<10>().chunks(S::F64_LANES);
        let groups = groups.zip(self.works.chunks_mut(S::F64_LANES));
        for (group, (nodes, works)) in groups.enumerate() {
            let mut xu = load_nodes(simd, &self.local.nodes.xu, nodes);
            let range = self.patch.range(group * S::F64_LANES, nodes.len());
            if K::IS_STRETCHED
                && let Some(factors) = self.elements.stretches_of(range.clone())
            {
                stretch(simd, factors, true, &mut xu.0);
            }
            let is_straight = self.patch.are_straight[group * S::F64_LANES / MAX_LANES];
            let of_group = OfGroup { elements: &self.elements, range, is_straight };
            let forces = of_group.forces(simd, self.kernel, &xu, &unit);
            let v: TetrahedronLanes<S, N> = load_other(simd, &self.local.nodes.v, nodes);
            let mut work = Lanes::splat(simd, 0.0);
            for a in 0..10 {
                for i in 0..N {
                    work = v[a][i].mul_add(forces[a][i], work);
                }
            }

            let mut quads: Quads = [[0.0; 4]; MAX_LANES];
            Lanes::to_quads(simd, [work; 4], &mut quads);
            works.iter_mut().zip(quads).for_each(|(work, quad)| *work = quad[0]);
        }
    }
}

/// Adds the diagonal blocks of `sum_t c_et K_et` of all tetrahedra of a patch to `sums`,
/// `[patch nodes]`.
pub(crate) fn add_blocks<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patch: &Patch,
    coefficients: &[&Vec<f64>],
    sums: &mut [K::Packed],
) {
    let elements = problem.elements();
    for (e, nodes) in patch.elements.clone().zip(patch.locals::<10>()) {
        let (x, kernel) = (elements.tetrahedron(e), problem.kernel().of_element(&elements, e));
        for (term, coefficients) in coefficients.iter().enumerate() {
            let blocks = diagonal_blocks(&kernel, term, &x);
            for (block, &node) in blocks.iter().zip(nodes) {
                let sum = sums[node as usize].numbers_mut().iter_mut();
                sum.zip(block.numbers()).for_each(|(sum, b)| *sum += coefficients[e] * b);
            }
        }
    }
}

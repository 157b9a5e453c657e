//! Groups of elements, one per lane, by their laws.

use std::ops::Range;

use pulp::Simd;

use crate::lanes::{Lanes, MAX_LANES};
use crate::operators::Nodal;
use crate::operators::local_fields::load_in_order;
use crate::{ElementKernel, Elements, MAX_TERMS};

/// Divides `numbers` of elements into groups of one law and at most `lanes` elements, each with its
/// kernel.
pub fn lane_groups<'a, K: ElementKernel<N>, const N: usize>(
    kernel: &'a K,
    elements: &'a Elements,
    numbers: &'a [u32],
    lanes: usize,
) -> impl Iterator<Item = (K, &'a [u32])> {
    let runs = numbers.chunk_by(|a, b| elements.is_of_one_law([*a, *b]));
    let groups = runs.flat_map(move |run| run.chunks(lanes));
    groups.map(|group| (kernel.of_element(elements, group[0] as usize), group))
}

/// At most as many consecutive elements as lanes.
pub struct ByLaws<'a> {
    pub elements: &'a Elements<'a>,
    pub range: Range<usize>,
    /// Whether lanes are in the order of the elements, or in that of [`Lanes::from_quads`].
    pub in_order: bool,
}

impl ByLaws<'_> {
    /// Returns the sum over laws of the products of their kernels, [`ElementKernel::product`].
    #[inline(always)]
    pub fn product<S: Simd, K: ElementKernel<N>, const N: usize>(
        &self,
        simd: S,
        kernel: &K,
        (x, u): (&Nodal<S>, &Nodal<S, N>),
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S, N> {
        let mut sum = [[Lanes::splat(simd, 0.0); N]; 8];
        for first in self.firsts() {
            let kernel = kernel.of_element(self.elements, first);
            let own = self.of_law(simd, first, coefficients);
            let forces = kernel.product(simd, x, u, &own);
            for a in 0..8 {
                for i in 0..N {
                    sum[a][i] = sum[a][i] + forces[a][i];
                }
            }
        }
        sum
    }

    /// The first element of every law.
    pub fn firsts(&self) -> impl Iterator<Item = usize> + '_ {
        let is_first = |e: &usize| !(self.range.start..*e).any(|other| self.is_of_law(other, *e));
        self.range.clone().filter(is_first)
    }

    /// `coefficients` of elements that have the law of element `first`, and 0 of others.
    #[inline(always)]
    pub fn of_law<S: Simd>(
        &self,
        simd: S,
        first: usize,
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> [Lanes<S>; MAX_TERMS] {
        let mut factors = [0.0; MAX_LANES];
        for (factor, e) in factors.iter_mut().zip(self.range.clone()) {
            *factor = f64::from(u8::from(self.is_of_law(e, first)));
        }
        let factors = match self.in_order {
            true => Lanes::load(simd, &factors),
            false => load_in_order(simd, &factors[..self.range.len()]),
        };
        let mut own = *coefficients;
        for term in 0..MAX_TERMS {
            own[term] = factors * own[term];
        }
        own
    }

    fn is_of_law(&self, a: usize, b: usize) -> bool {
        self.elements.is_of_one_law([a as u32, b as u32])
    }
}

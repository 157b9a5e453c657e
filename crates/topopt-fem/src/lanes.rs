//! One number for each of several elements: arithmetic at the width of the machine.

use std::ops::{Add, Mul, Sub};

use pulp::Simd;

/// Most lanes of any machine: eight doubles in 512 bits.
pub const MAX_LANES: usize = 8;

/// Four numbers per lane, so that those of a node are read and added in one piece.
pub type Quads = [[f64; 4]; MAX_LANES];

/// Doubles in one SIMD register of `S`, one number per lane.
#[derive(Clone, Copy)]
pub struct Lanes<S: Simd> {
    simd: S,
    value: S::f64s,
}

impl<S: Simd> Lanes<S> {
    /// Copies one number to every lane.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Self {
        Self { simd, value: simd.splat_f64s(value) }
    }

    /// The first lanes of `values`, which are at least as many.
    #[inline(always)]
    pub fn load(simd: S, values: &[f64]) -> Self {
        Self { simd, value: S::as_simd_f64s(values).0[0] }
    }

    /// Writes the first lanes of `values`, which are at least as many.
    #[inline(always)]
    pub fn store(self, values: &mut [f64]) {
        S::as_mut_simd_f64s(values).0[0] = self.value;
    }

    /// The four numbers of each lane, of `values` lane after lane; in an order of lanes of its own,
    /// from which [`Lanes::to_quads`] goes back.
    #[inline(always)]
    pub fn from_quads(simd: S, values: &Quads) -> [Self; 4] {
        let registers = S::as_simd_f64s(values.as_flattened()).0;
        let quads = [registers[0], registers[1], registers[2], registers[3]];
        simd.deinterleave_shfl_f64s(quads).map(|value| Self { simd, value })
    }

    /// Writes the first lanes of `values`, which are at least as many.
    #[inline(always)]
    pub fn to_quads(simd: S, quads: [Self; 4], values: &mut Quads) {
        let quads = simd.interleave_shfl_f64s(quads.map(|quad| quad.value));
        S::as_mut_simd_f64s(values.as_flattened_mut()).0[..4].copy_from_slice(&quads);
    }

    /// self * factor + term, fused where the machine can.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, term: Self) -> Self {
        let value = self.simd.mul_add_e_f64s(self.value, factor.value, term.value);
        Self { simd: self.simd, value }
    }

    /// term - self * factor, fused where the machine can.
    #[inline(always)]
    pub fn negate_mul_add(self, factor: Self, term: Self) -> Self {
        let value = self.simd.negate_mul_add_e_f64s(self.value, factor.value, term.value);
        Self { simd: self.simd, value }
    }

    /// The square root.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self { simd: self.simd, value: self.simd.sqrt_f64s(self.value) }
    }

    /// 1 / self.
    #[inline(always)]
    pub fn recip(self) -> Self {
        let one = self.simd.splat_f64s(1.0);
        Self { simd: self.simd, value: self.simd.div_f64s(one, self.value) }
    }
}

impl<S: Simd> Add for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { simd: self.simd, value: self.simd.add_f64s(self.value, other.value) }
    }
}

impl<S: Simd> Sub for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { simd: self.simd, value: self.simd.sub_f64s(self.value, other.value) }
    }
}

impl<S: Simd> Mul for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { simd: self.simd, value: self.simd.mul_f64s(self.value, other.value) }
    }
}

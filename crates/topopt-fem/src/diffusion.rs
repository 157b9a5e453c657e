//! Diffusion: one unknown per node, with a conductivity and a capacity per element.

use pulp::Simd;
use serde::Serialize;
use topopt_mesh::HexMesh;
use topopt_mesh::hexahedron::{self, GAUSS};
use topopt_mesh::vector::dot;

use crate::kernel::bounds_of;
use crate::operators::{
    DETERMINANT_SCALE, GRADIENT_SCALE, Gradients, Lanes, NODE, Nodal, at_point, cofactors,
    derivatives, derivatives_transposed, slots, times,
};
use crate::shape_gradients::{join_twins, physical_gradients};
use crate::{
    Constraints, Corners, ElementKernel, ElementMatrix, ElementVector, Elements, MAX_TERMS,
};

/// The operator k L + c M of $-\nabla \cdot (k \nabla u) + c u$: conduction
/// $L_{ab} = \int \nabla N_a \cdot \nabla N_b$, and capacity, lumped to the diagonal,
/// $M_{aa} = \int N_a$.
///
/// As the capacity is lumped, k L + c M is an M-matrix on cubes, and solutions keep within the
/// bounds of their data. That of tetrahedra is lumped by [`crate::tetrahedra::mass_shares`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Diffusion;

impl Diffusion {
    /// The term with the conductivity.
    pub const CONDUCTION: usize = 0;
    /// The term with the capacity.
    pub const CAPACITY: usize = 1;
}

impl ElementKernel<1> for Diffusion {
    const TERMS: usize = 2;
    /// A constant.
    const MODES: usize = 1;
    const HAS_GROUND: bool = true;
    const MASS: Option<usize> = Some(Self::CAPACITY);
    /// Orthotropic conductivities are represented by stretched elements, see [`crate::orthotropy`].
    const IS_STRETCHED: bool = true;
    type Packed = [f64; 1];

    fn matrix(&self, term: usize, x: &Corners) -> ElementMatrix<1> {
        let mut ke = [[[[0.0]; 8]; 1]; 8];
        for xi in hexahedron::gauss_points() {
            if term == Self::CAPACITY {
                let det = hexahedron::determinant(&hexahedron::jacobian(x, xi));
                let shape = hexahedron::shape_functions(xi);
                (0..8).for_each(|a| ke[a][0][a][0] += shape[a] * det);
                continue;
            }
            let (g, det) = physical_gradients(x, xi);
            for a in 0..8 {
                for b in 0..8 {
                    let dot: f64 = (0..3).map(|i| g[a][i] * g[b][i]).sum();
                    ke[a][0][b][0] += dot * det;
                }
            }
        }
        ke
    }

    fn diagonal_blocks(&self, term: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 1]; 8] {
        let mut shares = shape_integrals(x).map(|share| [share]);
        if term == Self::CAPACITY {
            join_twins(hex, &mut shares);
            return shares;
        }
        let mut blocks = [[0.0]; 8];
        for xi in hexahedron::gauss_points() {
            let (mut g, det) = physical_gradients(x, xi);
            join_twins(hex, &mut g);
            for (block, g) in blocks.iter_mut().zip(g) {
                block[0] += g.iter().map(|v| v * v).sum::<f64>() * det;
            }
        }
        blocks
    }

    /// Derivatives 4 x 72, Gauss points 8 x 70, the transpose 57, capacity 112.
    fn flops(&self) -> f64 {
        1017.0
    }

    #[inline(always)]
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S, 1>,
        [conductivity, capacity]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S, 1> {
        // Gradient of u, two cofactors and the transpose carry the scale to the sixth, 1 / det J to
        // the -third.
        let k = Lanes::splat(simd, GRADIENT_SCALE.powi(-3)) * *conductivity;
        let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
        let du = [derivatives(simd, u, 0)];
        let zero = Lanes::splat(simd, 0.0);
        let (mut flux, mut dets) = ([[zero; 4]; 3], [zero; 8]);
        for q in 0..8 {
            let at = slots(q);
            let (cofactors, det) = cofactors(&at_point(&dx, at));
            let [h] = times(&at_point(&du, at), &cofactors); // det J grad u
            let scale = k * det.recip();
            for j in 0..3 {
                let sum = h[1].mul_add(cofactors[j][1], h[0] * cofactors[j][0]);
                let sum = h[2].mul_add(cofactors[j][2], sum);
                flux[j][at[j]] = scale.mul_add(sum, flux[j][at[j]]);
            }
            dets[q] = det;
        }

        let mut out = [[zero]; 8];
        derivatives_transposed(simd, &flux, 0, &mut out);
        let c = Lanes::splat(simd, DETERMINANT_SCALE) * *capacity;
        let shares = shares(simd, dets);
        for a in 0..8 {
            out[a][0] = (c * shares[a]).mul_add(u[a][0], out[a][0]);
        }
        out
    }

    #[inline(always)]
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        [a, b]: [usize; 2],
        [conductivity, capacity]: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; 1]; 1] {
        let p = gradients.products(a, b);
        let mut block = *conductivity * (p[0][0] + p[1][1] + p[2][2]);
        if a == b {
            block = capacity.mul_add(gradients.share(simd, a), block);
        }
        [[block]]
    }

    fn coupling(&self, term: usize, a: [f64; 3], b: [f64; 3]) -> [[f64; 1]; 1] {
        if term == Self::CAPACITY { [[0.0]] } else { [[dot(a, b)]] }
    }

    #[inline(always)]
    fn constitutive<S: Simd>(
        &self,
        _: S,
        [[x, y, z]]: &[[Lanes<S>; 3]; 1],
        [conductivity, _]: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; 3]; 1] {
        [[*conductivity * *x, *conductivity * *y, *conductivity * *z]]
    }

    /// Returns the bounds of the conduction alone: the capacity is its own diagonal.
    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        let all: Vec<u32> = (0..elements.n_elements() as u32).collect();
        bounds_of(self, elements, &all, &[Self::CONDUCTION])
    }

    fn ground(&self, coefficients: &[f64; MAX_TERMS], x: &Corners) -> ElementVector<1> {
        shape_integrals(x).map(|share| [coefficients[Self::CAPACITY] * share])
    }

    /// A constant where no value is held; what a capacity does is not counted, as it may be zero.
    fn free_motions(&self, held: &Constraints<1>, _: &HexMesh, nodes: &[u32]) -> Vec<String> {
        let resists = |node: usize| held.springs().is_some_and(|springs| springs[node] > 0.0);
        let is_held = |&node: &u32| held.is_held(node as usize) || resists(node as usize);
        if nodes.iter().any(is_held) { Vec::new() } else { vec!["a constant".into()] }
    }
}

/// The integrals of the shape functions over the element at `x`, `[8]`.
pub(crate) fn shape_integrals(x: &Corners) -> [f64; 8] {
    let mut integrals = [0.0; 8];
    for xi in hexahedron::gauss_points() {
        let det = hexahedron::determinant(&hexahedron::jacobian(x, xi));
        let shape = hexahedron::shape_functions(xi);
        (0..8).for_each(|a| integrals[a] += shape[a] * det);
    }
    integrals
}

/// The integrals of the shape functions for values of det J at the Gauss points, one direction
/// after the other.
#[inline(always)]
fn shares<S: Simd>(simd: S, mut values: [Lanes<S>; 8]) -> [Lanes<S>; 8] {
    let near = Lanes::splat(simd, 0.5 * (1.0 + GAUSS));
    let far = Lanes::splat(simd, 0.5 * (1.0 - GAUSS));
    for bit in [4, 2, 1] {
        for q in 0..8 {
            if q & bit == 0 {
                let (low, high) = (values[q], values[q | bit]);
                values[q] = near.mul_add(low, far * high);
                values[q | bit] = near.mul_add(high, far * low);
            }
        }
    }
    let mut shares = values;
    for q in 0..8 {
        shares[NODE[q]] = values[q];
    }
    shares
}

//! Diffusion: one unknown per node, with a conductivity and a capacity per element.

mod modes;
mod points;

use pulp::Simd;
use serde::Serialize;
use topopt_mesh::HexMesh;
use topopt_mesh::hexahedron;
use topopt_mesh::vector::dot;

use crate::kernel::bounds_of;
use crate::mode_geometry::set_modes;
use crate::operators::{Gradients, Lanes, Nodal};
use crate::shape_gradients::{join_twins, physical_gradients};
use crate::{
    Constraints, Corners, DIM, ElementKernel, ElementMatrix, ElementVector, Elements, Formulation,
    MAX_TERMS, StrainMode,
};

/// The operator k L + c M of $-\nabla \cdot (k \nabla u) + c u$: conduction
/// $L_{ab} = \int \nabla N_a \cdot \nabla N_b$, and capacity, lumped to the diagonal,
/// $M_{aa} = \int N_a$.
///
/// L is by the 2x2x2 Gauss rule or, of [`Formulation::Incompatible`], by the modes of the gradient
/// that [`StrainMode`] has: its square is integrated exactly on parallelepipeds, where both are the
/// same, and at the center's metric on distorted elements. The gradient's mean is exact on all of
/// them, so that linear fields are too. M is by the Gauss rule, which integrates it exactly.
///
/// As the capacity is lumped, k L + c M is an M-matrix on cubes, and solutions keep within the
/// bounds of their data. That of tetrahedra is lumped by [`crate::tetrahedra::mass_shares`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Diffusion {
    formulation: Formulation,
}

impl Diffusion {
    /// The term with the conductivity.
    pub const CONDUCTION: usize = 0;
    /// The term with the capacity.
    pub const CAPACITY: usize = 1;

    /// The kernel of a formulation; the default one is that of [`Formulation::Full`].
    pub fn by(formulation: Formulation) -> Self {
        Self { formulation }
    }

    /// Gradients of the shape functions whose products, times weights, sum up to the conduction
    /// of the element at `x`: at the Gauss points, or those of the modes of the gradient.
    fn gradients(&self, x: &Corners) -> Vec<([[f64; DIM]; 8], f64)> {
        match self.formulation {
            Formulation::Full => {
                hexahedron::gauss_points().map(|xi| physical_gradients(x, xi)).into()
            }
            Formulation::Incompatible => {
                StrainMode::all(x).map(|mode| (mode.gradients, mode.weight)).into()
            }
        }
    }
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

    fn formulation(&self) -> Formulation {
        self.formulation
    }

    fn matrix(&self, term: usize, x: &Corners) -> ElementMatrix<1> {
        let mut ke = [[[[0.0]; 8]; 1]; 8];
        if term == Self::CAPACITY {
            let shares = shape_integrals(x);
            (0..8).for_each(|a| ke[a][0][a][0] = shares[a]);
            return ke;
        }
        for (g, weight) in self.gradients(x) {
            for a in 0..8 {
                for b in 0..8 {
                    ke[a][0][b][0] += dot(g[a], g[b]) * weight;
                }
            }
        }
        ke
    }

    fn diagonal_blocks(&self, term: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 1]; 8] {
        if term == Self::CAPACITY {
            let mut shares = shape_integrals(x).map(|share| [share]);
            join_twins(hex, &mut shares);
            return shares;
        }
        let mut blocks = [[0.0]; 8];
        for (mut g, weight) in self.gradients(x) {
            join_twins(hex, &mut g);
            for (block, g) in blocks.iter_mut().zip(g) {
                block[0] += dot(g, g) * weight;
            }
        }
        blocks
    }

    fn flops(&self) -> f64 {
        match self.formulation {
            Formulation::Full => points::FLOPS,
            Formulation::Incompatible => modes::FLOPS,
        }
    }

    #[inline(always)]
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S, 1>,
        [conductivity, capacity]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S, 1> {
        match self.formulation {
            Formulation::Full => points::product(simd, [*conductivity, *capacity], x, u),
            Formulation::Incompatible => modes::product(simd, [*conductivity, *capacity], (x, u)),
        }
    }

    #[inline(always)]
    fn integrate<S: Simd>(&self, simd: S, x: &Nodal<S>, gradients: &mut Gradients<S>) {
        match self.formulation {
            Formulation::Full => gradients.set(simd, x),
            Formulation::Incompatible => {
                set_modes::<S, false>(simd, x, gradients);
                gradients.set_determinants(simd, x);
            }
        }
    }

    #[inline(always)]
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        [a, b]: [usize; 2],
        [conductivity, capacity]: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; 1]; 1] {
        let p = match self.formulation {
            Formulation::Full => gradients.products(a, b),
            Formulation::Incompatible => gradients.products_of::<0, 7>(a, b),
        };
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

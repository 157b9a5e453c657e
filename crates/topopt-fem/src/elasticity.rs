//! Linear elasticity: three displacements per node, one coefficient, Young's modulus.

mod bounds;
mod formulation;
mod integrals;
mod mean_gradient;
mod modes;
mod twins;

use pulp::Simd;
use serde::Serialize;
use topopt_mesh::HexMesh;

use crate::operators::{Gradients, Lanes, Matrix, Nodal};
use crate::{
    Corners, DIM, ElementKernel, ElementMatrix, Elements, MAX_TERMS, MODES, Material, Supports,
};
pub use bounds::{BOUND_STEPS, BoundParameters};
pub use formulation::Formulation;
use formulation::{diagonal_blocks, forces};
use mean_gradient::set_modes;

/// The stiffness of an isotropic material at Young's modulus 1: $\int B^T D B$.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elasticity {
    material: Material,
    formulation: Formulation,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    lame: (f64, f64),
}

impl Elasticity {
    /// Builds the kernel of `material`, whose modulus does not enter the integrals.
    pub fn new(material: &Material) -> Self {
        let formulation = Formulation::default();
        Self { material: *material, formulation, lame: material.unit_lame() }
    }

    /// The kernel of another `formulation`.
    #[must_use]
    pub fn with(self, formulation: Formulation) -> Self {
        Self { formulation, ..self }
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// The formulation of its elements.
    pub fn formulation(&self) -> Formulation {
        self.formulation
    }

    /// Contraction along the normal of a plane without stress, per change of area within the plane.
    pub(crate) fn contraction(&self) -> f64 {
        let (lambda, mu) = self.lame;
        lambda / (lambda + 2.0 * mu)
    }

    /// Parameters of [`ElementKernel::bounds`].
    pub fn bound_parameters(&self) -> BoundParameters {
        BoundParameters::of(&self.material)
    }
}

impl ElementKernel<DIM> for Elasticity {
    const TERMS: usize = 1;
    /// Rigid motions.
    const MODES: usize = MODES;
    /// (xx, xy, yy, zx, yz, zz).
    type Packed = [f64; 6];

    fn matrix(&self, _: usize, x: &Corners) -> ElementMatrix<DIM> {
        match self.formulation {
            Formulation::Full => integrals::matrix(x, self.lame),
            Formulation::Incompatible => modes::matrix(x, self.lame),
        }
    }

    fn diagonal_blocks(&self, _: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 6]; 8] {
        diagonal_blocks(hex, x, self.formulation, self.lame)
    }

    #[inline(always)]
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S>,
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S> {
        forces(simd, self.formulation, x, u, *modulus, self.lame)
    }

    fn flops(&self) -> f64 {
        match self.formulation {
            Formulation::Full => 1827.0,
            Formulation::Incompatible => 1089.0,
        }
    }

    #[inline(always)]
    fn integrate<S: Simd>(&self, simd: S, x: &Nodal<S>, gradients: &mut Gradients<S>) {
        match self.formulation {
            Formulation::Full => gradients.set(simd, x),
            Formulation::Incompatible => set_modes(simd, x, gradients),
        }
    }

    #[inline(always)]
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        [a, b]: [usize; 2],
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Matrix<S> {
        match self.formulation {
            Formulation::Full => integrals::block(simd, gradients, [a, b], *modulus, self.lame),
            Formulation::Incompatible => modes::block(simd, gradients, [a, b], *modulus, self.lame),
        }
    }

    fn coupling(&self, _: usize, a: [f64; DIM], b: [f64; DIM]) -> [[f64; DIM]; DIM] {
        integrals::coupling(a, b, self.lame)
    }

    #[inline(always)]
    fn constitutive<S: Simd>(
        &self,
        simd: S,
        gradient: &Matrix<S>,
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Matrix<S> {
        let lame = (Lanes::splat(simd, self.lame.0), Lanes::splat(simd, self.lame.1));
        integrals::stress(gradient, lame, *modulus)
    }

    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        bounds::element_bounds(elements, self.formulation, self.bound_parameters())
    }

    fn free_motions(&self, held: &Supports, mesh: &HexMesh, nodes: &[u32]) -> Vec<String> {
        held.free_rigid_motions(mesh, nodes)
    }
}

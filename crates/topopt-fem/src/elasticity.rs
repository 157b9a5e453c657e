//! Linear elasticity: three displacements per node, one coefficient, Young's modulus.

mod anisotropic;
mod bounds;
mod formulation;
mod integrals;
mod mean_gradient;
mod modes;
mod thermal;
mod twins;

use pulp::Simd;
use serde::Serialize;
use topopt_mesh::HexMesh;

use crate::kernel::{bounds_of, joined};
use crate::mode_geometry::set_modes;
use crate::operators::{Gradients, Lanes, Matrix, Nodal};
use crate::relaxation::{Relaxation, relaxed_transpose};
use crate::stiffness_tensor::{Stiffness, coupling, stress};
use crate::strain_tensor::{Strain, Tensor};
use crate::thermal_strain::Restrained;
use crate::{
    Corners, DIM, ElementKernel, ElementMatrix, Elements, Formulation, FreePart, Law, MAX_TERMS,
    MODES, Material, Supports, ThermalStrains,
};
pub use bounds::{BOUND_STEPS, BoundParameters};
use formulation::{diagonal_blocks, forces};

/// The stiffness of a material at Young's modulus 1: $\int B^T D B$, of an isotropic material
/// unless a law of single elements says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elasticity {
    material: Material,
    formulation: Formulation,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    lame: (f64, f64),
    /// D of an anisotropic law.
    #[serde(skip_serializing_if = "Option::is_none")]
    stiffness: Option<Stiffness>,
}

impl Elasticity {
    /// Builds the kernel of `material`, whose modulus does not enter the integrals.
    pub fn new(material: &Material) -> Self {
        let formulation = Formulation::default();
        Self { material: *material, formulation, lame: material.unit_lame(), stiffness: None }
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

    /// D of its law, if that is anisotropic.
    pub(crate) fn anisotropic(&self) -> Option<&Stiffness> {
        self.stiffness.as_ref()
    }

    /// Returns the matrix D of its law at Young's modulus 1.
    pub fn unit_stiffness(&self) -> Stiffness {
        let unit = |c: usize| std::array::from_fn(|k| f64::from(u8::from(k == c)));
        let columns: Stiffness = std::array::from_fn(|c| self.stress(&unit(c)));
        std::array::from_fn(|r| std::array::from_fn(|c| columns[c][r]))
    }

    /// Returns the stress of a strain at Young's modulus 1.
    pub(crate) fn stress(&self, strain: &Strain) -> [f64; 6] {
        if let Some(d) = &self.stiffness {
            return stress(d, strain);
        }
        let ((lambda, mu), [xx, yy, zz, xy, yz, zx]) = (self.lame, *strain);
        let trace = lambda * (xx + yy + zz);
        let normal = |strain: f64| trace + 2.0 * mu * strain;
        [normal(xx), normal(yy), normal(zz), mu * xy, mu * yz, mu * zx]
    }

    /// Numbers by which planes without stress relax.
    pub(crate) fn relaxation(&self) -> Relaxation<'_> {
        let (lambda, mu) = self.lame;
        let contraction = lambda / (lambda + 2.0 * mu);
        Relaxation { stiffness: self.stiffness.as_ref(), contraction }
    }

    /// The stress against a strain at Young's modulus 1; none on planes of a normal.
    fn against(&self, strain: &Strain, normal: Option<[f64; DIM]>) -> Tensor {
        let [xx, yy, zz, xy, yz, zx] = self.stress(strain);
        let stress = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        normal.map_or(stress, |n| relaxed_transpose(&stress, n, &self.relaxation()))
    }

    /// The stress of element `e` against its thermal strain at the reference coordinates `xi`, at
    /// Young's modulus 1.
    pub(crate) fn thermal_stress(
        &self,
        strains: &ThermalStrains,
        mesh: &HexMesh,
        e: usize,
        xi: [f64; DIM],
    ) -> [f64; 6] {
        let against = |strain: &_, normal| self.against(strain, normal);
        thermal::stress_at(&against, self.formulation, (strains, mesh, e), xi)
    }

    /// Parameters of [`ElementKernel::bounds`].
    pub fn bound_parameters(&self) -> BoundParameters {
        BoundParameters::of(&self.material, self.formulation)
    }
}

impl ElementKernel<DIM> for Elasticity {
    const TERMS: usize = 1;
    /// Rigid motions.
    const MODES: usize = MODES;
    /// (xx, xy, yy, zx, yz, zz).
    type Packed = [f64; 6];
    const HAS_LAWS: bool = true;

    fn formulation(&self) -> Formulation {
        self.formulation
    }

    fn of_law(&self, law: &Law) -> Self {
        match law {
            Law::Isotropic(material) => Self::new(material).with(self.formulation),
            Law::Anisotropic(stiffness) => Self { stiffness: Some(*stiffness), ..*self },
        }
    }

    fn matrix(&self, _: usize, x: &Corners) -> ElementMatrix<DIM> {
        if let Some(d) = &self.stiffness {
            return anisotropic::matrix(d, x, self.formulation);
        }
        match self.formulation {
            Formulation::Full => integrals::matrix(x, self.lame),
            Formulation::Incompatible => modes::matrix(x, self.lame),
        }
    }

    fn diagonal_blocks(&self, _: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 6]; 8] {
        if self.stiffness.is_none() {
            return diagonal_blocks(hex, x, self.formulation, self.lame);
        }
        let ke = joined(hex, &self.matrix(0, x));
        std::array::from_fn(|a| {
            [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)].map(|(i, j)| ke[a][i][a][j])
        })
    }

    #[inline(always)]
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S>,
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S> {
        if let Some(stiffness) = &self.stiffness {
            return anisotropic::forces(simd, stiffness, self.formulation, [x, u], *modulus);
        }
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
            Formulation::Incompatible => set_modes::<S, true>(simd, x, gradients),
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
        if let Some(d) = &self.stiffness {
            return anisotropic::block(simd, d, self.formulation, gradients, [a, b], *modulus);
        }
        match self.formulation {
            Formulation::Full => integrals::block(simd, gradients, [a, b], *modulus, self.lame),
            Formulation::Incompatible => modes::block(simd, gradients, [a, b], *modulus, self.lame),
        }
    }

    fn coupling(&self, _: usize, a: [f64; DIM], b: [f64; DIM]) -> [[f64; DIM]; DIM] {
        match &self.stiffness {
            Some(d) => coupling(d, a, b),
            None => integrals::coupling(a, b, self.lame),
        }
    }

    #[inline(always)]
    fn constitutive<S: Simd>(
        &self,
        simd: S,
        gradient: &Matrix<S>,
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Matrix<S> {
        if let Some(d) = &self.stiffness {
            return anisotropic::stress(simd, d, gradient, *modulus);
        }
        let lame = (Lanes::splat(simd, self.lame.0), Lanes::splat(simd, self.lame.1));
        integrals::stress(gradient, lame, *modulus)
    }

    fn restrained(
        &self,
        elements: &Elements,
        e: usize,
        strains: &ThermalStrains,
    ) -> Restrained<DIM> {
        let own = self.of_element(elements, e);
        let against = |strain: &_, normal| own.against(strain, normal);
        thermal::restrained(&against, own.formulation, (strains, elements.mesh(), e))
    }

    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        let mut bounds =
            bounds::element_bounds(elements, self.formulation, self.bound_parameters());
        if let Some(laws) = elements.laws() {
            let own = (0..bounds.len() as u32).filter(|&e| laws.of(e as usize).is_some());
            let own: Vec<u32> = own.collect();
            let of_laws = bounds_of(self, elements, &own, &[0]);
            own.iter().zip(of_laws).for_each(|(&e, bound)| bounds[e as usize] = bound);
        }
        bounds
    }

    fn free_motions(&self, held: &Supports, mesh: &HexMesh, nodes: &[u32]) -> Vec<String> {
        held.free_rigid_motions(mesh, nodes)
    }

    fn free_part(
        &self,
        held: &Supports,
        mesh: &HexMesh,
        nodes: Vec<u32>,
        anchors: &[u32],
    ) -> Option<FreePart> {
        Some(FreePart::new(held, mesh, nodes, anchors))
    }
}

//! Linear elasticity: three displacements per node, one coefficient, Young's modulus.

mod bounds;
mod integrals;
mod twins;

use pulp::Simd;
use serde::Serialize;
use topopt_mesh::{HexMesh, hexahedron};

use crate::operators::{Gradients, Lanes, Matrix, Nodal};
use crate::shape_gradients::physical_gradients;
use crate::{
    Corners, DIM, ElementKernel, ElementMatrix, Elements, MAX_TERMS, MODES, Material, Supports,
};
pub use bounds::{BOUND_STEPS, BoundParameters};
use integrals::{diagonal_blocks, element_forces};

/// The stiffness of an isotropic material at Young's modulus 1: $\int B^T D B$, without bubble or
/// B-bar terms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Elasticity {
    material: Material,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    lame: (f64, f64),
}

impl Elasticity {
    /// Builds the kernel of `material`, whose modulus does not enter the integrals.
    pub fn new(material: &Material) -> Self {
        Self { material: *material, lame: material.unit_lame() }
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Parameters of [`ElementKernel::bounds`].
    pub fn bound_parameters(&self) -> BoundParameters {
        BoundParameters::of(&self.material)
    }
}

impl ElementKernel<DIM> for Elasticity {
    const TERMS: usize = 1;
    const FLOPS: f64 = 1827.0;
    /// Rigid motions.
    const MODES: usize = MODES;
    /// (xx, xy, yy, zx, yz, zz).
    type Packed = [f64; 6];

    fn matrix(&self, _: usize, x: &Corners) -> ElementMatrix<DIM> {
        let (lambda, mu) = self.lame;
        let mut ke = [[[[0.0; DIM]; 8]; DIM]; 8];
        for xi in hexahedron::gauss_points() {
            let (g, det) = physical_gradients(x, xi);

            for a in 0..8 {
                for b in 0..8 {
                    let dot: f64 = (0..DIM).map(|k| g[a][k] * g[b][k]).sum();

                    for i in 0..DIM {
                        for j in 0..DIM {
                            // B_a^T D B_b for isotropic D
                            let identity = if i == j { mu * dot } else { 0.0 };
                            let entry =
                                lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] + identity;
                            ke[a][i][b][j] += entry * det;
                        }
                    }
                }
            }
        }
        ke
    }

    fn diagonal_blocks(&self, _: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 6]; 8] {
        diagonal_blocks(hex, x, self.lame)
    }

    #[inline(always)]
    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S>,
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S> {
        element_forces(simd, x, u, *modulus, self.lame)
    }

    #[inline(always)]
    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        [a, b]: [usize; 2],
        [modulus, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Matrix<S> {
        let lambda = Lanes::splat(simd, self.lame.0) * *modulus;
        let mu = Lanes::splat(simd, self.lame.1) * *modulus;
        let p = gradients.products(a, b);
        let trace = mu * (p[0][0] + p[1][1] + p[2][2]);

        let mut block = p;
        for i in 0..DIM {
            for j in 0..DIM {
                let sum = if i == j { trace } else { mu * p[j][i] };
                block[i][j] = lambda.mul_add(p[i][j], sum);
            }
            block[i][i] = mu.mul_add(p[i][i], block[i][i]);
        }
        block
    }

    fn bounds(&self, elements: &Elements) -> Vec<f32> {
        bounds::element_bounds(elements, self.bound_parameters())
    }

    fn free_motions(&self, held: &Supports, mesh: &HexMesh, nodes: &[u32]) -> Vec<String> {
        held.free_rigid_motions(mesh, nodes)
    }
}

//! Linear elasticity: three displacements per node, one coefficient, Young's modulus.

mod bounds;

use pulp::Simd;
use topopt_mesh::{HexMesh, hexahedron};

use crate::operators::{
    Derivatives, GRADIENT_SCALE, Gradients, Lanes, Matrix, Nodal, at_point, cofactors, derivatives,
    derivatives_transposed, slots, times,
};
use crate::stiffness::physical_gradients;
use crate::{Corners, DIM, ElementKernel, ElementMatrix, MAX_TERMS, MODES, Material};

/// The stiffness of an isotropic material at Young's modulus 1:
/// integral of B^T D B, without bubble or B-bar terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    poissons_ratio: f64,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    lame: (f64, f64),
}

impl Elasticity {
    /// Of `material`, whose modulus does not count.
    pub fn new(material: &Material) -> Self {
        Self { poissons_ratio: material.poissons_ratio(), lame: material.unit_lame() }
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
        const DIAGONAL: [usize; DIM] = [0, 2, 5]; // xx, yy, zz
        const BESIDE: [usize; DIM] = [1, 4, 3]; // xy, yz, zx
        let (lambda, mu) = self.lame;
        let mut blocks = [[0.0; 6]; 8];
        for xi in hexahedron::gauss_points() {
            let (mut g, det) = physical_gradients(x, xi);
            join_twins(hex, &mut g);
            for a in 0..8 {
                let dot: f64 = g[a].iter().map(|v| v * v).sum();
                for i in 0..DIM {
                    let along = ((lambda + mu) * g[a][i] * g[a][i] + mu * dot) * det;
                    blocks[a][DIAGONAL[i]] += along;
                    blocks[a][BESIDE[i]] += (lambda + mu) * g[a][i] * g[a][(i + 1) % DIM] * det;
                }
            }
        }
        blocks
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

    fn bounds(&self, mesh: &HexMesh) -> Vec<f32> {
        bounds::element_bounds(mesh, self.poissons_ratio)
    }
}

/// Values at the nodes of `hex` such that a node that stands twice has both at its first place.
pub(crate) fn join_twins<const N: usize>(hex: &[u32; 8], values: &mut [[f64; N]; 8]) {
    for a in 1..8 {
        if let Some(first) = hex[..a].iter().position(|node| *node == hex[a]) {
            let twin = std::mem::replace(&mut values[a], [0.0; N]);
            (0..N).for_each(|i| values[first][i] += twin[i]);
        }
    }
}

/// Forces at the nodes of elements with coordinates `x`, displacements `u`, moduli `modulus`,
/// and Lame's constants (lambda, mu) at unit modulus.
///
/// Plain loops, here and below: a closure would not be compiled for the wide registers. The Gauss
/// points are written out, so that indices are constants and values can stay in registers.
#[inline(always)]
fn element_forces<S: Simd>(
    simd: S,
    x: &Nodal<S>,
    u: &Nodal<S>,
    modulus: Lanes<S>,
    lame: (f64, f64),
) -> Nodal<S> {
    // Gradient of u, two cofactors and the transpose carry GRADIENT_SCALE to the sixth, 1/det J to the -third.
    let scale = GRADIENT_SCALE.powi(-3);
    let lame = (Lanes::splat(simd, scale * lame.0), Lanes::splat(simd, scale * lame.1));
    let gradients = [
        [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)],
        [derivatives(simd, u, 0), derivatives(simd, u, 1), derivatives(simd, u, 2)],
    ];
    let zero = Lanes::splat(simd, 0.0);
    let mut flux = [[[zero; 4]; 3]; 3];
    add_flux(&gradients, modulus, lame, 0, &mut flux);
    add_flux(&gradients, modulus, lame, 1, &mut flux);
    add_flux(&gradients, modulus, lame, 2, &mut flux);
    add_flux(&gradients, modulus, lame, 3, &mut flux);
    add_flux(&gradients, modulus, lame, 4, &mut flux);
    add_flux(&gradients, modulus, lame, 5, &mut flux);
    add_flux(&gradients, modulus, lame, 6, &mut flux);
    add_flux(&gradients, modulus, lame, 7, &mut flux);
    let mut forces = [[zero; 3]; 8];
    for c in 0..3 {
        derivatives_transposed(simd, &flux[c], c, &mut forces);
    }
    forces
}

/// Adds sigma_c . cofactor row k at Gauss point q, the flux conjugate to du_c/dxi_k, to
/// `flux[c][k]`; `gradients` are those of x and u.
#[inline(always)]
fn add_flux<S: Simd>(
    [dx, du]: &[[Derivatives<S>; 3]; 2],
    modulus: Lanes<S>,
    lame: (Lanes<S>, Lanes<S>),
    q: usize,
    flux: &mut [Derivatives<S>; 3],
) {
    let at = slots(q);
    let (cofactors, det) = cofactors(&at_point(dx, at));
    let h = times(&at_point(du, at), &cofactors); // det J grad u
    let stress = stress(&h, lame, modulus * det.recip());
    for c in 0..3 {
        for k in 0..3 {
            let sum = stress[c][0].mul_add(cofactors[k][0], flux[c][k][at[k]]);
            let sum = stress[c][1].mul_add(cofactors[k][1], sum);
            flux[c][k][at[k]] = stress[c][2].mul_add(cofactors[k][2], sum);
        }
    }
}

/// scale * (lambda tr(h) I + mu (h + h^T)).
#[inline(always)]
fn stress<S: Simd>(h: &Matrix<S>, lame: (Lanes<S>, Lanes<S>), scale: Lanes<S>) -> Matrix<S> {
    let (lambda, mu) = (lame.0 * scale, lame.1 * scale);
    let pressure = lambda * (h[0][0] + h[1][1] + h[2][2]);
    let mut stress = *h;
    for i in 0..3 {
        for j in 0..3 {
            let twice_strain = h[i][j] + h[j][i];
            stress[i][j] =
                if i == j { mu.mul_add(twice_strain, pressure) } else { mu * twice_strain };
        }
    }
    stress
}

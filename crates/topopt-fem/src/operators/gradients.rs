//! Gradients of the shape functions at the Gauss points, several elements per SIMD lane group.
//!
//! The blocks of K_e between nodes, from which the diagonal and the coarse matrices are assembled,
//! are sums of their products. All blocks of an element together cost about as much as two products
//! of K_e with a vector.

use pulp::Simd;
use topopt_mesh::hexahedron::{self, GAUSS};

use super::trilinear::{
    DETERMINANT_SCALE, Derivatives, Matrix, Nodal, at_point, cofactors, derivatives, slots,
};
use crate::DIM;
use crate::lanes::Lanes;

/// det J at a Gauss point is this over what `trilinear` has for it, with cofactors 64 times theirs.
const SCALE: f64 = -0.125;

/// Gradients of the shape functions at the Gauss points, each times the root of det J, so that an
/// integral of a product of two is a sum of products, `[Gauss point][node][direction]`; or
/// those of strain modes in their place.
pub struct Gradients<S: Simd> {
    pub(crate) at: [Nodal<S>; 8],
    /// Unit normals of the relaxed modes, see [`crate::StrainMode`].
    pub(crate) normals: [[Lanes<S>; DIM]; DIM],
    /// det J, `[Gauss point]`.
    dets: [Lanes<S>; 8],
}

impl<S: Simd> Gradients<S> {
    /// Zeros, to be set: they are too many to be handed over.
    #[inline(always)]
    pub fn zeros(simd: S) -> Self {
        let zero = Lanes::splat(simd, 0.0);
        Self { at: [[[zero; DIM]; 8]; 8], normals: [[zero; DIM]; DIM], dets: [zero; 8] }
    }

    /// Takes those of elements with coordinates `x`.
    #[inline(always)]
    pub fn set(&mut self, simd: S, x: &Nodal<S>) {
        let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
        for q in 0..8 {
            self.dets[q] = at_gauss_point(simd, &dx, q, &mut self.at[q]);
        }
    }

    /// Takes det J alone of elements with coordinates `x`, beside gradients of strain modes.
    #[inline(always)]
    pub fn set_determinants(&mut self, simd: S, x: &Nodal<S>) {
        self.dets = determinants(simd, x);
    }

    /// The integral of the shape function of node a.
    #[inline(always)]
    pub fn share(&self, simd: S, a: usize) -> Lanes<S> {
        let mut sum = Lanes::splat(simd, 0.0);
        for q in 0..8 {
            sum = Lanes::splat(simd, shape_at(q, a)).mul_add(self.dets[q], sum);
        }
        sum
    }

    /// The integral of the product of the gradients of the shape functions of nodes a and b.
    #[inline(always)]
    pub fn products(&self, a: usize, b: usize) -> Matrix<S> {
        self.products_of::<0, 8>(a, b)
    }

    /// The sum of products of the gradients of nodes a and b at points from BEGIN up to END.
    #[inline(always)]
    pub fn products_of<const BEGIN: usize, const END: usize>(
        &self,
        a: usize,
        b: usize,
    ) -> Matrix<S> {
        let (u, v) = (&self.at[BEGIN][a], &self.at[BEGIN][b]);
        let mut sums = [[u[0] * v[0]; DIM]; DIM];
        for i in 0..DIM {
            for j in 0..DIM {
                sums[i][j] = u[i] * v[j];
            }
        }
        for q in BEGIN + 1..END {
            let (u, v) = (&self.at[q][a], &self.at[q][b]);
            for i in 0..DIM {
                for j in 0..DIM {
                    sums[i][j] = u[i].mul_add(v[j], sums[i][j]);
                }
            }
        }
        sums
    }
}

/// The gradients at Gauss point q, from the derivatives `dx` of the coordinates; returns det J.
#[inline(always)]
fn at_gauss_point<S: Simd>(
    simd: S,
    dx: &[Derivatives<S>; DIM],
    q: usize,
    gradients: &mut Nodal<S>,
) -> Lanes<S> {
    let (cofactors, det) = cofactors(&at_point(dx, slots(q)));
    let root = (Lanes::splat(simd, SCALE) * det.recip()).sqrt();
    let side = |bit: usize| if q >> bit & 1 == 0 { -GAUSS } else { GAUSS };
    let reference = hexahedron::shape_gradients([side(2), side(1), side(0)]);
    for a in 0..8 {
        let reference = reference[a];
        let along = [
            root * Lanes::splat(simd, reference[0]),
            root * Lanes::splat(simd, reference[1]),
            root * Lanes::splat(simd, reference[2]),
        ];
        for i in 0..DIM {
            let sum = cofactors[1][i].mul_add(along[1], cofactors[0][i] * along[0]);
            gradients[a][i] = cofactors[2][i].mul_add(along[2], sum);
        }
    }
    Lanes::splat(simd, DETERMINANT_SCALE) * det
}

/// det J at the Gauss points of elements with coordinates `x`.
#[inline(always)]
pub fn determinants<S: Simd>(simd: S, x: &Nodal<S>) -> [Lanes<S>; 8] {
    let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
    let mut dets = [Lanes::splat(simd, DETERMINANT_SCALE); 8];
    for q in 0..8 {
        dets[q] = dets[q] * cofactors(&at_point(&dx, slots(q))).1;
    }
    dets
}

/// The shape function of node a at Gauss point q.
#[inline(always)]
fn shape_at(q: usize, a: usize) -> f64 {
    let mut value = 1.0;
    for (k, side) in hexahedron::NODES[a].into_iter().enumerate() {
        let at = if q >> (2 - k) & 1 == 0 { -GAUSS } else { GAUSS };
        value *= 0.5 * (1.0 + side * at);
    }
    value
}

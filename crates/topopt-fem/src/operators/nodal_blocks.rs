//! The 3x3 blocks of K_e between the nodes of an element, several elements a SIMD lane group.
//!
//! They are what the diagonal and the coarse matrices are made of, and cost about as much as two
//! products of K_e with a vector, all of them together.

use pulp::Simd;
use topopt_mesh::HexMesh;
use topopt_mesh::hexahedron::{self, GAUSS};

use super::trilinear::{
    Derivatives, LaneGroup, Matrix, Nodal, at_point, cofactors, derivatives, from_group, slots,
};
use crate::DIM;
use crate::lanes::{Lanes, MAX_LANES};

/// det J at a Gauss point is this over what `trilinear` has for it, with cofactors 64 times theirs.
const SCALE: f64 = -0.125;

/// Gradients of the shape functions at the Gauss points, each times the root of det J, so that an
/// integral of a product of two is a sum of products, \[Gauss point\]\[node\]\[direction\].
pub struct Gradients<S: Simd>([Nodal<S>; 8]);

impl<S: Simd> Gradients<S> {
    /// Zeros, to be set: they are too many to be handed over.
    #[inline(always)]
    pub fn zeros(simd: S) -> Self {
        Self([[[Lanes::splat(simd, 0.0); DIM]; 8]; 8])
    }

    /// Takes those of elements with coordinates `x`.
    #[inline(always)]
    pub fn set(&mut self, simd: S, x: &Nodal<S>) {
        let dx = [derivatives(simd, x, 0), derivatives(simd, x, 1), derivatives(simd, x, 2)];
        for q in 0..8 {
            at_gauss_point(simd, &dx, q, &mut self.0[q]);
        }
    }

    /// The integral of the product of the gradients of the shape functions of nodes a and b.
    #[inline(always)]
    fn products(&self, a: usize, b: usize) -> Matrix<S> {
        let (u, v) = (&self.0[0][a], &self.0[0][b]);
        let mut sums = [[u[0] * v[0]; DIM]; DIM];
        for i in 0..DIM {
            for j in 0..DIM {
                sums[i][j] = u[i] * v[j];
            }
        }
        for q in 1..8 {
            let (u, v) = (&self.0[q][a], &self.0[q][b]);
            for i in 0..DIM {
                for j in 0..DIM {
                    sums[i][j] = u[i].mul_add(v[j], sums[i][j]);
                }
            }
        }
        sums
    }

    /// The block of nodes a and b of E_e K_e, for E_e times Lame's constants (lambda, mu).
    #[inline(always)]
    pub fn block(&self, a: usize, b: usize, (lambda, mu): (Lanes<S>, Lanes<S>)) -> Matrix<S> {
        let p = self.products(a, b);
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
}

/// The gradients at Gauss point q, from the derivatives `dx` of the coordinates.
#[inline(always)]
fn at_gauss_point<S: Simd>(
    simd: S,
    dx: &[Derivatives<S>; DIM],
    q: usize,
    gradients: &mut Nodal<S>,
) {
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
}

/// Coordinates of `elements`, at most as many as lanes. Lanes without an element repeat the last one.
#[inline(always)]
pub fn load_coordinates<S: Simd>(simd: S, mesh: &HexMesh, elements: &[u32]) -> Nodal<S> {
    let mut x: LaneGroup = [[0.0; MAX_LANES]; 24];
    for lane in 0..S::F64_LANES {
        let nodes = mesh.hexes()[elements[lane.min(elements.len() - 1)] as usize];
        for a in 0..8 {
            let position = mesh.coordinates()[nodes[a] as usize];
            for i in 0..DIM {
                x[DIM * a + i][lane] = position[i];
            }
        }
    }
    from_group(simd, &x)
}

/// Lame's constants at unit modulus, `lame`, times the moduli of `elements`, 0 in other lanes.
#[inline(always)]
pub fn load_lame<S: Simd>(
    simd: S,
    elements: &[u32],
    moduli: &[f64],
    lame: (f64, f64),
) -> (Lanes<S>, Lanes<S>) {
    let mut filled = [0.0; MAX_LANES];
    for lane in 0..elements.len() {
        filled[lane] = moduli[elements[lane] as usize];
    }
    let moduli = Lanes::load(simd, &filled);
    (Lanes::splat(simd, lame.0) * moduli, Lanes::splat(simd, lame.1) * moduli)
}

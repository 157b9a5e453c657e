//! How large the eigenvalues of an element's stiffness are against its own diagonal blocks.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::integrals::{diagonal_blocks, element_forces};
use crate::lanes::{Lanes, MAX_LANES};
use crate::operators::{LaneGroup, from_group, to_group};
use crate::{DIM, Elements, Material};

/// Steps of the power method in each element. From the dilation, which is close to the mode that is
/// sought, five leave at most 3 % on distorted hexahedra of any aspect ratio.
const STEPS: usize = 5;
/// What the result is multiplied by. A Chebyshev smoother over [bound / 8, bound] diverges only
/// beyond 1.125 times the bound, so that less than the 3 % will do, and converges better: 409
/// iterations in place of 427 over 25 designs of the cantilever.
const MARGIN: f64 = 0.95;
/// The least Poisson's ratio taken: below it another mode than the dilation may be the largest.
const LEAST_RATIO: f64 = 0.3;
/// The margin for ratios below, down to 0, where the result may be 0.88 of the largest eigenvalue.
const MARGIN_BELOW: f64 = 1.05;

/// For every element about the largest eigenvalue mu_e of D_e^-1 K_e, with the 3x3 blocks D_e on
/// the diagonal of its stiffness K_e, \[n_elements\]; 3.16 for a cube of Poisson's ratio 0.3.
///
/// As u^T K_e u <= mu_e u^T D_e u holds element by element, sum_e E_e K_e is at most
/// sum_e E_e mu_e D_e whatever the moduli E_e are \[Wathen1987\]: a smoother scaled by the latter
/// cannot diverge. The largest eigenvalue of the assembled D^-1 K is less, but depends on the
/// moduli, and ten steps of the power method miss it by a quarter where single solid elements lie
/// among empty ones.
pub(super) fn element_bounds(elements: &Elements, ratio: f64) -> Vec<f32> {
    let mut bounds = vec![0.0; elements.n_elements()];
    let margin = if ratio < LEAST_RATIO { MARGIN_BELOW } else { MARGIN };
    let ratio = ratio.max(LEAST_RATIO);
    let Some(material) = Material::new(1.0, ratio) else { return bounds };
    let lame = material.unit_lame();
    let arch = Arch::new();
    let chunks = bounds.par_chunks_mut(MAX_LANES).with_min_len(64).enumerate();
    chunks.for_each(|(chunk, bounds)| {
        arch.dispatch(Bounds { elements, lame, margin, first: chunk * MAX_LANES, bounds });
    });
    bounds
}

/// The bounds of consecutive elements, at most as many as lanes.
struct Bounds<'a> {
    elements: &'a Elements<'a>,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    lame: (f64, f64),
    margin: f64,
    first: usize,
    bounds: &'a mut [f32],
}

impl WithSimd for Bounds<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lame = self.lame;
        for (group, bounds) in self.bounds.chunks_mut(S::F64_LANES).enumerate() {
            let first = self.first + group * S::F64_LANES;
            let elements: Vec<Element> =
                (0..bounds.len()).map(|k| Element::new(self.elements, lame, first + k)).collect();

            // Lanes without an element stay at zero, and so does their determinant: not read.
            let mut x: LaneGroup = [[[0.0; MAX_LANES]; DIM]; 8];
            let mut u: LaneGroup = [[[0.0; MAX_LANES]; DIM]; 8];
            for (lane, element) in elements.iter().enumerate() {
                element.start(lane, &mut x, &mut u);
            }
            let x = from_group(simd, &x);

            let mut norms = [[1.0; MAX_LANES]; 2]; // u^T D u of the last two u, the later one first
            for _ in 0..STEPS {
                let f =
                    element_forces(simd, &x, &from_group(simd, &u), Lanes::splat(simd, 1.0), lame);
                to_group(&f, &mut u);
                norms[1] = norms[0];
                for (lane, element) in elements.iter().enumerate() {
                    norms[0][lane] = element.divide(lane, &mut u);
                }
            }
            for (lane, bound) in bounds.iter_mut().enumerate() {
                *bound = (self.margin * (norms[0][lane] / norms[1][lane]).sqrt()) as f32;
            }
        }
    }
}

/// An element and the inverse of its diagonal blocks.
struct Element {
    x: [[f64; DIM]; 8],
    /// Where each local node stands first; a node of a wedge may stand twice.
    first: [usize; 8],
    inverse: [[[f64; DIM]; DIM]; 8],
}

impl Element {
    fn new(elements: &Elements, lame: (f64, f64), e: usize) -> Self {
        let (hex, x) = (elements.hex(e), elements.corners(e));
        let first =
            std::array::from_fn(|a| hex.iter().position(|node| *node == hex[a]).unwrap_or(a));
        let blocks = diagonal_blocks(hex, &x, lame);
        Self { x, first, inverse: blocks.map(|block| inverse(&block)) }
    }

    /// Writes the coordinates about the center to a lane of `x` and of `u`, the dilation.
    fn start(&self, lane: usize, x: &mut LaneGroup, u: &mut LaneGroup) {
        for i in 0..DIM {
            let center = self.x.iter().map(|x| x[i]).sum::<f64>() / 8.0;
            for a in 0..8 {
                x[a][i][lane] = self.x[a][i] - center;
                u[a][i][lane] = self.x[a][i] - center;
            }
        }
    }

    /// u = D^-1 f in a lane that holds f; returns u^T D u = u . f.
    fn divide(&self, lane: usize, u: &mut LaneGroup) -> f64 {
        let mut forces = [[0.0; DIM]; 8];
        for a in 0..8 {
            (0..DIM).for_each(|i| forces[self.first[a]][i] += u[a][i][lane]);
        }
        let mut work = 0.0;
        for a in 0..8 {
            let (f, d) = (&forces[self.first[a]], &self.inverse[self.first[a]]);
            for i in 0..DIM {
                let value = d[i][0] * f[0] + d[i][1] * f[1] + d[i][2] * f[2];
                u[a][i][lane] = value;
                work += if self.first[a] == a { value * f[i] } else { 0.0 };
            }
        }
        work
    }
}

/// The inverse of the symmetric matrix (xx, xy, yy, zx, yz, zz), which is positive definite; zero
/// if it is zero.
fn inverse([xx, xy, yy, zx, yz, zz]: &[f64; 6]) -> [[f64; DIM]; DIM] {
    let cofactors = [
        [yy * zz - yz * yz, zx * yz - xy * zz, xy * yz - zx * yy],
        [zx * yz - xy * zz, xx * zz - zx * zx, xy * zx - xx * yz],
        [xy * yz - zx * yy, xy * zx - xx * yz, xx * yy - xy * xy],
    ];
    let det = xx * cofactors[0][0] + xy * cofactors[0][1] + zx * cofactors[0][2];
    cofactors.map(|row| row.map(|c| if det > 0.0 { c / det } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use topopt_mesh::HexMesh;

    use super::*;
    use crate::stiffness::element_stiffness;
    use topopt_testing::{distorted_cube, hexagon, mapped_cube, wheel};

    /// The largest eigenvalue of D^-1 K of element `e`, each of its nodes taken once.
    fn exact(mesh: &HexMesh, material: &Material, e: usize) -> f64 {
        let hex = mesh.hexes()[e];
        let ke = element_stiffness(&mesh.element_coordinates(e), material);
        let mut nodes = hex.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let n = DIM * nodes.len();
        let at = |dof: usize| DIM * nodes.binary_search(&hex[dof / DIM]).unwrap() + dof % DIM;
        let mut k = DMatrix::zeros(n, n);
        for row in 0..24 {
            (0..24).for_each(|column| k[(at(row), at(column))] += ke[row][column]);
        }

        let d = DMatrix::from_fn(n, n, |i, j| if i / DIM == j / DIM { k[(i, j)] } else { 0.0 });
        let l = d.cholesky().unwrap().l().try_inverse().unwrap();
        (&l * k * l.transpose()).symmetric_eigenvalues().max()
    }

    #[test]
    fn they_are_the_largest_eigenvalues_of_elements() {
        let plate = mapped_cube(2, |[x, y, z]| [9.0 * x + 2.0 * z, 4.0 * y, z * (1.0 + x)]);
        let meshes = [distorted_cube(3, 0.3, true), hexagon(2), wheel(2), plate];
        for (ratio, mesh) in
            [0.0, 0.3, 0.49].iter().flat_map(|r| meshes.iter().map(move |m| (r, m)))
        {
            let material = Material::new(7.0, *ratio).unwrap();
            for (e, &bound) in element_bounds(&mesh.into(), *ratio).iter().enumerate() {
                let share = f64::from(bound) / exact(mesh, &material, e);
                let range = if *ratio < LEAST_RATIO { 0.92..1.25 } else { 0.92..0.951 };
                assert!(range.contains(&share), "element {e}, ratio {ratio}: {share}");
            }
        }
    }

    #[test]
    fn that_of_a_cube() {
        let bounds = element_bounds(&(&mapped_cube(1, |x| x)).into(), 0.3);
        assert!((f64::from(bounds[0]) / MARGIN - 3.162_162).abs() < 1e-3);
    }
}

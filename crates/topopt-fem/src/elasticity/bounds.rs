//! Bounds of the eigenvalues of K_e relative to its own diagonal blocks.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_mesh::hexahedron::NODES;

use super::formulation::{diagonal_blocks_of, forces};
use super::twins::{Twin, copied, joined};
use crate::elements::Corners;
use crate::lanes::{Lanes, MAX_LANES};
use crate::operators::{LaneGroup, Nodal, from_group, to_group};
use crate::{DIM, Elements, Formulation, Material};

/// Steps of the power method in each element. From the dilation, which is close to the mode that is
/// sought, five leave at most 3 % on fully integrated hexahedra of any aspect ratio. With
/// incompatible modes flat elements have the largest eigenvalue in shear along the layer, up to
/// 1.2 times that of the dilation, so that these start from both.
pub const BOUND_STEPS: usize = 5;
/// Factor of the result of the power method. A Chebyshev smoother over [bound / 8, bound] diverges
/// only beyond 1.125 times the bound, so that less than the 3 % will do, and converges better: 409
/// iterations in place of 427 over 25 designs of the cantilever.
const MARGIN: f64 = 0.95;
/// The margin with incompatible modes: of flat skewed elements the result may be 0.92 of the
/// largest.
const MARGIN_OF_MODES: f64 = 0.97;
/// The least Poisson's ratio taken: below it another mode than the dilation may be the largest.
const LEAST_RATIO: f64 = 0.3;
/// The margin for ratios below, down to 0, where the result may be 0.88 of the largest eigenvalue.
const MARGIN_BELOW: f64 = 1.05;

/// Parameters of the eigenvalue bounds, the same for every backend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundParameters {
    /// Lame's constants (lambda, mu) at Young's modulus 1, of no less than a least Poisson's ratio.
    pub lame: (f64, f64),
    /// Factor of the result of the power method.
    pub margin: f64,
}

impl BoundParameters {
    /// The bounds for elements of `material`.
    pub(super) fn of(material: &Material, formulation: Formulation) -> Self {
        let ratio = material.poissons_ratio();
        let margin = match formulation {
            _ if ratio < LEAST_RATIO => MARGIN_BELOW,
            Formulation::Full => MARGIN,
            Formulation::Incompatible => MARGIN_OF_MODES,
        };
        let assumed = Material::new(1.0, ratio.max(LEAST_RATIO)).unwrap_or(*material);
        Self { lame: assumed.unit_lame(), margin }
    }
}

/// Estimates per element the largest eigenvalue mu_e of D_e^-1 K_e, with the 3x3 blocks D_e on
/// the diagonal of its stiffness K_e, `[n_elements]`; 3.16 for a cube of Poisson's ratio 0.3.
///
/// As u^T K_e u <= mu_e u^T D_e u holds element by element, sum_e E_e K_e is at most
/// sum_e E_e mu_e D_e whatever the moduli E_e are \[Wathen1987\]: a smoother scaled by the latter
/// cannot diverge. The largest eigenvalue of the assembled D^-1 K is less, but depends on the
/// moduli, and ten steps of the power method miss it by a quarter where single solid elements lie
/// among empty ones.
pub(super) fn element_bounds(
    elements: &Elements,
    formulation: Formulation,
    parameters: BoundParameters,
) -> Vec<f32> {
    let mut bounds = vec![0.0; elements.n_elements()];
    let arch = Arch::new();
    let chunks = bounds.par_chunks_mut(MAX_LANES).with_min_len(64).enumerate();
    chunks.for_each(|(chunk, bounds)| {
        arch.dispatch(Bounds {
            elements,
            formulation,
            parameters,
            first: chunk * MAX_LANES,
            bounds,
        });
    });
    bounds
}

/// The bounds of consecutive elements, at most as many as lanes.
struct Bounds<'a> {
    elements: &'a Elements<'a>,
    formulation: Formulation,
    parameters: BoundParameters,
    first: usize,
    bounds: &'a mut [f32],
}

impl WithSimd for Bounds<'_> {
    type Output = ();

    /// Plain loops, as in [`super::integrals::element_forces`].
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (BoundParameters { lame, margin }, formulation) = (self.parameters, self.formulation);
        let one = Lanes::splat(simd, 1.0);
        for (group, bounds) in self.bounds.chunks_mut(S::F64_LANES).enumerate() {
            // Lanes without an element stay at zero, and so does their determinant: not read.
            let mut x: LaneGroup = [[[0.0; MAX_LANES]; DIM]; 8];
            let mut twins = Vec::new();
            for lane in 0..bounds.len() {
                let e = self.first + group * S::F64_LANES + lane;
                start(&self.elements.corners(e), lane, &mut x);
                twins.extend(Twin::all(self.elements.hex(e), lane));
            }
            let x = from_group(simd, &x);
            let blocks = diagonal_blocks_of(simd, formulation, &x, &twins, lame);
            let inverse = inverse_blocks(simd, &blocks, &twins);

            let mut u = match formulation {
                Formulation::Full => x,
                Formulation::Incompatible => {
                    copied(simd, &joined(simd, &sheared(simd, &x), &twins), &twins)
                }
            };
            // u^T D u of the last four u.
            let mut norms = [one; 4];
            for _ in 0..BOUND_STEPS {
                let f = forces(simd, formulation, &x, &u, one, lame);
                let (next, norm) = divide(simd, &inverse, &joined(simd, &f, &twins));
                u = copied(simd, &next, &twins);
                norms = [norms[1], norms[2], norms[3], norm];
            }

            let mut values = [[0.0; MAX_LANES]; 4];
            norms.iter().zip(&mut values).for_each(|(norm, values)| norm.store(values));
            for (lane, bound) in bounds.iter_mut().enumerate() {
                let norms = values.map(|norms| norms[lane]);
                let square = match formulation {
                    Formulation::Full => norms[3] * norms[2].recip(),
                    Formulation::Incompatible => largest(norms),
                };
                *bound = (margin * square.sqrt()) as f32;
            }
        }
    }
}

/// Share of the directions of the other two edges in the motion of opposite faces of [`sheared`].
const SHEAR: f64 = 0.4;

/// The field in which opposite faces move apart along the unit edge vector between them, and by a
/// [`SHEAR`] along the other two: dilation and shears, of equal sizes however flat an element is.
#[inline(always)]
fn sheared<S: Simd>(simd: S, x: &Nodal<S>) -> Nodal<S> {
    let mut edges = [[Lanes::splat(simd, 0.0); DIM]; DIM];
    for (d, edge) in edges.iter_mut().enumerate() {
        for (a, node) in NODES.iter().enumerate() {
            let sign = Lanes::splat(simd, node[d]);
            (0..DIM).for_each(|i| edge[i] = sign.mul_add(x[a][i], edge[i]));
        }
        let square = edge[2].mul_add(edge[2], edge[1].mul_add(edge[1], edge[0] * edge[0]));
        let scale = square.sqrt().recip();
        (0..DIM).for_each(|i| edge[i] = scale * edge[i]);
    }

    let share = Lanes::splat(simd, SHEAR);
    let (mut u, [e, f, g]) = (*x, edges);
    for i in 0..DIM {
        let apart = [(e, f, g), (f, g, e), (g, e, f)]
            .map(|(own, next, last)| share.mul_add(next[i] + last[i], own[i]));
        for (a, node) in NODES.iter().enumerate() {
            let [x, y, z] = node.map(|sign| Lanes::splat(simd, sign));
            u[a][i] = z.mul_add(apart[2], y.mul_add(apart[1], x * apart[0]));
        }
    }
    u
}

/// Part of the square of norms below which their differences are rounding.
const ROUNDING: f64 = 1e-9;

/// Returns the square of the largest eigenvalue of A = D^-1 K by four `norms` u^T D u of u, A u,
/// A^2 u and A^3 u: the larger root of the Rayleigh quotients of A^2 among u and A^2 u, or the last
/// quotient where these two are parallel.
fn largest(norms: [f64; 4]) -> f64 {
    let ratio = norms[1] / norms[0];
    let (second, third) =
        (norms[2] / (norms[0] * ratio.powi(2)), norms[3] / (norms[0] * ratio.powi(3)));
    let (a, b, c) = (second - 1.0, third - second, third - second * second);
    match a > ROUNDING {
        true => ratio * (b + (b * b - 4.0 * a * c).max(0.0).sqrt()) / (2.0 * a),
        false => norms[3] * norms[2].recip(),
    }
}

/// Writes coordinates about the center of an element to a lane of `x`.
fn start(corners: &Corners, lane: usize, x: &mut LaneGroup) {
    for i in 0..DIM {
        let center = corners.iter().map(|x| x[i]).sum::<f64>() / 8.0;
        (0..8).for_each(|a| x[a][i][lane] = corners[a][i] - center);
    }
}

/// u = D^-1 f by the `inverse` blocks, and u^T D u = u . f.
#[inline(always)]
fn divide<S: Simd>(simd: S, inverse: &[[Lanes<S>; 6]; 8], f: &Nodal<S>) -> (Nodal<S>, Lanes<S>) {
    let (mut u, mut work) = (*f, Lanes::splat(simd, 0.0));
    for a in 0..8 {
        let ([x, y, z], [xx, xy, yy, zx, yz, zz]) = (f[a], inverse[a]);
        u[a] = [
            zx.mul_add(z, xy.mul_add(y, xx * x)),
            yz.mul_add(z, yy.mul_add(y, xy * x)),
            zz.mul_add(z, yz.mul_add(y, zx * x)),
        ];
        for i in 0..DIM {
            work = u[a][i].mul_add(f[a][i], work);
        }
    }
    (u, work)
}

/// The inverses of the symmetric matrices (xx, xy, yy, zx, yz, zz), which are positive definite;
/// zero at the second place of a node that stands twice, where a block is zero.
#[inline(always)]
fn inverse_blocks<S: Simd>(
    simd: S,
    blocks: &[[Lanes<S>; 6]; 8],
    twins: &[Twin],
) -> [[Lanes<S>; 6]; 8] {
    let mut inverse = *blocks;
    for a in 0..8 {
        let [xx, xy, yy, zx, yz, zz] = blocks[a];
        let (first, second, third) = (yy * zz - yz * yz, zx * yz - xy * zz, xy * yz - zx * yy);
        let scale = (xx * first + xy * second + zx * third).recip();
        inverse[a] = [
            first * scale,
            second * scale,
            (xx * zz - zx * zx) * scale,
            third * scale,
            (xy * zx - xx * yz) * scale,
            (xx * yy - xy * xy) * scale,
        ];
    }

    if twins.is_empty() {
        return inverse;
    }
    let mut group: LaneGroup<6> = [[[0.0; MAX_LANES]; 6]; 8];
    to_group(&inverse, &mut group);
    twins.iter().for_each(|twin| twin.clear(&mut group));
    from_group(simd, &group)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use topopt_mesh::HexMesh;

    use super::*;
    use crate::{Elasticity, ElementKernel};
    use topopt_testing::{distorted_cube, hexagon, mapped_cube, wheel};

    /// The largest eigenvalue of D^-1 K of element `e`, each of its nodes taken once.
    fn exact(mesh: &HexMesh, kernel: &Elasticity, e: usize) -> f64 {
        let hex = mesh.hexes()[e];
        let ke = kernel.matrix(0, &mesh.element_coordinates(e));
        let mut nodes = hex.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let n = DIM * nodes.len();
        let at = |dof: usize| DIM * nodes.binary_search(&hex[dof / DIM]).unwrap() + dof % DIM;
        let mut k = DMatrix::zeros(n, n);
        for row in 0..24 {
            let of_row = ke[row / DIM][row % DIM].as_flattened();
            (0..24).for_each(|column| k[(at(row), at(column))] += of_row[column]);
        }

        let d = DMatrix::from_fn(n, n, |i, j| if i / DIM == j / DIM { k[(i, j)] } else { 0.0 });
        let l = d.cholesky().unwrap().l().try_inverse().unwrap();
        (&l * k * l.transpose()).symmetric_eigenvalues().max()
    }

    #[test]
    fn they_are_the_largest_eigenvalues_of_elements() {
        let plate = mapped_cube(2, |[x, y, z]| [9.0 * x + 2.0 * z, 4.0 * y, z * (1.0 + x)]);
        let meshes = [distorted_cube(3, 0.3, true), hexagon(2), wheel(2), plate];
        for (formulation, ratio) in [Formulation::Full, Formulation::Incompatible]
            .into_iter()
            .flat_map(|formulation| [0.0, 0.3, 0.49].map(|ratio| (formulation, ratio)))
        {
            let kernel = Elasticity::new(&Material::new(7.0, ratio).unwrap()).with(formulation);
            let margin = BoundParameters::of(&kernel.material, formulation).margin;
            let range = if ratio < LEAST_RATIO { 0.92..1.25 } else { 0.92..margin + 0.001 };
            for mesh in &meshes {
                for (e, &bound) in kernel.bounds(&mesh.into()).iter().enumerate() {
                    let share = f64::from(bound) / exact(mesh, &kernel, e);
                    assert!(range.contains(&share), "{formulation:?}, {ratio}, {e}: {share}");
                }
            }
        }
    }

    /// Boxes, skewed ones and tapered ones of edges down to a hundredth of the longest.
    fn flat() -> Vec<HexMesh> {
        let mut meshes = Vec::new();
        for width in [1.0, 0.7, 0.4, 0.15, 0.03] {
            for height in [1.0, 0.85, 0.5, 0.25, 0.12, 0.05, 0.01] {
                for (skew, taper) in [(0.0, 0.0), (0.0, 0.5), (0.4, 0.0), (0.9, 0.5)] {
                    meshes.push(mapped_cube(1, |[x, y, z]| {
                        let across = 0.7 * skew * width * y + 0.5 * skew * height * z;
                        let along = width * (y + 0.3 * skew * z);
                        [x + across, along, height * z * (1.0 + taper * y)]
                    }));
                }
            }
        }
        meshes
    }

    /// A smoother diverges beyond 1.125 times the bound.
    #[test]
    fn those_of_flat_elements_with_incompatible_modes_let_no_smoother_diverge() {
        for ratio in [0.0, 0.15, 0.3, 0.35, 0.4, 0.45, 0.49] {
            let material = Material::new(7.0, ratio).unwrap();
            let kernel = Elasticity::new(&material).with(Formulation::Incompatible);
            for mesh in &flat() {
                let share = f64::from(kernel.bounds(&mesh.into())[0]) / exact(mesh, &kernel, 0);
                let range = 1.0 / 1.125..1.3;
                assert!(range.contains(&share), "{ratio}: {share} of {:?}", mesh.coordinates());
            }
        }
    }

    #[test]
    fn that_of_a_cube() {
        let material = Material::new(1.0, 0.3).unwrap();
        let bounds = Elasticity::new(&material).bounds(&(&mapped_cube(1, |x| x)).into());
        assert!((f64::from(bounds[0]) / MARGIN - 3.162_162).abs() < 1e-3);
    }
}

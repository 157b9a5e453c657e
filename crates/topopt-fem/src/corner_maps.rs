//! Maps between fields of elements and of corners, and gradients of these.

mod ranks;

use rayon::prelude::*;
use topopt_linalg::{Backend, Cpu};
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{self, determinant, inverse};
use topopt_mesh::vector::dot;
use topopt_mesh::{HexMesh, NodeToElements};

use crate::DIM;

pub use ranks::RankCorners;

/// Three fields of elements: the components of a vector per element.
pub type Components<V> = [V; DIM];

/// Sums of an element field around the corners of a mesh, gradients of a corner field in the
/// elements, and the transposes of both.
///
/// Corners are the nodes of hexahedra and the vertices of tetrahedra; other nodes have no values.
/// An element counts by its volume v_e, up to a common factor, that of the parallelepiped at its
/// center.
pub trait CornerMaps<B: Backend>: Send + Sync {
    /// y = S x, the sum of v_e x_e over the elements around each corner, 0 at other nodes:
    /// `[n_elements]` to `[n_nodes]`.
    fn sum(&self, x: &B::Vector, y: &mut B::Vector);

    /// x = S^T y.
    fn sum_transpose(&self, y: &B::Vector, x: &mut B::Vector);

    /// g = D y, the gradient at the center of each element (1/length): `[n_nodes]` to
    /// `[3][n_elements]`.
    fn gradient(&self, y: &B::Vector, g: &mut Components<B::Vector>);

    /// y = D^T g; overwrites g.
    fn gradient_transpose(&self, g: &mut Components<B::Vector>, y: &mut B::Vector);
}

/// The maps on the CPU.
pub struct CpuCorners<'a> {
    mesh: &'a HexMesh,
    adjacency: NodeToElements,
    /// dN_a/dxi at the center of an element, `[n_corners][3]`.
    slopes: Vec<[f64; DIM]>,
    /// v_e
    volumes: Vec<f64>,
}

/// Fewest entries per thread.
const GRAIN: usize = 1024;

impl<'a> CpuCorners<'a> {
    /// Prepares the maps of `mesh`.
    pub fn new(mesh: &'a HexMesh) -> Self {
        let slopes = corner_slopes(mesh);
        let volume = |e: usize| determinant(&jacobian(mesh, &slopes, e)).abs();
        let volumes = (0..mesh.n_elements()).into_par_iter().map(volume).collect();
        Self { mesh, adjacency: NodeToElements::new(mesh), slopes, volumes }
    }

    /// Bytes that the maps of a mesh of that size take.
    pub fn bytes(n_nodes: usize, n_elements: usize, nodes_per_element: usize) -> usize {
        8 * n_nodes + (8 + 5 * nodes_per_element) * n_elements
    }

    /// y_a = sum over the elements around each node of `term(e, a)`, a the number of the corner.
    fn sum_around(&self, y: &mut [f64], term: impl Fn(usize, usize) -> f64 + Sync) {
        y.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(node, y)| {
            let elements = self.adjacency.of(node).map(|(e, a)| (e as usize, a as usize));
            let corners = elements.filter(|(_, a)| *a < self.slopes.len());
            *y = corners.map(|(e, a)| term(e, a)).sum();
        });
    }

    /// Derivatives dxi_j/dx_i at the center of an element, `[j][i]`.
    fn inverse(&self, element: usize) -> [[f64; DIM]; DIM] {
        let jacobian = jacobian(self.mesh, &self.slopes, element);
        inverse(&jacobian, determinant(&jacobian))
    }

    /// Gradient of the corner values `y` at the center of an element.
    fn gradient_in(&self, y: &[f64], element: usize) -> [f64; DIM] {
        let mut by_reference = [0.0; DIM];
        for (&node, slopes) in self.mesh.corners(element).iter().zip(&self.slopes) {
            (0..DIM).for_each(|j| by_reference[j] += y[node as usize] * slopes[j]);
        }
        let inverse = self.inverse(element);
        std::array::from_fn(|i| (0..DIM).map(|j| by_reference[j] * inverse[j][i]).sum())
    }
}

impl CornerMaps<Cpu> for CpuCorners<'_> {
    fn sum(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.sum_around(y, |e, _| self.volumes[e] * x[e]);
    }

    fn sum_transpose(&self, y: &Vec<f64>, x: &mut Vec<f64>) {
        x.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(e, x)| {
            let corners = self.mesh.corners(e).iter().map(|&node| y[node as usize]);
            *x = self.volumes[e] * corners.sum::<f64>();
        });
    }

    fn gradient(&self, y: &Vec<f64>, g: &mut Components<Vec<f64>>) {
        let [gx, gy, gz] = g;
        let all = gx.par_iter_mut().zip(gy).zip(gz).with_min_len(GRAIN).enumerate();
        all.for_each(|(e, ((gx, gy), gz))| [*gx, *gy, *gz] = self.gradient_in(y, e));
    }

    /// Leaves g by reference coordinates in `g`: the corners of an element then take it with their
    /// slopes alone.
    fn gradient_transpose(&self, g: &mut Components<Vec<f64>>, y: &mut Vec<f64>) {
        let [gx, gy, gz] = &mut *g;
        let all = gx.par_iter_mut().zip(gy).zip(gz).with_min_len(GRAIN).enumerate();
        all.for_each(|(e, ((gx, gy), gz))| {
            let inverse = self.inverse(e);
            [*gx, *gy, *gz] = inverse.map(|row| dot(row, [*gx, *gy, *gz]));
        });
        self.sum_around(y, |e, a| (0..DIM).map(|j| self.slopes[a][j] * g[j][e]).sum());
    }
}

/// Derivatives dN_a/dxi_j at the center of an element of `mesh` with the corners of its shape,
/// `[n_corners][3]`.
fn corner_slopes(mesh: &HexMesh) -> Vec<[f64; DIM]> {
    match mesh.shape() {
        Shape::Tetrahedron => {
            vec![[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        }
        _ => hexahedron::shape_gradients([0.0; DIM]).to_vec(),
    }
}

/// Derivatives dx_i/dxi_j at the center of an element, `[i][j]`.
fn jacobian(mesh: &HexMesh, slopes: &[[f64; DIM]], element: usize) -> [[f64; DIM]; DIM] {
    let mut jacobian = [[0.0; DIM]; DIM];
    for (x, slopes) in mesh.corner_coordinates(element).zip(slopes) {
        for i in 0..DIM {
            (0..DIM).for_each(|j| jacobian[i][j] += x[i] * slopes[j]);
        }
    }
    jacobian
}

#[cfg(test)]
mod tests {
    use topopt_testing::{Noise, distorted_cube, distorted_tetrahedra, mixed_cut};

    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn sample(mesh: &HexMesh, f: impl Fn([f64; DIM]) -> f64) -> Vec<f64> {
        mesh.coordinates().iter().map(|x| f(*x)).collect()
    }

    fn meshes() -> [HexMesh; 3] {
        [distorted_cube(3, 0.2, true), distorted_tetrahedra(3, 0.2, true), mixed_cut()]
    }

    #[test]
    fn gradients_of_linear_fields_are_exact() {
        for mesh in meshes() {
            let maps = CpuCorners::new(&mesh);
            let mut g = [(); DIM].map(|()| vec![0.0; mesh.n_elements()]);
            maps.gradient(&sample(&mesh, |[x, y, z]| 2.0 * x - 3.0 * y + 0.5 * z), &mut g);
            for (component, exact) in g.iter().zip([2.0, -3.0, 0.5]) {
                assert!(component.iter().all(|found| (found - exact).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn transposes_have_the_same_scalar_products() {
        for mesh in meshes() {
            let (maps, mut noise) = (CpuCorners::new(&mesh), Noise(7));
            let (x, y) = (noise.vector(mesh.n_elements()), noise.vector(mesh.n_nodes()));
            let (mut of_x, mut of_y) = (y.clone(), x.clone());
            maps.sum(&x, &mut of_x);
            maps.sum_transpose(&y, &mut of_y);
            assert!((dot(&of_x, &y) - dot(&of_y, &x)).abs() < 1e-12);

            let mut g = [(); DIM].map(|()| noise.vector(mesh.n_elements()));
            let (given, mut of_y) = (g.clone(), g.clone());
            maps.gradient(&y, &mut of_y);
            maps.gradient_transpose(&mut g, &mut of_x);
            let work: f64 = of_y.iter().zip(&given).map(|(a, b)| dot(a, b)).sum();
            assert!((dot(&of_x, &y) - work).abs() < 1e-12 * work.abs().max(1.0));
        }
    }
}

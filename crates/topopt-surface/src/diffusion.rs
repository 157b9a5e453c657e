//! Diffusion on the tetrahedra of a mesh: what evens out a field.

use std::ops::ControlFlow;

use rayon::prelude::*;
use topopt_linalg::{
    BackendError, Cost, Cpu, Diagonal, LinearOperator, Pcg, PcgOptions, Space, System,
};
use topopt_mesh::vector::{cross, difference, dot};
use topopt_mesh::{HexMesh, NodeToElements, hexahedron, tetrahedra};

/// Vertices of an element's tetrahedra: its nodes, then its center.
const VERTICES: usize = 9;
const PAIRS: usize = VERTICES * (VERTICES - 1) / 2;

/// The operator M + K of linear finite elements on the tetrahedra, M lumped, K with a conductivity
/// per element (length squared).
///
/// Trilinear hexahedra would have half the unknowns, but the surface is cut from tetrahedra: on
/// distorted meshes the difference of the two is what makes a surface rough (2.5 % of the dihedral
/// angles of a subdivided bracket above 60 degrees in place of 0.3 %).
pub(crate) struct Diffusion<'a> {
    mesh: &'a HexMesh,
    node_to_elements: NodeToElements,
    /// -K_ij of the pairs i < j of an element's vertices. As K has constants in its null space, the
    /// diagonal need not be stored, and single precision keeps constants exactly.
    couplings: Vec<[f32; PAIRS]>,
    /// Shares of the vertices in the volume of each element.
    masses: Vec<[f64; VERTICES]>,
    /// Their sums M, `[n_nodes + n_elements]`.
    mass: Vec<f64>,
}

/// Place of the pair i < j.
const fn pair(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

impl<'a> Diffusion<'a> {
    /// Of `mesh` with `conductivity(element)`.
    pub fn new(mesh: &'a HexMesh, conductivity: impl Fn(usize) -> f64 + Sync) -> Self {
        let of_element = |element: usize| of_element(mesh, element, conductivity(element));
        let (couplings, masses): (Vec<_>, Vec<_>) =
            (0..mesh.n_elements()).into_par_iter().map(of_element).unzip();

        let node_to_elements = NodeToElements::new(mesh);
        let at_node = |node: usize| -> f64 {
            let elements = node_to_elements.of(node);
            elements.map(|(e, local): (u32, u8)| masses[e as usize][usize::from(local)]).sum()
        };
        let mut mass: Vec<f64> = (0..mesh.n_nodes()).into_par_iter().map(at_node).collect();
        mass.extend(masses.iter().map(|masses| masses[VERTICES - 1]));
        Self { mesh, node_to_elements, couplings, masses, mass }
    }

    /// Volume that belongs to each vertex, `[n_nodes + n_elements]`.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// The integrals of `density`, `[n_elements]`, with the functions of the vertices.
    pub fn loads(&self, density: &[f64]) -> Vec<f64> {
        let at_node = |node: usize| -> f64 {
            let elements = self.node_to_elements.of(node);
            let of_element = |(e, local): (u32, u8)| {
                self.masses[e as usize][usize::from(local)] * density[e as usize]
            };
            elements.map(of_element).sum()
        };
        let nodes = (0..self.mesh.n_nodes()).into_par_iter().map(at_node);
        let centers = density.par_iter().zip(&self.masses);
        nodes.chain(centers.map(|(density, masses)| density * masses[VERTICES - 1])).collect()
    }

    /// (M + K)^-1 `right`, as far as a surface shows.
    ///
    /// # Errors
    /// [`BackendError`] of the linear algebra.
    pub fn solve(&self, right: &Vec<f64>, start: Vec<f64>) -> Result<Vec<f64>, BackendError> {
        let diagonal = (0..self.mass.len()).into_par_iter().map(|v| self.diagonal(v)).collect();
        let m = Diagonal::new(&Cpu, &diagonal, self.space())?;
        let system = System { backend: &Cpu, a: self, m: &m, f: right };
        let options = PcgOptions { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS };
        let (mut pcg, mut x) = (Pcg::new(&Cpu, self.space())?, start);
        pcg.solve(&system, &mut x, options, &mut |_| ControlFlow::Continue(()))?;
        Ok(x)
    }

    /// Sum of `value(coupling, other vertex)` over what a vertex is coupled with.
    fn sum(&self, vertex: usize, value: impl Fn(f64, usize) -> f64) -> f64 {
        let n_nodes = self.mesh.n_nodes();
        let of_element = |element: usize, local: usize| -> f64 {
            let (hex, couplings) = (&self.mesh.hexes()[element], &self.couplings[element]);
            let others = (0..VERTICES).filter(|&other| other != local);
            let terms = others.map(|other| {
                let coupling = couplings[pair(local.min(other), local.max(other))];
                let vertex = hex.get(other).map_or(n_nodes + element, |&node| node as usize);
                value(f64::from(coupling), vertex)
            });
            terms.sum()
        };
        match vertex.checked_sub(n_nodes) {
            Some(element) => of_element(element, VERTICES - 1),
            None => {
                let elements = self.node_to_elements.of(vertex);
                elements.map(|(e, local)| of_element(e as usize, usize::from(local))).sum()
            }
        }
    }

    fn diagonal(&self, vertex: usize) -> f64 {
        self.mass[vertex] + self.sum(vertex, |coupling, _| coupling)
    }
}

/// Relative residual, of a field between 0 and 1 or of distances of a few elements.
const TOLERANCE: f64 = 1e-6;
const MOST_ITERATIONS: usize = 500;

impl LinearOperator<Cpu> for Diffusion<'_> {
    fn space(&self) -> Space {
        Space::level(self.mass.len(), 1)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        y.par_iter_mut().enumerate().with_min_len(1024).for_each(|(vertex, y)| {
            let own = x[vertex];
            let exchanged = self.sum(vertex, |coupling, other| coupling * (own - x[other]));
            *y = self.mass[vertex] * own + exchanged;
        });
    }

    fn cost(&self) -> Cost {
        let (elements, vertices) = (self.couplings.len() as f64, self.mass.len() as f64);
        Cost {
            bytes_read: (4 * PAIRS + 32) as f64 * elements + 16.0 * vertices,
            bytes_written: 8.0 * vertices,
            flops: (6 * PAIRS) as f64 * elements + 2.0 * vertices,
        }
    }
}

/// -K_ij of the pairs and the masses of an element's vertices.
fn of_element(
    mesh: &HexMesh,
    element: usize,
    conductivity: f64,
) -> ([f32; PAIRS], [f64; VERTICES]) {
    let hex = &mesh.hexes()[element];
    let corners = mesh.element_coordinates(element);
    let center = hexahedron::center(&corners);
    // A node that stands twice in a wedge counts at its first place.
    let local = |v: u32| hex.iter().position(|&node| node == v).unwrap_or(VERTICES - 1);

    let (mut couplings, mut masses) = ([0.0; PAIRS], [0.0; VERTICES]);
    for tetrahedron in tetrahedra::of_element(mesh, element) {
        let local = tetrahedron.map(local);
        let x = local.map(|l| corners.get(l).copied().unwrap_or(center));
        let volume = tetrahedra::volume(x);
        // 6 V grad N_i, the area vectors of the opposite faces inwards, twice.
        let [a, b, c] = [1, 2, 3].map(|i| difference(x[i], x[0]));
        let [b_c, c_a, a_b] = [cross(b, c), cross(c, a), cross(a, b)];
        let first = std::array::from_fn(|i| -(b_c[i] + c_a[i] + a_b[i]));
        let areas: [[f64; 3]; 4] = [first, b_c, c_a, a_b];

        for i in 0..4 {
            masses[local[i]] += volume / 4.0;
            for j in 0..i {
                let place = pair(local[i].min(local[j]), local[i].max(local[j]));
                couplings[place] -= conductivity * dot(areas[i], areas[j]) / (36.0 * volume);
            }
        }
    }
    (couplings.map(|coupling| coupling as f32), masses)
}

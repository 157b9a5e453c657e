//! Loads that follow the design: f = sum_e s_e q_e, with a vector q_e for each of some elements
//! and a factor s_e that the design sets.
//!
//! Gravity and rotation have the densities as factors. Prescribed displacements, moved to the
//! right-hand side, and thermal strains have the moduli.

use rayon::prelude::*;
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, hexahedron};

use crate::diffusion::shape_integrals;
use crate::element_matrices::ElementMatrices;
use crate::operators::stored::element_values;
use crate::{
    BodyForce, Constraints, Corners, Discretization, ElementKernel, ElementMatrix, ElementVector,
    Problem, ThermalStrains, tetrahedra,
};

/// The vectors q_e, of loads zero at held unknowns, and where they are summed. They live on the
/// host: they are summed once a design and not once a product.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementVectors {
    /// Elements that have a vector, increasing.
    elements: Vec<u32>,
    n_elements: usize,
    /// Unknowns per node, n.
    unknowns: usize,
    /// Nodes per element, E.
    per_element: usize,
    /// Their nodes, `[elements][E]`.
    connectivity: Vec<u32>,
    /// q_e, `[elements][E][n]`.
    vectors: Vec<f64>,
    /// Nodes of these elements, increasing.
    nodes: Vec<u32>,
    /// `slots[offsets[k]..offsets[k + 1]]` are the places of `nodes[k]`.
    offsets: Vec<u32>,
    /// Places as E times the position in `elements`, plus the local node.
    slots: Vec<u32>,
}

impl ElementVectors {
    /// q_e of a force per volume `body_force` on all elements, with their mass factors: its
    /// consistent nodal forces, the integral of N_a times it. Their sum is exact on any mesh.
    pub fn of_body_force<K: ElementKernel<N>, const N: usize>(
        problem: &Problem<K, N>,
        body_force: &BodyForce<N>,
    ) -> Self {
        let all = Self::of_mass(problem.mesh(), problem.factors().mass.as_deref(), body_force);
        all.without_held(problem.held())
    }

    /// q_e of a force per volume `body_force` on all elements of `mesh`, with their `mass` factors
    /// if there are any, at held unknowns too; any number of unknowns, such as moments of the mass.
    pub(crate) fn of_mass<const N: usize>(
        mesh: &HexMesh,
        mass: Option<&[f64]>,
        body_force: &BodyForce<N>,
    ) -> Self {
        let elements = (0..mesh.n_elements() as u32).collect();
        let force = |e: u32| {
            let force = mass.map(|mass| body_force.scaled(mass[e as usize]));
            force.unwrap_or(*body_force)
        };
        if mesh.shape() == Shape::Tetrahedron {
            return Self::new(mesh, elements, |&e| {
                tetrahedra::body_force(&mesh.tetrahedron_coordinates(e as usize), &force(e))
            });
        }
        Self::new(mesh, elements, |&e| of_element(&mesh.element_coordinates(e as usize), &force(e)))
    }

    /// q_e of thermal `strains` at unit coefficient: the integral of B^T D a T, as
    /// [`ThermalStrains`] have it.
    pub fn of_thermal_strains<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        strains: &ThermalStrains,
    ) -> Self {
        let (mesh, elements) = (problem.mesh(), strains.elements());
        let all = match problem.elements().are_tetrahedra() {
            true => Self::new(mesh, elements, |&e| held::<K, N, 10>(problem, strains, e)),
            false => Self::new(mesh, elements, |&e| held::<K, N, 8>(problem, strains, e)),
        };
        all.without_held(problem.constraints())
    }

    /// q_e = -K_e u_e of the first term at unit coefficient, for values u of held unknowns, zero at
    /// free ones, `[n_nodes][N]`; elements that do not touch such a node have none.
    pub fn of_prescribed<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        u: &[f64],
    ) -> Self {
        let u = u.as_chunks::<N>().0;
        let is_moved = |node: &u32| u[*node as usize] != [0.0; N];
        let all = (0..).zip(problem.mesh().elements());
        let elements = all.filter(|(_, nodes)| nodes.iter().any(is_moved)).map(|(e, _)| e);
        let elements = elements.collect();
        let all = match problem.elements().are_tetrahedra() {
            true => Self::new(problem.mesh(), elements, |&e| resistance::<K, N, 10>(problem, u, e)),
            false => Self::new(problem.mesh(), elements, |&e| resistance::<K, N, 8>(problem, u, e)),
        };
        all.without_held(problem.constraints())
    }

    /// Sets the entries at held unknowns to zero.
    fn without_held<const N: usize>(mut self, held: &Constraints<N>) -> Self {
        let nodal = self.vectors.as_chunks_mut::<N>().0.iter_mut().zip(&self.connectivity);
        nodal.for_each(|(q, &node)| *q = held.free_part(node as usize, *q));
        self
    }

    /// Returns empty loads on a mesh of `n_elements` that another rank has.
    pub fn without_values(n_elements: usize) -> Self {
        Self {
            elements: Vec::new(),
            n_elements,
            unknowns: 0,
            per_element: 8,
            connectivity: Vec::new(),
            vectors: Vec::new(),
            nodes: Vec::new(),
            offsets: vec![0],
            slots: Vec::new(),
        }
    }

    /// Bytes of vectors for that many elements, with `unknowns` per node.
    pub fn bytes(n_elements: usize, unknowns: usize) -> usize {
        // Number, nodes, vector, slots; some more than one node an element.
        n_elements * (4 + 32 + 8 * 8 * unknowns + 32 + 10)
    }

    /// Elements of the mesh, with and without a vector.
    pub fn n_elements(&self) -> usize {
        self.n_elements
    }

    /// f += sum_e s_e q_e for factors s, `[n_elements]`, and a nodal vector f, `[n_nodes][n]`; the
    /// same bits on any number of threads.
    pub fn add(&self, factors: &[f64], f: &mut [f64]) {
        let n = self.unknowns;
        let mut totals = vec![0.0; n * self.nodes.len()];
        let rows = self.offsets.par_windows(2).with_min_len(1024);
        totals.par_chunks_exact_mut(n).zip(rows).for_each(|(total, rows)| {
            for &slot in &self.slots[rows[0] as usize..rows[1] as usize] {
                let slot = slot as usize;
                let factor = factors[self.elements[slot / self.per_element] as usize];
                let q = &self.vectors[n * slot..n * (slot + 1)];
                total.iter_mut().zip(q).for_each(|(total, q)| *total += factor * q);
            }
        });
        for (&node, total) in self.nodes.iter().zip(totals.chunks_exact(n)) {
            let f = &mut f[n * node as usize..n * (node as usize + 1)];
            f.iter_mut().zip(total).for_each(|(f, total)| *f += total);
        }
    }

    /// q_e . u_e for a nodal vector u, `[n_nodes][n]`; 0 for elements without a vector,
    /// `[n_elements]`.
    pub fn work(&self, u: &[f64]) -> Vec<f64> {
        let n = self.unknowns;
        let work = |(nodes, vector): (&[u32], &[f64])| -> f64 {
            let u = nodes.iter().flat_map(|&node| &u[n * node as usize..n * (node as usize + 1)]);
            vector.iter().zip(u).map(|(q, u)| q * u).sum()
        };
        let nodes = self.connectivity.par_chunks_exact(self.per_element);
        let pairs = nodes.zip(self.vectors.par_chunks_exact(self.per_element * n));
        let works: Vec<_> = pairs.with_min_len(1024).map(work).collect();

        let mut out = vec![0.0; self.n_elements];
        self.elements.iter().zip(works).for_each(|(&e, work)| out[e as usize] = work);
        out
    }

    fn new<const N: usize, const E: usize>(
        mesh: &HexMesh,
        elements: Vec<u32>,
        vector: impl Fn(&u32) -> ElementVector<N, E> + Send + Sync,
    ) -> Self {
        let nodes = elements.iter().flat_map(|&e| mesh.element(e as usize));
        let connectivity: Vec<u32> = nodes.copied().collect();
        let vectors: Vec<_> = elements.par_iter().map(vector).collect();

        let mut places: Vec<(u32, u32)> = connectivity.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let (mut nodes, mut offsets) = (Vec::new(), vec![0]);
        for run in places.chunk_by(|a, b| a.0 == b.0) {
            nodes.push(run[0].0);
            offsets.push(offsets[offsets.len() - 1] + run.len() as u32);
        }
        Self {
            elements,
            n_elements: mesh.n_elements(),
            unknowns: N,
            per_element: E,
            connectivity,
            vectors: vectors.as_flattened().as_flattened().to_vec(),
            nodes,
            offsets,
            slots: places.into_iter().map(|(_, slot)| slot).collect(),
        }
    }
}

/// Forces of an element of E nodes that is held against its thermal strain.
fn held<K: ElementKernel<N>, const N: usize, const E: usize>(
    problem: &Discretization<K, N>,
    strains: &ThermalStrains,
    element: u32,
) -> ElementVector<N, E> {
    let held = problem.kernel().restrained(&problem.elements(), element as usize, strains);
    held.forces.try_into().unwrap_or([[0.0; N]; E])
}

/// -K_e u_e of the first term at unit coefficient of an element of E nodes.
fn resistance<K: ElementKernel<N> + ElementMatrices<N, E>, const N: usize, const E: usize>(
    problem: &Discretization<K, N>,
    u: &[[f64; N]],
    element: u32,
) -> ElementVector<N, E> {
    let (mesh, element) = (problem.mesh(), element as usize);
    let ke: ElementMatrix<N, E> = problem.kernel().element_matrix(0, &problem.elements(), element);
    let u: ElementVector<N, E> = element_values(mesh, element, u);
    let product = |row: ElementVector<N, E>| -> f64 {
        let terms = row.as_flattened().iter().zip(u.as_flattened());
        -terms.map(|(k, u)| k * u).sum::<f64>()
    };
    ke.map(|rows| rows.map(product))
}

/// Nodal forces of `force` on solid elements, with their `mass` factors if there are any,
/// `[n_nodes][N]`.
pub fn nodal_body_forces<const N: usize>(
    mesh: &HexMesh,
    mass: Option<&[f64]>,
    force: &BodyForce<N>,
) -> Vec<[f64; N]> {
    let mut forces = vec![[0.0; N]; mesh.n_nodes()];
    for (e, nodes) in mesh.elements().enumerate() {
        let force = force.scaled(mass.map_or(1.0, |mass| mass[e]));
        let vector = match mesh.shape() {
            Shape::Tetrahedron => {
                tetrahedra::body_force(&mesh.tetrahedron_coordinates(e), &force).to_vec()
            }
            _ => of_element(&mesh.element_coordinates(e), &force).to_vec(),
        };
        for (&node, q) in nodes.iter().zip(vector) {
            forces[node as usize].iter_mut().zip(q).for_each(|(f, q)| *f += q);
        }
    }
    forces
}

/// The integral of N_a b over the element at `x`. The rule takes the sum over a exactly, as b det J
/// is at most cubic along each direction.
fn of_element<const N: usize>(x: &Corners, force: &BodyForce<N>) -> ElementVector<N> {
    let mut vector = shape_integrals(x).map(|share| force.uniform.map(|b| share * b));
    if force.gradient.as_flattened().iter().all(|&b| b == 0.0) {
        return vector;
    }

    for xi in hexahedron::gauss_points() {
        let det = hexahedron::determinant(&hexahedron::jacobian(x, xi));
        let shape = hexahedron::shape_functions(xi);
        let place = std::array::from_fn(|i| (0..8).map(|a| shape[a] * x[a][i]).sum());
        let b = force.varying_at(place);
        for (q, shape) in vector.iter_mut().zip(shape) {
            q.iter_mut().zip(b).for_each(|(q, b)| *q += shape * det * b);
        }
    }
    vector
}

//! Diffusion on the tetrahedra of a mesh: what evens out a field.

use std::ops::ControlFlow;

use rayon::prelude::*;
use topopt_linalg::{
    BackendError, Cost, Cpu, Diagonal, LinearOperator, Pcg, PcgOptions, Space, System,
};
use topopt_mesh::cells::Shape;
use topopt_mesh::vector::{cross, difference, dot};
use topopt_mesh::{HexMesh, NodeToElements, tetrahedra};

/// Vertices of the tetrahedra of a hexahedron, its nodes and then its center, and pairs of these.
const HEXAHEDRON: [usize; 2] = [9, 36];
/// Vertices and pairs of a tetrahedron of ten nodes, likewise.
const TETRAHEDRON: [usize; 2] = [11, 55];

/// The operator M + K of linear finite elements on the tetrahedra, M lumped, K with a conductivity
/// per element (length squared).
///
/// Trilinear hexahedra would have half the unknowns, but the surface is cut from tetrahedra: on
/// distorted meshes the difference of the two is what makes a surface rough (2.5 % of the dihedral
/// angles of a subdivided bracket above 60 degrees in place of 0.3 %).
pub(crate) struct Diffusion {
    /// Rows of the couplings -K_ij with other vertices. As K has constants in its null space, the
    /// diagonal need not be stored, and single precision keeps constants exactly.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    couplings: Vec<f32>,
    /// Factor of K.
    factor: f64,
    /// Nodes and elements, and the shares of an element's vertices in its volume,
    /// `[n_elements][vertices]`.
    node_to_elements: NodeToElements,
    shares: Vec<f64>,
    vertices: usize,
    /// Their sums M, `[n_nodes + n_elements]`.
    mass: Vec<f64>,
}

/// Place of the pair i < j.
const fn pair(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

impl Diffusion {
    /// Assembles the operator on `mesh` with `conductivity(element)` (length squared).
    pub fn new(mesh: &HexMesh, conductivity: impl Fn(usize) -> f64 + Sync) -> Self {
        match mesh.shape() {
            Shape::Tetrahedron => {
                Self::of::<{ TETRAHEDRON[0] }, { TETRAHEDRON[1] }>(mesh, conductivity)
            }
            _ => Self::of::<{ HEXAHEDRON[0] }, { HEXAHEDRON[1] }>(mesh, conductivity),
        }
    }

    /// Assembles the operator for elements of V vertices and P pairs of these.
    fn of<const V: usize, const P: usize>(
        mesh: &HexMesh,
        conductivity: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        let of_element = |element: usize| of_element::<V, P>(mesh, element, conductivity(element));
        let (blocks, shares): (Vec<_>, Vec<_>) =
            (0..mesh.n_elements()).into_par_iter().map(of_element).unzip();
        let node_to_elements = NodeToElements::new(mesh);

        let n_vertices = mesh.n_nodes() + mesh.n_elements();
        let chunks = (0..n_vertices).into_par_iter().step_by(CHUNK).map(|chunk| {
            let (mut lengths, mut entries) = (Vec::with_capacity(CHUNK), Vec::new());
            for vertex in chunk..(chunk + CHUNK).min(n_vertices) {
                let row = row::<V, P>(mesh, &node_to_elements, &blocks, vertex);
                lengths.push(row.len());
                entries.extend(row);
            }
            (lengths, entries)
        });
        let chunks: Vec<_> = chunks.collect();

        let mut offsets = vec![0];
        let lengths = chunks.iter().flat_map(|(lengths, _)| lengths);
        offsets.extend(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let entries = chunks.into_par_iter().flat_map_iter(|(_, entries)| entries);
        let (columns, couplings) = entries.unzip();

        let sums = Self {
            offsets,
            columns,
            couplings,
            factor: 1.0,
            node_to_elements,
            shares: shares.into_flattened(),
            vertices: V,
            mass: Vec::new(),
        };
        Self { mass: sums.integrals(&vec![1.0; mesh.n_elements()]), ..sums }
    }

    /// Sets the factor by which K is multiplied.
    pub fn with_factor(self, factor: f64) -> Self {
        Self { factor, ..self }
    }

    /// The integrals of `density`, `[n_elements]`, with the functions of the vertices.
    pub fn integrals(&self, density: &[f64]) -> Vec<f64> {
        let share =
            |e: u32, local: u8| self.shares[self.vertices * e as usize + usize::from(local)];
        let nodes = (0..self.node_to_elements.n_nodes()).into_par_iter().map(|node| -> f64 {
            let elements = self.node_to_elements.of(node);
            elements.map(|(e, local)| share(e, local) * density[e as usize]).sum()
        });
        let of_elements = self.shares.par_chunks_exact(self.vertices);
        let centers = density.par_iter().zip(of_elements);
        nodes.chain(centers.map(|(density, shares)| density * shares[self.vertices - 1])).collect()
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

    /// ((M + K)^-1 M)^steps `values`.
    pub fn even_out(&self, mut values: Vec<f64>, steps: usize) -> Result<Vec<f64>, BackendError> {
        for _ in 0..steps {
            let right = values.par_iter().zip(&self.mass).map(|(value, mass)| value * mass);
            values = self.solve(&right.collect(), values)?;
        }
        Ok(values)
    }

    /// The largest of `values` within so many edges around each vertex.
    pub fn largest_within(&self, edges: usize, mut values: Vec<f64>) -> Vec<f64> {
        for _ in 0..edges {
            let largest = |vertex: usize| {
                let others = self.row(vertex).map(|(_, other)| values[other]);
                others.fold(values[vertex], f64::max)
            };
            values = (0..values.len()).into_par_iter().map(largest).collect();
        }
        values
    }

    /// The couplings of a vertex with others.
    fn row(&self, vertex: usize) -> impl Iterator<Item = (f64, usize)> {
        let row = self.offsets[vertex]..self.offsets[vertex + 1];
        let columns = self.columns[row.clone()].iter().map(|&column| column as usize);
        let couplings = self.couplings[row].iter();
        couplings.map(|&coupling| self.factor * f64::from(coupling)).zip(columns)
    }

    fn diagonal(&self, vertex: usize) -> f64 {
        self.mass[vertex] + self.row(vertex).map(|(coupling, _)| coupling).sum::<f64>()
    }
}

/// Relative residual, of a field between 0 and 1 or of distances of a few elements.
const TOLERANCE: f64 = 1e-5;
const MOST_ITERATIONS: usize = 500;

impl LinearOperator<Cpu> for Diffusion {
    fn space(&self) -> Space {
        Space::level(self.mass.len(), 1)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        y.par_iter_mut().enumerate().with_min_len(1024).for_each(|(vertex, y)| {
            let own = x[vertex];
            let exchanged = self.row(vertex).map(|(coupling, other)| coupling * (own - x[other]));
            *y = self.mass[vertex] * own + exchanged.sum::<f64>();
        });
    }

    fn cost(&self) -> Cost {
        let (couplings, vertices) = (self.couplings.len() as f64, self.mass.len() as f64);
        Cost {
            bytes_read: 8.0 * couplings + 24.0 * vertices,
            bytes_written: 8.0 * vertices,
            flops: 3.0 * couplings + 2.0 * vertices,
        }
    }
}

/// Rows that are made by one task.
const CHUNK: usize = 4096;

/// The couplings of a vertex, added up over its elements, by their columns.
fn row<const V: usize, const P: usize>(
    mesh: &HexMesh,
    node_to_elements: &NodeToElements,
    blocks: &[[f32; P]],
    vertex: usize,
) -> Vec<(u32, f32)> {
    let n_nodes = mesh.n_nodes();
    let around: Vec<(u32, u8)> = match vertex.checked_sub(n_nodes) {
        Some(element) => vec![(element as u32, V as u8 - 1)],
        None => node_to_elements.of(vertex).collect(),
    };
    let mut entries = Vec::with_capacity((V - 1) * around.len());
    for (element, local) in around {
        let (element, local) = (element as usize, usize::from(local));
        for other in (0..V).filter(|&other| other != local) {
            let column = mesh.element(element).get(other).copied();
            let column = column.unwrap_or((n_nodes + element) as u32);
            entries.push((column, blocks[element][pair(local.min(other), local.max(other))]));
        }
    }

    // Opposite corners of a face or an element are not joined by an edge of tetrahedra.
    entries.retain(|&(_, coupling)| coupling != 0.0);
    // Sums in the order of the elements, so that both rows of a pair have the same.
    entries.sort_by_key(|&(column, _)| column);
    let mut row: Vec<(u32, f32)> = Vec::with_capacity(entries.len());
    for (column, coupling) in entries {
        match row.last_mut() {
            Some((last, sum)) if *last == column => *sum += coupling,
            _ => row.push((column, coupling)),
        }
    }
    row
}

/// Volume below which a tetrahedron counts as flat, as a share of the mean of its element.
const FLAT: f64 = 1e-2;

/// -K_ij of the pairs and the masses of an element's vertices.
fn of_element<const V: usize, const P: usize>(
    mesh: &HexMesh,
    element: usize,
    conductivity: f64,
) -> ([f32; P], [f64; V]) {
    let nodes = mesh.element(element);
    let corners: Vec<[f64; 3]> = nodes.iter().map(|&n| mesh.coordinates()[n as usize]).collect();
    let center = mesh.center(element);
    // A node that stands twice in a wedge counts at its first place.
    let local = |v: u32| nodes.iter().position(|&node| node == v).unwrap_or(V - 1);

    let least = FLAT * mesh.volume(element) / if V == TETRAHEDRON[0] { 16.0 } else { 12.0 };
    let (mut couplings, mut masses) = ([0.0; P], [0.0; V]);
    for tetrahedron in tetrahedra::of_element(mesh, element) {
        let local = tetrahedron.map(local);
        let x = local.map(|l| corners.get(l).copied().unwrap_or(center));
        // Of an element with warped faces some may be turned over.
        let volume = tetrahedra::volume(x).abs().max(least);
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

//! The first coarse level: the vertices of tetrahedra, between which displacements are linear.

use std::sync::Arc;

use nalgebra::DMatrix;
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, BlockPattern, Cpu, Transfer};
use topopt_mesh::cells::Shape;
use topopt_mesh::tetrahedron::{CENTER, POINTS, straight};
use topopt_mesh::{HexMesh, NodeToElements};

use crate::tetrahedra::integrals::{WEIGHT, gradients};
use crate::{DIM, Discretization, ElementKernel};

/// The vertices of a mesh, and where its nodes lie between them.
pub struct Vertices {
    /// Nodes that are vertices, increasing.
    pub nodes: Vec<u32>,
    /// The two vertices, by number, that every node is in the middle of; a vertex is in the middle
    /// of itself.
    pub ends: Vec<[u32; 2]>,
    /// Nodes that every vertex moves; itself twice.
    pub moved: Vec<Vec<u32>>,
}

impl Vertices {
    pub(super) fn of(mesh: &HexMesh) -> Self {
        let mut number = vec![u32::MAX; mesh.n_nodes()];
        for nodes in mesh.elements() {
            nodes[..4].iter().for_each(|&node| number[node as usize] = 0);
        }
        let nodes: Vec<u32> =
            (0..).zip(&number).filter(|(_, number)| **number == 0).map(|(node, _)| node).collect();
        nodes.iter().zip(0..).for_each(|(&node, vertex)| number[node as usize] = vertex);

        let mut ends = vec![[0; 2]; mesh.n_nodes()];
        for element in mesh.elements() {
            for a in 0..4 {
                ends[element[a] as usize] = [number[element[a] as usize]; 2];
            }
            for (&middle, &[a, b]) in element[4..].iter().zip(Shape::Tetrahedron.edges()) {
                ends[middle as usize] = [a, b].map(|a| number[element[a] as usize]);
            }
        }
        let mut moved = vec![Vec::new(); nodes.len()];
        for (node, ends) in (0..).zip(&ends) {
            ends.iter().for_each(|&vertex| moved[vertex as usize].push(node));
        }
        Self { nodes, ends, moved }
    }

    /// The pattern of the matrix of the level.
    pub(super) fn pattern(&self, mesh: &HexMesh, adjacency: &NodeToElements) -> BlockPattern {
        let vertex = |node: u32| self.ends[node as usize][0];
        let rows = self.nodes.par_iter().map(|&node| {
            let elements = adjacency.elements_of(node as usize).iter();
            let corners = elements.flat_map(|&e| mesh.corners(e as usize));
            let mut columns: Vec<u32> = corners.map(|&node| vertex(node)).collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        });
        BlockPattern::new(rows.collect())
    }

    /// Recomputes the matrix of the level for `coefficients`, `[n_elements]` for each term: that of
    /// linear tetrahedra, with the identity in rows and columns of held components.
    pub(super) fn assemble<K: ElementKernel<N>, const N: usize>(
        &self,
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
        coefficients: &[&Vec<f64>],
        matrix: &mut BlockCsr<N>,
    ) {
        let (mesh, held) = (problem.mesh(), problem.constraints());
        matrix.fill_rows(|row, columns, blocks| {
            let node = self.nodes[row];
            for (e, own) in adjacency.of(node as usize) {
                let e = e as usize;
                let (g, volume) = corner_gradients(mesh, e);
                for (a, &other) in mesh.corners(e).iter().enumerate() {
                    let column = self.ends[other as usize][0];
                    let block = &mut blocks[columns.binary_search(&column).unwrap_or_default()];
                    for (term, coefficients) in coefficients.iter().enumerate() {
                        let coupling = problem.kernel().coupling(term, g[own as usize], g[a]);
                        for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                            block[i][j] += coefficients[e] * volume * coupling[i][j];
                        }
                    }
                }
            }

            for (block, &column) in blocks.iter_mut().zip(columns) {
                let other = self.nodes[column as usize];
                for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                    if held.is_fixed(node as usize, i) || held.is_fixed(other as usize, j) {
                        block[i][j] = f64::from(node == other && i == j);
                    }
                }
            }
        });

        if let Some(springs) = problem.constraints().springs() {
            matrix.add_diagonal(&self.shared(springs.as_chunks().0));
        }
    }

    /// Values of nodes, half of them to each end.
    pub fn shared<const N: usize>(&self, values: &[[f64; N]]) -> Vec<[f64; N]> {
        let sum = |moved: &Vec<u32>| {
            let mut sum = [0.0; N];
            for &node in moved {
                (0..N).for_each(|i| sum[i] += 0.5 * values[node as usize][i]);
            }
            sum
        };
        self.moved.par_iter().with_min_len(256).map(sum).collect()
    }
}

/// Gradients of the barycentric coordinates of the straight tetrahedron, and its volume.
fn corner_gradients(mesh: &HexMesh, element: usize) -> ([[f64; DIM]; 4], f64) {
    let [a, b, c, d, ..] = mesh.tetrahedron_coordinates(element);
    // The shape functions of corners have the gradients of their coordinates where those are 1/2.
    let (g, det) = gradients(&straight([a, b, c, d]), CENTER);
    // At the center dN_ab = dl_a + dl_b, and the sum of all is zero: dl_a from its three edges.
    let of = |edges: [usize; 3]| -> [f64; DIM] {
        std::array::from_fn(|i| 0.5 * edges.iter().map(|&edge| g[edge][i]).sum::<f64>())
    };
    ([of([4, 6, 7]), of([4, 5, 8]), of([5, 6, 9]), of([7, 8, 9])], det / 6.0)
}

/// The transfer between the nodes of `problem` and its vertices.
pub(super) struct VertexTransfer<'a, K, const N: usize> {
    pub problem: &'a Discretization<K, N>,
    pub vertices: Arc<Vertices>,
}

impl<K: ElementKernel<N>, const N: usize> Transfer<Cpu> for VertexTransfer<'_, K, N> {
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let (held, fine) = (self.problem.constraints(), fine.as_chunks::<N>().0);
        let Vertices { nodes, moved, .. } = &*self.vertices;
        let rows = coarse.as_chunks_mut::<N>().0.par_iter_mut().zip(moved).zip(nodes);
        rows.with_min_len(256).for_each(|((coarse, moved), &own)| {
            let mut sum = [0.0; N];
            for &node in moved {
                let force = held.free_part(node as usize, fine[node as usize]);
                (0..N).for_each(|i| sum[i] += 0.5 * force[i]);
            }
            *coarse = held.free_part(own as usize, sum);
        });
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let (held, coarse) = (self.problem.constraints(), coarse.as_chunks::<N>().0);
        let rows = fine.as_chunks_mut::<N>().0.par_iter_mut().zip(&self.vertices.ends);
        rows.enumerate().with_min_len(1024).for_each(|(node, (fine, ends))| {
            let [a, b] = ends.map(|vertex| &coarse[vertex as usize]);
            let motion = held.free_part(node, std::array::from_fn(|i| 0.5 * (a[i] + b[i])));
            (0..N).for_each(|i| fine[i] += motion[i]);
        });
    }
}

/// Returns the rows of K at unit coefficients by the columns and Frobenius norms of their blocks.
pub(super) fn row_norms<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
) -> Vec<Vec<(u32, f64)>> {
    let norm =
        |block: &[[f64; N]; N]| block.as_flattened().iter().map(|v| v * v).sum::<f64>().sqrt();
    let nodes = (0..problem.mesh().n_nodes()).into_par_iter();
    let rows = nodes.map(|node| unit_row(problem, adjacency, node));
    rows.map(|row| row.iter().map(|(column, block)| (*column, norm(block))).collect()).collect()
}

/// Row of K for a `node`: the columns and their blocks at unit coefficients.
fn unit_row<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    node: usize,
) -> Vec<(u32, [[f64; N]; N])> {
    let mesh = problem.mesh();
    let mut blocks: Vec<(u32, [[f64; N]; N])> = Vec::new();
    for (e, a) in adjacency.of(node) {
        let x = mesh.tetrahedron_coordinates(e as usize);
        for point in POINTS {
            let (g, det) = gradients(&x, point);
            for (&other, g_b) in mesh.element(e as usize).iter().zip(g) {
                let coupling = problem.kernel().coupling(0, g[a as usize], g_b);
                let place = blocks.iter().position(|(column, _)| *column == other);
                let place = place.unwrap_or_else(|| {
                    blocks.push((other, [[0.0; N]; N]));
                    blocks.len() - 1
                });
                for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                    blocks[place].1[i][j] += WEIGHT * det * coupling[i][j];
                }
            }
        }
    }
    blocks
}

/// The block of `sum_t c_et K_et` between `points`, increasing, with springs, and with the identity
/// in rows and columns of held components.
pub(super) fn group_block<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    coefficients: &[&Vec<f64>],
    points: &[u32],
) -> DMatrix<f64> {
    let (mesh, held) = (problem.mesh(), problem.constraints());
    let mut block = DMatrix::zeros(N * points.len(), N * points.len());
    for e in adjacency.elements_around(points) {
        let places = mesh.element(e as usize).iter().map(|node| points.binary_search(node).ok());
        let inside: Vec<(usize, usize)> =
            places.enumerate().filter_map(|(a, place)| Some((a, place?))).collect();
        add_element(problem, e as usize, coefficients, &inside, &mut block);
    }

    for (r, &node) in points.iter().enumerate() {
        for i in 0..N {
            let at = N * r + i;
            if let Some(springs) = held.springs() {
                block[(at, at)] += springs[N * node as usize + i];
            }
            if held.is_fixed(node as usize, i) {
                block.row_mut(at).fill(0.0);
                block.column_mut(at).fill(0.0);
                block[(at, at)] = 1.0;
            }
        }
    }
    block
}

/// Adds the couplings of element `e` between its nodes `inside` a group, each given by its number
/// in the element and its place in the `block` of the group.
fn add_element<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    e: usize,
    coefficients: &[&Vec<f64>],
    inside: &[(usize, usize)],
    block: &mut DMatrix<f64>,
) {
    let x = problem.mesh().tetrahedron_coordinates(e);
    for point in POINTS {
        let (g, det) = gradients(&x, point);
        for (&(a, r), &(b, c)) in inside.iter().flat_map(|a| inside.iter().map(move |b| (a, b))) {
            for (term, coefficients) in coefficients.iter().enumerate() {
                let coupling = problem.kernel().coupling(term, g[a], g[b]);
                let factor = WEIGHT * det * coefficients[e];
                for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                    block[(N * r + i, N * c + j)] += factor * coupling[i][j];
                }
            }
        }
    }
}

//! The first coarse level: the vertices of tetrahedra, between which displacements are linear.

use std::sync::Arc;

use nalgebra::DMatrix;
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, BlockPattern, Cpu, Transfer};
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{determinant, inverse};
use topopt_mesh::tetrahedron::{POINTS, shape_gradients};
use topopt_mesh::vector::difference;
use topopt_mesh::{HexMesh, NodeToElements};

use super::grouping::frobenius;
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
                let kernel = problem.kernel().of_element(&problem.elements(), e);
                for (a, &other) in mesh.corners(e).iter().enumerate() {
                    let column = self.ends[other as usize][0];
                    let block = &mut blocks[columns.binary_search(&column).unwrap_or_default()];
                    for (term, coefficients) in coefficients.iter().enumerate() {
                        let coupling = kernel.coupling(term, g[own as usize], g[a]);
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
    let [origin, b, c, d, ..] = mesh.tetrahedron_coordinates(element);
    let edges = [b, c, d].map(|x| difference(x, origin));
    let jacobian = std::array::from_fn(|i| edges.map(|edge| edge[i]));
    let det = determinant(&jacobian);
    let [b, c, d] = inverse(&jacobian, det);
    ([std::array::from_fn(|i| -(b[i] + c[i] + d[i])), b, c, d], det / 6.0)
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

/// Returns the rows of K at unit coefficients, with edges made straight, by the columns and
/// Frobenius norms of their blocks.
pub(super) fn row_norms<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
) -> Vec<Vec<(u32, f64)>> {
    let mesh = problem.mesh();
    let row = |node: usize| {
        let around = adjacency.elements_of(node).iter();
        let mut columns: Vec<u32> =
            around.flat_map(|&e| mesh.element(e as usize)).copied().collect();
        columns.sort_unstable();
        columns.dedup();

        // Blocks are linear in these: sums of det J g_a g_b^T.
        let mut sums = vec![[[0.0; DIM]; DIM]; columns.len()];
        for (e, a) in adjacency.of(node) {
            let (corners, volume) = corner_gradients(mesh, e as usize);
            let places = mesh.element(e as usize).iter().map(|node| columns.binary_search(node));
            let places: Vec<usize> = places.map(Result::unwrap_or_default).collect();
            for derivatives in POINTS.map(shape_gradients) {
                // Where edges are straight the Jacobian is that of the corners.
                let g = derivatives.map(|d| -> [f64; DIM] {
                    std::array::from_fn(|i| (0..DIM).map(|k| d[k] * corners[k + 1][i]).sum())
                });
                let own = g[a as usize].map(|g| volume * g);
                for (&place, g_b) in places.iter().zip(&g) {
                    let sum = &mut sums[place];
                    (0..DIM * DIM)
                        .for_each(|k| sum[k / DIM][k % DIM] += own[k / DIM] * g_b[k % DIM]);
                }
            }
        }
        let norm = |sum: &[[f64; DIM]; DIM]| block_norm(problem.kernel(), sum);
        columns.into_iter().zip(sums.iter().map(norm)).collect()
    };
    (0..mesh.n_nodes()).into_par_iter().map(row).collect()
}

/// Frobenius norm of the block for a `sum` of products g_a g_b^T of gradients, in which it is
/// linear.
fn block_norm<K: ElementKernel<N>, const N: usize>(kernel: &K, sum: &[[f64; DIM]; DIM]) -> f64 {
    let mut block = [[0.0; N]; N];
    for (axis, row) in sum.iter().enumerate() {
        let unit = std::array::from_fn(|i| f64::from(u8::from(i == axis)));
        let coupling = kernel.coupling(0, unit, *row);
        (0..N * N).for_each(|k| block[k / N][k % N] += coupling[k / N][k % N]);
    }
    frobenius(&block)
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
        let e = e as usize;
        let places = mesh.element(e).iter().map(|node| points.binary_search(node).ok());
        let inside: Vec<(usize, usize)> =
            places.enumerate().filter_map(|(a, place)| Some((a, place?))).collect();

        let x = mesh.tetrahedron_coordinates(e);
        let kernel = problem.kernel().of_element(&problem.elements(), e);
        for point in POINTS {
            let (g, det) = gradients(&x, point);
            for (&(a, r), &(b, c)) in inside.iter().flat_map(|a| inside.iter().map(move |b| (a, b)))
            {
                for (term, coefficients) in coefficients.iter().enumerate() {
                    let coupling = kernel.coupling(term, g[a], g[b]);
                    let factor = WEIGHT * det * coefficients[e];
                    for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                        block[(N * r + i, N * c + j)] += factor * coupling[i][j];
                    }
                }
            }
        }
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

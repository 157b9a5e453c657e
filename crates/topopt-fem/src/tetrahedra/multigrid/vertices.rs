//! The first coarse level: the vertices of tetrahedra, between which displacements are linear.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::DMatrix;
use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, BlockCsr, BlockPattern, Communicator, Cpu, Exchange, Halo, Transfer,
};
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{determinant, inverse};
use topopt_mesh::tetrahedron::{POINTS, shape_gradients};
use topopt_mesh::vector::difference;
use topopt_mesh::{HexMesh, NodeToElements};

use super::grouping::frobenius;
use crate::multigrid::{gathered, share_rows};
use crate::tetrahedra::integrals::{MASS_SHARES, WEIGHT, gradients};
use crate::{DIM, Discretization, ElementKernel, Elements, FilmRows, Shared, Sharing};

/// The vertices of a mesh, and where its nodes lie between them. On a part they are numbered
/// through all ranks, of which each has the vertices among its own nodes.
pub struct Vertices {
    /// Number of vertices of each rank.
    pub counts: Vec<usize>,
    /// Numbers of the own ones.
    pub own: Range<usize>,
    /// Nodes that are vertices, in their order; 0 for vertices that are not on the part.
    pub nodes: Vec<u32>,
    /// The two vertices, by number, that every node is in the middle of; a vertex is in the middle
    /// of itself.
    pub ends: Vec<[u32; 2]>,
    /// Nodes that every vertex moves; itself twice. None for those of other ranks.
    pub moved: Vec<Vec<u32>>,
}

impl Vertices {
    /// Numbers the vertices of `mesh`, whose nodes ranks exchange by `halo`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub(super) fn of(
        mesh: &HexMesh,
        halo: &Halo,
        communicator: &dyn Communicator,
    ) -> Result<Self, BackendError> {
        let mut is_vertex = vec![false; mesh.n_nodes()];
        for nodes in mesh.elements() {
            nodes[..4].iter().for_each(|&node| is_vertex[node as usize] = true);
        }
        let is_own = is_vertex[halo.own.clone()].iter();
        let n_own = is_own.clone().filter(|is_vertex| **is_vertex).count();
        let counts = communicator.gather_all(&[n_own as f64]).concat();
        let counts: Vec<usize> = counts.into_iter().map(|count| count as usize).collect();
        let first: usize = counts[..communicator.rank()].iter().sum();

        // Numbers of own nodes, and of ghosts from their ranks; middles of edges have that of the
        // vertex before them.
        let mut next = first;
        let known = is_own.map(|&is_vertex| {
            next += usize::from(is_vertex);
            next.saturating_sub(1) as f64
        });
        let (known, mut number) = (known.collect(), vec![0.0; mesh.n_nodes()]);
        let lists = communicator.lists(&Cpu, halo, 1)?;
        communicator.expand(&Cpu, &lists, &known, &mut number);
        communicator.check()?;

        let mut nodes = vec![0; counts.iter().sum()];
        let mut ends = vec![[0; 2]; mesh.n_nodes()];
        for element in mesh.elements() {
            let numbers: Vec<u32> =
                element[..4].iter().map(|&node| number[node as usize] as u32).collect();
            for (&node, &vertex) in element.iter().zip(&numbers) {
                nodes[vertex as usize] = node;
                ends[node as usize] = [vertex; 2];
            }
            for (&middle, &[a, b]) in element[4..].iter().zip(Shape::Tetrahedron.edges()) {
                ends[middle as usize] = [a, b].map(|a| numbers[a]);
            }
        }

        let own = first..first + n_own;
        let mut moved = vec![Vec::new(); nodes.len()];
        for (node, ends) in (0..).zip(&ends) {
            let own = ends.iter().filter(|vertex| own.contains(&(**vertex as usize)));
            own.for_each(|&vertex| moved[vertex as usize].push(node));
        }
        Ok(Self { counts, own, nodes, ends, moved })
    }

    /// How ranks share the vertices: each has all, and makes its own.
    pub fn shared_by<'a, B: Backend>(
        &self,
        sharing: Arc<dyn Sharing<'a, B> + 'a>,
    ) -> Shared<'a, B> {
        Shared::Whole { sharing, counts: self.counts.clone() }
    }

    /// Nodes of the own vertices, in their order.
    pub(super) fn own_nodes(&self) -> &[u32] {
        &self.nodes[self.own.clone()]
    }

    /// The pattern of the matrix of the level, which all ranks have.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub(super) fn pattern(
        &self,
        mesh: &HexMesh,
        adjacency: &NodeToElements,
        communicator: &dyn Communicator,
    ) -> Result<BlockPattern, BackendError> {
        let vertex = |node: u32| self.ends[node as usize][0];
        let rows = self.own_nodes().par_iter().map(|&node| {
            let elements = adjacency.elements_of(node as usize).iter();
            let corners = elements.flat_map(|&e| mesh.corners(e as usize));
            corners.map(|&node| vertex(node)).collect()
        });
        let own = BlockPattern::new(rows.collect());
        gathered(&own, 0..self.own.len(), communicator)
    }

    /// Recomputes the matrix of the level for `coefficients`, `[n_elements]` for each term: that of
    /// linear tetrahedra, with the identity in rows and columns of held components. Each rank makes
    /// its own rows.
    pub(super) fn assemble<K: ElementKernel<N>, const N: usize>(
        &self,
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
        coefficients: &[&Vec<f64>],
        matrix: &mut BlockCsr<N>,
        communicator: &dyn Communicator,
    ) {
        let springs = problem.constraints().springs();
        let springs = springs.map(|springs| self.shared(springs.as_chunks().0));
        matrix.fill_rows(|row, columns, blocks| {
            if self.own.contains(&row) {
                self.fill_row(problem, adjacency, coefficients, row, (columns, &mut *blocks));
                let own = columns.binary_search(&(row as u32)).unwrap_or_default();
                let spring = springs.as_ref().map_or([0.0; N], |springs| springs[row]);
                (0..N).for_each(|i| blocks[own][i][i] += spring[i]);
            }
        });

        if self.counts.len() > 1 {
            share_rows(communicator, &self.counts, matrix);
        }
    }

    /// Adds the blocks of a row of [`Vertices::assemble`], without springs.
    fn fill_row<K: ElementKernel<N>, const N: usize>(
        &self,
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
        coefficients: &[&Vec<f64>],
        row: usize,
        (columns, blocks): (&[u32], &mut [[[f64; N]; N]]),
    ) {
        let (mesh, held, node) = (problem.mesh(), problem.constraints(), self.nodes[row]);
        let elements = problem.elements();
        for (e, own) in adjacency.of(node as usize) {
            let e = e as usize;
            let (g, volume) = corner_gradients(&elements, e);
            let kernel = problem.kernel().of_element(&elements, e);
            for (a, &other) in mesh.corners(e).iter().enumerate() {
                let column = self.ends[other as usize][0];
                let block = &mut blocks[columns.binary_search(&column).unwrap_or_default()];
                for (term, coefficients) in coefficients.iter().enumerate() {
                    let coupling = kernel.coupling(term, g[own as usize], g[a]);
                    for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
                        block[i][j] += coefficients[e] * volume * coupling[i][j];
                    }
                }
                if let Some(term) = K::MASS.filter(|_| other == node) {
                    // A quarter to each vertex, as from middles half of their shares.
                    let share = 0.25 * volume * coefficients[term][e];
                    (0..N).for_each(|i| block[i][i] += share);
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
fn corner_gradients(elements: &Elements, element: usize) -> ([[f64; DIM]; 4], f64) {
    let [origin, b, c, d, ..] = elements.tetrahedron(element);
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
    /// How ranks share the vertices, if there are several.
    pub shared: Option<Shared<'a, Cpu>>,
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
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
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

/// Returns the rows of K for the first `n` nodes, at unit coefficients and with edges made
/// straight, by the columns among these nodes and the Frobenius norms of their blocks.
pub(super) fn row_norms<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    n: usize,
) -> Vec<Vec<(u32, f64)>> {
    let (mesh, elements) = (problem.mesh(), problem.elements());
    let row = |node: usize| {
        let around = adjacency.elements_of(node).iter().flat_map(|&e| mesh.element(e as usize));
        let mut columns: Vec<u32> = around.copied().filter(|&node| (node as usize) < n).collect();
        columns.sort_unstable();
        columns.dedup();

        // Blocks are linear in these: sums of det J g_a g_b^T.
        let mut sums = vec![[[0.0; DIM]; DIM]; columns.len()];
        for (e, a) in adjacency.of(node) {
            let (corners, volume) = corner_gradients(&elements, e as usize);
            let places = mesh.element(e as usize).iter().map(|node| columns.binary_search(node));
            let places: Vec<_> = places.collect();
            for derivatives in POINTS.map(shape_gradients) {
                // Where edges are straight the Jacobian is that of the corners.
                let g = derivatives.map(|d| -> [f64; DIM] {
                    std::array::from_fn(|i| (0..DIM).map(|k| d[k] * corners[k + 1][i]).sum())
                });
                let own = g[a as usize].map(|g| volume * g);
                for (place, g_b) in places.iter().zip(&g) {
                    let Ok(place) = *place else { continue };
                    let sum = &mut sums[place];
                    (0..DIM * DIM)
                        .for_each(|k| sum[k / DIM][k % DIM] += own[k / DIM] * g_b[k % DIM]);
                }
            }
        }
        let norm = |sum: &[[f64; DIM]; DIM]| block_norm(problem.kernel(), sum);
        columns.into_iter().zip(sums.iter().map(norm)).collect()
    };
    (0..n).into_par_iter().map(row).collect()
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

/// The block of `sum_t c_et K_et` between `points`, increasing, with springs and films, and with the
/// identity in rows and columns of held components.
pub(super) fn group_block<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    coefficients: &[&Vec<f64>],
    points: &[u32],
) -> DMatrix<f64> {
    let (mesh, held, elements) = (problem.mesh(), problem.constraints(), problem.elements());
    let mut block = DMatrix::zeros(N * points.len(), N * points.len());
    for e in adjacency.elements_around(points) {
        let e = e as usize;
        let places = mesh.element(e).iter().map(|node| points.binary_search(node).ok());
        let inside: Vec<(usize, usize)> =
            places.enumerate().filter_map(|(a, place)| Some((a, place?))).collect();

        let x = elements.tetrahedron(e);
        let kernel = problem.kernel().of_element(&elements, e);
        for point in POINTS {
            let (g, det) = gradients(&x, point);
            if let Some(term) = K::MASS {
                for &(a, r) in &inside {
                    let mass = MASS_SHARES[a] * WEIGHT * det * coefficients[term][e];
                    (N * r..N * r + N).for_each(|at| block[(at, at)] += mass);
                }
            }
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

    if let Some(rows) = problem.film_rows() {
        add_films(&rows, points, &mut block);
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

/// Adds the films between `points`, increasing, of one unknown each.
fn add_films(rows: &FilmRows, points: &[u32], block: &mut DMatrix<f64>) {
    for (r, &node) in points.iter().enumerate() {
        let Some(row) = rows.row(node) else { continue };
        block[(r, r)] += row.diagonal;
        for (other, weight) in row.others {
            if let Ok(c) = points.binary_search(other) {
                block[(r, c)] += weight;
            }
        }
    }
}

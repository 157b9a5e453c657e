//! The levels of multigrid for tetrahedra, apart from what a backend makes of them.

use std::sync::Arc;

use rayon::prelude::*;
use topopt_linalg::{Alone, Backend, BackendError, BlockCsr, BlockPattern, Communicator, Halo};
use topopt_mesh::NodeToElements;
use topopt_mesh::vector::difference;

use super::grouping::Graph;
use super::groups::GroupInverse;
use super::orthonormal::Orthonormal;
use super::smoothed::{SmoothedTransfer, largest_eigenvalue};
use super::vertices::{Vertices, group_block, row_norms};
use crate::distributed::node_halo;
use crate::multigrid::{DIRECT, NodalModes};
use crate::{DIM, Discretization, Elasticity, ElementKernel, Level, MODES, Modes, Sharing};

/// Points of a group that smooths the finest level, and the others.
pub const GROUP: [usize; 2] = [8, 4];
/// Points of an aggregate, at least and at most: a fifth of those that one is coupled with. Fewer
/// than that in solid blocks, whose rows grow from level to level, double the work there and save
/// no iteration; more than 6 in thin parts, whose rows stay short, double the iterations.
const AGGREGATE: [usize; 2] = [6, 20];
const OF_ROW: usize = 5;
/// Most levels of aggregates: each has a third of the points of the one before, or building ends.
const MOST_LEVELS: usize = 20;

/// Structure and numbers of the levels below the finest: vertices; aggregates, each of the points
/// before it.
pub struct VertexLevels<
    'a,
    K: ElementKernel<N> = Elasticity,
    const N: usize = DIM,
    const M: usize = MODES,
> where
    [f64; M]: NodalModes<N>,
{
    problem: &'a Discretization<K, N>,
    /// Nodes of all ranks.
    n_nodes: usize,
    adjacency: NodeToElements,
    /// The vertices between which nodes lie.
    pub vertices: Arc<Vertices>,
    /// Level of the vertices.
    pub first: Smoothed<N>,
    /// Transfer from there to the first level of aggregates.
    pub to_aggregates: SmoothedTransfer<N, M>,
    /// Levels of aggregates, one at least.
    pub aggregates: Vec<Smoothed<M>>,
    /// Transfers between these, one less.
    pub transfers: Vec<SmoothedTransfer<M, M>>,
}

/// A level with its smoother.
pub struct Smoothed<const B: usize> {
    /// The matrix.
    pub matrix: BlockCsr<B>,
    /// Inverses of its blocks of groups.
    pub inverse: GroupInverse<B>,
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> VertexLevels<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The structure for `problem`, whose mesh is of tetrahedra, and the groups of nodes that
    /// smooth the finest level; both need an update before use. On a part, which the `others` know,
    /// groups are of own nodes, and all ranks have all levels below the finest.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn new<B: Backend>(
        problem: &'a Discretization<K, N>,
        others: Option<&dyn Sharing<'_, B>>,
    ) -> Result<(Self, GroupInverse<N>), BackendError> {
        let mesh = problem.mesh();
        let (halo, communicator) = match others {
            None => (Halo::none(mesh.n_nodes()), &Alone as &dyn Communicator),
            Some(others) => (node_halo(others.part()), others.communicator()),
        };
        let n_own = halo.n_own();
        let adjacency = NodeToElements::new(mesh);
        let vertices = Arc::new(Vertices::of(mesh, &halo, communicator)?);
        let rows = row_norms(problem, &adjacency, n_own);
        let graph = Graph::of_rows(&rows, &mesh.coordinates()[..n_own]);
        let groups = GroupInverse::new(graph.groups(GROUP[0]));
        drop((rows, graph));

        let mut matrix = BlockCsr::zeros(vertices.pattern(mesh, &adjacency, communicator)?);
        let [unit, none] = [1.0, 0.0].map(|value| vec![value; mesh.n_elements()]);
        let of_term = |term| if K::MASS == Some(term) { &none } else { &unit };
        let unit: Vec<&Vec<f64>> = (0..K::TERMS).map(of_term).collect();
        vertices.assemble(problem, &adjacency, &unit, &mut matrix, communicator);
        let x = |&node: &u32| mesh.coordinates()[node as usize];
        let positions: Vec<[f64; DIM]> = vertices.own_nodes().iter().map(x).collect();
        let positions = of_all(communicator, &positions);

        let held = problem.constraints();
        let is_fixed = |&node: &u32| -> [f64; N] {
            std::array::from_fn(|i| f64::from(u8::from(held.is_fixed(node as usize, i))))
        };
        let is_fixed: Vec<[f64; N]> = vertices.own_nodes().iter().map(is_fixed).collect();
        let is_fixed = of_all(communicator, &is_fixed);
        let at_vertex = |vertex: usize, offset: [f64; DIM]| -> [[f64; M]; N] {
            let modes = transposed(|mode| unit_mode(mode).at_node(offset));
            std::array::from_fn(|i| if is_fixed[vertex][i] > 0.0 { [0.0; M] } else { modes[i] })
        };
        let Divided { inverse, aggregates } = Divided::of(&matrix, &positions);
        let (to_aggregates, top) = Top::of(&matrix, aggregates, &positions, at_vertex);
        let (aggregates, transfers) = top.coarsened();
        let first = Smoothed { matrix, inverse };

        let mut n_nodes = [n_own as f64];
        communicator.sum(&mut n_nodes);
        communicator.check()?;
        let n_nodes = n_nodes[0] as usize;
        let levels = Self {
            problem,
            n_nodes,
            adjacency,
            vertices,
            first,
            to_aggregates,
            aggregates,
            transfers,
        };
        Ok((levels, groups))
    }

    /// Elements of each group of the finest level, which have a node in it: increasing, one group
    /// after the other, and where each begins, `[n_groups + 1]`.
    pub fn elements_of_groups(&self, groups: &GroupInverse<N>) -> (Vec<u32>, Vec<u32>) {
        let each = (0..groups.n_groups()).into_par_iter();
        let lists = each.map(|group| self.adjacency.elements_around(groups.group(group)));
        flatten(&lists.collect::<Vec<_>>())
    }

    /// Elements of each vertex in the same way, `[n_vertices + 1]`; none of vertices of other
    /// ranks.
    pub fn elements_of_vertices(&self) -> (Vec<u32>, Vec<u32>) {
        let Vertices { own, nodes, .. } = &*self.vertices;
        let of = |(vertex, &node): (usize, &u32)| match own.contains(&vertex) {
            true => self.adjacency.elements_of(node as usize).to_vec(),
            false => Vec::new(),
        };
        flatten(&nodes.iter().enumerate().map(of).collect::<Vec<_>>())
    }

    /// Recomputes the inverses of `groups` for `coefficients`, `[n_elements]` for each term.
    pub fn update_groups(&self, groups: &mut GroupInverse<N>, coefficients: &[&Vec<f64>]) {
        groups.set(|points| group_block(self.problem, &self.adjacency, coefficients, points));
    }

    /// Recomputes all numbers of the levels, each rank those of its own vertices first.
    pub fn update(&mut self, coefficients: &[&Vec<f64>], communicator: &dyn Communicator) {
        let Self { problem, adjacency, vertices, first, to_aggregates, aggregates, .. } = self;
        let Smoothed { matrix, inverse } = first;
        vertices.assemble(problem, adjacency, coefficients, matrix, communicator);
        inverse.set_of_matrix(matrix);
        to_aggregates.update(matrix, largest_eigenvalue(matrix), &mut aggregates[0].matrix);
        for (level, transfer) in self.transfers.iter_mut().enumerate() {
            let (done, rest) = aggregates.split_at_mut(level + 1);
            let Smoothed { matrix, inverse } = &mut done[level];
            inverse.set_of_matrix(matrix);
            transfer.update(matrix, largest_eigenvalue(matrix), &mut rest[0].matrix);
        }
    }

    /// Matrix of the last level.
    pub fn last(&self) -> &BlockCsr<M> {
        &self.aggregates[self.transfers.len()].matrix
    }

    /// Sizes of the levels.
    pub fn sizes(&self) -> Vec<Level> {
        let of = |unknowns: usize, pattern: &BlockPattern| Level {
            unknowns: unknowns * pattern.n_rows(),
            entries: unknowns * unknowns * pattern.n_blocks(),
        };
        let n_nodes = self.n_nodes;
        // Rows of 28 blocks on average.
        let nodes = Level { unknowns: N * n_nodes, entries: 28 * N * N * n_nodes };
        let first = of(N, self.first.matrix.pattern());
        let others = self.aggregates.iter().map(|level| of(M, level.matrix.pattern()));
        [nodes, first].into_iter().chain(others).collect()
    }
}

/// Values of the points of all ranks, from those of this one.
fn of_all<const D: usize>(communicator: &dyn Communicator, own: &[[f64; D]]) -> Vec<[f64; D]> {
    communicator.gather_all(own.as_flattened()).concat().as_chunks().0.to_vec()
}

/// Lists one after the other, and where each begins.
fn flatten(lists: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let ends = lists.iter().scan(0, |end, list| {
        *end += list.len() as u32;
        Some(*end)
    });
    (lists.concat(), std::iter::once(0).chain(ends).collect())
}

/// Aggregates of the points of a level, and the means of their positions.
struct Aggregates {
    members: Vec<Vec<u32>>,
    centers: Vec<[f64; DIM]>,
}

/// Points of a level in groups that smooth it, without numbers, and in aggregates that coarsen it.
struct Divided<const B: usize> {
    inverse: GroupInverse<B>,
    aggregates: Aggregates,
}

impl<const B: usize> Divided<B> {
    /// Divides the points of `matrix`, which are at `positions`.
    fn of(matrix: &BlockCsr<B>, positions: &[[f64; DIM]]) -> Self {
        let graph = Graph::of_matrix(matrix, positions);
        let inverse = GroupInverse::new(graph.groups(GROUP[1]));

        let (rows, blocks) = (matrix.pattern().n_rows(), matrix.pattern().n_blocks());
        let size = (blocks / (OF_ROW * rows.max(1))).clamp(AGGREGATE[0], AGGREGATE[1]);
        let members = graph.groups(size);
        let center = |group: &Vec<u32>| -> [f64; DIM] {
            let sum =
                |i: usize| group.iter().map(|&point| positions[point as usize][i]).sum::<f64>();
            std::array::from_fn(|i| sum(i) / group.len() as f64)
        };
        let centers = members.iter().map(center).collect();
        Self { inverse, aggregates: Aggregates { members, centers } }
    }
}

/// A level of aggregates that is not yet coarsened.
struct Top<const M: usize> {
    level: Smoothed<M>,
    /// Means of the positions of its points.
    centers: Vec<[f64; DIM]>,
    /// Aggregates of the next level.
    next: Aggregates,
    /// Amplitudes of modes for each rigid motion, by aggregate.
    factors: Vec<[[f64; M]; M]>,
}

impl<const M: usize> Top<M> {
    /// The level of `aggregates` of points at `positions` on a level with that `matrix`, and the
    /// transfer there. `motions` are those of a member, by its offset from the center.
    fn of<const B: usize>(
        matrix: &BlockCsr<B>,
        aggregates: Aggregates,
        positions: &[[f64; DIM]],
        motions: impl Fn(usize, [f64; DIM]) -> [[f64; M]; B] + Sync,
    ) -> (SmoothedTransfer<B, M>, Self) {
        let Aggregates { members, centers } = aggregates;
        let Orthonormal { tentative, factors } = Orthonormal::of(&members, |point, aggregate| {
            motions(point, difference(positions[point], centers[aggregate]))
        });
        let mut transfer = SmoothedTransfer::new(matrix, &members, tentative);
        let mut matrix_there = BlockCsr::zeros(transfer.coarse_pattern());
        transfer.update(matrix, largest_eigenvalue(matrix), &mut matrix_there);

        let Divided { inverse, aggregates: next } = Divided::of(&matrix_there, &centers);
        let level = Smoothed { matrix: matrix_there, inverse };
        (transfer, Self { level, centers, next, factors })
    }

    /// This level with all below it, and the transfers between them.
    fn coarsened(self) -> (Vec<Smoothed<M>>, Vec<SmoothedTransfer<M, M>>)
    where
        [f64; M]: Modes,
    {
        let Self { level, mut centers, mut next, mut factors } = self;
        let (mut levels, mut transfers) = (vec![level], Vec::new());
        while M * centers.len() > DIRECT && levels.len() < MOST_LEVELS {
            if 3 * next.centers.len() > 2 * centers.len() {
                break;
            }

            let of_child = |child: usize, offset: [f64; DIM]| -> [[f64; M]; M] {
                let motions: [[f64; M]; M] = transposed(|mode| unit_mode(mode).of_child(offset));
                let entry = |row: &[f64; M], m: usize| (0..M).map(|k| row[k] * motions[k][m]).sum();
                factors[child].map(|row| std::array::from_fn(|m| entry(&row, m)))
            };
            let fine = &levels[levels.len() - 1].matrix;
            let (transfer, top) = Self::of(fine, next, &centers, of_child);

            levels.push(top.level);
            transfers.push(transfer);
            (centers, next, factors) = (top.centers, top.next, top.factors);
        }
        (levels, transfers)
    }
}

/// The amplitudes of one mode.
fn unit_mode<const M: usize>(mode: usize) -> [f64; M] {
    std::array::from_fn(|m| f64::from(u8::from(m == mode)))
}

/// Columns `of_mode` as rows.
fn transposed<const B: usize, const M: usize>(
    of_mode: impl Fn(usize) -> [f64; B],
) -> [[f64; M]; B] {
    let columns: [[f64; B]; M] = std::array::from_fn(of_mode);
    std::array::from_fn(|i| std::array::from_fn(|m| columns[m][i]))
}

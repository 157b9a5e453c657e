//! Multigrid for tetrahedra of ten nodes, on the CPU.
//!
//! The first coarse level are the vertices: aggregates of nodes of all kinds are too coarse for
//! thin parts. Below it aggregates of about six vertices move by M modes each, with a smoothed
//! prolongation. Blocks of groups of eight nodes smooth the finest level, of four the others.
//! Groups and aggregates follow from the mesh at equal coefficients, once.

mod grouping;
mod groups;
mod smoothed;
mod vertices;

use topopt_linalg::{
    BackendError, BlockCsr, Cpu, Cycle, CycleKind, DenseCholesky, Hierarchy, InverseDiagonal,
    LinearOperator, Preconditioner, Transfer,
};
use topopt_mesh::NodeToElements;
use topopt_mesh::vector::difference;

use crate::multigrid::{DIRECT, NodalModes};
use crate::{
    DIM, Discretization, Elasticity, ElementKernel, ElementOperator, ElementPreconditioner, Level,
    MODES, Modes, Strategy, WithSprings,
};
use grouping::Graph;
use groups::GroupInverse;
use smoothed::{SmoothedTransfer, largest_eigenvalue};
use vertices::{VertexTransfer, Vertices, group_block, row_norms};

/// Points of a group that smooths the finest level, and the others.
const GROUP: [usize; 2] = [8, 4];
/// Points of an aggregate.
const AGGREGATE: usize = 6;
/// Most levels of aggregates: each has a third of the points of the one before, or building ends.
const MOST_LEVELS: usize = 20;

/// `multigrid` on tetrahedra, whose nodes have N unknowns and aggregates M modes.
pub struct TetrahedraMultigrid<
    'a,
    K: ElementKernel<N> = Elasticity,
    const N: usize = DIM,
    const M: usize = MODES,
> where
    [f64; M]: NodalModes<N>,
{
    cycle: Cycle<Cpu, VertexHierarchy<'a, K, N, M>>,
}

/// The levels: nodes, matrix-free; vertices; aggregates.
pub struct VertexHierarchy<'a, K: ElementKernel<N>, const N: usize, const M: usize>
where
    [f64; M]: NodalModes<N>,
{
    problem: &'a Discretization<K, N>,
    adjacency: NodeToElements,
    operator: WithSprings<'a, Cpu, dyn LinearOperator<Cpu> + 'a>,
    inverse: GroupInverse<N>,
    transfer: VertexTransfer<'a, K, N>,
    vertices: Smoothed<N>,
    first: SmoothedTransfer<N, M>,
    aggregates: Vec<Smoothed<M>>,
    transfers: Vec<SmoothedTransfer<M, M>>,
    last: DenseCholesky,
}

/// A level with its smoother.
struct Smoothed<const B: usize> {
    matrix: BlockCsr<B>,
    inverse: GroupInverse<B>,
}

impl<const B: usize> Smoothed<B> {
    fn new(matrix: BlockCsr<B>) -> Self {
        let inverse = GroupInverse::new(Graph::of_matrix(&matrix).groups(GROUP[1]));
        Self { matrix, inverse }
    }
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> TetrahedraMultigrid<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The structure for `problem`, with cycles of that kind; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(problem: &'a Discretization<K, N>, kind: CycleKind) -> Result<Self, BackendError> {
        Ok(Self { cycle: Cycle::new(&Cpu, kind, VertexHierarchy::new(problem)?)? })
    }

    /// Bytes that a hierarchy takes at most.
    pub fn bytes(problem: &Discretization<K, N>) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        // A node: work vectors, its rows of the inverse of a group (single precision), its place,
        // and its neighbors with strengths while groups grow. An element: its nodes by node, and a
        // fifth of a vertex, whose row has 15 blocks, and 15 of P and 30 of A P.
        let node = 8 * 6 * N + 4 * N * N * GROUP[0] + 40 + 28 * 16;
        let vertex = 8 * (15 * N * N + 45 * N * M) + 12 * 60;
        node * n_nodes + (10 * 5 + vertex / 5) * n_elements
    }
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> VertexHierarchy<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn new(problem: &'a Discretization<K, N>) -> Result<Self, BackendError> {
        let mesh = problem.mesh();
        let (adjacency, vertices) = (NodeToElements::new(mesh), Vertices::of(mesh));
        let inverse =
            GroupInverse::new(Graph::of_rows(row_norms(problem, &adjacency)).groups(GROUP[0]));

        let mut matrix = BlockCsr::zeros(vertices.pattern(mesh, &adjacency));
        let unit = vec![1.0; mesh.n_elements()];
        let unit: Vec<&Vec<f64>> = (0..K::TERMS).map(|_| &unit).collect();
        vertices.assemble(problem, &adjacency, &unit, &mut matrix);
        let x = |&node: &u32| mesh.coordinates()[node as usize];
        let positions: Vec<[f64; DIM]> = vertices.nodes.iter().map(x).collect();

        let (groups, mut centers) = aggregates(&matrix, &positions);
        let held = problem.constraints();
        let at_vertex = |vertex: usize, offset: [f64; DIM]| -> [[f64; M]; N] {
            let node = vertices.nodes[vertex] as usize;
            let modes = transposed(|mode| unit_mode(mode).at_node(offset));
            std::array::from_fn(|i| if held.is_fixed(node, i) { [0.0; M] } else { modes[i] })
        };
        let tentative = tentative(&groups, &positions, &centers, at_vertex);
        let mut first = SmoothedTransfer::new(&matrix, &groups, tentative);
        let mut coarse = BlockCsr::zeros(first.coarse_pattern());
        first.update(&matrix, largest_eigenvalue(&matrix), &mut coarse);

        let (mut levels, mut transfers) = (vec![Smoothed::new(coarse)], Vec::new());
        while levels.len() < MOST_LEVELS {
            let fine = &levels[levels.len() - 1].matrix;
            let (groups, next) = aggregates(fine, &centers);
            if M * centers.len() <= DIRECT || 3 * next.len() > 2 * centers.len() {
                break;
            }
            let of_child = |_: usize, offset: [f64; DIM]| -> [[f64; M]; M] {
                transposed(|mode| unit_mode(mode).of_child(offset))
            };
            let tentative = self::tentative(&groups, &centers, &next, of_child);
            let mut transfer = SmoothedTransfer::new(fine, &groups, tentative);
            let mut coarse = BlockCsr::zeros(transfer.coarse_pattern());
            transfer.update(fine, largest_eigenvalue(fine), &mut coarse);
            levels.push(Smoothed::new(coarse));
            transfers.push(transfer);
            centers = next;
        }

        let operator: Box<dyn LinearOperator<Cpu> + 'a> = Strategy::Mf.build(problem);
        Ok(Self {
            problem,
            adjacency,
            operator: WithSprings::new(&Cpu, problem, operator)?,
            inverse,
            transfer: VertexTransfer { problem, vertices },
            vertices: Smoothed::new(matrix),
            first,
            aggregates: levels,
            transfers,
            last: DenseCholesky::new(&nalgebra::DMatrix::zeros(0, 0)),
        })
    }

    /// Recomputes all numbers for `coefficients`, `[n_elements]` for each term.
    fn update(&mut self, coefficients: &[&Vec<f64>]) {
        let Self { problem, adjacency, inverse, transfer, vertices, first, aggregates, .. } = self;
        let mut operator = Strategy::Mf.build(problem);
        operator.set_coefficients(coefficients);
        self.operator.replace(operator);
        inverse.set(|points| group_block(problem, adjacency, coefficients, points));

        let Smoothed { matrix, inverse } = vertices;
        transfer.vertices.assemble(problem, adjacency, coefficients, matrix);
        inverse.set_of_matrix(matrix);
        first.update(matrix, largest_eigenvalue(matrix), &mut aggregates[0].matrix);
        for (level, transfer) in self.transfers.iter_mut().enumerate() {
            let (done, rest) = aggregates.split_at_mut(level + 1);
            let Smoothed { matrix, inverse } = &mut done[level];
            inverse.set_of_matrix(matrix);
            transfer.update(matrix, largest_eigenvalue(matrix), &mut rest[0].matrix);
        }
        let last = &aggregates[self.transfers.len()].matrix;
        self.last = DenseCholesky::new(&last.to_dense());
    }

    fn levels(&self) -> Vec<Level> {
        let of = |level: usize| Level {
            unknowns: self.operator(level).dimension(),
            entries: match level {
                // Rows of 28 blocks on average.
                0 => 28 * N * N * self.problem.mesh().n_nodes(),
                1 => N * N * self.vertices.matrix.pattern().n_blocks(),
                _ => M * M * self.aggregates[level - 2].matrix.pattern().n_blocks(),
            },
        };
        (0..self.n_levels()).map(of).collect()
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

/// Aggregates of the points of `matrix`, and the means of their `positions`.
fn aggregates<const B: usize>(
    matrix: &BlockCsr<B>,
    positions: &[[f64; DIM]],
) -> (Vec<Vec<u32>>, Vec<[f64; DIM]>) {
    let groups = Graph::of_matrix(matrix).groups(AGGREGATE);
    let center = |group: &Vec<u32>| -> [f64; DIM] {
        let sum = |i: usize| group.iter().map(|&point| positions[point as usize][i]).sum::<f64>();
        std::array::from_fn(|i| sum(i) / group.len() as f64)
    };
    let centers = groups.iter().map(center).collect();
    (groups, centers)
}

/// The modes of aggregates at their points, by the point and its offset from the center.
fn tentative<const B: usize, const M: usize>(
    groups: &[Vec<u32>],
    positions: &[[f64; DIM]],
    centers: &[[f64; DIM]],
    modes: impl Fn(usize, [f64; DIM]) -> [[f64; M]; B],
) -> Vec<[[f64; M]; B]> {
    let mut tentative = vec![[[0.0; M]; B]; positions.len()];
    for (group, &center) in groups.iter().zip(centers) {
        for &point in group {
            let point = point as usize;
            tentative[point] = modes(point, difference(positions[point], center));
        }
    }
    tentative
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Hierarchy<Cpu>
    for VertexHierarchy<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn n_levels(&self) -> usize {
        2 + self.aggregates.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        match level {
            0 => &self.operator,
            1 => &self.vertices.matrix,
            _ => &self.aggregates[level - 2].matrix,
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        match level {
            0 => &self.inverse,
            1 => &self.vertices.inverse,
            _ => &self.aggregates[level - 2].inverse,
        }
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        match level {
            0 => &self.transfer,
            1 => &self.first,
            _ => &self.transfers[level - 2],
        }
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.last.solve(b, x);
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Preconditioner<Cpu>
    for TetrahedraMultigrid<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.cycle.apply(backend, r, z);
    }

    fn strengthen(&self) -> bool {
        self.cycle.strengthen()
    }

    fn give_way(&self) -> bool {
        self.cycle.give_way()
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> ElementPreconditioner<Cpu>
    for TetrahedraMultigrid<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.cycle.hierarchy().levels()
    }

    fn update(
        &mut self,
        backend: &Cpu,
        _: &dyn ElementOperator<Cpu>,
        coefficients: &[&Vec<f64>],
    ) -> Result<(), BackendError> {
        self.cycle.reset_strength();
        self.cycle.update(backend, |hierarchy| hierarchy.update(coefficients));
        Ok(())
    }
}

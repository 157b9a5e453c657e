//! Multigrid for tetrahedra of ten nodes: the levels for any backend, and cycles on the CPU.
//!
//! The first coarse level are the vertices: aggregates of nodes of all kinds are too coarse for
//! thin parts. Below it aggregates of about six vertices move by M modes each, with a smoothed
//! prolongation. Blocks of groups of eight nodes smooth the finest level, of four the others.
//! Groups and aggregates follow from the mesh at equal coefficients, once.

mod grouping;
mod groups;
mod levels;
mod orthonormal;
mod smoothed;
mod vertices;

use std::sync::Arc;

use topopt_linalg::{
    Alone, Backend, BackendError, Cpu, Cycle, CycleKind, DenseCholesky, Hierarchy, InverseDiagonal,
    LinearOperator, Preconditioner, Transfer,
};

use crate::multigrid::NodalModes;
use crate::{
    DIM, Discretization, Elasticity, ElementKernel, ElementOperator, ElementPreconditioner, Level,
    MODES, Refreshed, Sharing, Strategy, WithSprings,
};
pub use groups::GroupInverse;
pub use levels::{GROUP, Smoothed, VertexLevels};
pub use smoothed::{Rectangle, SmoothedTransfer};
use vertices::VertexTransfer;
pub use vertices::Vertices;

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
    operator: WithSprings<'a, Cpu, dyn LinearOperator<Cpu> + 'a>,
    groups: Refreshed<'a, Cpu, GroupInverse<N>>,
    levels: VertexLevels<'a, K, N, M>,
    transfer: VertexTransfer<'a, K, N>,
    last: DenseCholesky,
}

type Others<'a> = Arc<dyn Sharing<'a, Cpu> + 'a>;

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> TetrahedraMultigrid<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The structure for `problem`, with cycles of that kind; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(problem: &'a Discretization<K, N>, kind: CycleKind) -> Result<Self, BackendError> {
        Ok(Self { cycle: Cycle::new(&Cpu, kind, VertexHierarchy::new(problem, None)?)? })
    }

    /// Builds the structure for `problem` on a part, with the `others`: vectors of the finest level
    /// hold the values of ghosts, see [`Sharing`].
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_part(
        problem: &'a Discretization<K, N>,
        kind: CycleKind,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<Self, BackendError> {
        let hierarchy = VertexHierarchy::new(problem, Some(others))?;
        Ok(Self { cycle: Cycle::new(&Cpu, kind, hierarchy)? })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &VertexHierarchy<'a, K, N, M> {
        self.cycle.hierarchy()
    }

    /// Bytes that a hierarchy takes at most.
    pub fn bytes(problem: &Discretization<K, N>) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        // A node: work vectors, its rows of the triangle of a group (single precision), its place,
        // and its neighbors with strengths while groups grow. An element: its nodes by node, and a
        // fifth of a vertex, whose row has 15 blocks, and 15 of P and 30 of A P.
        let node = 8 * 6 * N + 2 * N * (N * GROUP[0] + 1) + 40 + 28 * 16;
        let vertex = 8 * (15 * N * N + 45 * N * M) + 12 * 60;
        node * n_nodes + (10 * 5 + vertex / 5) * n_elements
    }
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> VertexHierarchy<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn new(
        problem: &'a Discretization<K, N>,
        others: Option<Others<'a>>,
    ) -> Result<Self, BackendError> {
        let operator: Box<dyn LinearOperator<Cpu> + 'a> = Strategy::Mf.of_kernel(problem);
        let (levels, groups) = VertexLevels::new(problem, others.as_deref())?;
        let vertices = levels.vertices.clone();
        let shared = others.clone().map(|sharing| vertices.shared_by(sharing));
        Ok(Self {
            problem,
            operator: WithSprings::new(&Cpu, problem, operator)?,
            groups: Refreshed { operator: groups, others },
            levels,
            transfer: VertexTransfer { problem, vertices, shared },
            last: DenseCholesky::new(&nalgebra::DMatrix::zeros(0, 0)),
        })
    }

    /// Recomputes all numbers for `coefficients`, `[n_elements]` for each term.
    fn update(&mut self, coefficients: &[&Vec<f64>]) {
        let Refreshed { operator: groups, others } = &mut self.groups;
        let mut operator = Strategy::Mf.of_kernel(self.problem);
        operator.set_coefficients(coefficients);
        self.operator.replace(match others.clone() {
            None => operator,
            others => Box::new(Refreshed { operator, others }),
        });

        self.levels.update_groups(groups, coefficients);
        self.levels.update(coefficients, others.as_ref().map_or(&Alone, |it| it.communicator()));
        self.last = DenseCholesky::new(&self.levels.last().to_dense());
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Hierarchy<Cpu>
    for VertexHierarchy<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn n_levels(&self) -> usize {
        2 + self.levels.aggregates.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        match level {
            0 => &self.operator,
            1 => &self.levels.first.matrix,
            _ => &self.levels.aggregates[level - 2].matrix,
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        match level {
            0 => &self.groups,
            1 => &self.levels.first.inverse,
            _ => &self.levels.aggregates[level - 2].inverse,
        }
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        match level {
            0 => &self.transfer,
            1 => &self.levels.to_aggregates,
            _ => &self.levels.transfers[level - 2],
        }
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.last.solve(b, x);
    }

    fn dot_into(&self, backend: &Cpu, level: usize, x: &Vec<f64>, y: &Vec<f64>, out: &mut f64) {
        match &self.groups.others {
            Some(others) if level == 0 => others.dot_into(x, y, out),
            _ => backend.dot_into(x, y, out),
        }
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
        self.cycle.hierarchy().levels.sizes()
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

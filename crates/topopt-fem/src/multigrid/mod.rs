//! Multigrid by plain aggregation, on the CPU.
//!
//! Nodes are grouped into aggregates by the mesh alone, once. An aggregate moves by M modes: six
//! rigid motions in elasticity, one constant in diffusion. These carry no energy, so only elements
//! that touch several aggregates or a held node make coarse stiffness. It is recomputed whenever
//! the coefficients change. Coarser levels aggregate the aggregates, again with M modes each.

mod aggregates;
mod among_ranks;
mod coarse;
mod distinct;
mod fine;
mod finest;
mod galerkin;
mod ground;
mod joints;
mod modes;
mod neighbors;
mod node_graph;
mod numbers;
mod scalar;
mod structure;

use std::sync::Arc;

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, BlockDiagonal, Cpu, Cycle, CycleKind, Hierarchy, InverseDiagonal,
    LinearOperator, PatchRelaxation, Preconditioner, SmootherKind, Transfer,
};

use crate::operators::{Mf, inverse_blocks_by_patches};
use crate::{
    DIM, Discretization, Elasticity, ElementKernel, ElementOperator, ElementPreconditioner, Level,
    Refreshed, Shared, Sharing, Strategy, WithSprings,
};
use coarse::BlockLevels;
use fine::FineTransfer;
use finest::{Assembled, Finest};
use galerkin::RowGroups;
use ground::springs;

pub use aggregates::Aggregates;
pub(crate) use among_ranks::{gathered, share_rows};
pub use joints::{Joints, Supported};
pub use modes::{MODES, Modes, NodalModes};
pub(crate) use scalar::ScalarAggregation;
pub use structure::{Aggregation, SharedLevel};

/// Iterations that take as long as a structure, on two cores: 0.4 s at 90 thousand elements.
const STRUCTURE_COST: usize = 8;
/// Most unknowns of the level that is solved directly, on the CPU.
pub const DIRECT: usize = 600;

/// `multigrid`: a cycle over aggregates of nodes with N unknowns, which move by M modes.
pub struct Multigrid<
    'a,
    K: ElementKernel<N> = Elasticity,
    const N: usize = DIM,
    const M: usize = MODES,
> where
    [f64; M]: NodalModes<N>,
{
    problem: &'a Discretization<K, N>,
    cycle: Cycle<Cpu, NodalAggregation<'a, K, N, M>>,
    levels: Vec<Level>,
}

type Others<'a> = Arc<dyn Sharing<'a, Cpu> + 'a>;

/// The hierarchy; level 0 is the assembled matrix of the operator that is solved, if it has one, else
/// matrix-free, the others are block matrices. Smoothed by patches, level 0 is a matrix of its own.
pub struct NodalAggregation<
    'a,
    K: ElementKernel<N> = Elasticity,
    const N: usize = DIM,
    const M: usize = MODES,
> where
    [f64; M]: NodalModes<N>,
{
    problem: &'a Discretization<K, N>,
    operator: WithSprings<'a, Cpu, dyn LinearOperator<Cpu> + 'a>,
    smoother: SmootherKind,
    finest: Finest<N>,
    transfer: FineTransfer<'a, K, N, M>,
    sharing: Option<Others<'a>>,
    /// Levels 1 and on that ranks share, see [`Shared::levels`].
    shared: Vec<Arc<Shared<'a, Cpu>>>,
    row_groups: RowGroups,
    /// See [`ElementKernel::bounds`]: by them the smoother's blocks are raised, so that no
    /// eigenvalue exceeds 1.
    bounds: Vec<f32>,
    /// Levels 1 and on.
    coarse: BlockLevels<'a, M>,
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> Multigrid<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The structure for `problem`, with cycles of that kind; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(problem: &'a Discretization<K, N>, kind: CycleKind) -> Result<Self, BackendError> {
        Self::down_to(DIRECT, problem, kind, SmootherKind::Chebyshev)
    }

    /// Builds the structure for `problem` with that smoother; needs an update before use.
    ///
    /// # Errors
    /// As [`Multigrid::new`].
    pub fn smoothed_by(
        smoother: SmootherKind,
        problem: &'a Discretization<K, N>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        Self::down_to(DIRECT, problem, kind, smoother)
    }

    /// Builds levels until one has at most `direct` unknowns; see [`Multigrid::smoothed_by`].
    ///
    /// # Errors
    /// As [`Multigrid::new`].
    pub fn down_to(
        direct: usize,
        problem: &'a Discretization<K, N>,
        kind: CycleKind,
        smoother: SmootherKind,
    ) -> Result<Self, BackendError> {
        let structure = Aggregation::new(problem, direct);
        let levels = structure.levels();
        let hierarchy = NodalAggregation::new(problem, structure, smoother)?;
        Ok(Self { problem, cycle: Cycle::new(&Cpu, kind, hierarchy)?, levels })
    }

    /// Builds the structure for `problem` on a part: with the other ranks, which all have the levels
    /// below the finest. Vectors of the finest level hold the values of ghosts, see [`Sharing`].
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_part(
        problem: &'a Discretization<K, N>,
        kind: CycleKind,
        sharing: Others<'a>,
    ) -> Result<Self, BackendError> {
        let structure = Aggregation::on_part(problem, sharing.as_ref(), problem.void(), DIRECT)?;
        let levels = structure.levels();
        let (smoother, sharing) = (SmootherKind::Chebyshev, Some(sharing));
        let hierarchy = NodalAggregation::of(problem, structure, smoother, sharing)?;
        Ok(Self { problem, cycle: Cycle::new(&Cpu, kind, hierarchy)?, levels })
    }

    /// Returns the preconditioner such that no slow solve strengthens it, see [`Cycle::steady`].
    #[must_use]
    pub fn steady(self) -> Self {
        Self { cycle: self.cycle.steady(), ..self }
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &NodalAggregation<'a, K, N, M> {
        self.cycle.hierarchy()
    }

    /// Bytes that a hierarchy takes at most.
    pub fn bytes(problem: &Discretization<K, N>, smoother: SmootherKind) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let blocks = 8 * BlockDiagonal::<N>::PACKED;
        let matrix = match smoother {
            SmootherKind::Chebyshev => 0,
            SmootherKind::Patch => Assembled::<N>::bytes(n_nodes, n_elements),
        };

        // A node: its work vectors (4 N), diagonal blocks and the 1.6 copies that they are summed
        // from, its place (40), and what the setup needs for a while (53); springs of the ground.
        // An element: its coefficients and raised ones, its entry in some 1.1 groups of rows, and
        // its share of an aggregate of some 30 nodes with up to 27 neighbors, fewer near the
        // surface, where nodes have fewer elements: 320 with six modes.
        let ground = if K::HAS_GROUND { 16 * N } else { 0 };
        let node = 32 * N + blocks + (16 * blocks).div_ceil(10) + 40 + 53 + ground;
        let share = 320 * M * M / (MODES * MODES);
        node * n_nodes + (21 + 8 * K::TERMS + share) * n_elements + matrix
    }
}

impl<'a, K: ElementKernel<N>, const N: usize, const M: usize> NodalAggregation<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The hierarchy of a structure that was made for `problem`, without matrices until it is updated.
    ///
    /// # Errors
    /// [`BackendError`] if the diagonal has no room.
    pub fn new(
        problem: &'a Discretization<K, N>,
        structure: Aggregation,
        smoother: SmootherKind,
    ) -> Result<Self, BackendError> {
        Self::of(problem, structure, smoother, None)
    }

    /// Builds the hierarchy of a structure, with the other ranks where `problem` is that of a part.
    fn of(
        problem: &'a Discretization<K, N>,
        structure: Aggregation,
        smoother: SmootherKind,
        sharing: Option<Others<'a>>,
    ) -> Result<Self, BackendError> {
        let operator: Box<dyn LinearOperator<Cpu> + 'a> = Box::new(Mf::new(problem));
        let shared = Shared::levels(sharing.as_ref(), &structure, BlockDiagonal::<M>::PACKED)?;
        let Aggregation { nodes, coarser, straddling, patterns, .. } = structure;
        Ok(Self {
            problem,
            operator: WithSprings::new(&Cpu, problem, operator)?,
            smoother,
            finest: Finest::new(problem, smoother, &nodes),
            row_groups: RowGroups::new(problem, &straddling),
            bounds: problem.kernel().bounds(&problem.elements()),
            coarse: BlockLevels::new(patterns, coarser, smoother, &shared),
            transfer: FineTransfer { problem, aggregates: nodes, shared: shared.first().cloned() },
            sharing,
            shared,
        })
    }

    /// Takes another structure of the same problem; needs an update before use.
    fn restructure(&mut self, structure: Aggregation) -> Result<(), BackendError> {
        let (problem, others) = (self.problem, self.sharing.as_ref());
        self.shared = Shared::levels(others, &structure, BlockDiagonal::<M>::PACKED)?;
        let Aggregation { nodes, coarser, straddling, patterns, .. } = structure;
        self.finest = Finest::new(problem, self.smoother, &nodes);
        self.row_groups = RowGroups::new(problem, &straddling);
        self.coarse = BlockLevels::new(patterns, coarser, self.smoother, &self.shared);
        let shared = self.shared.first().cloned();
        self.transfer = FineTransfer { problem, aggregates: nodes, shared };
        Ok(())
    }

    /// Recomputes all numbers for `coefficients`, `[n_elements]` for each term, which `solved` has.
    pub fn update(&mut self, solved: &dyn ElementOperator<Cpu>, coefficients: &[&Vec<f64>]) {
        match &mut self.finest {
            Finest::Matrix(matrix) => matrix.assemble(self.problem, coefficients),
            Finest::Operator(_) => self.follow(solved, coefficients),
        }
        let Self { problem, finest, transfer, sharing, row_groups, bounds, coarse, .. } = self;

        // The blocks that bound those of K, see `bounds`.
        let raise = |values: &Vec<f64>| -> Vec<f64> {
            values.par_iter().zip(&*bounds).map(|(c, &bound)| c * f64::from(bound)).collect()
        };
        let raised: Vec<Vec<f64>> = coefficients.iter().map(|values| raise(values)).collect();
        let raised: Vec<&Vec<f64>> = raised.iter().collect();
        let patches = problem.patches();
        let blocks = finest.inverse_diagonal_mut();
        inverse_blocks_by_patches(problem, &patches, &raised, blocks);
        if let Some(sharing) = sharing {
            sharing.refresh_blocks(blocks.packed_mut());
        }

        let springs = springs(problem, &patches, coefficients);
        coarse.update(|matrix| {
            galerkin::galerkin(transfer, row_groups, coefficients, &springs, matrix);
        });
    }

    /// Makes the finest level the matrix of the operator that is solved, if it has one, else matrix-free.
    fn follow(&mut self, solved: &dyn ElementOperator<Cpu>, coefficients: &[&Vec<f64>]) {
        let operator = solved.assembled().unwrap_or_else(|| {
            let mut matrix_free = Strategy::Mf.of_kernel(self.problem);
            matrix_free.set_coefficients(coefficients);
            matrix_free
        });
        self.operator.replace(match self.sharing.clone() {
            None => operator,
            others => Box::new(Refreshed { operator, others }),
        });
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Hierarchy<Cpu>
    for NodalAggregation<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn n_levels(&self) -> usize {
        1 + self.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        match (level, &self.finest) {
            (0, Finest::Matrix(matrix)) => &matrix.level.matrix,
            (0, Finest::Operator(_)) => &self.operator,
            _ => self.coarse.operator(level - 1),
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        match level {
            0 => self.finest.inverse_diagonal(),
            _ => self.coarse.inverse_diagonal(level - 1),
        }
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0)
    }

    fn patches(&self, level: usize) -> Option<&dyn PatchRelaxation<Cpu>> {
        match (level, &self.finest) {
            (0, Finest::Matrix(matrix)) => matrix.level.relaxation(),
            (0, Finest::Operator(_)) => None,
            _ => self.coarse.patches(level - 1),
        }
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        match level {
            0 => &self.transfer,
            _ => self.coarse.transfer(level - 1),
        }
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.coarse.solve_last(b, x);
    }

    fn dot_into(&self, backend: &Cpu, level: usize, x: &Vec<f64>, y: &Vec<f64>, out: &mut f64) {
        match Shared::divided_level(&self.shared, level) {
            Some(divided) => divided.dot_into(x, y, out),
            None => backend.dot_into(x, y, out),
        }
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Preconditioner<Cpu>
    for Multigrid<'_, K, N, M>
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
    for Multigrid<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn structure_cost(&self) -> Option<usize> {
        Some(STRUCTURE_COST)
    }

    fn restructure(&mut self, backend: &Cpu, void: &[u32]) -> Result<(), BackendError> {
        let structure = match &self.hierarchy().sharing {
            None => Aggregation::around(self.problem, void, DIRECT),
            Some(sharing) => Aggregation::on_part(self.problem, sharing.as_ref(), void, DIRECT)?,
        };
        self.levels = structure.levels();
        self.cycle.rebuild(backend, |hierarchy| hierarchy.restructure(structure))
    }

    fn update(
        &mut self,
        backend: &Cpu,
        operator: &dyn ElementOperator<Cpu>,
        coefficients: &[&Vec<f64>],
    ) -> Result<(), BackendError> {
        self.cycle.reset_strength();
        self.cycle.update(backend, |hierarchy| hierarchy.update(operator, coefficients));
        Ok(())
    }
}

//! Multigrid of several ranks: aggregates within parts, and everything below on every rank.
//!
//! The finest level is shared as vectors are. Each rank groups its own nodes and makes the rows of
//! its own aggregates of the first coarse matrix, for which it has all elements. These rows are
//! gathered: from there on every rank has the whole hierarchy and does the same, to the same bits. A
//! cycle takes one exchange per product on the finest level and one gather on the way down.

use std::sync::{Mutex, PoisonError};

use topopt_linalg::{
    BackendError, BlockCsr, Communicator, Cost, Cpu, CpuLists, Cycle, CycleKind, Exchange,
    Hierarchy, InverseDiagonal, LinearOperator, Preconditioner, RankVector, Ranks, SmootherKind,
    Space, Transfer,
};
use topopt_mesh::Part;

use super::modes::NodalModes;
use super::{Aggregation, DIRECT, NodalAggregation, STRUCTURE_COST};
use crate::distributed::{element_halo, node_halo};
use crate::{Discretization, ElementKernel, ElementOperator, ElementPreconditioner, Level};

/// `multigrid` of several ranks on processors.
pub struct RankMultigrid<'a, C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
where
    [f64; M]: NodalModes<N>,
{
    ranks: &'a Ranks<Cpu, C>,
    part: &'a Part,
    problem: &'a Discretization<K, N>,
    cycle: Cycle<Cpu, RankAggregation<'a, C, K, N, M>>,
    levels: Vec<Level>,
    elements: CpuLists,
    /// Coefficients of the elements of the part, by term.
    coefficients: Vec<Vec<f64>>,
}

/// The hierarchy as one rank sees it: on the finest level its own nodes.
struct RankAggregation<'a, C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
where
    [f64; M]: NodalModes<N>,
{
    communicator: &'a C,
    /// Of the part, with the aggregates of all ranks.
    local: NodalAggregation<'a, K, N, M>,
    /// How many aggregates each rank has.
    counts: Vec<usize>,
    n_own_nodes: usize,
    nodes: CpuLists,
    /// Values of the part, and what the operator makes of them.
    work: Mutex<[Vec<f64>; 2]>,
}

impl<'a, C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
    RankMultigrid<'a, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// The structure for `problem`, which is that of `part`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn new(
        ranks: &'a Ranks<Cpu, C>,
        part: &'a Part,
        problem: &'a Discretization<K, N>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let communicator = ranks.communicator();
        let void = problem.void();
        let (structure, counts) =
            Aggregation::among_ranks(problem, part, communicator, void, DIRECT)?;
        let levels = structure.levels();
        let n_dofs = problem.n_dofs();
        let hierarchy = RankAggregation {
            communicator,
            local: NodalAggregation::new(problem, structure, SmootherKind::Chebyshev)?,
            counts,
            n_own_nodes: part.n_own_nodes,
            nodes: communicator.lists(&Cpu, &node_halo(part), N)?,
            work: Mutex::new([vec![0.0; n_dofs], vec![0.0; n_dofs]]),
        };
        Ok(Self {
            ranks,
            part,
            problem,
            cycle: Cycle::new(&Cpu, kind, hierarchy)?,
            levels,
            elements: communicator.lists(&Cpu, &element_halo(part), 1)?,
            coefficients: vec![vec![0.0; part.elements.len()]; K::TERMS],
        })
    }

    /// The same, which no slow solve makes stronger, see [`Cycle::steady`].
    #[must_use]
    pub fn steady(self) -> Self {
        Self { cycle: self.cycle.steady(), ..self }
    }
}

impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
    RankAggregation<'_, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// Lets every rank have the blocks that each has made of its own rows.
    fn gather_rows(communicator: &C, counts: &[usize], matrix: &mut BlockCsr<M>) {
        let offsets = matrix.pattern().offsets();
        let mut first = 0;
        let mut sizes = Vec::with_capacity(counts.len());
        let mut own = 0..0;
        for (rank, count) in counts.iter().enumerate() {
            let blocks = offsets[first]..offsets[first + count];
            sizes.push(M * M * blocks.len());
            if rank == communicator.rank() {
                own = blocks;
            }
            first += count;
        }
        let blocks = matrix.blocks_mut();
        let own: Vec<f64> = blocks[own].as_flattened().as_flattened().to_vec();
        communicator.gather(&own, &sizes, blocks.as_flattened_mut().as_flattened_mut());
    }
}

/// The operator of the finest level, on own nodes.
impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize> LinearOperator<Cpu>
    for RankAggregation<'_, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn space(&self) -> Space {
        Space::nodes(self.n_own_nodes, N)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let [from, to] = &mut *work;
        self.communicator.expand(&Cpu, &self.nodes, x, from);
        self.local.operator(0).apply(from, to);
        self.communicator.contract(&Cpu, &self.nodes, to, y);
    }

    fn cost(&self) -> Cost {
        self.local.operator(0).cost()
    }
}

/// The transfer to the aggregates of all ranks.
impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize> Transfer<Cpu>
    for RankAggregation<'_, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        self.local.transfer(0).restrict(fine, coarse);
        let first: usize = self.counts[..self.communicator.rank()].iter().sum();
        let count = self.counts[self.communicator.rank()];
        let own = coarse[M * first..M * (first + count)].to_vec();
        let sizes: Vec<usize> = self.counts.iter().map(|count| M * count).collect();
        self.communicator.gather(&own, &sizes, coarse);
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        self.local.transfer(0).prolong_add(coarse, fine);
    }
}

impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize> Hierarchy<Cpu>
    for RankAggregation<'_, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn n_levels(&self) -> usize {
        self.local.n_levels()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        if level == 0 { self } else { self.local.operator(level) }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        self.local.inverse_diagonal(level)
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        self.local.largest_eigenvalue(level)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        if level == 0 { self } else { self.local.transfer(level) }
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.local.solve_last(b, x);
    }
}

impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
    Preconditioner<Ranks<Cpu, C>> for RankMultigrid<'_, C, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn apply(&self, _: &Ranks<Cpu, C>, r: &RankVector<Vec<f64>>, z: &mut RankVector<Vec<f64>>) {
        self.cycle.apply(&Cpu, r.own(), z.own_mut());
    }

    fn strengthen(&self) -> bool {
        self.cycle.strengthen()
    }

    fn give_way(&self) -> bool {
        self.cycle.give_way()
    }
}

impl<C: Communicator, K: ElementKernel<N>, const N: usize, const M: usize>
    ElementPreconditioner<Ranks<Cpu, C>> for RankMultigrid<'_, C, K, N, M>
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

    fn restructure(&mut self, _: &Ranks<Cpu, C>, void: &[u32]) -> Result<(), BackendError> {
        let Self { ranks, part, problem, cycle, levels, .. } = self;
        let communicator = ranks.communicator();
        let here = |(local, e): (u32, &u32)| void.binary_search(e).is_ok().then_some(local);
        let void: Vec<u32> = (0..).zip(&part.elements).filter_map(here).collect();
        let (structure, counts) =
            Aggregation::among_ranks(problem, part, communicator, &void, DIRECT)?;
        *levels = structure.levels();
        cycle.rebuild(&Cpu, |hierarchy| {
            hierarchy.counts = counts;
            hierarchy.local.restructure(structure);
            Ok(())
        })
    }

    fn update(
        &mut self,
        _: &Ranks<Cpu, C>,
        _: &dyn ElementOperator<Ranks<Cpu, C>>,
        coefficients: &[&RankVector<Vec<f64>>],
    ) -> Result<(), BackendError> {
        let Self { ranks, cycle, elements, coefficients: of_part, .. } = self;
        let communicator = ranks.communicator();
        for (term, part) in coefficients.iter().zip(&mut *of_part) {
            communicator.expand(&Cpu, elements, term.own(), part);
        }
        cycle.reset_strength();
        let of_part: Vec<&Vec<f64>> = of_part.iter().collect();
        cycle.update(&Cpu, |hierarchy| {
            let RankAggregation { local, counts, .. } = hierarchy;
            local.update_with(None, &of_part, |matrix| {
                RankAggregation::<C, K, N, M>::gather_rows(communicator, counts, matrix);
            });
        });
        communicator.check()
    }
}

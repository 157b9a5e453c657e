//! Several ranks on processors, one of which this is.

use std::any::Any;
use std::sync::OnceLock;
use std::time::Instant;

use topopt_design::RankCone;
use topopt_distance::{Arrival, Speed, Tetrahedra};
use topopt_fem::{
    Constraints, Diffusion, Discretization, Distributed, ElementKernel, ElementOperator,
    ElementPreconditioner, Helmholtz, Jacobi, Problem, RankBlockJacobi, Strategy, ranks,
};
use topopt_linalg::{BackendError, Communicator, Cpu, Ranks, SmootherKind};
use topopt_mesh::{HexMesh, Part, Partition};

use super::cpu::checked_strategy;
use super::{
    BuiltWeights, Computer, EachOperator, Needs, Neighbors, OnCpu, Solvable, Solver, cycle,
    smoother,
};
use crate::config::{self, Config};
use crate::failure::Failure;
use crate::filter_plan::Weights;
use crate::finding::{Finding, InputError};
use crate::model::Model;

/// A rank with its part of a mesh.
pub struct OnRanks<C: Communicator> {
    ranks: Ranks<Cpu, C>,
    part: Part,
    n_nodes: usize,
    n_elements: usize,
    /// On the part, made when first asked for: the equation of the model, the free one of steps in
    /// time, and that of the filter.
    equation: OnceLock<Box<dyn Any + Send + Sync>>,
    free: OnceLock<Discretization<Diffusion, 1>>,
    filter: OnceLock<Discretization<Diffusion, 1>>,
}

impl<C: Communicator> OnRanks<C> {
    /// The rank of `communicator`, with its part of `mesh`.
    pub fn new(communicator: C, mesh: &HexMesh) -> Self {
        let partition = Partition::new(mesh, communicator.size());
        Self {
            part: partition.part(mesh, communicator.rank()),
            ranks: ranks(Cpu, communicator, &partition),
            n_nodes: mesh.n_nodes(),
            n_elements: mesh.n_elements(),
            equation: OnceLock::new(),
            free: OnceLock::new(),
            filter: OnceLock::new(),
        }
    }

    /// The part's equation of a problem, of which there is one in a run.
    ///
    /// # Errors
    /// [`BackendError`] if it was another one before.
    fn equation<K: ElementKernel<N>, const N: usize>(
        &self,
        problem: &Discretization<K, N>,
    ) -> Result<&Discretization<K, N>, BackendError> {
        let made = self.equation.get_or_init(|| Box::new(problem.on_part(&self.part)));
        made.downcast_ref().ok_or_else(|| BackendError {
            device: format!("rank {}", self.ranks.communicator().rank()),
            operation: "a second equation".into(),
            message: "ranks compute one equation per run".into(),
        })
    }

    /// The operator of all ranks from that of the part.
    fn distributed<'a, K: ElementKernel<N>, const N: usize>(
        &'a self,
        local: &'a Discretization<K, N>,
        strategy: Strategy,
    ) -> Result<Box<dyn ElementOperator<Ranks<Cpu, C>> + 'a>, BackendError> {
        let operator = strategy.build(local);
        let Self { ranks, part, n_nodes, .. } = self;
        Ok(Box::new(Distributed::new(ranks, part, operator, K::TERMS, *n_nodes)?))
    }

    fn preconditioner<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        solver: &config::Solver,
        problem: &Problem<K, N>,
        local: &'a Discretization<K, N>,
    ) -> Result<Box<dyn ElementPreconditioner<Ranks<Cpu, C>> + 'a>, BackendError> {
        let Self { ranks, part, .. } = self;
        Ok(match solver.preconditioner {
            config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
                K::multigrid_on_ranks(ranks, part, local, cycle(solver))?
            }
            config::Preconditioner::Jacobi => Box::new(Jacobi::new(ranks, problem.space())?),
            config::Preconditioner::BlockJacobi => {
                Box::new(RankBlockJacobi::new(ranks, part, local)?)
            }
        })
    }
}

impl<C: Communicator> Computer for OnRanks<C> {
    type Backend = Ranks<Cpu, C>;
    const UNMEASURED: config::Strategy = OnCpu::UNMEASURED;

    fn backend(&self) -> &Ranks<Cpu, C> {
        &self.ranks
    }

    fn communicator(&self) -> &dyn Communicator {
        self.ranks.communicator()
    }

    fn strategies<K: Solvable<N>, const N: usize>(&self, model: &Model<K, N>) -> Vec<&'static str> {
        OnCpu.strategies(model)
    }

    /// As on one rank, which is more than all take together.
    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        model: &Model<K, N>,
    ) -> Result<Needs, Failure> {
        OnCpu.needs(config, model)
    }

    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        model: &'a Model<K, N>,
        wanted: config::Strategy,
        _contrast: f64,
    ) -> Result<Solver<'a, Ranks<Cpu, C>>, Failure> {
        let strategy = checked_strategy(config, model, wanted)?;
        if smoother(&config.solver) == SmootherKind::Patch {
            let finding = Finding::new("patches do not smooth on several ranks");
            let remedy = "set `solver.smoother` to \"chebyshev\", or leave `--ranks` out";
            return Err(InputError::from(finding.remedy(remedy)).into());
        }
        let local = self.equation(&model.problem)?;
        let operator = self.distributed(local, strategy)?;
        let preconditioner = self.preconditioner(&config.solver, &model.problem, local)?;
        Ok(Solver { operator, preconditioner, note: None })
    }

    fn diffusion<'a>(
        &'a self,
        problem: &'a Discretization<Diffusion, 1>,
        _colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Ranks<Cpu, C>> + 'a>, BackendError> {
        self.distributed(self.free.get_or_init(|| problem.on_part(&self.part)), Strategy::Mf)
    }

    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        _model: &'a Model<K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Ranks<Cpu, C>>, BackendError> {
        let Self { ranks, part, n_nodes, n_elements, .. } = self;
        match *plan {
            Weights::Helmholtz => {
                let free = self.filter.get_or_init(|| {
                    let free = Constraints::none(part.nodes.len());
                    Discretization::new(part.mesh.clone(), Diffusion, free)
                });
                let sizes = [*n_nodes, *n_elements];
                let filter = Helmholtz::on_ranks(ranks, part, free, radius, sizes)?;
                Ok((Box::new(filter), None))
            }
            Weights::Cone { budget } => {
                let mut centers = part.mesh.centers();
                centers.truncate(part.n_own_elements);
                let budget = budget / ranks.communicator().size();
                let cone = RankCone::new(ranks, *n_elements, &centers, radius, budget)?;
                let neighbors = Neighbors::new(cone.mean_neighbors(), cone.storage());
                Ok((Box::new(cone), Some(neighbors)))
            }
        }
    }

    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        _colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Ranks<Cpu, C>>,
    ) -> Result<(), BackendError> {
        let local = problem.on_part(&self.part);
        for strategy in Strategy::ALL.into_iter().filter(|s| wanted(s.name())) {
            visitor(self.distributed(&local, strategy)?.as_mut(), strategy.bytes(&local))?;
        }
        Ok(())
    }

    /// On every rank the whole.
    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure> {
        OnCpu.arrival(tetrahedra, speed, sources, end)
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError> {
        let start = Instant::now();
        work();
        self.ranks.communicator().check()?;
        Ok(start.elapsed().as_secs_f64())
    }
}

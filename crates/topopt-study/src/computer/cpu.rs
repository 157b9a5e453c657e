//! `OnCpu`: computation by the threads of the CPU.

use std::time::Instant;

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory::MEGABYTE;
use topopt_case::subject::Subject;
use topopt_design::Cone;
use topopt_distance::{Arrival, Patches, Speed, Tetrahedra, arrival_until};
use topopt_fem::{
    CornerMaps, CpuCorners, Discretization, ElementOperator, ElementPreconditioner, Helmholtz,
    Jacobi, Problem, Strategy,
};
use topopt_linalg::{BackendError, Cpu};

use super::{
    BuiltWeights, Computer, EachOperator, Needs, Neighbors, Solvable, Solver, cycle, refused,
    smoother,
};
use crate::failure::Failure;
use crate::memory;

/// Computer that uses the threads of the CPU.
pub struct OnCpu;

impl Computer for OnCpu {
    type Backend = Cpu;
    const UNMEASURED: config::Strategy = config::Strategy::Auto;

    fn backend(&self) -> &Cpu {
        &Cpu
    }

    fn strategies<K: Solvable<N>, const N: usize>(
        &self,
        subject: Subject<K, N>,
    ) -> Vec<&'static str> {
        strategies(subject.equation).iter().map(|strategy| strategy.name()).collect()
    }

    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
    ) -> Result<Needs, Failure> {
        let strategy = checked_strategy(config, subject, config.solver.strategy, 1)?;
        let besides = memory::besides_operator(config, subject);
        let n = subject.n_equations();
        let megabytes = |s: Strategy| (besides + n * s.bytes(subject.solved())) as f64 / MEGABYTE;
        let memory = |s: Strategy| (s.name(), memory::PROGRAM_MB + megabytes(s));
        let all = strategies(subject.equation).iter();
        Ok(Needs { strategy: strategy.name(), memory_mb: all.map(|s| memory(*s)).collect() })
    }

    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        subject: Subject<'a, K, N>,
        wanted: config::Strategy,
        _contrast: f64,
    ) -> Result<Solver<'a, Cpu>, Failure> {
        let strategy = checked_strategy(config, subject, wanted, 1)?;
        let operator = strategy.build(subject.solved());
        let preconditioner = preconditioner(&config.solver, subject.solved())?;
        Ok(Solver { operator, preconditioner, note: None })
    }

    fn matrix_free<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        problem: &'a Discretization<K, N>,
        _colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Cpu> + 'a>, BackendError> {
        Ok(Strategy::Mf.build(problem))
    }

    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        subject: Subject<'a, K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Cpu>, BackendError> {
        let mesh = subject.equation.mesh();
        match *plan {
            Weights::Helmholtz => Ok((Box::new(Helmholtz::new(mesh, radius)?), None)),
            Weights::Cone { budget } => {
                let cone = Cone::new(mesh.centers(), radius, budget);
                let neighbors = Neighbors::new(cone.mean_neighbors(), cone.storage());
                Ok((Box::new(cone), Some(neighbors)))
            }
        }
    }

    fn corners<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        subject: Subject<'a, K, N>,
    ) -> Result<Box<dyn CornerMaps<Cpu> + 'a>, BackendError> {
        Ok(Box::new(CpuCorners::new(subject.equation.mesh())))
    }

    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        _colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cpu>,
    ) -> Result<(), BackendError> {
        for strategy in strategies(problem).iter().filter(|s| wanted(s.name())) {
            visitor(strategy.build(problem).as_mut(), strategy.bytes(problem))?;
        }
        Ok(())
    }

    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure> {
        arrival_until(&Patches::new(tetrahedra), speed, sources, end).map_err(refused)
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError> {
        let start = Instant::now();
        work();
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Resolves the `wanted` strategy, and checks that it fits into the memory that `sharing` ranks
/// share; `auto` is the fastest one, or the one that stores least where that does not fit.
pub(super) fn checked_strategy<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    wanted: config::Strategy,
    sharing: usize,
) -> Result<Strategy, InputError> {
    let besides = memory::besides_operator(config, subject);
    let fits = |strategy| memory::check(besides, subject, strategy, sharing).map(|()| strategy);
    let all = strategies(subject.equation);
    let fastest = Some(Strategy::fastest::<N>()).filter(|fastest| all.contains(fastest));
    Ok(match wanted {
        config::Strategy::Auto => fits(fastest.unwrap_or(all[0])).or_else(|_| fits(all[0]))?,
        wanted => fits(named(wanted, all)?)?,
    })
}

/// The strategies that compute `problem`.
fn strategies<K, const N: usize>(problem: &Discretization<K, N>) -> &'static [Strategy]
where
    K: Solvable<N>,
{
    Strategy::of(&problem.elements())
}

/// The strategy of that name, which must be one of `all`.
fn named(wanted: config::Strategy, all: &[Strategy]) -> Result<Strategy, Finding> {
    let is_wanted = |strategy: &&Strategy| strategy.name() == wanted.name();
    all.iter().find(is_wanted).copied().ok_or_else(|| {
        let names = all.iter().map(|strategy| strategy.name()).collect::<Vec<_>>().join(", ");
        if Strategy::ALL.iter().any(|strategy| is_wanted(&strategy)) {
            let message = format!("strategy `{}` does not compute tetrahedra", wanted.name());
            return Finding::new(message).remedy(format!("use {names}"));
        }
        Finding::new(format!("strategy `{}` runs on a GPU only", wanted.name()))
            .remedy(format!("on the CPU use one of {names}"))
    })
}

fn preconditioner<'a, K: Solvable<N>, const N: usize>(
    solver: &config::Solver,
    problem: &'a Discretization<K, N>,
) -> Result<Box<dyn ElementPreconditioner<Cpu> + 'a>, BackendError> {
    Ok(match solver.preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => K::multigrid(
            problem,
            cycle(solver, problem.elements().are_tetrahedra()),
            smoother(solver),
        )?,
        config::Preconditioner::Jacobi => Box::new(Jacobi::new(&Cpu, problem.space())?),
        config::Preconditioner::BlockJacobi => K::inverse_blocks(problem),
    })
}

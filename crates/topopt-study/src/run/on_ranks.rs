//! A run on several ranks: the first one has the case, and each has its part.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use topopt_case::config;
use topopt_case::finding::InputError;
use topopt_case::subject::{Subject, Task};
use topopt_design::DesignState;
use topopt_fem::{DistributedPart, RemoteProblem};
use topopt_linalg::{BackendError, Exchange, Link};

use super::coarse;
use super::design_run::DesignRun;
use super::prepared::Prepared;
use super::request::Asked;
use crate::computer::{OfPart, OnEachRank, OnRanks, Solvable, Visitor};
use crate::failure::Failure;
use crate::observer::StudyObserver;
use crate::place::{Place, Setting};
use crate::thread_pool::thread_pool;

/// Message from the first rank to the others before it deals the parts.
#[derive(Serialize, Deserialize)]
struct Brief {
    task: Task,
    problem: RemoteProblem,
    strategy: config::Strategy,
    /// See [`DesignState::without_values`].
    state: Option<DesignState>,
    /// Whether it starts from densities, which the first rank has.
    has_densities: bool,
    /// Number of designs on a coarser mesh before the first.
    begun: usize,
}

impl Brief {
    fn of<K: Solvable<N>, const N: usize>(asked: Asked, prepared: &Prepared<K, N>) -> Self {
        Self {
            task: prepared.model.task.without_values(),
            problem: RemoteProblem::of(&prepared.model.problem),
            strategy: prepared.strategy(asked.config.solver.strategy),
            state: prepared.state().map(DesignState::without_values),
            has_densities: prepared.densities().is_some(),
            begun: prepared.n_begun(),
        }
    }
}

/// Runs a case of one physics on the ranks of the team that is asked for.
pub(super) fn run<K: Solvable<N>, const N: usize>(
    asked: Asked,
    observer: &mut dyn StudyObserver,
) -> Result<(), Failure> {
    let (solver, team) = (&asked.config.solver, &asked.request.team);
    let place = &Place::of_team(asked.config, team).map_err(InputError::from)?;
    let results = &asked.config.output_directory();
    let setting = Setting { team, threads: solver.threads, results };
    let observer = Mutex::new(observer);
    let prepared = Mutex::new(None);
    place.on_ranks(&setting, &Ranked::<K, N> { asked, place, observer, prepared })
}

/// A run of one physics on each rank.
struct Ranked<'a, 'p, K: Solvable<N>, const N: usize> {
    asked: Asked<'a>,
    place: &'a Place,
    /// Observer, which the first rank alone uses.
    observer: Mutex<&'p mut dyn StudyObserver>,
    /// The case, if it is prepared before the rank runs; the first one's alone.
    prepared: Mutex<Option<Result<Prepared<K, N>, Failure>>>,
}

impl<K: Solvable<N>, const N: usize> OnEachRank for Ranked<'_, '_, K, N> {
    fn prepare(&self) {
        let prepared = self.made_ready();
        *self.kept() = Some(prepared);
    }

    fn on_rank<P: OfPart<C>, C: Exchange<P::Backend>>(
        &self,
        place: P,
        communicator: C,
        sharing: usize,
    ) -> Result<(), Failure> {
        let prepared = (communicator.rank() == 0).then(|| {
            let prepared = self.kept().take();
            prepared.unwrap_or_else(|| self.made_ready())
        });
        communicator.meet();
        let has_failed = communicator.any(matches!(prepared, Some(Err(_))));
        match prepared.transpose()? {
            Some(prepared) => self.on_first(place, communicator, sharing, &prepared),
            None if has_failed => Err(Failure::ReportedByFirst),
            None => self.on_other(place, communicator, sharing),
        }
    }
}

impl<K: Solvable<N>, const N: usize> Ranked<'_, '_, K, N> {
    /// Locks the case that [`OnEachRank::prepare`] keeps.
    fn kept(&self) -> MutexGuard<'_, Option<Result<Prepared<K, N>, Failure>>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The case, which all threads prepare that are asked for.
    fn made_ready(&self) -> Result<Prepared<K, N>, Failure> {
        let pool = thread_pool(self.asked.config.solver.threads)?;
        let (_, prepared) = pool.install(|| {
            Prepared::<K, N>::of(self.asked, || Ok(self.place.clone()), coarse::begin::<K, N>)
        })?;
        Ok(prepared)
    }

    fn on_first<P: OfPart<C>, C: Exchange<P::Backend>>(
        &self,
        place: P,
        communicator: C,
        sharing: usize,
        prepared: &Prepared<K, N>,
    ) -> Result<(), Failure> {
        let brief = Brief::of(self.asked, prepared);
        let brief = serde_json::to_string(&brief).map_err(|error| misunderstood(0, &error))?;
        for other in 1..communicator.size() {
            Link::new(&communicator, other).send_text(&brief);
        }
        let model = &prepared.model;
        let DistributedPart { part, equation, shares } =
            DistributedPart::deal(&communicator, &model.problem);
        communicator.check()?;

        let computer = OnRanks::new(place, communicator, (part, shares), sharing)?;
        let subject = Subject { equation: &equation, ..model.subject() };
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        DesignRun::of_first(self.asked, prepared, subject, &mut **observer).visit(&computer)
    }

    fn on_other<P: OfPart<C>, C: Exchange<P::Backend>>(
        &self,
        place: P,
        communicator: C,
        sharing: usize,
    ) -> Result<(), Failure> {
        let brief = Link::new(&communicator, 0).receive_text();
        communicator.check()?;
        let brief = serde_json::from_str(&brief);
        let brief: Brief = brief.map_err(|error| misunderstood(communicator.rank(), &error))?;
        let kernel = K::of(self.asked.config).map_err(InputError::from)?;
        let DistributedPart { part, equation, shares } =
            DistributedPart::receive(&communicator, kernel)?;

        let computer = OnRanks::new(place, communicator, (part, shares), sharing)?;
        let run = DesignRun {
            asked: self.asked,
            subject: Subject {
                task: &brief.task,
                problem: &brief.problem,
                equation: &equation,
                half: None,
            },
            strategy: brief.strategy,
            state: brief.state.as_ref(),
            begun: brief.begun,
            densities: brief.has_densities.then_some(&[]),
            first: None,
        };
        run.visit(&computer)
    }
}

fn misunderstood(rank: usize, error: &serde_json::Error) -> Failure {
    let [device, operation] = [format!("rank {rank}"), "sharing the case".into()];
    BackendError { device, operation, message: error.to_string() }.into()
}

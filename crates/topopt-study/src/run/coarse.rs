//! The begin of a run on a coarser mesh of its part, while the host prepares the mesh of the case.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use topopt_case::interrupt::Interrupt;
use topopt_case::own::Own;
use topopt_design::{Design, Ended, IterationReport, Observer, ObserverError};
use topopt_linalg::{PcgProgress, Pointwise};
use topopt_mesh::ElementInterpolation;

use super::begun::{Begun, Coarser, not_begun};
use super::design_run::{DesignRun, verdict};
use super::prepared::Prepared;
use super::request::{Asked, Request};
use crate::computer::{Computer, Solvable, Visitor};
use crate::done::CoarseStart;
use crate::failure::Failure;
use crate::place::Place;
use crate::ranks::Team;
use crate::thread_pool::thread_pool;

/// Makes designs of a coarser case at a place, until they are given up.
///
/// # Errors
/// An interruption; a note on any other failure.
pub(super) fn begin<K: Solvable<N>, const N: usize>(
    Asked { request, interrupt, .. }: Asked,
    Coarser { config, centers }: &Coarser,
    (place, is_given_up): (&Place, &AtomicBool),
) -> Result<Result<Begun, String>, Failure> {
    let start = Instant::now();
    let request = Request {
        files: None,
        mesh: None,
        own: Own::default(),
        start_from: None,
        gmsh: request.gmsh.clone(),
        team: Team::Threads(NonZeroUsize::MIN),
    };
    let asked = Asked { config, request: &request, interrupt, start };

    let begun = thread_pool(config.solver.threads)?.install(|| {
        let (place, prepared) = Prepared::<K, N>::of(asked, || Ok(place.clone()), begin::<K, N>)?;
        let model = &prepared.model;
        let run = DesignRun::of_coarse(asked, &prepared);
        let Taken { variables, volume, reports } = place.visit(Coarse { run, is_given_up })?;

        let variables = model.space.of_variables(variables);
        let variables = ElementInterpolation::new(model.problem.mesh(), &variables).at(centers);
        let start = CoarseStart {
            designs: reports.len(),
            elements: model.mesh.n_elements(),
            volume_fraction: volume,
            seconds: start.elapsed().as_secs_f64(),
        };
        Ok(Begun { start, reports, variables })
    });

    match begun {
        Err(interrupted @ Failure::Interrupted { .. }) => Err(interrupted),
        begun => Ok(begun.map_err(not_begun)),
    }
}

/// The design loop on the coarser mesh.
struct Coarse<'a, K: Solvable<N>, const N: usize> {
    run: DesignRun<'a, K, N>,
    is_given_up: &'a AtomicBool,
}

/// Results of the design loop on the coarser mesh.
struct Taken {
    /// Design variables of the last design.
    variables: Vec<f64>,
    /// Share of the design volume that it fills.
    volume: f64,
    /// Numbers of the designs before it.
    reports: Vec<IterationReport>,
}

impl<K: Solvable<N>, const N: usize> Visitor for Coarse<'_, K, N> {
    type Output = Taken;

    fn visit<C: Computer>(self, computer: &C) -> Result<Taken, Failure> {
        let Self { run, is_given_up } = self;
        let asked = run.asked;
        let contrast = run.subject.task.contrast;
        let solver =
            computer.solver(asked.config, run.subject, run.strategy(computer), contrast)?;
        let thicker = run.of_thicker(computer, &solver)?;
        let bare = run.subject.task.timeline.as_ref().map(|_| run.subject.bare());
        let neighbors = Cell::new(None);
        let mut optimization =
            run.optimization(computer, (solver, thicker), bare.as_ref(), &neighbors)?;
        let mut reports = Reports { is_given_up, interrupt: asked.interrupt, reports: Vec::new() };
        let outcome = optimization.run(&mut reports)?;
        let Reports { mut reports, .. } = reports;
        match outcome.ended {
            Ended::Rule(_) => (),
            Ended::Interrupted => {
                return Err(Failure::Interrupted { iterations: 0, directory: None });
            }
            ended => verdict(ended, outcome.iterations, asked)?,
        }
        let last = reports.pop().map_or(0.0, |last| last.volume_fraction);
        Ok(Taken { variables: optimization.design().state()?.design, volume: last, reports })
    }
}

/// Collects the numbers of designs, until an interruption.
struct Reports<'a> {
    is_given_up: &'a AtomicBool,
    interrupt: &'a Interrupt,
    reports: Vec<IterationReport>,
}

impl<B: Pointwise> Observer<B> for Reports<'_> {
    fn solving(&mut self, _: usize, _: PcgProgress) -> ControlFlow<()> {
        match self.interrupt.is_requested() || self.is_given_up.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        _: &Design<'_, '_, B>,
    ) -> Result<(), ObserverError> {
        self.reports.push(report.clone());
        Ok(())
    }
}

//! `Studied`: the work of commands on a physics.
//!
//! Its functions are not generic, so that they are compiled once, in this crate: generic ones were
//! compiled again in every program and test that calls them, with all solvers below.

use std::sync::mpsc::Sender;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_fem::{Diffusion, Elasticity};

use crate::analysis::{self, Analysis, Analyzed};
use crate::computer::{Computer, Needs, Solvable, Visitor};
use crate::duration::Duration;
use crate::failure::Failure;
use crate::linear_system::{self, Calls, Opened};
use crate::place::Place;
use crate::temperatures;
use crate::verification::{self, Optimized, Verification, Verified};

/// A physics whose cases are checked, solved and verified.
pub trait Studied<const N: usize>: Analyzed<N> + Verified<N> {
    /// Builds the model of a `case` for a run in `place`.
    ///
    /// # Errors
    /// As [`Model::build`].
    fn model(config: &Config, case: Case<N>, place: &Place) -> Result<Model<Self, N>, InputError>;

    /// Returns the strategy of a run of `model` in `place`, and the memory of every strategy.
    ///
    /// # Errors
    /// As [`Computer::needs`].
    fn needs(config: &Config, model: &Model<Self, N>, place: &Place) -> Result<Needs, Failure>;

    /// Measures the steps of a solve of `model` in `place`.
    ///
    /// # Errors
    /// Memory that is too small, a device that fails.
    fn duration(
        config: &Config,
        model: &Model<Self, N>,
        place: &Place,
    ) -> Result<Duration, Failure>;

    /// Solves the part of `config`, all solid apart from what `design.void` keeps empty, or the
    /// design of the request, and writes analysis.vtu, analysis.json and the case to
    /// `output.directory`; in time also transient.csv, a row per step, and the snapshots.
    ///
    /// Densities of a design have the stiffness of the case's law, as in the run: at the penalty of
    /// the last stage, where there are stages. Stresses are those of that stiffness, and balance the
    /// loads.
    ///
    /// # Errors
    /// Input that cannot be solved, a solve that does not converge, files that cannot be written.
    fn analyze(
        config: &Config,
        request: &analysis::Request,
        interrupt: &Interrupt,
    ) -> Result<Analysis<Self::Case>, Failure>;

    /// Builds the linear system of the part of `config`, or of the design of the request, reports
    /// it to the first of the `ends`, and answers the calls of the second until their sender is
    /// gone.
    ///
    /// # Errors
    /// Input that cannot be solved, a device that fails.
    fn serve(
        config: &Config,
        request: &analysis::Request,
        interrupt: &Interrupt,
        ends: (Sender<Opened>, Calls),
    ) -> Result<(), Failure>;

    /// Solves the `optimized` design again as the solid that is exported: elements have the
    /// stiffness, or conductivity, of the share that it fills \[AllaireJouveToader2004\]. Computes
    /// where the case says, and writes verify.json and verify.vtu beside the design.
    ///
    /// Void elements keep a little. So the mesh stays as it is, with its numbers, operators and
    /// preconditioner, and neither loose pieces nor elements that meet in an edge make the system
    /// singular. Where void is a filler, heat on nodes of void flows through it; else it is moved as
    /// forces are.
    ///
    /// # Errors
    /// A case in time; results that cannot be read, a threshold with nothing left, a design that
    /// does not connect loads and supports or has nothing where loads act, a solve that does not
    /// converge, a file that cannot be written.
    fn verify(
        optimized: &Optimized,
        config: &Config,
        request: &verification::Request,
        interrupt: &Interrupt,
    ) -> Result<Verification<Self::Overall, Self::Case>, Failure>;
}

/// Compiles the work of commands for a kernel.
macro_rules! studied {
    ($kernel:ty, $unknowns:literal) => {
        impl Studied<$unknowns> for $kernel {
            fn model(
                config: &Config,
                case: Case<$unknowns>,
                place: &Place,
            ) -> Result<Model<Self, $unknowns>, InputError> {
                let mut model = Model::build(config, case, place.needs_colors(config))?;
                model.ready(config)?;
                Ok(model)
            }

            fn needs(
                config: &Config,
                model: &Model<Self, $unknowns>,
                place: &Place,
            ) -> Result<Needs, Failure> {
                place.visit(Planned { config, model })
            }

            fn duration(
                config: &Config,
                model: &Model<Self, $unknowns>,
                place: &Place,
            ) -> Result<Duration, Failure> {
                Duration::measure(config, model, place)
            }

            fn analyze(
                config: &Config,
                request: &analysis::Request,
                interrupt: &Interrupt,
            ) -> Result<Analysis<Self::Case>, Failure> {
                let config = &temperatures::solved(config, &request.gmsh, interrupt)?;
                analysis::of::<Self, $unknowns>(config, request, interrupt)
            }

            fn serve(
                config: &Config,
                request: &analysis::Request,
                interrupt: &Interrupt,
                ends: (Sender<Opened>, Calls),
            ) -> Result<(), Failure> {
                let config = &temperatures::solved(config, &request.gmsh, interrupt)?;
                linear_system::serve::<Self, $unknowns>(config, request, interrupt, ends)
            }

            fn verify(
                optimized: &Optimized,
                config: &Config,
                request: &verification::Request,
                interrupt: &Interrupt,
            ) -> Result<Verification<Self::Overall, Self::Case>, Failure> {
                let config = &temperatures::solved(config, &request.gmsh, interrupt)?;
                verification::of::<Self, $unknowns>(optimized, config, request, interrupt)
            }
        }
    };
}

studied!(Elasticity, 3);
studied!(Diffusion, 1);

/// Visitor that finds the strategy and memory of a case on any computer.
struct Planned<'a, K, const N: usize> {
    config: &'a Config,
    model: &'a Model<K, N>,
}

impl<K: Solvable<N>, const N: usize> Visitor for Planned<'_, K, N> {
    type Output = Needs;

    fn visit<C: Computer>(self, computer: &C) -> Result<Needs, Failure> {
        computer.needs(self.config, self.model.subject_of_run())
    }
}

//! `StudyObserver`, which receives the designs of a run and may end it.

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_design::{Candidates, DesignFields, IterationReport, ObserverError, Settings};
use topopt_io::WriteError;
use topopt_linalg::{Communicator, PcgProgress};

use crate::design_file::array_name;
use crate::summary::RunSummary;

/// Fields of a design in the user's numbering.
#[derive(Debug, Clone)]
pub struct Fields {
    /// Densities, `[n_elements]`: the shares that are filled.
    pub density: Vec<f64>,
    /// Number of the material of each element by increasing mass, from 1, and 0 where less than
    /// half is filled, `[n_elements]`; none where a design is of one material.
    pub material: Option<Vec<u8>>,
    /// Strain energy per element, or its like in another physics, `[n_elements]`.
    pub energy: Vec<f64>,
    /// Flux per element and load case, `[n_elements][3]` each, where the physics has one.
    pub fluxes: Vec<(String, Vec<f64>)>,
    /// Fields of nodes, `[n_nodes][N]` with N unknowns per node: `displacement` and `force` of the
    /// first load case, `displacement_NAME` and `force_NAME` of the others.
    pub nodal: Vec<(String, Vec<f64>)>,
    /// Depth of the nodes in parts of space that stay solid, `[n_nodes]`; none without such a part.
    pub solid_depth: Option<Vec<f64>>,
}

impl Fields {
    pub(crate) fn of<K: Physics<N>, const N: usize>(
        model: &Model<K, N>,
        design: DesignFields,
    ) -> Self {
        let renumbering = &model.renumbering;
        let (mut nodal, mut fluxes) = (Vec::new(), Vec::new());
        let cases = model.problem.load_cases().iter().zip(&design.displacements);
        for (k, (case, displacement)) in cases.enumerate() {
            for (what, values) in [(K::NAMES.state, displacement), (K::NAMES.load, &case.forces)] {
                let values = renumbering.nodes_to_original(values.as_chunks::<N>().0);
                nodal.push((array_name(what, k, &case.name), values.into_flattened()));
            }
            if let Some((what, flux)) = K::flux(&model.problem, &design.moduli, displacement) {
                let flux = renumbering.elements_to_original(&flux).into_flattened();
                fluxes.push((array_name(what, k, &case.name), flux));
            }
        }
        let density = renumbering.elements_to_original(&design.density);
        let (density, material) = made(model.space.candidates(), density);
        Self {
            density,
            material,
            energy: renumbering.elements_to_original(&design.energy),
            fluxes,
            nodal,
            solid_depth: model.kept.depth.clone(),
        }
    }
}

/// Returns the shares that elements of a `density` are filled, and their materials where there are
/// `candidates`.
fn made(candidates: &Candidates, density: Vec<f64>) -> (Vec<f64>, Option<Vec<u8>>) {
    if candidates.is_empty() {
        return (density, None);
    }
    let made = density.into_iter().map(|density| candidates.made(density));
    let (filled, material) = made.map(|made| (made.filled, made.material)).unzip();
    (filled, Some(material))
}

/// Receives a run: its begin, each design in the user's numbering, its end. Files of the results
/// and lines on a console are written by such observers.
pub trait StudyObserver: Send {
    /// Takes the begin of the run.
    fn start(&mut self, _run: &RunSummary) {}

    /// Takes a stop test of the solver.
    fn solving(&mut self, _iteration: usize, _progress: PcgProgress) {}

    /// Data of the design of `iteration` to be fetched from the device for [`Self::evaluated`].
    fn wanted(&self, _iteration: usize) -> Wanted {
        Wanted::Numbers
    }

    /// Takes an evaluated design. A break ends the run, and this design is its last.
    ///
    /// # Errors
    /// Any error ends the run.
    fn evaluated(&mut self, _design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        Ok(ControlFlow::Continue(()))
    }

    /// Settings that the run is to have from the next design but one on, asked for after
    /// [`Self::evaluated`].
    fn change(&mut self) -> Option<Settings> {
        None
    }

    /// Takes the `fields` of the design evaluated last, in `iteration`.
    ///
    /// # Errors
    /// Any error fails the run.
    fn last(&mut self, _iteration: usize, _fields: &Fields) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Takes the end of the run, also of one that has failed.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn end(&mut self, _run: &RunSummary) -> Result<(), WriteError> {
        Ok(())
    }
}

/// Observes nothing.
impl StudyObserver for () {}

/// Data of a design for an observer, each with all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// The report alone.
    Numbers,
    /// Densities.
    Density,
    /// Densities, energies, states and loads.
    Fields,
}

/// An evaluated design.
pub struct Evaluated<'a> {
    /// Numbers of the iteration.
    pub report: &'a IterationReport,
    /// Densities in the user's numbering, `[n_elements]`, where they are wanted.
    pub density: Option<&'a [f64]>,
    /// All fields, where they are wanted.
    pub fields: Option<&'a Fields>,
    /// Time at which the design was there, before its data were fetched.
    pub since: Instant,
}

/// The settings that an observer on the first rank has `wanted`; none if it has not.
pub(crate) fn shared_settings(
    ranks: &dyn Communicator,
    wanted: Option<Settings>,
) -> Option<Settings> {
    if !ranks.any(wanted.is_some()) {
        return None;
    }
    let Settings { penalty, filter_radius, sharpness, excess, move_limit, .. } =
        wanted.unwrap_or_default();
    // Settings are above 0, so that 0 stands for none.
    let mut values =
        [penalty, filter_radius, sharpness, excess, move_limit].map(|it| it.unwrap_or(0.0));
    ranks.sum(&mut values);
    let [penalty, filter_radius, sharpness, excess, move_limit] =
        values.map(|value| (value > 0.0).then_some(value));
    let others = Settings::default();
    Some(Settings { penalty, filter_radius, sharpness, excess, move_limit, ..others })
}

//! A case that is ready to be run.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use topopt_case::case::Case;
use topopt_case::config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::model::Model;
use topopt_design::DesignState;
use topopt_io::gmsh::Triangulation;

use super::begun::{self, Begin, Begun};
use super::request::Asked;
use crate::computer::Solvable;
use crate::failure::Failure;
use crate::observer::StudyObserver;
use crate::output_folder::{self, Earlier};
use crate::part_file;
use crate::place::Place;
use crate::resumption::Resumption;
use crate::solid_depth;
use crate::starting_design::StartingDesign;
use crate::temperatures;

/// All of a case, and where it starts. Of several ranks the first alone has it.
pub(super) struct Prepared<K, const N: usize> {
    pub model: Model<K, N>,
    /// Notes on the place where it is computed.
    pub notes: Vec<String>,
    /// Surface of the geometry.
    pub part: Option<Triangulation>,
    pub resumption: Option<Resumption>,
    /// The design to start from, and its densities on the mesh of the run.
    pub start_from: Option<(StartingDesign, Vec<f64>)>,
    /// The designs of a coarser mesh that it begins with, and the last of them on the mesh of the
    /// run.
    pub begun: Option<(Begun, Vec<f64>)>,
}

/// Case and observer, which only the first rank has.
pub(super) struct First<'a, K, const N: usize> {
    pub prepared: &'a Prepared<K, N>,
    pub observer: &'a mut dyn StudyObserver,
}

impl<K: Solvable<N>, const N: usize> Prepared<K, N> {
    /// The case as it is run in a place, which is found meanwhile. Where it is to begin on a
    /// coarser mesh, `begin` makes the first designs.
    ///
    /// # Errors
    /// All that can be refused before something is computed; a failure of the place.
    pub fn of(
        asked: Asked,
        place: impl FnOnce() -> Result<Place, Finding> + Send,
        begin: Begin,
    ) -> Result<(Place, Self), Failure> {
        let Asked { config, request, interrupt, .. } = asked;
        let start_from = request.start_from.as_deref();
        if let Some(earlier) = request.files {
            output_folder::check(config, start_from, earlier).map_err(InputError::from)?;
        }
        let is_resumed = request.files == Some(Earlier::Continue);
        let resumption = is_resumed.then(|| Resumption::find(config)).transpose()?;
        let start_from = start_from.map(StartingDesign::read).transpose()?;

        let config = &*temperatures::solved(config, &request.gmsh, interrupt)?;
        let asked = Asked { config, ..asked };
        let case = || match &request.mesh {
            Some(mesh) => Case::on::<K>(config, mesh.clone()),
            None => Case::of::<K>(config, &request.gmsh, interrupt),
        };
        let (place, case) = rayon::join(place, case);
        let (place, mut case) = (place.map_err(InputError::from)?, case?);
        let place = place.on_mesh(config, &case.mesh).map_err(InputError::from)?;
        request.own.responses.iter().for_each(|own| case.posed.add(own, &case.mesh));

        let is_new = resumption.is_none() && start_from.is_none();
        let coarser = is_new.then(|| begun::wanted(asked, &case)).flatten();
        let is_given_up = AtomicBool::new(false);
        // On a thread of its own, as the threads of the pool are not to wait for it.
        let prepared = thread::scope(|scope| {
            let begun = coarser.map(|coarser| {
                scope.spawn(|| match coarser {
                    Ok(coarser) => begin(asked, &coarser, (&place, &is_given_up)),
                    Err(why) => Ok(Err(why)),
                })
            });
            let prepared = Self::on_its_mesh(asked, case, &place, (resumption, start_from));
            is_given_up.store(prepared.is_err(), Ordering::Relaxed);
            let begun =
                begun.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let mut prepared = prepared?;
            match begun.transpose()? {
                Some(Ok(begun)) => prepared.begin(begun),
                Some(Err(why)) => prepared.notes.push(why),
                None => (),
            }
            Ok::<_, Failure>(prepared)
        });
        Ok((place.clone(), prepared?))
    }

    /// The `case` ready to be run at `place`.
    fn on_its_mesh(
        asked: Asked,
        mut case: Case<N>,
        place: &Place,
        (resumption, start_from): (Option<Resumption>, Option<StartingDesign>),
    ) -> Result<Self, Failure> {
        let Asked { config, request, interrupt, .. } = asked;
        let is_kept = request.files.is_some() && request.mesh.is_none();
        let part = is_kept
            .then(|| part_file::triangulated(config, &mut case, &request.gmsh, interrupt))
            .flatten();
        let depth = solid_depth::of(config, &case);
        let mut model = Model::<K, N>::build(config, case, place.needs_colors(config))?;
        model.kept.depth = depth;
        let own = request.own.maps_on(&model.problem, &model.renumbering);
        model.task.own = own.map_err(InputError::from)?;
        model.ready(config)?;
        let n_elements = model.mesh.n_elements();
        place.check_parts(&request.team, n_elements).map_err(InputError::from)?;

        if let Some(resumption) = &resumption {
            if let Some(coarse) = &resumption.done.coarse {
                model.task.space.initial_volume_fraction = coarse.volume_fraction;
            }
            resumption.check(&model, &config.output_directory()).map_err(InputError::from)?;
        }
        let start_from = start_from
            .map(|design| design.on(&model).map(|density| (design, density)))
            .transpose()
            .map_err(InputError::from)?;
        if let (Some((_, density)), None) = (&start_from, config.initial_volume()) {
            model.task.space.initial_volume_fraction = model.space.volume_fraction(density);
        }
        let notes = place.notes_of(&config.solver, &request.team);
        Ok(Self { model, notes, part, resumption, start_from, begun: None })
    }

    /// Takes the designs of the coarser mesh that it begins with.
    fn begin(&mut self, begun: Begun) {
        let variables = self.model.renumbering.elements_from_original(&begun.variables);
        self.model.task.space.initial_volume_fraction = begun.start.volume_fraction;
        self.begun = Some((begun, variables));
    }

    /// State of the design to resume from; none for a new run.
    pub fn state(&self) -> Option<&DesignState> {
        self.resumption.as_ref().map(|resumption| &resumption.state)
    }

    /// The strategy that is `asked` for; where that is left to us, the one that the run began with.
    pub fn strategy(&self, asked: config::Strategy) -> config::Strategy {
        self.resumption.as_ref().map_or(asked, |resumption| resumption.strategy(asked))
    }

    /// Number of designs on a coarser mesh before the first.
    pub fn n_begun(&self) -> usize {
        self.begun.as_ref().map_or(0, |(begun, _)| begun.reports.len())
    }

    /// Densities to start from, `[n_elements]`, where they are not the same everywhere.
    pub fn densities(&self) -> Option<&[f64]> {
        let of_other = self.start_from.as_ref().map(|(_, densities)| densities);
        let of_coarser = self.begun.as_ref().map(|(_, densities)| densities);
        of_other.or(of_coarser).map(Vec::as_slice)
    }
}

//! Halves of models that mirror themselves, which runs solve in their place.

use rayon::prelude::*;
use topopt_fem::{Asymmetry, CpuSolvers, HalfModel};
use topopt_linalg::Cpu;
use topopt_mesh::{Mirror, Plane};

use crate::config::Config;
use crate::finding::InputError;
use crate::manufacturing::are_symmetric;
use crate::model::Model;
use crate::physics::Physics;
use crate::responses::form::Measure;
use crate::responses::posed::PosedResponse;
use crate::subject::{Half, Subject};

impl<K: Physics<N> + CpuSolvers<N>, const N: usize> Model<K, N> {
    /// Readies the model for a run: checks that it can find a design, counts what stays solid in the
    /// air, and lets it solve a half of the model if that will do.
    ///
    /// # Errors
    /// Limits that no design keeps, and load cases that no printed part carries.
    pub fn ready(&mut self, config: &Config) -> Result<(), InputError> {
        self.check_reach(config)?;
        self.halve(config);
        Ok(())
    }

    /// Lets a run solve a half of the model, a quarter or an eighth, where all designs, loads and
    /// supports mirror themselves about planes across the axes, and notes that, or what of the
    /// model is against it where the user has asked for symmetry.
    fn halve(&mut self, config: &Config) {
        let planes = self.equal.iter().flat_map(|fold| fold.planes());
        let mut planes: Vec<Plane> =
            planes.filter(|plane| plane.axis().is_some()).copied().collect();
        planes.sort_by_key(Plane::axis);
        if planes.is_empty() || !self.is_solved_for_its_compliance(config) {
            return;
        }

        let mirrors = Mirror::of(self.problem.mesh(), self.task.element_width, &planes);
        let asymmetries = mirrors.iter().map(|mirror| match mirror {
            None => Some(Asymmetry::Mesh),
            Some(mirror) => Asymmetry::of(&self.problem, mirror),
        });
        let asymmetries: Vec<_> = asymmetries.collect();
        if are_symmetric(config) {
            let told = planes.iter().zip(&asymmetries).filter_map(|(plane, found)| {
                let found = found.as_ref()?;
                Some(format!("both sides of the plane {} are solved: {found}", plane.name()))
            });
            self.notes.extend(told.collect::<Vec<_>>());
        }
        let is_kept = |(mirror, asymmetry): (Option<Mirror>, Option<Asymmetry>)| {
            mirror.filter(|mirror| asymmetry.is_none() && self.has_mirrored_designs(mirror))
        };
        let mirrors: Vec<Mirror> =
            mirrors.into_iter().zip(asymmetries).filter_map(is_kept).collect();
        if let Some(note) = in_words(&mirrors)
            && let Some(model) = HalfModel::of(&self.problem, &mirrors)
        {
            let colors = self.colors.as_ref().map(|colors| of_colors(colors, model.elements()));
            self.half = Some(Half { model, colors });
            self.notes.push(note);
        }
    }

    /// Returns the task and the problem; a run solves the half where there is one.
    pub fn subject_of_run(&self) -> Subject<'_, K, N> {
        Subject { half: self.half.as_ref(), ..self.subject() }
    }

    /// Whether a run solves one steady equation for states that mirror themselves with the loads,
    /// and no adjoint states, which need not.
    fn is_solved_for_its_compliance(&self, config: &Config) -> bool {
        let part = self.subject().part();
        let has_no_adjoint = |response: &PosedResponse| {
            let measure = response.form.measure(part, &Cpu, response.zero);
            matches!(measure, Ok(Measure::Compliance(_) | Measure::Volume | Measure::Densities(_)))
        };
        let mirrors_itself = !self.space.is_shaped() || self.space.is_evened_at_last();
        config.ranks <= 1
            && mirrors_itself
            && self.timeline.is_none()
            && self.own.transform.is_none()
            && self.own.forces.is_empty()
            && self.posed.responses().all(has_no_adjoint)
    }

    /// Whether elements share variables with their images, and stay solid and void as they do.
    fn has_mirrored_designs(&self, mirror: &Mirror) -> bool {
        let Some(shares) = self.space.shares() else { return false };
        let pairs = mirror.elements.par_iter().enumerate();
        let are_shared = pairs.all(|(e, &image)| shares.row(e).eq(shares.row(image as usize)));
        let mut passive = [&self.space.solid, &self.space.void].into_iter();
        are_shared
            && passive.all(|set| {
                let mut images = set.iter().map(|&e| mirror.elements[e as usize]);
                images.all(|image| set.binary_search(&image).is_ok())
            })
    }
}

/// Says what part of a model is solved; none where it is all of it.
fn in_words(mirrors: &[Mirror]) -> Option<String> {
    let part = ["half", "a quarter", "an eighth"].get(mirrors.len().checked_sub(1)?)?;
    let planes: Vec<_> = mirrors.iter().map(|mirror| mirror.plane.name()).collect();
    let planes = match &planes[..] {
        [plane] => format!("the plane {plane}"),
        [first @ .., last] => format!("the planes {} and {last}", first.join(", ")),
        [] => return None,
    };
    Some(format!("{part} of the model is solved: it is symmetric about {planes}"))
}

/// Counts the `elements`, increasing, of each color of a mesh, which has them one color after the
/// other.
fn of_colors(colors: &[usize], elements: &[u32]) -> Vec<usize> {
    let ends = colors.iter().scan(0, |end, n| {
        *end += n;
        Some(elements.partition_point(|&e| (e as usize) < *end))
    });
    let ends: Vec<usize> = ends.collect();
    ends.iter().enumerate().map(|(k, end)| end - if k > 0 { ends[k - 1] } else { 0 }).collect()
}

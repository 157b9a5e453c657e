//! The time steps of a part: when they are, and what acts then.

use topopt_case::config::Transient;
use topopt_case::finding::InputError;
use topopt_fem::{Diffusion, Timeline};

use super::probes::Located;
use crate::failure::Failure;
use crate::solved::{Conditions, FieldFile, Part};

/// The time steps, for any computer.
pub(super) struct Steps<'a> {
    pub part: &'a Part<'a, Diffusion, 1>,
    pub keys: &'a Transient,
    pub timeline: &'a Timeline,
    pub conditions: Conditions<'a>,
    pub probes: Vec<Located>,
    pub fields: FieldFile<'a, Diffusion, 1>,
}

impl<'a> Steps<'a> {
    /// Prepares the time steps of `part`.
    ///
    /// # Errors
    /// A probe outside of the part.
    pub fn of(
        part: &'a Part<'a, Diffusion, 1>,
        (keys, timeline): (&'a Transient, &'a Timeline),
        conditions: Conditions<'a>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            part,
            keys,
            timeline,
            conditions,
            probes: part.located(keys).map_err(InputError::from)?,
            fields: FieldFile::of(part),
        })
    }

    pub fn n_nodes(&self) -> usize {
        self.timeline.initial.len()
    }

    pub fn n_steps(&self) -> usize {
        self.timeline.n_steps()
    }

    /// The end of `step`; 0 is the beginning.
    pub fn time(&self, step: usize) -> f64 {
        self.timeline.time(step)
    }

    /// The next step after `step` with a checkpoint, or the last of all.
    pub fn next_checkpoint(&self, step: usize) -> usize {
        let every = self.part.config.output.checkpoint_every.filter(|every| *every > 0);
        let next = every.map_or(usize::MAX, |every| (step / every + 1).saturating_mul(every));
        next.min(self.n_steps())
    }
}

//! The mass.

use serde::{Deserialize, Serialize};
use topopt_linalg::{BackendError, Pointwise};

use super::form::{Measure, Measured, Numbers, Part, PosedForm, within};
use super::kind::ResponseKind;
use crate::config::ResponseKeys;
use crate::finding::Finding;
use crate::lookup::{Lookup, sorted};

/// The response `mass`.
pub(super) const MASS: ResponseKind = ResponseKind {
    is_of_states: false,
    is_of_mass: true,
    ..ResponseKind::new(
        "mass",
        "Mass of the part, or of the elements of a set. All materials need a `mass_density`.",
        |_| "mass",
    )
};

/// The mass of some elements, or of all except for void ones.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mass {
    elements: Option<Vec<u32>>,
}

/// Builds the mass of the part, or of the set of `keys`.
pub(super) fn pose(
    lookup: &Lookup,
    keys: ResponseKeys,
    _: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<Mass> {
    let elements = keys.set.map(|set| sorted(lookup.elements(set, findings)));
    vec![Mass { elements }]
}

impl PosedForm for Mass {
    fn numbers(&mut self) -> Option<Numbers<'_>> {
        self.elements.as_mut().map(Numbers::Elements)
    }

    fn is_mass(&self) -> bool {
        true
    }

    fn is_helped_by_material(&self, _: bool, _: f64) -> bool {
        false
    }
}

impl Measured for Mass {
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        Part { space, problem, mass_density }: Part<'a>,
        _: &B,
        _: f64,
    ) -> Result<Measure<'a, B>, BackendError> {
        let factors = problem.mass();
        let factor = |e: usize| mass_density * factors.map_or(1.0, |factors| factors[e]);
        let masses = space.volumes.iter().enumerate().map(|(e, volume)| factor(e) * volume);
        let mut masses: Vec<f64> = masses.collect();
        space.void.iter().for_each(|&e| masses[e as usize] = 0.0);
        Ok(Measure::Densities(match &self.elements {
            Some(set) => within(set, &masses),
            None => masses,
        }))
    }
}

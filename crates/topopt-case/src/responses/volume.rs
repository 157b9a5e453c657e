//! The volume as a share.

use serde::{Deserialize, Serialize};
use topopt_linalg::{BackendError, Pointwise};

use super::form::{Measure, Measured, Numbers, Part, PosedForm, shares, within};
use super::kind::ResponseKind;
use crate::config::ResponseKeys;
use crate::finding::Finding;
use crate::lookup::{Lookup, sorted};

/// The response `volume`.
pub(super) const VOLUME: ResponseKind = ResponseKind {
    is_of_states: false,
    is_share: true,
    most: Some((
        1.0,
        "the limit of the volume is more than all of it",
        "a volume is given as a share of the design volume; 0.3 is usual",
    )),
    ..ResponseKind::new(
        "volume",
        "Share of the design volume that material fills; of a set, share of its volume.",
        |_| "volume",
    )
};

/// The share of the design volume that material fills, or of the volume of some elements.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Volume {
    elements: Option<Vec<u32>>,
}

/// Builds the volume of the design, or of the set of `keys`.
pub(super) fn pose(
    lookup: &Lookup,
    keys: ResponseKeys,
    _: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<Volume> {
    let elements = keys.set.map(|set| sorted(lookup.elements(set, findings)));
    vec![Volume { elements }]
}

impl PosedForm for Volume {
    fn numbers(&mut self) -> Option<Numbers<'_>> {
        self.elements.as_mut().map(Numbers::Elements)
    }

    fn is_usual(&self) -> bool {
        self.elements.is_none()
    }

    fn is_share(&self) -> bool {
        self.elements.is_none()
    }

    fn is_helped_by_material(&self, _: bool, _: f64) -> bool {
        false
    }
}

impl Measured for Volume {
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        part: Part<'a>,
        _: &B,
        _: f64,
    ) -> Result<Measure<'a, B>, BackendError> {
        Ok(match &self.elements {
            None => Measure::Volume,
            Some(set) => Measure::Densities(shares(within(set, &part.space.volumes))),
        })
    }
}

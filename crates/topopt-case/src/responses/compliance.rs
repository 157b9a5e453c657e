//! The compliance.

use serde::{Deserialize, Serialize};
use topopt_linalg::{BackendError, Pointwise};

use super::form::{Measure, Measured, Part, PosedForm};
use super::kind::ResponseKind;
use crate::config::ResponseKeys;
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The response `compliance`.
pub(super) const COMPLIANCE: ResponseKind = ResponseKind {
    no_set: Some("remove it: the compliance is that of the whole part"),
    is_work: true,
    ..ResponseKind::new("compliance", "The compliance (force times length).", |_| "compliance")
};

/// The compliance of all load cases with their weights, or of one without it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Compliance {
    case: Option<usize>,
}

/// Builds the compliances of `cases`; of all together, if there is none.
pub(super) fn pose(
    _: &Lookup,
    _: ResponseKeys,
    cases: &[usize],
    _: &mut Vec<Finding>,
) -> Vec<Compliance> {
    match cases {
        [] => vec![Compliance { case: None }],
        cases => cases.iter().map(|&case| Compliance { case: Some(case) }).collect(),
    }
}

impl PosedForm for Compliance {
    fn case(&self) -> Option<usize> {
        self.case
    }

    fn is_usual(&self) -> bool {
        self.case.is_none()
    }

    fn only_falls(&self) -> bool {
        true
    }
}

impl Measured for Compliance {
    fn measure<'a, B: Pointwise + Sync + 'a>(
        &self,
        _: Part<'a>,
        _: &B,
        _: f64,
    ) -> Result<Measure<'a, B>, BackendError> {
        Ok(Measure::Compliance(self.case))
    }
}

//! Temperatures of a set: the mean, or the largest.

use super::at_nodes::{AtNodes, EXPONENT};
use super::kind::ResponseKind;
use crate::config::{Config, PhysicsKind, ResponseKeys};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The response `mean_temperature`.
pub(super) const MEAN_TEMPERATURE: ResponseKind = ResponseKind {
    physics: Some(PhysicsKind::Heat),
    measured_at: Some("to measure the temperature at"),
    has_sign: |_| true,
    zero: Config::coldest,
    ..ResponseKind::new("mean_temperature", "Mean temperature of a set.", |_| "mean temperature")
};

/// The response `largest_temperature`.
pub(super) const LARGEST_TEMPERATURE: ResponseKind = ResponseKind {
    name: "largest_temperature",
    text: "Largest temperature of a set, approximated by a p-norm.",
    is_norm: |_| true,
    words: |_| "largest temperature",
    ..MEAN_TEMPERATURE
};

/// Builds the mean temperatures of `cases`.
pub(super) fn pose_mean(
    lookup: &Lookup,
    keys: ResponseKeys,
    cases: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<AtNodes> {
    let shares = lookup.shares(keys, findings);
    // Of a temperature the first component is all.
    cases.iter().map(|&case| AtNodes::mean(case, &shares, [1.0, 0.0, 0.0])).collect()
}

/// Builds the largest temperatures of `cases`.
pub(super) fn pose_largest(
    lookup: &Lookup,
    keys: ResponseKeys,
    cases: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<AtNodes> {
    let (shares, exponent) = (lookup.shares(keys, findings), keys.exponent_or(EXPONENT));
    cases.iter().map(|&case| AtNodes::largest(case, &shares, exponent)).collect()
}

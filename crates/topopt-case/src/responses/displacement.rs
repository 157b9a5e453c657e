//! Displacements of a set: along a direction, or the largest.

use super::at_nodes::{AtNodes, EXPONENT};
use super::kind::{Direction, ResponseKind};
use crate::config::{PhysicsKind, ResponseKeys};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The response `displacement`.
pub(super) const DISPLACEMENT: ResponseKind = ResponseKind {
    physics: Some(PhysicsKind::Elasticity),
    measured_at: Some("to measure the displacement at"),
    direction: Direction::Optional,
    is_norm: |keys| keys.direction.is_none(),
    has_sign: |keys| keys.direction.is_some(),
    positive: "give a length above 0; only a displacement with a `direction` has a sign",
    ..ResponseKind::new("displacement", "Displacement of a set (length).", |keys| {
        if keys.direction.is_none() { "largest displacement" } else { "displacement" }
    })
};

/// The response `output_displacement`.
pub(super) const OUTPUT_DISPLACEMENT: ResponseKind = ResponseKind {
    name: "output_displacement",
    text: "Displacement of the output of a mechanism: a set with springs, which represent the workpiece.",
    direction: Direction::Needed("add `direction = [x, y, z]`: where the output is to move"),
    is_output: true,
    words: |_| "output displacement",
    ..DISPLACEMENT
};

/// Builds the displacements of `cases`.
pub(super) fn pose(
    lookup: &Lookup,
    keys: ResponseKeys,
    cases: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<AtNodes> {
    let shares = lookup.shares(keys, findings);
    let of = |&case: &usize| match keys.direction {
        Some(direction) => AtNodes::mean(case, &shares, *direction.get_ref()),
        None => AtNodes::largest(case, &shares, keys.exponent_or(EXPONENT)),
    };
    cases.iter().map(of).collect()
}

/// Builds the output displacements of `cases`.
pub(super) fn pose_output(
    lookup: &Lookup,
    keys: ResponseKeys,
    cases: &[usize],
    findings: &mut Vec<Finding>,
) -> Vec<AtNodes> {
    let forms = pose(lookup, keys, cases, findings);
    findings.extend(without_springs(lookup, keys));
    forms
}

/// An output that nothing resists along its direction: a mechanism for no work.
fn without_springs(lookup: &Lookup, keys: ResponseKeys) -> Option<Finding> {
    let (direction, set) = (keys.direction?, keys.set?);
    // Springs and a set that are not there are reported elsewhere.
    let springs = lookup.springs(&mut Vec::new());
    let nodes = lookup.shares(keys, &mut Vec::new());
    let resists = |stiffness: &[f64; 3]| {
        stiffness.iter().zip(direction.get_ref()).any(|(k, d)| *k > 0.0 && *d != 0.0)
    };
    let has_spring = springs.iter().any(|(node, stiffness)| {
        nodes.iter().any(|(other, _)| other == node) && resists(stiffness)
    });
    if has_spring || nodes.is_empty() {
        return None;
    }

    let name = set.get_ref();
    let message = format!("the output `{name}` has no springs along its direction");
    let remedy = format!(
        "add [[springs]] with `set = \"{name}\"`, as stiff as what the mechanism works on; or ask \
         for the `displacement`"
    );
    let finding = Finding::new(message).remedy(remedy);
    Some(finding.at(lookup.config.source(), direction.span(), "nothing works against it"))
}

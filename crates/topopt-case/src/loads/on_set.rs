//! Forces and moments on a set as a whole.

use std::ops::Range;

use topopt_fem::remote_load::{PointLoad, SpreadError, spread};
use topopt_fem::surface_load::{self, NodalForces};
use topopt_mesh::numbers::shown;

use super::kind::{LoadKey, LoadKind, Place, Shape};
use crate::config::Load;
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The load `total_force`.
pub(super) const TOTAL_FORCE: LoadKind = LoadKind::new(
    &[
        LoadKey::new(
            "total_force",
            Shape::Vector,
            "Force [x, y, z] on the set as a whole: on faces as a uniform traction, on nodes in \
             equal shares; with `at` by least squares.",
        ),
        LoadKey {
            alone: ["where what acts?", "which acts at this point"],
            ..LoadKey::new(
                "at",
                Shape::Vector,
                "Point [x, y, z] at which `total_force` acts: the nodes take its moment as well, as \
                 by an RBE3 element.",
            )
        },
    ],
    " (on the whole set)",
    Place::Set,
    total_force,
);

/// The load `moment`.
pub(super) const MOMENT: LoadKind = LoadKind {
    is_moment: true,
    never_with: Some((
        "at",
        [
            "a moment with `at`",
            "no place here",
            "remove `at`: a moment is the same about every point; for a force at a point beside \
             it, add [[loads]] with `total_force` and `at`",
        ],
    )),
    ..LoadKind::new(
        &[LoadKey::new(
            "moment",
            Shape::Vector,
            "Moment [x, y, z] on the set as a whole, as forces on its nodes by least squares.",
        )],
        " (on the whole set)",
        Place::Set,
        moment,
    )
};

fn total_force(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let Some((set, force)) = load.set.as_ref().zip(load.vector("total_force")) else {
        return vec![];
    };
    if let Some(at) = load.vector("at") {
        let point_load = PointLoad { force, moment: [0.0; 3], at };
        return spread_over(lookup, load, point_load, "total_force", findings);
    }
    if let Some(faces) = lookup.faces(set, load.kind) {
        return surface_load::total_force(lookup.mesh, &faces, force);
    }
    let nodes = lookup.nodes(set, load.kind, findings);
    let share = force.map(|f| f / nodes.len() as f64);
    nodes.into_iter().map(|node| (node, share)).collect()
}

fn moment(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let moment = load.vector("moment").unwrap_or_default();
    let point_load = PointLoad { force: [0.0; 3], moment, at: [0.0; 3] };
    spread_over(lookup, load, point_load, "moment", findings)
}

/// A force at a point or a moment, on the nodes of the set of `load`.
fn spread_over(
    lookup: &Lookup,
    load: &Load,
    point_load: PointLoad,
    key: &str,
    findings: &mut Vec<Finding>,
) -> NodalForces {
    let Some((set, place)) = load.set.as_ref().zip(load.span_of(key)) else { return vec![] };
    let weights = lookup.areas(set, load.kind, findings);
    if weights.is_empty() {
        return vec![];
    }
    spread(lookup.mesh, &weights, &point_load).unwrap_or_else(|error| {
        findings.push(no_moment(lookup, set.get_ref(), error, place));
        vec![]
    })
}

/// A moment that the nodes of a set do not take.
fn no_moment(lookup: &Lookup, name: &str, error: SpreadError, place: Range<usize>) -> Finding {
    let (message, remedy) = match error {
        SpreadError::Point => (
            format!("the nodes of set `{name}` are in one point and take no moment"),
            "name a set of several nodes, or put `at` on the node".to_owned(),
        ),
        SpreadError::Line(axis) => {
            let [x, y, z] = axis.map(shown);
            (
                format!("the nodes of set `{name}` are on a line and take no moment about it"),
                format!(
                    "name a set that is wider across its direction ({x}, {y}, {z}), or leave this \
                     part of the moment out; a force with `at` on the line has none"
                ),
            )
        }
    };
    let finding = Finding::new(message).remedy(remedy);
    finding.at(lookup.config.source(), place, "has a moment about them")
}

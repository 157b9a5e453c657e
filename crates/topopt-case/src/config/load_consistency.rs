//! Consistency of the keys of `[[loads]]`.

use std::ops::Range;

use super::{Config, Load, LoadQuantity, PhysicsKind, SelectKind};
use crate::finding::Finding;

/// Returns a finding for each of `[[loads]]` whose keys do not fit together.
pub(super) fn loads(config: &Config) -> Vec<Finding> {
    let finding = |(i, load): (usize, &Load)| {
        let quantities = load.quantities();
        let (message, label, span) = match quantities.as_slice() {
            [one] => return point(config, load).or_else(|| loaded_set(config, load, one)),
            [] => {
                let entry = || config.span(&format!("loads.{i}"));
                let span = load.set.as_ref().map_or_else(entry, |set| set.span());
                let message = match config.physics.kind {
                    PhysicsKind::Elasticity => "a load without a force",
                    PhysicsKind::Heat => "a load without heat",
                };
                (message, "no magnitude given", span)
            }
            [.., (_, span)] => ("a load of more than one kind", "one too many", span.clone()),
        };
        Some(Finding::new(message).at(config.source(), span, label).remedy(known(config)))
    };
    config.loads.iter().enumerate().filter_map(finding).collect()
}

/// Returns a remedy that lists the kinds of loads of the physics.
fn known(config: &Config) -> &'static str {
    match config.physics.kind {
        PhysicsKind::Elasticity => {
            "give one of `force` (on each node), `total_force` (on the whole set), `moment` (on \
             the whole set), `bearing` (a pin in a bore), `traction` (per area), `pressure` (per \
             area, along the normal), `gravity` and `angular_velocity` (on the whole part), and \
             `from_mesh`; several [[loads]] of a case act together"
        }
        PhysicsKind::Heat => {
            "give one of `heat_flux` (per area), `heat_source` (per volume) and `total_heat` (into \
             the whole set), and `from_mesh`; several [[loads]] of a case act together"
        }
    }
}

/// `at` and `center`, which belong to one quantity each.
fn point(config: &Config, load: &Load) -> Option<Finding> {
    let at = |message: &str, span: Range<usize>, label: &str, remedy: &str| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    if let (Some(place), true) = (&load.at, load.moment.is_some()) {
        return at(
            "a moment with `at`",
            place.span(),
            "no place here",
            "remove `at`: a moment is the same about every point; for a force at a point beside \
             it, add [[loads]] with `total_force` and `at`",
        );
    }
    if let (Some(place), None) = (&load.at, &load.total_force) {
        let remedy = "remove `at`, or give `total_force`, which acts at this point";
        return at("`at` without `total_force`", place.span(), "where what acts?", remedy);
    }
    if let (Some(center), None) = (&load.center, &load.angular_velocity) {
        let remedy = "remove `center`, or give `angular_velocity`, which turns about it; a force at \
                      a point has `at`";
        return at("`center` without `angular_velocity`", center.span(), "center of what?", remedy);
    }
    None
}

/// Whether the load has a set just if it needs one, and the mass that it needs.
fn loaded_set(
    config: &Config,
    load: &Load,
    (quantity, span): &(LoadQuantity, Range<usize>),
) -> Option<Finding> {
    let at = |message: String, span: Range<usize>, label: &str, remedy: &str| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    if let LoadQuantity::Gravity(_) | LoadQuantity::AngularVelocity(_) = quantity {
        return whole_part(config, load, quantity, span);
    }

    match (quantity, &load.set) {
        (LoadQuantity::HeatFlux(_), Some(set)) if is_no_face(load.kind) => {
            let remedy = "leave `kind` out, or give `total_heat`";
            at("a load per area needs faces".into(), set.span(), "`kind` says otherwise", remedy)
        }
        (LoadQuantity::Traction(_) | LoadQuantity::Pressure(_), Some(set))
            if is_no_face(load.kind) =>
        {
            let remedy = "leave `kind` out, or give `total_force`";
            at("a load per area needs faces".into(), set.span(), "`kind` says otherwise", remedy)
        }
        (LoadQuantity::Bearing(_), Some(set)) if is_no_face(load.kind) => {
            let remedy = "leave `kind` out, or give `total_force`";
            at("a bearing needs faces".into(), set.span(), "`kind` says otherwise", remedy)
        }
        (LoadQuantity::HeatSource(_), None) | (_, Some(_)) => None,
        (_, None) => at(
            "a load without a set".into(),
            span.clone(),
            "on which set?",
            "add `set = ...`: the name of a node, face or element set",
        ),
    }
}

/// Gravity and rotation, which have no set and need mass.
fn whole_part(
    config: &Config,
    load: &Load,
    quantity: &LoadQuantity,
    span: &Range<usize>,
) -> Option<Finding> {
    let name = match quantity {
        LoadQuantity::Gravity(_) => "gravity",
        _ => "a rotation",
    };
    let finding = |message: String, span: Range<usize>, label: &str| {
        Finding::new(message).at(config.source(), span, label)
    };
    let on_whole = format!("{name} acts on the whole part");

    if let Some(set) = &load.set {
        let remedy = "remove `set`; for a force on part of the structure use `total_force`";
        return Some(finding(on_whole, set.span(), "no set here").remedy(remedy));
    }
    if load.kind.is_some() {
        let remedy = "remove `kind`: it chooses among sets of one name";
        return Some(finding(on_whole, span.clone(), "no `kind` here").remedy(remedy));
    }
    // With several materials it depends on the mesh whether [material] has any elements.
    (config.material.mass_density.is_none() && config.materials.is_empty()).then(|| {
        let message = format!("{name} needs the mass of the material");
        finding(message, span.clone(), "[material] has no `mass_density`").remedy(
            "add `mass_density = ...` to [material]: mass per volume of solid material, in units \
             that go with the others (steel: 7850 with m, kg, N; 7.85e-9 with mm, t, N)",
        )
    })
}

/// Whether `kind` rules faces out.
pub(super) fn is_no_face(kind: Option<SelectKind>) -> bool {
    kind.is_some_and(|kind| kind != SelectKind::Faces)
}

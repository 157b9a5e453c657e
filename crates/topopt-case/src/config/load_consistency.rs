//! Consistency of the keys of `[[loads]]`.

use std::ops::Range;

use super::{Config, Load, SelectKind};
use crate::finding::Finding;
use crate::loads::LOADS;
use crate::loads::kind::{LoadKind, Place};

/// Returns a finding for each of `[[loads]]` whose keys do not fit together.
pub(super) fn loads(config: &Config) -> Vec<Finding> {
    let finding = |(i, load): (usize, &Load)| {
        let kinds: Vec<&LoadKind> = load.kinds().collect();
        let (message, label, span) = match kinds[..] {
            [kind] => {
                return other_keys(config, load, kind).or_else(|| loaded_set(config, load, kind));
            }
            [] => {
                let entry = || config.span(&format!("loads.{i}"));
                let span = load.set.as_ref().map_or_else(entry, |set| set.span());
                (config.physics.kind.data().no_magnitude, "no magnitude given", span)
            }
            [.., last] => {
                let span = load.span_of(last.key()).unwrap_or(0..0);
                ("a load of more than one kind", "one too many", span)
            }
        };
        Some(Finding::new(message).at(config.source(), span, label).remedy(known(config)))
    };

    config.loads.iter().enumerate().filter_map(finding).collect()
}

/// Returns a remedy that lists the kinds of loads of the physics.
fn known(config: &Config) -> String {
    let physics = config.physics.kind;
    let own = LOADS.iter().filter(|kind| kind.physics.is_none_or(|own| own == physics));
    let mut names: Vec<String> = own.map(|kind| format!("`{}`{}", kind.key(), kind.hint)).collect();
    let last = names.pop().unwrap_or_default();
    let others = names.join(", ");
    format!("give one of {others} and {last}; several [[loads]] of a case act together")
}

/// Refuses a key that belongs to another kind than that of the load.
fn other_keys(config: &Config, load: &Load, kind: &LoadKind) -> Option<Finding> {
    let at = |message: &str, span: Range<usize>, label: &str, remedy: &str| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    if let Some((key, [message, label, remedy])) = kind.never_with
        && let Some(place) = load.span_of(key)
    {
        return at(message, place, label, remedy);
    }

    for (owner, key) in
        LOADS.iter().flat_map(|owner| owner.keys.iter().map(move |key| (owner, key)))
    {
        let (name, first) = (key.name, owner.key());
        let Some(place) = load.span_of(name).filter(|_| first != kind.key() && name != first)
        else {
            continue;
        };

        let [label, meaning] = key.alone;
        let message = format!("`{name}` without `{first}`");
        let remedy = format!("remove `{name}`, or give `{first}`, {meaning}");
        return at(&message, place, label, &remedy);
    }
    None
}

/// Whether the load has a set just if it needs one, and the mass that it needs.
fn loaded_set(config: &Config, load: &Load, kind: &LoadKind) -> Option<Finding> {
    let at = |message: String, span: Range<usize>, label: &str, remedy: String| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    match (&kind.place, &load.set) {
        (Place::WholePart(name), _) => whole_part(config, load, name),
        (Place::Faces(what, instead), Some(set)) if is_no_face(load.kind) => {
            let remedy = format!("leave `kind` out, or give `{instead}`");
            at(format!("{what} needs faces"), set.span(), "`kind` says otherwise", remedy)
        }
        (Place::Elements, None) | (_, Some(_)) => None,
        (_, None) => at(
            "a load without a set".into(),
            load.span(),
            "on which set?",
            "add `set = ...`: the name of a node, face or element set".into(),
        ),
    }
}

/// Gravity and rotation, which have no set and need mass.
fn whole_part(config: &Config, load: &Load, name: &str) -> Option<Finding> {
    let span = load.span();
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
        finding(message, span.clone(), "[material] has no `mass_density`").remedy(MASS_DENSITY)
    })
}

/// Remedy where the material has no mass.
pub(super) const MASS_DENSITY: &str = "add `mass_density = ...` to [material]: mass per volume of solid material, in units that go \
     with the others (steel: 7850 with m, kg, N; 7.85e-9 with mm, t, N)";

/// Whether `kind` rules faces out.
pub(super) fn is_no_face(kind: Option<SelectKind>) -> bool {
    kind.is_some_and(|kind| kind != SelectKind::Faces)
}

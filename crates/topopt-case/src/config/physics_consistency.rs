//! The keys that each physics has.

use std::ops::Range;

use super::{Config, PhysicsKind, Property, SetMaterial};
use crate::expression::{Expression, PARTS};
use crate::finding::Finding;
use crate::loads::kind::LoadKind;

/// Keys of other physics than that of the case, and keys that it needs.
pub(super) fn physics(config: &Config) -> Vec<Finding> {
    let kind = config.physics.kind;
    let mut findings = Vec::new();

    for (other, key, span) in used(config).into_iter().filter(|(other, ..)| *other != kind) {
        let message = format!("`{key}` belongs to the physics `{}`", other.data().name);
        let label = format!("this case computes `{}`", kind.data().name);
        let remedy = match other == PhysicsKind::default() {
            true => format!("remove the key, or `kind = \"{}\"` of [physics]", kind.data().name),
            false => {
                format!("add [physics] with `kind = \"{}\"`, or remove the key", other.data().name)
            }
        };
        findings.push(Finding::new(message).at(config.source(), span, &label).remedy(remedy));
    }

    for material in &config.materials {
        let key = kind.data().property;
        if !(kind.data().has_property)(material) {
            let name = material.set.get_ref();
            let message = format!("the material of set `{name}` has no `{key}`");
            let finding = Finding::new(message).at(config.source(), material.set.span(), "here");
            findings.push(finding.remedy(format!("add `{key} = ...`")));
        }
    }

    findings.extend(fields(config));
    findings
}

/// Expressions that are none, and arrays that the mesh cannot have.
fn fields(config: &Config) -> Vec<Finding> {
    let file = config.mesh_path();
    let has_arrays = file.as_ref().and_then(|path| path.extension());
    let has_arrays = has_arrays.is_some_and(|extension| extension.eq_ignore_ascii_case("vtu"));

    let mut findings = Vec::new();
    for property in config.properties() {
        let parts =
            property.given().flat_map(|given| (0..).zip(given.parts).map(move |p| (given, p)));
        for (given, (axis, part)) in parts {
            let key = given.name(property.key, axis);
            let mut place = given.span.clone();
            let (message, remedy) = match part {
                Property::Expression(text) => match Expression::parse(text) {
                    Ok(_) => continue,
                    Err(error) => {
                        let inner = error.at.and_then(|at| within(config, &place, text, at));
                        place = inner.unwrap_or(place);
                        (format!("`{key}` is no expression: {}", error.why), PARTS)
                    }
                },
                Property::Array(_) if !has_arrays => (
                    format!("`{key}` is an array, and only a mesh from a .vtu file has arrays"),
                    "name a .vtu file with the array in `mesh.file`, or give an expression",
                ),
                _ => continue,
            };
            let finding = Finding::new(message).at(config.source(), place, "here");
            findings.push(finding.remedy(remedy));
        }
    }

    findings
}

/// The place of the bytes `at` of the string `text`, which stands in the value at `value`; none
/// where it is written with escapes.
fn within(
    config: &Config,
    value: &Range<usize>,
    text: &str,
    at: Range<usize>,
) -> Option<Range<usize>> {
    let written = config.source().text(value.clone())?;
    let quoted = ['"', '\''].map(|quote| format!("{quote}{text}{quote}"));
    let start = value.start + quoted.iter().find_map(|quoted| written.find(quoted.as_str()))? + 1;
    Some(start + at.start..start + at.end)
}

/// The keys in the case that are of one physics, with their places.
fn used(config: &Config) -> Vec<(PhysicsKind, String, Range<usize>)> {
    use PhysicsKind::{Elasticity, Heat};
    let mut used = Vec::new();

    for load in &config.loads {
        let own =
            |kind: &LoadKind| Some((kind.physics?, kind.key().into(), load.span_of(kind.key())?));
        used.extend(load.kinds().filter_map(own));
    }

    for (i, support) in config.supports.iter().enumerate() {
        used.extend(support.temperature.as_ref().map(|t| (Heat, "temperature".into(), t.span())));
        let (moved, turned) = (support.displacement.as_ref(), support.rotation.as_ref());
        used.extend(moved.map(|d| (Elasticity, "displacement".into(), d.span())));
        used.extend(turned.map(|d| (Elasticity, "rotation".into(), d.span())));
        // All directions are what a written case has.
        let fix = format!("supports.{i}.fix");
        let is_partial = support.fix.len() < 3;
        used.extend(is_partial.then(|| (Elasticity, "fix".into(), config.span(&fix))));
    }

    let springs = config.springs.iter();
    used.extend(springs.map(|spring| (Elasticity, "[[springs]]".into(), spring.set.span())));

    let of_all = config.material.yield_strength.map(|_| config.span("material.yield_strength"));
    let own = config.materials.iter().filter(|material| material.yield_strength.is_some());
    let strengths = of_all.into_iter().chain(own.map(|material| material.set.span()));
    used.extend(strengths.map(|span| (Elasticity, "yield_strength".into(), span)));

    let own = config.materials.iter().filter_map(|material| material.thermal_expansion.as_ref());
    let expansions = config.material.thermal_expansion.as_ref().into_iter().chain(own);
    used.extend(expansions.map(|a| (Elasticity, "thermal_expansion".into(), a.span())));

    let of_sets = config.materials.iter().flat_map(SetMaterial::laws);
    let laws = config.material.laws().into_iter().chain(of_sets);
    used.extend(laws.map(|given| (Elasticity, given.key.into(), given.span)));

    let relief = config.inertia_relief.then(|| config.span("inertia_relief"));
    used.extend(relief.map(|span| (Elasticity, "inertia_relief".into(), span)));

    let films = config.convection.iter();
    used.extend(films.map(|film| (Heat, "[[convection]]".into(), film.set.span())));
    used
}

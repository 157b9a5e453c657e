//! The lines of a solved load case, for people.

pub(super) mod thermal;

use topopt_case::unit_names::UnitNames;
use topopt_mesh::numbers::{place, shown};
use topopt_study::solved::{
    Balance, Displacement, Reaction, RestraintKind, Safety, SolvedCase, Stress,
};

use super::pages::wording::kilograms;

/// Name and text of each line of its numbers.
pub(in crate::commands) fn numbers(case: &SolvedCase) -> Vec<(String, String)> {
    let (weight, compliance) = (shown(case.weight), shown(case.compliance));
    vec![
        ("compliance".into(), format!("{compliance}, weight {weight}")),
        ("largest displacement".into(), displacement(&case.largest_displacement)),
        ("von Mises stress".into(), percentiles(&case.von_mises)),
        (String::new(), largest(&case.von_mises)),
    ]
}

/// A mass for people: in kg where the units of the case tell.
pub(in crate::commands) fn mass_text(mass: f64, units: Option<&UnitNames>) -> String {
    let factor = units.and_then(|units| kilograms(units.length, units.force?));
    factor.map_or_else(|| shown(mass), |factor| format!("{} kg", shown(factor * mass)))
}

/// Name and text of the line of each safety factor.
pub(in crate::commands) fn safety_factors(all: &[Safety]) -> Vec<(String, String)> {
    let line = |safety: &Safety| {
        let Safety { factor, element, at, yield_strength, .. } = safety;
        let [factor, strength] = [*factor, *yield_strength].map(shown);
        let (material, at) = (safety.material(), place(*at));
        let text = format!("{factor} at element {element}, {at}; {material} yields at {strength}");
        ("safety factor".into(), text)
    };
    all.iter().map(line).collect()
}

/// Name and text of each line of the forces on the part; components that are noise of a solve to the
/// relative `residual` are shown as 0.
pub(in crate::commands) fn forces(case: &SolvedCase, residual: f64) -> Vec<(String, String)> {
    let Balance { applied, reactions, sum, .. } = &case.balance;
    let all = reactions.iter().map(|reaction| &reaction.force).chain([applied]).flatten();
    let size = all.fold(0.0, |size: f64, f| size.max(f.abs()));
    let text = |force: &[f64; 3], share: f64| {
        place(force.map(|f| if f.abs() <= share * size { 0.0 } else { f }))
    };

    let mut lines = vec![("applied forces".into(), text(applied, ROUNDING))];
    lines.extend(reactions.iter().map(|Reaction { kind, set, force, .. }| {
        let kind = match kind {
            RestraintKind::Support => "support",
            RestraintKind::Springs => "springs",
        };
        (format!("{kind} {set}"), text(force, residual.max(ROUNDING)))
    }));
    lines.push(("sum".into(), text(sum, ROUNDING)));
    lines
}

/// Share of the largest force below which a component is rounding.
const ROUNDING: f64 = 1e-12;

pub(in crate::commands) fn displacement(moved: &Displacement) -> String {
    format!("{} at node {}, {}", shown(moved.value), moved.node, place(moved.at))
}

pub(in crate::commands) fn percentiles(stress: &Stress) -> String {
    let [p95, p99] = [stress.percentile_95, stress.percentile_99].map(shown);
    format!("95th percentile by volume {p95}, 99th percentile {p99}")
}

pub(in crate::commands) fn largest(stress: &Stress) -> String {
    let maximum = shown(stress.maximum);
    format!("largest {maximum} at element {}, {}", stress.element, place(stress.at))
}

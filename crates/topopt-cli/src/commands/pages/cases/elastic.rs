//! The table of elastic load cases.

use serde_json::Value;
use topopt_mesh::vector::length;
use topopt_report::{Fact, Table, number};

use super::rows::Rows;
use crate::commands::pages::wording::{
    DIGITS, Units, components, of, place, text, vector, with_unit,
};

/// A row for each number, a column for each load case.
pub(in crate::commands) fn table(found: &Value, units: &Units) -> Table {
    let rows = Rows::of(found);
    let cases = &rows.cases;
    let row = |name: String, value: &dyn Fn(&Value) -> String| rows.row(name, value);
    let residual = found["pcg_residual"].as_f64().unwrap_or(0.0);
    let plain = |key: &'static str| move |case: &Value| with_unit(&case[key], "");
    let stress = |key: &'static str| move |case: &Value| with_unit(&case["von_mises"][key], "");

    let moved = |case: &Value| {
        let moved = &case["largest_displacement"];
        let value = with_unit(&moved["value"], "");
        let along =
            without_noise(&moved["components"], 1e-6 * moved["value"].as_f64().unwrap_or(0.0));
        format!("{value}\n{along}\nnode {} {}", moved["node"], place(moved))
    };
    let peak = |stress: &Value| {
        let value = with_unit(&stress["maximum"], "");
        format!("{value}\nelement {} {}", stress["element"], place(stress))
    };

    let mut table = vec![
        row("Weight".into(), &plain("weight")),
        row(of("Compliance", &units.energy), &plain("compliance")),
        row(of("Largest displacement", &units.length), &moved),
        row(
            of("Von Mises stress, 95th percentile by volume", &units.stress),
            &stress("percentile_95"),
        ),
        row(
            of("Von Mises stress, 99th percentile by volume", &units.stress),
            &stress("percentile_99"),
        ),
        row(of("Largest von Mises stress", &units.stress), &|case| peak(&case["von_mises"])),
    ];
    if cases.iter().any(|case| case["gauss_points"].is_object()) {
        table.push(row(of("Largest at a Gauss point", &units.stress), &|case| {
            peak(&case["gauss_points"])
        }));
    }
    for (key, at) in FACTORS {
        let all = cases.first().and_then(|case| case[key].as_array()).into_iter().flatten();
        table.extend(all.enumerate().map(|(k, safety)| {
            let set = safety["set"].as_str().map_or(String::new(), |set| format!(", set {set}"));
            row(format!("Safety factor{at}{set}"), &|case| {
                let safety = &case[key][k];
                let value = with_unit(&safety["factor"], "");
                format!("{value}\nelement {} {}", safety["element"], place(safety))
            })
        }));
    }
    table.extend([
        row(of("Applied force", &units.force), &|case| {
            without_noise(&case["applied"], 1e-9 * scale(case, "force", "applied"))
        }),
        row(of("Moment about the origin", &units.energy), &|case| {
            let noise = 1e-9 * scale(case, "moment", "applied_moment");
            without_noise(&case["applied_moment"], noise)
        }),
    ]);
    let restraints =
        cases.first().map_or(0, |case| case["reactions"].as_array().map_or(0, Vec::len));
    table.extend((0..restraints).flat_map(|k| {
        let first = &cases[0]["reactions"][k];
        let name = format!("Reaction of {} {}", text(&first["kind"]), text(&first["set"]));
        let reaction = |what: &'static str, applied: &'static str| {
            move |case: &Value| {
                let noise = residual.max(1e-9) * scale(case, what, applied);
                without_noise(&case["reactions"][k][what], noise)
            }
        };
        [
            row(of(&name, &units.force), &reaction("force", "applied")),
            row(
                of("Moment about the origin", &units.energy),
                &reaction("moment", "applied_moment"),
            ),
        ]
    }));
    rows.table(table)
}

/// Keys of the safety factors, and where the stress is that they are of.
const FACTORS: [(&str, &str); 2] =
    [("safety_factors", ""), ("gauss_point_safety_factors", " at a Gauss point")];

/// The smallest safety factor of all materials and load cases, where there is one.
pub(in crate::commands) fn least_safety(found: &Value) -> Option<Fact> {
    let cases = found["load_cases"].as_array().into_iter().flatten();
    let factors = cases.flat_map(|case| FACTORS.map(|(key, _)| &case[key]));
    let factors = factors.filter_map(Value::as_array).flatten();
    let factors = factors.filter_map(|safety| safety["factor"].as_f64());
    let least = factors.reduce(f64::min)?;
    Some(
        Fact::new("Safety factor", number(least, DIGITS))
            .noted("yield strength / von Mises stress"),
    )
}

/// The size of the largest force or moment of a load case: of reactions by the key `what`, of loads
/// by the key `applied`.
fn scale(case: &Value, what: &str, applied: &str) -> f64 {
    let reactions = case["reactions"].as_array().into_iter().flatten();
    let all = reactions.map(|reaction| &reaction[what]).chain([&case[applied]]);
    all.map(|vector| length(components(vector))).fold(0.0, f64::max)
}

/// A vector; components up to `noise` are what the solver leaves.
fn without_noise(of: &Value, noise: f64) -> String {
    vector(components(of).map(|x| if x.abs() <= noise { 0.0 } else { x }), DIGITS)
}

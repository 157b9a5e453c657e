//! The table of elastic load cases.

use serde_json::Value;
use topopt_mesh::vector::length;
use topopt_report::Table;

use super::rows::Rows;
use crate::commands::pages::wording::{Units, components, of, place, text, vector, with_unit};

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
        format!("{value}\nnode {} {}", moved["node"], place(moved))
    };
    let peak = |stress: &Value| {
        let value = with_unit(&stress["maximum"], "");
        format!("{value}\nelement {} {}", stress["element"], place(stress))
    };

    let mut table = vec![
        row("Weight".into(), &plain("weight")),
        row(of("Compliance", &units.energy), &plain("compliance")),
        row(of("Largest displacement", &units.length), &moved),
        row(of("Von Mises stress, 95 % of volume", &units.stress), &stress("percentile_95")),
        row(of("Von Mises stress, 99 % of volume", &units.stress), &stress("percentile_99")),
        row(of("Largest von Mises stress", &units.stress), &|case| peak(&case["von_mises"])),
    ];
    if cases.iter().any(|case| case["gauss_points"].is_object()) {
        table.push(row(of("Largest at a Gauss point", &units.stress), &|case| {
            peak(&case["gauss_points"])
        }));
    }
    table.extend([
        row(of("Applied force", &units.force), &|case| {
            force(components(&case["applied"]), 1e-9 * scale(case, "force", "applied"))
        }),
        row(of("Its moment about the origin", &units.energy), &|case| {
            let noise = 1e-9 * scale(case, "moment", "applied_moment");
            force(components(&case["applied_moment"]), noise)
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
                force(components(&case["reactions"][k][what]), noise)
            }
        };
        [
            row(of(&name, &units.force), &reaction("force", "applied")),
            row(
                of("Its moment about the origin", &units.energy),
                &reaction("moment", "applied_moment"),
            ),
        ]
    }));
    rows.table(table)
}

/// The size of the largest force or moment of a load case: of reactions by the key `what`, of loads
/// by the key `applied`.
fn scale(case: &Value, what: &str, applied: &str) -> f64 {
    let reactions = case["reactions"].as_array().into_iter().flatten();
    let all = reactions.map(|reaction| &reaction[what]).chain([&case[applied]]);
    all.map(|vector| length(components(vector))).fold(0.0, f64::max)
}

/// A force; components up to `noise` are what the solver leaves.
fn force(x: [f64; 3], noise: f64) -> String {
    vector(x.map(|x| if x.abs() <= noise { 0.0 } else { x }), 4)
}

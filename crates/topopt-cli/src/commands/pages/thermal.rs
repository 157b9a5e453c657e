//! Temperatures and heat fluxes as the pages show them.

use serde_json::Value;
use topopt_mesh::vector::length;
use topopt_report::{Fact, NodalField, number};
use topopt_study::solved_file::ThermalFile;

use super::wording::{DIGITS, text};

/// The title of their section.
pub const TITLE: &str = "Temperatures and heat flux";

/// A sentence about the pictures.
pub const ABOUT: &str = "Heat flux at element centers, averaged at the nodes; arrows show its \
                         direction.";

/// Temperature and heat flux in each load case of which `all` says what was found.
pub fn pictures(fields: ThermalFile, all: &[Value]) -> Vec<NodalField> {
    let ThermalFile { temperatures, fluxes } = fields;
    let is_single = all.len() == 1;
    let of_case = |((temperatures, fluxes), case): ((Vec<f64>, Vec<[f64; 3]>), &Value)| {
        let name = if is_single { String::new() } else { format!(", {}", text(&case["name"])) };
        let sizes: Vec<f64> = fluxes.iter().map(|flux| length(*flux)).collect();
        let highest = most_of(&sizes);
        let extreme = |key: &str| case[key]["temperature"].as_f64().unwrap_or(0.0);
        [
            NodalField {
                title: format!("Temperature{name}"),
                unit: String::new(),
                values: temperatures,
                lowest: extreme("coldest"),
                highest: extreme("hottest"),
                is_exceeded: false,
                displacements: None,
                arrows: None,
            },
            NodalField {
                title: format!("Heat flux{name}"),
                unit: String::new(),
                is_exceeded: sizes.iter().any(|size| *size > highest),
                values: sizes,
                lowest: 0.0,
                highest,
                displacements: None,
                arrows: Some(fluxes),
            },
        ]
    };
    temperatures.into_iter().zip(fluxes).zip(all).flat_map(of_case).collect()
}

/// Returns the 99th percentile of the fluxes > 0: at edges of held nodes the flux grows without end.
fn most_of(sizes: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = sizes.iter().copied().filter(|size| *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(99 * sizes.len() / 100).copied().unwrap_or(0.0)
}

/// The highest and the lowest temperature of `all` load cases.
pub fn extremes(all: &[Value]) -> Vec<Fact> {
    let of = |key: &'static str, choose: fn(f64, f64) -> f64| {
        all.iter().filter_map(|case| case[key]["temperature"].as_f64()).reduce(choose)
    };
    let found = [
        ("Highest temperature", of("hottest", f64::max)),
        ("Lowest temperature", of("coldest", f64::min)),
    ];
    let fact = |(name, value): (&str, Option<f64>)| Some(Fact::new(name, number(value?, DIGITS)));
    found.into_iter().filter_map(fact).collect()
}

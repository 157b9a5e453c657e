//! The lines of a load case of heat, for people.

use topopt_mesh::numbers::{place, shown};
use topopt_study::thermal::{Extreme, HeatBalance, ThermalCase};

/// Name and text of each line of its numbers.
pub(in crate::commands) fn numbers(case: &ThermalCase) -> Vec<(String, String)> {
    let compliance = case.compliance.map(|value| ("thermal compliance".into(), shown(value)));
    let extremes =
        [("coldest".into(), extreme(&case.coldest)), ("hottest".into(), extreme(&case.hottest))];
    compliance.into_iter().chain(extremes).chain(balance(&case.heat)).collect()
}

fn extreme(at: &Extreme) -> String {
    format!("{} at node {}, {}", shown(at.temperature), at.node, place(at.at))
}

/// Lines of the heat balance: loads, convection, supports, storage and their sum.
fn balance(heat: &HeatBalance) -> Vec<(String, String)> {
    let mut lines = vec![("heat of loads".to_owned(), shown(heat.loads + 0.0))];
    if heat.convection != 0.0 {
        lines.push(("convection".into(), shown(heat.convection)));
    }
    for support in &heat.supports {
        lines.push((format!("support {}", support.set), shown(support.heat)));
    }
    if heat.stored != 0.0 {
        lines.push(("stored".into(), shown(heat.stored)));
    }
    lines.push(("sum".into(), shown(heat.sum)));
    lines
}

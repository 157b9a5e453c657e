//! The table of load cases of heat: how hot they are, and where heat comes in and goes out.

use serde_json::Value;
use topopt_report::Table;

use super::rows::Rows;
use crate::commands::pages::wording::{place, text, with_unit};

/// A row for each number, a column for each load case.
pub(in crate::commands) fn table(found: &Value) -> Table {
    let rows = Rows::of(found);
    let has = |is_there: &dyn Fn(&Value) -> bool| rows.cases.iter().any(|case| is_there(case));
    let row = |name: &str, value: &dyn Fn(&Value) -> String| rows.row(name.into(), value);
    let extreme = |key: &'static str| {
        move |case: &Value| {
            let at = &case[key];
            let value = with_unit(&at["temperature"], "");
            let node = at["node"].as_u64().map_or(String::new(), |node| format!("node {node} "));
            format!("{value}\n{node}{}", place(at))
        }
    };
    let heat = |key: &'static str| move |case: &Value| shown(&case["heat"][key], case);

    let mut table = Vec::new();
    if has(&|case| case["compliance"].is_number()) {
        table.push(row("Thermal compliance", &|case| with_unit(&case["compliance"], "")));
    }
    table.push(row("Highest temperature", &extreme("hottest")));
    table.push(row("Lowest temperature", &extreme("coldest")));
    if has(&|case| case["into_nodes"].is_number()) {
        let name = "Heat of loads, with that of ambients at the films";
        table.push(row(name, &|case| with_unit(&case["into_nodes"], "")));
    }
    if !has(&|case| case["heat"].is_object()) {
        return rows.table(table);
    }
    table.push(row("Heat of loads", &heat("loads")));
    if has(&|case| case["heat"]["convection"] != 0.0) {
        table.push(row("Heat by convection", &heat("convection")));
    }
    let supports = rows.cases.first().and_then(|case| case["heat"]["supports"].as_array());
    for (k, support) in supports.into_iter().flatten().enumerate() {
        let name = format!("Heat through support {}", text(&support["set"]));
        table.push(rows.row(name, &|case| shown(&case["heat"]["supports"][k]["heat"], case)));
    }
    if has(&|case| case["heat"]["stored"] != 0.0) {
        table.push(row("Heat stored", &heat("stored")));
    }
    table.push(row("Balance (in - out - stored)", &heat("sum")));
    rows.table(table)
}

/// A heat of load case `case`; what is noise of its solve is shown as 0.
fn shown(heat: &Value, case: &Value) -> String {
    let balance = &case["heat"];
    let supports = balance["supports"].as_array().into_iter().flatten();
    let all = supports.map(|support| &support["heat"]);
    let all = all.chain(["loads", "convection", "stored"].map(|key| &balance[key]));
    let largest = all.filter_map(Value::as_f64).fold(0.0, |size: f64, heat| size.max(heat.abs()));
    match heat.as_f64() {
        Some(heat) if heat.abs() <= ROUNDING * largest => "0".into(),
        _ => with_unit(heat, ""),
    }
}

/// Share of the largest heat below which another is rounding.
const ROUNDING: f64 = 1e-12;

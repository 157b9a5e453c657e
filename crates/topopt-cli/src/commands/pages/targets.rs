//! The objective and the limits of a run, with those of the verified design.

use serde_json::Value;
use topopt_report::Target;

use super::wording::{Units, text};

/// The objective and all limits of the run of `summary`; `found`: what a verification has found.
pub(in crate::commands) fn all(
    summary: &Value,
    found: Option<&Value>,
    units: &Units,
) -> Vec<Target> {
    let limits = summary["constraints"].as_array().into_iter().flatten().enumerate();
    let verified_limit = |k: usize| found.map(|found| &found["constraints"][k]);
    let objective = target(&summary["objective"], found.map(|found| &found["objective"]), units);
    let limits = limits.filter_map(|(k, limit)| target(limit, verified_limit(k), units));
    objective.into_iter().chain(limits).collect()
}

/// An objective or a limit; `verified`: the same in the verification.
fn target(found: &Value, verified: Option<&Value>, units: &Units) -> Option<Target> {
    let response = found["response"].as_str()?;
    let value = |value: &Value| Some(units.response(response, value.as_f64()?));
    let asked = verified.and_then(limit).or_else(|| limit(found));
    let limit = asked.map(|(word, limit)| format!("{word} {}", units.response(response, limit)));
    let is_met = |of: &Value| of["met"].as_bool();
    Some(Target {
        name: name(response, units),
        optimized: value(&found["value"])?,
        verified: verified.and_then(|verified| {
            let largest = value(&verified["largest"]).map(|text| format!(" (largest {text})"));
            Some(value(&verified["verified"])? + &largest.unwrap_or_default())
        }),
        limit: limit.unwrap_or_else(|| text(&found["goal"])),
        is_met: verified.and_then(is_met).or_else(|| is_met(found)),
    })
}

/// The response in words; of a volume it is the share that is filled.
pub(in crate::commands) fn name(response: &str, units: &Units) -> String {
    match response.strip_prefix("volume") {
        Some(rest) => format!("Volume fraction{rest}"),
        None => units.words(response),
    }
}

fn limit(found: &Value) -> Option<(&'static str, f64)> {
    let words = [("at_most", "at most"), ("at_least", "at least")].into_iter();
    words.filter_map(|(key, word)| Some((word, found[key].as_f64()?))).next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use topopt_case::config::PhysicsKind;

    use super::*;

    #[test]
    fn a_limit_is_judged_by_the_verified_design() {
        let units = json!({ "units": { "length": "mm", "force": "N", "compliance": "N mm" } });
        let units = Units::of(&units, PhysicsKind::Elasticity);
        let summary = json!({
            "objective": { "response": "mass", "goal": "minimize", "value": 8.04e-5 },
            "constraints": [{
                "response": "displacement of bore in down", "at_most": 0.6, "value": 0.59996, "met": true
            }],
        });
        let found = json!({ "constraints": [{ "verified": 0.7123, "met": false }] });
        let names = |all: &[Target]| {
            let texts = all.iter().map(|t| {
                let verified = t.verified.clone().unwrap_or_default();
                format!("{} | {} | {verified} | {} | {:?}", t.name, t.optimized, t.limit, t.is_met)
            });
            texts.collect::<Vec<_>>()
        };
        assert_eq!(
            names(&all(&summary, Some(&found), &units)),
            [
                "Mass | 0.0804 kg |  | minimize | None",
                "Displacement of bore in down | 0.6 mm | 0.712 mm | at most 0.6 mm | Some(false)",
            ]
        );
        assert!(
            names(&all(&summary, None, &units))[1].ends_with("|  | at most 0.6 mm | Some(true)")
        );
    }
}

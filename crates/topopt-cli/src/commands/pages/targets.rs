//! The objective and the limits of a run, with those of the verified design.

use serde_json::Value;
use topopt_report::Target;
use topopt_study::verification::{Limits, VerifiedObjective};

use super::wording::{Units, text};

/// The objective and all limits of the run of `summary`; `found`: those of a verification.
pub(in crate::commands) fn all(
    summary: &Value,
    found: Option<&Limits>,
    units: &Units,
) -> Vec<Target> {
    let objective = found.map(|found| {
        let VerifiedObjective { compared, largest, .. } = &found.objective;
        Judged { verified: compared.verified, largest: *largest, limit: None, is_met: None }
    });
    let limits = summary["constraints"].as_array().into_iter().flatten().enumerate();
    let limits = limits.filter_map(|(k, limit)| {
        let judged = found.and_then(|found| found.constraints.get(k)).map(|limit| Judged {
            verified: limit.compared.verified,
            largest: limit.largest,
            limit: match limit.at_most {
                Some(most) => Some(("at most", most)),
                None => limit.at_least.map(|least| ("at least", least)),
            },
            is_met: Some(limit.met),
        });
        target(limit, judged, units)
    });
    target(&summary["objective"], objective, units).into_iter().chain(limits).collect()
}

/// A value of the verified design, the maximum behind a p-norm, and whether the limit is kept,
/// which may differ from that of the run.
struct Judged {
    verified: f64,
    largest: Option<f64>,
    limit: Option<(&'static str, f64)>,
    is_met: Option<bool>,
}

/// An objective or a limit; `verified`: the same in the verification.
fn target(found: &Value, verified: Option<Judged>, units: &Units) -> Option<Target> {
    let response = found["response"].as_str()?;
    let value = |value: f64| units.response(response, value);
    let asked = verified.as_ref().and_then(|verified| verified.limit).or_else(|| limit(found));
    let limit = asked.map(|(word, limit)| format!("{word} {}", value(limit)));
    let is_met = verified.as_ref().and_then(|verified| verified.is_met);
    Some(Target {
        name: name(response, units),
        optimized: value(found["value"].as_f64()?),
        verified: verified.filter(|judged| judged.verified.is_finite()).map(|judged| {
            let largest = judged.largest.map(|largest| format!(" (largest {})", value(largest)));
            value(judged.verified) + &largest.unwrap_or_default()
        }),
        limit: limit.unwrap_or_else(|| text(&found["goal"])),
        is_met: is_met.or_else(|| found["met"].as_bool()),
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
        let verified = json!({
            "objective": { "response": "mass", "goal": "minimize", "verified": null },
            "constraints": [{
                "response": "displacement of bore in down", "verified": 0.7123, "met": false
            }],
        });

        let found: Limits = serde_json::from_value(verified).unwrap();
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

//! The objective and the limits of a run, with those of the verified design.

use topopt_report::Target;
use topopt_study::asked::{Limited, ObjectiveFound};
use topopt_study::verification::{Limits, VerifiedLimit, VerifiedObjective};

use super::wording::Units;

/// Objective and limits of a run; `found`: those of a verification.
pub(in crate::commands) fn all(
    objective: &ObjectiveFound,
    constraints: &[Limited],
    found: Option<&Limits>,
    units: &Units,
) -> Vec<Target> {
    let judged = found.map(|found| {
        let VerifiedObjective { compared, largest, .. } = &found.objective;
        Judged { verified: compared.verified, largest: *largest, limit: None, is_met: None }
    });
    let ObjectiveFound { response, goal, value } = objective;
    let asked = Asked { response, value: *value, limit: None, met: None };
    let limits = constraints.iter().enumerate().filter_map(|(k, limited)| {
        let judged = found.and_then(|found| found.constraints.get(k)).map(Judged::of);
        target(limited.into(), judged, "", units)
    });
    target(asked, judged, goal, units).into_iter().chain(limits).collect()
}

/// An objective or a limit of the run.
struct Asked<'a> {
    response: &'a str,
    value: Option<f64>,
    limit: Option<(&'static str, f64)>,
    met: Option<bool>,
}

impl<'a> From<&'a Limited> for Asked<'a> {
    fn from(limited: &'a Limited) -> Self {
        let Limited { response, value, at_most, at_least, met, .. } = limited;
        Self { response, value: *value, limit: limit(*at_most, *at_least), met: *met }
    }
}

/// A value of the verified design, the maximum behind a p-norm, and whether the limit is kept,
/// which may differ from that of the run.
struct Judged {
    verified: f64,
    largest: Option<f64>,
    limit: Option<(&'static str, f64)>,
    is_met: Option<bool>,
}

impl Judged {
    fn of(limited: &VerifiedLimit) -> Self {
        Self {
            verified: limited.compared.verified,
            largest: limited.largest,
            limit: limit(limited.at_most, limited.at_least),
            is_met: Some(limited.met),
        }
    }
}

/// The row of an objective with its `goal`, or of a limit, with its value in the `verified` design;
/// none before the first iteration.
fn target(asked: Asked, verified: Option<Judged>, goal: &str, units: &Units) -> Option<Target> {
    let Asked { response, value: optimized, limit, met } = asked;
    let value = |value: f64| units.response(response, value);
    let limit = verified.as_ref().and_then(|verified| verified.limit).or(limit);
    let limit = limit.map(|(word, limit)| format!("{word} {}", value(limit)));
    let is_met = verified.as_ref().and_then(|verified| verified.is_met);
    Some(Target {
        name: name(response, units),
        optimized: value(optimized?),
        verified: verified.filter(|judged| judged.verified.is_finite()).map(|judged| {
            let largest = judged.largest.map(|largest| format!(" (largest {})", value(largest)));
            value(judged.verified) + &largest.unwrap_or_default()
        }),
        limit: limit.unwrap_or_else(|| goal.into()),
        is_met: is_met.or(met),
    })
}

/// The response in words; of a volume it is the share that is filled.
pub(in crate::commands) fn name(response: &str, units: &Units) -> String {
    match response.strip_prefix("volume") {
        Some(rest) => format!("Volume fraction{rest}"),
        None => units.words(response),
    }
}

fn limit(at_most: Option<f64>, at_least: Option<f64>) -> Option<(&'static str, f64)> {
    let at_most = at_most.map(|most| ("at most", most));
    at_most.or(at_least.map(|least| ("at least", least)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use topopt_case::config::PhysicsKind;
    use topopt_case::unit_names::UnitNames;

    use super::*;

    #[test]
    fn a_limit_is_judged_by_the_verified_design() {
        let units = json!({ "length": "mm", "force": "N", "compliance": "N mm" });
        let units: UnitNames = serde_json::from_value(units).unwrap();
        let units = Units::of(Some(&units), PhysicsKind::Elasticity);
        let objective = json!({ "response": "mass", "goal": "minimize", "value": 8.04e-5 });
        let objective: ObjectiveFound = serde_json::from_value(objective).unwrap();
        let limit = json!({
            "response": "displacement of bore in down", "at_most": 0.6, "value": 0.59996, "met": true
        });
        let limits: [Limited; 1] = [serde_json::from_value(limit).unwrap()];
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
            names(&all(&objective, &limits, Some(&found), &units)),
            [
                "Mass | 0.0804 kg |  | minimize | None",
                "Displacement of bore in down | 0.6 mm | 0.712 mm | at most 0.6 mm | Some(false)",
            ]
        );
        assert!(
            names(&all(&objective, &limits, None, &units))[1]
                .ends_with("|  | at most 0.6 mm | Some(true)")
        );
    }
}

//! What the keys of `[transient]` must satisfy as a whole.

use super::{Config, PhysicsKind};
use crate::finding::Finding;

/// What does not fit together in `[transient]` and in the tables over time.
pub(super) fn transient(config: &Config) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tables(config).collect();
    let Some(transient) = &config.transient else { return findings };
    let at = |message: &str, span, label: &str, remedy: &str| {
        Finding::new(message).at(config.source(), span, label).remedy(remedy)
    };
    let span = transient.end.span();
    if config.physics.kind != PhysicsKind::Heat {
        let remedy = "add [physics] with `kind = \"heat\"`, or remove [transient]";
        findings.push(at("[transient] is for thermal cases", span.clone(), "for heat", remedy));
    }
    match (&transient.steps, transient.step) {
        (None, None) => {
            let remedy = "add `step = ...`: the length of a time step";
            findings.push(at("[transient] has no time step", span, "how long?", remedy));
        }
        (Some(steps), Some(_)) => {
            let message = "[transient] has both `step` and `steps`";
            findings.push(at(message, steps.span(), "one too many", "keep one of them"));
        }
        (Some(steps), None) => {
            let pieces = steps.get_ref();
            let is_long = pieces.iter().all(|[_, step]| *step > 0.0 && step.is_finite());
            let rises = pieces.windows(2).all(|pair| pair[0][0] < pair[1][0]);
            if pieces.is_empty() || !is_long || !rises || pieces[0][0] <= 0.0 {
                let remedy = "give pairs [until, step] by increasing `until`, all above 0";
                findings.push(at("`steps` are no time steps", steps.span(), "here", remedy));
            }
        }
        (None, Some(_)) => {}
    }
    if config.load_case_names().len() > 1 {
        let message = "[transient] with several load cases";
        let remedy = "leave `case` out of [[loads]] and [[supports]]: heat has one history";
        findings.push(at(message, transient.end.span(), "one at a time", remedy));
    }
    findings
}

/// Tables over time that are none, or have no time to be in.
fn tables(config: &Config) -> impl Iterator<Item = Finding> {
    let loads = config.loads.iter().filter_map(|load| load.over_time.as_ref());
    let supports = config.supports.iter().filter_map(|support| support.over_time.as_ref());
    let films = config.convection.iter().filter_map(|film| film.over_time.as_ref());
    loads.chain(supports).chain(films).filter_map(|table| {
        let at = |message: &str, label: &str, remedy: &str| {
            let finding = Finding::new(message).at(config.source(), table.span(), label);
            Some(finding.remedy(remedy))
        };
        let values = table.get_ref();
        let is_finite = values.as_flattened().iter().all(|value| value.is_finite());
        if values.is_empty() || !is_finite || !values.windows(2).all(|w| w[0][0] < w[1][0]) {
            let remedy = "give pairs [time, factor] by increasing time";
            return at("`over_time` is no table over time", "here", remedy);
        }
        if config.transient.is_none() {
            let remedy = "add [transient], or remove `over_time`";
            return at("`over_time` without [transient]", "a steady state has no time", remedy);
        }
        None
    })
}

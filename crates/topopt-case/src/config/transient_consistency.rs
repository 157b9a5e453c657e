//! Consistency of the keys of `[transient]`.

use topopt_mesh::numbers::shown;

use super::{Config, MOST_STEPS, PhysicsKind, Probe, STEP_COLUMNS, Transient};
use crate::finding::Finding;

/// Returns findings for conflicts in `[transient]` and in the tables over time.
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

    if findings.is_empty() {
        findings.extend(countless(config, transient));
    }
    findings.extend(probes(config, transient));
    if config.load_case_names().len() > 1 {
        let message = "[transient] with several load cases";
        let remedy = "leave `case` out of [[loads]] and [[supports]]: heat has one history";
        findings.push(at(message, transient.end.span(), "one at a time", remedy));
    }

    findings
}

/// Finds probes whose columns in the results would coincide.
fn probes(config: &Config, transient: &Transient) -> Vec<Finding> {
    let probes = &transient.probes;
    let finding = |(i, probe): (usize, &Probe)| {
        let name = &probe.name;
        let (message, remedy) = if name.is_empty() {
            ("a probe has no name".into(), "give it the name of its column")
        } else if STEP_COLUMNS.contains(&name.as_str()) {
            let message = format!("transient.csv has a column `{name}` of its own");
            (message, "give the probe another name")
        } else if probes[..i].iter().any(|other| other.name == *name) {
            (format!("two probes are named `{name}`"), "give each another name")
        } else {
            return None;
        };
        let finding = Finding::new(message).at(config.source(), probe.point.span(), "this probe");
        Some(finding.remedy(remedy))
    };
    probes.iter().enumerate().filter_map(finding).collect()
}

/// Finds steps that are too many, or too short to change the time.
fn countless(config: &Config, transient: &Transient) -> Option<Finding> {
    let at = |message: String| {
        let span = transient.steps.as_ref().map_or(transient.end.span(), |steps| steps.span());
        let finding = Finding::new(message).at(config.source(), span, "so many");
        Some(finding.remedy("give longer steps, or an earlier `end`"))
    };
    let n = transient.n_steps();
    if n.is_nan() || n > MOST_STEPS as f64 {
        let n = if n < 1e15 { format!("{n}") } else { format!("{n:.1e}") };
        return at(format!("[transient] has {n} steps, and {MOST_STEPS} are the most"));
    }
    let lost = transient.lost_step()?;
    at(format!("steps of {} are lost in the rounding of the time", shown(lost)))
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

//! Consistency of `[objective]`, `[[constraints]]` and what depends on them.

use std::ops::Range;

use super::{Config, Constraint, ResponseKeys};
use crate::finding::Finding;
use crate::responses::kind::{Direction, ResponseKind};
use crate::responses::{kind, kinds};

/// Everything about objective and constraints that does not fit together.
pub(super) fn objective(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(bounded(config));
    findings.extend(config.objective.iter().filter_map(|_| of_objective(config)));
    findings.extend(config.constraints.iter().flat_map(|constraint| limit(config, constraint)));
    if findings.is_empty() {
        findings.extend(config.responses().filter_map(|asked| other_physics(config, asked)));
        findings.extend(config.responses().filter_map(|asked| keys(config, asked)));
    }
    if findings.is_empty() {
        findings.extend(volume_twice(config));
        findings.extend(nothing_to_carry(config));
        findings.extend(filtered(config));
        findings.extend(criteria(config));
        findings.extend(power_in_time(config));
    }
    findings
}

fn at(
    config: &Config,
    message: impl Into<String>,
    (span, label): (Range<usize>, &str),
    remedy: impl Into<String>,
) -> Option<Finding> {
    Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
}

/// A problem in which nothing bounds the material.
fn bounded(config: &Config) -> Option<Finding> {
    if config.design.volume_fraction.is_some() || !config.constraints.is_empty() {
        return None;
    }
    let remedy = "add `volume_fraction = ...`: share of the design volume that the material may \
                  fill (greater than 0 and at most 1); or add [[constraints]]";
    if !config.gives("design") {
        let file = config.source().file_name();
        return Some(Finding::new(format!("{file} has no [design]")).remedy(remedy));
    }
    at(config, "[design] has no `volume_fraction`", (config.span("design"), "here"), remedy)
}

/// An objective with no response or two, or of no or several load cases.
fn of_objective(config: &Config) -> Option<Finding> {
    let objective = config.objective.as_ref()?;
    let Some(asked) = objective.keys() else {
        let remedy = "add `minimize = \"compliance\"`, or another response";
        let message = "[objective] has neither `minimize` nor `maximize`";
        return at(config, message, (config.span("objective"), "here"), remedy);
    };
    if let (Some(_), Some(second)) = (&objective.minimize, &objective.maximize) {
        let remedy = "keep one, and give the other as [[constraints]]";
        let message = "[objective] has both `minimize` and `maximize`";
        return at(config, message, (second.span(), "one too many"), remedy);
    }

    let ResponseKind { name, is_of_states, measured_at, .. } = kind(asked);
    let worst = objective.worst_case.as_ref().filter(|worst| *worst.get_ref());
    if let Some(worst) = worst {
        let place = worst.span();
        if !is_of_states {
            let message = format!("a {name} has no load case that could be the worst");
            return at(config, message, (place, "for responses to loads"), "remove `worst_case`");
        }
        asked.case?;
        let remedy = "remove `case`, or `worst_case`";
        let message = "[objective] names one load case, so there is no worst case to choose";
        return at(config, message, (place, "beside `case`"), remedy);
    }
    if measured_at.is_none() || asked.case.is_some() || config.load_case_names().len() < 2 {
        return None;
    }
    let message = format!("[objective] does not say in which load case the {name} counts");
    let label = (asked.name.span(), "there are several load cases");
    at(config, message, label, "add `case = \"NAME\"`, or `worst_case = true`")
}

/// A constraint without a limit, with two, or with one that nothing meets.
fn limit(config: &Config, constraint: &Constraint) -> Option<Finding> {
    let (asked, span) = (constraint.keys(), constraint.limit_span());
    let name = kind(asked).name;
    match (&constraint.at_most, &constraint.at_least) {
        (None, None) => {
            let message = format!("a constraint of the {name} without a limit");
            at(config, message, (span, "no limit"), "add `at_most = ...` or `at_least = ...`")
        }
        (Some(_), Some(second)) => {
            let message = format!("a constraint of the {name} with two limits");
            let label = (second.span(), "one too many");
            at(config, message, label, "write a second entry of [[constraints]] for it")
        }
        _ => {
            let [message, label, remedy] = kind(asked).bad_limit(asked, constraint.limit().0)?;
            at(config, message, (span, &label), remedy)
        }
    }
}

/// A response of another physics than that of the case.
fn other_physics(config: &Config, asked: ResponseKeys) -> Option<Finding> {
    let (response, physics) = (kind(asked), config.physics.kind);
    let is_other = response.physics.is_some_and(|own| own != physics);
    let own = kinds().filter(|kind| kind.physics == Some(physics));
    let own: Vec<_> = own.map(|kind| format!("the `{}`", kind.name)).collect();
    let message = format!("no `{}` in the physics `{}`", response.name, physics.data().name);
    let label = (asked.name.span(), "of another physics");
    let remedy = format!("ask for {}", own.join(" or "));
    if is_other { at(config, message, label, remedy) } else { None }
}

/// A response with a key that it does not have, or without one that it needs.
fn keys(config: &Config, asked: ResponseKeys) -> Option<Finding> {
    let response = kind(asked);
    let name = response.name;
    let beside = |key: &str, span: Range<usize>, remedy: &str| {
        let message = format!("the response `{name}` has no `{key}`");
        at(config, message, (span, "not for this response"), remedy)
    };
    let missing = |key: &str, remedy: &str| {
        let message = format!("the response `{name}` needs a `{key}`");
        at(config, message, (asked.name.span(), "needs more"), remedy)
    };

    if let (Some(what), None) = (response.measured_at, asked.set) {
        let remedy = format!("add `set = \"NAME\"`: the nodes or faces {what}");
        return missing("set", &remedy);
    }
    if let (Direction::Needed(remedy), None) = (&response.direction, asked.direction) {
        return missing("direction", remedy);
    }
    if let Some((set, remedy)) = asked.set.zip(response.no_set) {
        return beside("set", set.span(), remedy);
    }
    if let Some(direction) = asked.direction {
        if matches!(response.direction, Direction::None) {
            return beside("direction", direction.span(), "remove it");
        }
        if *direction.get_ref() == [0.0; 3] {
            let (label, remedy) =
                ((direction.span(), "points nowhere"), "give one of x, y, z another value");
            return at(config, "a direction of length 0", label, remedy);
        }
    }
    if let Some(exponent) = asked.exponent.filter(|_| !(response.is_norm)(asked)) {
        let remedy = "remove it: an exponent is for the largest temperature or displacement of a \
                      set, which is one without `direction`";
        return beside("exponent", exponent.span(), remedy);
    }
    if let Some(time) = asked.time {
        if !response.is_of_states {
            return beside("time", time.span(), "remove it: it is the same at all times");
        }
        if config.transient.is_none() {
            let remedy = "add [transient], or remove `time`";
            let label = (time.span(), "a steady state has no time");
            return at(config, "`time` without [transient]", label, remedy);
        }
    }
    let case = asked.case?;
    if !response.is_of_states {
        return beside("case", case.span(), "remove it: it is the same in all load cases");
    }
    let names = config.load_case_names();
    let is_there = names.contains(&case.get_ref().as_str());
    let message = format!("no load case is named `{}`", case.get_ref());
    let remedy = format!("the load cases are {}", names.join(", "));
    if is_there { None } else { at(config, message, (case.span(), "not a load case"), remedy) }
}

/// The largest volume by two keys.
fn volume_twice(config: &Config) -> Option<Finding> {
    let mut bounds = config.constraints.iter().filter(|c| is_volume_bound(c));
    let first = bounds.next()?;
    let second = match &config.design.volume_fraction {
        Some(fraction) => fraction.span(),
        None => bounds.next()?.limit_span(),
    };
    let remedy = format!("keep one of the limits, {} or this", first.limit().0);
    at(config, "the volume is bounded twice", (second, "a second limit"), remedy)
}

/// Least material where nothing has to be carried: there would be none.
fn nothing_to_carry(config: &Config) -> Option<Finding> {
    let objective = config.objective.as_ref()?;
    let asked = objective.keys().filter(|asked| !kind(*asked).is_of_states)?;
    let material = objective.minimize.as_ref()?;
    let is_needed = config
        .constraints
        .iter()
        .any(|constraint| kind(constraint.keys()).is_of_states || constraint.at_least.is_some());
    let name = kind(asked).name;
    let message = format!("the least {name} is none at all, as no constraint needs material");
    let remedy = "add [[constraints]] with a `response` of `compliance` or `displacement`";
    if is_needed { None } else { at(config, message, (material.span(), "alone"), remedy) }
}

/// Refuses filtered sensitivities for methods and problems that need gradients.
fn filtered(config: &Config) -> Option<Finding> {
    let filter = &config.filter;
    if !filter.get_ref().kind.is_of_sensitivities() {
        return None;
    }
    let label = (filter.span(), "filters sensitivities");
    let method = config.optimizer.method;
    if method.needs_gradients() {
        let message = format!(
            "`optimizer.method = \"{}\"` needs gradients, and filtered sensitivities are none",
            method.name()
        );
        let remedy = "set `filter.kind` to \"density\", or `optimizer.method` to \"oc\" or \"mma\"";
        return at(config, message, label, remedy);
    }

    if config.suits_filtered_sensitivities() {
        return None;
    }
    let message = "a filter of sensitivities is for the least compliance of given material alone";
    let remedy = "set `filter.kind` to \"density\"";
    at(config, message, label, remedy)
}

/// Refuses a method for one limit of the material where the problem has other limits or goals.
fn criteria(config: &Config) -> Option<Finding> {
    let method = config.optimizer.method;
    if method.takes_constraints() || config.suits_criteria() {
        return None;
    }
    let message = format!(
        "`optimizer.method = \"{}\"` is for a response to the loads under one limit of the volume or \
         the mass",
        method.name()
    );
    let message = match config.is_stamped() {
        true => format!("`optimizer.method = \"{}\"` does not move a sheet", method.name()),
        false => message,
    };
    let label = (config.span("optimizer.method"), "for simpler problems");
    at(config, message, label, "set it to \"mma\" or \"gcmma\", or leave it out")
}

/// The compliance in time, where temperatures are held at other values than 0: heat that these
/// bring is none of the loads'.
fn power_in_time(config: &Config) -> Option<Finding> {
    config.transient.as_ref()?;
    let is_of_work = config.responses().any(|asked| kind(asked).is_work);
    if config.objective.is_some() && !is_of_work {
        return None;
    }
    let mut temperatures =
        config.supports.iter().filter_map(|support| support.temperature.as_ref());
    let held = temperatures.find(|t| *t.get_ref() != 0.0)?;
    let message = "in time the compliance is that of loads, and does not count held temperatures";
    let remedy = "ask for the `mean_temperature` or the `largest_temperature` of a set; or hold 0, \
                  and count all temperatures from there";
    at(config, message, (held.span(), "other than 0"), remedy)
}

/// Whether `constraint` is the largest volume of the whole design.
fn is_volume_bound(constraint: &Constraint) -> bool {
    let asked = constraint.keys();
    constraint.at_most.is_some() && kind(asked).is_share && asked.set.is_none()
}

impl Config {
    /// The largest share of the design volume that material may fill, where that has a limit.
    pub fn volume_bound(&self) -> Option<f64> {
        let own = self.design.volume_fraction.as_ref().map(|fraction| *fraction.get_ref());
        let bound = self.constraints.iter().find(|constraint| is_volume_bound(constraint));
        own.or(bound.map(|constraint| constraint.limit().0))
    }
}

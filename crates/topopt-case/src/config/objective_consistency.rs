//! Consistency of `[objective]`, `[[constraints]]` and what depends on them.

use std::ops::Range;

use super::{Config, Constraint, Judged, PhysicsKind, Quantity};
use crate::finding::Finding;

/// Everything about objective and constraints that does not fit together.
pub(super) fn objective(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(bounded(config));
    findings.extend(config.objective.iter().filter_map(|_| of_objective(config)));
    findings.extend(config.constraints.iter().flat_map(|constraint| limit(config, constraint)));
    if findings.is_empty() {
        let of_constraints = config.constraints.iter().map(Constraint::judged);
        let all = config.objective.iter().filter_map(|o| o.judged()).chain(of_constraints);
        findings.extend(all.clone().filter_map(|judged| other_physics(config, judged)));
        findings.extend(all.filter_map(|judged| keys(config, judged)));
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
    let Some(judged) = objective.judged() else {
        let remedy = "add `minimize = \"compliance\"`, or another response";
        let message = "[objective] has neither `minimize` nor `maximize`";
        return at(config, message, (config.span("objective"), "here"), remedy);
    };
    if let (Some(_), Some(second)) = (&objective.minimize, &objective.maximize) {
        let remedy = "keep one, and give the other as [[constraints]]";
        let message = "[objective] has both `minimize` and `maximize`";
        return at(config, message, (second.span(), "one too many"), remedy);
    }

    let quantity = *judged.quantity.get_ref();
    match &objective.worst_case {
        Some(worst) if objective.is_worst_case() && !quantity.is_of_states() => {
            let message = format!("a {} has no load case that could be the worst", quantity.name());
            at(config, message, (worst.span(), "for responses to loads"), "remove `worst_case`")
        }
        Some(worst) if objective.is_worst_case() && judged.case.is_some() => {
            let remedy = "remove `case`, or `worst_case`";
            let message = "[objective] names one load case, so there is no worst case to choose";
            at(config, message, (worst.span(), "beside `case`"), remedy)
        }
        worst if quantity.is_at_set() && judged.case.is_none() => {
            let several = config.load_case_names().len() > 1;
            let is_worst = worst.as_ref().is_some_and(|worst| *worst.get_ref());
            let remedy = "add `case = \"NAME\"`, or `worst_case = true`";
            let message = format!(
                "[objective] does not say in which load case the {name} counts",
                name = quantity.name()
            );
            let label = (judged.quantity.span(), "there are several load cases");
            if several && !is_worst { at(config, message, label, remedy) } else { None }
        }
        _ => None,
    }
}

/// A constraint without a limit, with two, or with one that nothing meets.
fn limit(config: &Config, constraint: &Constraint) -> Option<Finding> {
    let judged = constraint.judged();
    let (quantity, span) = (*judged.quantity.get_ref(), constraint.limit_span());
    let (limit, name) = (constraint.limit().0, quantity.name());
    let is_signed =
        quantity.is_temperature() || quantity.is_displacement() && judged.direction.is_some();
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
        _ if limit <= 0.0 && !is_signed => {
            let message = format!("the limit of the {name} is not positive");
            let is_length = quantity.is_displacement();
            let remedy = match is_length {
                true => "give a length above 0; only a displacement with a `direction` has a sign",
                false => "give a number above 0",
            };
            at(config, message, (span, "must be greater than 0"), remedy)
        }
        _ if limit > 1.0 && quantity == Quantity::Volume => {
            let remedy = "a volume is given as a share of the design volume; 0.3 is usual";
            let message = "the limit of the volume is more than all of it";
            at(config, message, (span, "must be at most 1"), remedy)
        }
        _ => None,
    }
}

/// A response of another physics than that of the case.
fn other_physics(config: &Config, judged: Judged) -> Option<Finding> {
    let quantity = *judged.quantity.get_ref();
    let kind = config.physics.kind;
    let is_other = match kind {
        PhysicsKind::Elasticity => quantity.is_temperature(),
        PhysicsKind::Heat => quantity.is_displacement(),
    };
    let message = format!("no `{}` in the physics `{}`", quantity.name(), kind.name());
    let remedy = match kind {
        PhysicsKind::Elasticity => "ask for the `displacement`",
        PhysicsKind::Heat => "ask for the `mean_temperature` or the `largest_temperature`",
    };
    let label = (judged.quantity.span(), "of another physics");
    if is_other { at(config, message, label, remedy) } else { None }
}

/// A response with a key that it does not have, or without one that it needs.
fn keys(config: &Config, judged: Judged) -> Option<Finding> {
    let quantity = *judged.quantity.get_ref();
    let name = quantity.name();
    let beside = |key: &str, span: Range<usize>, remedy: &str| {
        let message = format!("the response `{name}` has no `{key}`");
        at(config, message, (span, "not for this response"), remedy)
    };
    let missing = |key: &str, remedy: &str| {
        let message = format!("the response `{name}` needs a `{key}`");
        at(config, message, (judged.quantity.span(), "needs more"), remedy)
    };

    let is_displacement = quantity.is_displacement();
    if quantity.is_at_set() && judged.set.is_none() {
        let what = if is_displacement {
            "to measure the displacement at"
        } else {
            "to measure the temperature at"
        };
        let remedy = format!("add `set = \"NAME\"`: the nodes or faces {what}");
        return missing("set", &remedy);
    }
    if quantity == Quantity::OutputDisplacement && judged.direction.is_none() {
        return missing("direction", "add `direction = [x, y, z]`: where the output is to move");
    }
    if let Some(set) = judged.set.filter(|_| quantity == Quantity::Compliance) {
        return beside("set", set.span(), "remove it: the compliance is that of the whole part");
    }
    if let Some(direction) = judged.direction {
        if !is_displacement {
            return beside("direction", direction.span(), "remove it");
        }
        if *direction.get_ref() == [0.0; 3] {
            let label = (direction.span(), "points nowhere");
            return at(
                config,
                "a direction of length 0",
                label,
                "give one of x, y, z another value",
            );
        }
    }
    if let Some(exponent) = judged.exponent
        && quantity != Quantity::LargestTemperature
        && (!is_displacement || judged.direction.is_some())
    {
        let remedy = "remove it: an exponent is for the largest temperature or displacement of a \
                      set, which is one without `direction`";
        return beside("exponent", exponent.span(), remedy);
    }
    if let Some(time) = judged.time {
        if !quantity.is_of_states() {
            return beside("time", time.span(), "remove it: it is the same at all times");
        }
        if config.transient.is_none() {
            let remedy = "add [transient], or remove `time`";
            let label = (time.span(), "a steady state has no time");
            return at(config, "`time` without [transient]", label, remedy);
        }
    }
    let case = judged.case?;
    if !quantity.is_of_states() {
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
    let material = objective.minimize.as_ref().filter(|q| !q.get_ref().is_of_states())?;
    let is_needed = config.constraints.iter().any(|constraint| {
        constraint.response.get_ref().is_of_states() || constraint.at_least.is_some()
    });
    let name = material.get_ref().name();
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
    let label = (config.span("optimizer.method"), "for simpler problems");
    at(config, message, label, "set it to \"mma\" or \"gcmma\", or leave it out")
}

/// The compliance in time, where temperatures are held at other values than 0: heat that these bring
/// is none of the loads'.
fn power_in_time(config: &Config) -> Option<Finding> {
    config.transient.as_ref()?;
    let of_constraints = config.constraints.iter().map(Constraint::judged);
    let all = config.objective.iter().filter_map(|o| o.judged()).chain(of_constraints);
    let mut powers = all.filter(|judged| *judged.quantity.get_ref() == Quantity::Compliance);
    if config.objective.is_some() && powers.next().is_none() {
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
    constraint.at_most.is_some() && constraint.judged().is_whole_volume()
}

impl Config {
    /// The largest share of the design volume that material may fill, where that has a limit.
    pub fn volume_bound(&self) -> Option<f64> {
        let own = self.design.volume_fraction.as_ref().map(|fraction| *fraction.get_ref());
        let bound = self.constraints.iter().find(|constraint| is_volume_bound(constraint));
        own.or(bound.map(|constraint| constraint.limit().0))
    }
}

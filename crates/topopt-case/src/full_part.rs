//! Limits compared with the full part, whose design elements are all solid.

use topopt_fem::ProblemView;
use topopt_mesh::numbers::shown;

use crate::config::Config;
use crate::finding::Finding;
use crate::responses::posed::{Posed, PosedConstraint};

/// Whether a limit can be compared with the full part.
pub fn is_of_use(posed: &Posed) -> bool {
    posed.constraints.iter().any(is_of_stiffness)
}

/// A limit that more material helps to keep, unless the part is a mechanism or has weight: a
/// compliance, a displacement or a temperature may not be too large.
fn is_of_stiffness(constraint: &PosedConstraint) -> bool {
    constraint.response.form.posed().is_helped_by_material(constraint.is_upper, constraint.limit)
}

/// Limits that the full part misses, with warnings.
#[derive(Debug)]
pub struct FullPart {
    /// Values of the responses that miss their limits, `[constraints]`; none for the others.
    pub missed: Vec<Option<f64>>,
    /// Warnings about the missed limits, one sentence each.
    pub warnings: Vec<String>,
}

impl FullPart {
    /// Holds the limits against it.
    ///
    /// # Errors
    /// A limit that no design keeps: of a compliance that only falls with more material.
    pub fn of(
        config: &Config,
        posed: &Posed,
        problem: &dyn ProblemView,
        values: &[f64],
    ) -> Result<Self, Finding> {
        let missed = |(constraint, value): (&PosedConstraint, &f64)| {
            (is_of_stiffness(constraint) && !constraint.is_met(*value)).then_some(*value)
        };
        let missed: Vec<_> = posed.constraints.iter().zip(values).map(missed).collect();
        let mut warnings = Vec::new();
        for (constraint, value) in posed.constraints.iter().zip(&missed) {
            let Some(value) = value else { continue };
            if only_falls(problem, constraint) {
                return Err(refused(config, constraint, *value));
            }
            warnings.push(warning(config, constraint, *value));
        }
        Ok(Self { missed, warnings })
    }
}

/// Whether the response falls with every bit of material: a compliance in a steady state, by forces
/// that stay as they are.
fn only_falls(problem: &dyn ProblemView, constraint: &PosedConstraint) -> bool {
    let response = &constraint.response;
    let cases = problem.cases();
    let stays =
        !cases.iter().any(|c| c.has_body_force || c.has_thermal_strain || c.prescribed.is_some());
    let stays = stays && !problem.has_relief();
    response.form.posed().only_falls() && stays && response.when.is_none()
}

fn refused(config: &Config, constraint: &PosedConstraint, value: f64) -> Finding {
    let value = shown(value);
    let label = config.physics.kind.in_words(&constraint.response.label);
    let finding = Finding::new(format!(
        "no design keeps this limit: even the full part has a {label} of {value}"
    ));
    let place = constraint.entry.map(|entry| config.constraints[entry].limit_span());
    let finding = match place {
        Some(span) => finding.at(config.source(), span, "with every design element solid"),
        None => finding,
    };
    finding.remedy(format!("give a limit of at least {value}"))
}

fn warning(config: &Config, constraint: &PosedConstraint, value: f64) -> String {
    let limit = Posed::limit_text(constraint);
    let limit = config.physics.kind.in_words(&limit);
    format!(
        "even the full part does not keep the limit {limit}: it has {}; loosen the limit, or change \
         the part, unless less material is better here",
        shown(value)
    )
}

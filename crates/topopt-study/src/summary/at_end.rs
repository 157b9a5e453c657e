//! Warnings about the last design of a run.

use topopt_case::config;
use topopt_design::{Stage, StopRule};
use topopt_mesh::numbers::shown;

use super::of_run::{RunSummary, rule_name};
use crate::asked::Limited;
use crate::doubts::kept_sharpness;
use crate::swing;

/// Change of the objective, as a share of it, from which on a run is not finished.
const UNFINISHED: f64 = 0.01;

/// Change of a design from which on it counts as at rest.
const AT_REST: f64 = 0.01;

impl RunSummary<'_> {
    /// Returns warnings about the last design, except for grey material.
    pub(super) fn warnings_at_end(&self) -> Vec<String> {
        let missed = self.asked_limits().filter_map(Limited::missed);
        let missed = missed.map(|text| self.record.settings.physics.in_words(&text));
        let mut all: Vec<String> = self.volume_warning().into_iter().chain(missed).collect();
        // More iterations do not help a run that went back.
        if self.record.went_back_to.is_none() {
            all.extend(self.cut_stages().into_iter().chain(self.swing()));
            all.extend(all.is_empty().then(|| self.unfinished()).flatten());
        }
        all.extend(self.short_solves());
        all
    }

    fn volume_warning(&self) -> Option<String> {
        let volume =
            self.record.done.volume_fraction.filter(|_| self.record.volume_met == Some(false))?;
        // What other limits leave is reported with them, and only criteria use up all of a volume.
        let target =
            self.record.settings.volume_fraction.filter(|_| self.record.constraints.len() == 1)?;
        if volume < target && self.record.settings.optimizer.method != config::Method::Oc {
            return None;
        }

        let is_at_rest = self.record.done.change.is_some_and(|change| change < AT_REST);
        let why = match volume > target {
            _ if !is_at_rest => {
                "the run ended on the way there; raise `optimizer.max_iterations` and go on with \
                 `--resume`"
            }
            true => "with these passive elements and this filter no design has less",
            false => {
                let surplus = self.record.settings.physics.data().surplus;
                &format!(
                    "with these passive elements and this filter no design has more, or more \
                     material {surplus}"
                )
            }
        };

        Some(format!("the volume is {volume:.4}, but {target} was requested: {why}"))
    }

    /// Stages that the run did not come to, or not to the end of, though nobody stopped it.
    fn cut_stages(&self) -> Option<String> {
        let iterations = self.record.done.iterations;
        let late = self.stages.iter().find(|stage| stage.from > iterations);
        let place = if let Some(Stage { from, .. }) = late {
            format!("before its stage of iteration {from}")
        } else {
            let last = self.stages.last().filter(|last| last.settles() > iterations)?;
            format!("within its stage of iterations {} to {}", last.from, last.settles())
        };
        (self.record.status == "done").then(|| {
            format!(
                "the run ended {place}{}; raise `optimizer.max_iterations` and go on with `--resume`",
                kept_sharpness(self.config, iterations).unwrap_or_default()
            )
        })
    }

    /// Solves that were accepted short of their tolerance.
    fn short_solves(&self) -> Option<String> {
        let solves = match self.record.done.short_solves {
            0 => return None,
            1 => "1 solve".to_owned(),
            n => format!("{n} solves"),
        };
        Some(format!(
            "{solves} ended short of the tolerance after {} iterations of conjugate gradients: members \
             hang together by hinges or thin edges; a larger filter radius or \
             `design.volume_fraction` joins them",
            self.config.solver.max_iterations()
        ))
    }

    /// A run that the iterations ended, not its tolerances, while much still changed.
    fn unfinished(&self) -> Option<String> {
        let optimizer = &self.record.settings.optimizer;
        let tolerances = [optimizer.change_tolerance, optimizer.compliance_tolerance];
        let &[.., [before, ..], [last, ..]] = &self.record.done.last[..] else { return None };
        let change = (last - before).abs() / last.abs();
        let has_ended =
            self.record.stopped_by.as_deref() == Some(rule_name(StopRule::MaxIterations));
        (has_ended && tolerances != [0.0; 2] && change > UNFINISHED).then(|| {
            format!(
                "the iterations ended while the {} still changed by {:.1} % from one to the next; \
                 raise `optimizer.max_iterations` and go on with `--resume`",
                self.record.settings.physics.in_words(&self.record.objective.response),
                100.0 * change
            )
        })
    }

    /// Designs that swing between two.
    fn swing(&self) -> Option<String> {
        let values =
            |k: usize| -> Vec<f64> { self.record.done.last.iter().map(|v| v[k]).collect() };
        let names = [self.record.objective.response.as_str(), "compliance", "grey level"];
        let found = |(k, name): (usize, &str)| Some((name.to_owned(), swing::between(&values(k))?));
        let (name, [before, last]) = names.into_iter().enumerate().find_map(found)?;
        let remedy = match self.record.settings.optimizer.method {
            config::Method::Oc | config::Method::OcAnderson => {
                "set `optimizer.method` to \"mma\", or halve `optimizer.move_limit`"
            }
            _ => "halve `optimizer.move_limit`, or set `optimizer.method` to \"gcmma\"",
        };
        Some(format!(
            "designs swing to and fro between two: the {} is {} and {} in turn, and neither is an \
             optimum; {remedy}",
            self.record.settings.physics.in_words(&name),
            shown(before),
            shown(last)
        ))
    }
}

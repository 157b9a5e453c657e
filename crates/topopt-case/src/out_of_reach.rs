//! Demands that no design on a mesh meets.

use topopt_linalg::Cpu;
use topopt_mesh::numbers::shown;

use crate::config::Config;
use crate::finding::{Finding, InputError};
use crate::manufacturing::{self, HOLD_UP, Printed};
use crate::model::Model;
use crate::physics::Physics;
use crate::pieces::Pieces;
use crate::responses::form::Measure;
use crate::responses::posed::PosedConstraint;

impl<K: Physics<N>, const N: usize> Model<K, N> {
    /// Checks that a run can find a design, and counts what stays solid in the air in all of them.
    ///
    /// # Errors
    /// Limits of volumes and masses that no design keeps, and load cases that no printed part
    /// carries.
    pub(crate) fn check_reach(&mut self, config: &Config) -> Result<(), InputError> {
        let full = vec![1.0; self.space.n_elements()];
        let printed = manufacturing::printed(config, &self.space, (&full, 0.5));
        self.in_the_air = printed.as_ref().and_then(|printed| self.solid_in(printed, EVER));
        let in_the_air = printed.and_then(|printed| in_the_air(self, printed));
        InputError::if_any(limits(config, self).into_iter().chain(in_the_air).collect())
    }

    /// Warns of elements that stay solid, or are left out, where nothing of a design holds them up in
    /// printing: one with a density, `[n_elements]` in the order of the problem, that is solid above
    /// a threshold.
    pub fn doubts_of_print(&self, config: &Config, design: (&[f64], f64)) -> Vec<String> {
        let printed = manufacturing::printed(config, &self.space, design);
        let all = printed.map(|it| [self.solid_in(&it, IN_DESIGN), self.left_out(&it)]);
        all.into_iter().flatten().flatten().collect()
    }

    /// Warns of elements at loads and supports that a `printed` design is without.
    fn left_out(&self, Printed { n_left_out, degrees, .. }: &Printed) -> Option<String> {
        (*n_left_out > 0).then(|| {
            format!(
                "{n_left_out} of {} elements at loads and supports are left out: nothing of this \
                 design that is printed at {} degrees holds them up; give another \
                 `build_direction`, or name them in `design.solid`, with props",
                self.space.resting().len(),
                shown(*degrees)
            )
        })
    }

    /// Warns of elements that stay solid in the air when a part is `printed`, with the words on
    /// where, on what does not hold them, and on the consequence.
    fn solid_in(&self, printed: &Printed, [place, nothing, props]: [&str; 3]) -> Option<String> {
        let Printed { in_the_air, degrees, share, .. } = printed;
        let percent = shown((1e3 * share).round() / 10.0);
        (!in_the_air.is_empty()).then(|| {
            format!(
                "{} of {} elements that stay solid, {percent} % of the part, are in the air{place}: \
                 {nothing} at {} degrees holds them up, and {props}; {HOLD_UP}",
                in_the_air.len(),
                self.space.solid.len(),
                shown(*degrees)
            )
        })
    }
}

/// Words on elements in the air whatever is printed, and in a single design.
const EVER: [&str; 3] = ["", "nothing that is printed", "they need props"];
const IN_DESIGN: [&str; 3] = [
    " in this design",
    "nothing of it that is printed",
    "`topopt verify` measures how much of them needs props",
];

/// Limits of volumes and masses that no design keeps.
fn limits<K: Physics<N>, const N: usize>(config: &Config, model: &Model<K, N>) -> Vec<Finding> {
    let constraints = model.posed.constraints.iter();
    constraints.filter_map(|constraint| limit(config, model, constraint)).collect()
}

/// The limit of a volume or a mass, if no design keeps it.
fn limit<K: Physics<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    constraint: &PosedConstraint,
) -> Option<Finding> {
    let (limit, entry) = (constraint.limit, constraint.entry?);
    let part = model.subject().part();
    let weights = match constraint.response.form.measure(part, &Cpu, 0.0) {
        Ok(Measure::Volume) => part.volume_shares(),
        Ok(Measure::Densities(weights)) => weights,
        _ => return None,
    };

    let [least, most] = model
        .space
        .bounds()
        .map(|density| weights.iter().zip(density).map(|(weight, x)| weight * x).sum::<f64>());
    let (word, bound, why) = match constraint.is_upper {
        true if limit < least => ("at least", least, "with every design element void"),
        false if limit > most => ("at most", most, "with every design element solid"),
        _ => return None,
    };

    let label = &constraint.response.label;
    let message = format!("no design keeps this limit: the {label} is {word} {}", shown(bound));
    let place = config.constraints[entry].limit_span();
    let finding = Finding::new(message).at(config.source(), place, why);
    Some(finding.remedy(format!("give a limit of {word} {}", shown(bound))))
}

/// Share of a load case that no printed part may miss.
const MOST: f64 = 0.5;

/// The first load case most of which no printed part carries to the supports, however much material
/// it has.
fn in_the_air<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    Printed { asked, is_held: mut full, in_the_air, .. }: Printed,
) -> Option<Finding> {
    in_the_air.iter().for_each(|&element| full[element as usize] = true);
    let pieces = Pieces::of(model.problem.mesh(), &full);
    let (is_held, acts) = (pieces.held(&model.problem), model.loaded_nodes());
    // Loads that are no forces need a piece that is held, too.
    let is_nothing_held = !is_held.contains(&true);
    let mut cases = model.problem.load_cases().iter();
    let case = cases.find(|case| {
        let [all, loose, empty] = pieces.loose::<N>(&case.forces, &acts, &is_held);
        is_nothing_held || loose + empty > MOST * all
    })?;
    let message = format!(
        "load case `{}` is in the air: no part that is printed along this direction carries it to the \
         supports",
        case.name
    );
    let remedy = "give another `build_direction`, let props stand below the part by `anywhere = true`, \
                  or add to the mesh what carries it";
    let texts = [&message, "nothing below", remedy];
    Some(asked.finding(asked.entries[0], "build_direction", texts))
}

//! Defaults that depend on the problem: elements, optimizer, filter, interpolation law and initial
//! volume.

use toml::Spanned;

use super::transient::OverTime;
use super::{Config, Constraint, FilterKind, Interpolation, Load, Method, Support};
use crate::loads::kind::OnMass;
use crate::responses::kind;

impl Config {
    /// Share of the design volume that a run starts with; none where the case bounds no volume.
    pub fn initial_volume(&self) -> Option<f64> {
        self.design.initial_volume_fraction.or(self.volume_bound())
    }

    /// Whether the objective is the weighted compliance of all load cases in a steady state. Only
    /// then, and without loads on the mass, no sensitivity is positive.
    pub fn minimizes_compliance(&self) -> bool {
        self.transient.is_none()
            && self.objective.as_ref().is_none_or(|objective| {
                let is_whole = |asked| kind(asked).is_work && asked.case.is_none();
                objective.keys().is_some_and(is_whole)
                    && objective.minimize.is_some()
                    && !objective.is_worst_case()
            })
    }

    /// Whether gravity or rotation loads the mass, so that more material may raise the compliance.
    pub fn has_weight(&self) -> bool {
        self.loads.iter().filter_map(Load::on_mass).any(|on_mass| match on_mass {
            OnMass::Gravity(acceleration) => acceleration != [0.0; 3],
            OnMass::Rotation(rotation) => rotation.angular_velocity != [0.0; 3],
        })
    }

    /// Whether loads follow the density, as weight and the forces of heat do, so that more material
    /// may raise the compliance.
    pub fn has_following_loads(&self) -> bool {
        self.has_weight() || self.has_temperatures() || self.inertia_relief
    }

    /// Whether supports are moved, so that the compliance is that of both loads and movements.
    pub fn moves_supports(&self) -> bool {
        self.supports.iter().any(Support::moves)
    }

    /// The coldest of held, ambient and initial temperatures. Responses count temperatures from it,
    /// so that they are the same in degrees Celsius and in kelvin.
    pub fn coldest(&self) -> f64 {
        let held = self.supports.iter().flat_map(|support| {
            let temperature = support.temperature.as_ref().map_or(0.0, |value| *value.get_ref());
            // A support of one load case holds 0 in the others.
            let elsewhere = support.case.iter().map(|_| 0.0);
            over_time(temperature, support.over_time.as_ref()).into_iter().chain(elsewhere)
        });
        let ambient = self.convection.iter();
        let ambient = ambient.flat_map(|film| over_time(film.ambient, film.over_time.as_ref()));
        let initial = self.transient.iter().map(|transient| transient.initial);
        held.chain(ambient).chain(initial).reduce(f64::min).unwrap_or(0.0)
    }

    /// Whether optimality criteria can solve the problem. A sheet moves with material that goes
    /// from one of its sides to the other: more of a variable may be less compliance, or more.
    pub(super) fn suits_criteria(&self) -> bool {
        self.has_one_limit_of_material() && !self.is_stamped()
    }

    /// Whether a response of states has one limit of the material alone.
    fn has_one_limit_of_material(&self) -> bool {
        let objective = self.objective.as_ref();
        let is_of_states = objective.is_none_or(|objective| {
            let is_of_states = objective.keys().is_some_and(|asked| kind(asked).is_of_states);
            is_of_states && !objective.is_worst_case()
        });
        let is_material = |constraint: &Constraint| {
            let asked = constraint.keys();
            !kind(asked).is_of_states && asked.set.is_none() && constraint.at_most.is_some()
        };
        let others = [self.design.volume_fraction.is_some(), self.largest_width().is_some()];
        let n_limits = self.constraints.len() + others.map(usize::from).iter().sum::<usize>();
        is_of_states && n_limits == 1 && self.constraints.iter().all(is_material)
    }

    /// Whether material is only to stiffen the part against forces, under one limit of it.
    pub fn only_stiffens(&self) -> bool {
        self.physics.kind.data().has_forces
            && self.has_one_limit_of_material()
            && self.minimizes_compliance()
            && !self.has_following_loads()
            && !self.moves_supports()
    }

    /// Whether responses of states have limits, as displacements and temperatures.
    pub fn limits_states(&self) -> bool {
        self.constraints.iter().any(|constraint| kind(constraint.keys()).is_of_states)
    }

    /// Whether a filter of sensitivities works well: for compliance under limits of volume and mass.
    pub(super) fn suits_filtered_sensitivities(&self) -> bool {
        let is_of_density = |c: &Constraint| !kind(c.keys()).is_of_states;
        self.minimizes_compliance() && self.constraints.iter().all(is_of_density)
    }
}

/// The products of `value` with each factor of a table over time; `value` alone without one.
fn over_time(value: f64, factors: Option<&Spanned<OverTime>>) -> Vec<f64> {
    match factors {
        Some(factors) => factors.get_ref().iter().map(|[_, factor]| factor * value).collect(),
        None => vec![value],
    }
}

/// Fills in the defaults of elements, filter, optimizer and interpolation that depend on the
/// problem.
pub(super) fn resolve(config: &mut Config) {
    config.elements.get_or_insert_default();
    let follow = config.has_following_loads();
    let suits_filtered = config.suits_filtered_sensitivities() && !follow;
    if !config.gives("filter.kind") && !suits_filtered {
        config.filter.get_mut().kind = FilterKind::Density;
    }

    if !config.gives("optimizer.method") {
        // Mechanisms and loads that follow the density have positive sensitivities, which
        // optimality criteria count as 0: designs oscillate. With a projection, MMA gives stiffer
        // designs than they do, by 0.3 to 7 % in 14 cases of 14.
        let is_simple = config.suits_criteria()
            && config.minimizes_compliance()
            && !follow
            && (config.projection.is_none() || config.has_half_width());
        config.optimizer.method = if is_simple { Method::Oc } else { Method::Mma };
    }

    // With SIMP thin material has mass but hardly stiffness, and no slope of the forces of its
    // heat. A penalty given is meant for SIMP.
    let is_of_simp = ["design.interpolation", "design.penalty"].iter().any(|key| config.gives(key))
        || config.continuation.iter().any(|stage| stage.penalty.is_some());
    if follow && !is_of_simp {
        config.design.interpolation = Interpolation::Ramp;
    }
}

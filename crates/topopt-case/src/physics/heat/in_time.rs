//! Loads, ambient and held temperatures over time, and the time steps.

use toml::Spanned;
use topopt_fem::{OverTime, Timeline, Varying, factor_at};
use topopt_mesh::Renumbering;

use super::flows::{film_flows, flows};
use crate::config::{Convection, Load, MaterialProperty, Support, Transient};
use crate::fields::{Fields, numbers};
use crate::finding::{Finding, InputError};
use crate::lookup::Lookup;

/// Builds the timeline of a part, in the order of its problem; nodes that are `fixed` are held at 0
/// or at the temperatures of their supports.
///
/// # Errors
/// Materials without mass or heat capacity.
pub(super) fn timeline(
    lookup: &Lookup,
    keys: &Transient,
    fixed: &[u32],
    materials: (&[Vec<u32>], &Fields),
    renumbering: &Renumbering,
) -> Result<Timeline, InputError> {
    let acting = InTime::of(lookup);
    let n_nodes = lookup.mesh.n_nodes();
    let (loads, held) = (acting.loads.iter().chain(&acting.ambient), acting.held_once(n_nodes));
    let of_problem = |acting: Vec<Varying>| -> Vec<Varying> {
        let of = |Varying { values, factors }: Varying| Varying {
            values: renumbering.nodes_from_original(&values),
            factors,
        };
        acting.into_iter().map(of).collect()
    };
    let loads = of_problem(by_table(loads, n_nodes));
    let held = of_problem(by_table(held.iter(), n_nodes));

    // What is held counts from the beginning on.
    let mut initial = vec![keys.initial; n_nodes];
    fixed.iter().for_each(|&node| initial[node as usize] = 0.0);
    let mut initial = renumbering.nodes_from_original(&initial);
    for Varying { values, factors } in &held {
        let factor = factor_at(factors.as_ref(), 0.0);
        initial.iter_mut().zip(values).for_each(|(u, value)| *u += factor * value);
    }
    Ok(Timeline {
        theta: keys.theta,
        times: keys.times(),
        initial,
        capacities: renumbering.elements_from_original(&capacities(lookup, materials)?),
        loads,
        held,
    })
}

/// The sums of what acts by the same tables over time, on all nodes.
fn by_table<'a>(acting: impl Iterator<Item = &'a Acting>, n_nodes: usize) -> Vec<Varying> {
    let mut all: Vec<Varying> = Vec::new();
    for acting in acting.filter(|acting| acting.values.iter().any(|(_, value)| *value != 0.0)) {
        let factors = acting.factors.clone();
        let k = all.iter().position(|varying| varying.factors == factors).unwrap_or_else(|| {
            all.push(Varying { values: vec![0.0; n_nodes], factors });
            all.len() - 1
        });
        let values = acting.values.iter();
        values.for_each(|(node, value)| all[k].values[*node as usize] += value);
    }
    all
}

/// Heat flows and held temperatures, each with its factors over time, by nodes as the user numbers
/// them.
pub struct InTime {
    /// Heat flows of the loads.
    pub loads: Vec<Acting>,
    /// Heat flows of convection from an ambient of its temperature into a part of 0.
    pub ambient: Vec<Acting>,
    /// Held temperatures.
    held: Vec<Acting>,
}

/// Values at nodes with a common factor over time.
pub struct Acting {
    /// Nodes, in the numbering of the mesh file, and their values at factor 1.
    pub values: Vec<(u32, f64)>,
    factors: Option<OverTime>,
}

impl Acting {
    /// The sum of the values at `time`.
    pub fn total(&self, time: f64) -> f64 {
        self.factor(time) * self.values.iter().map(|(_, value)| value).sum::<f64>()
    }

    /// The factor at `time`.
    pub fn factor(&self, time: f64) -> f64 {
        factor_at(self.factors.as_ref(), time)
    }
}

impl InTime {
    /// Collects the loads, convection and supports of a case that has been built.
    pub fn of(lookup: &Lookup) -> Self {
        let config = lookup.config;
        let table = |factors: &Option<Spanned<OverTime>>| {
            factors.as_ref().map(|factors| factors.get_ref().clone())
        };

        let load = |load: &Load| Acting {
            values: flows(lookup, load, &mut Vec::new()),
            factors: table(&load.over_time),
        };
        let ambient = |film: &Convection| Acting {
            values: film_flows(lookup, film, &mut Vec::new())
                .into_iter()
                .map(|(node, coefficient)| (node, coefficient * film.ambient))
                .collect(),
            factors: table(&film.over_time),
        };
        let held = |support: &Support| {
            let temperature = support.temperature.as_ref().map_or(0.0, |value| *value.get_ref());
            let nodes = lookup.nodes(&support.set, support.kind, &mut Vec::new());
            let values = nodes.into_iter().map(|node| (node, temperature)).collect();
            Acting { values, factors: table(&support.over_time) }
        };

        Self {
            loads: config.loads.iter().map(load).collect(),
            ambient: config.convection.iter().map(ambient).collect(),
            held: config.supports.iter().map(held).collect(),
        }
    }

    /// Returns the held temperatures, each node only in the last support that holds it.
    fn held_once(&self, n_nodes: usize) -> Vec<Acting> {
        let mut last = vec![usize::MAX; n_nodes];
        for (k, held) in self.held.iter().enumerate() {
            held.values.iter().for_each(|(node, _)| last[*node as usize] = k);
        }
        let of = |(k, held): (usize, &Acting)| Acting {
            values: held.values.iter().copied().filter(|(n, _)| last[*n as usize] == k).collect(),
            factors: held.factors.clone(),
        };
        self.held.iter().enumerate().map(of).collect()
    }
}

/// Capacities by volume of all elements in the user's order, `[n_elements]`.
///
/// # Errors
/// Materials without mass or heat capacity.
fn capacities(
    lookup: &Lookup,
    (materials, fields): (&[Vec<u32>], &Fields),
) -> Result<Vec<f64>, InputError> {
    let Lookup { config, mesh, .. } = lookup;
    let mut findings = Vec::new();
    let mut missing = |of: String| {
        let message = format!("heat in time needs the heat capacity by volume{of}");
        let remedy = "give its material `mass_density` and `heat_capacity`";
        findings.push(Finding::new(message).remedy(remedy));
    };
    let taken: usize = materials.iter().map(Vec::len).sum();
    let (n, all) = (mesh.n_elements(), &config.material);
    if (all.mass_density.is_none() || all.heat_capacity.is_none()) && taken < n {
        missing(" of [material]".into());
    }
    for material in &config.materials {
        if material.mass_density.is_none() || material.heat_capacity.is_none() {
            missing(format!(" of set `{}`", material.set.get_ref()));
        }
    }
    InputError::if_any(findings)?;

    let [_, capacity, density] = config.properties();
    let values = |field: &Option<Vec<f64>>, property: &MaterialProperty| {
        field.clone().unwrap_or_else(|| numbers(property, n, materials))
    };
    let capacity = values(&fields.heat_capacity, &capacity);
    let density = values(&fields.mass_density, &density);
    Ok(capacity.iter().zip(density).map(|(capacity, density)| capacity * density).collect())
}

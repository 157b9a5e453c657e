//! Heat conduction: temperatures, heat flows, convection.

use std::collections::BTreeMap;

use rayon::prelude::*;
use toml::Spanned;
use topopt_fem::orthotropy::stretch;
use topopt_fem::{Diffusion, ProblemError, lumped_capacity, surface_load};

use super::{Conditions, Names, Physics};
use crate::case::Case;
use crate::case_loads::CaseLoads;
use crate::config::{
    Config, Convection, Load, LoadQuantity, MaterialProperty, OverTime, SetMaterial, Support,
    factor_at, number,
};
use crate::fields::{Fields, numbers};
use crate::finding::{Finding, InputError};
use crate::lookup::{Lookup, sorted};

impl Physics<1> for Diffusion {
    const NAMES: Names = Names { state: "temperature", load: "heat" };

    fn of(_: &Config) -> Result<Self, Finding> {
        Ok(Self)
    }

    fn coefficient(config: &Config) -> f64 {
        number(config.material.conductivity.as_ref()).unwrap_or(1.0)
    }

    fn coefficient_field(fields: &Fields) -> Option<&[f64]> {
        fields.conductivity.as_deref()
    }

    fn stretches(fields: &Fields) -> Option<Vec<[f64; 3]>> {
        let along = fields.conductivity_along.as_ref()?;
        Some(along.par_iter().copied().map(stretch).collect())
    }

    fn coefficient_of(material: &SetMaterial) -> Option<f64> {
        number(material.conductivity.as_ref())
    }

    fn conditions(lookup: &Lookup, findings: &mut Vec<Finding>) -> Conditions<1> {
        let fixed = lookup.config.supports.iter();
        let fixed = fixed.flat_map(|s| lookup.nodes(&s.set, s.kind, findings)).collect();
        let films = Films::of(lookup, findings);
        let load_cases = load_cases(lookup, &films, findings);
        let springs = films.coefficients.into_iter().map(|(node, film)| (node, [film]));
        Conditions { fixed: [sorted(fixed)], springs: springs.collect(), load_cases }
    }

    fn incomplete_materials(
        lookup: &Lookup,
        _: &[CaseLoads<1>],
        sets: &[Vec<u32>],
    ) -> Vec<Finding> {
        lookup.massless(false, sets)
    }

    fn idle_loads(lookup: &Lookup, fixed: &[Vec<u32>; 1], cases: &[CaseLoads<1>]) -> Vec<Finding> {
        if lookup.config.transient.is_some() {
            return Vec::new();
        }
        let idle = cases.iter().filter(|case| case.displacements.is_empty());
        let finding = |case: &CaseLoads<1>| {
            let mut flows = case.forces.iter().filter(|(_, heat)| heat[0] != 0.0).peekable();
            let is_zero = flows.peek().is_none();
            if !flows.all(|(node, _)| fixed[0].binary_search(node).is_ok()) {
                return None;
            }
            let first = lookup.config.loads.iter().find(|load| load.case == case.name)?;
            let (what, label) = match is_zero {
                true => ("has no heat: its sum is zero on every node", "zero"),
                false => ("acts only where the temperature is held", "on a held set"),
            };
            let message = format!("load case `{}` {what}", case.name);
            let finding = Finding::new(message).at(lookup.config.source(), first.span(), label);
            Some(finding.remedy("give heat to a set whose temperature is not held"))
        };
        idle.filter_map(finding).collect()
    }

    fn message(error: &ProblemError) -> String {
        match error {
            ProblemError::NoSupport => "the part has no sink: no temperature is held and nothing \
                                        is convected, so it would grow without end; add \
                                        [[supports]] with a `temperature`, or [[convection]]"
                .into(),
            ProblemError::RigidMotion { part, parts, .. } => format!(
                "part {} of {parts} of the mesh has no sink: no temperature is held there and \
                 nothing is convected, so it would grow without end",
                part + 1
            ),
            ProblemError::NoLoad => "there is no heat; add [[loads]]".into(),
            ProblemError::ZeroLoad { name } => {
                format!("load case `{name}` has no heat on a node that is free")
            }
            ProblemError::BadLoad { name } => format!(
                "load case `{name}` has a heat, temperature or weight that is not a finite number, \
                 or a weight <= 0"
            ),
            other => other.to_string(),
        }
    }
}

/// What `[[convection]]` amounts to: the flow h (T_ambient - T) per area, lumped at nodes.
struct Films {
    /// The integral of h N_a, by node.
    coefficients: BTreeMap<u32, f64>,
    /// The integral of h T_ambient N_a, by node.
    flows: BTreeMap<u32, f64>,
}

impl Films {
    fn of(lookup: &Lookup, findings: &mut Vec<Finding>) -> Self {
        let mut films = Self { coefficients: BTreeMap::new(), flows: BTreeMap::new() };
        for convection in &lookup.config.convection {
            for (node, film) in film_flows(lookup, convection, findings) {
                *films.coefficients.entry(node).or_default() += film;
                *films.flows.entry(node).or_default() += film * convection.ambient;
            }
        }
        films
    }
}

fn load_cases(lookup: &Lookup, films: &Films, findings: &mut Vec<Finding>) -> Vec<CaseLoads<1>> {
    let config = lookup.config;
    let mut case = |name: &str| {
        let mut heat = films.flows.clone();
        for load in config.loads.iter().filter(|load| load.case == name) {
            for (node, flow) in flows(lookup, load, findings) {
                *heat.entry(node).or_default() += flow;
            }
        }
        let listed = config.load_cases.iter().find(|entry| entry.name.get_ref() == name);
        CaseLoads {
            name: name.to_owned(),
            weight: listed.map_or(1.0, |entry| entry.weight),
            forces: heat.into_iter().map(|(node, flow)| (node, [flow])).collect(),
            gravity: [0.0; 3],
            rotations: Vec::new(),
            displacements: temperatures(lookup, name, findings),
        }
    };
    let names = config.load_case_names();
    // In time a part may be left to itself.
    let alone = (names.is_empty() && config.transient.is_some()).then_some("default");
    names.into_iter().chain(alone).map(&mut case).collect()
}

/// Heat flows of one entry into the nodes of its set.
fn flows(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> Vec<(u32, f64)> {
    let Some((quantity, place)) = load.quantities().into_iter().next() else { return Vec::new() };
    let scaled = |shares: Vec<(u32, f64)>, factor: f64| {
        shares.into_iter().map(|(node, share)| (node, factor * share)).collect()
    };
    match (quantity, &load.set) {
        (LoadQuantity::HeatFlux(flux), Some(set)) => match lookup.faces(set, load.kind) {
            Some(faces) => scaled(surface_load::areas(lookup.mesh, &faces), flux),
            None => {
                let instead = "`total_heat`, which is shared equally by nodes";
                findings.extend(lookup.no_faces(set, "heat_flux", place, instead));
                Vec::new()
            }
        },
        (LoadQuantity::HeatSource(source), set) => {
            let elements = match set {
                Some(set) => lookup.elements(set, findings),
                None => (0..lookup.mesh.n_elements() as u32).collect(),
            };
            scaled(volumes(lookup, &elements), source)
        }
        (LoadQuantity::TotalHeat(heat), Some(set)) => {
            let shares = match lookup.faces(set, load.kind) {
                Some(faces) => surface_load::areas(lookup.mesh, &faces),
                None => {
                    let nodes = lookup.nodes(set, load.kind, findings);
                    nodes.into_iter().map(|node| (node, 1.0)).collect()
                }
            };
            let total: f64 = shares.iter().map(|(_, share)| share).sum();
            scaled(shares, heat / total)
        }
        _ => Vec::new(),
    }
}

/// The volumes of `elements` that their nodes stand for: the integral of N_a, by increasing node.
fn volumes(lookup: &Lookup, elements: &[u32]) -> Vec<(u32, f64)> {
    let mut is_there = vec![0.0; lookup.mesh.n_elements()];
    elements.iter().for_each(|&e| is_there[e as usize] = 1.0);
    let shares = lumped_capacity(lookup.mesh, &is_there);
    (0..).zip(shares).filter(|(_, share)| *share != 0.0).collect()
}

/// Held nodes of load case `case` with their temperatures, sorted. Supports that disagree are
/// reported.
fn temperatures(lookup: &Lookup, case: &str, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 1])> {
    let mut values: BTreeMap<u32, f64> = BTreeMap::new();
    let is_here =
        |support: &&Support| support.case.as_ref().is_none_or(|name| name.get_ref() == case);
    for support in lookup.config.supports.iter().filter(is_here) {
        let temperature = support.temperature.as_ref().map_or(0.0, |value| *value.get_ref());
        // What is not there has been reported with the supports.
        let nodes = lookup.nodes(&support.set, support.kind, &mut Vec::new());
        let before = nodes.into_iter().filter_map(|node| values.insert(node, temperature));
        let other = before.filter(|before| *before != temperature).last();
        findings.extend(other.map(|other| {
            let place = support.temperature.as_ref().map_or(support.set.span(), |t| t.span());
            let message = "two supports hold the same nodes at different temperatures";
            let label = format!("elsewhere held at {other}");
            let finding = Finding::new(message).at(lookup.config.source(), place, &label);
            finding.remedy("use sets that share no node")
        }));
    }
    let held = values.into_iter().filter(|(_, temperature)| *temperature != 0.0);
    held.map(|(node, temperature)| (node, [temperature])).collect()
}

/// What acts and holds in time, each with its factors over time, by nodes as the user numbers them.
pub(crate) struct InTime {
    /// Heat flows of the loads.
    pub loads: Vec<Varying>,
    /// Heat flows of convection from an ambient of its temperature into a part of 0.
    pub ambient: Vec<Varying>,
    /// Held temperatures.
    pub held: Vec<Varying>,
}

/// Values at nodes with a common factor over time.
pub(crate) struct Varying {
    pub values: Vec<(u32, f64)>,
    factors: Option<OverTime>,
}

impl Varying {
    /// The factors at two `times`, in `shares` of them.
    pub fn shared_factor(&self, times: [f64; 2], shares: [f64; 2]) -> f64 {
        shares[0] * self.factor(times[0]) + shares[1] * self.factor(times[1])
    }

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
    /// Those of a case, which has been built.
    pub fn of(lookup: &Lookup) -> Self {
        let config = lookup.config;
        let table = |factors: &Option<Spanned<OverTime>>| {
            factors.as_ref().map(|factors| factors.get_ref().clone())
        };
        let load = |load: &Load| Varying {
            values: flows(lookup, load, &mut Vec::new()),
            factors: table(&load.over_time),
        };
        let ambient = |film: &Convection| Varying {
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
            Varying { values, factors: table(&support.over_time) }
        };
        Self {
            loads: config.loads.iter().map(load).collect(),
            ambient: config.convection.iter().map(ambient).collect(),
            held: config.supports.iter().map(held).collect(),
        }
    }
}

/// The integral of h N_a over the faces of a convection, by increasing node.
fn film_flows(lookup: &Lookup, film: &Convection, findings: &mut Vec<Finding>) -> Vec<(u32, f64)> {
    let Some(faces) = lookup.faces(&film.set, film.kind) else {
        let instead = "[[supports]] with a `temperature`";
        findings.extend(lookup.no_faces(&film.set, "convection", film.set.span(), instead));
        return Vec::new();
    };
    let areas = surface_load::areas(lookup.mesh, &faces);
    areas.into_iter().map(|(node, area)| (node, film.film_coefficient * area)).collect()
}

/// Capacities by volume of all elements in the user's order, `[n_elements]`.
///
/// # Errors
/// Materials without mass or heat capacity.
pub(crate) fn capacities(config: &Config, case: &Case<1>) -> Result<Vec<f64>, InputError> {
    let mut findings = Vec::new();
    let mut missing = |of: String| {
        let message = format!("heat in time needs the heat capacity by volume{of}");
        let remedy = "give its material `mass_density` and `heat_capacity`";
        findings.push(Finding::new(message).remedy(remedy));
    };
    let taken: usize = case.materials.iter().map(Vec::len).sum();
    let (n, all) = (case.mesh.n_elements(), &config.material);
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
        field.clone().unwrap_or_else(|| numbers(property, n, &case.materials))
    };
    let capacity = values(&case.fields.heat_capacity, &capacity);
    let density = values(&case.fields.mass_density, &density);
    Ok(capacity.iter().zip(density).map(|(capacity, density)| capacity * density).collect())
}

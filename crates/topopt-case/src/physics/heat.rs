//! Heat conduction: temperatures, heat flows, convection.

mod flows;
mod in_time;

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_fem::orthotropy::stretch;
use topopt_fem::{
    Coupling, Diffusion, Discretization, ElementData, ProblemError, Timeline, heat_flux,
};
use topopt_mesh::Renumbering;

use super::{Conditions, Loaded, Names, Physics};
use crate::case_loads::CaseLoads;
use crate::config::{Config, SetMaterial, Support, number};
use crate::fields::Fields;
use crate::finding::{Finding, InputError};
use crate::lookup::{Lookup, sorted};
use crate::nodal_loads::NodalLoad;
use flows::{film_couplings, film_flows, flows};
pub use in_time::{Acting, InTime};

/// Name of the array of the heat flux in the first load case.
pub const HEAT_FLUX: &str = "heat_flux";

/// Share of the solid's conductivity from which on void is a filler that heat flows through, and
/// sources in it count. Below, as of stiffness, there is nothing.
pub const FILLER: f64 = 1e-4;

impl Physics<1> for Diffusion {
    const NAMES: Names = Names {
        state: "temperature",
        load: "heat",
        loads: "heat",
        energy: "dissipation",
        sprung: "convected",
    };

    fn of(config: &Config) -> Result<Self, Finding> {
        Ok(Self::by(config.elements.unwrap_or_default().kind.into()))
    }

    fn coefficient(config: &Config) -> f64 {
        number(config.material.conductivity.as_ref()).unwrap_or(1.0)
    }

    fn coefficient_field(fields: &Fields) -> Option<&[f64]> {
        fields.conductivity.as_deref()
    }

    fn element_data(
        _: &Config,
        (_, fields): (&[Vec<u32>], &Fields),
        renumbering: &Renumbering,
    ) -> Result<ElementData, Finding> {
        let Some(along) = &fields.conductivity_along else { return Ok(ElementData::default()) };
        let stretches: Vec<_> = along.par_iter().copied().map(stretch).collect();
        Ok(ElementData::stretched(renumbering.elements_from_original(&stretches)))
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
        let (springs, films) = (springs.collect(), films.couplings);
        Conditions { fixed: [sorted(fixed)], springs, films, load_cases }
    }

    fn notes(config: &Config, _: &[CaseLoads<1>]) -> Vec<String> {
        let is_design = config.design.volume_fraction.is_some() || config.objective.is_some();
        let cools = is_design && !config.convection.is_empty();
        let note = "convection stays on the faces of the mesh and does not follow the design: where the \
                    elements behind them become void it cools nothing, and faces of the design \
                    within the mesh are not cooled";
        cools.then(|| note.into()).into_iter().collect()
    }

    fn nodal_loads(lookup: &Lookup) -> Vec<NodalLoad<1>> {
        let loads = lookup.config.loads.iter();
        loads.map(|load| lookup.nodal_load(load, |[heat, ..]| [heat])).collect()
    }

    fn loaded(lookup: &Lookup) -> Option<Loaded> {
        let (mut nodes, mut elements) = (Vec::new(), Vec::new());
        // What is not there was reported with the load cases.
        let findings = &mut Vec::new();
        for load in &lookup.config.loads {
            if load.is_in_elements() {
                elements.extend(lookup.heated(load, findings));
            } else {
                nodes.extend(flows(lookup, load, findings).into_iter().map(|(node, _)| node));
            }
        }
        Some(Loaded { nodes: sorted(nodes), elements: sorted(elements) })
    }

    fn flux(
        problem: &Discretization<Self, 1>,
        coefficients: &[f64],
        state: &[f64],
    ) -> Option<(&'static str, Vec<[f64; 3]>)> {
        Some((HEAT_FLUX, heat_flux(problem, coefficients, state)))
    }

    fn incomplete_materials(
        lookup: &Lookup,
        _: &[CaseLoads<1>],
        sets: &[Vec<u32>],
    ) -> Vec<Finding> {
        let taken: usize = sets.iter().map(Vec::len).sum();
        let is_needed = taken < lookup.mesh.n_elements();
        let missing = (is_needed && lookup.config.material.conductivity.is_none()).then(|| {
            let others = if taken > 0 { ", which elements of no other material need" } else { "" };
            let finding = Finding::new(format!("[material] has no `conductivity`{others}"));
            finding.remedy("add `conductivity = ...`: heat per time, length and temperature")
        });
        missing.into_iter().chain(lookup.massless(false, sets)).collect()
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

    fn timeline(
        lookup: &Lookup,
        [fixed]: &[Vec<u32>; 1],
        materials: (&[Vec<u32>], &Fields),
        renumbering: &Renumbering,
    ) -> Result<Option<Timeline>, InputError> {
        let keys = lookup.config.transient.as_ref();
        keys.map(|keys| in_time::timeline(lookup, keys, fixed, materials, renumbering)).transpose()
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

/// Films of `[[convection]]`, integrated over their faces: the flow h (T_ambient - T) per area.
struct Films {
    /// The integral of h N_a, by node.
    coefficients: BTreeMap<u32, f64>,
    /// The integral of h N_a N_b of two nodes.
    couplings: Vec<Coupling>,
    /// The integral of h T_ambient N_a, by node.
    flows: BTreeMap<u32, f64>,
}

impl Films {
    fn of(lookup: &Lookup, findings: &mut Vec<Finding>) -> Self {
        let (coefficients, flows) = (BTreeMap::new(), BTreeMap::new());
        let mut films = Self { coefficients, couplings: Vec::new(), flows };
        for convection in &lookup.config.convection {
            films.couplings.extend(film_couplings(lookup, convection));
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
        CaseLoads {
            name: name.to_owned(),
            weight: config.weight_of(name),
            forces: heat.into_iter().map(|(node, flow)| (node, [flow])).collect(),
            gravity: [0.0; 3],
            rotations: Vec::new(),
            temperatures: None,
            displacements: temperatures(lookup, name, findings),
        }
    };
    let names = config.load_case_names();
    // In time a part may be left to itself.
    let alone = (names.is_empty() && config.transient.is_some()).then_some("default");
    names.into_iter().chain(alone).map(&mut case).collect()
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

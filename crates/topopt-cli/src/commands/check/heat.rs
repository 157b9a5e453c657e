//! Supports and heat loads of a part, as `topopt check` reports them.

use std::collections::BTreeMap;

use serde::Serialize;
use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::{Config, Units};
use topopt_case::materials::MaterialShare;
use topopt_case::model::Model;
use topopt_case::physics::heat::InTime;
use topopt_fem::Diffusion;
use topopt_mesh::numbers::shown;

use super::forecast::{Acting, Loads};
use super::load::nodes;

/// Held temperatures, convection and load cases.
#[derive(Debug, Serialize)]
pub(super) struct Heated {
    /// Nodes whose temperature is held.
    held_nodes: usize,
    /// Nodes with convection, and the sum of film coefficient times area.
    convection_nodes: usize,
    convection: f64,
    loads: Vec<Heat>,
    time_steps: Option<usize>,
}

/// A load case.
#[derive(Debug, Serialize)]
struct Heat {
    case: String,
    weight: f64,
    /// Nodes that loads heat, and the sum of that heat per time.
    loaded_nodes: usize,
    heat: f64,
    /// Heat per time that convection brings from the ambient into a part of temperature 0.
    heat_from_ambient: f64,
}

impl Acting<1> for Heated {
    type Kernel = Diffusion;

    const SHOWS_ONE_MATERIAL: bool = true;

    fn given(config: &Config, case: &Case<1>) -> Vec<CaseLoads<1>> {
        given_heat(config, case)
    }

    fn of(config: &Config, model: &Model<Diffusion, 1>, loads: &Loads<1>) -> Self {
        let constraints = model.problem.constraints();
        let films = constraints.springs().unwrap_or_default();
        let cases = loads.given.iter().zip(&loads.all);
        Self {
            held_nodes: constraints.n_fixed(),
            convection_nodes: films.iter().filter(|film| **film > 0.0).count(),
            convection: films.iter().sum(),
            loads: cases.map(|(given, all)| Heat::of(given, all)).collect(),
            time_steps: config.transient.as_ref().map(|transient| transient.times().len()),
        }
    }

    fn rows(&self, free: usize) -> Vec<(&'static str, String)> {
        let held = nodes(self.held_nodes);
        let mut rows = Vec::new();
        rows.extend(
            (self.held_nodes > 0).then(|| ("supports", format!("{held}, temperature held"))),
        );
        rows.push(("unknowns", format!("{free} temperatures")));
        rows.extend((self.convection_nodes > 0).then(|| {
            let (convected, film) = (nodes(self.convection_nodes), shown(self.convection));
            ("convection", format!("{convected}, film coefficient times area {film}"))
        }));
        rows.extend(self.loads.iter().map(|load| ("load case", load.text())));
        rows.extend(self.time_steps.map(|steps| ("time steps", steps.to_string())));
        rows
    }

    fn units(units: Units) -> String {
        units.length.name().into()
    }

    fn made_of(material: &MaterialShare) -> String {
        let (name, n) = (material.name(), material.elements);
        let elements = if n == 1 { "element" } else { "elements" };
        let conductivity = material.conductivity.map_or_else(String::new, |k| k.to_string());
        format!("{name}: {n} {elements}, conductivity {conductivity}")
    }
}

/// The load cases of `case` as `[[loads]]` gives them, without the heat that convection brings from
/// an ambient.
fn given_heat(config: &Config, case: &Case<1>) -> Vec<CaseLoads<1>> {
    let acting = InTime::of(&case.lookup(config)).loads;
    let of_case = |all: &CaseLoads<1>| {
        let mut heat: BTreeMap<u32, f64> = BTreeMap::new();
        let entries = config.loads.iter().zip(&acting).filter(|(load, _)| load.case == all.name);
        for (node, flow) in entries.flat_map(|(_, acting)| &acting.values) {
            *heat.entry(*node).or_default() += flow;
        }
        let forces = heat.into_iter().map(|(node, flow)| (node, [flow])).collect();
        CaseLoads { forces, ..all.clone() }
    };
    case.load_cases.iter().map(of_case).collect()
}

impl Heat {
    /// `given`: what the loads amount to, in `all` with what comes from the ambient.
    fn of(given: &CaseLoads<1>, all: &CaseLoads<1>) -> Self {
        let total = |case: &CaseLoads<1>| case.forces.iter().map(|(_, [heat])| heat).sum::<f64>();
        let (heat, with_ambient) = (total(given), total(all));
        let ambient = with_ambient - heat;
        // The difference of two sums is 0 but for rounding.
        let size: f64 = all.forces.iter().map(|(_, [heat])| heat.abs()).sum();
        Self {
            case: given.name.clone(),
            weight: given.weight,
            loaded_nodes: given.forces.iter().filter(|(_, [heat])| *heat != 0.0).count(),
            heat,
            heat_from_ambient: if ambient.abs() < 1e-12 * size { 0.0 } else { ambient },
        }
    }

    fn text(&self) -> String {
        let Self { case, weight, loaded_nodes, heat, heat_from_ambient } = self;
        let mut parts =
            vec![format!("heat input {} on {}", shown(*heat + 0.0), nodes(*loaded_nodes))];
        if *heat_from_ambient != 0.0 {
            parts.push(format!("convection from ambient {}", shown(*heat_from_ambient)));
        }
        format!("{case}: {}, weight {}", parts.join(", "), shown(*weight))
    }
}

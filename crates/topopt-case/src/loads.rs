//! Loads of a case: a file per family of kinds, and a line of the table below per kind.

mod heat;
pub mod kind;
mod on_faces;
mod on_mass;
mod on_nodes;
mod on_set;
mod temperature;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use toml::Spanned;
use topopt_fem::surface_load::{self, NodalForces};
use topopt_mesh::Face;
use topopt_mesh::surface::inner_faces;

use crate::case_loads::CaseLoads;
use crate::config::{Config, Load, SelectKind};
use crate::finding::Finding;
use crate::lookup::Lookup;
use crate::nodal_loads::NodalLoad;
use kind::{LoadKey, LoadKind, OnMass, Place, Shape};

/// Keys of loads along the normals of faces.
const PUSHING: [&str; 2] = ["pressure", "bearing"];

/// Kinds of loads.
pub static LOADS: [LoadKind; 13] = [
    on_nodes::FORCE,
    on_set::TOTAL_FORCE,
    on_set::MOMENT,
    on_faces::BEARING,
    on_faces::TRACTION,
    on_faces::PRESSURE,
    on_mass::GRAVITY,
    on_mass::ANGULAR_VELOCITY,
    temperature::TEMPERATURE,
    on_faces::HEAT_FLUX,
    heat::HEAT_SOURCE,
    heat::TOTAL_HEAT,
    on_nodes::FROM_MESH,
];

/// Keys that all loads have.
const COMMON: [LoadKey; 4] = [
    LoadKey::new(
        "set",
        Shape::Text,
        "Name of a node, face or element set of the mesh, or of a selection; not with `gravity` or \
         `angular_velocity`.",
    ),
    LoadKey::new(
        "kind",
        Shape::SetKind,
        "Kind of the set if several have this name: nodes, faces or elements. When left out, the \
         first kind that exists; `traction`, `pressure` and `bearing` take faces, and so do \
         `total_force` and `moment` if there are any.",
    ),
    LoadKey::new(
        "over_time",
        Shape::Table,
        "Factors of the heat over time, `[time, factor]` by increasing time: linear between, \
         constant beyond the ends.",
    ),
    LoadKey::new("case", Shape::Text, "Name of the load case that the force belongs to."),
];

/// Description of `[[loads]]` in the schema of the case file.
const TEXT: &str = "A load: exactly one of `force`, `total_force`, `moment`, `bearing`, `traction`, \
                    `pressure`, `gravity`, `angular_velocity` and `temperature`; of heat, of `heat_flux`, \
                    `heat_source` and `total_heat`; of either `from_mesh`. Loads of the same case \
                    act together.";

impl Load {
    /// Returns the kinds that it is of; a case file that was read has one.
    pub fn kinds(&self) -> impl Iterator<Item = &'static LoadKind> {
        LOADS.iter().filter(|kind| self.gives(kind.key()))
    }

    /// Returns the acceleration of the whole part.
    pub fn on_mass(&self) -> Option<OnMass> {
        self.kinds().find_map(|kind| (kind.on_mass)(self))
    }

    /// Returns the vector of a moment, if it is one.
    pub fn moment(&self) -> Option<[f64; 3]> {
        let kind = self.kinds().find(|kind| kind.is_moment)?;
        self.vector(kind.key())
    }

    /// Whether it acts in elements.
    pub(crate) fn is_in_elements(&self) -> bool {
        self.kinds().any(|kind| matches!(kind.place, Place::Elements))
    }

    /// Returns the place of its size, else of its set.
    pub fn span(&self) -> Range<usize> {
        let set = || self.set.as_ref().map_or(0..0, |set| set.span());
        self.kinds().find_map(|kind| self.span_of(kind.key())).unwrap_or_else(set)
    }
}

impl Lookup<'_> {
    /// The load cases, in the order in which the file first names them.
    pub fn load_cases(&self, findings: &mut Vec<Finding>) -> Vec<CaseLoads> {
        let names = self.config.load_case_names();
        names.into_iter().map(|name| self.load_case(name, findings)).collect()
    }

    fn load_case(&self, name: &str, findings: &mut Vec<Finding>) -> CaseLoads {
        let mut forces: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
        let (mut gravity, mut rotations) = ([0.0; 3], Vec::new());

        for load in self.config.loads.iter().filter(|load| load.case == name) {
            for (node, force) in self.on_nodes(load, findings) {
                let total = forces.entry(node).or_default();
                *total = std::array::from_fn(|i| total[i] + force[i]);
            }
            match load.on_mass() {
                Some(OnMass::Gravity(more)) => {
                    gravity = std::array::from_fn(|i| gravity[i] + more[i]);
                }
                Some(OnMass::Rotation(rotation)) => rotations.push(rotation),
                None => {}
            }
        }

        CaseLoads {
            name: name.to_owned(),
            weight: self.config.weight_of(name),
            forces: forces.into_iter().collect(),
            gravity,
            rotations,
            temperatures: self.temperatures(name, findings),
            displacements: self.displacements(name, findings),
        }
    }

    /// The entries that act on nodes, in their order.
    pub fn nodal_loads(&self) -> Vec<NodalLoad> {
        let acts = |load: &&Load| load.on_mass().is_none() && !load.is_in_elements();
        let on_nodes = self.config.loads.iter().filter(acts);
        on_nodes.map(|load| self.nodal_load(load, |force| force)).collect()
    }

    /// One entry on nodes, whose unknowns `of` takes from its vectors.
    pub(crate) fn nodal_load<const N: usize>(
        &self,
        load: &Load,
        of: fn([f64; 3]) -> [f64; N],
    ) -> NodalLoad<N> {
        // What is wrong with it was reported with the load cases.
        let forces = self.on_nodes(load, &mut Vec::new()).into_iter();
        NodalLoad {
            case: load.case.clone(),
            set: load.set.as_ref().map(|set| set.get_ref().clone()),
            forces: forces.map(|(node, force)| (node, of(force))).collect(),
            is_within: load.is_in_elements() || self.is_within(load),
        }
    }

    /// Forces of one entry on the nodes of its set; of heat, heat per time in the first component.
    pub(crate) fn on_nodes(&self, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
        let kind = load.kinds().next();
        kind.map_or_else(Vec::new, |kind| (kind.on_nodes)(self, load, findings))
    }

    /// Nodes of a set with their tributary areas if it has faces, else with 1 each.
    fn areas(
        &self,
        set: &Spanned<String>,
        kind: Option<SelectKind>,
        findings: &mut Vec<Finding>,
    ) -> Vec<(u32, f64)> {
        match self.faces(set, kind) {
            // A corner of triangles of six nodes has none, to rounding.
            Some(faces) => {
                let areas = surface_load::areas(self.mesh, &faces).into_iter();
                areas.filter(|(_, area)| *area > 0.0).collect()
            }
            None => self.nodes(set, kind, findings).into_iter().map(|node| (node, 1.0)).collect(),
        }
    }

    /// The faces of a load by `key`; none, and a finding with `label` and `instead`, where its set
    /// has none.
    fn loaded_faces(
        &self,
        load: &Load,
        key: &str,
        [label, instead]: [&str; 2],
        findings: &mut Vec<Finding>,
    ) -> Vec<Face> {
        let Some((set, place)) = load.set.as_ref().zip(load.span_of(key)) else { return vec![] };
        let Some(faces) = self.faces(set, load.kind) else {
            findings.extend(self.no_faces(set, key, (place, label), instead));
            return vec![];
        };
        if PUSHING.contains(&key) && self.config.mesh.get_ref().is_of_geometry() {
            findings.extend(self.without_side(set.get_ref(), &faces, key, place));
        }
        faces
    }

    /// Refuses a load along normals on faces between bodies, which have one on either side.
    fn without_side(
        &self,
        name: &str,
        faces: &[Face],
        key: &str,
        place: Range<usize>,
    ) -> Option<Finding> {
        let n = inner_faces(self.mesh, faces).len();
        (n > 0).then(|| {
            let message = format!(
                "`{key}` acts along the normals of faces, and {n} faces of set `{name}` lie between \
                 bodies, with a normal on either side"
            );
            Finding::new(message).at(self.config.source(), place, "to which side").remedy(
                "give the force with its direction, as `traction` or `total_force`, or select faces \
                 on the outside",
            )
        })
    }

    /// Something per area on a set that has no area; `instead` is what nodes can have. Sets that
    /// are not there, or empty, are reported as such.
    pub fn no_faces(
        &self,
        set: &Spanned<String>,
        key: &str,
        (place, label): (Range<usize>, &str),
        instead: &str,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let name = set.get_ref();
        let nodes = self.nodes(set, None, &mut findings).len();
        if findings.is_empty() {
            let message =
                format!("`{key}` needs faces, but set `{name}` has none, only {nodes} nodes");
            findings.push(Finding::new(message).at(self.config.source(), place, label).remedy(
                format!(
                    "name a face set: a physical surface of Gmsh, or a [[select]] with `kind = \
                     \"faces\"`; or give {instead}"
                ),
            ));
        }
        findings
    }

    /// Load cases that do no work: forces zero, or all on held components.
    pub fn idle_loads(&self, fixed: &[Vec<u32>; 3], cases: &[CaseLoads]) -> Vec<Finding> {
        let mut findings = Vec::new();
        // Gravity, heat and moved supports load a part whatever the forces are.
        let by_forces = |case: &&CaseLoads| {
            case.acceleration().is_zero()
                && case.displacements.is_empty()
                && case.temperatures.is_none()
        };
        for case in cases.iter().filter(by_forces) {
            let mut pushes = case.forces.iter().flat_map(|(node, force)| {
                (0..3).filter(|&i| force[i] != 0.0).map(move |i| (i, node))
            });

            let is_zero = pushes.clone().next().is_none();
            let first = self.config.loads.iter().find(|load| load.case == case.name);
            if let Some(load) = first
                && pushes.all(|(i, node)| fixed[i].binary_search(node).is_ok())
            {
                let (message, label, span) = if is_zero {
                    ("has no force: its sum is zero on every node", "zero", load.span())
                } else {
                    let message = "acts only where the part is held, so nothing is loaded";
                    let set = load.set.as_ref().map_or_else(|| load.span(), |set| set.span());
                    (message, "held in the direction of the force", set)
                };

                findings.push(
                    Finding::new(format!("load case `{}` {message}", case.name))
                        .at(self.config.source(), span, label)
                        .remedy("give a force on a set that is free to move in its direction"),
                );
            }
        }
        findings
    }
}

impl Config {
    /// Returns the weight of the load case `name`.
    pub(crate) fn weight_of(&self, name: &str) -> f64 {
        let entry = self.load_cases.iter().find(|entry| entry.name.get_ref() == name);
        entry.map_or(1.0, |entry| entry.weight)
    }
}

impl JsonSchema for Load {
    fn schema_name() -> Cow<'static, str> {
        "Load".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let [set, kind, last @ ..] = COMMON;
        let own = LOADS.iter().flat_map(|kind| kind.keys);
        let mut properties = Map::new();
        for key in [&set, &kind].into_iter().chain(own).chain(&last) {
            let mut schema = key.shape.schema(generator, key.text);
            if key.name == "case" {
                schema.insert("default".into(), "default".into());
            }
            properties.insert(key.name.into(), schema.into());
        }

        json_schema!({
            "description": TEXT,
            "type": "object",
            "properties": Value::Object(properties),
            "additionalProperties": false,
        })
    }
}

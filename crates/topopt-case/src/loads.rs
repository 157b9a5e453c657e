//! The load cases that `[[loads]]` and displaced supports amount to.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use topopt_fem::bearing::{BearingError, bearing};
use topopt_fem::remote_load::{PointLoad, SpreadError, spread};
use topopt_fem::surface_load::{self, NodalForces};

use crate::case_loads::{CaseLoads, Rotation};
use crate::config::{Load, LoadQuantity};
use crate::finding::Finding;
use crate::lookup::Lookup;
use crate::nodal_loads::NodalLoad;
use topopt_mesh::numbers::shown;

/// Alternative to a force per area for a set of nodes, named in remedies.
const TOTAL: &str = "`total_force`, which is shared equally by nodes";

impl Lookup<'_> {
    /// The load cases, in the order in which the file first names them.
    pub fn load_cases(&self, findings: &mut Vec<Finding>) -> Vec<CaseLoads> {
        let weight = |name: &str| {
            let entry = self.config.load_cases.iter().find(|entry| entry.name.get_ref() == name);
            entry.map_or(1.0, |entry| entry.weight)
        };

        let mut case = |name: &str| {
            let mut forces: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
            let (mut gravity, mut rotations) = ([0.0; 3], Vec::new());
            for load in self.config.loads.iter().filter(|load| load.case == name) {
                for (node, force) in self.forces(load, findings) {
                    let total = forces.entry(node).or_default();
                    *total = std::array::from_fn(|i| total[i] + force[i]);
                }
                if let Some(more) = load.gravity.as_ref().map(|gravity| gravity.get_ref()) {
                    gravity = std::array::from_fn(|i| gravity[i] + more[i]);
                }
                rotations.extend(load.angular_velocity.as_ref().map(|velocity| Rotation {
                    angular_velocity: *velocity.get_ref(),
                    center: load.center.as_ref().map_or([0.0; 3], |center| *center.get_ref()),
                }));
            }

            CaseLoads {
                name: name.to_owned(),
                weight: weight(name),
                forces: forces.into_iter().collect(),
                gravity,
                rotations,
                displacements: self.displacements(name, findings),
            }
        };
        self.config.load_case_names().into_iter().map(&mut case).collect()
    }

    /// The entries that act on nodes, in their order.
    pub fn nodal_loads(&self) -> Vec<NodalLoad> {
        let of = |load: &Load| NodalLoad {
            case: load.case.clone(),
            set: load.set.as_ref().map(|set| set.get_ref().clone()),
            // What is wrong with it was reported with the load cases.
            forces: self.forces(load, &mut Vec::new()),
            is_within: self.is_within(load),
        };
        self.config.loads.iter().filter(|load| !load.is_of_whole_part()).map(of).collect()
    }

    /// Forces of one entry on the nodes of its set.
    fn forces(&self, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
        let Some(set) = &load.set else { return Vec::new() };
        let Some((quantity, place)) = load.quantities().into_iter().next() else {
            return Vec::new();
        };
        match quantity {
            LoadQuantity::Force(force) => {
                let nodes = self.nodes(set, load.kind, findings);
                nodes.into_iter().map(|node| (node, force)).collect()
            }
            LoadQuantity::TotalForce(force) => match &load.at {
                Some(at) => {
                    let load_there = PointLoad { force, moment: [0.0; 3], at: *at.get_ref() };
                    self.spread(load, load_there, place, findings)
                }
                None => self.total_force(load, set, force, findings),
            },
            LoadQuantity::Moment(moment) => {
                let turning = PointLoad { force: [0.0; 3], moment, at: [0.0; 3] };
                self.spread(load, turning, place, findings)
            }
            LoadQuantity::Traction(_) | LoadQuantity::Pressure(_) | LoadQuantity::Bearing(_) => {
                self.on_faces(load, set, (quantity, place), findings)
            }
            LoadQuantity::FromMesh => self.of_mesh_file(set, place, findings),
            // Those of the whole part, and those of other physics.
            _ => Vec::new(),
        }
    }

    /// A force on the set as a whole.
    fn total_force(
        &self,
        load: &Load,
        set: &Spanned<String>,
        force: [f64; 3],
        findings: &mut Vec<Finding>,
    ) -> NodalForces {
        if let Some(faces) = self.faces(set, load.kind) {
            return surface_load::total_force(self.mesh, &faces, force);
        }
        let nodes = self.nodes(set, load.kind, findings);
        let share = force.map(|f| f / nodes.len() as f64);
        nodes.into_iter().map(|node| (node, share)).collect()
    }

    /// Returns the nodal forces of a load that needs faces: a traction, a pressure or a bearing.
    fn on_faces(
        &self,
        load: &Load,
        set: &Spanned<String>,
        (quantity, place): (LoadQuantity, Range<usize>),
        findings: &mut Vec<Finding>,
    ) -> NodalForces {
        let Some(faces) = self.faces(set, load.kind) else {
            findings.extend(self.no_faces(set, quantity.key(), place, TOTAL));
            return Vec::new();
        };

        match quantity {
            LoadQuantity::Traction(traction) => surface_load::traction(self.mesh, &faces, traction),
            LoadQuantity::Pressure(pressure) => surface_load::pressure(self.mesh, &faces, pressure),
            LoadQuantity::Bearing(force) if force != [0.0; 3] => bearing(self.mesh, &faces, force)
                .unwrap_or_else(|error| {
                    findings.push(self.no_bearing(set.get_ref(), error, place));
                    Vec::new()
                }),
            _ => Vec::new(),
        }
    }

    /// A force at a point or a moment, on the nodes of the set of `load`: by the areas that they
    /// stand for if it has faces, else alike.
    fn spread(
        &self,
        load: &Load,
        point_load: PointLoad,
        place: Range<usize>,
        findings: &mut Vec<Finding>,
    ) -> NodalForces {
        let Some(set) = &load.set else { return Vec::new() };
        let weights: Vec<(u32, f64)> = match self.faces(set, load.kind) {
            Some(faces) => surface_load::areas(self.mesh, &faces),
            None => {
                let nodes = self.nodes(set, load.kind, findings);
                nodes.into_iter().map(|node| (node, 1.0)).collect()
            }
        };
        if weights.is_empty() {
            return Vec::new();
        }

        spread(self.mesh, &weights, &point_load).unwrap_or_else(|error| {
            findings.push(self.no_moment(set.get_ref(), error, place));
            Vec::new()
        })
    }

    /// A moment that the nodes of a set do not take.
    fn no_moment(&self, name: &str, error: SpreadError, place: Range<usize>) -> Finding {
        let (message, remedy) = match error {
            SpreadError::Point => (
                format!("the nodes of set `{name}` are in one point and take no moment"),
                "name a set of several nodes, or put `at` on the node".to_owned(),
            ),
            SpreadError::Line(axis) => {
                let [x, y, z] = axis.map(shown);
                (
                    format!("the nodes of set `{name}` are on a line and take no moment about it"),
                    format!(
                        "name a set that is wider across its direction ({x}, {y}, {z}), or leave \
                         this part of the moment out; a force with `at` on the line has none"
                    ),
                )
            }
        };
        let finding = Finding::new(message).remedy(remedy);
        finding.at(self.config.source(), place, "has a moment about them")
    }

    /// A force that the faces of a bore do not take.
    fn no_bearing(&self, name: &str, error: BearingError, place: Range<usize>) -> Finding {
        let (message, label, remedy) = match error {
            BearingError::NoFace => (
                format!("no face of set `{name}` takes this bearing load"),
                "no outward normal points against it",
                "name the faces of the bore that the force presses on, or turn the force",
            ),
            BearingError::Sideways(share) => (
                format!(
                    "the faces of set `{name}` leave {} % of this bearing load: a pin only pushes \
                     along their normals",
                    shown((100.0 * share).round())
                ),
                "points along the faces",
                "name all faces of the bore, and give the part along its axis as `total_force`",
            ),
        };
        Finding::new(message).at(self.config.source(), place, label).remedy(remedy)
    }

    /// Something per area on a set that has no area; `instead` is what nodes can have. Sets that
    /// are not there, or empty, are reported as such.
    pub fn no_faces(
        &self,
        set: &Spanned<String>,
        key: &str,
        place: Range<usize>,
        instead: &str,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let name = set.get_ref();
        let nodes = self.nodes(set, None, &mut findings).len();
        if findings.is_empty() {
            let label = if key == "bearing" { "in a bore" } else { "per area" };
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
        // Gravity and moved supports load a part whatever the forces are.
        let by_forces =
            |case: &&CaseLoads| case.acceleration().is_zero() && case.displacements.is_empty();
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

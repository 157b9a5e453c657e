//! A case made ready: the mesh, and what the sets named in the case file stand for in it.

use std::collections::BTreeMap;
use std::ops::Range;

use topopt_mesh::generate::{Benchmark, GenerateError, Resolution};
use topopt_mesh::{HexMesh, SetError, Sets};

use crate::config::{Axis, Config, Generator, closest};
use crate::report::{Finding, InputError};
use crate::selections;

/// A mesh with supports, loads and solid elements, all by numbers from 0.
#[derive(Debug, Clone)]
pub struct Case {
    /// The mesh.
    pub mesh: HexMesh,
    /// Numbers of nodes and elements in the mesh file; none for a generated mesh.
    pub tags: Option<Tags>,
    /// The sets of the mesh, and those that the case file selects.
    pub sets: Sets,
    /// What was left out or changed in reading the mesh, a sentence each.
    pub notes: Vec<String>,
    /// Nodes held in x, in y and in z, each sorted.
    pub fixed: [Vec<u32>; 3],
    /// Load cases, in the order in which the file first names them.
    pub load_cases: Vec<NodalForces>,
    /// Elements that stay solid, sorted.
    pub solid: Vec<u32>,
}

/// Numbers of the mesh file.
#[derive(Debug, Clone)]
pub struct Tags {
    /// Of the nodes, \[n_nodes\].
    pub nodes: Vec<u64>,
    /// Of the elements, \[n_elements\].
    pub elements: Vec<u64>,
}

/// Forces that act together.
#[derive(Debug, Clone, PartialEq)]
pub struct NodalForces {
    /// Name of the load case.
    pub name: String,
    /// Its weight in the compliance.
    pub weight: f64,
    /// Loaded nodes, sorted, with their forces.
    pub forces: Vec<(u32, [f64; 3])>,
}

/// Width of an element of `mesh`: the cube root of the mean element volume.
pub fn element_width(mesh: &HexMesh) -> f64 {
    (mesh.volumes().iter().sum::<f64>() / mesh.n_elements() as f64).cbrt()
}

impl Generator {
    /// The benchmark of this name.
    pub fn benchmark(self) -> Benchmark {
        match self {
            Generator::Cantilever => Benchmark::Cantilever,
            Generator::LBeam => Benchmark::LBeam,
            Generator::Michell => Benchmark::Michell,
            Generator::ConnectingRod => Benchmark::ConnectingRod,
        }
    }

    /// The mesh of the given size, else of about so many elements.
    ///
    /// # Errors
    /// [`GenerateError`] if there is no such mesh.
    pub fn generate(
        self,
        size: Option<u8>,
        elements: Option<usize>,
    ) -> Result<HexMesh, GenerateError> {
        let of_elements = || Resolution::Elements(elements.unwrap_or(0));
        let resolution = size.map_or_else(of_elements, |size| Resolution::Size(size.into()));
        self.benchmark().generate(resolution)
    }
}

impl Case {
    /// Reads or makes the mesh, selects, and looks up every set.
    ///
    /// # Errors
    /// All that is wrong, with places in the case file: a mesh that cannot be had, selections of
    /// nothing or everything, sets that are not there or empty, loads that are zero or only on supports, nothing left to design.
    pub fn build(config: &Config) -> Result<Self, InputError> {
        let (mesh, tags, notes) = mesh(config)?;
        let sets = selections::sets(config, &mesh, tags.as_ref())?;
        let lookup = Lookup { config, mesh: &mesh, sets: &sets };
        let mut findings = Vec::new();
        let fixed = lookup.fixed(&mut findings);
        let load_cases = lookup.load_cases(&mut findings);
        let solid = lookup.solid(&mut findings);
        InputError::if_any(findings)?;
        InputError::if_any(lookup.idle_loads(&fixed, &load_cases))?;
        Ok(Self { mesh, tags, sets, notes, fixed, load_cases, solid })
    }
}

fn mesh(config: &Config) -> Result<(HexMesh, Option<Tags>, Vec<String>), InputError> {
    let keys = config.mesh.get_ref();
    if let (Some(path), Some(file)) = (config.mesh_path(), &keys.file) {
        let read = topopt_io::read_mesh(&path).map_err(|error| {
            let finding = Finding::new(error.to_string());
            let finding = finding.at(config.source(), file.span(), "this mesh");
            let relative = "`file` is relative to the folder of the case file";
            if path.exists() { finding } else { finding.remedy(relative) }
        })?;
        let tags = Tags { nodes: read.node_tags, elements: read.element_tags };
        return Ok((read.mesh, Some(tags), read.notes));
    }
    let (size, elements) = (keys.size.as_ref(), keys.elements.as_ref());
    let span = elements.map_or_else(|| config.mesh.span(), |elements| elements.span());
    let generator = keys.generator.as_ref().map_or(Generator::Cantilever, |g| *g.get_ref());
    let mesh = generator
        .generate(size.map(|size| *size.get_ref()), elements.map(|n| *n.get_ref()))
        .map_err(|error| Finding::new(error.to_string()).at(config.source(), span, "here"))?;
    Ok((mesh, None, Vec::new()))
}

/// Finds the sets that the case file names in its mesh.
struct Lookup<'a> {
    config: &'a Config,
    mesh: &'a HexMesh,
    sets: &'a Sets,
}

impl Lookup<'_> {
    fn fixed(&self, findings: &mut Vec<Finding>) -> [Vec<u32>; 3] {
        let mut fixed = [Vec::new(), Vec::new(), Vec::new()];
        for support in &self.config.supports {
            let nodes = self.nodes(support.set.get_ref(), support.set.span(), findings);
            for axis in &support.fix {
                fixed[component(*axis)].extend(&nodes);
            }
        }
        fixed.map(sorted)
    }

    fn load_cases(&self, findings: &mut Vec<Finding>) -> Vec<NodalForces> {
        let mut cases: Vec<(&str, BTreeMap<u32, [f64; 3]>)> = Vec::new();
        for load in &self.config.loads {
            let force = load.force.get_ref();
            let index = cases.iter().position(|(name, _)| *name == load.case);
            let index = index.unwrap_or_else(|| {
                cases.push((&load.case, BTreeMap::new()));
                cases.len() - 1
            });
            for node in self.nodes(load.set.get_ref(), load.set.span(), findings) {
                let total = cases[index].1.entry(node).or_default();
                *total = std::array::from_fn(|i| total[i] + force[i]);
            }
        }
        let weight = |name: &str| {
            let entry = self.config.load_cases.iter().find(|entry| entry.name.get_ref() == name);
            entry.map_or(1.0, |entry| entry.weight)
        };
        let finished = |(name, forces): (&str, BTreeMap<_, _>)| NodalForces {
            name: name.to_owned(),
            weight: weight(name),
            forces: forces.into_iter().collect(),
        };
        cases.into_iter().map(finished).collect()
    }

    fn solid(&self, findings: &mut Vec<Finding>) -> Vec<u32> {
        let mut solid = Vec::new();
        for name in &self.config.design.solid {
            match self.sets.element_set(name.get_ref()) {
                Ok([]) => findings.push(self.empty(name.get_ref(), name.span())),
                Ok(set) => solid.extend(set),
                Err(error) => findings.push(self.not_there(&error, name.span())),
            }
        }
        let solid = sorted(solid);
        if let Some(last) = self.config.design.solid.last()
            && solid.len() == self.mesh.n_elements()
        {
            let finding = Finding::new("every element is solid: nothing is left to design");
            findings.push(
                finding
                    .at(self.config.source(), last.span(), "with this set")
                    .remedy("take a set out of `solid`, or make it smaller in the mesh"),
            );
        }
        solid
    }

    fn nodes(&self, name: &str, span: Range<usize>, findings: &mut Vec<Finding>) -> Vec<u32> {
        let nodes = self.sets.nodes_of(name, self.mesh.hexes());
        match nodes {
            Ok(nodes) if nodes.is_empty() => findings.push(self.empty(name, span)),
            Ok(nodes) => return nodes,
            Err(error) => findings.push(self.not_there(&error, span)),
        }
        Vec::new()
    }

    fn empty(&self, name: &str, span: Range<usize>) -> Finding {
        Finding::new(format!("set `{name}` is empty"))
            .at(self.config.source(), span, "nothing in this set")
            .remedy("name another set, or put something into this one in the mesher")
    }

    fn not_there(&self, error: &SetError, span: Range<usize>) -> Finding {
        let sets = self.sets.summary();
        let near = closest(&error.name, sets.iter().map(|(name, ..)| name.as_str()));
        let names: Vec<_> = sets
            .iter()
            .map(|(name, kind, count)| format!("{name} ({count} {}s)", kind.name()))
            .collect();
        let remedy = match (near, names.is_empty()) {
            (_, true) => "the mesh has no sets: give its parts names in the mesher (physical \
                          groups in Gmsh)"
                .into(),
            (Some(near), _) if near != error.name => {
                format!("did you mean `{near}`? the mesh has {}", names.join(", "))
            }
            _ => format!("the mesh has {}", names.join(", ")),
        };
        let wanted = error.wanted;
        Finding::new(format!("{wanted} set `{}` is not in the mesh", error.name))
            .at(self.config.source(), span, "no such set")
            .remedy(remedy)
    }

    /// Load cases that do no work: forces zero, or all on held components.
    fn idle_loads(&self, fixed: &[Vec<u32>; 3], cases: &[NodalForces]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for case in cases {
            let mut pushes = case.forces.iter().flat_map(|(node, force)| {
                (0..3).filter(|&i| force[i] != 0.0).map(move |i| (i, node))
            });
            let is_zero = pushes.clone().next().is_none();
            let first = self.config.loads.iter().find(|load| load.case == case.name);
            if let Some(load) = first
                && pushes.all(|(i, node)| fixed[i].binary_search(node).is_ok())
            {
                let (message, label, span) = if is_zero {
                    ("has no force: its sum is zero on every node", "zero", load.force.span())
                } else {
                    let message = "acts only where the part is held, so nothing is loaded";
                    (message, "held in the direction of the force", load.set.span())
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

fn component(axis: Axis) -> usize {
    match axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    }
}

fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

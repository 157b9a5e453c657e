//! `Case`: a case file with its mesh, its sets resolved to nodes, faces and elements.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use topopt_fem::{Coupling, DIM, Elasticity};
use topopt_io::deck::Deck;
use topopt_io::vtk::vtu;
use topopt_io::{ImportedMesh, UncutCells};
use topopt_mesh::generate::{Benchmark, GenerateError, Resolution};
use topopt_mesh::{HexMesh, Renumbering, Sets};

use crate::case_loads::CaseLoads;
use crate::config::{Config, Generator, PhysicsKind};
use crate::design_space::DesignBodies;
use crate::fields::{Fields, Maker};
use crate::finding::{Finding, InputError};
use crate::geometry_faces::GeometryFaces;
use crate::interrupt::Interrupt;
use crate::kept::{Kept, Passive};
use crate::lookup::{Lookup, NodalOfMesh, sorted};
use crate::meshing::Gmsh;
use crate::physics::{Conditions, Loaded, Physics};
use crate::responses::posed::Posed;
use crate::tags::Tags;
use crate::{deck_case, design_space, free_memory, meshing, refinement, selections, tetrahedra};

/// A mesh with supports, loads, solid and void elements, all by numbers from 0, of a physics with N
/// unknowns per node.
#[derive(Debug, Clone)]
pub struct Case<const N: usize = DIM> {
    /// The mesh.
    pub mesh: HexMesh,
    /// Whether the mesh is examined for nodes that are not joined, however large it is.
    pub is_examined: bool,
    /// Numbers of nodes and elements in the mesh file; none for a generated mesh.
    pub tags: Option<Tags>,
    /// The sets of the mesh, and those that the case file selects.
    pub sets: Sets,
    /// Forces on the nodes of sets as the mesh file has them.
    pub nodal: NodalOfMesh,
    /// The cells of the mesh file, if they were cut and the case file asks for the design on them.
    pub uncut: Option<UncutCells>,
    /// Notes on data left out or changed in reading the mesh, one sentence each.
    pub notes: Vec<String>,
    /// Nodes at which each unknown is held, each sorted: in x, in y and in z.
    pub fixed: [Vec<u32>; N],
    /// Stiffness of springs to the ground, by increasing node.
    pub springs: Vec<(u32, [f64; N])>,
    /// Couplings between nodes by convection films; their row sums are among the springs.
    pub films: Vec<Coupling>,
    /// Elements of each of `[[materials]]`, sorted; no element is in two.
    pub materials: Vec<Vec<u32>>,
    /// Properties of the materials that vary in the part.
    pub fields: Fields,
    /// Load cases, in the order in which the file first names them.
    pub load_cases: Vec<CaseLoads<N>>,
    /// Nodes and elements that loads act on; none means every node with a load.
    pub loaded: Option<Loaded>,
    /// Objective and constraints.
    pub posed: Posed,
    /// Elements that stay solid, sorted, with those of `kept`.
    pub solid: Vec<u32>,
    /// Elements that stay solid at loads and supports.
    pub kept: Kept,
    /// Elements that stay void, sorted.
    pub void: Vec<u32>,
    /// Bodies of the design space, if the mesh is made of one.
    pub bodies: Option<DesignBodies>,
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

    /// Generates the mesh of the given size, or of about the given number of elements.
    ///
    /// # Errors
    /// [`GenerateError`] if there is no such mesh.
    pub fn generate(
        self,
        size: Option<u8>,
        elements: Option<usize>,
    ) -> Result<HexMesh, GenerateError> {
        self.benchmark().generate(resolution(size, elements))
    }
}

fn resolution(size: Option<u8>, elements: Option<usize>) -> Resolution {
    let of_elements = || Resolution::Elements(elements.unwrap_or(0));
    size.map_or_else(of_elements, |size| Resolution::Size(size.into()))
}

impl Case {
    /// Reads or makes the mesh, selects, and looks up every set. A geometry is meshed by the Gmsh
    /// of the environment, and is not trusted.
    ///
    /// # Errors
    /// All that is wrong, with places in the case file: a mesh that cannot be had, selections of
    /// nothing or everything, sets that are not there or empty, loads that are zero or only on
    /// supports, nothing left to design.
    pub fn build(config: &Config) -> Result<Self, InputError> {
        Self::build_until(config, &Gmsh::default(), &Interrupt::new())
    }

    /// Builds the case as [`Case::build`] does, with `gmsh` as the command line sets it; Gmsh is
    /// ended soon after `interrupt` is set.
    ///
    /// # Errors
    /// As [`Case::build`].
    pub fn build_until(
        config: &Config,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<Self, InputError> {
        Self::check_elastic(config)?;
        Self::of::<Elasticity>(config, gmsh, interrupt)
    }

    /// Refuses a case of heat, for commands that know elasticity alone.
    ///
    /// # Errors
    /// A finding with the commands that know heat.
    pub fn check_elastic(config: &Config) -> Result<(), Finding> {
        if config.physics.kind == PhysicsKind::Elasticity {
            return Ok(());
        }
        let message = "this command is for elastic parts, and this is a thermal case";
        let remedy =
            "`topopt check`, `run`, `solve`, `verify`, `report` and `export` support thermal cases";
        Err(Finding::new(message).remedy(remedy))
    }
}

impl<const N: usize> Case<N> {
    /// Builds a case of any physics, as [`Case::build_until`] does of elasticity.
    ///
    /// # Errors
    /// As [`Case::build`].
    pub fn of<K: Physics<N>>(
        config: &Config,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<Self, InputError> {
        Self::on_meshed::<K>(config, Meshed::of(config, gmsh, interrupt)?)
    }

    /// Builds a case on a mesh in memory, whose sets its keys name, in place of the mesh of
    /// `[mesh]`.
    ///
    /// # Errors
    /// As [`Case::build`].
    pub fn on<K: Physics<N>>(config: &Config, mesh: HexMesh) -> Result<Self, InputError> {
        Self::on_meshed::<K>(config, Meshed::in_memory(mesh))
    }

    fn on_meshed<K: Physics<N>>(config: &Config, meshed: Meshed) -> Result<Self, InputError> {
        let Meshed { mesh, tags, faces, uncut, arrays, mut notes, deck, bodies } = meshed;
        tetrahedra::check(config, &mesh)?;
        let sets = selections::sets(config, &mesh, tags.as_ref(), &faces)?;
        let lookup = Lookup { config, mesh: &mesh, sets: &sets, nodal: &deck.nodal };
        notes.extend(lookup.notes());

        let mut findings = Vec::new();
        let Conditions { fixed, springs, films, load_cases } =
            K::conditions(&lookup, &mut findings);
        let materials = lookup.materials(&mut findings);
        findings.extend(lookup.unlike_the_deck(&deck, &materials));
        findings.extend(K::incomplete_materials(&lookup, &load_cases, &materials));
        let [solid, void] = lookup.passive(&mut findings);
        let posed = lookup.posed(&mut findings);
        findings.extend(lookup.held_objective(&posed, &fixed));
        let loaded = K::loaded(&lookup);

        InputError::if_any(findings)?;
        InputError::if_any(K::idle_loads(&lookup, &fixed, &load_cases))?;

        let mut findings = Vec::new();
        let passive = Passive { solid: &solid, void: &void };
        let kept = Kept::of::<K, N>(&lookup, &fixed, &passive)?;
        let solid = sorted([&solid[..], &kept.elements].concat());
        let maker =
            Maker { lookup: &lookup, tags: tags.as_ref(), sets: &materials, arrays: &arrays };
        let fields = Fields::of(&maker, &mut findings);
        InputError::if_any(findings)?;

        Ok(Self {
            mesh,
            is_examined: false,
            tags,
            sets,
            nodal: deck.nodal,
            uncut,
            notes,
            fixed,
            springs,
            films,
            materials,
            fields,
            load_cases,
            loaded,
            posed,
            solid,
            kept,
            void,
            bodies,
        })
    }

    /// Elements that stay solid for another reason than loads and supports, sorted.
    pub(crate) fn solid_by_name(&self) -> Vec<u32> {
        let is_kept = |e: &u32| self.kept.elements.binary_search(e).is_ok();
        self.solid.iter().copied().filter(|e| !is_kept(e)).collect()
    }

    /// Returns a lookup of the sets and nodal forces of the case.
    pub fn lookup<'a>(&'a self, config: &'a Config) -> Lookup<'a> {
        Lookup { config, mesh: &self.mesh, sets: &self.sets, nodal: &self.nodal }
    }

    /// Number of a node in the mesh file; for a generated mesh, in the one `topopt mesh` writes.
    pub fn node_number(&self, node: u32) -> u64 {
        Tags::node(self.tags.as_ref(), node)
    }

    /// Number of an element, as [`Case::node_number`].
    pub fn element_number(&self, element: u32) -> u64 {
        Tags::element(self.tags.as_ref(), element)
    }
}

/// A mesh, read or made.
struct Meshed {
    mesh: HexMesh,
    tags: Option<Tags>,
    faces: GeometryFaces,
    uncut: Option<UncutCells>,
    /// Arrays of the elements that the case file names, `[n_elements]`.
    arrays: BTreeMap<String, Vec<f64>>,
    notes: Vec<String>,
    /// The rest of the mesh file, if it is a solver's deck.
    deck: Deck,
    /// Bodies of a design space.
    bodies: Option<DesignBodies>,
}

impl Meshed {
    fn of(config: &Config, gmsh: &Gmsh, interrupt: &Interrupt) -> Result<Self, InputError> {
        let keys = config.mesh.get_ref();
        if let Some(space) = &keys.design_space {
            let (imported, faces, bodies) = design_space::mesh(config, space, gmsh, interrupt)?;
            let meshed = Self::imported(config, imported, faces);
            return Ok(Self { bodies: Some(bodies), ..meshed });
        }
        match (config.mesh_path(), &keys.file) {
            (Some(path), Some(file)) => Self::read(config, &path, file.span(), gmsh, interrupt),
            _ => Self::generated(config),
        }
    }

    fn read(
        config: &Config,
        path: &Path,
        span: Range<usize>,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<Self, InputError> {
        let names = config.cell_arrays();
        let read = match names.as_slice() {
            [] => Self::meshed(config, path, gmsh, interrupt).map(|mesh| (mesh, Vec::new())),
            names => vtu::read_with_cell_data_as(path, names, tetrahedra::cutting(config))
                .map_err(|error| Finding::new(error.to_string())),
        };
        let (mut imported, arrays) = read.map_err(|finding| {
            let finding = finding.at(config.source(), span, "this mesh");
            let relative = "`file` is relative to the folder of the case file";
            if path.exists() { finding } else { finding.remedy(relative) }
        })?;

        imported.notes.extend(deck_case::note_on_lost(path, &imported));
        let faces = GeometryFaces::read(config, path, &imported, gmsh, interrupt)?;
        let arrays = names.into_iter().map(str::to_owned).zip(arrays).collect();
        Ok(Self { arrays, ..Self::imported(config, imported, faces) })
    }

    /// Reads the mesh at `path`, or meshes the geometry.
    fn meshed(
        config: &Config,
        path: &Path,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<ImportedMesh, Finding> {
        let mut how = meshing::how(config, gmsh)?;
        how.gmsh.finer = refinement::boxes(config, path, gmsh, interrupt)?;
        meshing::read(path, &how, interrupt)
    }

    /// A mesh of a file or a geometry, without arrays.
    fn imported(config: &Config, imported: ImportedMesh, faces: GeometryFaces) -> Self {
        let ImportedMesh { mesh, node_tags, element_tags, mut notes, uncut, deck, .. } = imported;
        notes.extend(uncut.as_ref().and_then(|it| tetrahedra::note_on_cut(config, &it.cells)));
        let is_wanted = config.output.uncut;
        if is_wanted && uncut.is_none() {
            notes.push(
                "no element was cut: `output.uncut` writes nothing besides design.vtu".into(),
            );
        }
        let tags = Some(Tags { nodes: node_tags, elements: element_tags });
        let uncut = uncut.filter(|_| is_wanted);
        let arrays = BTreeMap::new();
        Self { mesh, tags, faces, uncut, arrays, notes, deck, bodies: None }
    }

    fn generated(config: &Config) -> Result<Self, InputError> {
        let keys = config.mesh.get_ref();
        let (size, elements) = (keys.size.as_ref(), keys.elements.as_ref());
        let span = elements.map_or_else(|| config.mesh.span(), |elements| elements.span());
        let generator = keys.generator.as_ref().map_or(Generator::Cantilever, |g| *g.get_ref());

        // Before a generator takes the memory.
        if let Some(elements) = elements {
            free_memory::check_elements(*elements.get_ref())
                .map_err(|finding| finding.at(config.source(), span.clone(), "so many"))?;
        }

        let size = size.map(|size| *size.get_ref());
        let elements = elements.map(|n| *n.get_ref());
        let mesh = match config.is_coarser() {
            true => generator.benchmark().generate_coarser(resolution(size, elements)),
            false => generator.generate(size, elements),
        };
        let mesh = mesh
            .map_err(|error| Finding::new(error.to_string()).at(config.source(), span, "here"))?;

        let is_shuffled = keys.shuffled.as_ref().is_some_and(|key| *key.get_ref());
        let mesh = if is_shuffled { Renumbering::shuffled(&mesh, 1).apply(&mesh) } else { mesh };
        Ok(Self::in_memory(mesh))
    }

    fn in_memory(mesh: HexMesh) -> Self {
        Self {
            mesh,
            tags: None,
            faces: GeometryFaces::default(),
            uncut: None,
            arrays: BTreeMap::new(),
            notes: Vec::new(),
            deck: Deck::default(),
            bodies: None,
        }
    }
}

impl Lookup<'_> {
    /// Elements that stay solid, and those that stay void.
    fn passive(&self, findings: &mut Vec<Finding>) -> [Vec<u32>; 2] {
        let design = &self.config.design;
        let [solid, void] = [&design.solid, &design.void].map(|sets| {
            let elements = sets.iter().flat_map(|set| self.elements(set, findings));
            sorted(elements.collect())
        });

        let Some(last) = design.void.last().or(design.solid.last()) else { return [solid, void] };
        let both = solid.iter().filter(|e| void.binary_search(e).is_ok()).count();
        let at = |message: String, remedy: &str| {
            let place =
                Finding::new(message).at(self.config.source(), last.span(), "with this set");
            place.remedy(remedy)
        };

        let smaller = "remove a set from `solid` or `void`, or make it smaller in the mesh";
        if both > 0 {
            let message = format!("{both} elements are both solid and void");
            findings.push(at(message, smaller));
        } else if solid.len() + void.len() == self.mesh.n_elements() {
            let kind = match (solid.len(), void.len()) {
                (_, 0) => "solid",
                (0, _) => "void",
                _ => "solid or void",
            };
            let message = format!("every element is {kind}: nothing remains to be designed");
            findings.push(at(message, smaller));
        }
        [solid, void]
    }
}

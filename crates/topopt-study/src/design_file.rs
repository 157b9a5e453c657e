//! The design that a run or an analysis has written, with the solid that is made of it.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::free_memory;
use topopt_case::lookup::sorted;
use topopt_case::manufacturing::way_out;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_fem::Diffusion;
use topopt_io::vtk::{Array, Section, Values, vtu};
use topopt_mesh::HexMesh;
use topopt_surface::{Draw, Form, MeanDensity, Shaping, SolidError, UncutSolid};

use crate::solved::carrying_nodes;

/// A file with a mesh and the densities of its elements, as a run writes it.
#[derive(Debug)]
pub struct DesignFile {
    pub(crate) path: PathBuf,
    /// Fields of the nodes by their names; none where the file has them.
    nodal: Option<Vec<(String, Vec<f64>)>>,
    /// The mesh, in the order of the file.
    pub mesh: HexMesh,
    /// Densities, `[n_elements]`.
    pub density: Vec<f64>,
    /// Numbers of the materials, `[n_elements]`, of a design of several; else none.
    pub(crate) material: Vec<u8>,
    /// Depth of the nodes in the parts of space that stay solid, `[n_nodes]`, if there are any.
    pub(crate) depth: Option<Vec<f64>>,
    /// Way out of the mold of a part that is cast.
    pub(crate) draw: Option<Draw>,
}

/// Names of the arrays that say what belongs to supports and loads, and what has a fixed density.
const SUPPORTED: &str = "supported";
const CONVECTED: &str = "convected";
const LOADED: &str = "loaded";
const PASSIVE: &str = "passive";

/// Name of the array of the elements' materials.
pub const MATERIAL: &str = "material";

/// Name of the array of the nodes' depth in the parts of space that stay solid.
pub(crate) const SOLID_DEPTH: &str = "solid_depth";

/// Name of the array that marks the elements with a heat source.
const HEAT_SOURCE: &str = "heat_source";

/// Names of the vectors of the nodes, of the first load case.
pub(crate) const FORCE: &str = "force";
pub(crate) const DISPLACEMENT: &str = "displacement";

impl DesignFile {
    /// Reads a `.vtu` file with the cell array `density`.
    ///
    /// # Errors
    /// A file that cannot be read, or has no such array.
    pub fn read(path: &Path) -> Result<Self, Finding> {
        let further = [(Section::Points, SOLID_DEPTH), (Section::Cells, MATERIAL)];
        let (file, mut data, mut further) = vtu::read_with_further(path, &["density"], &further)
            .map_err(|error| Finding::new(error.to_string()))?;
        let (mesh, density) = (file.mesh, data.remove(0));
        let (depth, material) = (further.remove(0), numbers_of(further.remove(0)));
        Ok(Self { path: path.into(), nodal: None, mesh, density, material, depth, draw: None })
    }

    /// Takes a design from memory, with the numbers of its materials if it is of several, fields of
    /// its nodes by their names in files, and their depth in parts of space that stay solid.
    pub fn in_memory(
        mesh: HexMesh,
        (density, material): (Vec<f64>, Vec<u8>),
        nodal: Vec<(String, Vec<f64>)>,
        depth: Option<Vec<f64>>,
    ) -> Self {
        let path = "the design".into();
        Self { path, nodal: Some(nodal), mesh, density, material, depth, draw: None }
    }

    /// The design as it is to be made by `config`: a part that is cast comes out of its mold.
    #[must_use]
    pub fn made_by(self, config: &Config) -> Self {
        Self { draw: way_out(config), ..self }
    }

    fn form(&self) -> Form<'_> {
        Form { depth: self.depth.as_deref(), draw: self.draw.as_ref() }
    }

    /// Nodes that are held or tied to the ground in any direction, where the file has them.
    pub fn supported(&self) -> &[u32] {
        self.nodes(SUPPORTED)
    }

    /// Nodes of faces that convect heat, where the file has them.
    pub fn convected(&self) -> &[u32] {
        self.nodes(CONVECTED)
    }

    /// Nodes of elements with a heat source, where the file has them, sorted.
    pub fn heated_within(&self) -> Vec<u32> {
        let elements = self.mesh.sets().elements.get(HEAT_SOURCE);
        let nodes = elements.into_iter().flatten().flat_map(|&e| self.mesh.element(e as usize));
        sorted(nodes.copied().collect())
    }

    /// Nodes with a force, or of heated faces, in any load case, where the file has them.
    pub fn loaded(&self) -> &[u32] {
        self.nodes(LOADED)
    }

    /// Whether an element has a fixed density, `[n_elements]`, where the file says so.
    pub fn is_passive(&self) -> Vec<bool> {
        let mut is_passive = vec![false; self.mesh.n_elements()];
        passive(&self.mesh).iter().for_each(|&element| is_passive[element as usize] = true);
        is_passive
    }

    fn nodes(&self, name: &str) -> &[u32] {
        self.mesh.sets().nodes.get(name).map_or(&[], Vec::as_slice)
    }

    /// Forces on the nodes in each of the load cases `names`, `[n_nodes][3]`; none for a case in
    /// which the file has no forces.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn forces(&self, names: &[&str]) -> Result<Vec<Option<Vec<[f64; 3]>>>, Finding> {
        self.vectors(FORCE, names)
    }

    /// Heat into the nodes in each of the load cases `names`, `[n_nodes]`, with what convection
    /// brings from the ambient.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks the heat of a load case.
    pub fn heat(&self, names: &[&str]) -> Result<Vec<Vec<f64>>, Finding> {
        self.scalars(Diffusion::NAMES.load, names)
    }

    /// Temperatures of the nodes in each of the load cases `names`, `[n_nodes]`.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks the temperatures of a load case.
    pub fn temperatures(&self, names: &[&str]) -> Result<Vec<Vec<f64>>, Finding> {
        self.scalars(Diffusion::NAMES.state, names)
    }

    /// Values of the nodes by load case.
    fn scalars(&self, what: &str, names: &[&str]) -> Result<Vec<Vec<f64>>, Finding> {
        let found = self.vectors::<1>(what, names)?;
        let found: Option<Vec<_>> = found.into_iter().map(|v| Some(v?.into_flattened())).collect();
        found.ok_or_else(|| {
            let message = format!("{} lacks the {what} of a load case", self.path.display());
            Finding::new(message).remedy("run the case again")
        })
    }

    /// Vectors of the nodes by load case.
    fn vectors<const C: usize>(
        &self,
        what: &str,
        names: &[&str],
    ) -> Result<Vec<Option<Vec<[f64; C]>>>, Finding> {
        let Some(nodal) = &self.nodal else {
            return arrays((&self.path, &self.mesh), Section::Points, what, names);
        };
        let of_case = |(k, name): (usize, &&str)| {
            let found = nodal.iter().find(|(known, _)| *known == array_name(what, k, name))?;
            Some(found.1.as_chunks::<C>().0.to_vec())
        };
        Ok(names.iter().enumerate().map(of_case).collect())
    }

    /// Whether a node is one of an element that is not as good as void, `[n_nodes]`.
    pub fn carrying_nodes(&self) -> Vec<bool> {
        carrying_nodes(&self.mesh, &self.density)
    }

    /// The volume of the material: the sum of density times volume.
    pub fn volume(&self) -> f64 {
        self.density.iter().zip(self.mesh.volumes()).map(|(density, v)| density * v).sum()
    }

    /// The solid of the design with its skin, at the density that `shaping` says, or at that which
    /// keeps the volume.
    ///
    /// # Errors
    /// Densities that are not finite, and too little memory.
    pub(crate) fn uncut(&self, shaping: &Shaping) -> Result<UncutSolid<'_>, Finding> {
        free_memory::check_solid(self.mesh.n_elements())?;
        UncutSolid::formed(&self.mesh, &self.density, self.form(), shaping)
            .map_err(|error| self.unshaped(&error))
    }

    /// The densities averaged over a few elements.
    ///
    /// # Errors
    /// As [`BuiltShape::of`](crate::built_shape::BuiltShape::of).
    pub fn mean_density(&self) -> Result<MeanDensity, Finding> {
        free_memory::check_solid(self.mesh.n_elements())?;
        MeanDensity::of(&self.mesh, &self.density, self.form())
            .map_err(|error| self.unshaped(&error))
    }

    fn unshaped(&self, error: &SolidError) -> Finding {
        Finding::new(format!("{}: density: {error}", self.path.display()))
    }
}

/// Reads the numbers of the materials of the elements in a file; none of a design of one material.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn materials(path: &Path) -> Result<Vec<u8>, Finding> {
    let found = vtu::read_arrays::<1>(path, Section::Cells, &[MATERIAL])
        .map_err(|error| Finding::new(error.to_string()))?;
    Ok(numbers_of(found.into_iter().flatten().next().map(Vec::into_flattened)))
}

/// Numbers of materials by their `values`, if there are any.
fn numbers_of(values: Option<Vec<f64>>) -> Vec<u8> {
    values.into_iter().flatten().map(|number| number as u8).collect()
}

fn passive(mesh: &HexMesh) -> &[u32] {
    mesh.sets().elements.get(PASSIVE).map_or(&[], Vec::as_slice)
}

/// The values with C components that a file has for each of the load cases `names`; see
/// [`array_name`]. Its mesh has been read.
///
/// # Errors
/// A file that cannot be read, or whose points and cells are not the nodes and elements of its mesh.
pub(crate) fn arrays<const C: usize>(
    (path, mesh): (&Path, &HexMesh),
    section: Section,
    what: &str,
    names: &[&str],
) -> Result<Vec<Option<Vec<[f64; C]>>>, Finding> {
    let names: Vec<String> =
        names.iter().enumerate().map(|(k, name)| array_name(what, k, name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found: Vec<Option<Vec<[f64; C]>>> =
        vtu::read_arrays(path, section, &names).map_err(|error| Finding::new(error.to_string()))?;
    let (n, [of_file, of_mesh]) = match section {
        Section::Points => (mesh.n_nodes(), ["points", "corners of its cells"]),
        Section::Cells => (mesh.n_elements(), ["cells", "hexahedra"]),
    };
    match found.iter().flatten().find(|values| values.len() != n) {
        None => Ok(found),
        Some(values) => {
            let (path, found) = (path.display(), values.len());
            let message = format!("{path} has {found} {of_file} and {n} {of_mesh}");
            Err(Finding::new(message).remedy("give the file as the program wrote it"))
        }
    }
}

/// Name of the array of `what` in load case number `k`: that of the first has no name of a case.
pub fn array_name(what: &str, k: usize, case: &str) -> String {
    if k == 0 { what.into() } else { format!("{what}_{case}") }
}

/// Marks of supports, loads and fixed densities, as arrays of 0 and 1 in the user's numbering: read
/// as a mesh, the file has them as sets.
pub(crate) struct Marks {
    points: Vec<(&'static str, Vec<u8>)>,
    cells: Vec<(&'static str, Vec<u8>)>,
}

impl Marks {
    pub fn of<K: Physics<N>, const N: usize>(model: &Model<K, N>) -> Self {
        let problem = &model.problem;
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let springs = problem.held().springs();
        let is_sprung = |node: usize| {
            springs.is_some_and(|springs| springs[N * node..N * node + N].iter().any(|k| *k > 0.0))
        };
        let are_supports = K::NAMES.sprung == SUPPORTED;
        let is_supported =
            |node: usize| problem.held().is_held(node) || are_supports && is_sprung(node);
        let is_loaded = |node: usize| {
            let cases = problem.load_cases().iter();
            cases.flat_map(|case| &case.forces[N * node..N * node + N]).any(|force| *force != 0.0)
        };
        let nodes = |is_marked: &(dyn Fn(usize) -> bool + Sync)| {
            let marks = (0..n_nodes).into_par_iter().map(|node| u8::from(is_marked(node)));
            let marks: Vec<u8> = marks.collect();
            model.renumbering.nodes_to_original(&marks)
        };
        let loaded = match &model.loaded {
            Some(loaded) => flags(n_nodes, &loaded.nodes),
            None => nodes(&is_loaded),
        };

        let mut points = vec![(SUPPORTED, nodes(&is_supported)), (LOADED, loaded)];
        if springs.is_some() && !are_supports {
            points.push((K::NAMES.sprung, nodes(&is_sprung)));
        }
        let fixed: Vec<u32> = [&model.space.solid[..], &model.space.void].concat();
        let passive = model.renumbering.elements_to_original(&flags(n_elements, &fixed));
        let mut cells = vec![(PASSIVE, passive)];
        let within = model.loaded.as_ref().filter(|loaded| !loaded.elements.is_empty());
        cells.extend(within.map(|loaded| (HEAT_SOURCE, flags(n_elements, &loaded.elements))));
        Self { points, cells }
    }

    /// Arrays of the points.
    pub fn points(&self) -> impl Iterator<Item = Array<'_>> {
        self.points.iter().map(|(name, marks)| array(name, marks))
    }

    /// Arrays of the cells.
    pub fn cells(&self) -> impl Iterator<Item = Array<'_>> {
        self.cells.iter().map(|(name, marks)| array(name, marks))
    }
}

/// 1 for each of the `numbers`, else 0, `[n]`.
fn flags(n: usize, numbers: &[u32]) -> Vec<u8> {
    let mut flags = vec![0; n];
    numbers.iter().for_each(|&i| flags[i as usize] = 1);
    flags
}

fn array<'a>(name: &'a str, marks: &'a [u8]) -> Array<'a> {
    Array { name, components: 1, values: Values::U8(marks) }
}

//! Distances within a part from sets of its mesh, or times of travel where its elements have
//! speeds.

use std::path::{Path, PathBuf};

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_case::free_memory;
use topopt_case::interrupt::Interrupt;
use topopt_case::lookup::sorted;
use topopt_case::meshing::{self, Gmsh};
use topopt_case::named_sets::{empty, not_there};
use topopt_case::tags::Tags;
use topopt_distance::{Arrival, Speed, Tetrahedra};
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_io::{UncutCells, WriteError};
use topopt_mesh::surface::boundary_faces;
use topopt_mesh::{HexMesh, Sets};

use crate::computer::{Computer, Visitor, refused};
use crate::failure::Failure;
use crate::output_folder;
use crate::place::Place;

/// A mesh with its sets, to be written as its file has it: by the cells and nodes before a cut.
pub struct Part {
    mesh: HexMesh,
    sets: Sets,
    tags: Option<Tags>,
    uncut: Option<UncutCells>,
}

/// Sources, speeds and range of the distances to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Sets of nodes, faces or elements that the distance is measured from, all together.
    pub from: Vec<String>,
    /// Whether it is measured from the whole surface of the part, too.
    pub from_surface: bool,
    /// Speeds of element sets, 1 elsewhere. Of an element in several the last one counts.
    pub speeds: Vec<(String, f64)>,
    /// Distance, or time, at which the front stops; may be infinite.
    pub within: f64,
}

/// Distances at the nodes of a mesh file.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// The distance, or the time, at each node that is written; NaN where the front does not come.
    pub values: Vec<f64>,
    /// Number of source nodes.
    pub n_sources: usize,
    /// Number of nodes of elements that the front does not reach.
    pub n_beyond: usize,
    /// The node of the largest value, by its place in `values`; none if no node has one.
    pub farthest: Option<usize>,
}

impl Part {
    /// Reads a mesh file, or the mesh and selections of a case file (`.toml`). An `output` that may
    /// not be written is refused first.
    ///
    /// # Errors
    /// What is wrong with the output, the mesh or the case.
    pub fn read(
        path: &Path,
        output: &Path,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<Self, InputError> {
        let check = |inputs: &[&Path]| output_folder::check_file(output, &["vtu"], inputs);
        if path.extension().is_some_and(|extension| extension == "toml") {
            let mut config = Config::load(path, &[])?;
            let inputs = config.inputs();
            check(&inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;

            // Results lie on the cells of the file.
            config.output.uncut = true;
            let Case { mesh, sets, tags, uncut, .. } = Case::build_until(&config, gmsh, interrupt)?;
            return Ok(Self { mesh, sets, tags, uncut });
        }

        check(&[path])?;
        let read = meshing::read(path, &meshing::plain(gmsh), interrupt)?;
        let tags = Some(Tags { nodes: read.node_tags, elements: read.element_tags });
        let sets = read.mesh.sets().clone();
        Ok(Self { mesh: read.mesh, sets, tags, uncut: read.uncut })
    }

    /// Solves the eikonal equation on the part \[FuKirbyWhitaker2013\] at `place`: the distance
    /// along the shortest way within it.
    ///
    /// # Errors
    /// A set that is not there, or empty; speeds for what is no element set; too little memory; a
    /// device that fails.
    pub fn distances(&self, question: &Question, place: &Place) -> Result<Distances, Failure> {
        let sources = self.sources(question)?.into_iter().map(|node| (node, 0.0)).collect();
        let speeds = self.speeds(&question.speeds)?;
        free_memory::check_distances(self.mesh.n_elements()).map_err(InputError::from)?;
        let front = Front { mesh: &self.mesh, sources, speeds, end: question.within };
        let times = place.visit(front)?.times;

        let reached = |&time: &f64| if time <= question.within { time } else { f64::INFINITY };
        let of_mesh: Vec<f64> = times[..self.mesh.n_nodes()].iter().map(reached).collect();
        let written = match &self.uncut {
            Some(uncut) => uncut.at_nodes(&of_mesh),
            None => of_mesh,
        };
        let finite = written.iter().enumerate().filter(|(_, time)| time.is_finite());
        Ok(Distances {
            farthest: finite.max_by(|a, b| a.1.total_cmp(b.1)).map(|(node, _)| node),
            n_sources: written.iter().filter(|time| **time == 0.0).count(),
            n_beyond: written.iter().filter(|time| time.is_infinite()).count(),
            values: written.iter().map(|&t| if t.is_finite() { t } else { f64::NAN }).collect(),
        })
    }

    /// Writes values at the nodes as the array `name` of a `.vtu` file, whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn write(&self, path: &Path, name: &str, values: &[f64]) -> Result<(), WriteError> {
        let data = [Array { name, components: 1, values: Values::F64(values) }];
        let (mesh, zlib) = (&self.mesh, Compression::Zlib);
        match &self.uncut {
            Some(uncut) => {
                vtu::write_cells(path, &uncut.coordinates, &uncut.cells, &data, &[], zlib)
            }
            None => vtu::write(path, mesh.coordinates(), mesh, &data, &[], zlib),
        }
    }

    /// The number in the mesh file of a node that is written, and where it is.
    pub fn node(&self, written: usize) -> (u64, [f64; 3]) {
        let node = self.uncut.as_ref().map_or(written as u32, |uncut| uncut.nodes[written]);
        (Tags::node(self.tags.as_ref(), node), self.mesh.coordinates()[node as usize])
    }

    /// Number of cells written.
    pub fn n_cells(&self) -> usize {
        self.uncut.as_ref().map_or(self.mesh.n_elements(), |uncut| uncut.cells.len())
    }

    /// The nodes that the distance is measured from, sorted.
    fn sources(&self, question: &Question) -> Result<Vec<u32>, InputError> {
        let mesh = &self.mesh;
        let (mut nodes, mut findings) = (Vec::new(), Vec::new());
        for name in &question.from {
            match self.sets.nodes_of(name, mesh) {
                Ok(set) if set.is_empty() => findings.push(empty(name)),
                Ok(set) => nodes.extend(set),
                Err(error) => findings.push(not_there(&self.sets, &error)),
            }
        }
        if question.from_surface {
            nodes.extend(boundary_faces(mesh).into_iter().flat_map(|face| face.all_nodes(mesh)));
        }
        InputError::if_any(findings)?;
        Ok(sorted(nodes))
    }

    /// The speed in each element; none where it is 1 everywhere.
    fn speeds(&self, speeds: &[(String, f64)]) -> Result<Option<Vec<f64>>, InputError> {
        if speeds.is_empty() {
            return Ok(None);
        }
        let (mut of_elements, mut findings) = (vec![1.0; self.mesh.n_elements()], Vec::new());
        for (name, speed) in speeds {
            match self.sets.element_set(name) {
                Ok([]) => findings.push(empty(name)),
                Ok(set) => set.iter().for_each(|&element| of_elements[element as usize] = *speed),
                Err(error) => findings.push(not_there(&self.sets, &error)),
            }
        }
        InputError::if_any(findings)?;
        Ok(Some(of_elements))
    }
}

/// A front through the nodes and the centers of the elements of a mesh.
struct Front<'a> {
    mesh: &'a HexMesh,
    sources: Vec<(u32, f64)>,
    /// In the elements; 1 where there are none.
    speeds: Option<Vec<f64>>,
    end: f64,
}

impl Visitor for Front<'_> {
    type Output = Arrival;

    fn visit<C: Computer>(self, computer: &C) -> Result<Arrival, Failure> {
        let tetrahedra = Tetrahedra::of_mesh(self.mesh).map_err(refused)?;
        // The first vertex of a tetrahedron is the center of its element.
        let element = |cell: &[u32; 4]| cell[0] as usize - self.mesh.n_nodes();
        let of_cells: Option<Vec<f64>> = self
            .speeds
            .map(|speeds| tetrahedra.cells().iter().map(|cell| speeds[element(cell)]).collect());
        let speed = of_cells.as_deref().map_or(Speed::Uniform(1.0), Speed::Cells);
        computer.arrival(tetrahedra, &speed, &self.sources, self.end)
    }
}

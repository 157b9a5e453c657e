//! Problem to measure on: from a case, a mesh file or a perturbed cube.

use std::path::Path;

use topopt_case::case::Case;
use topopt_case::config::{Config, ElementKind, PhysicsKind};
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_cli::args::GmshArgs;
use topopt_fem::{Constraints, DIM, Discretization, Elasticity, LoadCase, Material, Problem};
use topopt_mesh::cells::{Cells, Cut, Shape};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Renumbering, Sets};
use topopt_study::place::Place;

use crate::args::{Numbering, Source};

/// A problem with its name.
pub(crate) struct Subject<K = Elasticity, const N: usize = DIM> {
    pub name: String,
    pub problem: Problem<K, N>,
    /// Number of elements of each color, where they come by color.
    pub colors: Option<Vec<usize>>,
    /// Start density of the case, 0.3 without a case.
    pub density: f64,
    pub penalty: f64,
}

/// Finds the physics of a source: that of a case file, and for a mesh the one asked for.
///
/// # Errors
/// A case file that cannot be read, or is of another physics.
pub(crate) fn physics(from: &Source) -> Result<PhysicsKind, InputError> {
    let (source, asked) = (&from.source, from.physics);
    if !is_case(source) {
        return Ok(asked.unwrap_or(PhysicsKind::Elasticity));
    }
    let kind = Config::load(Path::new(source), &[])?.physics.kind;
    if asked.is_some_and(|asked| asked != kind) {
        let finding = Finding::new(format!("`{source}` is a case of another physics"));
        return Err(finding.remedy("leave out `--physics`, which is for meshes").into());
    }
    Ok(kind)
}

/// The integrals of a material of Young's modulus 1 and Poisson's ratio 0.3.
///
/// # Errors
/// None for this material.
pub(crate) fn elasticity(elements: ElementKind) -> Result<Elasticity, InputError> {
    let material = Material::new(1.0, 0.3).ok_or_else(|| Finding::new("no such material"))?;
    Ok(Elasticity::new(&material).with(elements.into()))
}

fn is_case(source: &str) -> bool {
    Path::new(source).extension().is_some_and(|extension| extension == "toml")
}

impl<K: Physics<N>, const N: usize> Subject<K, N> {
    /// From a case file (`.toml`), a mesh file, `cube:N`, a cube of N^3 perturbed elements, or
    /// `tetrahedra:N`, such a cube in 6 N^3 tetrahedra; of a mesh with the integrals `kernel`.
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub fn read(from: &Source, (place, kernel): (&Place, K)) -> Result<Self, InputError> {
        let Source { source, gmsh, numbering, .. } = from;
        if let Some(mesh) = generated(source)? {
            return Self::of_mesh(source, &mesh, *numbering, kernel);
        }
        let path = Path::new(source);
        if is_case(source) {
            return Self::of_case(&Config::load(path, &[])?, gmsh, *numbering, place);
        }
        let read = topopt_io::read_mesh(path).map_err(|error| Finding::new(error.to_string()))?;
        Self::of_mesh(source, &read.mesh, *numbering, kernel)
    }

    /// The problem of a case; numbered as a run has it, unless otherwise asked.
    pub fn of_case(
        config: &Config,
        gmsh: &GmshArgs,
        numbering: Numbering,
        place: &Place,
    ) -> Result<Self, InputError> {
        let case = Case::of::<K>(config, &gmsh.into(), &Interrupt::new())?;
        let model = Model::<K, N>::build(config, case, place.needs_colors(config))?;
        let name = config.title.clone().unwrap_or_else(|| config.path().display().to_string());
        let (density, penalty) = (model.space.initial_volume_fraction, config.design.penalty);
        match numbering {
            Numbering::Import => {
                let Model { problem, task, .. } = model;
                Ok(Self { name, problem, colors: task.colors, density, penalty })
            }
            _ => Self::of_mesh(&name, &model.mesh, numbering, K::of(config)?),
        }
    }

    /// A mesh held at its end of smallest x and pulled at its last node.
    fn of_mesh(
        name: &str,
        mesh: &HexMesh,
        numbering: Numbering,
        kernel: K,
    ) -> Result<Self, InputError> {
        let imported = |mesh: &HexMesh| Renumbering::on_import(mesh).apply(mesh);
        let shuffled = |mesh: &HexMesh| Renumbering::shuffled(mesh, 1).apply(mesh);
        let mesh = match numbering {
            Numbering::Import => imported(mesh),
            Numbering::Natural => mesh.clone(),
            Numbering::Shuffled => shuffled(mesh),
            Numbering::Restored => imported(&shuffled(mesh)),
        };

        let bounds = mesh.bounding_box();
        let end = bounds.min[0] + 0.02 * bounds.extent()[0];
        let mut constraints = Constraints::none(mesh.n_nodes());
        let mut forces = vec![0.0; N * mesh.n_nodes()];

        let mut farthest = 0;
        for (node, x) in mesh.coordinates().iter().enumerate() {
            if x[0] <= end {
                (0..N).for_each(|i| constraints.fix(node, i));
            }
            if x[0] > mesh.coordinates()[farthest][0] {
                farthest = node;
            }
        }

        forces[N * farthest + N / 2] = -1.0;
        let load = LoadCase::new("default", forces);
        let problem = Problem::of(Discretization::new(mesh, kernel, constraints), vec![load])
            .map_err(|error| Finding::new(error.to_string()))?;
        Ok(Self { name: name.into(), problem, colors: None, density: 0.3, penalty: 3.0 })
    }
}

/// The mesh of `cube:N` or `tetrahedra:N`; none for other sources.
fn generated(source: &str) -> Result<Option<HexMesh>, Finding> {
    let Some((kind @ ("cube" | "tetrahedra"), n)) = source.split_once(':') else {
        return Ok(None);
    };
    let n = n.parse().ok().filter(|n| (1..=500).contains(n)).ok_or_else(|| {
        Finding::new(format!("`{source}` is not a valid size"))
            .remedy(format!("write {kind}:N with N from 1 to 500 elements per edge"))
    })?;
    Ok(Some(if kind == "cube" { perturbed_cube(n) } else { perturbed_tetrahedra(n) }))
}

/// A cube of n^3 unit elements, every node moved by up to a fifth of an element in each direction.
fn perturbed_cube(n: usize) -> HexMesh {
    let (coordinates, hexes) = perturbed(n, 0.2);
    HexMesh::new(coordinates, hexes, Sets::default()).expect("a fifth of an element inverts none")
}

/// A cube of n^3 unit cubes in six tetrahedra each along a diagonal, every vertex moved by up to a
/// tenth of a cube in each direction.
fn perturbed_tetrahedra(n: usize) -> HexMesh {
    let (coordinates, hexes) = perturbed(n, 0.1);
    let mut cells = Cells::default();
    for hex in hexes {
        for [a, b] in [[1, 2], [2, 3], [3, 7], [7, 4], [4, 5], [5, 1]] {
            cells.push(Shape::Tetrahedron, &[hex[0], hex[a], hex[b], hex[6]], &[]);
        }
    }
    let cut = Cut::keeping_tetrahedra(&cells, coordinates).expect("vertices are those of cubes");
    HexMesh::of_tetrahedra(cut.coordinates, cut.tetrahedra, Sets::default())
        .expect("a tenth of a cube inverts none")
}

/// Nodes of n^3 unit cubes, moved by up to `share` in each direction, and the cubes.
fn perturbed(n: usize, share: f64) -> (Vec<[f64; 3]>, Vec<[u32; 8]>) {
    let mut state = 1u64;
    let mut noise = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        2.0 * share * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
    };
    block([n; 3], |node| node.map(|i| i as f64 + noise()))
}

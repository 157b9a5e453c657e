//! The keys of `[mesh]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use topopt_io::gmsh::is_geometry;

use super::design_space::DesignSpace;

/// The mesh: either `file`, with keys for Gmsh and `elements` if it is a geometry, or
/// `design_space` with the same keys, or `generator` with one of `size` and `elements`, and
/// `shuffled`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Mesh file, relative to the folder of the case file: .msh (Gmsh, version 2.2 or 4.1), .cdb
    /// (Ansys), .inp (Abaqus, CalculiX), .bdf, .dat, .nas or .fem (Nastran, OptiStruct), .par
    /// (Tosca), .vtu or .vtk (VTK). Or a geometry that Gmsh meshes: .geo, .step, .stp, .brep,
    /// .iges, .igs or .stl. A .geo file is a program; one that may run others or write files is
    /// refused unless `--trust-geometry` is given.
    #[schemars(with = "Option<PathBuf>")]
    pub file: Option<Spanned<PathBuf>>,
    /// Whether tetrahedra and pyramids of a mesh file, and all elements that are joined to them,
    /// are cut into hexahedra, one for each corner. By default a mesh of tetrahedra alone is
    /// computed as such, with ten nodes per element, if the other settings allow it: the strategy
    /// "auto" or "mf", and no patch smoother; every other one is cut. If true, all are cut. If
    /// false, nothing is cut: a file that would have to be is refused.
    #[schemars(with = "Option<bool>")]
    pub cut: Option<Spanned<bool>>,
    /// Largest edge of the elements of a geometry, of hexahedra the usual one; by default as the
    /// geometry says, or so that there are `elements`.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0))]
    pub element_size: Option<Spanned<f64>>,
    /// Elements of a geometry: "hexahedra" on a grid that keeps faces, edges and corners of the
    /// part; "tetrahedra", or what `hexes` says, by Gmsh, which is the default; "auto" takes
    /// hexahedra where all have a scaled Jacobian of at least 0.2, and says where it does not.
    #[schemars(with = "Option<MeshMethod>")]
    pub method: Option<Spanned<MeshMethod>>,
    /// Least number of hexahedra across the walls of a geometry that lie between parallel planar
    /// faces along the grid; by default 1.
    #[schemars(with = "Option<usize>", range(min = 1, max = 100))]
    pub across: Option<Spanned<usize>>,
    /// Places of a geometry with smaller elements.
    #[serde(default)]
    pub refine: Vec<Refine>,
    /// How Gmsh makes the elements of a geometry.
    #[schemars(with = "Option<Hexes>")]
    pub hexes: Option<Spanned<Hexes>>,
    /// Seconds after which Gmsh is stopped; by default 600.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0, "maximum" = 1_000_000))]
    pub gmsh_timeout: Option<Spanned<f64>>,
    /// Benchmark mesh to make.
    #[schemars(with = "Option<Generator>")]
    pub generator: Option<Spanned<Generator>>,
    /// Size of the benchmark mesh: 1 (about 35,000 elements) to 5 (about 1,000,000).
    #[schemars(with = "Option<u8>", range(min = 1, max = 5))]
    pub size: Option<Spanned<u8>>,
    /// Approximate number of elements of a benchmark mesh, instead of `size`, or of a geometry,
    /// instead of `element_size`: it is meshed up to five times.
    #[schemars(with = "Option<usize>", range(min = 1))]
    pub elements: Option<Spanned<usize>>,
    /// Whether nodes and elements of the benchmark mesh are numbered at random, the worst case that
    /// a mesher may produce.
    #[schemars(with = "Option<bool>")]
    pub shuffled: Option<Spanned<bool>>,
    /// Space to mesh, which is made of kept parts and keep-outs, instead of a file.
    #[schemars(with = "Option<DesignSpace>")]
    pub design_space: Option<Spanned<DesignSpace>>,
}

impl Mesh {
    /// Whether the mesh is made of a geometry here.
    pub fn is_of_geometry(&self) -> bool {
        let has_file = self.file.as_ref().is_some_and(|file| is_geometry(file.get_ref()));
        has_file || self.design_space.is_some()
    }
}

/// Place of a geometry with smaller elements.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refine {
    /// A `[[select]]` by `faces`, `form`, `same_as` or `box`, or a group of faces of the geometry.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Largest edge of the elements there, of hexahedra the usual one.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub element_size: Spanned<f64>,
    /// How far from the faces, or from the box, elements are as small; by default twice their edge.
    #[schemars(extend("minimum" = 0))]
    pub distance: Option<f64>,
}

/// Elements that a geometry is meshed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", value(rename_all = "snake_case"))]
pub enum MeshMethod {
    /// Hexahedra on a grid that keeps faces, edges and corners of the part.
    Hexahedra,
    /// Elements of Gmsh, by default tetrahedra.
    Tetrahedra,
    /// Hexahedra where they are good enough, else what Gmsh makes.
    Auto,
}

/// How the elements of a geometry are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", value(rename_all = "snake_case"))]
pub enum Hexes {
    /// As the .geo file says, by transfinite volumes or extrusion; if other elements are left,
    /// and for STEP and similar formats, tetrahedra, where the other settings allow it as for
    /// `cut`, and else by subdivision.
    Auto,
    /// Every volume as a curved box: all must have six sides.
    Transfinite,
    /// Extrusions of the .geo file, of surfaces meshed with quadrilaterals.
    Extrude,
    /// Tetrahedra, each cut into four hexahedra: any shape, but poorer elements.
    Subdivide,
}

/// A benchmark mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", value(rename_all = "snake_case"))]
pub enum Generator {
    /// Cantilever of length 2, breadth 1 and height 1.
    Cantilever,
    /// L-shaped beam.
    LBeam,
    /// Michell cantilever on a half-circular support.
    Michell,
    /// Connecting rod between two bores.
    ConnectingRod,
}

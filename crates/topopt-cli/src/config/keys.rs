//! Every key of the case file. Ranges stand here and nowhere else, as attributes that go into the
//! JSON schema; `x-remedy` is what an error about the key says besides.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::Select;
use super::solver::Solver;
use crate::report::Source;

/// A topology optimisation: least compliance of an elastic part for a given volume.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "topopt case")]
pub struct Config {
    /// A line of text that names the case in the results.
    pub title: Option<String>,
    /// The mesh: read from a file or made by a generator.
    #[schemars(with = "Mesh")]
    pub mesh: Spanned<Mesh>,
    /// The elastic material.
    #[serde(default)]
    pub material: Material,
    /// Sets by where nodes, faces and elements lie, besides those of the mesh.
    #[serde(default)]
    pub select: Vec<Select>,
    /// Where the part is held.
    #[schemars(length(min = 1))]
    pub supports: Vec<Support>,
    /// The forces on the part.
    #[schemars(length(min = 1))]
    pub loads: Vec<Load>,
    /// Weights of the load cases; a case that is not listed has weight 1.
    #[serde(default)]
    pub load_cases: Vec<LoadCase>,
    /// What is optimised: how much material, and where it must stay.
    pub design: Design,
    /// The filter, which sets the smallest feature size and prevents checkerboards.
    #[schemars(with = "Filter")]
    pub filter: Spanned<Filter>,
    /// The optimiser and when it stops.
    #[serde(default)]
    pub optimizer: Optimizer,
    /// The linear solver.
    #[serde(default)]
    pub solver: Solver,
    /// The results.
    #[serde(default)]
    pub output: Output,
    #[serde(skip)]
    pub(super) source: Source,
    #[serde(skip)]
    pub(super) path: PathBuf,
}

/// The mesh: either `file`, or `generator` with one of `size` and `elements`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Mesh file of hexahedra, relative to the folder of the case file: .msh (Gmsh, version 2.2 or
    /// 4.1), .cdb (Ansys), .inp (Abaqus, CalculiX) or .vtu (VTK).
    #[schemars(with = "Option<PathBuf>")]
    pub file: Option<Spanned<PathBuf>>,
    /// Which benchmark mesh to make.
    #[schemars(with = "Option<Generator>")]
    pub generator: Option<Spanned<Generator>>,
    /// Size of the benchmark mesh: 1 (about 35,000 elements) to 5 (about 1,000,000).
    #[schemars(with = "Option<u8>", range(min = 1, max = 5))]
    pub size: Option<Spanned<u8>>,
    /// Number of elements to aim at, in place of `size`.
    #[schemars(with = "Option<usize>", range(min = 1))]
    pub elements: Option<Spanned<usize>>,
}

/// A benchmark mesh.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
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

/// The elastic material, isotropic.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Young's modulus of solid material.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    #[schemars(extend(
        "exclusiveMinimum" = -1,
        "exclusiveMaximum" = 0.5,
        "x-remedy" = "0.5 is an incompressible material, for which these elements lock; for rubber \
                      take 0.45"
    ))]
    pub poissons_ratio: f64,
}

/// One direction of the coordinate system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
}

/// Nodes that cannot move.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Name of a node, face or element set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// The directions in which its nodes are held.
    #[serde(default = "all_axes")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub fix: Vec<Axis>,
}

/// A load: exactly one of `force`, `total_force`, `traction` and `pressure`. Loads of the same case
/// act together.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of a node, face or element set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Force [x, y, z] on each node of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub force: Option<Spanned<[f64; 3]>>,
    /// Force [x, y, z] on the set as a whole: on faces as a uniform traction, on nodes in equal
    /// shares.
    #[schemars(with = "Option<[f64; 3]>")]
    pub total_force: Option<Spanned<[f64; 3]>>,
    /// Force per area [x, y, z] on the faces of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub traction: Option<Spanned<[f64; 3]>>,
    /// Force per area against the faces of the set, along their normals; positive pushes.
    #[schemars(with = "Option<f64>")]
    pub pressure: Option<Spanned<f64>>,
    /// Name of the load case that the force belongs to.
    #[serde(default = "default_case")]
    pub case: String,
}

/// How large a load is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadQuantity {
    /// Force on each node.
    Force([f64; 3]),
    /// Force on the set as a whole.
    TotalForce([f64; 3]),
    /// Force per area.
    Traction([f64; 3]),
    /// Force per area against the outward normal.
    Pressure(f64),
}

impl Load {
    /// The quantities given, with their places; a case file that was read has one.
    pub(crate) fn quantities(&self) -> Vec<(LoadQuantity, Range<usize>)> {
        let vector = |value: &Option<Spanned<[f64; 3]>>, kind: fn([f64; 3]) -> LoadQuantity| {
            value.as_ref().map(|value| (kind(*value.get_ref()), value.span()))
        };
        let pressure = self.pressure.as_ref();
        let all = [
            vector(&self.force, LoadQuantity::Force),
            vector(&self.total_force, LoadQuantity::TotalForce),
            vector(&self.traction, LoadQuantity::Traction),
            pressure.map(|value| (LoadQuantity::Pressure(*value.get_ref()), value.span())),
        ];
        all.into_iter().flatten().collect()
    }

    /// Place of the quantity.
    pub(crate) fn span(&self) -> Range<usize> {
        self.quantities().first().map_or_else(|| self.set.span(), |(_, span)| span.clone())
    }
}

/// The weight of a load case in the compliance, which is a weighted sum over the load cases.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadCase {
    /// Name, as in `case` of the loads.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Weight.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
}

/// What is optimised.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Share of the design volume that the material may fill.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub volume_fraction: Spanned<f64>,
    /// Exponent p of the SIMP law E = density^p * youngs_modulus.
    #[serde(default = "three")]
    #[schemars(extend("minimum" = 1))]
    pub penalty: f64,
    /// Smallest density, which stands for void.
    #[serde(default = "one_percent")]
    #[schemars(extend(
        "exclusiveMinimum" = 0,
        "exclusiveMaximum" = 1,
        "x-remedy" = "with density 0 the stiffness matrix is singular; 0.01 is usual"
    ))]
    pub density_min: f64,
    /// Element sets that stay solid; they are no part of the design volume.
    #[serde(default)]
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub solid: Vec<Spanned<String>>,
    /// Element sets that stay at `density_min`; they are no part of the design volume.
    #[serde(default)]
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub void: Vec<Spanned<String>>,
}

/// The filter. `sensitivity` needs one of `radius` and `radius_in_elements`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Which filter.
    pub kind: FilterKind,
    /// Radius as a length.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Radius in element widths; a width is the cube root of the mean element volume.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius_in_elements: Option<f64>,
    /// Memory in MB for the lists of neighbours; where they need more, neighbours are searched
    /// afresh in every iteration.
    pub neighbour_memory_mb: usize,
}

/// A filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterKind {
    /// Sigmund's sensitivity filter.
    Sensitivity,
    /// No filter: the result depends on the mesh.
    None,
}

/// The optimiser. It stops at `max_iterations`, or as soon as any of the tolerances is met; a
/// tolerance of 0 is switched off.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Optimizer {
    /// Method of the update.
    pub method: Method,
    /// Largest number of iterations.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Largest change of a density in one iteration.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub move_limit: f64,
    /// Exponent eta of the optimality criteria.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub damping: f64,
    /// Stop when no density changes by more than this.
    #[schemars(extend("minimum" = 0))]
    pub change_tolerance: f64,
    /// Stop when the compliance changes by less than this share of itself.
    #[schemars(extend("minimum" = 0))]
    pub compliance_tolerance: f64,
    /// Stop when the compliance changes by less than this, in its own unit. The rule of
    /// Ratnakar's thesis is 1e-2 here, 0 for the other two tolerances, and 150 iterations.
    #[schemars(extend("minimum" = 0))]
    pub absolute_compliance_tolerance: f64,
}

/// A method of the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Optimality criteria.
    Oc,
}

/// The results.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Folder of the results; `results/` and the name of the case file when left out. Relative to
    /// the working directory.
    pub directory: Option<PathBuf>,
    /// Write the design every so many iterations; 0 writes the last one only.
    pub snapshot_every: usize,
    /// Spacing of the uniform grid (design.vti), a length; one element width when left out, 0 for
    /// no such file.
    #[schemars(extend("minimum" = 0))]
    pub vti_spacing: Option<f64>,
    /// Compression of the VTK files.
    pub compression: Compression,
}

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Zlib.
    Zlib,
    /// None: larger files, written faster.
    None,
}

impl Default for Material {
    fn default() -> Self {
        Self { youngs_modulus: 1.0, poissons_ratio: 0.3 }
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            kind: FilterKind::Sensitivity,
            radius: None,
            radius_in_elements: None,
            neighbour_memory_mb: 512,
        }
    }
}

impl Default for Optimizer {
    fn default() -> Self {
        Self {
            method: Method::Oc,
            max_iterations: 150,
            move_limit: 0.2,
            damping: 0.5,
            change_tolerance: 1e-2,
            compliance_tolerance: 1e-4,
            absolute_compliance_tolerance: 0.0,
        }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self {
            directory: None,
            snapshot_every: 0,
            vti_spacing: None,
            compression: Compression::Zlib,
        }
    }
}

fn all_axes() -> Vec<Axis> {
    vec![Axis::X, Axis::Y, Axis::Z]
}

fn default_case() -> String {
    "default".into()
}

fn one() -> f64 {
    1.0
}

fn three() -> f64 {
    3.0
}

fn one_percent() -> f64 {
    0.01
}

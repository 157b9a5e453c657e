//! The keys of `[mesh]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// The mesh: either `file`, or `generator` with one of `size` and `elements`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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

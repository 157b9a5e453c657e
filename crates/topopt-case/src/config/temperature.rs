//! Temperatures of a part that expands.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A temperature: a number, a field, or that of a thermal case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Temperature {
    /// One number for all.
    Number(f64),
    /// An expression in x, y and z, in the unit of the mesh.
    Expression(String),
    /// `{ file = "heat.toml" }`: of a thermal case, which is solved before, or of its results.
    Computed(ComputedTemperature),
}

/// Temperatures of a thermal case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputedTemperature {
    /// A thermal case (.toml), which is solved before, or a .vtu file with temperatures at its
    /// nodes, such as the analysis.vtu of one; relative to the folder of the case file.
    pub file: PathBuf,
    /// Name of the array of the nodes; `temperature` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
}

impl ComputedTemperature {
    /// Name of the array of the nodes.
    pub fn array(&self) -> &str {
        self.array.as_deref().unwrap_or("temperature")
    }

    /// Whether it is that of a case, which is to be solved.
    pub fn is_of_case(&self) -> bool {
        self.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// Path of the file, for a case file in `folder`.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(&self.file)
    }
}

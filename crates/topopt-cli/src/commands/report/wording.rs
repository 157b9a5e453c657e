//! Files, numbers and names as the report words them.

use std::path::Path;

use serde_json::Value;
use topopt_report::number;
use topopt_study::finding::Finding;

/// The text of a file of the results.
pub fn read(path: &Path) -> Result<String, Finding> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// A file of the results that cannot be read, and what to do.
pub fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Finding {
    Finding::new(format!("cannot read {}: {error}", path.display()))
        .remedy("run the case again: a run writes all result files")
}

/// What numbers are followed by; nothing where the case states no units.
pub struct Units {
    pub length: String,
    pub force: String,
    pub stress: String,
    pub energy: String,
}

impl Units {
    pub fn of(summary: &Value) -> Self {
        let name = |key: &str| summary["units"][key].as_str().unwrap_or_default().into();
        let [length, force, stress, energy] = ["length", "force", "stress", "compliance"].map(name);
        Self { length, force, stress, energy }
    }

    /// The unit of what a key of the case file is called.
    pub fn of_key(&self, key: &str) -> String {
        let per = |power: &str| format!("{}/{}{power}", self.force, self.length);
        match key {
            "force" | "total_force" | "bearing" => self.force.clone(),
            "moment" => self.energy.clone(),
            "traction" | "pressure" | "youngs_modulus" => self.stress.clone(),
            "radius" | "filter_radius" | "displacement" | "element_size" | "at" | "center" => {
                self.length.clone()
            }
            "stiffness" if !self.force.is_empty() => per(""),
            "stiffness_per_area" if !self.force.is_empty() => per("³"),
            _ => String::new(),
        }
    }
}

/// A number with its unit.
pub fn with_unit(x: &Value, unit: &str) -> String {
    format!("{} {unit}", number(x.as_f64().unwrap_or(f64::NAN), 6)).trim_end().into()
}

/// Text as it is, everything else as JSON.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The words of a key.
pub fn words(key: &str) -> String {
    let words = key.replace('_', " ").replace("pcg", "PCG").replace("youngs", "Young's");
    let words = words.replace("poissons", "Poisson's");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

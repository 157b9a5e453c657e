//! Files, numbers and names as the report words them.

use std::path::Path;

use topopt_case::config::PhysicsKind;
use topopt_case::finding::Finding;
use topopt_case::unit_names::UnitNames;
use topopt_mesh::numbers::shown;
use topopt_report::number;

/// The text of a file of the results.
pub fn read(path: &Path) -> Result<String, Finding> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// A file of the results that cannot be read, and what to do.
pub fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Finding {
    Finding::new(format!("cannot read {}: {error}", path.display()))
        .remedy("run the case again: a run writes all result files")
}

/// Units behind numbers, empty where the case states none, and names of keys.
pub struct Units {
    physics: PhysicsKind,
    pub length: String,
    pub force: String,
    pub stress: String,
    pub energy: String,
}

impl Units {
    /// Units of linear and angular accelerations: where those of lengths and forces are known, that
    /// of the mass is a force times square seconds per length.
    pub fn accelerations(&self) -> [String; 2] {
        let is_known = !self.length.is_empty() && !self.force.is_empty();
        let linear = if is_known { format!("{}/s²", self.length) } else { String::new() };
        [linear, if is_known { "rad/s²".into() } else { String::new() }]
    }

    pub fn of(names: Option<&UnitNames>, physics: PhysicsKind) -> Self {
        let name = |name: Option<&String>| name.cloned().unwrap_or_default();
        let length = name(names.map(|names| &names.length));
        let force = name(names.and_then(|names| names.force.as_ref()));
        let stress = name(names.and_then(|names| names.stress.as_ref()));
        let energy = name(names.and_then(|names| names.compliance.as_ref()));

        // N/mm^2 (MPa) is MPa.
        let common = stress.split_once(" (").map(|(_, name)| name.trim_end_matches(')').to_owned());
        let stress = common.unwrap_or_else(|| stress.replace("^2", "²"));
        Self { physics, length, force, stress, energy }
    }

    /// The words of a key of the case file.
    pub fn words(&self, key: &str) -> String {
        words(&self.physics.in_words(key))
    }

    /// The words of a response within a sentence.
    pub fn lower_words(&self, response: &str) -> String {
        self.physics.in_words(response)
    }

    /// A mass with its unit: kg if the units of the case imply it, with times in seconds.
    pub fn mass(&self, mass: f64) -> String {
        self.response("mass", mass)
    }

    /// A value of the response that is called so, with its unit.
    pub fn response(&self, response: &str, value: f64) -> String {
        let (factor, unit) = self.of_response(response);
        format!("{} {unit}", number(factor * value, DIGITS)).trim_end().into()
    }

    /// The unit in which pages show the response that is called so, and what its values are
    /// multiplied by for that.
    pub fn of_response(&self, response: &str) -> (f64, &str) {
        let kind = response.split(" of ").next().unwrap_or_default();
        match kind.split(" in ").next().unwrap_or_default() {
            "mass" => kilograms(&self.length, &self.force).map_or((1.0, ""), |kg| (kg, "kg")),
            "compliance" => (1.0, &self.energy),
            kind if kind.ends_with("displacement") => (1.0, &self.length),
            _ => (1.0, ""),
        }
    }

    /// The unit of what a key of the case file is called.
    pub fn of_key(&self, key: &str) -> String {
        let per = |power: &str| format!("{}/{}{power}", self.force, self.length);
        match key {
            "force" | "total_force" | "bearing" => self.force.clone(),
            "moment" => self.energy.clone(),
            "traction" | "pressure" | "youngs_modulus" | "yield_strength" => self.stress.clone(),
            "radius" | "filter_radius" | "displacement" | "element_size" | "at" | "center" => {
                self.length.clone()
            }
            "stiffness" if !self.force.is_empty() => per(""),
            "stiffness_per_area" if !self.force.is_empty() => per("³"),
            _ => String::new(),
        }
    }
}

/// Significant digits of what was computed; files for programs have all.
pub const DIGITS: usize = 3;

/// Significant digits of coordinates, which are to be found in the part.
const DIGITS_OF_PLACES: usize = 4;

/// Kilograms of a unit of mass, which is force per length and second squared: of mm and N it is a
/// tonne.
pub fn kilograms(length: &str, force: &str) -> Option<f64> {
    Some(match (length, force) {
        ("mm", "N") => 1e3,
        ("cm", "N") => 1e2,
        ("m", "N") => 1.0,
        ("mm", "kN") => 1e6,
        ("cm", "kN") => 1e5,
        ("m", "kN") => 1e3,
        _ => return None,
    })
}

/// A name with a unit, if there is one.
pub fn of(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_owned(),
        unit => format!("{name} [{unit}]"),
    }
}

/// `text` as a sentence of its own.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// Three components in parentheses.
pub fn vector(x: [f64; 3], digits: usize) -> String {
    format!("({})", x.map(|x| number(x, digits)).join(", "))
}

/// A number with its unit.
pub fn with_unit(x: f64, unit: &str) -> String {
    format!("{} {unit}", number(x, DIGITS)).trim_end().into()
}

/// The words of a key.
pub fn words(key: &str) -> String {
    let words = key
        .replace('_', " ")
        .replace("pcg", "PCG")
        .replace("kkt", "KKT")
        .replace("youngs", "Young's");
    let words = words.replace("poissons", "Poisson's");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Coordinates of a place.
pub fn place_text(at: [f64; 3]) -> String {
    vector(at, DIGITS_OF_PLACES)
}

/// A mass for people: in kg if the units of the case imply it.
pub fn mass_text(mass: f64, units: Option<&UnitNames>) -> String {
    let factor = units.and_then(|units| kilograms(&units.length, units.force.as_ref()?));
    factor.map_or_else(|| shown(mass), |factor| format!("{} kg", shown(factor * mass)))
}

/// Most load cases with pictures on a page.
const MOST_PICTURED: usize = 5;

/// The load cases that have pictures, with a sentence about those that have none.
pub fn pictured<C>(cases: &[C]) -> (&[C], Option<String>) {
    let (most, n) = (cases.len().min(MOST_PICTURED), cases.len());
    let left_out = format!("The pictures show the first {most} of {n} load cases.");
    (&cases[..most], (most < n).then_some(left_out))
}

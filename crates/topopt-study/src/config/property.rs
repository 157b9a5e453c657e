//! Properties of materials: numbers, or fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::Config;

/// A property of a material: a number, or a field.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Property {
    /// The same everywhere.
    #[schemars(extend("exclusiveMinimum" = 0))]
    Number(f64),
    /// An expression in x, y and z, in the unit of the mesh; elements have its mean.
    Expression(String),
    /// `{ array = "name" }`: an array of the cells of the .vtu mesh, with one component.
    Array(CellArray),
}

/// Values of the elements, from the mesh file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellArray {
    /// Name of an array of the cells of the .vtu mesh, with one component.
    pub array: String,
}

/// One property of all materials.
pub struct MaterialProperty<'a> {
    /// Its key.
    pub key: &'static str,
    /// Of `[material]`.
    pub of_all: Option<&'a Spanned<Property>>,
    /// Of each of `[[materials]]`.
    pub of_sets: Vec<Option<&'a Spanned<Property>>>,
}

impl Property {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The name of the array, if it is one.
    pub fn array(&self) -> Option<&str> {
        match self {
            Self::Array(named) => Some(&named.array),
            _ => None,
        }
    }
}

/// The number that a property is; none for a field.
pub fn number(property: Option<&Spanned<Property>>) -> Option<f64> {
    property?.get_ref().number()
}

impl<'a> MaterialProperty<'a> {
    /// Where the case file gives it.
    pub fn given(&self) -> impl Iterator<Item = &'a Spanned<Property>> {
        self.of_sets.iter().copied().chain([self.of_all]).flatten()
    }
}

impl Config {
    /// The properties that may be fields: conductivity, heat capacity and mass density.
    pub fn properties(&self) -> [MaterialProperty<'_>; 3] {
        let (all, sets) = (&self.material, || self.materials.iter());
        [
            MaterialProperty {
                key: "conductivity",
                of_all: all.conductivity.as_ref(),
                of_sets: sets().map(|material| material.conductivity.as_ref()).collect(),
            },
            MaterialProperty {
                key: "heat_capacity",
                of_all: all.heat_capacity.as_ref(),
                of_sets: sets().map(|material| material.heat_capacity.as_ref()).collect(),
            },
            MaterialProperty {
                key: "mass_density",
                of_all: all.mass_density.as_ref(),
                of_sets: sets().map(|material| material.mass_density.as_ref()).collect(),
            },
        ]
    }

    /// Names of the arrays of the mesh file that properties are, each once.
    pub fn cell_arrays(&self) -> Vec<&str> {
        let properties = self.properties();
        let given = properties.iter().flat_map(MaterialProperty::given);
        let mut names: Vec<&str> =
            given.filter_map(|property| property.get_ref().array()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

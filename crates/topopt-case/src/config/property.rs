//! Properties of materials: numbers, or fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A property of a material: a number, or a field.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Property {
    /// A positive number, the same everywhere.
    #[schemars(extend("exclusiveMinimum" = 0))]
    Number(f64),
    /// An expression in x, y and z, in the unit of the mesh; elements have its mean.
    Expression(String),
    /// `{ array = "name" }`: an array of the cells of the .vtu mesh, with one component.
    Array(CellArray),
}

/// A conductivity: a property, or one along each axis.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Conductivity {
    /// The same in all directions.
    Isotropic(Property),
    /// `[kx, ky, kz]`: along x, y and z, each a number, an expression or an array.
    Orthotropic([Property; 3]),
}

/// Values of the elements, from the mesh file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellArray {
    /// Name of an array of the cells of the .vtu mesh, with one component.
    pub array: String,
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

impl Conductivity {
    /// Returns the one property, or those along x, y and z.
    pub fn parts(&self) -> &[Property] {
        match self {
            Self::Isotropic(property) => std::slice::from_ref(property),
            Self::Orthotropic(along) => along,
        }
    }
}

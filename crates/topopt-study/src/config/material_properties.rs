//! The properties of all materials of a case.

use toml::Spanned;

use super::{Config, Property};

/// One property of all materials.
pub struct MaterialProperty<'a> {
    /// Its key.
    pub key: &'static str,
    /// Of `[material]`.
    pub of_all: Option<&'a Spanned<Property>>,
    /// Of each of `[[materials]]`.
    pub of_sets: Vec<Option<&'a Spanned<Property>>>,
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

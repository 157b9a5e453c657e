//! The properties of all materials of a case.

use std::ops::Range;

use toml::Spanned;

use super::{Conductivity, Config, Property};

/// One property of all materials.
pub struct MaterialProperty<'a> {
    /// Key of the property in the case file.
    pub key: &'static str,
    /// Property as `[material]` gives it.
    pub of_all: Option<Given<'a>>,
    /// Property as each of `[[materials]]` gives it.
    pub of_sets: Vec<Option<Given<'a>>>,
}

/// A property as the case file gives it.
#[derive(Clone)]
pub struct Given<'a> {
    /// One, or those along x, y and z.
    pub parts: &'a [Property],
    /// Place of the value in the case file, in bytes.
    pub span: Range<usize>,
}

impl<'a> MaterialProperty<'a> {
    /// Returns the values that are given, that of `[material]` last.
    pub fn given(&self) -> impl Iterator<Item = &Given<'a>> {
        self.of_sets.iter().chain([&self.of_all]).flatten()
    }
}

impl Given<'_> {
    /// Part `axis`, or the only one.
    pub fn along(&self, axis: usize) -> Option<&Property> {
        self.parts.get(axis).or(self.parts.first())
    }

    /// Whether there is one along each axis.
    pub fn is_orthotropic(&self) -> bool {
        self.parts.len() > 1
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self.parts {
            [only] => only.number(),
            _ => None,
        }
    }

    /// Returns the name of part `axis` of the property `key`.
    pub fn name(&self, key: &str, axis: usize) -> String {
        if self.is_orthotropic() { format!("{key}[{axis}]") } else { key.into() }
    }
}

impl<'a> From<&'a Spanned<Property>> for Given<'a> {
    fn from(property: &'a Spanned<Property>) -> Self {
        Self { parts: std::slice::from_ref(property.get_ref()), span: property.span() }
    }
}

impl<'a> From<&'a Spanned<Conductivity>> for Given<'a> {
    fn from(conductivity: &'a Spanned<Conductivity>) -> Self {
        Self { parts: conductivity.get_ref().parts(), span: conductivity.span() }
    }
}

/// The value of a property that is one number; none for fields and for several values.
pub fn number<'a>(property: Option<impl Into<Given<'a>>>) -> Option<f64> {
    property?.into().number()
}

impl Config {
    /// The properties that may be fields: conductivity, heat capacity and mass density.
    pub fn properties(&self) -> [MaterialProperty<'_>; 3] {
        let (all, sets) = (&self.material, || self.materials.iter());
        [
            MaterialProperty {
                key: "conductivity",
                of_all: all.conductivity.as_ref().map(Given::from),
                of_sets: sets().map(|own| own.conductivity.as_ref().map(Given::from)).collect(),
            },
            MaterialProperty {
                key: "heat_capacity",
                of_all: all.heat_capacity.as_ref().map(Given::from),
                of_sets: sets().map(|own| own.heat_capacity.as_ref().map(Given::from)).collect(),
            },
            MaterialProperty {
                key: "mass_density",
                of_all: all.mass_density.as_ref().map(Given::from),
                of_sets: sets().map(|own| own.mass_density.as_ref().map(Given::from)).collect(),
            },
        ]
    }

    /// Names of the arrays of the mesh file that properties are, each once.
    pub fn cell_arrays(&self) -> Vec<&str> {
        let properties = self.properties();
        let given = properties.iter().flat_map(MaterialProperty::given);
        let parts = given.flat_map(|given| given.parts);
        let mut names: Vec<&str> = parts.filter_map(Property::array).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

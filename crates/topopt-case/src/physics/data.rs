//! Each physics as a row of data: names and words of the case file and of messages.

use topopt_fem::Elasticity;

use super::Physics;
use crate::config::{PhysicsKind, SetMaterial};

/// A physics as data.
pub struct PhysicsData {
    /// Name in the case file.
    pub name: &'static str,
    /// Property that every material has.
    pub property: &'static str,
    /// Whether the material of a set has that property.
    pub has_property: fn(&SetMaterial) -> bool,
    /// Whether results have units of forces, stresses and energies.
    pub has_forces: bool,
    /// Keys that a written case leaves out.
    pub foreign_keys: &'static [&'static str],
    /// Message on an entry of `[[loads]]` without magnitude.
    pub no_magnitude: &'static str,
    /// Remedies where nothing holds the part, and where nothing loads it.
    pub held_or_loaded: [&'static str; 2],
    /// Effect of more material than a design uses.
    pub surplus: &'static str,
    /// Words of responses and keys, with those that stand for them in sentences.
    pub words: &'static [[&'static str; 2]],
}

impl PhysicsKind {
    /// Returns the physics as data.
    pub fn data(self) -> &'static PhysicsData {
        match self {
            Self::Elasticity => &ELASTICITY,
            Self::Heat => &HEAT,
        }
    }
}

/// Words and keys of elasticity.
const ELASTICITY: PhysicsData = PhysicsData {
    name: "elasticity",
    property: "youngs_modulus",
    has_property: |material| Elasticity::coefficient_of(material).is_some(),
    has_forces: true,
    foreign_keys: &[],
    no_magnitude: "a load without a force",
    held_or_loaded: [
        "add [[supports]]: where the part is held; or add [[springs]] that hold it; or, for a part \
         that flies or floats, `inertia_relief = true` above all tables",
        "add [[loads]]: the forces on the part; or give [[supports]] a `displacement`",
    ],
    surplus: "would only add weight",
    words: &[],
};

/// Words and keys of heat.
const HEAT: PhysicsData = PhysicsData {
    name: "heat",
    property: "conductivity",
    has_property: |material| material.conductivity.is_some(),
    has_forces: false,
    foreign_keys: &["youngs_modulus", "poissons_ratio", "fix", "springs"],
    no_magnitude: "a load without heat",
    held_or_loaded: [
        "add [[supports]]: where the temperature is held; or add [[convection]]",
        "add [[loads]]: the heat; or give [[supports]] a `temperature`, [[convection]] an `ambient`",
    ],
    surplus: "would do harm",
    words: &[["compliance", "thermal compliance"], ["stiffness", "conductivity"]],
};

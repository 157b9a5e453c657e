//! `UnitNames`: names of the units of the results.

use serde::{Deserialize, Serialize};

use crate::config::Config;

/// Names of the units of the results; for heat the length alone, as temperatures have no unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitNames {
    /// Unit of lengths.
    pub length: String,
    /// Unit of forces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<String>,
    /// Unit of stresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stress: Option<String>,
    /// Unit of compliances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compliance: Option<String>,
}

impl UnitNames {
    /// Returns the units of `config`; none if it states none.
    pub fn of(config: &Config) -> Option<Self> {
        let units = config.units?;
        let has_forces = config.physics.kind.data().has_forces;
        Some(Self {
            length: units.length.name().into(),
            force: has_forces.then(|| units.force.name().into()),
            stress: has_forces.then(|| units.stress()),
            compliance: has_forces.then(|| units.energy()),
        })
    }
}

//! `UnitNames`: names of the units of the results.

use serde::Serialize;

use crate::config::{Config, PhysicsKind};

/// Names of the units of the results; for heat the length alone, as temperatures have no unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitNames {
    /// Unit of lengths.
    pub length: &'static str,
    /// Unit of forces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<&'static str>,
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
        let is_elastic = config.physics.kind == PhysicsKind::Elasticity;
        Some(Self {
            length: units.length.name(),
            force: is_elastic.then(|| units.force.name()),
            stress: is_elastic.then(|| units.stress()),
            compliance: is_elastic.then(|| units.energy()),
        })
    }
}

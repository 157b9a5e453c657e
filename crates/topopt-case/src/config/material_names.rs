//! Names of materials: a line of a table each, in SI units at 20 °C.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use topopt_mesh::numbers::rounded;

use super::units::Units;

/// Name of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MaterialName {
    /// Structural steel; EN 1993-1-1, EN 10025-2 up to 16 mm, EN 1993-1-2.
    #[serde(rename = "steel S235")]
    SteelS235,
    /// Structural steel; EN 1993-1-1, EN 10025-2 up to 16 mm, EN 1993-1-2.
    #[serde(rename = "steel S355")]
    SteelS355,
    /// Stainless steel 1.4301; EN 10088-1, EN 10088-2 hot rolled.
    #[serde(rename = "stainless 304")]
    Stainless304,
    /// Wrought aluminum; typical values of ASM Aerospace Specification Metals.
    #[serde(rename = "aluminum 6061-T6")]
    Aluminum6061T6,
    /// Wrought aluminum; typical values of ASM Aerospace Specification Metals.
    #[serde(rename = "aluminum 7075-T6")]
    Aluminum7075T6,
    /// Aluminum from a powder bed, as built; typical values of data sheets.
    #[serde(rename = "AlSi10Mg")]
    AlSi10Mg,
    /// Titanium, annealed; typical values of ASM Aerospace Specification Metals.
    #[serde(rename = "Ti-6Al-4V")]
    Ti6Al4V,
    /// Sintered nylon; typical values of data sheets.
    #[serde(rename = "PA12")]
    Pa12,
    /// Printed filament, within the layers; typical values of data sheets.
    #[serde(rename = "PLA")]
    Pla,
    /// Printed filament, within the layers; typical values of data sheets.
    #[serde(rename = "PETG")]
    Petg,
    /// Printed filament, within the layers; typical values of data sheets.
    #[serde(rename = "ABS")]
    Abs,
    /// Printed filament, within the layers; typical values of data sheets.
    #[serde(rename = "ASA")]
    Asa,
}

/// Properties of a material in the units of a case, with seconds and kelvins.
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// Young's modulus (force per area).
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    pub poissons_ratio: f64,
    /// Mass per volume.
    pub mass_density: f64,
    /// Stress at which it yields (force per area).
    pub yield_strength: f64,
    /// Conductivity.
    pub conductivity: f64,
    /// Heat per mass and temperature.
    pub heat_capacity: f64,
    /// Strain per temperature.
    pub thermal_expansion: f64,
}

impl MaterialName {
    /// The table: Young's modulus, Poisson's ratio, mass density, yield strength, conductivity,
    /// heat capacity, thermal expansion.
    fn numbers(self) -> [f64; 7] {
        match self {
            //                       GPa    -      kg/m^3  MPa    W/m/K  J/kg/K 1e-6/K
            Self::SteelS235 => [210.0, 0.3, 7850.0, 235.0, 53.3, 440.0, 12.0],
            Self::SteelS355 => [210.0, 0.3, 7850.0, 355.0, 53.3, 440.0, 12.0],
            Self::Stainless304 => [200.0, 0.3, 7900.0, 210.0, 15.0, 500.0, 16.0],
            Self::Aluminum6061T6 => [68.9, 0.33, 2700.0, 276.0, 167.0, 896.0, 23.6],
            Self::Aluminum7075T6 => [71.7, 0.33, 2810.0, 503.0, 130.0, 960.0, 23.6],
            Self::AlSi10Mg => [70.0, 0.33, 2670.0, 230.0, 103.0, 920.0, 20.0],
            Self::Ti6Al4V => [113.8, 0.342, 4430.0, 880.0, 6.7, 526.0, 8.6],
            Self::Pa12 => [1.7, 0.4, 930.0, 48.0, 0.25, 1700.0, 109.0],
            Self::Pla => [2.3, 0.35, 1240.0, 50.0, 0.13, 1800.0, 68.0],
            Self::Petg => [1.9, 0.38, 1270.0, 45.0, 0.2, 1200.0, 60.0],
            Self::Abs => [2.0, 0.37, 1040.0, 40.0, 0.17, 1400.0, 90.0],
            Self::Asa => [2.0, 0.37, 1070.0, 40.0, 0.17, 1300.0, 95.0],
        }
    }

    /// The properties in the units of a case, with seconds and kelvins.
    pub fn in_units(self, units: Units) -> Properties {
        let (length, force) = (units.length.meters(), units.force.newtons());
        let [modulus, ratio, mass_density, yield_strength, conductivity, heat_capacity, expansion] =
            self.numbers();
        Properties {
            youngs_modulus: rounded(1e9 * modulus / units.pascals()),
            poissons_ratio: ratio,
            // N s^2/m^4, J/m/K/s = N/K/s and J/kg/K = m^2/s^2/K.
            mass_density: rounded(mass_density * length.powi(4) / force),
            yield_strength: rounded(1e6 * yield_strength / units.pascals()),
            conductivity: rounded(conductivity / force),
            heat_capacity: rounded(heat_capacity / length.powi(2)),
            thermal_expansion: rounded(1e-6 * expansion),
        }
    }
}

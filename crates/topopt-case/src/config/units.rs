//! The keys of `[units]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The units of all lengths and forces of the case. Stresses, pressures and Young's modulus are
/// forces per area: with mm and N, MPa. STEP files are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// Unit of lengths, also of the mesh file.
    pub length: LengthUnit,
    /// Unit of forces.
    pub force: ForceUnit,
}

/// A unit of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LengthUnit {
    /// Millimeter.
    Mm,
    /// Centimeter.
    Cm,
    /// Meter.
    M,
    /// Inch.
    In,
    /// Foot.
    Ft,
}

/// A unit of force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ForceUnit {
    /// Newton.
    N,
    /// Kilonewton.
    #[serde(rename = "kN")]
    KN,
    /// Pound-force.
    #[serde(rename = "lbf")]
    Lbf,
}

impl LengthUnit {
    /// Returns the name of the unit in the case file.
    pub fn name(self) -> &'static str {
        match self {
            LengthUnit::Mm => "mm",
            LengthUnit::Cm => "cm",
            LengthUnit::M => "m",
            LengthUnit::In => "in",
            LengthUnit::Ft => "ft",
        }
    }

    /// In meters.
    pub fn meters(self) -> f64 {
        match self {
            LengthUnit::Mm => 1e-3,
            LengthUnit::Cm => 1e-2,
            LengthUnit::M => 1.0,
            LengthUnit::In => 0.0254,
            LengthUnit::Ft => 0.3048,
        }
    }

    /// Returns the name of the unit in STEP files.
    pub fn in_step_files(self) -> &'static str {
        match self {
            LengthUnit::Mm => "MM",
            LengthUnit::Cm => "CM",
            LengthUnit::M => "M",
            LengthUnit::In => "INCH",
            LengthUnit::Ft => "FT",
        }
    }
}

impl ForceUnit {
    /// Returns the name of the unit in the case file.
    pub fn name(self) -> &'static str {
        match self {
            ForceUnit::N => "N",
            ForceUnit::KN => "kN",
            ForceUnit::Lbf => "lbf",
        }
    }

    /// In newtons.
    pub fn newtons(self) -> f64 {
        match self {
            ForceUnit::N => 1.0,
            ForceUnit::KN => 1e3,
            ForceUnit::Lbf => 4.448_221_615_260_5,
        }
    }
}

impl Units {
    /// Millimeters and newtons.
    pub const MM_N: Self = Self { length: LengthUnit::Mm, force: ForceUnit::N };

    /// The unit of stress, with its common name if it has one.
    pub fn stress(self) -> String {
        let name = match (self.length, self.force) {
            (LengthUnit::Mm, ForceUnit::N) => " (MPa)",
            (LengthUnit::Mm, ForceUnit::KN) => " (GPa)",
            (LengthUnit::M, ForceUnit::N) => " (Pa)",
            (LengthUnit::M, ForceUnit::KN) => " (kPa)",
            (LengthUnit::In, ForceUnit::Lbf) => " (psi)",
            _ => "",
        };
        format!("{}/{}^2{name}", self.force.name(), self.length.name())
    }

    /// All units, for people.
    pub fn text(self) -> String {
        let (length, force) = (self.length.name(), self.force.name());
        format!(
            "{length} and {force}; stress in {}, compliance in {}",
            self.stress(),
            self.energy()
        )
    }

    /// The unit of compliance and energy.
    pub fn energy(self) -> String {
        format!("{} {}", self.force.name(), self.length.name())
    }

    /// The unit of stress in pascals.
    pub fn pascals(self) -> f64 {
        self.force.newtons() / self.length.meters().powi(2)
    }
}

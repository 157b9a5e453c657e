//! The proof of a design for heat: temperatures.

use serde::{Deserialize, Serialize};
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_case::physics::heat::FILLER;
use topopt_fem::Diffusion;

use super::compared::Compared;
use super::shape::VOID;
use super::verified::Verified;
use crate::design_file::DesignFile;
use crate::heat::HeatCase;
use crate::solved::{Fields, Measured, Solved};

/// The highest temperature of all load cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HighestTemperature {
    /// Conductivity of a void element, as a share of the solid's.
    pub void_conductivity: f64,
    /// Highest temperature of both designs, with its place.
    pub largest_temperature: LargestTemperature,
}

/// The highest temperature of nodes with material, and where it is in the verified design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LargestTemperature {
    /// Both designs.
    #[serde(flatten)]
    pub compared: Compared,
    /// Number of the node.
    pub node: u64,
    /// Coordinates of the node.
    pub at: [f64; 3],
    /// Load case.
    pub load_case: String,
}

impl Verified<1> for Diffusion {
    type Overall = HighestTemperature;

    /// Void in the last stage of the run, at least 1e-9.
    fn void(config: &Config) -> f64 {
        config.design.contrast(config.last_penalty()).max(VOID)
    }

    fn overall(
        solved: &Solved<Self, 1>,
        load_cases: &[HeatCase],
        file: &DesignFile,
    ) -> Result<HighestTemperature, InputError> {
        let temperature = |case: &&HeatCase| case.hottest.temperature;
        let hottest =
            load_cases.iter().reduce(|a, b| if temperature(&b) > temperature(&a) { b } else { a });
        let hottest = hottest.expect("a problem has a load case");
        let names: Vec<&str> = load_cases.iter().map(|case| case.name.as_str()).collect();
        let void = Self::void(solved.part.config);
        let optimized = highest(file, &names, void >= FILLER)?;
        Ok(HighestTemperature {
            void_conductivity: void,
            largest_temperature: LargestTemperature {
                compared: Compared::new(optimized, hottest.hottest.temperature),
                node: hottest.hottest.node.unwrap_or_default(),
                at: hottest.hottest.at,
                load_case: hottest.name.clone(),
            },
        })
    }

    fn shown_fields(solved: &Solved<Self, 1>) -> Fields {
        Self::fields(solved)
    }
}

/// The highest temperature of the design as it was optimized, at the nodes that count in the
/// verified one: a filler in place of void has temperatures of its own.
fn highest(file: &DesignFile, names: &[&str], has_filler: bool) -> Result<f64, InputError> {
    let mut carries = file.carrying_nodes();
    carries.iter_mut().for_each(|carries| *carries |= has_filler);
    let temperatures = file.temperatures(names)?;
    let carried = |all: &Vec<f64>| {
        let carried = all.iter().zip(&carries).filter(|(_, carries)| **carries);
        carried.map(|(temperature, _)| *temperature).fold(f64::NEG_INFINITY, f64::max)
    };
    Ok(temperatures.iter().map(carried).fold(f64::NEG_INFINITY, f64::max))
}

//! The fields of heat that a run, an analysis or a verification has written.

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_case::physics::Physics;
use topopt_case::physics::heat::HEAT_FLUX;
use topopt_fem::Diffusion;
use topopt_io::vtk::Section;

use super::solid::{Solid, whole};
use crate::design_file::arrays;

/// Temperatures and fluxes at the nodes, in the order of the mesh of the file.
#[derive(Debug)]
pub struct HeatFile {
    /// Temperatures in each load case, `[n_nodes]`.
    pub temperatures: Vec<Vec<f64>>,
    /// Heat fluxes in each load case, `[n_nodes][3]` (heat per time and area): the mean of the solid
    /// elements around a node, or of the nodes next to it where it has none; 0 far from the solid.
    pub fluxes: Vec<Vec<[f64; 3]>>,
}

impl HeatFile {
    /// Reads a file as `topopt run` and `topopt solve` write it for these load `cases`; elements of
    /// density `least` are solid.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_densities(path: &Path, cases: &[&str], least: f64) -> Result<Self, Finding> {
        Self::read(path, cases, ("density", least))
            .map_err(|finding| finding.remedy("run or solve the case again"))
    }

    /// Reads a file as `topopt verify` writes it for these load `cases`.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_verification(path: &Path, cases: &[&str]) -> Result<Self, Finding> {
        Self::read(path, cases, ("solid", 1.0))
            .map_err(|finding| finding.remedy("verify the design again"))
    }

    /// Elements are solid whose value in the array `solid` is that or more.
    fn read(path: &Path, cases: &[&str], solid: (&str, f64)) -> Result<Self, Finding> {
        let solid = Solid::read(path, &[], solid)?;
        let file = (path, &solid.mesh);
        let temperatures = arrays::<1>(file, Section::Points, Diffusion::NAMES.state, cases)?;
        let fluxes = arrays(file, Section::Cells, HEAT_FLUX, cases)?;
        let fluxes = whole(fluxes, path, "heat fluxes")?;
        let temperatures = whole(temperatures, path, "temperatures")?;
        Ok(Self {
            temperatures: temperatures.into_iter().map(|t| t.into_flattened()).collect(),
            fluxes: fluxes.iter().map(|flux| solid.at_nodes(flux)).collect(),
        })
    }
}

//! The fields that an analysis or a verification has written.

mod heat;
mod nodal_means;
mod solid;

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_io::vtk::Section;

use crate::design_file::{DISPLACEMENT, array_name, arrays};
pub use heat::HeatFile;
use solid::{Solid, whole};

/// The name of the array of the stresses of von Mises, of a verification or the first load case.
pub(crate) const VON_MISES: &str = "von_mises";

/// The name of the array of the shares of elements that miss what the making of a part demands.
pub(crate) const MISSED: &str = "missed";

/// Reads from a file as `topopt verify` writes it the shares of solid elements that miss what their
/// making demands, at the nodes, `[n_nodes]`.
///
/// # Errors
/// A file that cannot be read, or lacks the array.
pub fn missed(path: &Path) -> Result<Vec<f64>, Finding> {
    let mut solid = Solid::read(path, &[MISSED], ("solid", 1.0))
        .map_err(|finding| finding.remedy("verify the design again"))?;
    let values: Vec<[f64; 1]> =
        std::mem::take(&mut solid.data[0]).into_iter().map(|value| [value]).collect();
    Ok(solid.at_nodes(&values).into_flattened())
}

/// Stresses and displacements at the nodes, in the order of the mesh of the file.
#[derive(Debug)]
pub struct SolvedFile {
    /// Stresses of von Mises, `[n_nodes]` each (force per area): the mean of the solid elements
    /// around a node, or of the nodes next to it where it has none; 0 far from the solid. An
    /// analysis has them for each load case, a verification the largest of all.
    pub von_mises: Vec<Vec<f64>>,
    /// Displacements in each load case, `[n_nodes][3]` (length).
    pub displacements: Vec<Vec<[f64; 3]>>,
}

impl SolvedFile {
    /// Reads a file as `topopt verify` writes it for these load `cases`.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_verification(path: &Path, cases: &[&str]) -> Result<Self, Finding> {
        Self::read(path, &[VON_MISES], cases, ("solid", 1.0))
            .map_err(|finding| finding.remedy("verify the design again"))
    }

    /// Reads a file as `topopt solve` writes it for these load `cases`; elements of density `least`
    /// are solid.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_analysis(path: &Path, cases: &[&str], least: f64) -> Result<Self, Finding> {
        let names = cases.iter().enumerate().map(|(k, case)| array_name(VON_MISES, k, case));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self::read(path, &names, cases, ("density", least))
            .map_err(|finding| finding.remedy("solve the case again"))
    }

    /// Elements are solid whose value in the array `solid` is that or more.
    fn read(
        path: &Path,
        stresses: &[&str],
        cases: &[&str],
        solid: (&str, f64),
    ) -> Result<Self, Finding> {
        let mut solid = Solid::read(path, stresses, solid)?;
        let stresses = std::mem::take(&mut solid.data);
        let displacements = arrays((path, &solid.mesh), Section::Points, DISPLACEMENT, cases)?;
        let at_nodes = |values: Vec<f64>| {
            let values: Vec<[f64; 1]> = values.into_iter().map(|value| [value]).collect();
            solid.at_nodes(&values).as_flattened().to_vec()
        };
        Ok(Self {
            von_mises: stresses.into_iter().map(at_nodes).collect(),
            displacements: whole(displacements, path, "displacements")?,
        })
    }
}

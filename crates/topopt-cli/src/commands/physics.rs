//! Numbers of a physics, as commands and pages show them.

mod accelerations;
mod elastic;
mod heat;
mod rows;

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_report::{Fact, Mark, NodalField, States, Table};
use topopt_study::design_file::DesignFile;
use topopt_study::run_directory::RunDirectory;
use topopt_study::studied::Studied;
use topopt_study::verification::Compared;

use super::pages::wording::Units;

/// A physics whose numbers are shown.
pub trait Shown<const N: usize>: Studied<N, Case: CaseNumbers, Overall: OverallNumbers> {
    /// Title of the section of its states.
    const TITLE: &str;
    /// Sentence about its pictures.
    const ABOUT: &str;
    /// Sentence about the numbers of an analysis, where they need one.
    const OF_NUMBERS: Option<&str>;
    /// Words before the part or the densities that were solved.
    const SOLVED: &str;
    /// Words for the pictures of a verification.
    const PICTURES: &str;

    /// The pictures of `cases` that the file of an analysis or a run has; elements of density `least`
    /// are solid.
    ///
    /// # Errors
    /// A file that cannot be read.
    fn pictures(
        path: &Path,
        cases: &[Self::Case],
        least: f64,
        units: &Units,
    ) -> Result<Vec<NodalField>, Finding>;

    /// The pictures of `cases` that the file of a verification has.
    ///
    /// # Errors
    /// A file that cannot be read.
    fn verified_pictures(
        path: &Path,
        overall: &Self::Overall,
        cases: &[Self::Case],
        units: &Units,
    ) -> Result<Vec<NodalField>, Finding>;

    /// Returns the marks of the picture of supports and loads, in the order of the report's colors.
    fn marks(file: &DesignFile) -> Vec<Mark>;

    /// Reads the states of the load cases `names` of a run's last design, where the run writes them;
    /// `threshold` is the density at the surface of the pictures.
    ///
    /// # Errors
    /// A file that cannot be read.
    fn states(
        _results: &RunDirectory,
        _file: &DesignFile,
        _threshold: f64,
        _names: &[&str],
        _units: &Units,
    ) -> Result<Option<States>, Finding> {
        Ok(None)
    }
}

/// Returns a mark of some nodes.
fn mark(name: &str, nodes: &[u32]) -> Mark {
    Mark { name: name.into(), nodes: nodes.to_vec() }
}

/// Numbers of a load case.
pub trait CaseNumbers: Sized {
    /// Name of the load case.
    fn name(&self) -> &str;

    /// Name and text of each line for people; components that are noise of a solve to the relative
    /// `residual` are shown as 0. Numbers of all load cases together are included if `is_whole`.
    fn lines(&self, residual: f64, is_whole: bool) -> Vec<(String, String)>;

    /// A row for each number, a column for each load case.
    fn table(cases: &[Self], residual: f64, units: &Units) -> Table;

    /// The largest values of all load cases.
    fn headline(cases: &[Self], units: &Units) -> Vec<Fact>;

    /// The smallest safety factor of all materials and load cases, where there is one.
    fn least_safety(_cases: &[Self]) -> Option<Fact> {
        None
    }
}

/// Numbers of all load cases of a verification.
pub trait OverallNumbers {
    /// Numbers of both designs besides compliance and volume, with key and name.
    fn compared(&self) -> Vec<(&'static str, Compared)>;

    /// Text of the line on void.
    fn void(&self) -> String;

    /// Name and text of each line on the largest values.
    fn lines(&self) -> Vec<(&'static str, String)>;

    /// Text of a mass.
    fn mass(&self, mass: f64) -> String;

    /// Fact on the page besides those of the shape.
    fn fact(&self, units: &Units) -> Fact;
}

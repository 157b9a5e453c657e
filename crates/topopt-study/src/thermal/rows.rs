//! The table of an analysis in time, its probes and its snapshots.

use std::fmt::Display;
use std::fs;

use topopt_io::csv::CsvFile;
use topopt_io::vtk::pvd;
use topopt_mesh::locate;

use super::part::Part;
use super::transient::Steps;
use crate::config::Transient;
use crate::failure::Failure;
use crate::finding::{Finding, InputError};
use crate::result_files::{ANALYSIS_FIELDS, ANALYSIS_SERIES, SNAPSHOTS, TRANSIENT};

/// The files that grow by steps.
pub(super) struct Rows<'a> {
    steps: &'a Steps<'a>,
    file: CsvFile,
    snapshots: Vec<(f64, String)>,
}

/// What a step gave.
pub(super) struct Row<'s> {
    pub step: usize,
    pub time: f64,
    /// Temperatures, as the problem numbers the nodes.
    pub state: &'s [f64],
    /// Heat stored per time.
    pub stored: f64,
    pub iterations: usize,
}

/// A probe in its element.
pub(super) struct Located {
    name: String,
    /// Nodes of the element as the problem numbers them, with their shares.
    nodes: [(u32, f64); 8],
}

impl Part<'_> {
    /// The probes in their elements.
    ///
    /// # Errors
    /// A point outside of the part, and names that stand twice.
    pub(super) fn located(&self, keys: &Transient) -> Result<Vec<Located>, Finding> {
        let mesh = self.model.problem.mesh();
        let mut all: Vec<Located> = Vec::new();
        for probe in &keys.probes {
            let (point, span) = (*probe.point.get_ref(), probe.point.span());
            let at = |message: String, label: &str, remedy: &str| {
                Finding::new(message).at(self.config.source(), span.clone(), label).remedy(remedy)
            };
            if all.iter().any(|other| other.name == probe.name) {
                let message = format!("two probes are named `{}`", probe.name);
                return Err(at(message, "the second one", "give each another name"));
            }
            let Some((element, shape)) = locate(mesh, point) else {
                let message = format!("the probe `{}` is outside of the part", probe.name);
                let remedy = "give a point in the part; `topopt info` shows where it lies";
                return Err(at(message, "no element holds this point", remedy));
            };
            let hex = mesh.hexes()[element as usize];
            let nodes = std::array::from_fn(|a| (hex[a], shape[a]));
            all.push(Located { name: probe.name.clone(), nodes });
        }
        Ok(all)
    }
}

impl Located {
    fn temperature(&self, state: &[f64]) -> f64 {
        self.nodes.iter().map(|(node, share)| share * state[*node as usize]).sum()
    }
}

impl<'a> Rows<'a> {
    /// The table, with its first row at the time 0.
    pub fn create(steps: &'a Steps<'a>, start: &[f64]) -> Result<Self, Failure> {
        let directory = steps.part.config.output_directory();
        let own = ["step", "time", "coldest", "hottest", "heat_stored", "pcg_iterations"];
        let columns: Vec<&str> =
            own.into_iter().chain(steps.probes.iter().map(|probe| probe.name.as_str())).collect();
        let file = CsvFile::create(&directory.join(TRANSIENT), &columns)
            .map_err(|error| InputError::from(Finding::new(error.to_string())))?;
        let folder = directory.join(SNAPSHOTS);
        if steps.keys.snapshot_every > 0 {
            fs::create_dir_all(&folder).map_err(|cause| {
                let message = format!("cannot create {}: {cause}", folder.display());
                InputError::from(Finding::new(message))
            })?;
        }
        let mut rows = Self { steps, file, snapshots: Vec::new() };
        rows.add(&Row { step: 0, time: 0.0, state: start, stored: 0.0, iterations: 0 })?;
        Ok(rows)
    }

    /// Adds a step.
    pub fn add(&mut self, row: &Row) -> Result<(), Failure> {
        let Row { step, time, state, stored, iterations } = row;
        let fold = |choose: fn(f64, f64) -> f64, first| state.iter().copied().fold(first, choose);
        let (coldest, hottest) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        let probes = self.steps.probes.iter();
        let probes: Vec<f64> = probes.map(|probe| probe.temperature(state)).collect();
        let own: [&dyn Display; 6] = [step, time, &coldest, &hottest, stored, iterations];
        let probes = probes.iter().map(|value| value as &dyn Display);
        self.file.row(&own.into_iter().chain(probes).collect::<Vec<_>>())?;

        let every = self.steps.keys.snapshot_every;
        if every > 0 && step.is_multiple_of(every) {
            let name = format!("{SNAPSHOTS}/analysis_{step:05}.vtu");
            let directory = self.steps.part.config.output_directory();
            self.steps.fields.write(&directory.join(&name), &[state])?;
            self.snapshots.push((*time, name));
            pvd::write(&directory.join(ANALYSIS_SERIES), &self.snapshots)?;
        }
        Ok(())
    }

    /// Ends the series with the state at the end.
    pub fn close(mut self, end: f64) -> Result<(), Failure> {
        if self.snapshots.last().is_none_or(|(time, _)| *time < end) {
            self.snapshots.push((end, ANALYSIS_FIELDS.into()));
        }
        let path = self.steps.part.config.output_directory().join(ANALYSIS_SERIES);
        Ok(pvd::write(&path, &self.snapshots)?)
    }
}

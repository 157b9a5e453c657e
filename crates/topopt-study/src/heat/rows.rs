//! The table of an analysis in time, and its snapshots.

use std::fmt::Display;
use std::fs;

use topopt_case::config::STEP_COLUMNS;
use topopt_case::finding::{Finding, InputError};
use topopt_io::csv::{CsvFile, number};
use topopt_io::vtk::pvd;

use super::restart::Resumed;
use super::steps::Steps;
use crate::failure::Failure;
use crate::result_files::{ANALYSIS_FIELDS, ANALYSIS_SERIES, SNAPSHOTS, TRANSIENT};

/// The files that grow by steps.
pub(super) struct Rows<'a> {
    steps: &'a Steps<'a>,
    file: CsvFile,
    snapshots: Vec<(f64, String)>,
}

/// Results of a time step, for a row of the table.
pub(super) struct Row<'s> {
    pub step: usize,
    /// Temperatures, as the problem numbers the nodes.
    pub state: &'s [f64],
    /// Heat stored per time.
    pub stored: f64,
    pub iterations: usize,
}

impl<'a> Rows<'a> {
    /// The table with its first row, at the time 0, or with those of the steps so far.
    pub fn open(
        steps: &'a Steps<'a>,
        start: &[f64],
        resumed: Option<&Resumed>,
    ) -> Result<Self, Failure> {
        let directory = steps.part.config.output_directory();
        let probes = steps.probes.iter().map(|probe| probe.name.as_str());
        let columns: Vec<&str> = STEP_COLUMNS.into_iter().chain(probes).collect();
        let path = directory.join(TRANSIENT);
        let file = match resumed {
            Some(resumed) => CsvFile::restore(&path, &columns, &resumed.table),
            None => CsvFile::create(&path, &columns),
        };
        let file = file.map_err(|error| InputError::from(Finding::new(error.to_string())))?;

        if steps.keys.snapshot_every > 0 {
            let folder = directory.join(SNAPSHOTS);
            fs::create_dir_all(&folder).map_err(|cause| {
                let message = format!("cannot create {}: {cause}", folder.display());
                InputError::from(Finding::new(message))
            })?;
        }
        let mut rows = Self { steps, file, snapshots: Vec::new() };
        match resumed {
            Some(resumed) => {
                let earlier = (0..=resumed.reached.step).filter(|step| rows.is_shown(*step));
                rows.snapshots = earlier.map(|step| (steps.time(step), snapshot(step))).collect();
            }
            None => rows.add(&Row { step: 0, state: start, stored: 0.0, iterations: 0 })?,
        }
        Ok(rows)
    }

    /// Whether there is a snapshot of `step`.
    fn is_shown(&self, step: usize) -> bool {
        let every = self.steps.keys.snapshot_every;
        every > 0 && step.is_multiple_of(every)
    }

    /// Adds a step.
    pub fn add(&mut self, row: &Row) -> Result<(), Failure> {
        let Row { step, state, stored, iterations } = row;
        let time = self.steps.time(*step);
        let fold = |choose: fn(f64, f64) -> f64, first| state.iter().copied().fold(first, choose);
        let (coldest, hottest) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        let probes = self.steps.probes.iter();
        let probes: Vec<String> = probes.map(|probe| number(probe.temperature(state))).collect();
        let [at, coldest, hottest, stored] = [time, coldest, hottest, *stored].map(number);
        let own: [&dyn Display; 6] = [step, &at, &coldest, &hottest, &stored, iterations];
        let probes = probes.iter().map(|value| value as &dyn Display);
        self.file.row(&own.into_iter().chain(probes).collect::<Vec<_>>())?;

        if self.is_shown(*step) {
            let name = snapshot(*step);
            let directory = self.steps.part.config.output_directory();
            let fields = self.steps.part.fields(&[state]);
            self.steps.fields.write(&directory.join(&name), &fields)?;
            self.snapshots.push((time, name));
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

/// File of the snapshot of `step`.
fn snapshot(step: usize) -> String {
    format!("{SNAPSHOTS}/analysis_{step:05}.vtu")
}

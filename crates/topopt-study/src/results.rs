//! The files of a run, in the user's numbering.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_design::{IterationReport, ObserverError};
use topopt_fem::{DIM, Elasticity};
use topopt_io::csv::{self, CsvFile};
use topopt_io::vtk::{Array, Compression, Values, pvd, pvtu, vti, vtu};
use topopt_io::{UncutCells, WriteError, atomic};
use topopt_mesh::UniformGrid;

use crate::design_file::{MATERIAL, Marks, SOLID_DEPTH};
use crate::history::columns;
use crate::observer::{Evaluated, Fields, StudyObserver, Wanted};
use crate::output_folder::{self, Earlier, refused};
use crate::result_files::{
    ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE, ANALYSIS_SERIES, CASE, CHECKPOINTS, DESIGN,
    DESIGN_IN_PIECES, GRID, HISTORY, PART, PIECES, REPORT, SERIES, SNAPSHOTS, SUMMARY, SURFACE,
    TRANSIENT, UNCUT, VERIFIED, VERIFIED_DESIGN, checkpoints, compression,
};
use crate::resumption::Resumption;
use crate::summary::RunSummary;

/// Writes history, snapshots, the last design and the summary into a directory.
pub struct Results<'a, K = Elasticity, const N: usize = DIM> {
    directory: PathBuf,
    model: &'a Model<K, N>,
    marks: Marks,
    history: CsvFile,
    /// See [`topopt_case::config::Output::pieces`].
    n_pieces: usize,
    /// See [`topopt_case::config::Output::snapshot_every`].
    snapshot_every: usize,
    snapshots: Vec<(f64, String)>,
    compression: Compression,
    /// Keeps other runs away.
    _lock: Option<File>,
}

impl<'a, K: Physics<N>, const N: usize> Results<'a, K, N> {
    /// Makes the directory, the case file and an empty history; files of an earlier run are
    /// removed. If the run is resumed, only its results after the checkpoint are.
    ///
    /// # Errors
    /// A finding if the directory cannot be made or written to, if another run writes to it, or if
    /// it holds by now what it should not, see [`output_folder::check`].
    pub fn create(
        model: &'a Model<K, N>,
        config: &Config,
        resumption: Option<&Resumption>,
        earlier: Earlier,
    ) -> Result<Self, Finding> {
        let directory = &config.output_directory();
        let display = directory.display();
        let case = config.to_toml()?;

        fs::create_dir_all(directory).map_err(|cause| {
            refused(format!("cannot create the output directory {display}: {cause}"))
        })?;

        // With the lock held, since another run may have come since the first look.
        let lock = output_folder::lock(directory)?;
        output_folder::check(config, None, earlier)?;
        let snapshots = remove_earlier(directory, resumption).map_err(|cause| {
            refused(format!("cannot remove the earlier results in {display}: {cause}"))
        })?;

        atomic::write(&directory.join(CASE), |file| file.write_all(case.as_bytes()))
            .map_err(|error| refused(error.to_string()))?;

        let history = directory.join(HISTORY);
        let columns = columns(&model.posed);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let history = match resumption {
            Some(resumption) => CsvFile::restore(&history, &columns, &resumption.history),
            None => CsvFile::create(&history, &columns),
        };
        let history = history.map_err(|error| refused(error.to_string()))?;

        Ok(Self {
            directory: directory.into(),
            model,
            marks: Marks::of(model),
            history,
            n_pieces: config.output.pieces,
            snapshot_every: config.output.snapshot_every,
            snapshots,
            compression: compression(config),
            _lock: lock,
        })
    }

    /// Writes a snapshot of the design of `iteration`.
    fn snapshot(&mut self, iteration: usize, fields: &Fields) -> Result<(), ObserverError> {
        let folder = self.directory.join(SNAPSHOTS);
        fs::create_dir_all(&folder)
            .map_err(|cause| format!("cannot create {}: {cause}", folder.display()))?;
        let name = format!("{SNAPSHOTS}/design_{iteration:04}.vtu");
        self.write_design(&self.directory.join(&name), &[], fields)?;
        self.snapshots.push((iteration as f64, name));
        Ok(pvd::write(&self.directory.join(SERIES), &self.snapshots)?)
    }

    /// Writes a row of the history; `output` is the time that files of the iteration took.
    fn row(&mut self, report: &IterationReport, output: Duration) -> Result<(), WriteError> {
        let times = &report.times;
        let own = self.model.posed.own_values(report);
        let row: [&dyn Display; 15] = [
            &report.iteration,
            &report.stage,
            &csv::number(report.compliance),
            &csv::number(report.volume_fraction),
            &csv::number(report.grey_level),
            &csv::number(report.change),
            &format!("{:e}", report.kkt_residual),
            &report.pcg_iterations,
            &format!("{:e}", report.pcg_residual),
            &times.setup.as_secs_f64(),
            &times.pcg.as_secs_f64(),
            &times.sensitivity.as_secs_f64(),
            &times.filter.as_secs_f64(),
            &times.update.as_secs_f64(),
            &output.as_secs_f64(),
        ];
        let own: Vec<String> = own.into_iter().map(csv::number).collect();
        let own = own.iter().map(|value| value as &dyn Display);
        self.history.row(&row.into_iter().chain(own).collect::<Vec<_>>())
    }

    /// The design in pieces, where these are asked for; those of before are taken away.
    fn write_pieces(&self, fields: &Fields) -> Result<(), ObserverError> {
        let folder = self.directory.join(PIECES);
        let failed = |cause| format!("cannot write to {}: {cause}", folder.display());
        remove_pieces(&self.directory).map_err(failed)?;
        let n = self.n_pieces.min(self.model.mesh.n_elements());
        if n == 0 {
            return Ok(());
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        let name = |piece: usize| format!("{PIECES}/piece_{piece:04}.vtu");
        let names: Vec<String> = (1..=n).map(name).collect();
        Ok(self.write_design(&self.directory.join(DESIGN_IN_PIECES), &names, fields)?)
    }

    /// The design in one file, or in `pieces` that the file lists.
    fn write_design(
        &self,
        path: &Path,
        pieces: &[String],
        fields: &Fields,
    ) -> Result<(), WriteError> {
        let array =
            |name, components, values| Array { name, components, values: Values::F64(values) };
        let nodal = fields.nodal.iter();
        let nodal: Vec<_> =
            nodal.map(|(name, values)| array(name.as_str(), N, values.as_slice())).collect();
        let mut cells = vec![
            array("density", 1, fields.density.as_slice()),
            array(K::NAMES.energy, 1, fields.energy.as_slice()),
        ];
        let material = fields.material.as_deref().map(Values::U8);
        cells.extend(material.map(|values| Array { name: MATERIAL, components: 1, values }));
        let fluxes = fields.fluxes.iter();
        cells.extend(fluxes.map(|(name, values)| array(name.as_str(), 3, values.as_slice())));
        cells.extend(self.marks.cells());
        let depth = fields.solid_depth.iter().map(|depth| array(SOLID_DEPTH, 1, depth));
        let points: Vec<_> = nodal.into_iter().chain(self.marks.points()).chain(depth).collect();

        let mesh = &self.model.mesh;
        let nodes = mesh.coordinates();
        match pieces {
            [] => vtu::write(path, nodes, mesh, &points, &cells, self.compression),
            pieces => pvtu::write(path, pieces, (nodes, mesh), [&points, &cells], self.compression),
        }
    }

    /// Density and energy on the cells of the mesh file, with their numbers there.
    fn write_uncut(&self, uncut: &UncutCells, fields: &Fields) -> Result<(), WriteError> {
        let density = uncut.means(&fields.density, &self.model.mesh.volumes());
        let energy = uncut.sums(fields.energy.iter().copied());
        let tags: Vec<i64> = uncut.tags.iter().map(|&tag| tag as i64).collect();
        let array = |name, values| Array { name, components: 1, values };
        let data = [
            array("density", Values::F64(&density)),
            array(K::NAMES.energy, Values::F64(&energy)),
            array("element", Values::I64(&tags)),
        ];
        let path = self.directory.join(UNCUT);
        vtu::write_cells(&path, &uncut.coordinates, &uncut.cells, &[], &data, self.compression)
    }

    /// The density of the element under each grid cell, 0 outside the part.
    fn write_grid(&self, grid: &UniformGrid, density: &[f64]) -> Result<(), WriteError> {
        let under = |&element: &u32| match element {
            UniformGrid::OUTSIDE => 0.0,
            element => density[element as usize] as f32,
        };
        let values: Vec<f32> = grid.locate(&self.model.mesh).iter().map(under).collect();
        let cells = [Array { name: "density", components: 1, values: Values::F32(&values) }];
        vti::write(&self.directory.join(GRID), grid, &cells, self.compression)
    }
}

impl<K: Physics<N>, const N: usize> StudyObserver for Results<'_, K, N> {
    fn wanted(&self, iteration: usize) -> Wanted {
        let every = self.snapshot_every;
        let is_snapshot = every > 0 && iteration.is_multiple_of(every);
        if is_snapshot { Wanted::Fields } else { Wanted::Numbers }
    }

    /// Writes a row of the history, and a snapshot where one is due.
    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        let iteration = design.report.iteration;
        let is_snapshot = self.wanted(iteration) == Wanted::Fields;
        if let Some(fields) = design.fields.filter(|_| is_snapshot) {
            self.snapshot(iteration, fields)?;
        }
        self.row(design.report, design.since.elapsed())?;
        Ok(ControlFlow::Continue(()))
    }

    /// Writes design.vtu, design.pvtu with its pieces, design_uncut.vtu, design.vti, design.pvd.
    fn last(&mut self, iteration: usize, fields: &Fields) -> Result<(), ObserverError> {
        let grid = || match &self.model.grid {
            Some(grid) => self.write_grid(grid, &fields.density),
            None => Ok(()),
        };
        let design = || -> Result<(), ObserverError> {
            self.write_design(&self.directory.join(DESIGN), &[], fields)?;
            self.write_pieces(fields)?;
            if let Some(uncut) = &self.model.uncut {
                self.write_uncut(uncut, fields)?;
            }
            Ok(())
        };
        let (design, grid) = rayon::join(design, grid);
        design?;
        grid?;
        self.snapshots.retain(|(time, _)| *time != iteration as f64);
        self.snapshots.push((iteration as f64, DESIGN.into()));
        Ok(pvd::write(&self.directory.join(SERIES), &self.snapshots)?)
    }

    /// Writes summary.json.
    fn end(&mut self, run: &RunSummary) -> Result<(), WriteError> {
        run.record.write(&self.directory)
    }
}

/// Removes what an earlier run left: its checkpoints, its summary, its design with verification and
/// report, its snapshots; or an earlier analysis. If the run is resumed, only verification and
/// report, and later checkpoints and snapshots, are removed. Returns the snapshots that stay.
fn remove_earlier(
    directory: &Path,
    resumption: Option<&Resumption>,
) -> io::Result<Vec<(f64, String)>> {
    for folder in ["", CHECKPOINTS, SNAPSHOTS, PIECES] {
        atomic::remove_leftovers(&directory.join(folder))?;
    }

    let last = resumption.map(|resumption| resumption.state.iteration);
    checkpoints(directory).remove_after(last.unwrap_or(0))?;
    if resumption.is_none() {
        remove_pieces(directory)?;
    }
    let of_run =
        [SUMMARY, DESIGN, PART, UNCUT, SERIES, GRID].into_iter().filter(|_| resumption.is_none());
    remove_files(directory, of_run.chain([SURFACE, VERIFIED, VERIFIED_DESIGN, REPORT]))?;
    remove_analysis(directory, None)?;
    remove_snapshots(directory, "design_", last)
}

/// Removes the files of an analysis from `directory`; of a resumed one only those after the step
/// `last`.
pub(crate) fn remove_analysis(directory: &Path, last: Option<usize>) -> io::Result<()> {
    let files = [ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE, TRANSIENT, ANALYSIS_SERIES];
    remove_files(directory, files)?;
    remove_snapshots(directory, "analysis_", last).map(drop)
}

/// Removes the snapshots named `start` and a number in `directory`: those after `last`, or all.
/// Returns those that stay, by their numbers.
fn remove_snapshots(
    directory: &Path,
    start: &str,
    last: Option<usize>,
) -> io::Result<Vec<(f64, String)>> {
    let stay = remove_numbered(&directory.join(SNAPSHOTS), start, last)?;
    let snapshots = stay.into_iter();
    Ok(snapshots.map(|(number, name)| (number as f64, format!("{SNAPSHOTS}/{name}"))).collect())
}

/// Removes the design in pieces.
fn remove_pieces(directory: &Path) -> io::Result<()> {
    remove_files(directory, [DESIGN_IN_PIECES])?;
    remove_numbered(&directory.join(PIECES), "piece_", None).map(drop)
}

/// Removes the `.vtu` files named `start` and a number in `folder`: those after `last`, or all,
/// with the folder where it is empty then. Returns those that stay, by their numbers.
fn remove_numbered(
    folder: &Path,
    start: &str,
    last: Option<usize>,
) -> io::Result<Vec<(usize, String)>> {
    let mut stay = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(stay) };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.strip_prefix(start).and_then(|name| name.strip_suffix(".vtu"));
        match number.and_then(|number| number.parse::<usize>().ok()) {
            Some(number) if last.is_none_or(|last| number > last) => fs::remove_file(&path)?,
            Some(number) => stay.push((number, name.into_owned())),
            None => {}
        }
    }

    let _ = fs::remove_dir(folder); // which the system does not where there are files

    stay.sort_by_key(|(number, _)| *number);
    Ok(stay)
}

/// Removes the files `names` from `directory`, where they are there.
pub(crate) fn remove_files<'n>(
    directory: &Path,
    names: impl IntoIterator<Item = &'n str>,
) -> io::Result<()> {
    for name in names {
        match fs::remove_file(directory.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

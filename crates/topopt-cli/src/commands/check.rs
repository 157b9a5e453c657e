//! `topopt check CASE`

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use topopt_fem::{Problem, Strategy};

use super::{Failure, run};
use crate::case::Case;
use crate::config::Config;
use crate::report::{Finding, InputError};
use crate::structure::Structure;

/// Builds everything but solves nothing, and says what a run would do.
pub(super) fn check(
    case: &Path,
    overrides: &[String],
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let config = Config::load(case, overrides)?;
    let structure = Structure::build(&config, Case::build(&config)?)?;
    check_writable(&config.output_directory())?;
    let forecast = Forecast::of(&config, &structure);
    if json {
        serde_json::to_writer_pretty(&mut *out, &forecast).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        forecast.print(out)?;
    }
    Ok(())
}

/// What can be known before running.
#[derive(Debug, Serialize)]
struct Forecast {
    case: String,
    title: Option<String>,
    nodes: usize,
    elements: usize,
    free_dofs: usize,
    held_components: usize,
    solid_elements: usize,
    loads: Vec<Load>,
    element_width: f64,
    filter_radius: Option<f64>,
    strategy: &'static str,
    /// Megabytes that a run needs, by strategy.
    memory_mb: Vec<(&'static str, f64)>,
    output_directory: PathBuf,
    max_iterations: usize,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// A load case.
#[derive(Debug, Serialize)]
struct Load {
    case: String,
    weight: f64,
    loaded_nodes: usize,
    sum_of_forces: [f64; 3],
}

impl Forecast {
    fn of(config: &Config, structure: &Structure) -> Self {
        let problem = &structure.problem;
        Self {
            case: config.path().display().to_string(),
            title: config.title.clone(),
            nodes: structure.mesh.n_nodes(),
            elements: structure.mesh.n_elements(),
            free_dofs: structure.n_free_dofs(),
            held_components: problem.supports().n_fixed(),
            solid_elements: structure.space.solid.len(),
            loads: loads(problem),
            element_width: structure.element_width,
            filter_radius: structure.filter_radius,
            strategy: run::strategy(config.solver.strategy).name(),
            memory_mb: Strategy::ALL.map(|s| (s.name(), memory_mb(config, problem, s))).into(),
            output_directory: config.output_directory(),
            max_iterations: config.optimizer.max_iterations,
            warnings: warnings(structure),
            notes: structure.notes.clone(),
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{}: {}", self.case, self.title.as_deref().unwrap_or("no title"))?;
        writeln!(out, "  elements         {} ({} solid)", self.elements, self.solid_elements)?;
        writeln!(out, "  nodes            {}", self.nodes)?;
        writeln!(out, "  unknowns         {} ({} held)", self.free_dofs, self.held_components)?;
        for load in &self.loads {
            let [x, y, z] = load.sum_of_forces;
            writeln!(
                out,
                "  load case        {}: {} nodes, in sum ({x}, {y}, {z}), weight {}",
                load.case, load.loaded_nodes, load.weight
            )?;
        }
        match self.filter_radius {
            Some(radius) => {
                let widths = radius / self.element_width;
                writeln!(out, "  filter radius    {radius:.6} ({widths:.2} element widths)")?;
            }
            None => writeln!(out, "  filter radius    no filter")?,
        }
        for (strategy, megabytes) in &self.memory_mb {
            let chosen = if *strategy == self.strategy { "  <- this run" } else { "" };
            writeln!(out, "  memory, {strategy:<8} {megabytes:.0} MB{chosen}")?;
        }
        writeln!(out, "  results          {}", self.output_directory.display())?;
        self.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))?;
        writeln!(out, "nothing stands in the way of `topopt run {}`", self.case)
    }
}

fn loads(problem: &Problem) -> Vec<Load> {
    let load = |case: &topopt_fem::LoadCase| {
        let forces = case.forces.as_chunks::<3>().0;
        Load {
            case: case.name.clone(),
            weight: case.weight,
            loaded_nodes: forces.iter().filter(|force| **force != [0.0; 3]).count(),
            sum_of_forces: std::array::from_fn(|i| forces.iter().map(|force| force[i]).sum()),
        }
    };
    problem.load_cases().iter().map(load).collect()
}

/// What a run needs: two meshes, nodal and element vectors, the operator, neighbour lists.
fn memory_mb(config: &Config, problem: &Problem, strategy: Strategy) -> f64 {
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let meshes = 2 * (24 * nodes + 32 * elements) + 4 * (nodes + elements);
    let nodal = 24 * nodes * (6 + 4 * problem.load_cases().len());
    let element = 8 * elements * 20;
    let bytes = meshes + nodal + element + strategy.bytes(nodes, elements);
    bytes as f64 / f64::from(1 << 20) + config.filter.get_ref().neighbour_memory_mb as f64
}

fn warnings(structure: &Structure) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(radius) = structure.filter_radius
        && radius <= structure.element_width
    {
        warnings.push(format!(
            "the filter radius {radius:.4} is not larger than an element ({:.4}): it hardly \
             filters, and checkerboards are likely",
            structure.element_width
        ));
    }
    for case in loads(&structure.problem) {
        if case.loaded_nodes > 1 && case.sum_of_forces.iter().all(|f| f.abs() < 1e-12) {
            warnings.push(format!("the forces of load case `{}` cancel out in sum", case.case));
        }
    }
    warnings
}

/// Whether a run could make and write the folder: tried on the nearest folder that exists.
fn check_writable(directory: &Path) -> Result<(), InputError> {
    let existing = directory.ancestors().find(|folder| folder.exists() && *folder != Path::new(""));
    let existing = existing.unwrap_or(Path::new("."));
    let probe = existing.join(format!(".topopt-check-{}", std::process::id()));
    let tried = std::fs::File::create_new(&probe).and_then(|_| std::fs::remove_file(&probe));
    tried.map_err(|cause| {
        let message = format!("cannot write to {}: {cause}", directory.display());
        let remedy = "choose another folder with `output.directory`";
        InputError::from(Finding::new(message).remedy(remedy))
    })
}

//! `topopt check CASE`

mod design;
mod heat;
mod load;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use topopt_mesh::numbers::shown;
use topopt_study::analysis;
use topopt_study::case::Case;
use topopt_study::case_loads::CaseLoads;
use topopt_study::computer::{Computer, Needs, Visitor};
use topopt_study::config::{self, Config, PhysicsKind};
use topopt_study::doubts;
use topopt_study::failure::Failure;
use topopt_study::finding::InputError;
use topopt_study::interrupt::Interrupt;
use topopt_study::materials::MaterialShare;
use topopt_study::model::Model;
use topopt_study::output_folder::{self, Earlier};
use topopt_study::place::Place;
use topopt_study::thread_pool::thread_pool;

use super::info::{Shape, ratio};
use super::preview;
use crate::args::CheckArgs;
use design::Designed;
use load::{Load, count, mean_density, nodes, sum};

/// Builds everything but solves nothing, and says what a run would do and how long that may take by
/// measuring the steps of a solve. The preview is written
/// before supports and loads are looked at, to show what is wrong with them.
pub(super) fn check(
    args: &CheckArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut config = Config::load_for_analysis(&args.case, &args.set)?;
    if is_designed(&config) {
        config = Config::load(&args.case, &args.set)?;
    } else {
        config.output.directory = Some(analysis::default_directory(&config));
    }

    output_folder::check(&config, None, Earlier::Replace).map_err(InputError::from)?;
    if let Some(path) = &args.preview {
        let mesh = config.mesh_path();
        let inputs: Vec<_> = mesh.iter().map(PathBuf::as_path).collect();
        output_folder::check_file(path, &["vtu"], &inputs).map_err(InputError::from)?;
    }

    if config.physics.kind == PhysicsKind::Heat {
        return heat::check(&config, args, out, interrupt);
    }
    let case = Case::build_until(&config, &(&args.gmsh).into(), interrupt)?;
    if let Some(path) = &args.preview {
        preview::write(path, &config, &case).map_err(InputError::from)?;
        say_preview(path, args, out)?;
    }

    let forecast = thread_pool(config.solver.threads)?.install(|| {
        let loads = case.load_cases.clone();
        let place = Place::find(config.solver.device).map_err(InputError::from)?;
        let model = Model::build(&config, case, place.needs_colors(&config))?;
        Forecast::of(&config, &model, &loads, &place)
    })?;

    if args.json {
        serde_json::to_writer_pretty(&mut *out, &forecast).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        forecast.print(out)?;
    }
    Ok(())
}

/// Says that the preview was written, where what is printed is for people.
fn say_preview(path: &Path, args: &CheckArgs, out: &mut impl Write) -> std::io::Result<()> {
    if args.json { Ok(()) } else { writeln!(out, "wrote {}", path.display()) }
}

/// Whether a case is one for `topopt run`, and not for `topopt solve` alone.
fn is_designed(config: &Config) -> bool {
    let has_filter = config.physics.kind == PhysicsKind::Elasticity && config.gives("filter");
    config.gives("design") || has_filter
}

/// What can be known before running.
#[derive(Debug, Serialize)]
struct Forecast {
    case: String,
    title: Option<String>,
    units: Option<config::Units>,
    nodes: usize,
    elements: usize,
    element_width: f64,
    extent: [f64; 3],
    quality: Shape,
    connected_parts: usize,
    coincident_nodes: usize,
    hanging_nodes: usize,
    free_dofs: usize,
    held_nodes: usize,
    held_components: usize,
    /// Nodes tied to the ground, and the sum of the stiffness of their springs.
    spring_nodes: usize,
    spring_stiffness: [f64; 3],
    loads: Vec<Load>,
    /// What the elements are made of, `[material]` first.
    materials: Vec<MaterialShare>,
    solid_elements: usize,
    /// Those of them that stay solid at loads and supports alone.
    kept_elements: usize,
    void_elements: usize,
    /// Nothing of a case for `topopt solve` alone.
    #[serde(flatten)]
    design: Option<Designed>,
    device: String,
    strategy: &'static str,
    /// Megabytes that a run needs, by strategy.
    memory_mb: BTreeMap<&'static str, f64>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Forecast {
    fn of(
        config: &Config,
        model: &Model,
        loads: &[CaseLoads],
        place: &Place,
    ) -> Result<Self, Failure> {
        let (is_designed, diagnosis) = (is_designed(config), &model.diagnosis);
        let (problem, space) = (&model.problem, &model.space);
        let density = if is_designed { mean_density(config, model) } else { 1.0 };
        let cases = problem.load_cases().iter().zip(loads);
        let loads: Vec<Load> =
            cases.map(|(case, load)| Load::of(case, load, config, density)).collect();
        let supports = problem.supports();
        let springs = supports.springs().map_or([].as_slice(), |springs| springs.as_chunks().0);
        let is_held = |&n: &usize| (0..3).any(|i| supports.is_fixed(n, i));

        let Needs { strategy, memory_mb } = place.visit(Planned { config, model })?;

        Ok(Self {
            case: config.path().display().to_string(),
            title: config.title.clone(),
            units: config.units,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            element_width: model.element_width,
            extent: model.mesh.bounding_box().extent(),
            free_dofs: model.n_free_dofs(),
            held_nodes: (0..supports.n_nodes()).filter(is_held).count(),
            held_components: supports.n_fixed(),
            spring_nodes: count(springs),
            spring_stiffness: sum(springs),
            warnings: match is_designed {
                true => doubts::of(config, model),
                false => doubts::of_part(config, model),
            },
            quality: Shape::new(&diagnosis.quality, &diagnosis.worst_elements),
            connected_parts: diagnosis.connected_parts,
            coincident_nodes: diagnosis.coincident_nodes,
            hanging_nodes: diagnosis.hanging_nodes,
            loads,
            materials: model.materials.clone(),
            solid_elements: space.solid.len(),
            kept_elements: model.kept.elements.len(),
            void_elements: space.void.len(),
            design: is_designed.then(|| Designed::of(config, model, place)).transpose()?,
            device: place.name(),
            strategy,
            memory_mb,
            notes: model.notes.clone(),
        })
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        match &self.title {
            Some(title) => writeln!(out, "{}: {title}", self.case)?,
            None => writeln!(out, "{}", self.case)?,
        }
        for (name, text) in self.rows() {
            writeln!(out, "  {name:<15}  {text}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))?;
        let command = if self.design.is_some() { "run" } else { "solve" };
        writeln!(out, "ready for `topopt {command} {}`", self.case)
    }

    /// Name and text of each line for people.
    fn rows(&self) -> Vec<(&str, String)> {
        let [x, y, z] = self.extent.map(shown);
        let width = shown(self.element_width);
        let held = self.held_components;
        let mut rows = vec![
            ("elements", format!("{} of mean width {width}", self.elements)),
            ("nodes", self.nodes.to_string()),
            ("extent", format!("{x} x {y} x {z}")),
            ("quality", self.quality_text()),
            ("supports", format!("{}, {held} displacements held", nodes(self.held_nodes))),
            ("unknowns", format!("{} displacements", self.free_dofs)),
        ];

        rows.extend(self.units.map(|units| ("units", units.text())));
        rows.extend((self.spring_nodes > 0).then(|| {
            let [x, y, z] = self.spring_stiffness.map(shown);
            let tied = nodes(self.spring_nodes);
            ("springs", format!("{tied}, stiffness adds up to ({x}, {y}, {z})"))
        }));
        rows.extend(self.loads.iter().map(|load| ("load case", load.text())));

        if self.materials.iter().any(|material| material.set.is_some()) {
            rows.extend(self.materials.iter().map(|material| ("made of", made_of(material))));
        }
        for (name, n) in
            [("solid elements", self.solid_elements), ("void elements", self.void_elements)]
        {
            rows.extend((n > 0).then(|| (name, n.to_string())));
        }
        rows.extend(self.design.iter().flat_map(Designed::rows));
        rows.push(("device", self.device.clone()));
        rows.push(("strategy", self.strategy.to_owned()));
        rows.push(("memory", self.memory_text()));
        rows.extend(self.design.iter().flat_map(Designed::outlook));
        rows
    }

    fn quality_text(&self) -> String {
        let Shape { scaled_jacobian, aspect_ratio, worst_elements, .. } = &self.quality;
        let worst = worst_elements.first().copied().unwrap_or(0);
        format!(
            "scaled Jacobian {:.3} (element {worst}) to {:.3}, aspect ratio up to {}",
            scaled_jacobian.min,
            scaled_jacobian.max,
            ratio(&aspect_ratio.max)
        )
    }

    fn memory_text(&self) -> String {
        let chosen = self.memory_mb.get(self.strategy);
        let mut parts: Vec<_> = chosen.iter().map(|mb| format!("about {mb:.0} MB")).collect();
        let others = self.memory_mb.iter().filter(|(strategy, _)| **strategy != self.strategy);
        parts.extend(others.map(|(strategy, megabytes)| format!("{megabytes:.0} with {strategy}")));
        parts.join(", ")
    }
}

fn made_of(material: &MaterialShare) -> String {
    let density = material.mass_density.map(|d| format!(", mass density {d}"));
    let coefficient = material.coefficient;
    let (name, n) = (material.name(), material.elements);
    let elements = if n == 1 { "element" } else { "elements" };
    let what = if material.conductivity.is_some() { "conductivity" } else { "Young's modulus" };
    format!("{name}: {n} {elements}, {what} {coefficient}{}", density.unwrap_or_default())
}

/// A case, to find out what it needs on any computer.
struct Planned<'a> {
    config: &'a Config,
    model: &'a Model,
}

impl Visitor for Planned<'_> {
    type Output = Needs;

    fn visit<C: Computer>(self, computer: &C) -> Result<Needs, Failure> {
        computer.needs(self.config, self.model.subject())
    }
}

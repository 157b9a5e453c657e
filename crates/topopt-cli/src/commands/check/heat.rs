//! `topopt check CASE` of heat.

use std::io::Write;

use serde::Serialize;
use topopt_fem::Diffusion;
use topopt_mesh::Components;
use topopt_mesh::numbers::shown;
use topopt_study::case::Case;
use topopt_study::computer::{Computer, Needs, Visitor};
use topopt_study::config::Config;
use topopt_study::doubts;
use topopt_study::failure::Failure;
use topopt_study::finding::InputError;
use topopt_study::interrupt::Interrupt;
use topopt_study::materials::MaterialShare;
use topopt_study::model::Model;
use topopt_study::place::Place;
use topopt_study::thread_pool::thread_pool;

use super::say_preview;
use crate::args::CheckArgs;
use crate::commands::preview;

/// What can be known of heat before it is solved.
#[derive(Debug, Serialize)]
struct Forecast {
    case: String,
    title: Option<String>,
    nodes: usize,
    elements: usize,
    element_width: f64,
    connected_parts: usize,
    free_dofs: usize,
    /// Nodes whose temperature is held.
    held_nodes: usize,
    /// Nodes with convection, and the sum of film coefficient times area.
    convection_nodes: usize,
    convection: f64,
    loads: Vec<Heat>,
    materials: Vec<MaterialShare>,
    time_steps: Option<usize>,
    device: String,
    strategy: &'static str,
    memory_mb: f64,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// What acts in a load case.
#[derive(Debug, Serialize)]
struct Heat {
    name: String,
    weight: f64,
    /// Nodes with heat, and its sum, that of a warm ambient included.
    nodes: usize,
    total: f64,
}

/// Builds everything and solves nothing.
pub(super) fn check(
    config: &Config,
    args: &CheckArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let case = Case::<1>::of::<Diffusion>(config, &(&args.gmsh).into(), interrupt)?;
    if let Some(path) = &args.preview {
        preview::write_heat(path, &case).map_err(InputError::from)?;
        say_preview(path, args, out)?;
    }
    let forecast = thread_pool(config.solver.threads)?.install(|| {
        let place = Place::find(config.solver.device).map_err(InputError::from)?;
        let model = Model::<Diffusion, 1>::build(config, case, place.needs_colors(config))?;
        Forecast::of(config, &model, &place)
    })?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &forecast).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    Ok(forecast.print(out)?)
}

/// What a solve needs where it is computed.
struct Needed<'a> {
    config: &'a Config,
    model: &'a Model<Diffusion, 1>,
}

impl Visitor for Needed<'_> {
    type Output = Needs;

    fn visit<C: Computer>(self, computer: &C) -> Result<Needs, Failure> {
        computer.needs(self.config, self.model.subject())
    }
}

impl Forecast {
    fn of(config: &Config, model: &Model<Diffusion, 1>, place: &Place) -> Result<Self, Failure> {
        let Needs { strategy, memory_mb } = place.visit(Needed { config, model })?;
        let (problem, mesh) = (&model.problem, &model.mesh);
        let films = problem.constraints().springs().unwrap_or_default();
        let loads = problem.load_cases().iter().map(|case| Heat {
            name: case.name.clone(),
            weight: case.weight,
            nodes: case.forces.iter().filter(|heat| **heat != 0.0).count(),
            total: case.forces.iter().sum(),
        });
        Ok(Self {
            case: config.path().display().to_string(),
            title: config.title.clone(),
            nodes: mesh.n_nodes(),
            elements: mesh.n_elements(),
            element_width: model.element_width,
            connected_parts: Components::of(mesh).n_components(),
            free_dofs: model.n_free_dofs(),
            held_nodes: problem.constraints().n_fixed(),
            convection_nodes: films.iter().filter(|film| **film > 0.0).count(),
            convection: films.iter().sum(),
            loads: loads.collect(),
            materials: model.materials.clone(),
            time_steps: config.transient.as_ref().map(|transient| transient.times().len()),
            device: place.name(),
            strategy,
            memory_mb: memory_mb.get(strategy).copied().unwrap_or_default(),
            warnings: match config.gives("design") {
                true => doubts::of(config, model),
                false => doubts::of_part(config, model),
            },
            notes: model.notes.iter().cloned().chain(place.note().map(str::to_owned)).collect(),
        })
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{}", self.title.as_ref().unwrap_or(&self.case))?;
        for (name, text) in self.rows() {
            writeln!(out, "  {name:<22}  {text}")?;
        }
        let warnings = self.warnings.iter().map(|text| ("warning", text));
        let notes = self.notes.iter().map(|text| ("note", text));
        warnings.chain(notes).try_for_each(|(what, text)| writeln!(out, "  {what}: {text}"))
    }

    fn rows(&self) -> Vec<(String, String)> {
        let row = |name: &str, text: String| (name.to_owned(), text);
        let mut rows = vec![
            row(
                "mesh",
                format!(
                    "{} elements of width {}, {} nodes, {} connected",
                    self.elements,
                    shown(self.element_width),
                    self.nodes,
                    if self.connected_parts == 1 {
                        "all".into()
                    } else {
                        format!("{} parts", self.connected_parts)
                    },
                ),
            ),
            row("unknowns", format!("{}, {} temperatures held", self.free_dofs, self.held_nodes)),
        ];
        if self.convection_nodes > 0 {
            let text = format!(
                "{} nodes, film coefficient times area {}",
                self.convection_nodes,
                shown(self.convection)
            );
            rows.push(row("convection", text));
        }
        for Heat { name, weight, nodes, total } in &self.loads {
            let weight = if *weight == 1.0 { String::new() } else { format!(", weight {weight}") };
            let text = format!("{} into {nodes} nodes{weight}", shown(*total));
            rows.push(row(&format!("heat of {name}"), text));
        }
        for material in &self.materials {
            let conductivity = material.conductivity.map_or_else(String::new, |k| k.to_string());
            let text = format!("{} elements, conductivity {conductivity}", material.elements);
            rows.push(row(&material.name(), text));
        }
        rows.extend(self.time_steps.map(|steps| row("time steps", steps.to_string())));
        let memory = format!("{} on {}, {:.0} MB", self.strategy, self.device, self.memory_mb);
        rows.push(row("solver", memory));
        rows
    }
}

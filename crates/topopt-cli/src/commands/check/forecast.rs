//! Forecast of a run, from its case.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::{self, Config};
use topopt_case::materials::MaterialShare;
use topopt_case::model::Model;
use topopt_mesh::numbers::shown;
use topopt_study::computer::Needs;
use topopt_study::doubts;
use topopt_study::failure::Failure;
use topopt_study::place::Place;
use topopt_study::studied::Studied;

use super::design::{Designed, is_designed};
use crate::commands::info::{Shape, ratio};

/// Report on the supports and loads of a part, by its physics.
pub(super) trait Acting<const N: usize>: Serialize + Sized + Send {
    /// The physics.
    type Kernel: Studied<N>;

    /// Sums up the entries of `[[loads]]` per load case.
    fn given(config: &Config, case: &Case<N>) -> Vec<CaseLoads<N>>;

    /// Builds the report.
    fn of(config: &Config, model: &Model<Self::Kernel, N>, loads: &Loads<N>) -> Self;

    /// Name and text of its lines for people; `free` unknowns are not held.
    fn rows(&self, free: usize) -> Vec<(&'static str, String)>;

    /// Text of the line on units.
    fn units(units: config::Units) -> String;

    /// Text of the line on a material.
    fn made_of(material: &MaterialShare) -> String;

    /// Whether the lines on materials are shown of a single one, too.
    const SHOWS_ONE_MATERIAL: bool;
}

/// The load cases of a part, by nodes as the user numbers them.
pub(super) struct Loads<const N: usize> {
    /// Loads of `[[loads]]` alone, per load case.
    pub given: Vec<CaseLoads<N>>,
    /// Loads of `[[loads]]` and of an ambient, per load case.
    pub all: Vec<CaseLoads<N>>,
}

/// Forecast of a run.
#[derive(Debug, Serialize)]
pub(super) struct Forecast<A> {
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
    #[serde(flatten)]
    acting: A,
    /// Materials of the elements, `[material]` first.
    materials: Vec<MaterialShare>,
    solid_elements: usize,
    /// Solid elements that stay solid only because they are at loads and supports.
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

impl<A> Forecast<A> {
    pub fn of<const N: usize>(
        config: &Config,
        model: &Model<A::Kernel, N>,
        acting: A,
        place: &Place,
    ) -> Result<Self, Failure>
    where
        A: Acting<N>,
    {
        let Needs { strategy, memory_mb } = A::Kernel::needs(config, model, place)?;
        let (is_designed, diagnosis) = (is_designed(config), &model.diagnosis);
        let design = is_designed.then(|| Designed::of(config, model, place)).transpose()?;

        Ok(Self {
            case: config.path().display().to_string(),
            title: config.title.clone(),
            units: config.units,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            element_width: model.element_width,
            extent: model.mesh.bounding_box().extent(),
            free_dofs: model.n_free_dofs(),
            warnings: match is_designed {
                true => doubts::of(config, model),
                false => doubts::of_part(config, model),
            },
            quality: Shape::new(&diagnosis.quality, &diagnosis.worst_elements),
            connected_parts: diagnosis.connected_parts,
            coincident_nodes: diagnosis.coincident_nodes,
            hanging_nodes: diagnosis.hanging_nodes,
            acting,
            materials: model.materials.clone(),
            solid_elements: model.space.solid.len(),
            kept_elements: model.kept.elements.len(),
            void_elements: model.space.void.len(),
            design,
            device: place.name(),
            strategy,
            memory_mb,
            notes: model
                .notes
                .iter()
                .cloned()
                .chain(place.note_on_precision(&config.solver))
                .collect(),
        })
    }

    pub fn print<const N: usize>(&self, out: &mut dyn Write) -> std::io::Result<()>
    where
        A: Acting<N>,
    {
        match &self.title {
            Some(title) => writeln!(out, "{}: {title}", self.case)?,
            None => writeln!(out, "{}", self.case)?,
        }
        for (name, text) in self.rows::<N>() {
            writeln!(out, "  {name:<15}  {text}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))?;
        let command = if self.design.is_some() { "run" } else { "solve" };
        writeln!(out, "ready for `topopt {command} {}`", self.case)
    }

    /// Name and text of each line for people.
    fn rows<const N: usize>(&self) -> Vec<(&str, String)>
    where
        A: Acting<N>,
    {
        let [x, y, z] = self.extent.map(shown);
        let width = shown(self.element_width);

        let mut rows = vec![
            ("elements", format!("{} of mean width {width}", self.elements)),
            ("nodes", self.nodes.to_string()),
            ("extent", format!("{x} x {y} x {z}")),
            ("quality", self.quality_text()),
        ];
        rows.extend(self.units.map(|units| ("units", A::units(units))));
        rows.extend(self.acting.rows(self.free_dofs));

        if A::SHOWS_ONE_MATERIAL || self.materials.iter().any(|material| material.set.is_some()) {
            rows.extend(self.materials.iter().map(|material| ("made of", A::made_of(material))));
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

//! `topopt info FILE`

mod faces;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use topopt_case::deck_case;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing;
use topopt_io::ImportedMesh;
use topopt_mesh::Components;
use topopt_mesh::numbers::{rounded, shown};
use topopt_mesh::quality::{Quality, QualitySummary, Spread};
use topopt_study::failure::Failure;

use super::json;
use crate::args::InfoArgs;

/// Reads a mesh file and says what is in it, or which faces a geometry has.
pub(super) fn info(
    args: &InfoArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let InfoArgs { file, json, gmsh, .. } = args;
    if args.faces {
        return faces::faces(args, out, interrupt);
    }
    let imported =
        meshing::read(file, &meshing::plain(&gmsh.into()), interrupt).map_err(InputError::from)?;
    let info = Info::of(file, &imported);
    if *json {
        json::print(&info, out)
    } else {
        writeln!(out, "{}", file.display())?;
        Ok(info.print(out)?)
    }
}

/// Report on a mesh; elements by their numbers in the file.
#[derive(Debug, Serialize)]
struct Info {
    nodes: usize,
    elements: usize,
    sets: Vec<Set>,
    bounding_box: Box3,
    volume: f64,
    element_width: f64,
    quality: Shape,
    components: usize,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Set {
    name: String,
    kind: &'static str,
    count: usize,
}

#[derive(Debug, Serialize)]
struct Box3 {
    min: [f64; 3],
    max: [f64; 3],
}

/// Shape of the elements.
#[derive(Debug, Serialize)]
pub(super) struct Shape {
    /// 1 is best.
    pub scaled_jacobian: Range,
    /// 1 is best.
    pub aspect_ratio: Range,
    /// Numbers of up to ten elements of the smallest scaled Jacobian, worst first, each once:
    /// pieces of a cell that was cut have its number.
    pub worst_elements: Vec<u64>,
    /// Elements by tenths of the scaled Jacobian.
    pub histogram: [usize; 10],
}

/// Values over all elements.
#[derive(Debug, Serialize)]
pub(super) struct Range {
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Info {
    fn of(file: &Path, imported: &ImportedMesh) -> Self {
        let mesh = &imported.mesh;
        let bounds = mesh.bounding_box();
        let quality = Quality::of(mesh).summary();
        let worst: Vec<u64> =
            quality.worst.iter().map(|&e| imported.element_tags[e as usize]).collect();
        let (_, lost) = deck_case::case_of(file, imported);
        let lost: Vec<String> =
            lost.iter().map(|what| format!("not carried over: {what}")).collect();

        let set = |(name, kind, count): (String, topopt_mesh::SetKind, usize)| Set {
            name,
            kind: kind.name(),
            count,
        };

        Self {
            nodes: mesh.n_nodes(),
            elements: mesh.n_elements(),
            sets: mesh.sets().summary().into_iter().map(set).collect(),
            bounding_box: Box3 { min: bounds.min, max: bounds.max },
            volume: mesh.volumes().iter().sum(),
            element_width: mesh.element_width(),
            quality: Shape::new(&quality, &worst),
            components: Components::of(mesh).n_components(),
            notes: [&imported.notes[..], &imported.remarks, &lost].concat(),
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Box3 { min, max } = self.bounding_box;
        let [x, y, z] = std::array::from_fn(|i| shown(max[i] - min[i]));
        let (from, to) = (min.map(rounded), max.map(rounded));
        let Shape { scaled_jacobian, aspect_ratio, worst_elements, .. } = &self.quality;

        writeln!(out, "  nodes            {}", self.nodes)?;
        writeln!(out, "  elements         {}", self.elements)?;
        writeln!(out, "  connected parts  {}", self.components)?;
        writeln!(out, "  extent           {x} x {y} x {z}")?;
        writeln!(out, "  from, to         {from:?}, {to:?}")?;
        writeln!(out, "  volume           {}", shown(self.volume))?;

        let width = shown(self.element_width);
        writeln!(out, "  element width    {width} (cube root of the volume, mean over the part)")?;

        let Range { min, mean, .. } = scaled_jacobian;
        let worst = worst_elements.first().copied().unwrap_or(0);
        writeln!(
            out,
            "  scaled Jacobian  smallest {min:.3} (element {worst}), mean {mean:.3}; 1 is best"
        )?;

        let Range { mean, max, .. } = aspect_ratio;
        let [max, mean] = [max, mean].map(ratio);
        writeln!(out, "  aspect ratio     largest {max}, mean {mean}; 1 is best")?;

        let width = self.sets.iter().map(|set| set.name.len()).max().unwrap_or(0);
        for (i, Set { name, kind, count }) in self.sets.iter().enumerate() {
            let title = if i == 0 { "sets" } else { "" };
            writeln!(out, "  {title:<15}  {name:<width$}  {count} {kind}s")?;
        }

        for note in &self.notes {
            writeln!(out, "  note: {note}")?;
        }
        Ok(())
    }
}

impl Shape {
    /// The shape of elements with this summary, by the numbers of the worst, each once.
    pub fn new(summary: &QualitySummary, worst_elements: &[u64]) -> Self {
        let range = |Spread { min, mean, max }: Spread| Range { min, mean, max };
        let mut seen = HashSet::new();
        let worst_elements = worst_elements.iter().copied().filter(|e| seen.insert(*e)).collect();
        Self {
            scaled_jacobian: range(summary.scaled_jacobian),
            aspect_ratio: range(summary.aspect_ratio),
            worst_elements,
            histogram: summary.histogram,
        }
    }
}

/// An aspect ratio for people.
pub(super) fn ratio(ratio: &f64) -> String {
    match *ratio {
        r if !r.is_finite() => "infinite: an edge has zero length".into(),
        r if r < 1e6 => format!("{r:.3}"),
        r => format!("{r:.3e}"),
    }
}

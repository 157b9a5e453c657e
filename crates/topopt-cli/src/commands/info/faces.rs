//! `topopt info FILE --faces`

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use topopt_case::face_entries::{color_text, columns, entry, lines};
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing;
use topopt_io::atomic;
use topopt_io::gmsh::{Form, PartFace, PartFaces};
use topopt_report::{FaceRow, Faces, Fact};
use topopt_study::failure::Failure;
use topopt_study::output_folder;
use topopt_surface::TriangleSurface;

use crate::args::InfoArgs;
use crate::commands::json;

/// Lists the faces of a geometry.
pub(super) fn faces(
    args: &InfoArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let InfoArgs { file, json, gmsh, .. } = args;
    let part =
        meshing::faces(file, &meshing::by(&gmsh.into()), interrupt).map_err(InputError::from)?;
    if let Some(path) = &args.page {
        write_page(path, file, &part)?;
    }
    if *json {
        let faces: Vec<Face> = part.faces.iter().map(Face::of).collect();
        return json::print(&faces, out);
    }
    print(file, &part, out)?;
    if let Some(path) = &args.page {
        writeln!(out, "\n# wrote {}", path.display())?;
    }
    Ok(())
}

/// Prints the faces so that all of it may stand in a case file.
fn print(file: &Path, part: &PartFaces, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "# {}: {} faces", file.display(), part.faces.len())?;
    lines(part).iter().try_for_each(|line| writeln!(out, "# {line}"))?;
    part.notes.iter().try_for_each(|note| writeln!(out, "# note: {note}"))?;
    part.faces.iter().try_for_each(|face| write!(out, "\n{}", entry(part, face)))
}

/// Writes the page on which the faces are drawn.
fn write_page(path: &Path, file: &Path, part: &PartFaces) -> Result<(), Failure> {
    output_folder::check_file(path, &["html"], &[]).map_err(InputError::from)?;
    let surface = TriangleSurface::new(part.vertices.clone(), part.triangles.clone());
    let number = |&place: &u32| part.faces[place as usize].number;
    let row = |face: &PartFace| FaceRow {
        number: face.number,
        color: face.color.map(|[r, g, b]| u32::from_be_bytes([0, r, g, b])),
        columns: columns(face)[1..].to_vec(),
    };
    let entries: Vec<String> = part.faces.iter().map(|face| entry(part, face)).collect();
    let page = Faces {
        title: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        headline: vec![Fact::new("Faces", part.faces.len().to_string())],
        warnings: part.notes.clone(),
        surface: &surface,
        of_triangles: part.of_triangles.iter().map(number).collect(),
        faces: part.faces.iter().map(row).collect(),
        entries: entries.join("\n"),
    };
    let html = page.html();
    atomic::write(path, |file| file.write_all(html.as_bytes()))
        .map_err(|error| InputError::from(Finding::new(error.to_string())).into())
}

/// A face, for programs.
#[derive(Debug, Serialize)]
struct Face<'a> {
    number: u32,
    name: Option<&'a str>,
    color: Option<String>,
    kind: &'static str,
    /// Radius of a cylinder, a sphere or the tube of a torus.
    radius: Option<f64>,
    /// Radius of the ring of a torus.
    ring_radius: Option<f64>,
    /// Half of the angle of a cone, in degrees.
    half_angle: Option<f64>,
    /// Axis, or the outward normal of a plane.
    axis: Option<[f64; 3]>,
    hollow: Option<bool>,
    area: f64,
    center: [f64; 3],
}

impl<'a> Face<'a> {
    fn of(face: &'a PartFace) -> Self {
        let (ring_radius, half_angle) = match face.form {
            Form::Torus { ring, .. } => (Some(ring), None),
            Form::Cone { half_angle, .. } => (None, Some(half_angle.to_degrees())),
            _ => (None, None),
        };
        Self {
            number: face.number,
            name: face.name.as_deref(),
            color: face.color.map(color_text),
            kind: face.form.kind(),
            radius: face.form.radius(),
            ring_radius,
            half_angle,
            axis: face.form.axis(),
            hollow: face.is_inner,
            area: face.area,
            center: face.center,
        }
    }
}

//! `topopt info FILE --faces`

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use topopt_case::face_entries::{color_text, entry, lines};
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing;
use topopt_io::gmsh::{Form, PartFace, PartFaces};
use topopt_study::failure::Failure;

use crate::args::InfoArgs;

/// Lists the faces of a geometry.
pub(super) fn faces(
    args: &InfoArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let InfoArgs { file, json, gmsh, .. } = args;
    let part =
        meshing::faces(file, &meshing::by(&gmsh.into()), interrupt).map_err(InputError::from)?;
    if *json {
        let faces: Vec<Face> = part.faces.iter().map(Face::of).collect();
        return super::print_json(&faces, out);
    }
    Ok(print(file, &part, out)?)
}

/// Prints the faces so that all of it may stand in a case file.
fn print(file: &Path, part: &PartFaces, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "# {}: {} faces", file.display(), part.faces.len())?;
    lines(part).iter().try_for_each(|line| writeln!(out, "# {line}"))?;
    part.notes.iter().try_for_each(|note| writeln!(out, "# note: {note}"))?;
    part.faces.iter().try_for_each(|face| write!(out, "\n{}", entry(part, face)))
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

//! Faces of a part as text: a line each, and as entries of `[[select]]`.

use topopt_io::gmsh::{PartFace, PartFaces, clean};
use topopt_mesh::numbers::{place, shown};

use crate::geometry_faces;

/// Describes each face in a line of columns, `[n_faces]`: number, form, direction, area, center,
/// and what the file calls it.
pub fn lines(part: &PartFaces) -> Vec<String> {
    let rows: Vec<[String; 6]> = part.faces.iter().map(columns).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
    rows.iter().map(|row| aligned(row, &widths)).collect()
}

fn aligned(row: &[String; 6], widths: &[usize; 6]) -> String {
    let number = format!("{:>1$}", row[0], widths[0]);
    let others = (1..6).map(|column| format!("{:<1$}", row[column], widths[column]));
    let line: Vec<String> = std::iter::once(number).chain(others).collect();
    line.join("  ").trim_end().to_owned()
}

/// Writes the entry of `[[select]]` that takes a face, with a comment that describes it.
pub fn entry(part: &PartFaces, face: &PartFace) -> String {
    let [_, form, direction, area, center, called] = columns(face);
    let texts = [form, direction, area, center, called].into_iter();
    let comment: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    let comment = comment.join("; ");
    let name = toml::Value::from(set_name(part, face));
    format!(
        "[[select]]   # {comment}\nname = {name}\nkind = \"faces\"\nfaces = [{}]\n",
        face.number
    )
}

/// Name for the set of a face: that of the file, if no other face and no set has it.
pub fn set_name(part: &PartFaces, face: &PartFace) -> String {
    let is_alone = || part.faces.iter().filter(|other| other.name == face.name).count() == 1;
    match &face.name {
        Some(name) if !part.are_sets && is_alone() => name.clone(),
        _ => geometry_faces::set_name(face.number),
    }
}

/// Writes a color as browsers and programs for drawing do.
pub fn color_text([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Describes a face in columns: number, form, direction, area, center, and what the file calls it.
pub fn columns(face: &PartFace) -> [String; 6] {
    let form = match face.is_inner {
        Some(true) => format!("{}, hollow", face.form.text()),
        _ => face.form.text(),
    };
    let name = face.name.iter().map(|name| format!("\"{name}\""));
    let called: Vec<String> = name.chain(face.color.map(color_text)).collect();
    [
        face.number.to_string(),
        form,
        face.form.direction_text(),
        format!("area {}", shown(face.area)),
        format!("center {}", place(clean(face.center))),
        called.join(" "),
    ]
}

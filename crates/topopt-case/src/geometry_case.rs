//! The text of a case file for a geometry: its mesh, and its faces to choose supports and loads
//! from.

use std::fmt::Write;
use std::path::Path;

use topopt_io::gmsh::{PartFace, PartFaces};

use crate::face_entries::lines;
use crate::geometry_faces::are_same;

/// Writes a case for the geometry at `file`, by its name from the folder of the case. Supports and
/// loads are comments, on faces that are likely: bores of a pattern, and the largest other bore.
pub fn case_of(file: &Path, part: &PartFaces) -> String {
    let name = file.display();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let size = match part.usual_size {
        Some(size) => {
            let size: f64 = format!("{size:.1e}").parse().unwrap_or(size);
            format!(
                "element_size = {size:?}     # largest edge: about 20,000 elements, more in thin walls"
            )
        }
        None => "# element_size = 2.0     # largest edge; by default as the geometry says".into(),
    };
    let (held, loaded) = candidates(part);
    let mut text = format!(
        "# The case of {name}, in mm, N and N/mm^2. Supports and loads are comments: choose faces and \
         remove `# `.\n# `topopt info {name} --faces --page faces.html` draws the faces with their \
         numbers.\n\ntitle = {}\n\n[mesh]\nfile = {}\n{size}\n# method = \"auto\"     # hexahedra \
         where they are good, else tetrahedra\n\n[material]\nyoungs_modulus = 210e3     \
         # of steel; aluminum 70e3\npoissons_ratio = 0.3\n\n",
        toml::Value::from(stem.as_ref()),
        toml::Value::from(name.to_string()),
    );
    text += &commented(&format!(
        "Where the part is held, such as here:\n{}\n[[supports]]\nset = \"held\"\n",
        selection("held", &held)
    ));
    text += &commented(&format!(
        "Where it is loaded, such as here:\n{}\n[[loads]]\nset = \"loaded\"\ntotal_force = [0.0, 0.0, \
         -1000.0]\n",
        selection("loaded", &loaded)
    ));
    text += "[design]\nvolume_fraction = 0.3     # share of the part that material may fill\n\n\
             [filter]\nradius_in_elements = 2.5\n\n";

    let _ = writeln!(text, "# Faces of {name}:");
    text.extend(lines(part).into_iter().map(|line| format!("# {line}\n")));
    text
}

/// Faces that are likely to be held, and those that are likely to be loaded.
fn candidates(part: &PartFaces) -> (Vec<&PartFace>, Vec<&PartFace>) {
    let largest = |faces: &mut dyn Iterator<Item = &'_ PartFace>| {
        faces.max_by(|a, b| a.area.total_cmp(&b.area)).map(|face| face.number)
    };

    let patterns = part
        .faces
        .iter()
        .filter(is_bore)
        .map(|bore| pattern(part, bore))
        .filter(|bores| bores.len() > 1);
    let plane = || largest(&mut part.faces.iter().filter(|face| face.form.kind() == "plane"));
    let held = patterns.max_by_key(Vec::len).unwrap_or_else(|| {
        plane().or(Some(1)).and_then(|number| part.face(number)).into_iter().collect()
    });
    let is_free = |face: &&PartFace| held.iter().all(|other| other.number != face.number);
    let bore = largest(&mut part.faces.iter().filter(is_free).filter(is_bore));
    let other = || {
        let is_other = |face: &&PartFace| held.iter().all(|other| !are_same(other, face));
        largest(&mut part.faces.iter().filter(is_free).filter(is_other))
    };
    let any = || largest(&mut part.faces.iter().filter(is_free));
    let loaded = bore.or_else(other).or_else(any).and_then(|number| part.face(number));
    (held, loaded.into_iter().collect())
}

/// Whether a face is a bore, or half of one.
fn is_bore(face: &&PartFace) -> bool {
    face.form.kind() == "cylinder" && face.is_inner == Some(true) && face.is_around
}

/// Bores of the same radius as this one.
fn pattern<'a>(part: &'a PartFaces, bore: &PartFace) -> Vec<&'a PartFace> {
    let is_near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-3 * a;
    let is_alike =
        |other: &&PartFace| bore.form.radius().zip(other.form.radius()).is_some_and(is_near);
    part.faces.iter().filter(is_bore).filter(is_alike).collect()
}

/// An entry of `[[select]]` that takes faces.
fn selection(name: &str, faces: &[&PartFace]) -> String {
    let numbers: Vec<String> = faces.iter().map(|face| face.number.to_string()).collect();
    let form = faces.first().map_or_else(String::new, |face| format!("   # {}", face.form.text()));
    let numbers = numbers.join(", ");
    format!("[[select]]\nname = \"{name}\"\nkind = \"faces\"\nfaces = [{numbers}]{form}\n")
}

/// A paragraph of comments with an empty line behind it.
fn commented(text: &str) -> String {
    let comment = |line: &str| if line.is_empty() { "#\n".into() } else { format!("# {line}\n") };
    text.lines().map(comment).collect::<String>() + "\n"
}

//! The faces of the geometry that a mesh is made of, as selections name them: by number, by name,
//! by form, or as the same as another one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use topopt_io::ImportedMesh;
use topopt_io::gmsh::{self, PartFace, PartFaces};
use topopt_mesh::numbers::shown;
use topopt_mesh::{BoundingBox, Face, Sets};

use crate::config::{Condition, Config, FaceForm, FaceKind, FaceName, closest};
use crate::finding::Finding;
use crate::geometry_bodies::GeometryBodies;
use crate::interrupt::Interrupt;
use crate::meshing::{self, Gmsh};
use crate::space_bodies::SpaceBody;

/// Faces of the geometry of a mesh.
#[derive(Debug, Default)]
pub(crate) struct GeometryFaces {
    /// The file of the mesh.
    file: String,
    /// Faces of elements by the number of the face of the geometry.
    of_mesh: BTreeMap<u32, Vec<Face>>,
    /// Forms and names of the faces, where a selection asks for them.
    part: Option<PartFaces>,
    /// Bodies that the faces are of; none if the geometry is one.
    bodies: GeometryBodies,
}

/// Largest difference from a radius, as a share of it.
const NEAR: f64 = 0.01;

/// Largest relative difference in sizes and area between faces that are the same.
const SAME: f64 = 1e-3;

/// Numbers in a message, at most.
const MOST_LISTED: usize = 12;

impl GeometryFaces {
    /// Collects what the selections of `config` need of the geometry at `path`.
    ///
    /// # Errors
    /// Findings of Gmsh on the surface of the geometry.
    pub fn read(
        config: &Config,
        path: &Path,
        imported: &ImportedMesh,
        gmsh: &Gmsh,
        interrupt: &Interrupt,
    ) -> Result<Self, Finding> {
        let needs_forms = config.select.iter().any(|select| needs_forms(&select.condition));
        let part = (needs_forms && gmsh::is_geometry(path))
            .then(|| meshing::faces(path, &meshing::of(config, gmsh)?, interrupt))
            .transpose()?;
        let file = path.display().to_string();
        let bodies = GeometryBodies::default();
        Ok(Self { file, of_mesh: imported.faces.clone(), part, bodies })
    }

    /// The faces of a geometry without a mesh.
    pub fn of_part(path: &Path, part: PartFaces) -> Self {
        let of_mesh = part.faces.iter().map(|face| (face.number, Vec::new())).collect();
        let (file, bodies) = (path.display().to_string(), GeometryBodies::default());
        Self { file, of_mesh, part: Some(part), bodies }
    }

    /// The faces of the bodies of a design space without a mesh.
    pub fn of_bodies(bodies: &[SpaceBody]) -> Self {
        let faces = bodies.iter().flat_map(|body| body.part.faces.iter().cloned()).collect();
        let part = Some(PartFaces { faces, ..PartFaces::default() });
        Self { part, bodies: GeometryBodies::of(bodies), ..Self::default() }
    }

    /// The faces with those of elements by their numbers.
    pub fn on(self, of_mesh: BTreeMap<u32, Vec<Face>>) -> Self {
        Self { of_mesh, ..self }
    }

    /// Box around the face of a number.
    pub fn bounds(&self, number: u32) -> Option<BoundingBox> {
        self.part.as_ref()?.face(number).map(|face| face.bounds)
    }

    /// The numbers of the faces that each key of a table of conditions asks for.
    pub fn chosen(
        &self,
        table: &Condition,
        sets: &Sets,
    ) -> Vec<(&'static str, Result<Vec<u32>, Finding>)> {
        let body = table.body.as_deref();
        if let Some(Err(finding)) = body.map(|name| self.bodies.check(name)) {
            return vec![("body", Err(finding))];
        }
        let faces = table.faces.as_ref().map(|names| ("faces", self.named(names, body, sets)));
        let form = table.form.as_ref().map(|form| ("form", self.of_form(form, body)));
        let same = table.same_as.as_ref().map(|name| ("same_as", self.same_as(name, body, sets)));
        let all = body.map(|_| ("body", Ok(self.of_body(body).map(|face| face.number).collect())));
        let chosen: Vec<_> = [faces, form, same].into_iter().flatten().collect();
        if chosen.is_empty() { all.into_iter().collect() } else { chosen }
    }

    /// Numbers of the faces that all keys of a table of conditions ask for; none without such a
    /// key.
    ///
    /// # Errors
    /// Faces, names and forms that there are not.
    pub fn common(&self, table: &Condition, sets: &Sets) -> Result<Option<Vec<u32>>, Finding> {
        let chosen = self.chosen(table, sets).into_iter().map(|(_, numbers)| numbers);
        let chosen: Vec<Vec<u32>> = chosen.collect::<Result<_, _>>()?;
        let is_common = |number: &u32| chosen.iter().all(|numbers| numbers.contains(number));
        Ok(chosen.first().map(|first| first.iter().copied().filter(is_common).collect()))
    }

    /// The faces whose forms are known.
    pub fn all(&self) -> impl Iterator<Item = &PartFace> {
        self.part.iter().flat_map(|part| &part.faces)
    }

    /// Faces of a body; all without a name.
    fn of_body<'a>(&'a self, body: Option<&'a str>) -> impl Iterator<Item = &'a PartFace> {
        self.all().filter(move |face| self.bodies.has(body, face.number))
    }

    /// Faces of elements on faces with these numbers.
    ///
    /// # Errors
    /// Faces of bodies that the surface of the design space does not have.
    pub fn of_mesh(&self, numbers: &[u32], sets: &Sets) -> Result<Vec<Face>, Finding> {
        let of_number = |number: &u32| match self.of_mesh.get(number) {
            Some(faces) => faces.clone(),
            None => sets.faces.get(&set_name(*number)).cloned().unwrap_or_default(),
        };
        let faces: Vec<Face> = numbers.iter().flat_map(of_number).collect();
        if faces.is_empty() && !self.bodies.is_empty() {
            let finding = Finding::new("the surface of the design space has none of these faces");
            return Err(finding.remedy(
                "they are filled, cut away, or inside of it: select faces that are on its surface",
            ));
        }
        Ok(faces)
    }

    fn named(
        &self,
        names: &[FaceName],
        body: Option<&str>,
        sets: &Sets,
    ) -> Result<Vec<u32>, Finding> {
        let mut numbers = Vec::new();
        for name in names {
            match name {
                FaceName::Number(number) if self.bodies.is_empty() => {
                    numbers.push(self.numbered(*number, sets)?);
                }
                FaceName::Number(number) => numbers.extend(self.numbered_of(*number, body)?),
                FaceName::Name(name) => numbers.extend(self.with_name(name, body)?),
            }
        }
        Ok(numbers)
    }

    /// The number, if a face of the mesh has it.
    fn numbered(&self, number: u32, sets: &Sets) -> Result<u32, Finding> {
        if self.of_mesh.contains_key(&number) || sets.faces.contains_key(&set_name(number)) {
            return Ok(number);
        }
        if self.of_mesh.is_empty() {
            return Err(self.without_faces());
        }
        let numbers: Vec<u32> = self.of_mesh.keys().copied().collect();
        Err(no_face(number, &numbers, &self.file))
    }

    /// Numbers of the face that a body numbers so itself.
    fn numbered_of(&self, own: u32, body: Option<&str>) -> Result<Vec<u32>, Finding> {
        let numbers = self.bodies.numbers(body, own)?;
        if !numbers.is_empty() {
            return Ok(numbers);
        }
        let last = self.of_body(body).count() as u32;
        let file = self.bodies.file(body);
        Err(no_face(own, &(1..=last).collect::<Vec<_>>(), file))
    }

    fn with_name(&self, name: &str, body: Option<&str>) -> Result<Vec<u32>, Finding> {
        self.part()?;
        let faces = || self.of_body(body);
        let has_name = |face: &&PartFace| face.name.as_deref() == Some(name);
        let numbers: Vec<u32> = faces().filter(has_name).map(|it| it.number).collect();
        if !numbers.is_empty() {
            return Ok(numbers);
        }
        let names: BTreeSet<&str> = faces().filter_map(|it| it.name.as_deref()).collect();
        let listed: Vec<String> =
            names.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
        let remedy = match (closest(name, names.iter().copied()), names.len()) {
            (_, 0) => format!(
                "the file names no faces: give numbers, which `topopt info {} --faces` lists",
                if self.bodies.is_empty() { &self.file } else { self.bodies.file(body) }
            ),
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, count) if count > MOST_LISTED => {
                format!("it has {} names, such as {}", count, listed.join(", "))
            }
            (None, _) => format!("it has faces named {}", listed.join(", ")),
        };
        Err(Finding::new(format!("no face of the part is named `{name}`")).remedy(remedy))
    }

    fn of_form(&self, form: &FaceForm, body: Option<&str>) -> Result<Vec<u32>, Finding> {
        check(form)?;
        self.part()?;
        let faces: Vec<&PartFace> = self.of_body(body).collect();
        let is_alike = |face: &&&PartFace| has_form(face, form);
        let numbers: Vec<u32> = faces.iter().filter(is_alike).map(|it| it.number).collect();
        if numbers.is_empty() { Err(none_of_form(&faces, form)) } else { Ok(numbers) }
    }

    fn same_as(
        &self,
        name: &FaceName,
        body: Option<&str>,
        sets: &Sets,
    ) -> Result<Vec<u32>, Finding> {
        let part = self.part()?;
        let models = self.named(std::slice::from_ref(name), body, sets)?;
        let models: Vec<&PartFace> = models.iter().filter_map(|it| part.face(*it)).collect();
        let is_same = |face: &&PartFace| models.iter().any(|model| are_same(model, face));
        Ok(self.of_body(body).filter(is_same).map(|face| face.number).collect())
    }

    fn part(&self) -> Result<&PartFaces, Finding> {
        self.part.as_ref().ok_or_else(|| self.without_faces())
    }

    fn without_faces(&self) -> Finding {
        Finding::new("the mesh has no such faces: it was not made of a geometry here").remedy(
            "name the STEP, IGES, BREP, STL or .geo file itself as `mesh.file`; in a mesh select by \
             `set` or by position",
        )
    }
}

/// Name of the set that `topopt mesh` writes for a face of a geometry.
pub fn set_name(number: u32) -> String {
    format!("face_{number}")
}

/// Whether a table of conditions needs more of the faces than their numbers.
fn needs_forms(table: &Condition) -> bool {
    let is_name = |name: &FaceName| matches!(name, FaceName::Name(_));
    let own = table.form.is_some()
        || table.same_as.is_some()
        || table.faces.iter().flatten().any(is_name);
    let lists = [&table.all, &table.any].into_iter().flatten().flatten();
    own || lists.chain(table.not.as_deref()).any(needs_forms)
}

fn has_form(face: &PartFace, form: &FaceForm) -> bool {
    let tolerance = form.tolerance.unwrap_or(NEAR * form.radius.unwrap_or(0.0));
    let mut radii = form.radius.zip(face.form.radius()).into_iter();
    is_of_kind(face, form.kind)
        && radii.all(|(wanted, radius)| (wanted - radius).abs() <= tolerance)
        && form.hollow.is_none_or(|hollow| face.is_inner == Some(hollow))
}

/// Refuses a radius of what has none.
fn check(form: &FaceForm) -> Result<(), Finding> {
    let has_radius = matches!(form.kind, FaceKind::Cylinder | FaceKind::Sphere | FaceKind::Torus);
    if form.radius.is_some() && !has_radius {
        let message = format!("a {} has no radius", name_of(form.kind));
        return Err(Finding::new(message).remedy("remove `radius`, or choose another `kind`"));
    }
    if form.tolerance.is_some() && form.radius.is_none() {
        let finding = Finding::new("a tolerance without a radius");
        return Err(finding.remedy("give the `radius`, or remove `tolerance`"));
    }
    if form.hollow.is_some() && matches!(form.kind, FaceKind::Plane | FaceKind::Other) {
        let finding = Finding::new("only cylinders, cones, spheres and tori are hollow or not");
        return Err(finding.remedy("remove `hollow`"));
    }
    Ok(())
}

/// Finding of a number that no face has.
fn no_face(number: u32, numbers: &[u32], file: &str) -> Finding {
    let finding = Finding::new(format!("the part has no face {number}"));
    finding.remedy(format!(
        "its faces are {}; `topopt info {file} --faces` lists them",
        ranges(numbers)
    ))
}

/// Finding of a form that no face has, with the forms that are there.
fn none_of_form(faces: &[&PartFace], form: &FaceForm) -> Finding {
    let kind = name_of(form.kind);
    let radius =
        form.radius.map_or_else(String::new, |radius| format!(" of radius {}", shown(radius)));
    let side = match form.hollow {
        Some(true) => ", hollow",
        Some(false) => ", not hollow",
        None => "",
    };
    let finding = Finding::new(format!("the part has no {kind}{radius}{side}"));

    let mut counts = BTreeMap::<String, usize>::new();
    let of_kind: Vec<&PartFace> =
        faces.iter().copied().filter(|face| is_of_kind(face, form.kind)).collect();
    let listed = if of_kind.is_empty() { faces } else { &of_kind };
    for face in listed {
        let hollow = if face.is_inner == Some(true) { ", hollow" } else { "" };
        *counts.entry(format!("{}{hollow}", face.form.text())).or_default() += 1;
    }
    let texts = counts.iter().take(MOST_LISTED).map(|(text, count)| format!("{count} x {text}"));
    finding.remedy(format!("it has {}", texts.collect::<Vec<_>>().join("; ")))
}

fn is_of_kind(face: &PartFace, kind: FaceKind) -> bool {
    face.form.kind() == name_of(kind)
}

fn name_of(kind: FaceKind) -> &'static str {
    gmsh::Form::KINDS[kind as usize]
}

/// Whether two faces have the same form, sizes and area.
pub(crate) fn are_same(one: &PartFace, other: &PartFace) -> bool {
    let is_near = |a: f64, b: f64| (a - b).abs() <= SAME * a.abs().max(b.abs());
    let mut sizes = one.form.sizes().into_iter().zip(other.form.sizes());
    one.form.kind() == other.form.kind()
        && one.is_inner == other.is_inner
        && is_near(one.area, other.area)
        && sizes.all(|(a, b)| is_near(a, b))
}

/// Lists increasing numbers: `1 to 7, 9`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).take(MOST_LISTED);
    let text = |run: &[u32]| match run {
        [first, .., last] => format!("{first} to {last}"),
        [one] => one.to_string(),
        [] => String::new(),
    };
    runs.map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn numbers_are_listed_by_runs() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1 to 3, 7, 9 to 10");
        assert_eq!(ranges(&[]), "");
    }
}

//! Names of the bodies of a design space, and the numbers of their faces.

use crate::config::closest;
use crate::finding::Finding;
use crate::space_bodies::SpaceBody;

/// Bodies by their names; their faces are numbered through. None of a geometry of one file.
#[derive(Debug, Default)]
pub(crate) struct GeometryBodies {
    bodies: Vec<Body>,
}

/// Body with the numbers of its faces.
#[derive(Debug)]
struct Body {
    name: String,
    file: String,
    /// Number before that of its first face.
    offset: u32,
    /// Number of its last face.
    last: u32,
    /// Whether it stays free.
    is_free: bool,
}

impl Body {
    fn of(body: &SpaceBody) -> Self {
        let (name, file) = (body.name.clone(), body.file.clone());
        Self { name, file, offset: body.offset, last: body.last(), is_free: body.is_free }
    }
}

impl GeometryBodies {
    /// Takes the names and numbers of `bodies`.
    pub fn of(bodies: &[SpaceBody]) -> Self {
        Self { bodies: bodies.iter().map(Body::of).collect() }
    }

    /// Whether the faces are those of one file, or unknown.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Returns whether a body of this name, or any body without one, has the face of a number.
    pub fn has(&self, name: Option<&str>, number: u32) -> bool {
        let holds = |body: &Body| body.offset < number && number <= body.last;
        name.is_none_or(|name| self.named(name).any(holds))
    }

    /// Returns the file of a body.
    pub fn file(&self, name: Option<&str>) -> &str {
        let body = self.bodies.iter().find(|body| name.is_none_or(|name| body.name == name));
        body.map_or("", |body| &body.file)
    }

    /// Numbers of the face that the body of a name has as its `own`; none if it has no such face.
    ///
    /// # Errors
    /// Several bodies, and no name that says which.
    pub fn numbers(&self, name: Option<&str>, own: u32) -> Result<Vec<u32>, Finding> {
        let first = self.bodies.first().map_or("", |body| &body.name);
        if name.is_none() && self.bodies.iter().any(|body| body.name != first) {
            let finding = Finding::new(format!("face {own} is given without its body"));
            return Err(finding.remedy(format!(
                "add `body = \"{first}\"` beside it; the bodies are {}",
                self.listed()
            )));
        }
        let number = |body: &Body| {
            let number = own.checked_add(body.offset)?;
            (number <= body.last).then_some(number)
        };
        Ok(self.named(name.unwrap_or(first)).filter_map(number).collect())
    }

    /// Refuses a name that no body has, and one of both a keep-out and another body.
    ///
    /// # Errors
    /// A finding with the names that there are, or the files of the name.
    pub fn check(&self, name: &str) -> Result<(), Finding> {
        if let Some(body) = self.named(name).next() {
            let Some(other) = self.named(name).find(|it| it.is_free != body.is_free) else {
                return Ok(());
            };
            let (file, other) = (&body.file, &other.file);
            let message = format!("body `{name}` is both {file} and the keep-out {other}");
            return Err(Finding::new(message).remedy(format!(
                "bodies have the names of their files: give a copy of {other} another name"
            )));
        }
        if self.is_empty() {
            let finding = Finding::new(format!("there is no body `{name}`: the mesh is of one"));
            return Err(finding.remedy("remove `body`, which is for [mesh.design_space]"));
        }
        let names = self.bodies.iter().map(|body| body.name.as_str());
        let remedy = closest(name, names).map_or_else(
            || format!("the bodies are {}", self.listed()),
            |near| format!("did you mean `{near}`?"),
        );
        Err(Finding::new(format!("the design space has no body `{name}`")).remedy(remedy))
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Body> {
        self.bodies.iter().filter(move |body| body.name == name)
    }

    fn listed(&self) -> String {
        let mut names: Vec<String> =
            self.bodies.iter().map(|body| format!("`{}`", body.name)).collect();
        names.dedup();
        names.join(", ")
    }
}

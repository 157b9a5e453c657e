//! The sets of `[[select]]`.

use std::collections::BTreeMap;

use topopt_mesh::selection::{self, Selector, Shape};
use topopt_mesh::{Face, HexMesh, SetKind, Sets};

use crate::config::{Condition, Config, Select, SelectKind, closest};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;
use crate::lookup::sorted;
use crate::tags::Tags;
use topopt_mesh::numbers::{rounded, shown};

/// The sets of `mesh` and the selections of the case file, which become sets like any other.
///
/// # Errors
/// What is wrong with the first selection that cannot be made; others may build on it.
pub fn sets(
    config: &Config,
    mesh: &HexMesh,
    tags: Option<&Tags>,
    faces: &GeometryFaces,
) -> Result<Sets, Finding> {
    let mut sets = mesh.sets().clone();
    let mut selectors = BTreeMap::new();
    for (i, select) in config.select.iter().enumerate() {
        let kind = SetKind::from(select.kind);
        let selector = selectors.entry(kind).or_insert_with(|| Selector::new(mesh, kind));
        let sets_above = &sets;
        let selection =
            Selection { config, mesh, tags, faces, sets: sets_above, select, leaves: Vec::new() };
        let name = select.name.get_ref().clone();
        let space = config.mesh.get_ref().design_space.as_ref();
        let selected = match selection.evaluate(&format!("select.{i}"), selector) {
            // Faces that were filled, or lie inside of the space, were found before.
            Err(_) if space.is_some_and(|space| space.get_ref().chooses(&name)) => continue,
            selected => selected?,
        };
        match selected {
            Selected::Nodes(nodes) => drop(sets.nodes.insert(name, nodes)),
            Selected::Elements(elements) => drop(sets.elements.insert(name, elements)),
            Selected::Faces(faces) => drop(sets.faces.insert(name, faces)),
        }
    }
    Ok(sets)
}

/// Selected parts of a mesh.
enum Selected {
    Nodes(Vec<u32>),
    Elements(Vec<u32>),
    Faces(Vec<Face>),
}

/// One entry of `[[select]]`.
struct Selection<'a> {
    config: &'a Config,
    mesh: &'a HexMesh,
    tags: Option<&'a Tags>,
    faces: &'a GeometryFaces,
    /// Sets of the mesh and of the selections before this one.
    sets: &'a Sets,
    select: &'a Select,
    /// The single conditions by their keys, to explain what is selected.
    leaves: Vec<(String, selection::Condition)>,
}

impl Selection<'_> {
    fn evaluate(mut self, path: &str, selector: &Selector) -> Result<Selected, Finding> {
        let name = self.select.name.get_ref();
        if let Some((_, kind, _)) = self.sets.summary().iter().find(|(known, ..)| known == name) {
            let kind = kind.name();
            return Err(Finding::new(format!("a {kind} set `{name}` already exists"))
                .at(self.config.source(), self.select.name.span(), "a second set of this name")
                .remedy("give the selection another name"));
        }
        let condition = self.conditions(&self.select.condition, path, path)?;
        // Faces between bodies are selected by what names them alone, as a box would take one of
        // the two sides that they have.
        let named = self.leaves.iter().filter_map(|(_, leaf)| match leaf {
            selection::Condition::Faces(faces) => Some(&faces[..]),
            _ => None,
        });
        let with_inner = selector.with_inner(&named.collect::<Vec<_>>().concat());
        let selector = with_inner.as_ref().unwrap_or(selector);
        let selected = selector.select(&condition);
        let (kind, n) = (SetKind::from(self.select.kind), selector.candidates());
        let message = match selected.len() {
            0 => format!("selection `{name}` is empty: no {} satisfies it", kind.name()),
            all if all == n => {
                format!("selection `{name}` covers everything: {n} {}s", kind.name())
            }
            _ => return Ok(selected_of(selector, kind, selected)),
        };
        Err(Finding::new(message)
            .at(self.config.source(), self.select.name.span(), "this selection")
            .remedy(self.surroundings(selector)))
    }

    /// The conditions of a table at `path`, which must hold together; `root` is the path of the
    /// selection.
    fn conditions(
        &mut self,
        table: &Condition,
        path: &str,
        root: &str,
    ) -> Result<selection::Condition, Finding> {
        let mut conditions = Vec::new();
        for (key, condition) in self.leaves_of(table, path)? {
            let place = format!("{path}.{key}");
            let place = place.trim_start_matches(root).trim_start_matches('.').to_owned();
            self.leaves.push((place, condition.clone()));
            conditions.push(condition);
        }

        let mut list = |key: &str, tables: &Option<Vec<Condition>>| {
            let tables = tables.iter().flatten().enumerate();
            tables
                .map(|(i, table)| self.conditions(table, &format!("{path}.{key}.{i}"), root))
                .collect::<Result<Vec<_>, _>>()
        };
        conditions.extend(list("all", &table.all)?);

        let any = list("any", &table.any)?;
        if !any.is_empty() {
            conditions.push(selection::Condition::Any(any));
        }
        if let Some(table) = &table.not {
            let inner = self.conditions(table, &format!("{path}.not"), root)?;
            conditions.push(selection::Condition::Not(Box::new(inner)));
        }

        if conditions.is_empty() {
            let finding = Finding::new("a selection without a condition");
            return Err(finding.at(self.config.source(), self.config.span(path), "here").remedy(
                "give one of box, plane, cylinder, sphere, nearest, normal, nodes, faces, form, \
                 same_as, body, set, near, all, any and not",
            ));
        }
        Ok(selection::Condition::All(conditions))
    }

    /// The conditions of a table at `path` that do not contain others, with their keys.
    fn leaves_of(
        &self,
        table: &Condition,
        path: &str,
    ) -> Result<Vec<(&'static str, selection::Condition)>, Finding> {
        let mut leaves = Vec::new();
        for (key, region) in table.regions() {
            self.check(&region, &format!("{path}.{key}"))?;
            leaves.push((key, selection::Condition::Within(region)));
        }

        if let Some(point) = table.nearest {
            leaves.push(("nearest", selection::Condition::Nearest(point)));
        }
        if let Some(normal) = &table.normal {
            let (direction, angle) = (normal.direction, normal.angle.to_radians());
            if self.select.kind != SelectKind::Faces {
                let finding = Finding::new("only faces have a normal");
                let remedy = "set `kind = \"faces\"`, or remove the normal";
                return Err(self.at(finding, &format!("{path}.normal"), "here").remedy(remedy));
            }
            self.check_direction(&direction, &format!("{path}.normal.direction"))?;
            leaves.push(("normal", selection::Condition::Facing { direction, angle }));
        }

        if let Some(nodes) = &table.nodes {
            leaves.push(("nodes", self.nodes(nodes, &format!("{path}.nodes"))?));
        }
        for (key, numbers) in self.faces.chosen(table, self.sets) {
            let on_faces = numbers.and_then(|numbers| self.on_faces(&numbers));
            let on_faces =
                on_faces.map_err(|finding| self.at(finding, &format!("{path}.{key}"), "here"))?;
            leaves.push((key, on_faces));
        }
        if let Some(name) = &table.set {
            leaves.push(("set", self.set(name, &format!("{path}.set"))?));
        }

        if let Some(near) = &table.near {
            let nodes = self.nodes_of(&near.set, near.kind, &format!("{path}.near.set"))?;
            let points = nodes.iter().map(|&n| self.mesh.coordinates()[n as usize]).collect();
            let region = Shape::Near { points, distance: near.distance };
            leaves.push(("near", selection::Condition::Within(region)));
        }
        Ok(leaves)
    }

    fn check(&self, region: &Shape, path: &str) -> Result<(), Finding> {
        match region {
            Shape::Box { min, max } if (0..3).any(|i| min[i] > max[i]) => {
                let finding = Finding::new("a box whose `min` is not below its `max`");
                let remedy = "give the smallest coordinates in `min`, the largest in `max`";
                Err(self.at(finding, path, "this box").remedy(remedy))
            }
            Shape::Plane { normal, .. } => self.check_direction(normal, &format!("{path}.normal")),
            Shape::Cylinder { radius, inner_radius, .. } if inner_radius >= radius => {
                let finding = Finding::new("`inner_radius` is not less than `radius`");
                let remedy = "the region between the two is selected; leave out `inner_radius` for \
                              the whole inside";
                Err(self.at(finding, &format!("{path}.inner_radius"), "too large").remedy(remedy))
            }
            Shape::Cylinder { axis, .. } => self.check_direction(axis, &format!("{path}.axis")),
            _ => Ok(()),
        }
    }

    fn check_direction(&self, direction: &[f64; 3], path: &str) -> Result<(), Finding> {
        if direction.iter().any(|component| *component != 0.0) {
            return Ok(());
        }
        let finding = Finding::new("a direction of length zero");
        Err(self.at(finding, path, "zero").remedy("give a direction, such as [1, 0, 0] for x"))
    }

    /// Nodes by their numbers in the mesh file, which for a generated mesh are those that
    /// `topopt mesh` would write.
    fn nodes(&self, numbers: &[u64], path: &str) -> Result<selection::Condition, Finding> {
        let mut tags: Vec<(u64, u32)> = match self.tags {
            Some(tags) => tags.nodes.iter().copied().zip(0..).collect(),
            None => (1..=self.mesh.n_nodes() as u64).zip(0..).collect(),
        };
        tags.sort_unstable();
        let (first, last) = (tags[0].0, tags[tags.len() - 1].0);
        let find = |(i, number): (usize, &u64)| {
            let found = tags.binary_search_by_key(number, |(tag, _)| *tag);
            found.map(|at| tags[at].1).map_err(|_| {
                let finding = Finding::new(format!("the mesh has no node {number}"));
                let remedy = format!("its nodes have numbers from {first} to {last}");
                self.at(finding, &format!("{path}.{i}"), "no such node").remedy(remedy)
            })
        };
        let nodes = numbers.iter().enumerate().map(find).collect::<Result<_, _>>()?;
        Ok(selection::Condition::Nodes(nodes))
    }

    /// Returns the condition of lying on faces of the geometry.
    fn on_faces(&self, numbers: &[u32]) -> Result<selection::Condition, Finding> {
        let faces = self.faces.of_mesh(numbers, self.sets)?;
        Ok(match self.select.kind {
            SelectKind::Faces => selection::Condition::Faces(faces),
            SelectKind::Nodes => {
                let nodes = faces.iter().flat_map(|face| face.all_nodes(self.mesh));
                selection::Condition::Nodes(sorted(nodes.collect()))
            }
            SelectKind::Elements => {
                let elements = faces.iter().map(|face| face.element).collect();
                selection::Condition::Elements(sorted(elements))
            }
        })
    }

    /// Returns the condition of lying in the set: by its own kind, else by its nodes.
    fn set(&self, name: &str, path: &str) -> Result<selection::Condition, Finding> {
        match self.select.kind {
            SelectKind::Faces if self.sets.faces.contains_key(name) => {
                Ok(selection::Condition::Faces(self.sets.faces[name].clone()))
            }
            SelectKind::Elements if self.sets.elements.contains_key(name) => {
                Ok(selection::Condition::Elements(self.sets.elements[name].clone()))
            }
            _ => self.nodes_of(name, None, path).map(selection::Condition::Nodes),
        }
    }

    /// The nodes of a set that is named at `path`; at least one.
    fn nodes_of(
        &self,
        name: &str,
        kind: Option<SelectKind>,
        path: &str,
    ) -> Result<Vec<u32>, Finding> {
        let mesh = self.mesh;
        let nodes = match kind {
            Some(kind) => self.sets.nodes_of_kind(name, kind.into(), mesh),
            None => self.sets.nodes_of(name, mesh),
        };

        let (message, near) = match nodes {
            Ok(nodes) if !nodes.is_empty() => return Ok(nodes),
            Ok(_) => (format!("set `{name}` is empty"), None),
            Err(error) => {
                let names = error.available.iter().map(|(name, _)| name.as_str());
                let kind = kind.map(|kind| format!("{} ", SetKind::from(kind).name()));
                let kind = kind.unwrap_or_default();
                (format!("there is no {kind}set `{name}`"), closest(name, names).map(str::to_owned))
            }
        };

        let remedy = near.map_or_else(
            || "use a set of the mesh (`topopt info`) or a selection above this one".into(),
            |near| format!("did you mean `{near}`?"),
        );
        Err(self.at(Finding::new(message), path, "this set").remedy(remedy))
    }

    fn at(&self, finding: Finding, path: &str, label: &str) -> Finding {
        finding.at(self.config.source(), self.config.span(path), label)
    }

    /// Describes how many each condition alone selects, the nearest if none, and the mesh bounds.
    fn surroundings(&self, selector: &Selector) -> String {
        let kind = SetKind::from(self.select.kind).name();
        let mut parts = Vec::new();
        for (key, condition) in &self.leaves {
            let n = selector.select(condition).len();
            let near = match condition {
                selection::Condition::Within(region) if n == 0 => {
                    let (nearest, distance) = selector.nearest_to(region);
                    let [x, y, z] = selector.place(nearest).map(shown);
                    let off = shown(distance);
                    format!("; the nearest, at [{x}, {y}, {z}], is {off} away")
                }
                _ => String::new(),
            };
            parts.push(format!("`{key}` alone is satisfied by {n} {kind}s{near}"));
        }
        let bounds = self.mesh.bounding_box();
        let (min, max) = (bounds.min.map(rounded), bounds.max.map(rounded));
        parts.push(format!("the mesh reaches from {min:?} to {max:?}"));
        parts.join("\n")
    }
}

/// Candidates of a `selector`, by their numbers there.
fn selected_of(selector: &Selector, kind: SetKind, numbers: Vec<u32>) -> Selected {
    match kind {
        SetKind::Node => Selected::Nodes(numbers),
        SetKind::Element => Selected::Elements(numbers),
        SetKind::Face => {
            let face = |number: &u32| selector.faces()[*number as usize];
            Selected::Faces(numbers.iter().map(face).collect())
        }
    }
}

impl Condition {
    /// Parts of space that it names, with their keys.
    pub fn regions(&self) -> Vec<(&'static str, Shape)> {
        let bounds = self.bounds.as_ref().map(|b| Shape::Box { min: b.min, max: b.max });
        let plane = self.plane.as_ref().map(|plane| Shape::Plane {
            point: plane.point,
            normal: plane.normal,
            tolerance: plane.tolerance,
        });
        let cylinder = self.cylinder.as_ref().map(|cylinder| Shape::Cylinder {
            point: cylinder.point,
            axis: cylinder.axis,
            radius: cylinder.radius,
            inner_radius: cylinder.inner_radius,
        });
        let sphere = self.sphere.as_ref();
        let sphere = sphere.map(|s| Shape::Sphere { center: s.center, radius: s.radius });
        let all = [("box", bounds), ("plane", plane), ("cylinder", cylinder), ("sphere", sphere)];
        all.into_iter().filter_map(|(key, region)| Some((key, region?))).collect()
    }
}

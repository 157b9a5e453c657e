//! Places of a geometry with smaller elements, found before there is a mesh.

use std::path::Path;

use topopt_io::gmsh::{self, FinerBox};
use topopt_mesh::{BoundingBox, Sets};

use crate::config::{Condition, Config, FaceName, Refine, Select};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;
use crate::interrupt::Interrupt;
use crate::meshing::{self, Gmsh};

/// Distance from its faces in which elements are small, in elements.
const USUAL_DISTANCE: f64 = 2.0;

/// Finds the boxes that `mesh.refine` of `config` names on the geometry at `path`.
///
/// # Errors
/// A set that needs a mesh, or that has no faces; a geometry without faces.
pub(crate) fn boxes(
    config: &Config,
    path: &Path,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
) -> Result<Vec<FinerBox>, Finding> {
    let refine = &config.mesh.get_ref().refine;
    if refine.is_empty() || !gmsh::is_geometry(path) {
        return Ok(Vec::new());
    }
    let part = meshing::faces(path, &meshing::of(config, gmsh)?, interrupt)?;
    let bounds = BoundingBox::around(&part.vertices);
    let places = Places { config, bounds, faces: GeometryFaces::of_part(path, part) };
    let mut boxes = Vec::new();
    for refine in refine {
        let finding = |finding: Finding| {
            finding.at(config.source(), refine.set.span(), "smaller elements here")
        };
        let found = places.of_set(refine.set.get_ref()).map_err(finding)?;
        let found: Vec<_> = found.into_iter().filter_map(|own| places.finer(own, refine)).collect();
        if found.is_empty() {
            let empty = Finding::new(format!("`{}` lies beside the part", refine.set.get_ref()));
            return Err(finding(empty.remedy("move its box, or remove the entry")));
        }
        boxes.extend(found);
    }
    Ok(boxes)
}

/// The geometry, where sets of a case lie before there is a mesh.
struct Places<'a> {
    config: &'a Config,
    bounds: BoundingBox,
    faces: GeometryFaces,
}

impl Places<'_> {
    /// Boxes around the faces of a set, or the box that it is.
    fn of_set(&self, name: &str) -> Result<Vec<BoundingBox>, Finding> {
        let is_own = |select: &&Select| select.name.get_ref() == name;
        match self.config.select.iter().find(is_own) {
            Some(select) => self.of_condition(&select.condition),
            None => self.of_group(name),
        }
    }

    /// Boxes of what satisfies a table of conditions.
    fn of_condition(&self, table: &Condition) -> Result<Vec<BoundingBox>, Finding> {
        if needs_mesh(table) {
            return Err(Finding::new("smaller elements are asked for where there is no mesh yet")
                .remedy(
                    "select the place by `faces`, `form`, `same_as` or `box`, or `any` of these",
                ));
        }
        if let Some(tables) = &table.any {
            let boxes = tables.iter().map(|table| self.of_condition(table));
            return Ok(boxes.collect::<Result<Vec<_>, _>>()?.concat());
        }

        let chosen = self.faces.chosen(table, &Sets::default()).into_iter();
        let chosen: Vec<Vec<u32>> = chosen.map(|(_, numbers)| numbers).collect::<Result<_, _>>()?;
        let within = table.bounds.as_ref().map(|own| BoundingBox { min: own.min, max: own.max });
        let Some(first) = chosen.first() else { return Ok(within.into_iter().collect()) };
        let is_chosen = |number: &&u32| chosen.iter().all(|numbers| numbers.contains(number));
        let boxes = first.iter().filter(is_chosen).filter_map(|number| self.faces.bounds(*number));
        Ok(boxes.filter_map(|own| within.map_or(Some(own), |within| common(own, within))).collect())
    }

    /// Boxes around the faces of a group of the geometry.
    fn of_group(&self, name: &str) -> Result<Vec<BoundingBox>, Finding> {
        let group =
            Condition { faces: Some(vec![FaceName::Name(name.into())]), ..Condition::default() };
        let remedy =
            "name a `[[select]]` by `faces`, `form`, `same_as` or `box`, or a group of faces";
        self.of_condition(&group).map_err(|_| {
            Finding::new(format!("there is no selection and no group of faces `{name}`"))
                .remedy(remedy)
        })
    }

    /// The box of smaller elements around `own`, as far as the part reaches.
    fn finer(&self, own: BoundingBox, refine: &Refine) -> Option<FinerBox> {
        let size = *refine.element_size.get_ref();
        let distance = refine.distance.unwrap_or(USUAL_DISTANCE * size);
        let grown =
            BoundingBox { min: own.min.map(|x| x - distance), max: own.max.map(|x| x + distance) };
        let reach = self.bounds.extent().iter().map(|x| x * x).sum::<f64>().sqrt();
        Some(FinerBox { bounds: common(grown, self.bounds)?, size, reach })
    }
}

/// Whether a table has conditions that only a mesh satisfies.
fn needs_mesh(table: &Condition) -> bool {
    let Condition { plane, cylinder, sphere, nearest, normal, nodes, .. } = table;
    let Condition { set, near, all, not, bounds, faces, form, same_as, any, .. } = table;
    let others = [
        plane.is_some(),
        cylinder.is_some(),
        sphere.is_some(),
        nearest.is_some(),
        normal.is_some(),
        nodes.is_some(),
        set.is_some(),
        near.is_some(),
        all.is_some(),
        not.is_some(),
    ];
    let own = [bounds.is_some(), faces.is_some(), form.is_some(), same_as.is_some()];
    others.contains(&true) || any.is_some() && own.contains(&true)
}

/// The box that two have in common.
fn common(one: BoundingBox, other: BoundingBox) -> Option<BoundingBox> {
    let min: [f64; 3] = std::array::from_fn(|k| one.min[k].max(other.min[k]));
    let max: [f64; 3] = std::array::from_fn(|k| one.max[k].min(other.max[k]));
    (0..3).all(|k| min[k] <= max[k]).then_some(BoundingBox { min, max })
}

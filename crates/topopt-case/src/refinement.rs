//! Places of a geometry with smaller elements, found before there is a mesh.

use std::path::Path;

use topopt_io::gmsh::{self, FinerBox};
use topopt_mesh::{BoundingBox, Sets};

use crate::config::{Condition, Config, Refine};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;
use crate::interrupt::Interrupt;
use crate::meshing::{self, Gmsh};
use crate::selected_faces;

/// Distance from its faces in which elements are small, in elements.
pub(crate) const USUAL_DISTANCE: f64 = 2.0;

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
    if config.mesh.get_ref().refine.is_empty() || !gmsh::is_geometry(path) {
        return Ok(Vec::new());
    }
    let part = meshing::faces(path, &meshing::of(config, gmsh)?, interrupt)?;
    let bounds = BoundingBox::around(&part.vertices);
    boxes_within(config, bounds, &GeometryFaces::of_part(path, part))
}

/// Finds the boxes that `mesh.refine` of `config` names on a part within `bounds`.
///
/// # Errors
/// A set that needs a mesh, or that has no faces.
pub(crate) fn boxes_within(
    config: &Config,
    bounds: BoundingBox,
    faces: &GeometryFaces,
) -> Result<Vec<FinerBox>, Finding> {
    let places = Places { config, bounds, faces };
    let mut boxes = Vec::new();
    for refine in &config.mesh.get_ref().refine {
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
    faces: &'a GeometryFaces,
}

impl Places<'_> {
    /// Boxes around the faces of a set, or the box that it is.
    fn of_set(&self, name: &str) -> Result<Vec<BoundingBox>, Finding> {
        let boxes = self.of_condition(&selected_faces::condition(self.config, name)?);
        boxes.map_err(|finding| selected_faces::or_no_group(self.config, name, finding))
    }

    /// Boxes of what satisfies a table of conditions.
    fn of_condition(&self, table: &Condition) -> Result<Vec<BoundingBox>, Finding> {
        if let Some(tables) = &table.any {
            let boxes = tables.iter().map(|table| self.of_condition(table));
            return Ok(boxes.collect::<Result<Vec<_>, _>>()?.concat());
        }

        let within = table.bounds.as_ref().map(|own| BoundingBox { min: own.min, max: own.max });
        let chosen = self.faces.common(table, &Sets::default())?;
        let Some(chosen) = chosen else { return Ok(within.into_iter().collect()) };
        let boxes = chosen.iter().filter_map(|number| self.faces.bounds(*number));
        Ok(boxes.filter_map(|own| within.map_or(Some(own), |within| common(own, within))).collect())
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

/// The box that two have in common.
fn common(one: BoundingBox, other: BoundingBox) -> Option<BoundingBox> {
    let min: [f64; 3] = std::array::from_fn(|k| one.min[k].max(other.min[k]));
    let max: [f64; 3] = std::array::from_fn(|k| one.max[k].min(other.max[k]));
    (0..3).all(|k| min[k] <= max[k]).then_some(BoundingBox { min, max })
}

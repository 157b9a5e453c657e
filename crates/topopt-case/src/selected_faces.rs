//! Faces that a selection of the case takes of geometries, before there is a mesh.

use topopt_io::gmsh::PartFace;
use topopt_mesh::{BoundingBox, Sets};

use crate::config::{Condition, Config, FaceName, Select};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;

/// Numbers of the faces that the selection, or the group of faces, of a name takes.
///
/// # Errors
/// A selection that needs a mesh, and one of no face.
pub(crate) fn numbers(
    config: &Config,
    faces: &GeometryFaces,
    name: &str,
) -> Result<Vec<u32>, Finding> {
    let numbers = of_condition(&condition(config, name)?, faces);
    let numbers = numbers.map_err(|finding| or_no_group(config, name, finding))?;
    if numbers.is_empty() {
        let finding = Finding::new(format!("`{name}` takes no face"));
        return Err(finding.remedy("choose faces that there are, or a larger box"));
    }
    Ok(numbers)
}

/// The conditions of the selection, or of the group of faces, of a name.
///
/// # Errors
/// A selection that needs a mesh.
pub(crate) fn condition(config: &Config, name: &str) -> Result<Condition, Finding> {
    let is_own = |select: &&Select| select.name.get_ref() == name;
    let group =
        || Condition { faces: Some(vec![FaceName::Name(name.into())]), ..Condition::default() };
    let own = config.select.iter().find(is_own).map(|select| select.condition.clone());
    let condition = own.unwrap_or_else(group);
    check(&condition).map(|()| condition)
}

/// The finding on a name, where that is not of a selection.
pub(crate) fn or_no_group(config: &Config, name: &str, finding: Finding) -> Finding {
    if config.select.iter().any(|select| select.name.get_ref() == name) {
        return finding;
    }
    let remedy = "name a `[[select]]` by `faces`, `form`, `same_as` or `box`, or a group of faces";
    Finding::new(format!("there is no selection and no group of faces `{name}`")).remedy(remedy)
}

fn of_condition(table: &Condition, faces: &GeometryFaces) -> Result<Vec<u32>, Finding> {
    if let Some(tables) = &table.any {
        let numbers = tables.iter().map(|table| of_condition(table, faces));
        return Ok(numbers.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let within = table.bounds.as_ref().map(|own| BoundingBox { min: own.min, max: own.max });
    let is_within = |face: &PartFace| {
        within.is_none_or(|within| {
            [face.bounds.min, face.bounds.max].iter().all(|x| within.squared_distance(*x) == 0.0)
        })
    };
    let all = || faces.all().map(|face| face.number).collect();
    let chosen = faces.common(table, &Sets::default())?.unwrap_or_else(all);
    Ok(faces
        .all()
        .filter(|it| chosen.contains(&it.number) && is_within(it))
        .map(|it| it.number)
        .collect())
}

/// Refuses conditions that only a mesh satisfies.
fn check(table: &Condition) -> Result<(), Finding> {
    if needs_mesh(table) {
        let finding = Finding::new("these faces are asked for where there is no mesh yet");
        return Err(finding
            .remedy("select the place by `faces`, `form`, `same_as` or `box`, or `any` of these"));
    }
    table.any.iter().flatten().try_for_each(check)
}

/// Whether a table has conditions that only a mesh satisfies.
fn needs_mesh(table: &Condition) -> bool {
    let Condition { plane, cylinder, sphere, nearest, normal, nodes, .. } = table;
    let Condition { set, near, all, not, bounds, faces, form, same_as, body, any, .. } = table;
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
    let own =
        [bounds.is_some(), faces.is_some(), form.is_some(), same_as.is_some(), body.is_some()];
    others.contains(&true) || any.is_some() && own.contains(&true)
}

//! Conversion of a Gmsh file, numbered by tags, to a checked mesh.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;

use rayon::prelude::*;
use topopt_mesh::hexahedron::distinct;
use topopt_mesh::{Face, MeshError};

use super::error::Fault as GmshFault;
use super::raw::{Corners, RawMesh};
use crate::file_sets::{CellFace, FileSets};
use crate::import::{Cutting, ImportedMesh};
use crate::part::Part;
use crate::read_error::Fault;

/// Meaning of the numbers that surfaces have in a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surfaces {
    /// Faces of the geometry that the mesh was made of.
    Faces,
    /// Nothing: another program has given them.
    Unnamed,
}

/// The group of all surfaces, which stands for the numbers of their faces alone.
pub(super) const ALL_FACES: &str = "topopt: all faces";

/// Numbers nodes and elements, makes the sets and checks the mesh.
pub(super) fn import(
    mut raw: RawMesh,
    cutting: Cutting,
    surfaces: Surfaces,
) -> Result<ImportedMesh, Fault> {
    if raw.cells.is_empty() {
        return Err(GmshFault::NoSolids.into());
    }
    let mut notes = notes_on_file(&raw);
    notes.extend(raw.note_on_left_out(&raw.places.iter().copied().collect()));
    raw.forget(ALL_FACES);
    let is_untagged = |face: &&Corners<4>| raw.groups(face.place).is_empty();
    let untagged = raw.faces.iter().filter(is_untagged).count();
    let remark = (untagged > 0 && surfaces == Surfaces::Unnamed)
        .then(|| format!("{untagged} surface elements without a physical group were left out"));
    sort_elements(&mut raw);
    let (tags, cells) = (take(&mut raw.tags), take(&mut raw.cells));
    let part = Part::new(take(&mut raw.nodes), tags, cells, cutting)?;
    // Version 2.2 writes an element once for each of its physical groups, with a tag of its own.
    notes.extend(part.elements.note(|given| raw.places[given as usize]));

    let mut sets = FileSets::default();
    empty_sets(&raw, &mut sets);
    element_sets(&raw, &mut sets);
    face_sets(&raw, &part, &mut sets)?;
    if surfaces == Surfaces::Unnamed {
        sets.numbered.clear();
    }
    node_sets(&raw, &mut sets);
    let mut imported =
        part.into_mesh_or(sets, notes, |error, given| inverted(error, given, &raw))?;
    imported.remarks.extend(remark);
    Ok(imported)
}

/// An inverted element with the volume that it is in.
fn inverted(error: &MeshError, given: &dyn Fn(u32) -> (u32, u64), raw: &RawMesh) -> Option<Fault> {
    let &MeshError::Inverted { element, center, determinant, count } = error else {
        return None;
    };
    let (given, element) = given(element);
    let volume = raw.volume(raw.places[given as usize]);
    Some(GmshFault::Inverted { element, center, volume, determinant, count }.into())
}

fn notes_on_file(raw: &RawMesh) -> Vec<String> {
    let sections = raw.unknown_sections.iter().map(|s| format!("section ${s} was skipped"));
    let high_order = raw.high_order.iter().map(|nodes| {
        format!("elements of {nodes} nodes, of third or higher order, were read by their corners")
    });
    sections.chain(high_order).collect()
}

/// Sorts the solid elements by their tags.
fn sort_elements(raw: &mut RawMesh) {
    if raw.tags.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..raw.cells.len()).collect();
    order.par_sort_by_key(|&i| raw.tags[i]);
    raw.cells = raw.cells.select(order.iter().copied());
    raw.tags = order.iter().map(|&i| raw.tags[i]).collect();
    raw.places = order.iter().map(|&i| raw.places[i]).collect();
}

/// Sets of the named groups, still without entries.
fn empty_sets(raw: &RawMesh, sets: &mut FileSets) {
    for ((dimension, _), name) in &raw.names {
        match dimension {
            3 => drop(sets.elements.entry(name.clone()).or_default()),
            2 => drop(sets.faces.entry(name.clone()).or_default()),
            _ => drop(sets.nodes.entry(name.clone()).or_default()),
        }
    }
}

/// Names of the sets of every place.
fn set_names(raw: &RawMesh, dimension: u8) -> Vec<Vec<String>> {
    let names = |groups: &[u32]| groups.iter().map(|&g| raw.name(dimension, g)).collect();
    raw.combinations().map(names).collect()
}

fn element_sets(raw: &RawMesh, sets: &mut FileSets) {
    let mut members = vec![Vec::new(); raw.combinations().len()];
    for (given, &place) in (0..).zip(&raw.places) {
        members[place as usize].push(given);
    }
    for (names, members) in set_names(raw, 3).into_iter().zip(members) {
        if !members.is_empty() {
            for name in names {
                sets.elements.entry(name).or_default().extend(&members);
            }
        }
    }
}

fn face_sets(raw: &RawMesh, part: &Part, sets: &mut FileSets) -> Result<(), Fault> {
    let faces = faces_on(&raw.faces, part);
    let names = set_names(raw, 2);
    let mut seen = HashSet::new();
    let mut lost: Vec<&Corners<4>> = Vec::new();
    for given in &raw.faces {
        let Some(sides) = faces.get(&Face::key(given.nodes)) else {
            // A surface of no solid, in no set, is lost to nobody.
            lost.extend((!raw.groups(given.place).is_empty()).then_some(given));
            continue;
        };

        let face = facing(sides, &given.nodes, part);
        if let Ok(number) = u32::try_from(raw.entity(given.place)) {
            sets.numbered.entry(number).or_default().push(face);
        }
        let names = names[given.place as usize].iter();
        // Gmsh writes an element again for each of its groups: `seen` keeps one face per set.
        for name in names.filter(|name| seen.insert((name.as_str(), face))) {
            sets.faces.entry(name.clone()).or_default().push(face);
        }
    }

    match lost.first() {
        None => Ok(()),
        Some(face) => Err(GmshFault::NoFace {
            shape: if face.nodes[2] == face.nodes[3] { "triangle" } else { "quadrilateral" },
            element: face.tag,
            group: names[face.place as usize][0].clone(),
            count: lost.len(),
        }
        .into()),
    }
}

/// The one or two faces of cells at a face of the file.
type Sides = (CellFace, Option<CellFace>);

/// The faces of cells at each of `wanted` that has any, by [`Face::key`].
fn faces_on(wanted: &[Corners<4>], part: &Part) -> HashMap<[u32; 4], Sides> {
    let mut touched = vec![false; part.node_tags.len()];
    for &node in wanted.iter().flat_map(|face| &face.nodes) {
        touched[node as usize] = true;
    }
    let wanted: HashSet<[u32; 4]> = wanted.iter().map(|face| Face::key(face.nodes)).collect();

    let mut faces = HashMap::with_capacity(wanted.len());
    for (cell, of_cell) in (0..).zip(part.cells.iter()) {
        for corners in of_cell.shape.faces() {
            if !corners.iter().all(|&a| touched[of_cell.corners[a] as usize]) {
                continue;
            }
            let key = of_cell.face_key(corners);
            if wanted.contains(&key) {
                let face = CellFace { cell, key };
                let second = |sides: &mut Sides| sides.1 = Some(face);
                faces.entry(key).and_modify(second).or_insert((face, None));
            }
        }
    }
    faces
}

/// The second side if the face of the file points out of its cell, else the first.
fn facing(sides: &Sides, corners: &[u32; 4], part: &Part) -> CellFace {
    sides.1.filter(|face| points_outwards(face, corners, part)).unwrap_or(sides.0)
}

/// Whether the face of a cell runs through `corners` in their direction.
fn points_outwards(face: &CellFace, corners: &[u32; 4], part: &Part) -> bool {
    let cell = part.cells.get(face.cell as usize);
    let is_it = |corners: &&&[usize]| cell.face_key(corners) == face.key;
    let own = cell.shape.faces().iter().find(is_it).copied().unwrap_or_default();
    let mut nodes: Vec<u32> = own.iter().map(|&a| cell.corners[a]).collect();
    let start = nodes.iter().position(|node| *node == corners[0]).unwrap_or(0);
    nodes.rotate_left(start);
    nodes.into_iter().eq(distinct(corners))
}

fn node_sets(raw: &RawMesh, sets: &mut FileSets) {
    let names = [0, 1].map(|dimension| set_names(raw, dimension));
    let points = raw.points.iter().map(|point| (point.nodes[0], &names[0][point.place as usize]));
    let ends = raw.lines.iter().flat_map(|line| {
        let names = &names[1][line.place as usize];
        line.nodes.map(|node| (node, names))
    });
    let mut seen = BTreeMap::<&str, HashSet<u32>>::new();
    for (position, names) in points.chain(ends) {
        for name in names {
            if seen.entry(name).or_default().insert(position) {
                sets.nodes.entry(name.clone()).or_default().push(position);
            }
        }
    }
}

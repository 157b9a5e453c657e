//! From the tags of a file to a checked mesh.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;

use rayon::prelude::*;
use topopt_mesh::hexahedron::{self, distinct};
use topopt_mesh::{Face, MeshError, Sets};

use super::error::{Fault as GmshFault, Leftover};
use super::raw::{Corners, RawMesh};
use crate::elements::Elements;
use crate::import::{ImportedMesh, Numbering, UNUSED, left_out_of_set};
use crate::read_error::Fault;

/// Numbers nodes and elements, makes the sets and checks the mesh.
pub(super) fn import(mut raw: RawMesh) -> Result<ImportedMesh, Fault> {
    only_hexahedra(&raw)?;
    let mut notes = notes_on_file(&raw);
    sort_elements(&mut raw);
    let (tags, hexes) = (take(&mut raw.hex_tags), take(&mut raw.hexes));
    let numbering = Numbering::of_positions(take(&mut raw.nodes), tags, hexes)?;
    // Version 2.2 writes an element once for each of its physical groups, with a tag of its own.
    notes.extend(numbering.elements.note(|given| raw.hex_places[given as usize]));
    notes.extend(numbering.note());
    let mut sets = Sets::default();
    empty_sets(&raw, &mut sets);
    element_sets(&raw, &numbering.elements, &mut sets);
    face_sets(&raw, &numbering, &mut sets)?;
    node_sets(&raw, &numbering, &mut sets, &mut notes);
    numbering.into_mesh_or(sets, notes, |error, elements| inverted(error, elements, &raw))
}

/// An inverted element with the volume that it is in.
fn inverted(error: &MeshError, elements: &Elements, raw: &RawMesh) -> Option<Fault> {
    let &MeshError::Inverted { element, determinant, count } = error else { return None };
    let given = elements.given(element) as usize;
    let (element, volume) = (elements.tags()[given], raw.volume(raw.hex_places[given]));
    Some(GmshFault::Inverted { element, volume, determinant, count }.into())
}

fn only_hexahedra(raw: &RawMesh) -> Result<(), Fault> {
    let count = raw.hexes.len();
    if count >= UNUSED as usize {
        return Err(Fault::Mesh(MeshError::TooLarge(count)));
    }

    if let Some(&(_, element)) = raw.others.values().next() {
        let leftovers = raw.others.iter().map(|(&(place, shape), &(count, _))| Leftover {
            shape: shape.plural(),
            count,
            volume: raw.volume(place),
        });
        return Err(GmshFault::NotHexahedra { leftovers: leftovers.collect(), element }.into());
    }

    // Only triangles of a physical group are counted: a support or load on them would be lost.
    if let Some((count, first)) = raw.triangles {
        let group = raw.name(2, raw.groups(first.place)[0]);
        return Err(
            GmshFault::NoFace { shape: "triangle", element: first.tag, group, count }.into()
        );
    }

    if raw.hexes.is_empty() {
        return Err(GmshFault::NoHexahedra.into());
    }
    Ok(())
}

fn notes_on_file(raw: &RawMesh) -> Vec<String> {
    let sections = raw.unknown_sections.iter().map(|s| format!("section ${s} was skipped"));
    let high_order = raw.high_order.iter().map(|nodes| {
        format!("hexahedra of {nodes} nodes (hex{nodes}) were read by their eight corners")
    });
    let surfaces = (raw.untagged_surfaces > 0).then(|| {
        format!("{} surface elements without a physical group were left out", raw.untagged_surfaces)
    });
    sections.chain(high_order).chain(surfaces).collect()
}

/// Puts the hexahedra into the order of their tags.
fn sort_elements(raw: &mut RawMesh) {
    if raw.hex_tags.is_sorted() {
        return;
    }
    let mut order: Vec<u32> = (0..raw.hexes.len() as u32).collect();
    order.par_sort_by_key(|&i| raw.hex_tags[i as usize]);
    raw.hexes = order.iter().map(|&i| raw.hexes[i as usize]).collect();
    raw.hex_tags = order.iter().map(|&i| raw.hex_tags[i as usize]).collect();
    raw.hex_places = order.iter().map(|&i| raw.hex_places[i as usize]).collect();
}

/// Sets of the named groups, still without entries.
fn empty_sets(raw: &RawMesh, sets: &mut Sets) {
    for ((dimension, _), name) in &raw.names {
        match dimension {
            3 => drop(sets.elements.entry(name.clone()).or_default()),
            2 => drop(sets.faces.entry(name.clone()).or_default()),
            _ => drop(sets.nodes.entry(name.clone()).or_default()),
        }
    }
}

/// For every place the names of its sets.
fn set_names(raw: &RawMesh, dimension: u8) -> Vec<Vec<String>> {
    let names = |groups: &[u32]| groups.iter().map(|&g| raw.name(dimension, g)).collect();
    raw.combinations().map(names).collect()
}

fn element_sets(raw: &RawMesh, elements: &Elements, sets: &mut Sets) {
    let mut members = vec![Vec::new(); raw.combinations().len()];
    for (given, &place) in (0..).zip(&raw.hex_places) {
        members[place as usize].push(elements.number(given));
    }
    for (names, members) in set_names(raw, 3).into_iter().zip(members) {
        if !members.is_empty() {
            for name in names {
                sets.elements.entry(name).or_default().extend(&members);
            }
        }
    }
    for set in sets.elements.values_mut() {
        set.sort_unstable();
        set.dedup();
    }
}

fn face_sets(raw: &RawMesh, numbering: &Numbering, sets: &mut Sets) -> Result<(), Fault> {
    let hexes = &numbering.hexes;
    let number = |quad: &Corners<4>| quad.nodes.map(|position| numbering.number(position));
    let quads: Vec<[u32; 4]> = raw.quads.iter().map(number).collect();
    let faces = faces_on(&quads, hexes, numbering.n_used);

    let names = set_names(raw, 2);
    let mut seen = HashSet::new();
    let mut lost = Vec::new();
    for (corners, quad) in quads.iter().zip(&raw.quads) {
        let Some(sides) = faces.get(&Face::key(*corners)) else {
            lost.push(quad);
            continue;
        };

        let face = facing(sides, corners, hexes);
        let names = names[quad.place as usize].iter();
        // Gmsh writes an element again for each of its groups: `seen` keeps one face per set.
        for name in names.filter(|name| seen.insert((name.as_str(), face))) {
            sets.faces.entry(name.clone()).or_default().push(face);
        }
    }

    match lost.first() {
        None => Ok(()),
        Some(quad) => Err(GmshFault::NoFace {
            shape: "quadrilateral",
            element: quad.tag,
            group: names[quad.place as usize][0].clone(),
            count: lost.len(),
        }
        .into()),
    }
}

/// The one or two faces of elements at a quadrilateral.
type Sides = (Face, Option<Face>);

/// The faces of elements at each of `quads` that has any, by [`Face::key`].
fn faces_on(quads: &[[u32; 4]], hexes: &[[u32; 8]], n_nodes: usize) -> HashMap<[u32; 4], Sides> {
    let wanted: HashSet<[u32; 4]> = quads.iter().map(|&quad| Face::key(quad)).collect();
    let mut touched = vec![false; n_nodes];
    for &node in quads.as_flattened().iter().filter(|node| **node != UNUSED) {
        touched[node as usize] = true;
    }
    let mut faces = HashMap::with_capacity(wanted.len());
    for (element, hex) in (0..).zip(hexes) {
        for (local, corners) in (0..).zip(hexahedron::FACES) {
            let corners = corners.map(|a| hex[a]);
            let key = Face::key(corners);
            if corners.iter().all(|&node| touched[node as usize]) && wanted.contains(&key) {
                let face = Face { element, local };
                let second = |sides: &mut Sides| sides.1 = Some(face);
                faces.entry(key).and_modify(second).or_insert((face, None));
            }
        }
    }
    faces
}

/// The second side if the quadrilateral points out of its element, else the first.
fn facing(sides: &Sides, corners: &[u32; 4], hexes: &[[u32; 8]]) -> Face {
    let points_outwards = |face: &Face| {
        let mut nodes: Vec<u32> = distinct(&face.nodes(hexes)).collect();
        let start = nodes.iter().position(|node| *node == corners[0]).unwrap_or(0);
        nodes.rotate_left(start);
        nodes.into_iter().eq(distinct(corners))
    };
    sides.1.filter(points_outwards).unwrap_or(sides.0)
}

fn node_sets(raw: &RawMesh, numbering: &Numbering, sets: &mut Sets, notes: &mut Vec<String>) {
    let names = [0, 1].map(|dimension| set_names(raw, dimension));
    let points = raw.points.iter().map(|point| (point.nodes[0], &names[0][point.place as usize]));
    let ends = raw.lines.iter().flat_map(|line| {
        let names = &names[1][line.place as usize];
        line.nodes.map(|node| (node, names))
    });
    let mut seen = HashSet::new();
    let mut unused = BTreeMap::<&str, usize>::new();
    for (position, names) in points.chain(ends) {
        let number = numbering.number(position);
        for name in names.iter().filter(|name| seen.insert((name.as_str(), position))) {
            if number == UNUSED {
                *unused.entry(name).or_default() += 1;
            } else {
                sets.nodes.entry(name.clone()).or_default().push(number);
            }
        }
    }
    notes.extend(unused.into_iter().map(|(name, count)| left_out_of_set(name, count)));
}

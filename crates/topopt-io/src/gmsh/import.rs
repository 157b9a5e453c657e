//! From the tags of a file to a checked mesh.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;

use topopt_mesh::{Face, MeshError, Sets, hexahedron};

use super::error::{Leftover, Problem as GmshProblem};
use super::raw::RawMesh;
use crate::import::{ImportedMesh, Nodes, Numbering, UNUSED, left_out_of_set};
use crate::read_error::Problem;

/// Resolves the nodes, makes the sets and checks the mesh.
pub(super) fn import(mut raw: RawMesh) -> Result<ImportedMesh, Problem> {
    only_hexahedra(&raw)?;
    let mut notes = notes_on_file(&raw);
    let nodes = Nodes::new(take(&mut raw.node_tags), take(&mut raw.coordinates))?;
    let (kept, owners) = number_elements(&raw, &mut notes);
    let tags = kept.iter().map(|&i| raw.hexes[i as usize].tag).collect();
    let corners = kept.iter().map(|&i| raw.hexes[i as usize].nodes);
    let numbering = Numbering::new(nodes, tags, corners)?;
    notes.extend(numbering.note());
    let mut sets = Sets::default();
    empty_sets(&raw, &mut sets);
    element_sets(&raw, &owners, &mut sets);
    face_sets(&raw, &numbering, &mut sets)?;
    node_sets(&raw, &numbering, &mut sets, &mut notes)?;
    numbering.into_mesh(sets, notes).map_err(|problem| in_volume(problem, &raw))
}

/// The same problem, with the volume that an inverted element is in.
fn in_volume(problem: Problem, raw: &RawMesh) -> Problem {
    let Problem::Inverted { element, determinant, count } = problem else { return problem };
    let hex = raw.hexes.iter().find(|hex| hex.tag == element);
    let volume = hex.map_or_else(String::new, |hex| raw.volume(hex.place));
    GmshProblem::Inverted { element, volume, determinant, count }.into()
}

fn only_hexahedra(raw: &RawMesh) -> Result<(), Problem> {
    let largest = raw.hexes.len().max(raw.node_tags.len());
    if largest >= UNUSED as usize {
        return Err(Problem::Mesh(MeshError::TooLarge(largest)));
    }
    if let Some((.., first)) = raw.others.first() {
        let leftovers = raw.others.iter().map(|&(shape, count, first)| Leftover {
            shape: shape.plural(),
            count,
            volume: raw.volume(first.place),
        });
        let (leftovers, element) = (leftovers.collect(), first.tag);
        return Err(GmshProblem::NotHexahedra { leftovers, element }.into());
    }
    if let Some((count, first)) = raw.triangles {
        let group = raw.name(2, raw.groups(first.place)[0]);
        return Err(
            GmshProblem::NoFace { shape: "triangle", element: first.tag, group, count }.into()
        );
    }
    if raw.hexes.is_empty() {
        return Err(GmshProblem::NoHexahedra.into());
    }
    Ok(())
}

fn notes_on_file(raw: &RawMesh) -> Vec<String> {
    let sections = raw.unknown_sections.iter().map(|s| format!("section ${s} was passed over"));
    let high_order = raw.high_order.iter().map(|nodes| {
        format!("hexahedra of {nodes} nodes (hex{nodes}) were read by their eight corners")
    });
    let surfaces = (raw.untagged_surfaces > 0).then(|| {
        format!("{} surface elements without a physical group were left out", raw.untagged_surfaces)
    });
    sections.chain(high_order).chain(surfaces).collect()
}

/// The hexahedra of the file to keep, by ascending tags, and for every hexahedron of the file the
/// element it is.
///
/// Version 2.2 writes an element once for each of its physical groups, with a tag of its own each
/// time: hexahedra of the same nodes are one element, by its lowest tag.
fn number_elements(raw: &RawMesh, notes: &mut Vec<String>) -> (Vec<u32>, Vec<u32>) {
    let hexes = &raw.hexes;
    let mut order: Vec<u32> = (0..hexes.len() as u32).collect();
    let at = |i: u32| &hexes[i as usize];
    order.sort_unstable_by_key(|&i| (at(i).nodes, at(i).tag, i));
    let (mut kept, mut doubles) = (Vec::new(), 0);
    for copies in order.chunk_by(|&i, &k| at(i).nodes == at(k).nodes) {
        kept.push(copies[0]);
        let places: HashSet<u32> = copies.iter().map(|&i| at(i).place).collect();
        doubles += copies.len() - places.len();
    }
    if doubles > 0 {
        notes.push(format!("{doubles} hexahedra that stand in the file twice were left out"));
    }
    kept.sort_unstable_by_key(|&i| at(i).tag);
    let mut number = vec![0; hexes.len()];
    for (element, &i) in kept.iter().enumerate() {
        number[i as usize] = element as u32;
    }
    for copies in order.chunk_by(|&i, &k| at(i).nodes == at(k).nodes) {
        for &i in copies {
            number[i as usize] = number[copies[0] as usize];
        }
    }
    (kept, number)
}

/// The number of the node that `element` names by `tag`; `UNUSED` if no hexahedron uses it.
fn node(numbering: &Numbering, element: u64, tag: u64) -> Result<u32, Problem> {
    numbering.node(tag).ok_or(Problem::MissingNode { element, node: tag })
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

fn element_sets(raw: &RawMesh, owners: &[u32], sets: &mut Sets) {
    let mut members = vec![Vec::new(); raw.combinations().len()];
    for (corners, &owner) in raw.hexes.iter().zip(owners) {
        members[corners.place as usize].push(owner);
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

fn face_sets(raw: &RawMesh, numbering: &Numbering, sets: &mut Sets) -> Result<(), Problem> {
    let hexes = &numbering.hexes;
    let mut quads = vec![[0; 4]; raw.quads.len()];
    for (corners, quad) in quads.iter_mut().zip(&raw.quads) {
        for (corner, &tag) in corners.iter_mut().zip(&quad.nodes) {
            *corner = node(numbering, quad.tag, tag)?;
        }
    }
    let faces = faces_on(&quads, hexes, numbering.n_used);
    let names = set_names(raw, 2);
    let mut seen = HashSet::new();
    let mut lost = Vec::new();
    for (corners, quad) in quads.iter().zip(&raw.quads) {
        let Some(sides) = faces.get(&sorted(*corners)) else {
            lost.push(quad);
            continue;
        };
        let face = facing(sides, corners, hexes);
        let names = names[quad.place as usize].iter();
        for name in names.filter(|name| seen.insert((name.as_str(), face))) {
            sets.faces.entry(name.clone()).or_default().push(face);
        }
    }
    match lost.first() {
        None => Ok(()),
        Some(quad) => Err(GmshProblem::NoFace {
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

/// The faces of elements at each of `quads` that has any, by sorted nodes.
fn faces_on(quads: &[[u32; 4]], hexes: &[[u32; 8]], n_nodes: usize) -> HashMap<[u32; 4], Sides> {
    let wanted: HashSet<[u32; 4]> = quads.iter().map(|&quad| sorted(quad)).collect();
    let mut touched = vec![false; n_nodes];
    for &node in quads.as_flattened().iter().filter(|node| **node != UNUSED) {
        touched[node as usize] = true;
    }
    let mut faces = HashMap::with_capacity(wanted.len());
    for (element, hex) in (0..).zip(hexes) {
        for (local, corners) in (0..).zip(hexahedron::FACES) {
            let corners = corners.map(|a| hex[a]);
            let key = sorted(corners);
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
        let mut nodes = face.nodes(hexes);
        let start = nodes.iter().position(|node| *node == corners[0]).unwrap_or(0);
        nodes.rotate_left(start);
        nodes == *corners
    };
    sides.1.filter(points_outwards).unwrap_or(sides.0)
}

fn sorted(mut nodes: [u32; 4]) -> [u32; 4] {
    nodes.sort_unstable();
    nodes
}

fn node_sets(
    raw: &RawMesh,
    numbering: &Numbering,
    sets: &mut Sets,
    notes: &mut Vec<String>,
) -> Result<(), Problem> {
    let names = [0, 1].map(|dimension| set_names(raw, dimension));
    let points = raw.points.iter().map(|p| (p.tag, p.nodes[0], &names[0][p.place as usize]));
    let ends = raw
        .lines
        .iter()
        .flat_map(|line| line.nodes.map(|node| (line.tag, node, &names[1][line.place as usize])));
    let mut seen = HashSet::new();
    let mut unused = BTreeMap::<&str, usize>::new();
    for (element, tag, names) in points.chain(ends) {
        let number = node(numbering, element, tag)?;
        for name in names.iter().filter(|name| seen.insert((name.as_str(), tag))) {
            if number == UNUSED {
                *unused.entry(name).or_default() += 1;
            } else {
                sets.nodes.entry(name.clone()).or_default().push(number);
            }
        }
    }
    notes.extend(unused.into_iter().map(|(name, count)| left_out_of_set(name, count)));
    Ok(())
}

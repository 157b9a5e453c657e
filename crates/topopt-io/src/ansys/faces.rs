//! Faces of the surface by their corners.

use std::collections::{HashMap, HashSet};

use topopt_mesh::Face;

use super::archive::{Archive, Element};
use super::element_type::{self, Role};

/// The faces of these elements that no other of them has and whose corners are all among these
/// nodes: element and number of the face, in the order of the file.
pub(super) fn within(archive: &Archive, elements: &[u32], nodes: &[u32]) -> Vec<(u32, u32)> {
    let elements: HashSet<u32> = elements.iter().copied().collect();
    let nodes: HashSet<u32> = nodes.iter().copied().collect();
    let mut known = HashMap::<[u32; 4], usize>::new();
    let mut found = Vec::new();
    for element in archive.elements.iter().filter(|element| elements.contains(&element.tag)) {
        for (number, corners) in of_element(archive, element) {
            if corners.iter().all(|corner| nodes.contains(corner)) {
                let key = Face::key_of(&corners);
                *known.entry(key).or_default() += 1;
                found.push((element.tag, number, key));
            }
        }
    }
    found.retain(|(.., key)| known[key] == 1);
    found.into_iter().map(|(element, number, _)| (element, number)).collect()
}

/// The faces of a solid that have an area: number and corners, each once.
fn of_element(archive: &Archive, element: &Element) -> Vec<(u32, Vec<u32>)> {
    let role = archive.element_types.get(&element.kind).map_or(Role::Skipped, element_type::role);
    let nodes = archive.nodes_of(element);
    let mut faces = Vec::new();
    for number in 1..=6 {
        let Some(mut corners) = element_type::face(role, nodes, number) else { continue };
        corners.sort_unstable();
        corners.dedup();
        faces.extend((corners.len() > 2).then_some((number, corners)));
    }
    faces
}

//! COMBIN14: springs from nodes of solids to nodes that are held.

use std::collections::BTreeMap;

use topopt_mesh::vector::difference;

use super::archive::{Archive, Element};
use super::element_type::SPRING;
use crate::directions::axis_along;
use crate::found::Found;
use crate::part::{Part, Stand};

/// Adds the springs that are carried over: how many these are, and the nodes that hold them.
pub(super) fn add(archive: &Archive, part: &Part, found: &mut Found) -> (usize, Vec<u32>) {
    let mut at_nodes = BTreeMap::<u32, [f64; 3]>::new();
    let mut grounds = Vec::new();
    for element in &archive.elements {
        if let Some((position, axis, stiffness, ground)) = spring(archive, part, element) {
            at_nodes.entry(position).or_default()[axis] += stiffness;
            grounds.push(ground);
        }
    }
    found.add_springs("COMBIN14", at_nodes);
    (grounds.len(), grounds)
}

/// The position of the node of a spring, its direction, its stiffness and the node that holds it;
/// none if it is no spring along an axis to a node that is held.
fn spring(archive: &Archive, part: &Part, element: &Element) -> Option<(u32, usize, f64, u32)> {
    let kind = archive.element_types.get(&element.kind).filter(|kind| kind.number == SPRING)?;
    let stiffness = *archive.reals.get(&element.real).filter(|k| **k > 0.0)?;
    let &[a, b] = archive.nodes_of(element) else { return None };
    let is_turned = |node: u32| archive.rotated_nodes.contains_key(&node);
    if is_turned(a) || is_turned(b) || kind.keys[2] == 1 {
        return None;
    }
    let (node, ground) = if is_ground(archive, part, a) { (b, a) } else { (a, b) };
    if !is_ground(archive, part, ground) {
        return None;
    }

    let [position, held] = [part.node(node.into())?, part.node(ground.into())?];
    let axis = match kind.keys[1] {
        axis @ 1..=3 => axis as usize - 1,
        0 => axis_along(difference(part.given_place(position), part.given_place(held)))?,
        _ => return None,
    };
    (part.stand(position) == Stand::Node).then_some((position, axis, stiffness, ground))
}

/// Whether a node is held in all directions, and no solid has it.
fn is_ground(archive: &Archive, part: &Part, node: u32) -> bool {
    let held = archive.displacements.get(&node);
    let is_held = held.is_some_and(|all| all.iter().all(|h| h.is_some_and(|h| h.value == 0.0)));
    let position = part.node(node.into());
    is_held && position.is_some_and(|position| !part.is_of_solid(position))
}

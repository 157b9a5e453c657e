//! COMBIN14: springs from nodes of solids to nodes that are held.

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::vector::{difference, length};

use super::archive::{Archive, Element};
use super::element_type::SPRING;
use crate::deck::{Deck, DeckSpring};
use crate::part::{FileSets, Part, Stand};

/// Directions closer to an axis than this are that axis.
const ALONG: f64 = 1e-9;

/// Adds the springs that are carried over: how many these are, and the nodes that hold them.
pub(super) fn add(
    archive: &Archive,
    part: &Part,
    sets: &mut FileSets,
    deck: &mut Deck,
) -> (usize, Vec<u32>) {
    let mut at_nodes = BTreeMap::<u32, [f64; 3]>::new();
    let mut grounds = Vec::new();
    for element in &archive.elements {
        if let Some((position, axis, stiffness, ground)) = spring(archive, part, element) {
            at_nodes.entry(position).or_default()[axis] += stiffness;
            grounds.push(ground);
        }
    }

    let mut groups: Vec<([f64; 3], Vec<u32>)> = Vec::new();
    let mut index = HashMap::new();
    for (position, stiffness) in at_nodes {
        let at = *index.entry(stiffness.map(f64::to_bits)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((stiffness, Vec::new()));
        }
        groups[at].1.push(position);
    }
    for (i, (stiffness, positions)) in (1..).zip(groups) {
        let set = format!("COMBIN14_{i}");
        sets.as_listed.insert(set.clone());
        sets.nodes.insert(set.clone(), positions);
        deck.springs.push(DeckSpring { set, stiffness });
    }
    (grounds.len(), grounds)
}

/// The position of the node of a spring, its direction, its stiffness and the node that holds it; none
/// if it is no spring along an axis to a node that is held.
fn spring(archive: &Archive, part: &Part, element: &Element) -> Option<(u32, usize, f64, u32)> {
    let kind = archive.element_types.get(&element.kind).filter(|kind| kind.number == SPRING)?;
    let stiffness = *archive.reals.get(&element.real).filter(|k| **k > 0.0)?;
    let &[a, b] = archive.nodes_of(element) else { return None };
    let is_turned = |node: u32| archive.rotated_nodes.contains_key(&node);
    if is_turned(a) || is_turned(b) || kind.keys[2] == 1 {
        return None;
    }
    let is_ground = |node: &u32| {
        let held = archive.displacements.get(node);
        let is_held = held.is_some_and(|all| all.iter().all(|h| h.is_some_and(|h| h.value == 0.0)));
        let position = part.node((*node).into());
        is_held && position.is_some_and(|position| part.stand(position) == Stand::Nowhere)
    };
    let (node, ground) = if is_ground(&a) { (b, a) } else { (a, b) };
    if !is_ground(&ground) {
        return None;
    }

    let [position, held] = [part.node(node.into())?, part.node(ground.into())?];
    let axis = match kind.keys[1] {
        axis @ 1..=3 => axis as usize - 1,
        0 => {
            let between = difference(part.given_place(position), part.given_place(held));
            let size = length(between);
            (0..3).find(|&axis| between[axis].abs() > (1.0 - ALONG) * size && size > 0.0)?
        }
        _ => return None,
    };
    (part.stand(position) == Stand::Node).then_some((position, axis, stiffness, ground))
}

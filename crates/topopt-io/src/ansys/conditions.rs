//! Displacements and forces at nodes as node sets.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::archive::{Archive, NodalValue};
use super::carried::CASE;
use crate::deck::{Deck, DeckLoad, DeckSupport, SetLoad};
use crate::part::{FileSets, Part};

/// More different forces than this cannot be told apart by hand in a case file.
const MOST_FORCES: usize = 100;

/// Adds the node sets `D_UX`, `D_UY`, `D_UZ`, `D_ALL` and `F_1`, `F_2`, ...
pub(super) fn add(
    archive: &Archive,
    part: &Part,
    sets: &mut FileSets,
    notes: &mut Vec<String>,
    deck: &mut Deck,
) {
    let rotated: HashSet<u32> = archive.rotated_nodes.iter().copied().collect();
    let turned = |value: &&NodalValue| value.axis.is_some() && rotated.contains(&value.node);
    let conditions = || archive.displacements.iter().chain(&archive.forces);
    let n_turned = conditions().filter(turned).count();
    if n_turned > 0 {
        let what = format!(
            "D and F commands were skipped because the coordinate systems of their nodes are \
             rotated: {n_turned}"
        );
        deck.lost.push(what.clone());
        notes.push(what);
    }

    let straight = |values: &[NodalValue]| -> Vec<NodalValue> {
        values.iter().filter(|value| !turned(value)).copied().collect()
    };
    let position = |&node: &u32| part.node(node.into());

    for (name, nodes) in supports(&straight(&archive.displacements), notes) {
        let set = free_name(sets, name);
        let axis = ["D_UX", "D_UY", "D_UZ"].iter().position(|own| *own == name);
        let fixed = std::array::from_fn(|i| axis.is_none_or(|axis| axis == i));
        let displacement = [0.0; 3];
        deck.supports.push(DeckSupport {
            set: set.clone(),
            fixed,
            displacement,
            ..Default::default()
        });
        sets.nodes.insert(set, nodes.iter().filter_map(position).collect());
    }
    for ((axis, value), nodes) in moved(&straight(&archive.displacements)) {
        let set = free_name(sets, &format!("D_{}_{value:?}", ["UX", "UY", "UZ", "ALL"][axis]));
        let fixed = std::array::from_fn(|i| axis == 3 || axis == i);
        let displacement = fixed.map(|fixed| if fixed { value } else { 0.0 });
        deck.supports.push(DeckSupport {
            set: set.clone(),
            fixed,
            displacement,
            ..Default::default()
        });
        sets.nodes.insert(set, nodes.iter().filter_map(position).collect());
    }

    for (i, (force, nodes)) in forces(&straight(&archive.forces), notes).into_iter().enumerate() {
        let name = free_name(sets, &format!("F_{}", i + 1));
        notes.push(format!(
            "node set `{name}`: the force in the file is {force:?} on each node ({})",
            nodes.len()
        ));
        sets.as_listed.insert(name.clone());
        let load = SetLoad::Force { set: name.clone(), force };
        deck.loads.push(DeckLoad { case: CASE.into(), load });
        sets.nodes.insert(name, nodes.iter().filter_map(position).collect());
    }
}

/// `name`, or with underscores behind it until no node set is called so.
fn free_name(sets: &FileSets, name: &str) -> String {
    let mut name = name.to_owned();
    while sets.nodes.contains_key(&name) {
        name.push('_');
    }
    name
}

/// The displacements by node and direction, of which a later command counts.
fn given(displacements: &[NodalValue]) -> BTreeMap<(u32, Option<usize>), f64> {
    displacements.iter().map(|d| ((d.node, d.axis), d.value)).collect()
}

/// Nodes of the zero displacements by name of the set.
fn supports(
    displacements: &[NodalValue],
    notes: &mut Vec<String>,
) -> BTreeMap<&'static str, BTreeSet<u32>> {
    let mut sets = BTreeMap::<_, BTreeSet<u32>>::new();
    let mut moved = Vec::new();
    for ((node, axis), value) in given(displacements) {
        if value == 0.0 {
            let name = axis.map_or("D_ALL", |axis| ["D_UX", "D_UY", "D_UZ"][axis]);
            sets.entry(name).or_default().insert(node);
        } else {
            moved.push(node);
        }
    }
    if let Some(node) = moved.first() {
        notes.push(format!(
            "nodes with a displacement other than zero have sets of their own: {}, the first is \
             node {node}",
            moved.len()
        ));
    }
    sets
}

/// Nodes of the other displacements by direction (3 for all) and value.
fn moved(displacements: &[NodalValue]) -> Vec<((usize, f64), Vec<u32>)> {
    let mut sets = BTreeMap::<(usize, u64), Vec<u32>>::new();
    for ((node, axis), value) in given(displacements).into_iter().filter(|(_, v)| *v != 0.0) {
        sets.entry((axis.unwrap_or(3), value.to_bits())).or_default().push(node);
    }
    let known = sets.into_iter();
    known.map(|((axis, bits), nodes)| ((axis, f64::from_bits(bits)), nodes)).collect()
}

/// The different forces other than zero with their nodes; a later command counts.
fn forces(forces: &[NodalValue], notes: &mut Vec<String>) -> Vec<([f64; 3], Vec<u32>)> {
    let mut at_nodes = BTreeMap::<u32, [f64; 3]>::new();
    for force in forces {
        if let Some(axis) = force.axis {
            // -0 becomes 0, as forces are told apart by their bits.
            at_nodes.entry(force.node).or_default()[axis] = force.value + 0.0;
        }
    }

    let mut groups: Vec<([f64; 3], Vec<u32>)> = Vec::new();
    let mut index = BTreeMap::new();
    for (node, force) in at_nodes.into_iter().filter(|(_, force)| *force != [0.0; 3]) {
        let i = *index.entry(force.map(f64::to_bits)).or_insert(groups.len());
        if i == groups.len() {
            groups.push((force, Vec::new()));
        }
        groups[i].1.push(node);
    }

    if groups.len() > MOST_FORCES {
        notes.push(format!(
            "{} different forces at nodes were left out: more than {MOST_FORCES} cannot become \
             node sets; give the load in the case file",
            groups.len()
        ));
        groups.clear();
    }
    groups
}

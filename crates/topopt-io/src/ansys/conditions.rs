//! Displacements, temperatures, forces and heat at nodes as node sets.

use std::collections::{BTreeMap, HashMap};

use super::archive::{Archive, Held};
use super::carried::CASE;
use super::{rigid, turned};
use crate::deck::{Deck, DeckLoad, DeckPhysics, DeckSupport, Resultant, SetLoad};
use crate::part::{FileSets, Part, Stand};

/// More different forces than this cannot be told apart by hand in a case file.
const MOST_FORCES: usize = 100;

/// Adds the node sets `D_UX`, `D_UY`, `D_UZ`, `D_ALL`, `D_TEMP_20.0` and `F_1`, `F_2`, ...; `grounds` are
/// nodes that hold springs.
pub(super) fn add(
    archive: &Archive,
    part: &Part,
    grounds: &[u32],
    sets: &mut FileSets,
    notes: &mut Vec<String>,
    deck: &mut Deck,
) {
    if deck.physics == DeckPhysics::Heat {
        temperatures(archive, part, sets, deck);
        let heats = archive.heats.iter().map(|(node, heat)| (*node, [*heat, 0.0, 0.0]));
        forces(heats.collect(), part, sets, notes, deck);
        return;
    }

    let mut masters = rigid::add(archive, part, sets, deck);
    masters.extend(grounds);
    supports(archive, part, &masters, sets, notes, deck);
    let mut at_nodes = BTreeMap::new();
    let mut n_turned = 0;
    for (&node, &force) in archive.forces.iter().filter(|(node, _)| !masters.contains(node)) {
        match turned::force(archive, node, force) {
            Some(force) => drop(at_nodes.insert(node, force)),
            None => n_turned += usize::from(force != [0.0; 3]),
        }
    }
    if n_turned > 0 {
        deck.lost.push(format!(
            "F at nodes whose coordinate systems are turned by angles that the file does not give: \
             {n_turned}"
        ));
    }
    deck.given.extend(given(archive, part).map(|given| (CASE.to_owned(), given)));
    forces(at_nodes, part, sets, notes, deck);
}

/// The sum of the forces at nodes as the file gives them; none if it gives none.
fn given(archive: &Archive, part: &Part) -> Option<Resultant> {
    let mut sum = Resultant::default();
    let mut is_given = false;
    for (&node, &force) in archive.forces.iter().filter(|(_, force)| **force != [0.0; 3]) {
        is_given = true;
        let at = part.node(node.into()).map_or([0.0; 3], |position| part.given_place(position));
        sum.add(at, turned::force(archive, node, force).unwrap_or(force));
    }
    is_given.then_some(sum)
}

/// `name`, or with underscores behind it until no node set is called so.
fn free_name(sets: &FileSets, name: &str) -> String {
    let mut name = name.to_owned();
    while sets.nodes.contains_key(&name) {
        name.push('_');
    }
    name
}

/// Held and moved nodes, of which those that are named for all directions at once have sets of their
/// own.
fn supports(
    archive: &Archive,
    part: &Part,
    masters: &[u32],
    sets: &mut FileSets,
    notes: &mut Vec<String>,
    deck: &mut Deck,
) {
    let mut groups = BTreeMap::<(bool, usize, u64), Vec<u32>>::new();
    let (mut n_turned, mut n_nowhere) = (0, 0);
    let mut moved = Vec::new();
    for (&node, &held) in &archive.displacements {
        if held == [None; 3] || masters.contains(&node) {
            continue;
        }
        let position = part.node(node.into()).filter(|at| part.stand(*at) != Stand::Nowhere);
        let Some(position) = position else {
            n_nowhere += 1;
            continue;
        };
        let Some(held) = turned::held(archive, node, held) else {
            n_turned += 1;
            continue;
        };
        if held.iter().flatten().any(|held| held.value != 0.0) {
            moved.push(node);
        }
        for (axis, value) in directions(held) {
            let key = (value != 0.0, (axis + 1) % 4, value.to_bits());
            groups.entry(key).or_default().push(position);
        }
    }

    if let Some(node) = moved.first() {
        notes.push(format!(
            "nodes with a displacement other than zero have sets of their own: {}, the first is \
             node {node}",
            moved.len()
        ));
    }
    for (count, what) in [
        (n_nowhere, "D at nodes that no solid has"),
        (n_turned, "D along turned directions that are not x, y or z"),
    ] {
        if count > 0 {
            deck.lost.push(format!("{what}: {count}"));
        }
    }
    for ((_, place, bits), positions) in groups {
        let (axis, value) = ((place + 3) % 4, f64::from_bits(bits));
        let label = ["D_UX", "D_UY", "D_UZ", "D_ALL"][axis];
        let name = if value == 0.0 { label.into() } else { format!("{label}_{value:?}") };
        let set = free_name(sets, &name);
        let fixed = std::array::from_fn(|i| axis == 3 || axis == i);
        let displacement = fixed.map(|fixed| if fixed { value } else { 0.0 });
        sets.nodes.insert(set.clone(), positions);
        let case = (value != 0.0).then(|| CASE.to_owned());
        deck.supports.push(DeckSupport { set, fixed, displacement, case, ..Default::default() });
    }
}

/// The directions that are given, 3 for all at once, and their values.
fn directions(held: [Option<Held>; 3]) -> Vec<(usize, f64)> {
    if let [Some(x), y, z] = held
        && x.by_all
        && [y, z] == [Some(x); 2]
    {
        return vec![(3, x.value)];
    }
    let given = held.into_iter().enumerate();
    given.filter_map(|(axis, held)| Some((axis, held?.value))).collect()
}

/// Nodes whose temperature is held, a set for each temperature.
fn temperatures(archive: &Archive, part: &Part, sets: &mut FileSets, deck: &mut Deck) {
    let mut groups = Vec::<(f64, Vec<u32>)>::new();
    let mut index = HashMap::new();
    let mut n_nowhere = 0;
    for (&node, held) in &archive.temperatures {
        let Some(position) = part.node(node.into()).filter(|at| part.stand(*at) != Stand::Nowhere)
        else {
            n_nowhere += 1;
            continue;
        };
        let at = *index.entry(held.value.to_bits()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((held.value, Vec::new()));
        }
        groups[at].1.push(position);
    }
    if n_nowhere > 0 {
        deck.lost.push(format!("D,TEMP at nodes that no solid has: {n_nowhere}"));
    }
    for (temperature, positions) in groups {
        let set = free_name(sets, &format!("D_TEMP_{temperature:?}"));
        sets.nodes.insert(set.clone(), positions);
        deck.supports.push(DeckSupport {
            set,
            fixed: [true; 3],
            temperature,
            case: (temperature != 0.0).then(|| CASE.to_owned()),
            ..Default::default()
        });
    }
}

/// The different forces, or heats in the first component, with their nodes; many of them are one set.
fn forces(
    at_nodes: BTreeMap<u32, [f64; 3]>,
    part: &Part,
    sets: &mut FileSets,
    notes: &mut Vec<String>,
    deck: &mut Deck,
) {
    let is_heat = deck.physics == DeckPhysics::Heat;
    let (mut n_nowhere, mut nowhere) = (0, [0.0; 3]);
    let mut at_positions = BTreeMap::new();
    for (node, force) in at_nodes.into_iter().filter(|(_, force)| *force != [0.0; 3]) {
        match part.node(node.into()).filter(|at| part.stand(*at) != Stand::Nowhere) {
            Some(position) => drop(at_positions.insert(position, force)),
            None => {
                n_nowhere += 1;
                (0..3).for_each(|i| nowhere[i] += force[i]);
            }
        }
    }
    if n_nowhere > 0 {
        let all = if is_heat { format!("{:?}", nowhere[0]) } else { format!("{nowhere:?}") };
        deck.lost.push(format!("F at nodes that no solid has: {n_nowhere}, {all} in all"));
    }

    let mut groups: Vec<([f64; 3], Vec<u32>)> = Vec::new();
    let mut index = HashMap::new();
    let at_positions = part.shared(&at_positions);
    for (&position, &force) in at_positions.iter().filter(|(_, force)| **force != [0.0; 3]) {
        // -0 becomes 0, as forces are told apart by their bits.
        let force = force.map(|f| f + 0.0);
        let at = *index.entry(force.map(f64::to_bits)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((force, Vec::new()));
        }
        groups[at].1.push(position);
    }
    if groups.len() > MOST_FORCES {
        let set = free_name(sets, "F");
        let (nodes, forces) = at_positions.into_iter().filter(|(_, f)| *f != [0.0; 3]).unzip();
        sets.as_listed.insert(set.clone());
        sets.nodes.insert(set.clone(), nodes);
        deck.nodal.insert(set.clone(), forces);
        deck.loads.push(DeckLoad { case: CASE.into(), load: SetLoad::ByNode { set } });
        return;
    }
    for (i, (force, nodes)) in groups.into_iter().enumerate() {
        let set = free_name(sets, &format!("F_{}", i + 1));
        let (what, shown) = match is_heat {
            true => ("heat", format!("{:?}", force[0])),
            false => ("force", format!("{force:?}")),
        };
        notes.push(format!(
            "node set `{set}`: the {what} in the file is {shown} on each node ({})",
            nodes.len()
        ));
        sets.as_listed.insert(set.clone());
        sets.nodes.insert(set.clone(), nodes);
        let load = match is_heat {
            true => SetLoad::NodalHeat { set, heat: force[0] },
            false => SetLoad::Force { set, force },
        };
        deck.loads.push(DeckLoad { case: CASE.into(), load });
    }
}

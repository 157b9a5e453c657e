//! Node sets of the displacements, temperatures, forces and heat at nodes.

use std::collections::BTreeMap;

use super::archive::{Archive, Held};
use super::carried::CASE;
use super::{rigid, turned};
use crate::deck::{DeckPhysics, DeckSupport, Resultant, SetLoad};
use crate::found::Found;
use crate::part::Part;
use crate::values::by_value;

/// Most different forces that become a set each: more are of no use in a case file.
const MOST_FORCES: usize = 100;

/// Adds the node sets `D_UX`, `D_UY`, `D_UZ`, `D_ALL`, `D_TEMP_20.0` and `F_1`, `F_2`, ...;
/// `grounds` are the fixed ends of springs.
pub(super) fn add(archive: &Archive, part: &Part, grounds: &[u32], found: &mut Found) {
    if found.deck.physics == DeckPhysics::Heat {
        temperatures(archive, part, found);
        let heats = archive.heats.iter().map(|(node, heat)| (*node, [*heat, 0.0, 0.0]));
        forces(heats.collect(), part, found);
        return;
    }

    let mut masters = rigid::add(archive, part, found);
    masters.extend(grounds);
    supports(archive, part, &masters, found);
    let mut at_nodes = BTreeMap::new();
    let mut n_turned = 0;
    for (&node, &force) in archive.forces.iter().filter(|(node, _)| !masters.contains(node)) {
        match turned::force(archive, node, force) {
            Some(force) => drop(at_nodes.insert(node, force)),
            None => n_turned += usize::from(force != [0.0; 3]),
        }
    }
    let what =
        "F at nodes whose coordinate systems are turned by angles that the file does not give";
    found.lose_count(n_turned, what);
    found.deck.given.extend(given(archive, part).map(|given| (CASE.to_owned(), given)));
    forces(at_nodes, part, found);
}

/// Resultant of the forces at nodes of the file; none without forces.
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

/// Adds supports on held and moved nodes; nodes held in all directions at once get their own sets.
fn supports(archive: &Archive, part: &Part, masters: &[u32], found: &mut Found) {
    let mut groups = BTreeMap::<(bool, usize, u64), Vec<u32>>::new();
    let (mut n_turned, mut n_nowhere) = (0, 0);
    let mut moved = Vec::new();
    for (&node, &held) in &archive.displacements {
        if held == [None; 3] || masters.contains(&node) {
            continue;
        }
        let Some(position) = part.node_of_solid(node.into()) else {
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
        found.notes.push(format!(
            "nodes with a displacement other than zero have sets of their own: {}, the first is \
             node {node}",
            moved.len()
        ));
    }
    found.lose_count(n_nowhere, "D at nodes that no solid has");
    found.lose_count(n_turned, "D along turned directions that are not x, y or z");
    for ((_, place, bits), positions) in groups {
        let (axis, value) = ((place + 3) % 4, f64::from_bits(bits));
        let label = ["D_UX", "D_UY", "D_UZ", "D_ALL"][axis];
        let name = if value == 0.0 { label.into() } else { format!("{label}_{value:?}") };
        let fixed = std::array::from_fn(|i| axis == 3 || axis == i);
        let displacement = fixed.map(|fixed| if fixed { value } else { 0.0 });
        let support = DeckSupport { fixed, displacement, ..DeckSupport::default() };
        add_support(&name, positions, value, support, found);
    }
}

/// Adds a support on a new node set; with a `value` other than 0 it belongs to the load case.
fn add_support(
    name: &str,
    positions: Vec<u32>,
    value: f64,
    support: DeckSupport,
    found: &mut Found,
) {
    let set = found.free_name(name);
    found.sets.nodes.insert(set.clone(), positions);
    let case = (value != 0.0).then(|| CASE.to_owned());
    found.deck.supports.push(DeckSupport { set, case, ..support });
}

/// Held directions, 3 for all at once, with their values.
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

/// Adds supports on nodes of held temperature, one set per temperature.
fn temperatures(archive: &Archive, part: &Part, found: &mut Found) {
    let mut at_positions = Vec::new();
    for (&node, held) in &archive.temperatures {
        at_positions.extend(part.node_of_solid(node.into()).map(|at| (at, [held.value])));
    }
    let n_nowhere = archive.temperatures.len() - at_positions.len();
    found.lose_count(n_nowhere, "D,TEMP at nodes that no solid has");
    for ([temperature], positions) in by_value(at_positions) {
        let support = DeckSupport { fixed: [true; 3], temperature, ..DeckSupport::default() };
        let name = format!("D_TEMP_{temperature:?}");
        add_support(&name, positions, temperature, support, found);
    }
}

/// Adds a load per different force (or heat, in the first component); many of them become one set.
fn forces(at_nodes: BTreeMap<u32, [f64; 3]>, part: &Part, found: &mut Found) {
    let is_heat = found.deck.physics == DeckPhysics::Heat;
    let (mut n_nowhere, mut nowhere) = (0, [0.0; 3]);
    let mut at_positions = BTreeMap::new();
    for (node, force) in at_nodes.into_iter().filter(|(_, force)| *force != [0.0; 3]) {
        match part.node_of_solid(node.into()) {
            Some(position) => drop(at_positions.insert(position, force)),
            None => {
                n_nowhere += 1;
                (0..3).for_each(|i| nowhere[i] += force[i]);
            }
        }
    }
    if n_nowhere > 0 {
        let all = if is_heat { format!("{:?}", nowhere[0]) } else { format!("{nowhere:?}") };
        found.lose(format!("F at nodes that no solid has: {n_nowhere}, {all} in all"));
    }

    let mut at_positions = part.shared(&at_positions);
    at_positions.retain(|_, force| *force != [0.0; 3]);
    let groups = by_value(at_positions.iter().map(|(at, force)| (*at, *force)));
    if groups.len() > MOST_FORCES {
        let load = found.by_node(found.free_name("F"), at_positions);
        found.load(CASE, load);
        return;
    }
    for (i, (force, nodes)) in groups.into_iter().enumerate() {
        let set = found.free_name(&format!("F_{}", i + 1));
        let (what, shown) = match is_heat {
            true => ("heat", format!("{:?}", force[0])),
            false => ("force", format!("{force:?}")),
        };
        found.notes.push(format!(
            "node set `{set}`: the {what} in the file is {shown} on each node ({})",
            nodes.len()
        ));
        found.add_listed(&set, nodes);
        let load = match is_heat {
            true => SetLoad::NodalHeat { set, heat: force[0] },
            false => SetLoad::Force { set, force },
        };
        found.load(CASE, load);
    }
}

//! CERIG: rigid regions as sets of nodes around their master.

use super::archive::{Archive, Held, Rigid};
use super::carried::CASE;
use crate::deck::{DeckSupport, SetLoad};
use crate::found::Found;
use crate::part::Part;

/// Adds the sets of the rigid regions, the loads on their masters, and the supports of those that
/// are held. What is done at a master that no solid has is done here: these nodes are given back.
pub(super) fn add(archive: &Archive, part: &Part, found: &mut Found) -> Vec<u32> {
    let mut masters = Vec::new();
    for (i, rigid) in (1..).zip(&archive.rigid) {
        let Rigid { master, slaves, line } = rigid;
        let members = slaves.iter().chain([master]);
        let mut members: Vec<u32> =
            members.filter_map(|tag| part.node_of_solid((*tag).into())).collect();
        members.sort_unstable();
        members.dedup();
        let Some(at) = part.node((*master).into()).filter(|_| !members.is_empty()) else {
            found.lose(format!("CERIG on line {line} couples no nodes of solids"));
            continue;
        };
        let set = format!("CERIG_{i}");
        found.sets.nodes.insert(set.clone(), members);
        let held = archive.displacements.get(master).copied().unwrap_or_default();
        hold(archive, rigid, &set, held, found);

        if part.is_of_solid(at) {
            continue;
        }
        masters.push(*master);
        let force = archive.forces.get(master).copied().unwrap_or_default();
        if force != [0.0; 3] {
            let (at, moment) = (part.given_place(at), [0.0; 3]);
            found.load(CASE, SetLoad::Remote { set, at, force, moment });
        }
    }
    masters
}

/// Holds the nodes of a region whose master is held; all others can move apart.
fn hold(archive: &Archive, rigid: &Rigid, set: &str, held: [Option<Held>; 3], found: &mut Found) {
    let line = rigid.line;
    let fixed = held.map(|held| held.is_some());
    let by_all = held.iter().all(|held| held.is_some_and(|held| held.by_all));
    if fixed != [false; 3] && !archive.rotated_nodes.contains_key(&rigid.master) {
        let displacement = held.map(|held| held.map_or(0.0, |held| held.value));
        let set = set.to_owned();
        found.deck.supports.push(DeckSupport { set, fixed, displacement, ..Default::default() });
    }
    if !by_all {
        found.lose(format!(
            "CERIG on line {line} is not rigid here: a load on its master is spread over its nodes{}",
            if fixed == [false; 3] { "" } else { ", and where the master is held they are held, and cannot turn" }
        ));
    }
}

//! CERIG: rigid regions as sets of nodes around their master.

use super::archive::{Archive, Held, Rigid};
use super::carried::CASE;
use crate::deck::{Deck, DeckLoad, DeckSupport, SetLoad};
use crate::part::{FileSets, Part, Stand};

/// Adds the sets of the rigid regions, the loads on their masters, and the supports of those that are
/// held. What is done at a master that no solid has is done here: these nodes are given back.
pub(super) fn add(
    archive: &Archive,
    part: &Part,
    sets: &mut FileSets,
    deck: &mut Deck,
) -> Vec<u32> {
    let mut masters = Vec::new();
    for (i, rigid) in (1..).zip(&archive.rigid) {
        let Rigid { master, slaves, line } = rigid;
        let position = |tag: &u32| part.node((*tag).into());
        let of_solid = |position: &u32| part.stand(*position) != Stand::Nowhere;
        let mut members: Vec<u32> = slaves.iter().chain([master]).filter_map(position).collect();
        members.retain(of_solid);
        members.sort_unstable();
        members.dedup();
        let Some(at) = position(master).filter(|_| !members.is_empty()) else {
            deck.lost.push(format!("CERIG on line {line} couples no nodes of solids"));
            continue;
        };
        let set = format!("CERIG_{i}");
        sets.nodes.insert(set.clone(), members);
        if part.stand(at) == Stand::Nowhere {
            masters.push(*master);
        }

        let held = archive.displacements.get(master).copied().unwrap_or_default();
        hold(archive, rigid, &set, held, deck);
        let force = archive.forces.get(master).copied().unwrap_or_default();
        if force != [0.0; 3] && part.stand(at) == Stand::Nowhere {
            let (at, moment) = (part.given_place(at), [0.0; 3]);
            let load = SetLoad::Remote { set, at, force, moment };
            deck.loads.push(DeckLoad { case: CASE.into(), load });
        }
    }
    masters
}

/// Holds the nodes of a region whose master is held; all others can move apart.
fn hold(archive: &Archive, rigid: &Rigid, set: &str, held: [Option<Held>; 3], deck: &mut Deck) {
    let line = rigid.line;
    let fixed = held.map(|held| held.is_some());
    let by_all = held.iter().all(|held| held.is_some_and(|held| held.by_all));
    if fixed != [false; 3] && !archive.rotated_nodes.contains_key(&rigid.master) {
        let displacement = held.map(|held| held.map_or(0.0, |held| held.value));
        let set = set.to_owned();
        deck.supports.push(DeckSupport { set, fixed, displacement, ..Default::default() });
    }
    if !by_all {
        deck.lost.push(format!(
            "CERIG on line {line} is not rigid here: a load on its master is spread over its nodes{}",
            if fixed == [false; 3] { "" } else { ", and where the master is held they are held, and cannot turn" }
        ));
    }
}

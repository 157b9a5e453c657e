//! SPC, SPC1 and the held components of grids as node sets and supports.

use std::collections::{BTreeMap, BTreeSet};

use super::couplings::Couplings;
use super::deck::{Deck, sort};
use super::model::Model;
use crate::deck::DeckSupport;
use crate::directions::axis_along;
use crate::found::Found;
use crate::read_error::Fault;

/// Directions in which the nodes of a set are held, and their displacement by bits.
type Hold = ([bool; 3], [u64; 3]);

/// Directions in which a node is held, and its displacement.
type Held = ([bool; 3], [f64; 3]);

/// The node sets of a deck's supports.
struct Supports<'a> {
    model: &'a Model<'a>,
    couplings: &'a Couplings,
    /// Positions of nodes. Set 0 are the components that the grids themselves hold.
    nodes: BTreeMap<(u64, Hold), Vec<u32>>,
    /// Six components of the grids of rigid couplings, and how far they are moved.
    rigid: BTreeMap<(u64, u32), ([bool; 6], [f64; 3])>,
    /// Counts of what is lost, by kind and set.
    lost: BTreeMap<(Lost, u64), usize>,
}

/// Grids whose supports are lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lost {
    Unused,
    Turned,
    Mean,
}

/// Adds the node sets of all supports, and of those that the deck selects that they hold.
pub(super) fn add(model: &Model, couplings: &Couplings, found: &mut Found) -> Result<(), Fault> {
    let mut supports = Supports {
        model,
        couplings,
        nodes: BTreeMap::new(),
        rigid: BTreeMap::new(),
        lost: BTreeMap::new(),
    };
    supports.collect()?;

    let selected = selected(model.deck, found);
    supports.say_what_is_lost(&selected, found);
    let Supports { nodes, rigid, .. } = supports;
    for ((set, hold), mut positions) in nodes {
        sort(&mut positions);
        let name = name(set, &hold);
        add_set(found, name, positions, set, hold, &selected);
    }
    add_rigid(couplings, rigid, &selected, found);
    Ok(())
}

/// The sets of supports that the deck selects, and 0.
pub(super) fn selected(deck: &Deck, found: &mut Found) -> BTreeSet<u64> {
    let given: BTreeSet<u64> = deck.supports.iter().map(|support| support.set).collect();
    let cases = std::iter::once(&deck.common).chain(&deck.subcases);
    let mut chosen: Vec<u64> = cases.filter_map(|case| case.supports).collect();
    if !deck.subcases.is_empty() {
        let common = deck.common.supports;
        let of_case = |case: &super::deck::Subcase| case.supports.or(common);
        chosen = deck.subcases.iter().filter_map(of_case).collect();
    }

    let Some(&first) = chosen.first() else {
        return given.into_iter().chain([0]).collect();
    };
    if chosen.iter().any(|other| *other != first) {
        sort(&mut chosen);
        let names: Vec<String> = chosen.iter().map(u64::to_string).collect();
        found.lose(format!(
            "the subcases have different supports (SPC {}): those of SPC {first} are taken for all",
            names.join(", ")
        ));
    }

    let sum = deck.support_sums.get(&first).cloned();
    let mut selected: BTreeSet<u64> = sum.unwrap_or_else(|| vec![first]).into_iter().collect();
    for missing in selected.difference(&given) {
        found.lose(format!("SPC {missing} is selected, and is not in the deck"));
    }
    selected.insert(0);
    selected
}

impl Supports<'_> {
    fn collect(&mut self) -> Result<(), Fault> {
        let deck = self.model.deck;
        for support in &deck.supports {
            let (positions, missing) = support.grids.positions(&self.model.part.node_tags);
            self.lose(Lost::Unused, support.set, missing);
            for position in positions {
                self.hold(support.set, position, support.components, support.displacement)?;
            }
        }
        for (position, grid) in (0..).zip(&deck.grids) {
            let held = grid.held.unwrap_or(deck.defaults.held);
            if held != [false; 6] {
                self.hold(0, position, held, 0.0)?;
            }
        }
        Ok(())
    }

    /// Holds the grid at a position, or moves it.
    fn hold(&mut self, set: u64, at: u32, held: [bool; 6], value: f64) -> Result<(), Fault> {
        let is_rigid = self.couplings.rigid(at).is_some();
        let is_mean = self.couplings.is_mean(at);
        let is_used = self.model.part.is_of_solid(at);
        if is_mean {
            self.lose(Lost::Mean, set, 1);
        }
        if !(is_used || is_rigid || is_mean) {
            self.lose(Lost::Unused, set, 1);
        }
        if !(is_used || is_rigid) || held == [false; 6] {
            return Ok(());
        }

        let Some((fixed, displacement)) = self.along_axes(at, held, value)? else {
            self.lose(Lost::Turned, set, 1);
            return Ok(());
        };
        if is_rigid {
            let (all, moved) = self.rigid.entry((set, at)).or_default();
            for i in 0..3 {
                all[i] |= fixed[i];
                all[i + 3] |= held[i + 3];
                moved[i] += displacement[i];
            }
        } else if fixed != [false; 3] {
            let hold = (fixed, displacement.map(f64::to_bits));
            let positions = self.nodes.entry((set, hold)).or_default();
            positions.push(at);
            // Lists that overlap many times stay bounded.
            if positions.len() > 2 * self.model.coordinates.len() {
                sort(positions);
            }
        }
        Ok(())
    }

    /// Held directions and displacement of a grid in the basic system; none if they are along no
    /// axes of it.
    fn along_axes(&self, at: u32, held: [bool; 6], value: f64) -> Result<Option<Held>, Fault> {
        let grid = self.model.grid(at);
        let system = grid.moves_in.unwrap_or(self.model.deck.defaults.moves_in);
        let all = [held[0], held[1], held[2]];
        let moved = |held: bool| if held { value + 0.0 } else { 0.0 };
        let is_all = all == [true; 3] && value == 0.0 || all == [false; 3];
        if system == 0 || is_all {
            return Ok(Some((all, all.map(moved))));
        }

        let system = self.model.systems.get(system, || format!("grid {}", grid.tag))?;
        let directions = system.directions(self.model.place(at));
        let (mut fixed, mut displacement) = ([false; 3], [0.0; 3]);
        for (direction, _) in directions.iter().zip(all).filter(|(_, held)| *held) {
            let Some(axis) = axis_along(*direction) else { return Ok(None) };
            fixed[axis] = true;
            displacement[axis] = value * direction[axis].signum() + 0.0;
        }
        Ok(Some((fixed, displacement)))
    }

    fn say_what_is_lost(&self, selected: &BTreeSet<u64>, found: &mut Found) {
        for ((kind, set), count) in &self.lost {
            let what = match kind {
                Lost::Unused => "holds grids that no solid uses",
                Lost::Turned => "holds grids in directions that are not x, y or z",
                Lost::Mean => "holds grids of RBE3, which hold nothing here",
            };
            let label = if *set == 0 { "GRID".into() } else { format!("SPC {set}") };
            if selected.contains(set) {
                found.lose_count(*count, &format!("{label} {what}"));
            }
        }
    }

    fn lose(&mut self, kind: Lost, set: u64, count: usize) {
        *self.lost.entry((kind, set)).or_default() += count;
    }
}

/// The supports of rigid couplings whose grid is held.
fn add_rigid(
    couplings: &Couplings,
    rigid: BTreeMap<(u64, u32), ([bool; 6], [f64; 3])>,
    selected: &BTreeSet<u64>,
    found: &mut Found,
) {
    let mut is_whole = vec![false; couplings.all().len()];
    for ((set, position), (held, displacement)) in rigid {
        let Some((at, group)) = couplings.rigid(position) else { continue };
        let fixed = [0, 1, 2].map(|i| held[i] && group.components[i]);
        let can_turn = held[3..] != [true; 3];
        is_whole[at] |= fixed == [true; 3] && !can_turn && selected.contains(&set);
        if fixed == [false; 3] {
            continue;
        }
        if can_turn && selected.contains(&set) {
            found.lose(format!(
                "{} can turn about its grid, which is held: its nodes are held here, and cannot",
                group.label
            ));
        }
        let moved = [0, 1, 2].map(|i| if fixed[i] { displacement[i] } else { 0.0 });
        let hold = (fixed, moved.map(f64::to_bits));
        let name = format!("{}_{}", name(set, &hold), group.set);
        let positions = found.sets.nodes[&group.set].clone();
        add_set(found, name, positions, set, hold, selected);
    }

    let loose = couplings.all().iter().zip(is_whole);
    let loose = loose.filter(|(group, is_whole)| group.is_rigid && !is_whole).count();
    found.lose_count(loose, "RBE2 that are not rigid here: their nodes can move apart");
}

/// Adds a node set, and a support if the deck selects it.
fn add_set(
    found: &mut Found,
    name: String,
    positions: Vec<u32>,
    set: u64,
    (fixed, displacement): Hold,
    selected: &BTreeSet<u64>,
) {
    found.sets.nodes.insert(name.clone(), positions);
    if selected.contains(&set) {
        let displacement = displacement.map(f64::from_bits);
        found.deck.supports.push(DeckSupport {
            set: name,
            fixed,
            displacement,
            ..Default::default()
        });
    }
}

/// `spc_1_12`, `spc_1_2_-0.1`, `ps_123`.
fn name(set: u64, (fixed, displacement): &Hold) -> String {
    let held = (0..3).filter(|&i| fixed[i]);
    let components: String = held.clone().map(|i| ["1", "2", "3"][i]).collect();
    let mut name =
        if set == 0 { format!("ps_{components}") } else { format!("spc_{set}_{components}") };
    let mut values: Vec<f64> = held.map(|i| f64::from_bits(displacement[i])).collect();
    if values.iter().any(|value| *value != 0.0) {
        values.dedup();
        values.iter().for_each(|value| name += &format!("_{value:?}"));
    }
    name
}

//! Couplings, with what is held and loaded at their reference nodes, and springs to the ground.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::vector::difference;

use super::carried::Carrier;
use super::given::{ConditionKind, Coupling, Springs};
use super::held::{Held, Point};
use super::sets::Item;
use crate::deck::SetLoad;
use crate::directions::axis_along;
use crate::quote::printable;
use crate::read_error::Parsed;

impl Carrier<'_> {
    /// Finds the couplings whose reference node, or else node of the rotations, satisfies `is_it`,
    /// with the share of a force that each gets: if several couple one node, the shares are not
    /// known without a solve.
    pub fn references(&self, is_it: impl Fn(&Item) -> bool) -> Vec<(Point, f64)> {
        let couplings = || self.deck.couplings.iter().enumerate();
        let follows = couplings().filter(|(_, c)| is_it(&c.reference));
        let mut points: Vec<Point> = follows.map(|(k, _)| Point::Coupling(k)).collect();
        if points.is_empty() {
            let rotates = |c: &Coupling| c.rotation.as_ref().is_some_and(&is_it);
            points.extend(couplings().filter(|(_, c)| rotates(c)).map(|(k, _)| Point::Rotation(k)));
        }
        let share = 1.0 / points.len() as f64;
        points.into_iter().map(|point| (point, share)).collect()
    }

    /// Reports as lost the effects of held reference nodes that a case cannot express.
    pub fn reference_nodes(&mut self, points: &[Vec<Point>], held: &Held) {
        let deck = self.deck;
        let mut turns = BTreeSet::new();
        for (condition, points) in deck.conditions.iter().zip(points) {
            for point in points {
                match (condition.kind, point) {
                    (ConditionKind::HeldRotation, Point::Coupling(k))
                    | (ConditionKind::Held(..), Point::Rotation(k)) => drop(turns.insert(*k)),
                    _ => {}
                }
            }
        }

        for (k, Coupling { is_rigid, at, .. }) in deck.couplings.iter().enumerate() {
            let set = self.set_of(k);
            let held = (0..3).filter(|&i| held.is_held(Point::Coupling(k), i)).count();
            let what = match (is_rigid, held, turns.contains(&k)) {
                (_, 0, false) | (true, 3, true) => continue,
                (false, 0, true) => format!("rotations that {at} holds: `{set}` may turn"),
                (false, ..) => format!(
                    "the distributing coupling of `{set}` is held at its reference node: all nodes of \
                     the set are held in its place"
                ),
                (true, _, true) => format!(
                    "rotations that {at} holds while some displacements are free: `{set}` is not \
                     rigid, and its nodes may move against each other"
                ),
                (true, _, false) => format!(
                    "{at}, which is held at its reference node and may turn about it: the nodes of \
                     `{set}` are held in its place, and do not turn"
                ),
            };
            self.lose_once(what);
        }
    }

    /// The set of a coupling, by its name in the mesh.
    pub fn set_of(&self, coupling: usize) -> String {
        let Coupling { name, key, .. } = &self.deck.couplings[coupling];
        self.elements.names.coupled(key).map_or_else(|| printable(name), str::to_owned)
    }

    /// Adds loads at reference nodes.
    pub fn remote_loads(&mut self) {
        for ((s, k), [force, moment]) in std::mem::take(&mut self.remote) {
            let Coupling { reference, is_rigid, at: place, .. } = &self.deck.couplings[k];
            let set = self.set_of(k);
            let at = match self.assembly_node(reference) {
                Some(tag) => self.deck.reference_nodes.get(&tag).copied(),
                None => self.nodes.first(reference).map(|node| self.part.given_place(node)),
            };
            let Some(at) = at else { continue };
            if !self.found.sets.faces.contains_key(&set)
                && !self.found.sets.nodes.contains_key(&set)
            {
                self.lose_once(format!("a load on the coupling of `{set}`, which is no set"));
                continue;
            }

            if *is_rigid {
                self.lose_once(format!(
                    "{place} is rigid: the load at its reference node is spread over `{set}`, which \
                     stays as soft as the part"
                ));
            }
            self.load(s, SetLoad::Remote { set, at, force, moment });
        }
    }

    /// Adds springs to the ground, and node sets for them.
    pub fn grounded(&mut self, held: &Held) -> Parsed<()> {
        let mut stiffness = BTreeMap::<u32, [f64; 3]>::new();
        let (mut n_lost, deck) = (0, self.deck);
        for springs in &deck.springs {
            for tag in self.elements.others_of(&springs.block)? {
                match self.spring(springs, tag, held) {
                    Some((node, direction)) => {
                        let own = stiffness.entry(node).or_default();
                        (0..3).for_each(|i| own[i] += springs.stiffness * direction[i]);
                    }
                    None => n_lost += 1,
                }
            }
        }
        let what = "springs that are not between a solid and the ground along x, y or z";
        self.found.lose_count(n_lost, what);
        self.found.add_springs("spring", stiffness);
        Ok(())
    }

    /// The node of a solid that the element `tag` ties to the ground, and in which direction; none
    /// if it does something else.
    fn spring(&self, springs: &Springs, tag: u64, held: &Held) -> Option<(u32, [f64; 3])> {
        let kind = self.deck.spring_types.get(&tag)?;
        let at = self.deck.no_solids.binary_search_by_key(&tag, |(tag, _)| *tag).ok()?;
        let nodes: Option<Vec<u32>> =
            self.deck.no_solids[at].1.iter().map(|node| self.part.node(*node)).collect();

        let unit = |axis: usize| std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
        let is_plain = |node: u32| self.part.is_used(node) && !self.axes.contains_key(&node);
        match (kind.as_str(), nodes?.as_slice(), springs.directions.as_slice()) {
            ("SPRING1", &[node], &[axis]) if axis < 3 && is_plain(node) => Some((node, unit(axis))),
            ("SPRING2", &[a, b], &[first, second]) if first < 3 && second < 3 => {
                let is_ground = |node, axis| held.is_fixed(Point::Node(node), axis);
                match (is_ground(a, first), is_ground(b, second)) {
                    (false, true) if is_plain(a) => Some((a, unit(first))),
                    (true, false) if is_plain(b) => Some((b, unit(second))),
                    _ => None,
                }
            }
            ("SPRINGA", &[a, b], _) => {
                let is_ground = |node| (0..3).all(|axis| held.is_fixed(Point::Node(node), axis));
                let node = match (is_ground(a), is_ground(b)) {
                    (false, true) if is_plain(a) => a,
                    (true, false) if is_plain(b) => b,
                    _ => return None,
                };
                let along = difference(self.part.given_place(b), self.part.given_place(a));
                Some((node, unit(axis_along(along)?)))
            }
            _ => None,
        }
    }
}

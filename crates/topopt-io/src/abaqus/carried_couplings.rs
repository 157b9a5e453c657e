//! Couplings: what is held and loaded at reference nodes.

use std::collections::BTreeSet;

use super::carried::Carrier;
use super::given::{ConditionKind, Coupling};
use super::held::{Held, Point};
use super::sets::Item;
use crate::deck::SetLoad;
use crate::quote::printable;

impl Carrier<'_> {
    /// The couplings whose reference node, or else node of the rotations, is the one that `is_it` tells,
    /// with the share of a force that each gets: what couplings of one node have of it is not known
    /// without a solve.
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

    /// Loses what a held reference node cannot do here.
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
            if !self.sets.faces.contains_key(&set) && !self.sets.nodes.contains_key(&set) {
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
}

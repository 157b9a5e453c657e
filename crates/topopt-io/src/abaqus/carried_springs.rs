//! Springs between nodes and the ground.

use std::collections::BTreeMap;

use topopt_mesh::vector::{difference, length};

use super::carried::Carrier;
use super::given::Springs;
use super::held::{Held, Point};
use crate::deck::DeckSpring;
use crate::read_error::Parsed;

impl Carrier<'_> {
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
        if n_lost > 0 {
            self.lose_once(format!(
                "springs that are not between a solid and the ground along x, y or z: {n_lost}"
            ));
        }

        let mut groups: Vec<([f64; 3], Vec<u32>)> = Vec::new();
        for (node, own) in stiffness {
            match groups.iter_mut().find(|(other, _)| *other == own) {
                Some((_, nodes)) => nodes.push(node),
                None => groups.push((own, vec![node])),
            }
        }
        for (i, (stiffness, nodes)) in groups.into_iter().enumerate() {
            let set = format!("spring_{}", i + 1);
            self.add_node_set(set.clone(), nodes);
            self.carried.springs.push(DeckSpring { set, stiffness });
        }
        Ok(())
    }

    /// The node of a solid that the element `tag` ties to the ground, and in which direction; none if it
    /// does something else.
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
                let axis = (0..3).find(|&i| along[i].abs() > (1.0 - 1e-9) * length(along))?;
                Some((node, unit(axis)))
            }
            _ => None,
        }
    }
}

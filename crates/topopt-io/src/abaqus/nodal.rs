//! Forces on nodes and at reference nodes, step by step: what acts at one node and direction adds
//! up within a step, and replaces what acted there before it (CalculiX, *CLOAD).

use std::collections::{BTreeMap, BTreeSet};

use super::carried::Carrier;
use super::given::{ConditionKind, HEAT};
use super::held::Point;
use crate::deck::SetLoad;

/// Different forces of one direction that get a node set each.
const MOST_FORCES: usize = 32;

/// Conditions and their shares of what acts at a point in a direction, moments behind forces.
type Acting = BTreeMap<(Point, usize), Vec<(usize, f64)>>;

impl Carrier<'_> {
    /// Adds forces, and node sets for them; `points` are those of every condition, with the share
    /// of the force that each gets.
    pub fn nodal_loads(&mut self, points: &[Vec<(Point, f64)>], factors: &[Vec<f64>]) {
        let mut acting = Acting::new();
        self.act(&mut acting, None, points);
        let family = if self.is_heat { "CFLUX" } else { "CLOAD" };
        for s in 0..self.steps.len() {
            if self.steps[s].released.contains(&family) {
                acting.clear();
            }
            self.act(&mut acting, Some(s), points);
            self.forces_of_step(&acting, s, factors);
        }
    }

    /// Lays the forces of a step, or of the model, over what acts before it.
    fn act(&self, acting: &mut Acting, s: Option<usize>, points: &[Vec<(Point, f64)>]) {
        let conditions = &self.deck.conditions;
        for (c, condition) in conditions.iter().enumerate() {
            let direction = match condition.kind {
                ConditionKind::Force(HEAT, _) if self.is_heat => 0,
                ConditionKind::Force(axis, _) if !self.is_heat && axis < HEAT => axis,
                ConditionKind::Moment(axis, _) if !self.is_heat => axis + 3,
                _ => continue,
            };
            if condition.when.step != s {
                continue;
            }
            for &(point, share) in &points[c] {
                let here = acting.entry((point, direction)).or_default();
                if here.first().is_some_and(|(first, _)| conditions[*first].when.step != s) {
                    here.clear();
                }
                here.push((c, share));
            }
        }
    }

    fn forces_of_step(&mut self, acting: &Acting, s: usize, factors: &[Vec<f64>]) {
        let mut forces = BTreeMap::<u32, [f64; 3]>::new();
        let mut lost = BTreeSet::new();
        for (&(point, direction), parts) in acting {
            let conditions = &self.deck.conditions;
            let part =
                |&(c, share): &(usize, f64)| share * conditions[c].kind.value() * factors[c][s];
            let value: f64 = parts.iter().map(part).sum();

            let (kind, axis) = (direction / 3, direction % 3);
            match point {
                Point::Coupling(k) => self.remote.entry((s, k)).or_default()[kind][axis] += value,
                // Moments are forces on a node that has rotations alone.
                Point::Rotation(k) => self.remote.entry((s, k)).or_default()[1][axis] += value,
                Point::Node(_) if kind == 1 => drop(lost.insert(LOST_MOMENT.to_owned())),
                Point::Node(node) if !self.part.is_used(node) => {
                    let tag = self.part.node_tags[node as usize];
                    lost.insert(format!("a force at node {tag}, which no solid element has"));
                }
                Point::Node(node) => match self.direction(node, axis) {
                    None => drop(lost.insert(LOST_DIRECTION.to_owned())),
                    Some(along) => {
                        let force = forces.entry(node).or_default();
                        (0..3).for_each(|i| force[i] += value * along[i]);
                    }
                },
            }
        }

        lost.into_iter().for_each(|what| self.lose_once(what));
        forces.retain(|_, force| *force != [0.0; 3]);
        self.sets_of_forces(forces, s);
    }

    /// The direction `axis` at a node; none if it is turned in a way that is not known.
    fn direction(&self, node: u32, axis: usize) -> Option<[f64; 3]> {
        let own = std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
        match self.axes.get(&node) {
            Some(axes) if !self.is_heat => axes.map(|axes| axes[axis]),
            _ => Some(own),
        }
    }

    /// A node set for each direction and value, or one of all nodes where there are too many.
    fn sets_of_forces(&mut self, forces: BTreeMap<u32, [f64; 3]>, s: usize) {
        let mut by_value = BTreeMap::<(usize, i64), (f64, Vec<u32>)>::new();
        for (node, force) in &forces {
            for (axis, value) in force.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                let same = by_value.entry((axis, ascending(*value)));
                same.or_insert_with(|| (*value, Vec::new())).1.push(*node);
            }
        }
        let count = |axis| by_value.keys().filter(|(other, _)| *other == axis).count();
        let word = if self.is_heat { "cflux" } else { "cload" };
        if (0..3).any(|axis| count(axis) > MOST_FORCES) {
            return self.by_node(word, forces, s);
        }

        for ((axis, _), (value, nodes)) in by_value {
            let name = match self.is_heat {
                true => format!("{word}_{value:?}"),
                false => format!("{word}_{}_{value:?}", axis + 1),
            };
            let set = self.in_step(s, name);
            let mut force = [0.0; 3];
            force[axis] = value;
            let load = match self.is_heat {
                true => SetLoad::NodalHeat { set: set.clone(), heat: value },
                false => SetLoad::Force { set: set.clone(), force },
            };
            self.add_node_set(set, nodes);
            self.load(s, load);
        }
    }

    fn by_node(&mut self, word: &str, forces: BTreeMap<u32, [f64; 3]>, s: usize) {
        let set = self.found.free_name(&self.in_step(s, word.into()));
        let load = self.found.by_node(set, forces);
        self.load(s, load);
    }

    /// Adds a node set to which a cut adds nothing.
    pub fn add_node_set(&mut self, name: String, nodes: Vec<u32>) {
        self.found.sets.as_listed.insert(name.clone());
        self.found.sets.nodes.entry(name).or_default().extend(nodes);
    }

    /// The name of a set of step `s`, where there are several.
    pub fn in_step(&self, s: usize, name: String) -> String {
        if self.steps.len() > 1 { format!("{}_{name}", self.steps[s].name) } else { name }
    }

    pub fn load(&mut self, s: usize, load: SetLoad) {
        self.found.load(&self.steps[s].name, load);
    }
}

const LOST_MOMENT: &str = "moments on nodes of solid elements, which take none";
const LOST_DIRECTION: &str =
    "forces on nodes whose *TRANSFORM is not known, or has no direction there";

/// A number that ascends with `value`.
pub(super) fn ascending(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { !(bits & i64::MAX) } else { bits }
}

//! `Held`: the nodes that each step of a deck holds and displaces. A *BOUNDARY stays in force in
//! later steps, until another replaces it at the node and direction, or `OP=NEW` removes all.

use std::collections::{BTreeMap, BTreeSet};

use super::deck::Deck;
use super::given::{ConditionKind, HEAT, Step};
use super::systems::turned;

/// A node, or the coupling of a reference node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    Node(u32),
    Coupling(usize),
    /// The rotations of a coupling, which may have a node of their own.
    Rotation(usize),
}

/// A condition that holds a point in a direction, and the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hold {
    pub condition: usize,
    pub value: f64,
}

/// Supports and displacements that the conditions of a deck give, step by step.
#[derive(Default)]
pub(super) struct Held {
    /// Holds of each step, by point and direction of the model.
    pub steps: Vec<BTreeMap<(Point, usize), Hold>>,
    /// Points and directions that some step displaces: they are held in all steps.
    displaced: BTreeSet<(Point, usize)>,
    /// Whether a point is held in some steps and free in others.
    pub changes: bool,
    /// Conditions in directions that are none of the model's.
    pub oblique: BTreeSet<usize>,
}

/// Directions at points, their factors and points of every condition.
pub(super) struct Rules<'a> {
    pub deck: &'a Deck,
    pub is_heat: bool,
    pub steps: &'a [Step],
    /// Points of every condition, by their order in the deck.
    pub points: &'a [Vec<Point>],
    /// Directions at nodes where they are turned, if they are known.
    pub axes: &'a BTreeMap<u32, Option<[[f64; 3]; 3]>>,
    /// Factors, by condition and step.
    pub factors: &'a [Vec<f64>],
}

/// Directions that a condition holds in the physics of the deck: 0 to 2, of heat 0.
pub(super) fn directions(kind: ConditionKind, is_heat: bool) -> std::ops::Range<usize> {
    match kind {
        ConditionKind::Held(HEAT, ..) if is_heat => 0..1,
        ConditionKind::Held(first, last, _) if !is_heat && first < HEAT => first..last + 1,
        _ => 0..0,
    }
}

impl Held {
    pub fn new(rules: &Rules) -> Self {
        let mut held = Self::default();
        let (mut now, mut ever) = (BTreeMap::new(), BTreeSet::new());
        obey(&mut now, None, rules);
        for (s, step) in rules.steps.iter().enumerate() {
            if step.released.contains(&"BOUNDARY") {
                now.clear();
            }
            obey(&mut now, Some(s), rules);
            held.keep(&now, s, rules);
            ever.extend(held.steps[s].keys().copied());
        }
        held.changes = held.steps.iter().any(|step| step.len() < ever.len());
        held
    }

    /// Keeps what is held at the end of step `s`.
    fn keep(&mut self, now: &BTreeMap<(Point, usize), usize>, s: usize, rules: &Rules) {
        let value = |c: usize| rules.deck.conditions[c].kind.value() * rules.factors[c][s];
        let mut step = BTreeMap::new();
        let mut local: BTreeMap<u32, [Option<usize>; 3]> = BTreeMap::new();
        for (&(point, axis), &condition) in now {
            match point {
                Point::Node(node) if !rules.is_heat && rules.axes.contains_key(&node) => {
                    local.entry(node).or_default()[axis] = Some(condition);
                }
                _ => drop(step.insert((point, axis), Hold { condition, value: value(condition) })),
            }
        }

        for (node, holds) in local {
            let first = holds.iter().flatten().next().copied().unwrap_or_default();
            let all_fixed = holds.iter().all(|c| c.is_some_and(|c| value(c) == 0.0));
            let axes = rules.axes[&node];
            let global = match (axes, all_fixed) {
                (_, true) => Some([Some(0.0); 3]),
                (Some(axes), _) => turned(&axes, holds.map(|c| c.map(value))),
                (None, _) => None,
            };
            let Some(global) = global else {
                self.oblique.extend(holds.iter().flatten());
                continue;
            };
            for (axis, value) in global.iter().enumerate().filter_map(|(i, v)| Some((i, (*v)?))) {
                step.insert((Point::Node(node), axis), Hold { condition: first, value });
            }
        }
        let moved = step.iter().filter(|(_, hold)| hold.value != 0.0);
        self.displaced.extend(moved.map(|(key, _)| *key));
        self.steps.push(step);
    }

    /// Whether a point is held in a direction in all steps, and displaced in none.
    pub fn is_fixed(&self, point: Point, axis: usize) -> bool {
        let key = (point, axis);
        !self.displaced.contains(&key) && self.steps.iter().all(|step| step.contains_key(&key))
    }

    /// Whether some step holds a point in a direction.
    pub fn is_held(&self, point: Point, axis: usize) -> bool {
        self.steps.iter().any(|step| step.contains_key(&(point, axis)))
    }

    /// Points by what displaces them in each step, as step, directions from first to last, and value.
    pub fn displaced(&self) -> Vec<(usize, [usize; 2], f64, Point)> {
        let mut all = Vec::new();
        for (s, step) in self.steps.iter().enumerate() {
            all.extend(runs(step, |hold| hold.value != 0.0).map(|(run, v, p)| (s, run, v, p)));
        }
        all
    }

    /// Points that are held in some step and displaced in none, by directions from first to last.
    pub fn fixed(&self) -> BTreeSet<([usize; 2], Point)> {
        let mut all = BTreeSet::new();
        for step in &self.steps {
            let kept = step.iter().filter(|(key, _)| !self.displaced.contains(key));
            let kept = kept.map(|(key, hold)| (*key, *hold)).collect();
            all.extend(runs(&kept, |_| true).map(|(run, _, point)| (run, point)));
        }
        all
    }
}

/// Lays the conditions of a step, or of the model, over what holds before it.
fn obey(now: &mut BTreeMap<(Point, usize), usize>, s: Option<usize>, rules: &Rules) {
    let conditions = rules.deck.conditions.iter().enumerate();
    for (c, condition) in conditions.filter(|(_, condition)| condition.when.step == s) {
        for &point in &rules.points[c] {
            let held = directions(condition.kind, rules.is_heat);
            now.extend(held.map(|axis| ((point, axis), c)));
        }
    }
}

/// Name of the set of nodes that are displaced in the directions from first to last, or held by 0.
pub(super) fn set_name([first, last]: [usize; 2], value: f64) -> String {
    let [first, last] = [first + 1, last + 1];
    match value {
        0.0 => format!("boundary_{first}_{last}"),
        _ => format!("displacement_{first}_{last}_{value:?}"),
    }
}

/// First and last of each run of directions that one condition holds at one value, with the value
/// and the point.
fn runs<'a>(
    step: &'a BTreeMap<(Point, usize), Hold>,
    is_in: impl Fn(&Hold) -> bool + 'a,
) -> impl Iterator<Item = ([usize; 2], f64, Point)> {
    let mut runs: Vec<([usize; 2], Hold, Point)> = Vec::new();
    for (&(point, axis), hold) in step.iter().filter(|(_, hold)| is_in(hold)) {
        match runs.last_mut() {
            Some((run, first, at)) if *at == point && *first == *hold && run[1] + 1 == axis => {
                run[1] = axis;
            }
            _ => runs.push(([axis, axis], *hold, point)),
        }
    }
    runs.into_iter().map(|(run, hold, point)| (run, hold.value, point))
}

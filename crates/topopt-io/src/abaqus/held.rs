//! Which nodes each step of a deck holds and displaces. What *BOUNDARY says goes on in later steps,
//! until it says something else of the same node and direction, or all by `OP=NEW`.

use std::collections::{BTreeMap, BTreeSet};

use super::deck::Deck;
use super::given::{Condition, ConditionKind};

/// A node, or the coupling of a reference node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    Node(u32),
    Coupling(usize),
}

/// What the conditions of a deck hold, step by step.
pub(super) struct Held {
    /// By step: the condition that displaces a point in a direction.
    steps: Vec<BTreeMap<(Point, usize), usize>>,
    /// What some step displaces: it is held in all steps.
    displaced: BTreeSet<(Point, usize)>,
    /// Whether the first step takes away what stands before it.
    is_fresh: bool,
    /// Whether a point is held in some steps and free in others.
    pub changes: bool,
}

impl Held {
    /// `points` of every condition, by their order in `deck`.
    pub fn new(deck: &Deck, points: &[Vec<Point>]) -> Self {
        let mut held = Self {
            steps: Vec::with_capacity(deck.cases.len()),
            displaced: BTreeSet::new(),
            is_fresh: deck.cases.first().is_some_and(|first| deck.released.contains(first)),
            changes: false,
        };
        let (mut now, mut ever, mut counts) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        obey(&mut now, None, deck, points);
        if deck.cases.is_empty() {
            held.keep(&now, deck);
        }
        for case in &deck.cases {
            if deck.released.contains(case) {
                now.clear();
            }
            obey(&mut now, Some(case), deck, points);
            held.keep(&now, deck);
            ever.extend(now.keys().copied());
            counts.push(now.len());
        }
        held.changes = counts.iter().any(|count| *count < ever.len());
        held
    }

    /// Keeps what is displaced at the end of a step.
    fn keep(&mut self, now: &BTreeMap<(Point, usize), usize>, deck: &Deck) {
        let moves = |c: usize| match deck.conditions[c].kind {
            ConditionKind::Held(_, _, value) => value != 0.0,
            _ => false,
        };
        let moved = now.iter().map(|(key, c)| (*key, *c)).filter(|(_, c)| moves(*c));
        let moved: BTreeMap<_, _> = moved.collect();
        self.displaced.extend(moved.keys().copied());
        self.steps.push(moved);
    }

    /// The steps and directions, from first to last, in which `c` displaces `point`.
    pub fn displaced(&self, c: usize, point: Point) -> Vec<(usize, [usize; 2])> {
        let of_step = |(step, held): (usize, &BTreeMap<_, usize>)| {
            let is_here = std::array::from_fn(|axis| held.get(&(point, axis)) == Some(&c));
            runs(is_here).into_iter().map(move |run| (step, run))
        };
        self.steps.iter().enumerate().flat_map(of_step).collect()
    }

    /// The directions, from first to last, in which `condition` holds `point` and no step displaces
    /// it.
    pub fn fixed(&self, condition: &Condition, point: Point) -> Vec<[usize; 2]> {
        let ConditionKind::Held(first, last, _) = condition.kind else { return Vec::new() };
        if self.is_fresh && condition.case.is_none() {
            return Vec::new();
        }
        runs(std::array::from_fn(|axis| {
            (first..=last).contains(&axis) && !self.displaced.contains(&(point, axis))
        }))
    }
}

/// Lays the conditions of a step, or of the model, over what holds before it.
fn obey(
    now: &mut BTreeMap<(Point, usize), usize>,
    case: Option<&String>,
    deck: &Deck,
    points: &[Vec<Point>],
) {
    let conditions = deck.conditions.iter().enumerate();
    for (c, condition) in conditions.filter(|(_, condition)| condition.case.as_ref() == case) {
        let ConditionKind::Held(first, last, _) = condition.kind else { continue };
        for &point in &points[c] {
            now.extend((first..=last).map(|axis| ((point, axis), c)));
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

/// First and last of each run of directions.
fn runs(is_in: [bool; 3]) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for axis in (0..3).filter(|&axis| is_in[axis]) {
        match runs.last_mut() {
            Some([_, last]) if *last + 1 == axis => *last = axis,
            _ => runs.push([axis, axis]),
        }
    }
    runs
}

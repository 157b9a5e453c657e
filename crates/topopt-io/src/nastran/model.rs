//! `Model` and `Loads`: the mesh of a deck, and its load sets as loads on sets of the mesh.

use std::collections::BTreeMap;

use super::coordinates::Systems;
use super::deck::{Deck, Grid};
use crate::deck::{Resultant, SetLoad};
use crate::part::Part;

/// The mesh of a deck, before its sets are made.
pub(super) struct Model<'a> {
    /// Deck whose grids and solids ascend.
    pub deck: &'a Deck,
    pub systems: &'a Systems,
    /// Places of the grids in the basic system.
    pub coordinates: &'a [[f64; 3]],
    pub part: &'a Part,
}

impl Model<'_> {
    /// The grid at a position.
    pub fn grid(&self, position: u32) -> &Grid {
        &self.deck.grids[position as usize]
    }

    /// The place of a grid.
    pub fn place(&self, position: u32) -> [f64; 3] {
        self.coordinates[position as usize]
    }
}

/// More different forces or pressures in a load set than this get no sets.
pub(super) const MOST_SETS: usize = 1000;

/// The loads of the load sets of a deck, without factors, and what is lost of them.
#[derive(Default)]
pub(super) struct Loads {
    pub of_sets: BTreeMap<u64, Vec<SetLoad>>,
    pub lost: BTreeMap<u64, Vec<String>>,
    /// The sums of FORCE and MOMENT as the deck gives them.
    pub given: BTreeMap<u64, Resultant>,
}

impl Loads {
    /// Adds a load to a load set.
    pub fn push(&mut self, set: u64, load: SetLoad) {
        self.of_sets.entry(set).or_default().push(load);
    }

    /// Keeps what is lost of a load set.
    pub fn lose(&mut self, set: u64, what: impl Into<String>) {
        self.lost.entry(set).or_default().push(what.into());
    }

    /// Keeps how many of something are lost of a load set, if there are any.
    pub fn lose_count(&mut self, set: u64, count: usize, what: &str) {
        if count > 0 {
            self.lose(set, format!("{what}: {count}"));
        }
    }
}

/// A load case with the sets that it selects.
#[derive(Default)]
pub(super) struct LoadCase {
    pub name: String,
    /// Place of its subcase, if it is one.
    pub subcase: Option<usize>,
    /// Load set.
    pub loads: Option<u64>,
    /// Set of temperatures that elements expand by.
    pub temperatures: Option<u64>,
}

impl LoadCase {
    /// Whether it selects something.
    pub fn acts(&self) -> bool {
        self.loads.is_some() || self.temperatures.is_some()
    }
}

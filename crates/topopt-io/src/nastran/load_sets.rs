//! The load sets of a deck as loads on sets of the mesh.

use std::collections::BTreeMap;

use crate::deck::{Resultant, SetLoad};

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
    pub fn lose(&mut self, set: u64, what: String) {
        self.lost.entry(set).or_default().push(what);
    }
}

//! `Model` and `Found`: the mesh of a deck, and the sets, supports and loads that are made of it.

use super::coordinates::Systems;
use super::deck::{Deck, Grid};
use crate::part::{FileSets, Part, Stand};

/// The mesh of a deck, before its sets are made.
pub(super) struct Model<'a> {
    /// Deck whose grids and solids ascend.
    pub deck: &'a Deck,
    pub systems: &'a Systems,
    /// Places of the grids in the basic system.
    pub coordinates: &'a [[f64; 3]],
    pub part: &'a Part,
}

/// The sets, and what happens there.
#[derive(Default)]
pub(super) struct Found {
    pub sets: FileSets,
    pub deck: crate::deck::Deck,
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

    /// Whether a solid has the grid, be it in the middle of an edge that is straight here.
    pub fn is_of_solid(&self, position: u32) -> bool {
        self.part.stand(position) != Stand::Nowhere
    }
}

impl Found {
    pub fn lose(&mut self, what: String) {
        self.deck.lost.push(what);
    }
}

//! What supports and loads need of the mesh, and what they become.

use super::coordinates::Systems;
use super::deck::{Deck, Grid};
use crate::part::{FileSets, Part};

/// The mesh of a deck, before its sets are made.
pub(super) struct Model<'a> {
    /// Its grids and solids ascend.
    pub deck: &'a Deck,
    pub systems: &'a Systems,
    /// Places of the grids in the basic system.
    pub coordinates: &'a [[f64; 3]],
    pub part: &'a Part,
    /// For every grid, whether it is in the middle of an edge.
    pub is_middle: Vec<bool>,
}

/// The sets, and what happens there.
#[derive(Default)]
pub(super) struct Found {
    pub sets: FileSets,
    pub deck: crate::deck::Deck,
}

impl<'a> Model<'a> {
    pub fn new(
        deck: &'a Deck,
        systems: &'a Systems,
        coordinates: &'a [[f64; 3]],
        part: &'a Part,
    ) -> Self {
        let mut is_middle = vec![false; coordinates.len()];
        for node in part.cells.iter().flat_map(|cell| cell.middles) {
            if let Some(is_middle) = is_middle.get_mut(*node as usize) {
                *is_middle = true;
            }
        }
        Self { deck, systems, coordinates, part, is_middle }
    }

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
        self.part.is_used(position) || self.is_middle[position as usize]
    }
}

impl Found {
    pub fn lose(&mut self, what: String) {
        self.deck.lost.push(what);
    }
}

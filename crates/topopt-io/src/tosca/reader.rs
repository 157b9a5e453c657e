//! `Reader`: the design that is being read.

use std::collections::HashSet;

use topopt_mesh::Sets;

use super::commands::Command;
use crate::deck_design::DeckDesign;
use crate::import::ImportedMesh;

/// A model, and the design that commands add to it.
pub(super) struct Reader<'a> {
    pub commands: &'a [Command],
    pub imported: ImportedMesh,
    /// Sets of the model, and new ones.
    pub sets: Sets,
    pub design: DeckDesign,
    /// Elements of the design space, ascending.
    pub designed: Vec<u32>,
    /// Lines of responses whose items were looked through.
    pub said: HashSet<usize>,
}

impl Reader<'_> {
    /// Keeps what is not carried over.
    pub fn lose(&mut self, what: impl Into<String>) {
        self.imported.deck.lost.push(what.into());
    }
}

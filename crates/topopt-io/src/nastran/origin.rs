//! `Origin`: a line of one of the files of a deck.

/// A line of a file: 0 is the deck, others are included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Origin {
    pub file: usize,
    pub line: usize,
}

//! Sources of the numbers of an element.

/// Source of the numbers of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routine {
    /// The coordinates.
    Computed = defined!("common/tiles.cuh", "COMPUTED") as isize,
    /// Stored matrices of coefficients 1, as coefficients alone change in a design loop.
    Stored = defined!("common/tiles.cuh", "STORED") as isize,
    /// No arithmetic: what memory alone takes [CeckaLewDarve2011, 6.3]. The matrix means nothing.
    Empty = defined!("common/tiles.cuh", "EMPTY") as isize,
}

impl Routine {
    /// All routines.
    pub const ALL: [Self; 3] = [Self::Computed, Self::Stored, Self::Empty];

    /// Name as in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computed => "computed",
            Self::Stored => "stored",
            Self::Empty => "empty",
        }
    }
}

//! Halos: the entries that ranks exchange.

use std::ops::Range;

/// Part of a rank: the points of a mesh that it owns, and the ghosts that it takes from others.
#[derive(Debug, Clone, PartialEq)]
pub struct Halo {
    /// Own points among those of the part.
    pub own: Range<usize>,
    /// Number of points of the part, ghosts included.
    pub n_points: usize,
    /// The ranks that it exchanges with, increasing.
    pub neighbors: Vec<Neighbor>,
}

/// Points exchanged with one other rank; one sends what the other receives, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbor {
    /// The other rank.
    pub rank: usize,
    /// Points that are sent, numbered among the own ones.
    pub sent: Vec<u32>,
    /// Points that are received, numbered among those of the part.
    pub received: Vec<u32>,
}

impl Halo {
    /// Returns the halo of a rank that has all `n_points`.
    pub fn none(n_points: usize) -> Self {
        Self { own: 0..n_points, n_points, neighbors: Vec::new() }
    }

    /// Returns the halo of the entries of vectors with so many unknowns per point, side by side.
    #[must_use]
    pub fn of_entries(&self, unknowns: usize) -> Self {
        let n = unknowns as u32;
        let entries = |points: &Vec<u32>| points.iter().flat_map(|p| n * p..n * (p + 1)).collect();
        let neighbor = |Neighbor { rank, sent, received }: &Neighbor| Neighbor {
            rank: *rank,
            sent: entries(sent),
            received: entries(received),
        };
        Self {
            own: unknowns * self.own.start..unknowns * self.own.end,
            n_points: unknowns * self.n_points,
            neighbors: self.neighbors.iter().map(neighbor).collect(),
        }
    }

    /// Number of own points.
    pub fn n_own(&self) -> usize {
        self.own.len()
    }
}

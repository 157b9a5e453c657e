//! Numbers of a verified shape, with their places.

use serde::{Deserialize, Serialize};
use topopt_surface::Narrowest;

use topopt_case::tags::Tags;

/// A width and its place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Width {
    /// Distance across.
    pub width: f64,
    /// Number of the element that the middle is in.
    pub element: u64,
    /// The middle.
    pub at: [f64; 3],
}

impl Width {
    /// With the number of the mesh file.
    pub(super) fn of(Narrowest { width, at, element }: Narrowest, tags: Option<&Tags>) -> Self {
        Self { width, element: Tags::element(tags, element), at }
    }
}

/// Shares in the sum of `volumes`, largest first.
pub fn sorted_shares(mut volumes: Vec<f64>) -> Vec<f64> {
    let total: f64 = volumes.iter().sum();
    volumes.iter_mut().for_each(|volume| *volume /= total);
    volumes.sort_by(|a, b| b.total_cmp(a));
    volumes
}

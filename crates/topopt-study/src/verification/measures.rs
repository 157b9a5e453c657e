//! Numbers of a verified shape, with their places.

use serde::{Deserialize, Serialize};
use topopt_surface::Widths;

use topopt_case::tags::Tags;

/// Widths of members or gaps along the surface, and a place of the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Width {
    /// Largest width of the narrowest ones, which a hundredth of the surface bounds.
    pub width: f64,
    /// Largest width of those that half of the surface bounds.
    pub median: f64,
    /// Number of the element that the middle is in.
    pub element: u64,
    /// The middle.
    pub at: [f64; 3],
}

impl Width {
    /// With the number of the mesh file.
    pub(super) fn of((widths, element): (Widths, u32), tags: Option<&Tags>) -> Self {
        let Widths { first_percentile, median, at } = widths;
        Self { width: first_percentile, median, element: Tags::element(tags, element), at }
    }
}

/// Shares in the sum of `volumes`, largest first.
pub fn sorted_shares(mut volumes: Vec<f64>) -> Vec<f64> {
    let total: f64 = volumes.iter().sum();
    volumes.iter_mut().for_each(|volume| *volume /= total);
    volumes.sort_by(|a, b| b.total_cmp(a));
    volumes
}

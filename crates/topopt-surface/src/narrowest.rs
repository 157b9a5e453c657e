//! How narrow the members of a solid are, and the gaps between them.

mod climb;
mod depths;
mod ridges;

use rayon::prelude::*;

use crate::cut::Cut;
use depths::{Depths, Place};

/// The narrowest place of a solid, or of the gaps in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Narrowest {
    /// Distance across (length).
    pub width: f64,
    /// The middle.
    pub at: [f64; 3],
    /// The element that it is in.
    pub element: u32,
}

/// Places that are looked at before the bound is lowered: results do not depend on threads.
const AT_ONCE: usize = 32;

/// The thinnest member and the narrowest gap of the solid of a cut, see
/// [`Solid::narrowest`](crate::Solid::narrowest).
pub(crate) fn narrowest(cut: Cut, ignored: &[bool]) -> [Option<Narrowest>; 2] {
    let Some(depths) = Depths::of(cut) else { return [None; 2] };
    [true, false].map(|inside| {
        let mut narrowest: Option<Place> = None;
        for some in ridges::ridges(&depths, inside, ignored).chunks(AT_ONCE) {
            let bound = narrowest.map_or(f64::INFINITY, |found| found.depth);
            if depths.of_vertex[some[0] as usize] >= bound {
                break;
            }
            let middles = some.par_iter().filter_map(|&ridge| climb::middle(&depths, ridge, bound));
            let least = middles.min_by(|a, b| a.depth.total_cmp(&b.depth));
            narrowest = least.or(narrowest);
        }
        narrowest.map(|Place { at, depth, element }| Narrowest { width: 2.0 * depth, at, element })
    })
}

#[cfg(test)]
mod tests;

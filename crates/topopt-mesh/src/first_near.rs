//! First of the places that are near each other.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::CellList;

/// Number of the place that stands for each of `places`, `[n_places]`: itself, or the first one
/// that is within the `reaches`, `[n_places]`, of both and stands for itself. Places are searched
/// as far as the largest reach, and as `tolerance` > 0 (length).
pub fn first_near(places: &[[f64; 3]], reaches: &[f64], tolerance: f64) -> Vec<u32> {
    let near = Near::new(places, reaches, tolerance);
    let first: Vec<AtomicU32> =
        (0..places.len()).into_par_iter().map(|_| u32::MAX.into()).collect();
    let stand_for_later = |place: usize| near.stand_for_later(place, &first);

    // Places with no earlier ones near them, whichever thread comes first; then others that are
    // left; where places coincide there are none.
    let all = (0..places.len()).into_par_iter();
    all.filter(|&place| !near.has_earlier(place)).for_each(stand_for_later);
    let is_left = |&place: &usize| first[place].load(Ordering::Relaxed) == u32::MAX;
    (0..places.len()).filter(is_left).for_each(stand_for_later);
    first.into_par_iter().map(AtomicU32::into_inner).collect()
}

/// Places near each other: within the reaches of both.
struct Near<'a> {
    places: &'a [[f64; 3]],
    reaches: &'a [f64],
    list: CellList,
}

impl<'a> Near<'a> {
    fn new(places: &'a [[f64; 3]], reaches: &'a [f64], tolerance: f64) -> Self {
        let farthest = reaches.par_iter().copied().reduce(|| tolerance, f64::max);
        Self { places, reaches, list: CellList::new(places, farthest) }
    }

    /// Whether a place that comes before that of number `place` is near it.
    fn has_earlier(&self, place: usize) -> bool {
        self.list.any_within(self.places[place], |other, distance| {
            (other as usize) < place && self.are_near(place, other, distance)
        })
    }

    /// Makes `place` the first of itself and of those after it that are near it, unless they have
    /// an earlier one.
    fn stand_for_later(&self, place: usize, first: &[AtomicU32]) {
        self.list.for_each_within(self.places[place], |other, distance| {
            if other as usize >= place && self.are_near(place, other, distance) {
                first[other as usize].fetch_min(place as u32, Ordering::Relaxed);
            }
        });
    }

    fn are_near(&self, place: usize, other: u32, distance: f64) -> bool {
        distance <= self.reaches[place].min(self.reaches[other as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{difference, length};

    /// The first place stands for all near it, the next one that is left for those near it, and so
    /// on.
    fn one_after_the_other(places: &[[f64; 3]], reaches: &[f64]) -> Vec<u32> {
        let mut first = vec![u32::MAX; places.len()];
        for place in 0..places.len() {
            if first[place] == u32::MAX {
                for other in place..places.len() {
                    let distance = length(difference(places[other], places[place]));
                    let is_near = distance <= reaches[place].min(reaches[other]);
                    if is_near && first[other] == u32::MAX {
                        first[other] = place as u32;
                    }
                }
            }
        }
        first
    }

    #[test]
    fn places_in_chains_are_gathered_as_one_after_the_other() {
        let random = |i: usize| (i.wrapping_mul(2_654_435_761) >> 7) as f64 % 1000.0 / 1000.0;
        let place = |i: usize| [0, 1, 2].map(|d| 6.0 * random(3 * i + d));
        let places: Vec<[f64; 3]> = (0..800).map(place).collect();
        let reaches: Vec<f64> = (0..800).map(|i| 0.3 + 0.6 * random(i)).collect();
        let expected = one_after_the_other(&places, &reaches);
        assert_eq!(first_near(&places, &reaches, 1e-6), expected);
        assert!((0..).zip(&expected).filter(|(place, first)| place == *first).count() < 700);

        // Chains: some that are first have earlier places near them.
        let near = Near::new(&places, &reaches, 1e-6);
        let is_in_chain = |&e: &usize| expected[e] as usize == e && near.has_earlier(e);
        assert!((0..800).filter(is_in_chain).count() > 5);
    }
}

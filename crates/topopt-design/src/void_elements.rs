//! Elements of a design that carry next to nothing, for preconditioners whose structure follows the
//! design.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Share of the largest modulus below which an element counts as void: solid members part there.
const VOID: f64 = 0.2;
/// Iterations of a solve that a structure is not to blame for.
const USUAL: usize = 20;
/// Share of the elements that must have become void or solid since a structure was made, where
/// solves are slow.
pub const CHANGED: f64 = 0.005;
/// Share where a stage begins, whose first solve would be slow: where a surface has moved by 6 % of
/// the elements in 25 iterations, an older structure took no more iterations.
pub(crate) const CHANGED_BY_STAGE: f64 = 0.1;

/// Void for which the structure of a preconditioner was made, and its cost since.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StructureState {
    /// The elements that it takes for void, increasing.
    pub void: Vec<u32>,
    /// Iterations of the solves since beyond what is usual, summed over designs.
    pub excess: usize,
}

impl StructureState {
    /// Counts a solve of `iterations`; returns whether the excess iterations of solves so far
    /// exceed `cost`, the time of a new structure in iterations.
    pub(crate) fn is_due(&mut self, iterations: usize, load_cases: usize, cost: usize) -> bool {
        self.excess += iterations.saturating_sub(USUAL * load_cases);
        self.excess > cost
    }

    /// The void elements for `moduli`, `[n_elements]`, increasing, if they differ from those of the
    /// structure in more than the `share` of all.
    pub fn changed(&self, moduli: &[f64], share: f64) -> Option<Vec<u32>> {
        let limit = VOID * moduli.par_iter().copied().reduce(|| 0.0, f64::max);
        let mut was_void = vec![false; moduli.len()];
        self.void.iter().for_each(|&e| was_void[e as usize] = true);
        let is_void = |e: usize| moduli[e] < limit;
        let elements = || (0..moduli.len()).into_par_iter();
        let changed = elements().filter(|&e| is_void(e) != was_void[e]).count();
        (changed as f64 > share * moduli.len() as f64)
            .then(|| elements().filter(|&e| is_void(e)).map(|e| e as u32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_for(void: &[u32]) -> StructureState {
        StructureState { void: void.to_vec(), excess: 0 }
    }

    #[test]
    fn void_goes_by_the_modulus_and_counts_where_much_has_changed() {
        let moduli: Vec<f64> = (0..1000).map(|e| if e % 10 < 3 { 2.0 } else { 0.019 }).collect();
        let void = made_for(&[]).changed(&moduli, CHANGED).unwrap();
        assert_eq!((void.len(), &void[..3]), (700, &[3, 4, 5][..]));
        assert_eq!(made_for(&void).changed(&moduli, CHANGED), None);
        assert_eq!(made_for(&void[5..]).changed(&moduli, CHANGED), None);
        assert_eq!(made_for(&void[6..]).changed(&moduli, CHANGED), Some(void));
        assert_eq!(made_for(&[]).changed(&[1.0; 1000], CHANGED), None);
    }

    #[test]
    fn a_structure_is_made_again_when_it_has_cost_as_much() {
        let mut state = StructureState::default();
        let due = [20, 24, 10, 25, 21].map(|iterations| state.is_due(iterations, 1, 9));
        assert_eq!(due, [false, false, false, false, true]);
        let mut state = StructureState::default();
        assert!(!state.is_due(49, 2, 9) && state.is_due(41, 2, 9));
    }
}

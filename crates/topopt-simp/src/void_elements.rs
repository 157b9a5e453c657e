//! Which elements of a design carry next to nothing, for preconditioners whose structure follows it.

/// Share of the largest modulus below which an element counts as void: solid members part there.
const VOID: f64 = 1e-2;
/// Iterations of a solve from which on a structure is worth making again, which takes as long as
/// some ten solves on a GPU and less than one on a processor.
const SLOW: usize = 24;
/// Share of the elements that must have become void or solid meanwhile.
const CHANGED: f64 = 0.005;

/// Whether a solve of so many iterations was slow.
pub(crate) fn is_slow(iterations: usize, load_cases: usize) -> bool {
    iterations > SLOW * load_cases
}

/// The void elements for `moduli`, \[n_elements\], increasing, if they differ from those `before` so
/// much that another structure may serve better.
pub(crate) fn changed_void(moduli: &[f64], before: &[u32]) -> Option<Vec<u32>> {
    let limit = VOID * moduli.iter().copied().fold(0.0, f64::max);
    let mut was_void = vec![false; moduli.len()];
    before.iter().for_each(|&e| was_void[e as usize] = true);
    let is_void = |e: usize| moduli[e] < limit;
    let changed = (0..moduli.len()).filter(|&e| is_void(e) != was_void[e]).count();
    (changed as f64 > CHANGED * moduli.len() as f64)
        .then(|| (0..moduli.len()).filter(|&e| is_void(e)).map(|e| e as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn void_is_told_by_the_modulus_and_only_where_much_has_changed() {
        let moduli: Vec<f64> = (0..1000).map(|e| if e % 10 < 3 { 2.0 } else { 0.019 }).collect();
        let void = changed_void(&moduli, &[]).unwrap();
        assert_eq!((void.len(), &void[..3]), (700, &[3, 4, 5][..]));
        assert_eq!(changed_void(&moduli, &void), None);
        assert_eq!(changed_void(&moduli, &void[5..]), None);
        assert_eq!(changed_void(&moduli, &void[6..]), Some(void));
        assert_eq!(changed_void(&[1.0; 1000], &[]), None);
    }

    #[test]
    fn a_solve_is_slow_by_load_case() {
        assert!(is_slow(25, 1) && !is_slow(24, 1) && !is_slow(48, 2) && is_slow(49, 2));
    }
}

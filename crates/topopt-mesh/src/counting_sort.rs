//! Counting sort by several threads: each sorts the items of its own range of groups, so that the
//! result does not depend on their number.

use rayon::prelude::*;

/// Most threads that read all the keys.
const MOST_THREADS: usize = 16;

/// Where each of `n_groups` groups begins, and the end of the last, if items are sorted by their
/// `keys`, the number of the group of each.
pub fn offsets(keys: &[u32], n_groups: usize) -> Vec<usize> {
    let mut offsets = vec![0usize; n_groups + 1];
    let share = share(n_groups);
    offsets[1..].par_chunks_mut(share).enumerate().for_each(|(range, counts)| {
        for &key in keys {
            if let Some(count) = counts.get_mut((key as usize).wrapping_sub(range * share)) {
                *count += 1;
            }
        }
    });
    for group in 0..n_groups {
        offsets[group + 1] += offsets[group];
    }
    offsets
}

/// `value(item)` of all items in the order of their `keys`, those of a group in the order of the
/// items. `offsets` are those of [`offsets`].
pub fn sorted<T: Copy + Default + Send>(
    keys: &[u32],
    offsets: &[usize],
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let n_groups = offsets.len() - 1;
    let mut values = vec![T::default(); keys.len()];

    // The values of a range of groups are consecutive, so each thread owns a slice.
    let mut rest = values.as_mut_slice();
    let mut ranges = Vec::new();
    for first in (0..n_groups).step_by(share(n_groups)) {
        let starts = &offsets[first..n_groups.min(first + share(n_groups))];
        let end = offsets[first + starts.len()];
        let (own, others) = rest.split_at_mut(end - starts[0]);
        ranges.push((first, starts, own));
        rest = others;
    }

    // Every thread reads all keys in order, which is the order within a group.
    ranges.into_par_iter().for_each(|(first, starts, own)| {
        let mut filled = vec![0u32; starts.len()];
        for (item, &key) in keys.iter().enumerate() {
            let group = (key as usize).wrapping_sub(first);
            if let Some(filled) = filled.get_mut(group) {
                own[starts[group] - starts[0] + *filled as usize] = value(item);
                *filled += 1;
            }
        }
    });

    values
}

/// Groups of a thread.
fn share(n_groups: usize) -> usize {
    n_groups.div_ceil(rayon::current_num_threads().min(MOST_THREADS)).max(1)
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn items_come_by_group_and_in_order_on_any_number_of_threads() {
        let keys: Vec<u32> = (0..1000u32).map(|i| i * i % 37).collect();
        let mut expected: Vec<usize> = (0..keys.len()).collect();
        expected.sort_by_key(|&item| keys[item]);
        for n_threads in [1, 3, 40] {
            let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let offsets = offsets(&keys, 40);
                assert_eq!(sorted(&keys, &offsets, |item| item), expected);
                for group in 0..40 {
                    let items = &expected[offsets[group]..offsets[group + 1]];
                    assert!(items.iter().all(|&item| keys[item] as usize == group));
                }
            });
        }
        assert_eq!(offsets(&[], 0), [0]);
    }
}

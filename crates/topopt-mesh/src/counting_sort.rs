//! Counting sort by several threads, in two steps: first into buckets of consecutive groups, then
//! each bucket by itself. The result does not depend on the number of threads.

use rayon::prelude::*;

/// Most buckets. What one thread writes to at a time fits its cache.
const BUCKETS: usize = 1024;
/// Most blocks of items that are put into buckets at a time.
const BLOCKS: usize = 128;
/// Items of a block at least.
const LEAST: usize = 1 << 14;

/// Items sorted by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped<T> {
    /// Start of each group in `values`, then the end of the last, `[n_groups + 1]`.
    pub offsets: Vec<usize>,
    /// `[n_items]`.
    pub values: Vec<T>,
}

impl<T: Copy + Send + Sync> Grouped<T> {
    /// The items of a group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.values[self.offsets[group]..self.offsets[group + 1]]
    }

    /// The items of each group.
    pub fn into_lists(self) -> Vec<Vec<T>> {
        let Self { offsets, values } = self;
        if offsets.len() == 2 {
            return vec![values];
        }
        offsets.par_windows(2).map(|ends| values[ends[0]..ends[1]].to_vec()).collect()
    }
}

/// `value(item)` of all items in the order of their `keys`, the number of the group of each, of
/// `n_groups`; those of a group in the order of the items.
pub fn grouped<T: Copy + Default + Send + Sync>(
    keys: &[u32],
    n_groups: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Grouped<T> {
    let blocks = Blocks::new(keys, n_groups, value);
    let mut offsets = vec![0usize; n_groups + 1];
    let mut values = vec![T::default(); keys.len()];

    let (starts, own) = parts(&mut values, blocks.bucket_ends());
    let groups = offsets[1..].par_chunks_mut(1 << blocks.shift);
    groups.zip(starts).zip(own).enumerate().for_each(|(bucket, ((places, start), values))| {
        let group = |key: u32| key as usize - (bucket << blocks.shift);
        blocks.of_bucket(bucket).for_each(|&(key, _)| places[group(key)] += 1);

        let mut next = start;
        for place in places.iter_mut() {
            (*place, next) = (next, next + *place);
        }

        // When all are placed, the next place of a group is its end.
        for &(key, value) in blocks.of_bucket(bucket) {
            let place = &mut places[group(key)];
            values[*place - start] = value;
            *place += 1;
        }
    });
    Grouped { offsets, values }
}

/// Keys and values by blocks of items: by bucket within a block, in the order of the items within a
/// bucket.
struct Blocks<T> {
    pairs: Vec<(u32, T)>,
    /// Items of a block.
    size: usize,
    /// A bucket has `1 << shift` groups.
    shift: u32,
    /// Start of each bucket within its block, then the block's end, `[n_blocks][n_buckets + 1]`.
    starts: Vec<Vec<usize>>,
}

impl<T: Copy + Default + Send + Sync> Blocks<T> {
    fn new(keys: &[u32], n_groups: usize, value: impl Fn(usize) -> T + Sync) -> Self {
        let shift = n_groups.div_ceil(BUCKETS).max(1).next_power_of_two().ilog2();
        let n_buckets = n_groups.div_ceil(1 << shift);
        let size = keys.len().div_ceil(BLOCKS).max(LEAST);
        let mut pairs = vec![(0, T::default()); keys.len()];

        let blocks = pairs.par_chunks_mut(size).zip(keys.par_chunks(size)).enumerate();
        let starts = blocks.map(|(block, (pairs, keys))| {
            let mut starts = vec![0; n_buckets + 1];
            keys.iter().for_each(|&key| starts[(key >> shift) as usize + 1] += 1);
            for bucket in 0..n_buckets {
                starts[bucket + 1] += starts[bucket];
            }
            let mut next = starts.clone();
            for (i, &key) in keys.iter().enumerate() {
                let place = &mut next[(key >> shift) as usize];
                pairs[*place] = (key, value(block * size + i));
                *place += 1;
            }
            starts
        });
        let starts = starts.collect();
        Self { pairs, size, shift, starts }
    }

    /// The number of items up to the end of each bucket.
    fn bucket_ends(&self) -> impl Iterator<Item = usize> {
        let n_buckets = self.starts.first().map_or(0, |starts| starts.len() - 1);
        (0..n_buckets).map(|bucket| self.starts.iter().map(|starts| starts[bucket + 1]).sum())
    }

    fn of_bucket(&self, bucket: usize) -> impl Iterator<Item = &(u32, T)> {
        let blocks = self.starts.iter().zip(self.pairs.chunks(self.size));
        blocks.flat_map(move |(starts, pairs)| &pairs[starts[bucket]..starts[bucket + 1]])
    }
}

/// `values` cut at `ends`: where the parts begin, and the parts.
pub(crate) fn parts<T>(
    values: &mut [T],
    ends: impl Iterator<Item = usize>,
) -> (Vec<usize>, Vec<&mut [T]>) {
    let (mut starts, mut parts, mut rest, mut start) = (Vec::new(), Vec::new(), values, 0);
    for end in ends {
        let (own, others) = rest.split_at_mut(end - start);
        starts.push(start);
        parts.push(own);
        (rest, start) = (others, end);
    }
    (starts, parts)
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn items_come_by_group_and_in_order_on_any_number_of_threads() {
        for (n_items, n_groups) in [(1000u32, 40u32), (40_000, 3000), (100_000, 1)] {
            let keys: Vec<u32> =
                (0..n_items).map(|i| (i.wrapping_mul(i) % 2999) % n_groups).collect();
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by_key(|&item| keys[item]);

            for n_threads in [1, 3, 40] {
                let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| {
                    let Grouped { offsets, values } =
                        grouped(&keys, n_groups as usize, |item| item);
                    assert_eq!(values, expected);
                    for group in 0..n_groups as usize {
                        let items = &expected[offsets[group]..offsets[group + 1]];
                        assert!(items.iter().all(|&item| keys[item] as usize == group));
                    }
                    assert_eq!(offsets[n_groups as usize], keys.len());
                });
            }
        }
        assert_eq!(grouped(&[], 0, |_| ()).offsets, [0]);
    }
}

//! Samples of elements, by block and in any order.

use topopt_linalg::Sample;
use topopt_mesh::filled_rows;

/// Samples of the elements of a block, those of one after those of the one before.
#[derive(Default)]
pub(super) struct Lists {
    elements: Vec<u32>,
    /// End of the samples of each one.
    ends: Vec<usize>,
    samples: Vec<Sample>,
}

impl FromIterator<(u32, Vec<Sample>)> for Lists {
    fn from_iter<I: IntoIterator<Item = (u32, Vec<Sample>)>>(all: I) -> Self {
        let mut lists = Self::default();
        for (element, samples) in all {
            lists.elements.push(element);
            lists.samples.extend(samples);
            lists.ends.push(lists.samples.len());
        }
        lists
    }
}

impl Lists {
    /// Samples of each of `n` elements, which all blocks have made.
    pub fn by_element(all: &[Self], n: usize) -> Vec<&[Sample]> {
        let mut by_element: Vec<&[Sample]> = vec![&[]; n];
        for Self { elements, ends, samples } in all {
            let mut start = 0;
            for (&element, &end) in elements.iter().zip(ends) {
                by_element[element as usize] = &samples[start..end];
                start = end;
            }
        }
        by_element
    }
}

/// First sample of each element of the `order`, the end of the last, and all samples in it.
pub(super) fn in_order(order: &[u32], by_element: &[&[Sample]]) -> (Vec<usize>, Vec<Sample>) {
    let lists = || order.iter().map(|&element| by_element[element as usize]);
    let mut starts = vec![0];
    starts.extend(lists().scan(0, |end, samples| {
        *end += samples.len();
        Some(*end)
    }));
    let samples = filled_rows(&starts, |k, row| row.copy_from_slice(by_element[order[k] as usize]));
    (starts, samples)
}

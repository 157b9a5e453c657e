//! Rows of values one after the other, filled by all threads.

use rayon::iter::repeat_n;
use rayon::prelude::*;

/// Rows that a thread fills one after the other.
const ROWS: usize = 256;

/// The values of all rows, made by `fill(row, values)`: row `i` begins at `offsets[i]` and ends at
/// `offsets[i + 1]`. The first to write to a page of memory waits for it: all threads do.
pub fn filled_rows<T: Copy + Default + Send + Sync, O: Offset>(
    offsets: &[O],
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let end = offsets.last().map_or(0, |end| end.place());
    let mut values: Vec<T> = repeat_n(T::default(), end).collect();
    fill_from(0, offsets, &mut values, &fill);
    values
}

/// The number of a value.
pub trait Offset: Copy + Sync {
    /// Place of the value in a list.
    fn place(self) -> usize;
}

impl Offset for u32 {
    fn place(self) -> usize {
        self as usize
    }
}

impl Offset for usize {
    fn place(self) -> usize {
        self
    }
}

/// Fills the rows between `offsets`, from row `first` on.
fn fill_from<T: Send, O: Offset>(
    first: usize,
    offsets: &[O],
    values: &mut [T],
    fill: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let n_rows = offsets.len().saturating_sub(1);
    if n_rows > ROWS {
        let middle = n_rows / 2;
        let (left, right) = values.split_at_mut(offsets[middle].place() - offsets[0].place());
        rayon::join(
            || fill_from(first, &offsets[..=middle], left, fill),
            || fill_from(first + middle, &offsets[middle..], right, fill),
        );
        return;
    }
    let mut rest = values;
    for (row, ends) in offsets.windows(2).enumerate() {
        let (values, others) = rest.split_at_mut(ends[1].place() - ends[0].place());
        fill(first + row, values);
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_length_are_filled_in_their_order() {
        let offsets: Vec<u32> = (0..2000u32).map(|row| row * row.saturating_sub(1) / 2).collect();
        let found = filled_rows(&offsets, |row, values: &mut [u32]| {
            assert_eq!(values.len(), row);
            values.fill(row as u32);
        });
        let expected: Vec<u32> = (0..1999u32).flat_map(|row| vec![row; row as usize]).collect();
        assert_eq!(found, expected);
        assert!(filled_rows(&[0_usize], |_, _: &mut [u8]| ()).is_empty());
        assert!(filled_rows::<_, u32>(&[], |_, _: &mut [u8]| ()).is_empty());
    }
}

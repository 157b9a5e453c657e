//! Rows of values one after the other, filled by all threads.

/// Rows that a thread fills one after the other.
const ROWS: usize = 256;

/// The values of all rows, made by `fill(row, values)`: row `i` begins at `offsets[i]` and ends at
/// `offsets[i + 1]`. The first to write to a page of memory waits for it: all threads do.
pub fn filled_rows<T: Copy + Default + Send>(
    offsets: &[u32],
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut values = vec![T::default(); offsets.last().map_or(0, |&end| end as usize)];
    fill_from(0, offsets, &mut values, &fill);
    values
}

/// Fills the rows between `offsets`, from row `first` on.
fn fill_from<T: Send>(
    first: usize,
    offsets: &[u32],
    values: &mut [T],
    fill: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let n_rows = offsets.len().saturating_sub(1);
    if n_rows > ROWS {
        let middle = n_rows / 2;
        let (left, right) = values.split_at_mut((offsets[middle] - offsets[0]) as usize);
        rayon::join(
            || fill_from(first, &offsets[..=middle], left, fill),
            || fill_from(first + middle, &offsets[middle..], right, fill),
        );
        return;
    }
    let mut rest = values;
    for (row, ends) in offsets.windows(2).enumerate() {
        let (values, others) = rest.split_at_mut((ends[1] - ends[0]) as usize);
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
        assert!(filled_rows(&[0], |_, _: &mut [u8]| ()).is_empty());
        assert!(filled_rows(&[], |_, _: &mut [u8]| ()).is_empty());
    }
}

//! Values at faces and nodes, and in tables.

use std::collections::HashMap;

/// Members by the value that they have, in the order of the first of each value. Values differ
/// if their bits do, except that -0 is 0.
pub(crate) fn by_value<M, const N: usize>(
    all: impl IntoIterator<Item = (M, [f64; N])>,
) -> Vec<([f64; N], Vec<M>)> {
    let (mut groups, mut index) = (Vec::new(), HashMap::new());
    for (member, value) in all {
        let value = value.map(|v| v + 0.0);
        let at = *index.entry(value.map(f64::to_bits)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((value, Vec::new()));
        }
        groups[at].1.push(member);
    }
    groups
}

/// The mean of the values at the corners of a face; `values` is not empty.
pub(crate) fn mean(values: &[f64]) -> f64 {
    // The mean of equal values is that value, to the last bit.
    let offsets: f64 = values.iter().map(|value| value - values[0]).sum();
    values[0] + offsets / values.len() as f64
}

/// The value at `x` of rows `[x, value]` whose x ascend: linear between them, constant beyond; none
/// without rows.
pub(crate) fn interpolated(rows: &[[f64; 2]], x: f64) -> Option<f64> {
    let above = rows.partition_point(|[at, _]| *at <= x);
    match (above.checked_sub(1).map(|below| rows[below]), rows.get(above).copied()) {
        (Some([x0, a]), Some([x1, b])) => Some(a + (b - a) * (x - x0) / (x1 - x0)),
        (Some([_, end]), None) | (None, Some([_, end])) => Some(end),
        (None, None) => None,
    }
}

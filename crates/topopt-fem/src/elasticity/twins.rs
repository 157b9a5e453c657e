//! Nodes that stand twice in an element, as in a wedge, among elements in lanes.

use pulp::Simd;

use crate::DIM;
use crate::lanes::MAX_LANES;
use crate::operators::{LaneGroup, Nodal, from_group, to_group};

/// A node that stands twice in the element of a lane, as in a wedge.
pub struct Twin {
    lane: usize,
    /// The local node where it stands first.
    first: usize,
    /// The local node where it stands again.
    again: usize,
}

impl Twin {
    /// Returns the repeated nodes of the element `hex` in `lane`.
    pub fn all(hex: &[u32; 8], lane: usize) -> impl Iterator<Item = Self> + '_ {
        (1..8).filter_map(move |again| {
            let first = hex[..again].iter().position(|node| *node == hex[again])?;
            Some(Self { lane, first, again })
        })
    }

    /// Adds what is at the second place to the first, and makes it zero there.
    fn join(&self, group: &mut LaneGroup) {
        for i in 0..DIM {
            let again = std::mem::take(&mut group[self.again][i][self.lane]);
            group[self.first][i][self.lane] += again;
        }
    }

    /// Gives the second place what is at the first.
    fn copy(&self, group: &mut LaneGroup) {
        for i in 0..DIM {
            group[self.again][i][self.lane] = group[self.first][i][self.lane];
        }
    }

    /// Makes it zero at the second place.
    pub fn clear<const N: usize>(&self, group: &mut LaneGroup<N>) {
        (0..N).for_each(|i| group[self.again][i][self.lane] = 0.0);
    }
}

/// `values` with those of `twins` at the first place of each node, and none at the second.
#[inline(always)]
pub fn joined<S: Simd>(simd: S, values: &Nodal<S>, twins: &[Twin]) -> Nodal<S> {
    changed(simd, values, twins, Twin::join)
}

/// `values` with those of the first place of each node at both.
#[inline(always)]
pub fn copied<S: Simd>(simd: S, values: &Nodal<S>, twins: &[Twin]) -> Nodal<S> {
    changed(simd, values, twins, Twin::copy)
}

/// Most groups of elements have no twins: they stay in registers.
#[inline(always)]
fn changed<S: Simd>(
    simd: S,
    values: &Nodal<S>,
    twins: &[Twin],
    change: fn(&Twin, &mut LaneGroup),
) -> Nodal<S> {
    if twins.is_empty() {
        return *values;
    }
    let mut group: LaneGroup = [[[0.0; MAX_LANES]; DIM]; 8];
    to_group(values, &mut group);
    twins.iter().for_each(|twin| change(twin, &mut group));
    from_group(simd, &group)
}

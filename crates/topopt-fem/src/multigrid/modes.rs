//! Motions of aggregates: all that multigrid has to know of a physics.

use crate::DIM;

/// Rigid-body modes of an aggregate.
pub const MODES: usize = 6;

/// Amplitudes of the modes of an aggregate, its own or those of its parent.
pub trait Modes: Copy + Send + Sync {
    /// Returns the motion of a child at `offset` from the center of its parent when the parent does `self`.
    fn of_child(&self, offset: [f64; DIM]) -> Self;

    /// The transpose: what acts on the child as what acts on the parent.
    fn of_parent(&self, offset: [f64; DIM]) -> Self;
}

/// Modes of an aggregate of nodes with N unknowns each. No term of a kernel except its ground gives
/// energy to them.
pub trait NodalModes<const N: usize>: Modes {
    /// The unknowns of a node at `offset` from the center when the aggregate does `self`.
    fn at_node(&self, offset: [f64; DIM]) -> [f64; N];

    /// The transpose: what acts on a node as what acts on the aggregate.
    fn of_node(force: [f64; N], offset: [f64; DIM]) -> Self;
}

/// A rigid motion, or a force and a moment.
impl Modes for [f64; MODES] {
    #[inline(always)]
    fn of_child(&self, offset: [f64; DIM]) -> Self {
        let [x, y, z] = self.at_node(offset);
        [x, y, z, self[3], self[4], self[5]]
    }

    #[inline(always)]
    fn of_parent(&self, offset: [f64; DIM]) -> Self {
        let mut total = Self::of_node([self[0], self[1], self[2]], offset);
        (3..MODES).for_each(|i| total[i] += self[i]);
        total
    }
}

impl NodalModes<DIM> for [f64; MODES] {
    /// t + w x r for the rigid motion (translation, rotation).
    #[inline(always)]
    fn at_node(&self, r: [f64; DIM]) -> [f64; DIM] {
        let [tx, ty, tz, wx, wy, wz] = *self;
        [tx + wy * r[2] - wz * r[1], ty + wz * r[0] - wx * r[2], tz + wx * r[1] - wy * r[0]]
    }

    /// (force, moment).
    #[inline(always)]
    fn of_node(f: [f64; DIM], r: [f64; DIM]) -> Self {
        [
            f[0],
            f[1],
            f[2],
            r[1] * f[2] - r[2] * f[1],
            r[2] * f[0] - r[0] * f[2],
            r[0] * f[1] - r[1] * f[0],
        ]
    }
}

/// A constant.
impl Modes for [f64; 1] {
    fn of_child(&self, _: [f64; DIM]) -> Self {
        *self
    }

    fn of_parent(&self, _: [f64; DIM]) -> Self {
        *self
    }
}

impl NodalModes<1> for [f64; 1] {
    fn at_node(&self, _: [f64; DIM]) -> [f64; 1] {
        *self
    }

    fn of_node(force: [f64; 1], _: [f64; DIM]) -> Self {
        force
    }
}

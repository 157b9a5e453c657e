//! Values that follow from those of points in levels before.

use crate::Backend;

/// Points in levels, each with samples of its values at points of levels before, or outside of the
/// order: p = min(x, max_k s_k), or p = max(x, max_k s_k), with s_k = sum_j a_kj p_j.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// Number of points.
    pub n_points: usize,
    /// Points of the levels, one level after the other; others keep p = x.
    pub order: &'a [u32],
    /// Ends of the levels in the order.
    pub ends: &'a [usize],
    /// First sample of each point of the order, and the end of the last.
    pub starts: &'a [usize],
    /// Samples.
    pub samples: &'a [Sample],
    /// Whether p is at least, and not at most, what the samples have.
    pub fills: bool,
}

impl Levels<'_> {
    /// Bytes on a device, at most: lists of samples, and of the samples that have each point.
    pub fn bytes(&self) -> usize {
        let of_corner = 3 * size_of::<u32>() + size_of::<f64>();
        let of_place = 3 * size_of::<u32>() + size_of::<f64>();
        4 * of_corner * self.samples.len() + of_place * self.order.len() + 8 * self.n_points
    }
}

/// Points and weights >= 0, with the sum 1, of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// The points.
    pub points: [u32; 4],
    /// Weights of their values.
    pub weights: [f64; 4],
}

/// Values p that follow from others on a backend: by [`Levels`], or by a flood. Of values within
/// 1e-9 of each other the first one takes the derivatives: x, then samples in their order.
pub trait Cascade<B: Backend>: Send {
    /// Computes p of `x`.
    fn forward(&mut self, backend: &B, x: &B::Vector, p: &mut B::Vector);

    /// Takes the derivatives by p back to the x of the last [`Cascade::forward`].
    fn backward(&mut self, backend: &B, dp: &B::Vector, dx: &mut B::Vector);
}

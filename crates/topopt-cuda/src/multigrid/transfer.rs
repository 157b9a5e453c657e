//! Prolongation and restriction on the device.

use std::sync::Arc;

use topopt_linalg::Transfer;

use super::aggregates::{Grouping, Points};
use super::level::{Coarsened, LevelKernels};
use super::shared_rows::SharedLevel;
use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// Prolongation and restriction between points and their aggregates.
pub struct LevelTransfer<'a, R: Real, K: Coarsened<N>, const N: usize> {
    kernels: Arc<K::Levels<R>>,
    points: Points,
    aggregates: Arc<Grouping>,
    shared: Option<SharedLevel<'a, R>>,
}

impl<'a, R: Real, K: Coarsened<N>, const N: usize> LevelTransfer<'a, R, K, N> {
    /// Builds the transfer from `points` to `aggregates`, which other ranks may share.
    pub(super) fn new(
        kernels: &Arc<K::Levels<R>>,
        points: Points,
        aggregates: &Arc<Grouping>,
        shared: Option<SharedLevel<'a, R>>,
    ) -> Self {
        Self { kernels: kernels.clone(), points, aggregates: aggregates.clone(), shared }
    }
}

impl<R: Real, K: Coarsened<N>, const N: usize> Transfer<Cuda<R>> for LevelTransfer<'_, R, K, N> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        self.kernels.restrict(&self.points, &self.aggregates, fine, coarse);
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        self.kernels.prolong_add(&self.points, &self.aggregates, coarse, fine);
    }
}

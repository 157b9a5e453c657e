//! Vectors on the device.

use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};
use rayon::prelude::*;
use topopt_linalg::{Layout, Space};

/// A precision that kernels are compiled for.
pub trait Real: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static {
    /// `f64` or `f32`.
    const NAME: &'static str;
    /// Rounds.
    fn from_f64(value: f64) -> Self;
    /// Widens.
    fn to_f64(self) -> f64;
}

impl Real for f64 {
    const NAME: &'static str = "f64";
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const NAME: &'static str = "f32";
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

/// A vector on the device: unknowns of nodes as `[unknowns][nodes]`, all others as on the host.
pub struct DeviceVector<R> {
    pub(crate) space: Space,
    pub(crate) values: CudaSlice<R>,
}

/// Planes in which the unknowns of `space` lie.
pub(crate) fn planes(space: Space) -> usize {
    if space.layout == Layout::Nodes { space.unknowns } else { 1 }
}

impl<R> DeviceVector<R> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }
}

/// Transposes `[n][components]` to `[components][n]`.
pub(crate) fn to_planes<R: Real>(values: &[f64], components: usize) -> Vec<R> {
    let plane = |c: usize| {
        let of_component = values.par_iter().skip(c).step_by(components);
        of_component.map(|&value| R::from_f64(value))
    };
    let mut planes = Vec::with_capacity(values.len());
    (0..components).for_each(|c| planes.par_extend(plane(c)));
    planes
}

/// Transposes `[components][n]` to `[n][components]`.
pub(crate) fn from_planes<R: Real>(planes: &[R], components: usize) -> Vec<f64> {
    let n = planes.len() / components;
    let mut values = vec![0.0; planes.len()];
    values.par_chunks_exact_mut(components).enumerate().for_each(|(k, values)| {
        (0..components).for_each(|c| values[c] = planes[n * c + k].to_f64());
    });
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_and_back() {
        let nodal = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let planes = to_planes::<f32>(&nodal, 3);
        assert_eq!(planes, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(from_planes(&planes, 3), nodal);
        assert_eq!(to_planes::<f64>(&nodal, 1), nodal);
        assert!(to_planes::<f64>(&[], 3).is_empty());
    }
}

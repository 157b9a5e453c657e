//! Values at which points are open to the outside, by `cuda/flood.cu`.

use cudarc::driver::CudaSlice;
use topopt_linalg::{Backend, BackendError, Cascade, Pointwise, Space};

use crate::kernel::Grid::Threads;
use crate::kernel::Shared;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device, kernels};

/// Steps, or rounds, between two looks at whether anything has moved; even, so that values of
/// rounds end where they begin.
const STEPS: usize = 4;

/// Bits of a sum of derivatives in whole units.
const BITS: i32 = 62;

/// A flood on the device.
pub(crate) struct DeviceFlood<R> {
    kernels: kernels::Flood<R>,
    n: usize,
    neighbors: CudaSlice<u32>,
    /// Next points on the ways to the outside; at first there are none.
    ways: CudaSlice<u32>,
    heights: CudaSlice<u32>,
    /// Levels along ways and ends of these, before and after a round; at last the levels, and the
    /// rims that points have their values of.
    levels: [CudaSlice<u32>; 2],
    ends: [CudaSlice<u32>; 2],
    /// Whether anything has moved in each step.
    moved: CudaSlice<u32>,
    received: CudaSlice<u64>,
    zero: DeviceVector<R>,
}

impl<R: Real> DeviceFlood<R> {
    /// Builds the flood over points with these `neighbors` on the device of `backend`.
    pub fn new(backend: &Cuda<R>, neighbors: &[[u32; 6]]) -> Result<Self, BackendError> {
        let (device, n) = (backend.device(), neighbors.len());
        let plane = |face: usize| neighbors.iter().map(move |behind| behind[face]);
        let planes: Vec<u32> = (0..6).flat_map(plane).collect();
        Ok(Self {
            kernels: kernels::Flood::load(device)?,
            n,
            neighbors: device.upload(&planes)?,
            ways: device.upload(&vec![u32::MAX; n])?,
            heights: device.zeros(n)?,
            levels: [device.zeros(n)?, device.zeros(n)?],
            ends: [device.zeros(n)?, device.zeros(n)?],
            moved: device.zeros(STEPS)?,
            received: device.zeros(n)?,
            zero: backend.zeros(Space::elements(n))?,
        })
    }

    /// Follows the ways to their ends, with the highest levels on them.
    fn follow(&mut self, device: &Device) {
        let Self { kernels, n, levels, ends, moved, .. } = self;
        until_settled(device, moved, |step, moved| {
            let [from, to] = [step % 2, 1 - step % 2];
            let (grid, new) = (Threads(*n), (&levels[to], &ends[to]));
            kernels.flood_follow(grid, *n, &levels[from], &ends[from], new.0, new.1, moved);
        });
    }
}

/// Does steps until nothing moves in the last one; each has a word of its own for what moves in it.
fn until_settled(
    device: &Device,
    moved: &mut CudaSlice<u32>,
    mut step: impl FnMut(usize, Shared<u32>),
) {
    loop {
        device.record("clearing marks", device.stream().memset_zeros(moved));
        (0..STEPS).for_each(|k| step(k, Shared::from_entry(moved, k)));
        // A device that fails says so to whoever asks it next.
        let has_moved = device.download(moved).is_ok_and(|moved| moved[STEPS - 1] != 0);
        if !has_moved {
            return;
        }
    }
}

impl<R: Real> Cascade<Cuda<R>> for DeviceFlood<R> {
    fn forward(&mut self, backend: &Cuda<R>, x: &DeviceVector<R>, p: &mut DeviceVector<R>) {
        let (device, n) = (backend.device(), self.n);
        let Self {
            kernels, neighbors, ways, heights, levels: [levels, _], ends: [ends, _], ..
        } = &mut *self;
        kernels.flood_begin(Threads(n), n, &*neighbors, x, ways, heights, levels, ends);
        self.follow(device);

        let Self { kernels, neighbors, ways, heights, levels: [levels, _], moved, .. } = &mut *self;
        until_settled(device, moved, |_, moved| {
            let (neighbors, heights) = (&*neighbors, &*heights);
            kernels.flood_step(Threads(n), n, neighbors, heights, &*levels, &mut *ways, moved);
        });

        // Ways to rims are of one level, so that following them leaves levels as they are.
        let ends = &mut self.ends[0];
        self.kernels.flood_rims(Threads(n), n, &self.heights, &self.levels[0], &self.ways, ends);
        self.follow(device);
        let Self { kernels, neighbors, levels: [levels, _], ends: [ends, _], moved, .. } = self;
        until_settled(device, moved, |_, moved| {
            kernels.flood_join(Threads(n), n, &*neighbors, &*levels, &*ends, moved);
        });
        kernels.flood_end(Threads(n), n, x, &*ends, p);
    }

    fn backward(&mut self, backend: &Cuda<R>, dp: &DeviceVector<R>, dx: &mut DeviceVector<R>) {
        let (device, n) = (backend.device(), self.n);
        let most = backend.value(&backend.max_difference(dp, &self.zero)).unwrap_or(0.0);
        let unit =
            ((most * n as f64).max(f64::MIN_POSITIVE).log2().ceil() as i32 - BITS).max(-1000);
        let unit = 2f64.powi(unit);

        let Self { kernels, ends, received, .. } = self;
        device.record("clearing sums", device.stream().memset_zeros(received));
        kernels.flood_receive(Threads(n), n, unit, &ends[0], dp, &*received);
        kernels.flood_backward(Threads(n), n, unit, &ends[0], dp, &*received, dx);
    }
}

//! The backend: [`topopt_linalg::Backend`] by the kernels of
//! `cuda/{vector,pointwise,reduce,conjugate_gradients}.cu`.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::{Backend, BackendError, Pointwise, SmoothStep, Space, SubpixelStep};

use crate::Device;
use crate::kernel::Grid::{self, Blocks, Threads};
use crate::kernel::{In, Shared};
use crate::kernels::{self, TotalView};
use crate::replay::Replay;
use crate::scalars::{Scalar, Scalars};
use crate::vector::{DeviceVector, Real, from_planes, planes, to_planes};

/// Entries up to which one block makes a whole sum: no other has to be waited for.
const ONE_BLOCK: usize = 2_048;
/// Iterations between stop tests: a test waits for the device.
const CHECK_INTERVAL: usize = 8;

/// Vectors of precision `R` on one GPU.
pub struct Cuda<R> {
    device: Arc<Device>,
    scalars: Arc<Scalars>,
    /// Numbers that the blocks of a launch have found, as many as the last of them brings together.
    partial: CudaSlice<f64>,
    /// Number of blocks that have ended, `[1]`: 0 between launches.
    ended: CudaSlice<u32>,
    vector: kernels::Vector<R>,
    pointwise: kernels::Pointwise<R>,
    pub(crate) asymptotes: kernels::MovingAsymptotes,
    reduce: kernels::Reduce<R>,
    conjugate_gradients: kernels::ConjugateGradients<R>,
}

impl<R: Real> Cuda<R> {
    /// The backend of `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the kernels cannot be loaded.
    pub fn new(device: &Arc<Device>) -> Result<Self, BackendError> {
        let reduce = kernels::Reduce::load(device)?;
        Ok(Self {
            device: device.clone(),
            scalars: Scalars::new(device)?,
            partial: device.zeros(reduce.dot.block())?,
            ended: device.zeros(1)?,
            vector: kernels::Vector::load(device)?,
            pointwise: kernels::Pointwise::load(device)?,
            asymptotes: kernels::MovingAsymptotes::load(device)?,
            conjugate_gradients: kernels::ConjugateGradients::load(device)?,
            reduce,
        })
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The scalar `out` as the place where a launch leaves one number.
    fn total(&self, out: &Scalar) -> TotalView {
        TotalView {
            partial: (&self.partial).into(),
            ended: (&self.ended).into(),
            out: Shared::from_entry(out.values(), out.index() as usize),
        }
    }

    /// Writes a scalar from the host.
    pub(crate) fn set(&self, scalar: &Scalar, value: [f64; 1]) -> Result<(), BackendError> {
        let value = self.device.upload(&value)?;
        self.reduce.sum(Blocks(1), 1, &value, self.total(scalar));
        self.device.check()
    }

    /// The sum of `values`.
    pub(crate) fn sum_into(&self, values: &CudaSlice<f64>, out: &mut Scalar) {
        let n = values.len();
        self.reduce.sum(self.grid_of_total(n), n, values, self.total(out));
    }

    /// out = x^T y of some entries.
    pub(crate) fn dot_within(
        &self,
        entries: Range<usize>,
        x: &DeviceVector<R>,
        y: &DeviceVector<R>,
        out: &mut Scalar,
    ) {
        let [x, y] = [x, y].map(|vector| In::from_entry(&vector.values, entries.start));
        let n = entries.len();
        self.reduce.dot(self.grid_of_total(n), n, x, y, self.total(out));
    }

    /// Blocks for `n` entries: at least one, so that an empty sum is zero, and no more than one
    /// block brings together.
    fn blocks(&self, n: usize) -> usize {
        self.reduce.dot.blocks(Threads(n)).clamp(1, self.partial.len())
    }

    /// The launch of a kernel that leaves one number of `n` entries.
    fn grid_of_total(&self, n: usize) -> Grid {
        if n <= ONE_BLOCK { Blocks(1) } else { self.grid(n) }
    }

    /// The launch of a kernel for `n` entries.
    fn grid(&self, n: usize) -> Grid {
        Blocks(self.blocks(n))
    }
}

impl<R: Real> Backend for Cuda<R> {
    type Vector = DeviceVector<R>;
    type Scalar = Scalar;
    type Recording = Replay;

    fn name(&self) -> String {
        format!("gpu ({})", self.device.name())
    }

    fn zeros(&self, space: Space) -> Result<DeviceVector<R>, BackendError> {
        Ok(DeviceVector { space, values: self.device.zeros(space.len())? })
    }

    fn upload(&self, values: &[f64], space: Space) -> Result<DeviceVector<R>, BackendError> {
        let values = to_planes::<R>(values, planes(space));
        Ok(DeviceVector { space, values: self.device.upload(&values)? })
    }

    fn download(&self, x: &DeviceVector<R>) -> Result<Vec<f64>, BackendError> {
        Ok(from_planes(&self.device.download(&x.values)?, planes(x.space)))
    }

    fn scalar(&self) -> Scalar {
        self.scalars.place()
    }

    fn value(&self, scalar: &Scalar) -> Result<f64, BackendError> {
        self.device.check()?;
        let at = scalar.index() as usize;
        let mut value = [0.0];
        let copied =
            self.device.stream().memcpy_dtoh(&scalar.values().slice(at..at + 1), &mut value);
        copied.map_err(|error| self.device.error("reading a scalar", error))?;
        self.device.synchronize()?;
        Ok(value[0])
    }

    fn copy(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let copied = self.device.stream().memcpy_dtod(&x.values, &mut y.values);
        self.device.record("copying a vector", copied);
    }

    fn fill(&self, value: f64, x: &mut DeviceVector<R>) {
        let n = x.len();
        self.vector.fill(self.grid(n), n, value, x);
    }

    fn axpby(&self, a: f64, x: &DeviceVector<R>, b: f64, y: &mut DeviceVector<R>) {
        let n = x.len();
        self.vector.axpby(self.grid(n), n, a, x, b, y);
    }

    fn dot_into(&self, x: &DeviceVector<R>, y: &DeviceVector<R>, out: &mut Scalar) {
        self.dot_within(0..x.len(), x, y, out);
    }

    fn multiply(&self, x: &DeviceVector<R>, y: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        let n = x.len();
        self.vector.multiply(self.grid(n), n, x, y, z);
    }

    fn multiply_dot(
        &self,
        x: &DeviceVector<R>,
        y: &DeviceVector<R>,
        z: &mut DeviceVector<R>,
        yz: &mut Scalar,
    ) {
        let n = x.len();
        self.reduce.multiply_dot(self.grid_of_total(n), n, x, y, z, self.total(yz));
    }

    fn cg_step(
        &self,
        [a, b]: [&Scalar; 2],
        d: &DeviceVector<R>,
        q: &DeviceVector<R>,
        u: &mut DeviceVector<R>,
        r: &mut DeviceVector<R>,
        rr: &mut Scalar,
    ) {
        let n = d.len();
        self.conjugate_gradients.cg_step(
            self.grid_of_total(n),
            n,
            &self.scalars.values,
            a.index(),
            b.index(),
            d,
            q,
            u,
            r,
            self.total(rr),
        );
    }

    fn cg_direction(
        &self,
        sign: f64,
        [a, b]: [&Scalar; 2],
        z: &DeviceVector<R>,
        d: &mut DeviceVector<R>,
    ) {
        let n = d.len();
        self.conjugate_gradients.cg_direction(
            self.grid(n),
            n,
            sign,
            &self.scalars.values,
            a.index(),
            b.index(),
            z,
            d,
        );
    }

    fn repeat(&self, recording: &mut Option<Replay>, work: &mut dyn FnMut()) {
        if recording.is_none() {
            let recorded = self.device.recorded(&self.scalars, work);
            *recording = recorded.map_err(|error| self.device.fail(error)).ok();
        }
        if let Some(recording) = recording {
            self.device.replay(recording);
        }
    }

    fn check_interval(&self) -> usize {
        CHECK_INTERVAL
    }
}

impl<R: Real> Pointwise for Cuda<R> {
    fn divide(&self, x: &DeviceVector<R>, y: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        let n = x.len();
        self.vector.divide(self.grid(n), n, x, y, z);
    }

    fn power(&self, a: f64, x: &DeviceVector<R>, p: f64, y: &mut DeviceVector<R>) {
        let n = x.len();
        self.pointwise.power(self.grid(n), n, a, x, p, y);
    }

    fn positive_part(&self, a: f64, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        self.pointwise.positive_part(self.grid(n), n, a, x, y);
    }

    fn scale_within(
        &self,
        a: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        y: &mut DeviceVector<R>,
    ) {
        let n = x.len();
        self.pointwise.scale_within(self.grid(n), n, a, x, lower, upper, y);
    }

    fn dot_scaled_within(
        &self,
        a: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        w: &DeviceVector<R>,
    ) -> Scalar {
        let n = x.len();
        let (grid, out) = (self.grid_of_total(n), self.scalar());
        self.pointwise.dot_scaled_within(grid, n, a, x, lower, upper, w, self.total(&out));
        out
    }

    fn sigmoid(
        &self,
        shift: f64,
        largest: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        y: &mut DeviceVector<R>,
    ) {
        let n = x.len();
        self.pointwise.sigmoid(self.grid(n), n, shift, largest, x, lower, upper, y);
    }

    fn logit(
        &self,
        largest: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        y: &mut DeviceVector<R>,
    ) {
        let n = x.len();
        self.pointwise.logit(self.grid(n), n, largest, x, lower, upper, y);
    }

    fn softplus(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        self.pointwise.softplus(self.grid(n), n, x, y);
    }

    fn smooth_step(&self, step: &SmoothStep, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        let SmoothStep { base, height, sharpness, center } = step;
        self.pointwise.smooth_step(self.grid(n), n, *base, *height, *sharpness, *center, x, y);
    }

    fn smooth_step_slope(&self, step: &SmoothStep, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        let SmoothStep { height, sharpness, center, .. } = step;
        self.pointwise.smooth_step_slope(self.grid(n), n, *height, *sharpness, *center, x, y);
    }

    fn subpixel_step(
        &self,
        step: &SubpixelStep,
        v: &DeviceVector<R>,
        squares: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let (n, SubpixelStep { base, height, level, half_width }) = (v.len(), *step);
        let grid = self.grid(n);
        self.pointwise.subpixel_step(grid, n, base, height, level, half_width, v, squares, y);
    }

    fn subpixel_slopes(
        &self,
        step: &SubpixelStep,
        v: &DeviceVector<R>,
        squares: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
        z: &mut DeviceVector<R>,
    ) {
        let (n, SubpixelStep { height, level, half_width, .. }) = (v.len(), *step);
        let grid = self.grid(n);
        self.pointwise.subpixel_slopes(grid, n, height, level, half_width, v, squares, y, z);
    }

    fn max_difference(&self, x: &DeviceVector<R>, y: &DeviceVector<R>) -> Scalar {
        let n = x.len();
        let out = self.scalar();
        self.reduce.max_difference(self.grid_of_total(n), n, x, y, self.total(&out));
        out
    }
}

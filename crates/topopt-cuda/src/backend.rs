//! The backend: [`topopt_linalg::Backend`] by the kernels of `cuda/vector.cu`.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaView};
use topopt_linalg::{Backend, BackendError, Pointwise, SmoothStep, Space};

use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::replay::Replay;
use crate::scalars::{Scalar, Scalars};
use crate::vector::{DeviceVector, Real, from_planes, planes, to_planes};

/// Threads of a block, as `cuda/common/reduce.cuh` has it.
const BLOCK: u32 = 512;
/// Most blocks of a launch: one block sums up what they leave.
const BLOCKS: usize = 512;
/// Entries up to which one block makes a whole sum, which saves a launch.
const ONE_BLOCK: usize = 2_048;
/// Iterations between stop tests: a test waits for the device.
const CHECK_INTERVAL: usize = 8;

/// Vectors of precision `R` on one GPU.
pub struct Cuda<R> {
    device: Arc<Device>,
    scalars: Arc<Scalars>,
    /// What the blocks of a sum leave, \[BLOCKS\].
    partial: CudaSlice<f64>,
    kernels: Kernels,
    precision: std::marker::PhantomData<R>,
}

struct Kernels {
    fill: Kernel,
    axpby: Kernel,
    multiply: Kernel,
    divide: Kernel,
    power: Kernel,
    positive_part: Kernel,
    scale_within: Kernel,
    dot: Kernel,
    sum: Kernel,
    multiply_dot: Kernel,
    dot_scaled_within: Kernel,
    smooth_step: Kernel,
    smooth_step_slope: Kernel,
    max_difference: Kernel,
    cg_step: Kernel,
    cg_direction: Kernel,
    finish_sum: Kernel,
    finish_max: Kernel,
}

impl Kernels {
    fn load<R: Real>(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../cuda/ptx/vector.f64.ptx"),
            include_str!("../../../cuda/ptx/vector.f32.ptx"),
        );
        let module = Module::load(device, "vector", ptx)?;
        let kernel = |name| module.kernel(name, BLOCK);
        Ok(Self {
            fill: kernel("fill")?,
            axpby: kernel("axpby")?,
            multiply: kernel("multiply")?,
            divide: kernel("divide")?,
            power: kernel("power")?,
            positive_part: kernel("positive_part")?,
            scale_within: kernel("scale_within")?,
            dot: kernel("dot")?,
            sum: kernel("sum")?,
            multiply_dot: kernel("multiply_dot")?,
            dot_scaled_within: kernel("dot_scaled_within")?,
            smooth_step: kernel("smooth_step")?,
            smooth_step_slope: kernel("smooth_step_slope")?,
            max_difference: kernel("max_difference")?,
            cg_step: kernel("cg_step")?,
            cg_direction: kernel("cg_direction")?,
            finish_sum: kernel("finish_sum")?,
            finish_max: kernel("finish_max")?,
        })
    }
}

impl<R: Real> Cuda<R> {
    /// The backend of `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the kernels cannot be loaded.
    pub fn new(device: &Arc<Device>) -> Result<Self, BackendError> {
        Ok(Self {
            device: device.clone(),
            scalars: Scalars::new(device)?,
            partial: device.zeros(BLOCKS)?,
            kernels: Kernels::load::<R>(device)?,
            precision: std::marker::PhantomData,
        })
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// A scalar made by [`Cuda::reduce_into`].
    fn reduce(
        &self,
        finish: &Kernel,
        n: usize,
        launch: impl FnOnce(usize, &CudaView<f64>),
    ) -> Scalar {
        let mut out = self.scalar();
        self.reduce_into(&mut out, finish, n, launch);
        out
    }

    /// A scalar made of what the blocks of a launch leave of `n` entries: `launch` is told how many
    /// blocks, and where they leave it; `finish` brings several together.
    fn reduce_into(
        &self,
        out: &mut Scalar,
        finish: &Kernel,
        n: usize,
        launch: impl FnOnce(usize, &CudaView<f64>),
    ) {
        if n <= ONE_BLOCK {
            let at = out.index() as usize;
            launch(1, &self.scalars.values.slice(at..at + 1));
        } else {
            launch(blocks(n), &self.partial.as_view());
            launch!(finish, 1;
                &(blocks(n) as u32), &self.partial, &self.scalars.values, &out.index());
        }
    }

    /// The sum of `values`.
    pub(crate) fn sum_into(&self, values: &CudaSlice<f64>, out: &mut Scalar) {
        let n = values.len();
        self.reduce_into(out, &self.kernels.finish_sum, n, |blocks, partial| {
            launch!(self.kernels.sum, blocks; &(n as i64), values, partial);
        });
    }
}

/// Blocks for `n` entries, at least one so that an empty sum is zero.
fn blocks(n: usize) -> usize {
    n.div_ceil(BLOCK as usize).clamp(1, BLOCKS)
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
            self.device.stream().memcpy_dtoh(&self.scalars.values.slice(at..at + 1), &mut value);
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
        launch!(self.kernels.fill, blocks(n); &(n as i64), &value, &mut x.values);
    }

    fn axpby(&self, a: f64, x: &DeviceVector<R>, b: f64, y: &mut DeviceVector<R>) {
        let n = x.len();
        launch!(self.kernels.axpby, blocks(n); &(n as i64), &a, &x.values, &b, &mut y.values);
    }

    fn dot_into(&self, x: &DeviceVector<R>, y: &DeviceVector<R>, out: &mut Scalar) {
        let n = x.len();
        self.reduce_into(out, &self.kernels.finish_sum, n, |blocks, partial| {
            launch!(self.kernels.dot, blocks; &(n as i64), &x.values, &y.values, partial);
        });
    }

    fn multiply(&self, x: &DeviceVector<R>, y: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        let n = x.len();
        launch!(self.kernels.multiply, blocks(n); &(n as i64), &x.values, &y.values, &mut z.values);
    }

    fn multiply_dot(
        &self,
        x: &DeviceVector<R>,
        y: &DeviceVector<R>,
        z: &mut DeviceVector<R>,
        yz: &mut Scalar,
    ) {
        let n = x.len();
        self.reduce_into(yz, &self.kernels.finish_sum, n, |blocks, partial| {
            launch!(self.kernels.multiply_dot, blocks;
                &(n as i64), &x.values, &y.values, &mut z.values, partial);
        });
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
        self.reduce_into(rr, &self.kernels.finish_sum, n, |blocks, partial| {
            launch!(self.kernels.cg_step, blocks;
                &(n as i64), &self.scalars.values, &a.index(), &b.index(), &d.values, &q.values,
                &mut u.values, &mut r.values, partial);
        });
    }

    fn cg_direction(
        &self,
        sign: f64,
        [a, b]: [&Scalar; 2],
        z: &DeviceVector<R>,
        d: &mut DeviceVector<R>,
    ) {
        let n = d.len();
        launch!(self.kernels.cg_direction, blocks(n);
            &(n as i64), &sign, &self.scalars.values, &a.index(), &b.index(), &z.values,
            &mut d.values);
    }

    fn repeat(&self, recording: &mut Option<Replay>, work: &mut dyn FnMut()) {
        if recording.is_none() {
            *recording = self.device.recorded(work).map_err(|error| self.device.fail(error)).ok();
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
        launch!(self.kernels.divide, blocks(n); &(n as i64), &x.values, &y.values, &mut z.values);
    }

    fn power(&self, a: f64, x: &DeviceVector<R>, p: f64, y: &mut DeviceVector<R>) {
        let n = x.len();
        launch!(self.kernels.power, blocks(n); &(n as i64), &a, &x.values, &p, &mut y.values);
    }

    fn positive_part(&self, a: f64, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        launch!(self.kernels.positive_part, blocks(n); &(n as i64), &a, &x.values, &mut y.values);
    }

    fn scale_within(
        &self,
        a: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        y: &mut DeviceVector<R>,
    ) {
        let n = x.len();
        launch!(self.kernels.scale_within, blocks(n);
            &(n as i64), &a, &x.values, &lower.values, &upper.values, &mut y.values);
    }

    fn dot_scaled_within(
        &self,
        a: f64,
        x: &DeviceVector<R>,
        [lower, upper]: [&DeviceVector<R>; 2],
        w: &DeviceVector<R>,
    ) -> Scalar {
        let n = x.len();
        self.reduce(&self.kernels.finish_sum, n, |blocks, partial| {
            launch!(self.kernels.dot_scaled_within, blocks;
                &(n as i64), &a, &x.values, &lower.values, &upper.values, &w.values, partial);
        })
    }

    fn smooth_step(&self, step: &SmoothStep, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        let SmoothStep { base, height, sharpness, center } = step;
        launch!(self.kernels.smooth_step, blocks(n);
            &(n as i64), base, height, sharpness, center, &x.values, &mut y.values);
    }

    fn smooth_step_slope(&self, step: &SmoothStep, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = x.len();
        let SmoothStep { height, sharpness, center, .. } = step;
        launch!(self.kernels.smooth_step_slope, blocks(n);
            &(n as i64), height, sharpness, center, &x.values, &mut y.values);
    }

    fn max_difference(&self, x: &DeviceVector<R>, y: &DeviceVector<R>) -> Scalar {
        let n = x.len();
        self.reduce(&self.kernels.finish_max, n, |blocks, partial| {
            let kernel = &self.kernels.max_difference;
            launch!(kernel, blocks; &(n as i64), &x.values, &y.values, partial);
        })
    }
}

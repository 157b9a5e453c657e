//! Kernels: embedded PTX, loaded by name, launched on the stream of the device.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, LaunchArgs, LaunchConfig};
use cudarc::nvrtc::Ptx;
use topopt_linalg::BackendError;

use crate::Device;

/// The kernels of one `.cu` file at one precision.
pub(crate) struct Module {
    device: Arc<Device>,
    module: Arc<CudaModule>,
    file: &'static str,
}

/// One kernel.
pub(crate) struct Kernel {
    device: Arc<Device>,
    function: CudaFunction,
    name: String,
    block: u32,
}

impl Module {
    /// Loads `ptx`, made from `cuda/FILE.cu`.
    pub fn load(device: &Arc<Device>, file: &'static str, ptx: &str) -> Result<Self, BackendError> {
        device.check()?;
        let module = device
            .context()
            .load_module(Ptx::from_src(ptx))
            .map_err(|error| device.error(&format!("loading kernels `{file}`"), error))?;
        Ok(Self { device: device.clone(), module, file })
    }

    /// The kernel `name` with `block` threads a block.
    pub fn kernel(&self, name: &str, block: u32) -> Result<Kernel, BackendError> {
        let full = format!("kernel `{}::{name}`", self.file);
        let function = self
            .module
            .load_function(name)
            .map_err(|error| self.device.error(&format!("loading {full}"), error))?;
        Ok(Kernel { device: self.device.clone(), function, name: full, block })
    }
}

impl Kernel {
    /// Arguments of a launch; use [`launch!`].
    pub fn arguments(&self) -> LaunchArgs<'_> {
        self.device.stream().launch_builder(&self.function)
    }

    /// `blocks` blocks with `shared` bytes of dynamic shared memory.
    pub fn config(&self, blocks: usize, shared: usize) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (self.block, 1, 1),
            shared_mem_bytes: shared as u32,
        }
    }

    /// Keeps a failed launch for the next call that can tell of it.
    pub fn record<T>(&self, result: Result<T, cudarc::driver::DriverError>) {
        self.device.record(&self.name, result);
    }
}

/// `launch!(kernel, blocks; a, b, c)` launches with arguments `&a`, ... given as references, of the
/// types and shapes that the `.cu` file states beside its parameters.
macro_rules! launch {
    ($kernel:expr, $blocks:expr; $($argument:expr),* $(,)?) => {{
        use cudarc::driver::PushKernelArg as _;
        let kernel: &$crate::kernel::Kernel = &$kernel;
        let blocks: usize = $blocks;
        if blocks > 0 {
            let mut arguments = kernel.arguments();
            // SAFETY: the caller's arguments are those of the kernel, in number, type and shape;
            // the tests run every kernel under bounds checking.
            kernel.record(unsafe { arguments$(.arg($argument))*.launch(kernel.config(blocks, 0)) });
        }
    }};
}

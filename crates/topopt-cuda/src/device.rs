//! One GPU: its context, its stream, and the first error it made.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DeviceRepr, DriverError, ValidAsZeroBits,
};
use topopt_linalg::BackendError;

use crate::probe::{Probe, probe};

/// Why there is no GPU to work with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeviceError {
    /// No driver.
    #[error("no CUDA driver is installed on this machine")]
    NoDriver,
    /// A driver that does not work.
    #[error("the CUDA driver does not work: {0}")]
    Broken(String),
    /// A driver that is too old.
    #[error(
        "the CUDA driver has version {}.{}; 12.0 (driver 525) or later is needed",
        .0 / 1000, .0 % 1000 / 10
    )]
    TooOld(i32),
    /// No GPU.
    #[error("the CUDA driver sees no GPU")]
    NoDevice,
    /// A GPU that is not there.
    #[error("there is no GPU {index}; this machine has {devices}, counted from 0")]
    NoSuchDevice {
        /// Number of the requested GPU.
        index: usize,
        /// Number of devices.
        devices: usize,
    },
    /// A GPU that failed at once.
    #[error(transparent)]
    Failed(#[from] BackendError),
}

/// One GPU with a stream of work, and one of copies to the host.
pub struct Device {
    name: String,
    capability: (i32, i32),
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    copies: Arc<CudaStream>,
    failure: Mutex<Option<BackendError>>,
    allocated: AtomicUsize,
}

impl Device {
    /// GPU number `index`, from 0.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, no such GPU, or one that fails at once.
    pub fn open(index: usize) -> Result<Arc<Self>, DeviceError> {
        match probe() {
            Probe::Found { devices, .. } if index >= devices => {
                return Err(DeviceError::NoSuchDevice { index, devices });
            }
            Probe::Found { .. } => {}
            Probe::NoDriver => return Err(DeviceError::NoDriver),
            Probe::Broken(message) => return Err(DeviceError::Broken(message)),
            Probe::TooOld { driver } => return Err(DeviceError::TooOld(driver)),
            Probe::NoDevice => return Err(DeviceError::NoDevice),
        }

        let failed = |error| failure(&format!("GPU {index}"), "opening the device", error);
        let context = CudaContext::new(index).map_err(failed)?;
        let name = context.name().map_err(failed)?;
        let capability = context.compute_capability().map_err(failed)?;

        // SAFETY: one stream orders all work, and a copy waits for what came before it, so that
        // slices need no events of their own to wait for.
        unsafe { context.disable_event_tracking() };

        // A stream of its own: work on the default stream cannot be recorded.
        let [stream, copies] = [context.new_stream(), context.new_stream()];
        let (stream, copies) = (stream.map_err(failed)?, copies.map_err(failed)?);
        let (failure, allocated) = (Mutex::default(), AtomicUsize::default());
        Ok(Arc::new(Self { name, capability, context, stream, copies, failure, allocated }))
    }

    /// Name of the GPU, such as `NVIDIA H200`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compute capability, major and minor.
    pub(crate) fn capability(&self) -> (i32, i32) {
        self.capability
    }

    /// How many times as many operations it does in single precision as in double.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn single_to_double(&self) -> Result<usize, BackendError> {
        let ratio = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO;
        let found = self.context.attribute(ratio);
        found.map(|n| n as usize).map_err(|error| self.error("asking for its precisions", error))
    }

    /// Free and total memory in bytes.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn memory(&self) -> Result<(usize, usize), BackendError> {
        self.context.mem_get_info().map_err(|error| self.error("asking for memory", error))
    }

    /// Bytes allocated so far, whether or not they are free again.
    pub(crate) fn allocated(&self) -> usize {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Counts an allocation of so many `bytes`; returns them in megabytes.
    fn count(&self, bytes: usize) -> f64 {
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
        bytes as f64 / f64::from(1 << 20)
    }

    /// Makes this device the one of the calling thread, for libraries that ask for it.
    pub(crate) fn bind(&self) -> Result<(), BackendError> {
        self.context.bind_to_thread().map_err(|error| self.error("choosing the device", error))
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Device memory of `n` zeros.
    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        n: usize,
    ) -> Result<CudaSlice<T>, BackendError> {
        self.check()?;
        let operation = format!("allocating {:.1} MB", self.count(n * size_of::<T>()));
        self.stream.alloc_zeros(n).map_err(|error| self.error(&operation, error))
    }

    /// A copy of `values` on the device.
    pub(crate) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, BackendError> {
        self.check()?;
        let operation = format!("uploading {:.1} MB", self.count(size_of_val(values)));
        self.stream.clone_htod(values).map_err(|error| self.error(&operation, error))
    }

    /// Writes `values` to `slice`, which has as many.
    pub(crate) fn overwrite<T: DeviceRepr>(
        &self,
        slice: &mut CudaSlice<T>,
        values: &[T],
    ) -> Result<(), BackendError> {
        self.check()?;
        let written = self.stream.memcpy_htod(values, slice);
        written.map_err(|error| self.error("uploading", error))
    }

    /// Uploads a list that may be empty: an array on the device has an entry at least.
    pub(crate) fn upload_list(&self, list: &[u32]) -> Result<CudaSlice<u32>, BackendError> {
        self.upload(if list.is_empty() { &[0] } else { list })
    }

    /// A copy of `values` on the host, on a stream of its own; waits for all work before it.
    pub(crate) fn download<T: DeviceRepr>(
        &self,
        values: &CudaSlice<T>,
    ) -> Result<Vec<T>, BackendError> {
        self.check()?;
        let copy = || {
            self.copies.join(&self.stream)?;
            let values = self.copies.clone_dtoh(values)?;
            self.copies.synchronize()?;
            Ok(values)
        };
        copy().map_err(|error| self.error("downloading", error))
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// [`BackendError`] if any of it failed.
    pub fn synchronize(&self) -> Result<(), BackendError> {
        self.check()?;
        self.stream.synchronize().map_err(|error| self.error("waiting for the device", error))
    }

    /// The first failure of an operation that could not return it.
    pub(crate) fn check(&self) -> Result<(), BackendError> {
        let failure = self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.clone().map_or(Ok(()), Err)
    }

    /// Keeps the first failure of `operation` for [`Device::check`].
    pub(crate) fn record<T>(&self, operation: &str, result: Result<T, DriverError>) {
        if let Err(error) = result {
            self.fail(self.error(operation, error));
        }
    }

    /// Keeps `error` for [`Device::check`] if it is the first.
    pub(crate) fn fail(&self, error: BackendError) {
        let mut failure = self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.get_or_insert(error);
    }

    pub(crate) fn error(&self, operation: &str, error: DriverError) -> BackendError {
        failure(&self.name, operation, error)
    }
}

fn failure(device: &str, operation: &str, error: DriverError) -> BackendError {
    let name = error
        .error_name()
        .map_or_else(|_| format!("{:?}", error.0), |name| name.to_string_lossy().into_owned());
    let remedy = match name.as_str() {
        "CUDA_ERROR_OUT_OF_MEMORY" => {
            "the GPU has too little free memory; choose a strategy that \
                                       stores less (`mf`), a smaller mesh, or the CPU"
        }
        "CUDA_ERROR_NO_BINARY_FOR_GPU"
        | "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        | "CUDA_ERROR_INVALID_PTX" => "the driver cannot compile the kernels; update it",
        _ => "retry; if it persists, use `--device cpu` and report it",
    };
    BackendError {
        device: device.into(),
        operation: operation.into(),
        message: format!("{name}; {remedy}"),
    }
}

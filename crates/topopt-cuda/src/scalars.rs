//! Numbers that stay on the device.

use std::sync::{Arc, Mutex};

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;

/// How many scalars can be alive at once.
const SLOTS: u32 = 1024;

/// The scalars of a backend: one array and its free places.
pub(crate) struct Scalars {
    pub values: CudaSlice<f64>,
    free: Mutex<Vec<u32>>,
}

/// A number on the device; its place is free again when it is dropped, since work is ordered.
pub struct Scalar {
    scalars: Arc<Scalars>,
    place: u32,
}

impl Scalars {
    pub fn new(device: &Device) -> Result<Arc<Self>, BackendError> {
        let values = device.zeros(SLOTS as usize)?;
        Ok(Arc::new(Self { values, free: Mutex::new((0..SLOTS).collect()) }))
    }

    /// A place for a new scalar.
    ///
    /// # Panics
    /// If more than a thousand are alive, which no algorithm needs.
    pub fn place(self: &Arc<Self>) -> Scalar {
        let place = self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        Scalar { scalars: self.clone(), place: place.expect("a thousand scalars are alive") }
    }
}

impl Scalar {
    pub(crate) fn index(&self) -> u32 {
        self.place
    }

    /// The array that it is in.
    pub(crate) fn values(&self) -> &CudaSlice<f64> {
        &self.scalars.values
    }
}

impl Drop for Scalar {
    fn drop(&mut self) {
        let mut free = self.scalars.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        free.push(self.place);
    }
}

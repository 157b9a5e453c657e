//! Numbers that stay on the device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;

/// Most scalars alive at once.
const SLOTS: u32 = 1024;

/// The scalars of a backend: one array and its free places.
pub(crate) struct Scalars {
    pub values: CudaSlice<f64>,
    places: Mutex<Places>,
}

struct Places {
    free: Vec<u32>,
    /// Places given back while work is recorded; replays of the recording still write to them.
    of_recording: Option<Vec<u32>>,
}

/// Places that recorded work writes to; free again when it is dropped.
pub(crate) struct Kept {
    scalars: Arc<Scalars>,
    places: Vec<u32>,
}

/// A number on the device; its place is free again when it is dropped, since work is ordered.
pub struct Scalar {
    scalars: Arc<Scalars>,
    place: u32,
}

impl Scalars {
    pub fn new(device: &Device) -> Result<Arc<Self>, BackendError> {
        let values = device.zeros(SLOTS as usize)?;
        let places = Places { free: (0..SLOTS).collect(), of_recording: None };
        Ok(Arc::new(Self { values, places: Mutex::new(places) }))
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new scalar.
    ///
    /// # Panics
    /// If more than a thousand are alive, which no algorithm needs.
    pub fn place(self: &Arc<Self>) -> Scalar {
        let Places { free, of_recording } = &mut *self.lock();
        let place = of_recording.as_mut().and_then(Vec::pop).or_else(|| free.pop());
        Scalar { scalars: self.clone(), place: place.expect("a thousand scalars are alive") }
    }

    /// Returns the result of `record`, and the places that it has used and given back: whoever
    /// takes one of them later would find there what the recorded work writes.
    pub fn recorded<T>(self: &Arc<Self>, record: impl FnOnce() -> T) -> (T, Kept) {
        self.lock().of_recording = Some(Vec::new());
        let recorded = record();
        let places = self.lock().of_recording.take().unwrap_or_default();
        (recorded, Kept { scalars: self.clone(), places })
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
        let Places { free, of_recording } = &mut *self.scalars.lock();
        of_recording.as_mut().unwrap_or(free).push(self.place);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.scalars.lock().free.append(&mut self.places);
    }
}

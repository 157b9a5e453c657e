//! Time on the device, measured by CUDA events.

use cudarc::driver::sys::CUevent_flags;
use topopt_linalg::BackendError;

use crate::Device;

impl Device {
    /// Measures the seconds that the device takes for the launches of `work`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn seconds(&self, work: impl FnOnce()) -> Result<f64, BackendError> {
        let failed = |error| self.error("timing", error);
        let event = || self.stream().record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let start = event().map_err(failed)?;
        work();
        let end = event().map_err(failed)?;
        self.synchronize()?;
        Ok(f64::from(start.elapsed_ms(&end).map_err(failed)?) * 1e-3)
    }

    /// Measures the median seconds of `repeats` calls of `work`, after `warm_up` calls not counted.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn median_seconds(
        &self,
        warm_up: usize,
        repeats: usize,
        mut work: impl FnMut(),
    ) -> Result<f64, BackendError> {
        for _ in 0..warm_up {
            self.seconds(&mut work)?;
        }
        let mut seconds =
            (0..repeats).map(|_| self.seconds(&mut work)).collect::<Result<Vec<_>, _>>()?;
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[repeats / 2])
    }

    /// Measures the bytes read and written per second by a device-to-device copy of `bytes`: the
    /// median of `repeats` copies, after one not counted.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails or has no room for two buffers of `bytes`.
    pub fn copy_bandwidth(&self, bytes: usize, repeats: usize) -> Result<f64, BackendError> {
        let from = self.zeros::<u8>(bytes)?;
        let mut to = self.zeros::<u8>(bytes)?;
        let copy = || self.record("copying", self.stream().memcpy_dtod(&from, &mut to));
        Ok(2.0 * bytes as f64 / self.median_seconds(1, repeats, copy)?)
    }
}

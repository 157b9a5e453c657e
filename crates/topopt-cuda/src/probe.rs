//! Whether there is a GPU to work with, found out without loading anything that could panic.

use std::ffi::c_int;

use libloading::Library;

/// The oldest driver that takes our PTX (ISA 8.0): CUDA 12.0, drivers from 525 on.
const OLDEST_DRIVER: i32 = 12_000;

/// GPUs and driver of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// GPUs that can be used.
    Found {
        /// CUDA version of the driver, 1000 major + 10 minor.
        driver: i32,
        /// Number of GPUs.
        devices: usize,
    },
    /// No driver library.
    NoDriver,
    /// A driver library that does not work.
    Broken(String),
    /// A driver that is too old.
    TooOld {
        /// CUDA version of the driver, 1000 major + 10 minor.
        driver: i32,
    },
    /// A driver, but no GPU.
    NoDevice,
}

/// Looks for a driver and GPUs.
pub fn probe() -> Probe {
    for name in ["libcuda.so.1", "libcuda.so", "nvcuda.dll"] {
        // SAFETY: loading the driver runs its initialization, which has no requirements.
        if let Ok(library) = unsafe { Library::new(name) } {
            return ask(&library).unwrap_or_else(|error| Probe::Broken(error.to_string()));
        }
    }
    Probe::NoDriver
}

fn ask(library: &Library) -> Result<Probe, libloading::Error> {
    type Init = unsafe extern "C" fn(u32) -> c_int;
    type Read = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: these are the signatures of the CUDA driver API since its first version.
    let (init, version, count) = unsafe {
        (
            library.get::<Init>(b"cuInit\0")?,
            library.get::<Read>(b"cuDriverGetVersion\0")?,
            library.get::<Read>(b"cuDeviceGetCount\0")?,
        )
    };

    const NO_DEVICE: c_int = 100;
    let (mut driver, mut devices) = (0, 0);
    // SAFETY: the functions take a flag word that must be 0, or a pointer to an int to fill in.
    let status = unsafe { (init(0), version(&mut driver), count(&mut devices)) };

    Ok(match status {
        (NO_DEVICE, ..) => Probe::NoDevice,
        (0, 0, 0) if devices == 0 => Probe::NoDevice,
        (_, 0, _) if driver < OLDEST_DRIVER => Probe::TooOld { driver },
        (0, 0, 0) => Probe::Found { driver, devices: devices as usize },
        (code, ..) => Probe::Broken(format!("cuInit gave error {code}")),
    })
}

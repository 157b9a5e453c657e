//! Code of the kernels: PTX, which the driver compiles for any GPU, and machine code, where the
//! program was built with some for the GPU at hand.

use std::str;

use cudarc::driver::DriverError;
use cudarc::nvrtc::Ptx;
use topopt_fem::Formulation;

use crate::archive::Archive;

// `KERNELS` has names of files and, for each, its kernels with the threads of their blocks; `PTX`
// and, for each architecture, 10 major + minor, `MACHINE_CODE` are archives in the order of these
// files.
include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// Kernels of one `.cu` file in one variant, by their number in [`KERNELS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Code(usize);

/// Returns the kernels of `cuda/FILE.cu` in a precision, for elements of a formulation.
///
/// # Panics
/// As [`of`].
pub(crate) fn of_formulation(file: &str, formulation: Formulation, precision: &str) -> Code {
    match formulation {
        Formulation::Full => of(file, precision),
        Formulation::Incompatible => of(file, &format!("modes.{precision}")),
    }
}

/// Returns the kernels of `cuda/FILE.cu` in a variant: a precision, `f32` or `f64`, with `modes.`
/// before it for elements by strain modes.
///
/// # Panics
/// If there are none: a test compares the declared kernels with the files.
pub(crate) fn of(file: &str, variant: &str) -> Code {
    let name = format!("{file}.{variant}");
    let row = KERNELS.binary_search_by_key(&name.as_str(), |(name, _)| name);
    Code(row.unwrap_or_else(|_| panic!("there are no kernels `{name}`")))
}

impl Code {
    /// Returns the text of the PTX.
    pub fn ptx(self) -> &'static str {
        str::from_utf8(PTX.file(self.0)).expect("PTX is text")
    }

    /// Returns the threads of a block of the kernel `name`, its launch bounds, or none where there
    /// is no such kernel.
    pub fn block(self, name: &str) -> Option<u32> {
        let (_, kernels) = KERNELS[self.0];
        kernels.iter().find(|(kernel, _)| *kernel == name).map(|(_, threads)| *threads)
    }

    /// Loads the kernels by `load` for a device of a compute `capability`: machine code, and PTX
    /// where there is none or the driver does not take it. The driver takes seconds to compile PTX
    /// the first time.
    pub fn load<T>(
        self,
        capability: (i32, i32),
        load: impl Fn(Ptx) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let architectures = MACHINE_CODE.each_ref().map(|(architecture, _)| *architecture);
        let fitting = fitting(&architectures, capability);
        let machine_code = fitting.map(|row| MACHINE_CODE[row].1.file(self.0));
        let machine_code = machine_code.map(|code| Ptx::from_binary(code.to_vec()));
        loaded(machine_code, || Ptx::from_src(self.ptx()), load)
    }
}

/// Returns which of `architectures` a device of a compute `capability` runs best: of its major
/// version, the latest that is not later than it.
fn fitting(architectures: &[u32], (major, minor): (i32, i32)) -> Option<usize> {
    let latest = u32::try_from(10 * major + minor).unwrap_or_default();
    let runs = |architecture: u32| architecture / 10 == latest / 10 && architecture <= latest;
    let running = (0..architectures.len()).filter(|&row| runs(architectures[row]));
    running.max_by_key(|&row| architectures[row])
}

fn loaded<C, T>(
    machine_code: Option<C>,
    ptx: impl FnOnce() -> C,
    load: impl Fn(C) -> Result<T, DriverError>,
) -> Result<T, DriverError> {
    // Whatever the driver has against machine code, such as its version, it may compile PTX; if
    // not, that is the error to tell.
    machine_code.and_then(|code| load(code).ok()).map_or_else(|| load(ptx()), Ok)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use cudarc::driver::sys::CUresult;

    use super::*;

    #[test]
    fn every_file_comes_back_as_it_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/ptx");
        let n_files = fs::read_dir(&folder).unwrap().count();
        assert!(KERNELS.len() == n_files || cfg!(not(feature = "lab")), "{n_files} files");
        for (name, _) in KERNELS {
            let (file, variant) = name.split_once('.').unwrap();
            let text = fs::read_to_string(folder.join(format!("{name}.ptx"))).unwrap();
            assert_eq!(of(file, variant).ptx(), text, "{name}");
        }
    }

    #[test]
    fn machine_code_is_that_of_its_architecture() {
        let is_asked_for = option_env!("TOPOPT_CUBINS").is_some();
        assert_eq!(MACHINE_CODE.is_empty(), !is_asked_for);
        for (architecture, archive) in &MACHINE_CODE {
            for (number, (name, kernels)) in KERNELS.iter().enumerate() {
                let code = archive.file(number);
                assert!(code.starts_with(b"\x7fELF"), "{name}");
                // The architecture stands in the flags, which come in two versions.
                let (version, flags) = (code[8], &code[48..]);
                let found = if version == 7 { flags[0] } else { flags[1] };
                assert_eq!(u32::from(found), *architecture, "{name}");
                for (kernel, _) in *kernels {
                    let symbol = [b"\0", kernel.as_bytes(), b"\0"].concat();
                    let has = code.windows(symbol.len()).any(|bytes| bytes == symbol);
                    assert!(has, "{name} for {architecture} lacks {kernel}");
                }
            }
        }
    }

    #[test]
    fn a_device_gets_the_latest_code_of_its_major_version_that_it_runs() {
        let architectures = [80, 86, 90, 100, 120];
        let chosen = |capability| fitting(&architectures, capability).map(|row| architectures[row]);
        assert_eq!(chosen((8, 0)), Some(80));
        assert_eq!(chosen((8, 6)), Some(86));
        assert_eq!(chosen((8, 9)), Some(86));
        assert_eq!(chosen((9, 0)), Some(90));
        assert_eq!(chosen((10, 3)), Some(100));
        assert_eq!(chosen((12, 1)), Some(120));
        for none in [(7, 0), (7, 5), (11, 0), (13, 0), (-1, 0)] {
            assert_eq!(chosen(none), None, "{none:?}");
        }
        assert_eq!(fitting(&[86], (8, 0)), None);
        assert_eq!(fitting(&[], (8, 0)), None);
    }

    #[test]
    fn ptx_is_loaded_where_the_driver_does_not_take_machine_code() {
        let rejected = DriverError(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        let invalid = DriverError(CUresult::CUDA_ERROR_INVALID_PTX);
        let unread = || panic!("PTX is not unpacked in vain");
        assert_eq!(loaded(Some("code"), unread, Ok), Ok("code"));
        assert_eq!(loaded(None, || "text", Ok), Ok("text"));

        let text = |code| if code == "code" { Err(rejected) } else { Ok(code) };
        assert_eq!(loaded(Some("code"), || "text", text), Ok("text"));
        let neither = |code| Err::<(), _>(if code == "code" { rejected } else { invalid });
        assert_eq!(loaded(Some("code"), || "text", neither), Err(invalid));
    }
}

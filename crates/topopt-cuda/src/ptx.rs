//! PTX of the kernels, packed by the build script and decompressed where a module is loaded.

use std::io::Read as _;

use lzma_rust2::XzReader;
use topopt_fem::Formulation;

include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// Returns the PTX of `cuda/FILE.cu` in a precision, for elements of a formulation.
///
/// # Panics
/// As [`of`].
pub(crate) fn of_formulation(file: &str, formulation: Formulation, precision: &str) -> String {
    match formulation {
        Formulation::Full => of(file, precision),
        Formulation::Incompatible => of(file, &format!("modes.{precision}")),
    }
}

/// Returns the PTX of `cuda/FILE.cu` in a variant: a precision, `f32` or `f64`, with `modes.`
/// before it for elements by strain modes.
///
/// # Panics
/// If there is none: a test compares the declared kernels with the files.
pub(crate) fn of(file: &str, variant: &str) -> String {
    let name = format!("{file}.{variant}");
    let row = PACKED.binary_search_by_key(&name.as_str(), |(name, _)| name);
    let packed = row.map_or_else(|_| panic!("there is no PTX `{name}`"), |row| PACKED[row].1);
    let mut text = String::new();
    let unpacked = XzReader::new(packed, false).read_to_string(&mut text);
    unpacked.unwrap_or_else(|error| panic!("the PTX `{name}` cannot be unpacked: {error}"));
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_comes_back_as_it_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/ptx");
        let n_files = fs::read_dir(&folder).unwrap().count();
        assert!(PACKED.len() == n_files || cfg!(not(feature = "lab")), "{n_files} files");
        for (name, _) in PACKED {
            let (file, variant) = name.split_once('.').unwrap();
            let text = fs::read_to_string(folder.join(format!("{name}.ptx"))).unwrap();
            assert_eq!(of(file, variant), text, "{name}");
        }
    }
}

//! PTX of the kernels, packed by the build script and decompressed before a module is loaded.

use std::io::Read as _;
use std::sync::LazyLock;
use std::thread;

use lzma_rust2::XzReader;
use topopt_fem::Formulation;

include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// Returns the PTX of `cuda/FILE.cu` in a precision, for elements of a formulation.
///
/// # Panics
/// As [`of`].
pub(crate) fn of_formulation(
    file: &str,
    formulation: Formulation,
    precision: &str,
) -> &'static str {
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
pub(crate) fn of(file: &str, variant: &str) -> &'static str {
    let name = format!("{file}.{variant}");
    let row = PACKED.binary_search_by_key(&name.as_str(), |(name, _)| name);
    &TEXTS[row.unwrap_or_else(|_| panic!("there is no PTX `{name}`"))]
}

/// Texts in the order of [`PACKED`]. All are unpacked by the first use of one: one after the other,
/// as a run loads them, they took 0.3 s of its start.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(all_unpacked);

fn all_unpacked() -> Vec<String> {
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    let chunks = PACKED.chunks(PACKED.len().div_ceil(n_threads));
    thread::scope(|scope| {
        // Threads of their own, as those of rayon may be waiting for a text; where there are no more,
        // this one does their work.
        let spawn = |rows: &'static [(_, _)]| {
            thread::Builder::new().spawn_scoped(scope, move || unpacked(rows)).ok()
        };
        let threads: Vec<_> = chunks.map(|rows| (rows, spawn(rows))).collect();
        let texts =
            threads.into_iter().flat_map(|(rows, thread)| match thread.map(|it| it.join()) {
                Some(Ok(texts)) => texts,
                _ => unpacked(rows),
            });
        texts.collect()
    })
}

fn unpacked(rows: &[(&str, &[u8])]) -> Vec<String> {
    let unpacked = rows.iter().map(|(name, packed)| {
        let mut text = String::new();
        let read = XzReader::new(*packed, false).read_to_string(&mut text);
        read.unwrap_or_else(|error| panic!("the PTX `{name}` cannot be unpacked: {error}"));
        text
    });
    unpacked.collect()
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

//! Damaged files end in a mesh or in an error, never in a panic or in memory running out.

mod damage;

use std::fs;
use std::path::{Path, PathBuf};

use damage::{any_bytes, any_of, damaged};
use proptest::prelude::*;
use topopt_io::gmsh;

const FILES: [&str; 5] = [
    "tests/cube.msh",
    "../../meshes/gmsh_box_2_2_ascii.msh",
    "../../meshes/gmsh_box_2_2_binary.msh",
    "../../meshes/gmsh_box_4_1_ascii.msh",
    "../../meshes/gmsh_box_4_1_binary.msh",
];

fn bytes(file: usize) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILES[file])).unwrap()
}

/// Reads `bytes` as a mesh; an error must name the file.
fn read(bytes: &[u8]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("damaged.msh");
    fs::write(&path, bytes).unwrap();
    match gmsh::read(&path) {
        Ok(imported) => imported.mesh.n_elements() == imported.element_tags.len(),
        Err(error) => error.to_string().contains("damaged.msh: "),
    }
}

#[test]
fn every_truncation_is_an_error() {
    for file in 0..FILES.len() {
        let bytes = bytes(file);
        let end = bytes.windows(12).rposition(|w| w == b"$EndElements").unwrap() + 12;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cut.msh");
        for length in (0..end).step_by(7) {
            fs::write(&path, &bytes[..length]).unwrap();
            assert!(gmsh::read(&path).is_err(), "{} cut to {length} bytes", FILES[file]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn changed_bytes_do_no_harm(
        file in 0..FILES.len(),
        changes in any_bytes(),
    ) {
        prop_assert!(read(&damaged(bytes(file), changes)));
    }

    #[test]
    fn changed_digits_do_no_harm(
        file in prop::sample::select(vec![0usize, 1, 3]),
        changes in any_of(b"0123456789-. \ne"),
    ) {
        prop_assert!(read(&damaged(bytes(file), changes)));
    }
}

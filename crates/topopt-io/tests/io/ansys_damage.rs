//! Damaged archives end in a mesh or in an error, never in a panic or in memory running out.

use std::fs;

use crate::damage::{self, any_bytes, any_of, damaged, is_sound};
use proptest::prelude::*;
use topopt_io::ansys;

const NAME: &str = "damaged.cdb";
const FILES: [&str; 4] = [
    "../topopt-testing/src/files/block.cdb",
    "../../meshes/ansys_hex_beam.cdb",
    "../../meshes/ansys_sector.cdb",
    "../../meshes/ansys_tet_beam.cdb",
];

#[test]
fn every_truncation_within_the_blocks_is_an_error() {
    for file in 0..FILES.len() {
        let bytes = damage::file(FILES[file]);
        let start = bytes.windows(6).position(|w| w == b"EBLOCK").unwrap();
        let end = start + bytes[start..].windows(4).position(|w| w == b" -1\n").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cut.cdb");
        for length in (0..=end).step_by(61).chain(end - 20..=end) {
            fs::write(&path, &bytes[..length]).unwrap();
            assert!(ansys::read_archive(&path).is_err(), "{} cut to {length} bytes", FILES[file]);
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
        prop_assert!(is_sound(&damaged(damage::file(FILES[file]), changes), NAME));
    }

    #[test]
    fn changed_digits_do_no_harm(
        changes in any_of(b"0123456789-. \nei,"),
    ) {
        prop_assert!(is_sound(&damaged(damage::file(FILES[0]), changes), NAME));
    }

    #[test]
    fn missing_pieces_do_no_harm(
        file in 0..FILES.len(),
        piece in (any::<prop::sample::Index>(), 1usize..300),
    ) {
        let mut bytes = damage::file(FILES[file]);
        let start = piece.0.index(bytes.len());
        bytes.drain(start..(start + piece.1).min(bytes.len()));
        prop_assert!(is_sound(&bytes, NAME));
    }
}

//! Damaged files end in a mesh or in an error, never in a panic or in memory running out.

use crate::damage::{self, any_bytes, any_of, damaged, is_sound, read_bytes};
use proptest::prelude::*;

const NAME: &str = "damaged.msh";
const FILES: [&str; 5] = [
    "../topopt-testing/src/files/cube.msh",
    "../../meshes/gmsh_box_2_2_ascii.msh",
    "../../meshes/gmsh_box_2_2_binary.msh",
    "../../meshes/gmsh_box_4_1_ascii.msh",
    "../../meshes/gmsh_box_4_1_binary.msh",
];

#[test]
fn every_truncation_is_an_error() {
    for file in 0..FILES.len() {
        let bytes = damage::file(FILES[file]);
        let end = bytes.windows(12).rposition(|w| w == b"$EndElements").unwrap() + 12;
        for length in (0..end).step_by(7) {
            let read = read_bytes(&bytes[..length], NAME);
            assert!(read.is_err(), "{} cut to {length} bytes", FILES[file]);
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
        file in prop::sample::select(vec![0usize, 1, 3]),
        changes in any_of(b"0123456789-. \ne"),
    ) {
        prop_assert!(is_sound(&damaged(damage::file(FILES[file]), changes), NAME));
    }
}

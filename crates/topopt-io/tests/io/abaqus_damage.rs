//! Damaged Abaqus files end in a mesh or in an error, never in a panic or in memory running out.

use crate::damage::{any_bytes, any_of, damaged, is_sound, read_bytes, with_lines_swapped};
use proptest::prelude::*;

const NAME: &str = "part.inp";
const FILES: [&str; 2] = [
    include_str!("../../../../meshes/abaqus_box_assembly.inp"),
    include_str!("../../../../meshes/abaqus_box_gmsh.inp"),
];

#[test]
fn every_truncation_is_a_mesh_or_an_error() {
    for text in FILES {
        let elements = text.find("Solid Section").or(text.find("*ELSET,ELSET")).unwrap();
        for length in (0..text.len()).step_by(5) {
            let whole = read_bytes(&text.as_bytes()[..length], NAME).is_ok();
            assert!(!whole || length > elements / 2, "cut to {length} bytes");
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
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes), NAME));
    }

    #[test]
    fn changed_signs_do_no_harm(
        file in 0..FILES.len(),
        changes in any_of(b"0123456789-.,*=\n\"e"),
    ) {
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes), NAME));
    }

    #[test]
    fn lines_in_any_order_do_no_harm(
        file in 0..FILES.len(),
        swaps in proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 1..6),
    ) {
        prop_assert!(is_sound(with_lines_swapped(FILES[file], swaps).as_bytes(), NAME));
    }
}

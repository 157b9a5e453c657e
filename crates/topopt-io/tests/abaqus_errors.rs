//! Abaqus files that are refused, each with its message; damaged files do no harm.

mod damage;

use std::fs;

use damage::{any_bytes, any_of, damaged};
use proptest::prelude::*;
use topopt_io::{ImportedMesh, ReadError, read_mesh};

const FILES: [&str; 2] = [
    include_str!("../../../meshes/abaqus_box_assembly.inp"),
    include_str!("../../../meshes/abaqus_box_gmsh.inp"),
];

/// A cube of nodes 1 to 8 and element 7.
const CUBE: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n6, 1, 0, 1\n\
    7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8\n7, 1, 2, 3, 4, 5, 6, 7, 8\n";

fn read_bytes(bytes: &[u8]) -> Result<ImportedMesh, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.inp");
    fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

/// The message behind the name of the file.
fn message(text: &str) -> String {
    let text = read_bytes(text.as_bytes()).unwrap_err().to_string();
    let (_, message) = text.split_once("part.inp: ").expect("the file is named");
    message.to_owned()
}

/// The message for the cube with `more` behind it.
fn with(more: &str) -> String {
    message(&format!("{CUBE}{more}"))
}

/// The message for the cube after replacing `old` by `new`, once.
fn changed(old: &str, new: &str) -> String {
    assert!(CUBE.contains(old));
    message(&CUBE.replacen(old, new, 1))
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn files_that_are_no_mesh() {
    assert_eq!(read_bytes(CUBE.as_bytes()).unwrap().mesh.n_elements(), 1);
    assert_says(&message(""), &["the file is empty", ".inp"]);
    assert_says(&message("** only\n\n** comments\n"), &["the file is empty"]);
    assert_says(&message("solid part\n"), &["not an Abaqus input file", "*HEADING"]);
    assert_says(&message("*-1\n"), &["not an Abaqus input file"]);
    assert_says(&message("*NODE\n1, 0, 0, 0\n"), &["no hexahedra", "C3D8"]);
    let missing = read_mesh("no/such/part.inp".as_ref()).unwrap_err().to_string();
    assert_says(&missing, &["no/such/part.inp: cannot read the file"]);
}

#[test]
fn numbers_that_are_none() {
    assert_says(
        &changed("2, 1, 0, 0", "x, 1, 0, 0"),
        &["line 3: *NODE: ", "number of a node", "`x`"],
    );
    assert_says(&changed("2, 1, 0, 0", "2, 1, y, 0"), &["line 3: ", "a coordinate, found `y`"]);
    assert_says(&changed("2, 1, 0, 0", "0, 1, 0, 0"), &["line 3: ", "number of a node, found `0`"]);
    assert_says(
        &changed("2, 1, 0, 0", "2, 1, nan, 0"),
        &["line 3: ", "node 2", "not a finite number"],
    );
    assert_says(&changed("2, 1, 0, 0", "3, 1, 0, 0"), &["node 3 is defined twice"]);
    assert_says(&changed("7, 1, 2, 3", "7, 1, , 3"), &["line 11: *ELEMENT", "found nothing"]);
    assert_says(&changed("7, 1, 2, 3", "7, 1, 9, 3"), &["element 7 names node 9, which is not"]);
    assert_says(&changed("7, 1, 2, 3", "7, 1, 1, 3"), &["element 7 names node 1 twice"]);
    assert_says(&changed("1, 2, 3, 4, 5", "4, 3, 2, 1, 5"), &["element 7 is inverted"]);
    assert_says(&with("7, 1, 2, 3, 4, 5, 6, 7, 8\n"), &["element 7 is defined twice"]);
    assert_says(&with("*ELEMENT, TYPE=MASS\n7, 1\n"), &["element 7 is defined twice"]);
    assert_says(
        &changed("6, 7, 8", "6, 7"),
        &["line 11: element 7 of type C3D8 has 7 nodes where 8 are needed"],
    );
    assert_says(&changed("6, 7, 8", "6, 7, 8, 9"), &["has 9 nodes where 8 are needed"]);
}

#[test]
fn other_solid_elements() {
    let text = with("*ELEMENT, TYPE=C3D10M\n12, 1, 2, 3, 5, 6, 7, 8, 4,\n1, 2\n13, 1, 2, 3, 5\n");
    assert_says(
        &text,
        &["2 elements of type C3D10M", "the first is element 12", "only hexahedra", "swept"],
    );
    assert_says(&with("*ELEMENT\n8, 1\n"), &["line 12: *ELEMENT has no parameter TYPE"]);
}

#[test]
fn sets_that_name_what_is_not_there() {
    assert_says(&with("*NSET\n1\n"), &["line 12: *NSET has no parameter NSET"]);
    assert_says(&with("*NSET, NSET=a\n1, 9\n"), &["line 12: `a` names node 9, which is not"]);
    assert_says(&with("*NSET, NSET=a\n7, 8, 9\n"), &["`a` names node 9"]);
    assert_says(
        &with("*NSET, NSET=a\n18446744073709551615\n"),
        &["`a` names node 18446744073709551615, which"],
    );
    assert_says(&with("*ELSET, ELSET=a\n8\n"), &["line 12: `a` names element 8"]);
    assert_says(&with("*ELSET, ELSET=a\nb\n"), &["*ELSET names the set `B`, which is not defined"]);
    assert_says(
        &with("*NSET, NSET=a\n1\n*NSET, NSET=a\na\n*NSET, NSET=b\nc\n"),
        &["line 16: ", "the set `C`"],
    );
    assert_says(&with("*NSET, NSET=a, GENERATE\n5, 1\n"), &["line 13: ", "range", "`5, 1`"]);
    assert_says(&with("*NSET, NSET=a, GENERATE\n1, 5, 0\n"), &["the step of a range, found `0`"]);
    assert_says(&with("*NSET, NSET=a\n1,,2\n"), &["a number or the name of a set, found nothing"]);
    assert_says(
        &with("*BOUNDARY\n1, 1\nclamp, 1, 3\n"),
        &["line 14: *BOUNDARY names the set `CLAMP`"],
    );
    assert_says(&with("*BOUNDARY\n1, HELD\n"), &["line 13: ", "ENCASTRE", "found `HELD`"]);
    assert_says(&with("*BOUNDARY\n1, 3, 1\n"), &["a last direction not before the first"]);
    assert_says(&with("*CLOAD\n1, 2\n"), &["line 13: *CLOAD: expected a force, found nothing"]);
    assert_says(&with("*CLOAD\n99, 2, 1\n"), &["`cload_2_1.0` names node 99"]);
}

#[test]
fn surfaces_whose_faces_are_not_named() {
    assert_says(
        &with("*SURFACE, NAME=s\n7, S2\n7\n"),
        &["line 14: surface `s` has the face left out", "S1 to S6"],
    );
    assert_says(&with("*SURFACE, NAME=s\n7, S7\n"), &["line 13: ", "the face `S7`"]);
    assert_says(&with("*SURFACE, NAME=s\n7, SPOS\n"), &["the face `SPOS`"]);
    assert_says(&with("*SURFACE, NAME=s\n8, S1\n"), &["line 13: `s` names element 8"]);
}

#[test]
fn what_is_not_supported_says_what_to_do() {
    assert_says(
        &with("*INCLUDE, INPUT=mesh.inp\n"),
        &["line 12: ", "the file `mesh.inp`, which is not read", "put its content"],
    );
    assert_says(&with("*NODE, INPUT=nodes.dat\n"), &["`nodes.dat`", "put its content"]);
    assert_says(&with("*NGEN\n1, 9\n"), &["line 12: *NGEN makes or changes", "write all nodes"]);
    assert_says(&with("*NODE, SYSTEM=C\n"), &["cylindrical"]);
    let two_parts = "*PART, NAME=a\n*END PART\n*PART, NAME=b\n";
    assert_says(&message(two_parts), &["line 3: a second part; a single part", "flat input file"]);
    let instances = "*ASSEMBLY\n*INSTANCE, NAME=a\n*END INSTANCE\n*INSTANCE, NAME=b\n";
    assert_says(&message(instances), &["line 4: a second instance", "flat input file"]);
    let moved = "*ASSEMBLY\n*INSTANCE, NAME=a\n0., 0., 10.\n";
    assert_says(&message(moved), &["line 2: an instance that is translated or rotated"]);
}

#[test]
fn every_truncation_is_a_mesh_or_an_error() {
    for text in FILES {
        let elements = text.find("Solid Section").or(text.find("*ELSET,ELSET")).unwrap();
        for length in (0..text.len()).step_by(5) {
            let whole = read_bytes(&text.as_bytes()[..length]).is_ok();
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
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes)));
    }

    #[test]
    fn changed_signs_do_no_harm(
        file in 0..FILES.len(),
        changes in any_of(b"0123456789-.,*=\n\"e"),
    ) {
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes)));
    }

    #[test]
    fn lines_in_any_order_do_no_harm(
        file in 0..FILES.len(),
        swaps in proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 1..6),
    ) {
        let mut lines: Vec<&str> = FILES[file].lines().collect();
        for [a, b] in swaps {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        prop_assert!(is_sound(lines.join("\n").as_bytes()));
    }
}

/// Whether `bytes` give a mesh with a number for each element, or an error that names the file.
fn is_sound(bytes: &[u8]) -> bool {
    match read_bytes(bytes) {
        Ok(imported) => imported.mesh.n_elements() == imported.element_tags.len(),
        Err(error) => error.to_string().contains("part.inp: "),
    }
}

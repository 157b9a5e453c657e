//! Legacy `.vtk` files: text and binary, the versions 2 to 5.1, and damaged ones.

use crate::damage::{any_bytes, any_of, damaged, file, is_sound, read_bytes};
use proptest::prelude::*;
use topopt_io::read_mesh;

const NAME: &str = "part.vtk";

/// The box of `gmsh_box_4_1_ascii.msh` with two sets, written by meshio 5.3.5.
const FILES: [&str; 4] = ["4_2_ascii", "4_2_binary", "5_1_ascii", "5_1_binary"];

fn layout(name: &str) -> Vec<u8> {
    file(&format!("../../meshes/vtk_box_{name}.vtk"))
}

/// Text file with every kind of array, a voxel and a triangle.
const MIXED: &str = "# vtk DataFile Version 2.0
two cubes, and a triangle
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 1
TIME 1 1 double
0.5
POINTS 12 float
0 0 0  1 0 0  0 1 0  1 1 0
0 0 1  1 0 1  0 1 1  1 1 1
0 0 2  1 0 2  0 1 2  1 1 2
CELLS 3 22
3 0 1 2
8 0 1 2 3 4 5 6 7
8 4 5 7 6 8 9 11 10
CELL_TYPES 3
5 11 12
CELL_DATA 3
SCALARS upper int 1
LOOKUP_TABLE default
0 0 1
SCALARS weight float
LOOKUP_TABLE own
0 0.5 1
LOOKUP_TABLE own 2
0 0 0 1  1 1 1 1
VECTORS move double
0 0 0 1 1 1 2 2 2
FIELD more 3
a%20set 1 3 unsigned_char
1 1 0
METADATA
INFORMATION 1
NAME L2_NORM_RANGE LOCATION vtkDataArray
DATA 2 0 1

part 1 3 vtkIdType
1 2 3
vtkGhostType 1 3 unsigned_char
0 0 1
POINT_DATA 12
SCALARS top char
LOOKUP_TABLE default
0 0 0 0 0 0 0 0 1 1 1 1
NORMALS n float
0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1
";

#[test]
fn the_box_as_meshio_wrote_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meshes/gmsh_box_4_1_ascii.msh");
    let expected = read_mesh(path.as_ref()).unwrap().mesh;
    for name in FILES {
        let found = read_bytes(&layout(name), NAME).unwrap();
        assert_eq!(found.mesh.hexes(), expected.hexes(), "{name}");
        assert_eq!(found.mesh.coordinates(), expected.coordinates(), "{name}");
        assert_eq!(found.mesh.sets().elements["solid"], [2, 3], "{name}");
        assert_eq!(found.mesh.sets().nodes["load"], [5], "{name}");
        assert_eq!(found.mesh.sets().summary().len(), 2, "{name}");
        assert_eq!(found.element_tags, [0, 1, 2, 3], "{name}");
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }
}

#[test]
fn arrays_of_every_kind() {
    let found = read_bytes(MIXED.as_bytes(), NAME).unwrap();
    assert_eq!((found.mesh.n_nodes(), found.mesh.n_elements()), (12, 2));
    assert!(found.mesh.volumes().iter().all(|volume| (volume - 1.0).abs() < 1e-14));
    let sets = found.mesh.sets();
    assert_eq!((&sets.elements["upper"], &sets.elements["a set"]), (&vec![1], &vec![0]));
    assert_eq!(sets.nodes["top"], [8, 9, 10, 11]);
    assert_eq!(sets.summary().len(), 3);
    assert_eq!(found.element_tags, [1, 2]);
    let notes = [
        "1 cells that are not volumes were left out",
        "array `part` is not a set: it has values other than 0 and 1",
    ];
    assert_eq!(found.notes, notes);
}

#[test]
fn what_is_wrong_is_named() {
    for (old, new, expected) in [
        ("# vtk DataFile Version", "solid", "not a legacy VTK file: it does not begin with"),
        ("ASCII", "TEXT", "line 3: expected ASCII or BINARY, found `TEXT`; the file is damaged"),
        ("UNSTRUCTURED_GRID", "POLYDATA", "line 4: the file holds VTK data of type `POLYDATA`"),
        ("POINTS 12 float", "POINTS 12 half", "line 8: expected a number type such as int"),
        ("POINTS 12 float", "POINTS x float", "line 8: expected a count, found `x`"),
        ("POINTS 12 float", "POINTS 13 float", "line 12: expected a number, found `CELLS`"),
        ("POINTS 12 float", "POINTS 99999999999 float", "line 8: the file ends too early"),
        ("0 0 1  1 0 1", "0 0 1  nan 0 1", "node 5 has a coordinate that is not a finite"),
        ("CELLS 3 22", "CELLS 4 22", "line 15: array `CELLS` has 3 entries where 4 are needed"),
        ("8 0 1 2 3", "99 0 1 2 3", "line 15: expected the number of points of a cell, found `99`"),
        ("8 0 1 2 3", "-8 0 1 2 3", "line 15: expected the number of points of a cell, found `-8`"),
        ("8 0 1 2 3", "8 0 1 2 99", "element 1 names node 99, which is not in the file"),
        ("5 11 12", "5 11 42", "the mesh holds polyhedra (1, the first is cell 2)"),
        ("5 11 12", "5 11 10", "cell 2 has 8 points, which does not match its VTK type 10"),
        ("CELL_TYPES 3\n5 11 12", "CELL_TYPES 2\n5 11", "array `CELL_TYPES` has 2 entries"),
        ("CELL_TYPES 3\n5 11 12", "", "the file has no section CELL_TYPES"),
        ("CELL_DATA 3", "CELL_DATA 4", "line 18: array `CELL_DATA` has 4 entries where 3"),
        ("a%20set 1 3", "a%20set 1 2", "line 31: array `a set` has 2 entries where 3 are needed"),
        (
            "NORMALS",
            "ABNORMAL",
            "line 45: expected a section of the file, found `ABNORMAL n float`",
        ),
    ] {
        assert!(MIXED.contains(old), "{old}");
        let error = read_bytes(MIXED.replacen(old, new, 1).as_bytes(), NAME).unwrap_err();
        let error = error.to_string();
        assert!(error.split_once(": ").unwrap().1.starts_with(expected), "{new}: {error}");
    }
    let error = read_bytes(b"\n\n", NAME).unwrap_err().to_string();
    assert!(error.contains("the file is empty"), "{error}");
}

/// A binary file that announces 2^40 points in 100 bytes takes no memory for them.
#[test]
fn what_cannot_be_there_is_refused_first() {
    let head = "# vtk DataFile Version 5.1\n\nBINARY\nDATASET UNSTRUCTURED_GRID\n";
    for text in [
        "POINTS 1099511627776 double\n",
        "POINTS 18446744073709551615 double\n",
        "CELLS 1099511627776 1099511627776\nOFFSETS vtktypeint64\n",
        "CELLS 1 1099511627776\n",
        "CELL_TYPES 1099511627776\n",
        "FIELD a 1099511627776\nb 1099511627776 1099511627776 double\n",
    ] {
        let error = read_bytes(format!("{head}{text}").as_bytes(), NAME).unwrap_err().to_string();
        assert!(error.contains("the file ends too early"), "{text}: {error}");
    }
}

#[test]
fn every_truncation_is_a_mesh_or_an_error() {
    let mixed = MIXED.as_bytes().to_vec();
    for bytes in FILES.into_iter().map(layout).chain([mixed]) {
        let types = bytes.windows(10).position(|word| word == b"CELL_TYPES").unwrap();
        for length in 0..bytes.len() {
            assert!(is_sound(&bytes[..length], NAME), "cut to {length} bytes");
            assert!(length > types || read_bytes(&bytes[..length], NAME).is_err());
        }
    }
}

fn any_file(number: usize) -> Vec<u8> {
    FILES.get(number).map_or_else(|| MIXED.as_bytes().to_vec(), |name| layout(name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_do_no_harm(number in 0..5_usize, changes in any_bytes()) {
        prop_assert!(is_sound(&damaged(any_file(number), changes), NAME));
    }

    #[test]
    fn changed_signs_do_no_harm(number in 0..5_usize, changes in any_of(b"0123456789-. \nLA")) {
        prop_assert!(is_sound(&damaged(any_file(number), changes), NAME));
    }
}

//! Ansys archives that are refused, each with its message.

use std::fs;
use std::path::Path;

use topopt_io::{Problem, ReadError, ansys, read_mesh};

const BLOCK: &str = include_str!("block.cdb");

fn error(text: &str) -> ReadError {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.cdb");
    fs::write(&path, text).unwrap();
    read_mesh(&path).unwrap_err()
}

/// The message behind the name of the file.
fn message(text: &str) -> String {
    let text = error(text).to_string();
    let (_, message) = text.split_once("part.cdb: ").expect("the file is named");
    message.to_owned()
}

/// The message for the block after replacing `old` by `new`, once.
fn changed(old: &str, new: &str) -> String {
    assert!(BLOCK.contains(old), "{old}");
    message(&BLOCK.replacen(old, new, 1))
}

/// The message for the block cut behind `mark`.
fn cut_behind(mark: &str) -> String {
    message(&BLOCK[..BLOCK.find(mark).unwrap() + mark.len()])
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn files_that_are_no_archive() {
    for text in ["", "\n\n", "solid part\n", "\0\u{1}\n", "N,1,0,0,0\nN,2,1,0,0\n"] {
        assert_says(&message(text), &["no NBLOCK", "CDWRITE,DB,part,cdb"]);
    }
    let elements = BLOCK.find("EBLOCK").unwrap();
    assert_says(&message(&BLOCK[..elements]), &["no EBLOCK", "CDWRITE"]);
}

#[test]
fn truncated_blocks() {
    assert_says(&cut_behind("NBLOCK,6,SOLID"), &["line 14", "file ends inside NBLOCK", "again"]);
    assert_says(&cut_behind("(3i9,6e21.13e3)\n       10 "), &["line 16", "NBLOCK", "truncated"]);
    assert_says(&cut_behind("       93        0        0 1.00"), &["line 26", "inside NBLOCK"]);
    assert_says(&cut_behind("       80\n"), &["line 33", "inside EBLOCK"]);
    assert_says(&cut_behind("       30      500\n"), &["line 35", "inside EBLOCK"]);
    assert_says(&cut_behind("(8i10)\n"), &["line 38", "inside CMBLOCK"]);
    let etblock = "ETBLOCK,  1,  1\n(2i9,19a9)\n        1      185\n";
    assert_says(&message(etblock), &["line 3", "inside ETBLOCK"]);
}

#[test]
fn format_lines_that_do_not_fit() {
    for wrong in ["", "(3i9,6e21.13e3", "(3i9,6x21)", "(19i0)", "       10        0        0"] {
        let text = changed("(3i9,6e21.13e3)", wrong);
        assert_says(&text, &["line 15", "NBLOCK: expected the format line", "(3i9,6e21.13e3)"]);
    }
    assert_says(
        &changed("(3i9,6e21.13e3)", "(3i8,6e20.13)"),
        &["line 17", "NBLOCK", "a coordinate"],
    );
    assert_says(&changed("(3i9,6e21.13e3)", "(3i9,6e20.13)"), &["line 18", "coordinate"]);
    assert_says(&changed("(3i9,6e21.13e3)", "(3i9)"), &["line 15", "three reals"]);
    assert_says(&changed("(3i9,6e21.13e3)", "(3i9,3e21.13e3)"), &["line 27", "no longer"]);
    assert_says(&changed("(19i9)", "(19i8)"), &["line 32", "the material of an element"]);
    assert_says(&changed("(19i9)", "(9i9)"), &["line 31", "19 integers"]);
    assert_says(&changed("(8i10)", "(8i7)"), &["line 39", "a number of the component"]);
}

#[test]
fn counts_that_lie() {
    assert_says(
        &changed("SOLID,       500,        13", "SOLID,       500,        12"),
        &["line 29: NBLOCK announces 12 nodes and holds 13", "CDWRITE"],
    );
    assert_says(
        &changed("SOLID,        30,         4", "SOLID,        30, 999999999999"),
        &["line 36: EBLOCK announces 999999999999 elements and holds 4"],
    );
    assert_says(
        &changed("TOP     ,NODE,       4", "TOP     ,NODE,       5"),
        &["line 39", "CMBLOCK: expected a number of the component"],
    );
    for fewer in ["TOP     ,NODE,       3", "TOP     ,NODE,       0"] {
        assert_says(&changed("TOP     ,NODE,       4", fewer), &["as many numbers as"]);
    }
    assert_says(&changed("TOP     ,NODE,       4", "TOP     ,NODE"), &["CMBLOCK,name,type,count"]);
    let huge = changed("TOP     ,NODE,       4", "TOP     ,NODE,99999999999999");
    assert_says(&huge, &["line 39", "a number of the component"]);
    // A count that is the largest number, or none, is as good as the number of entries.
    for fine in ["SOLID,       500,       500", "SOLID,       500", "SOLID"] {
        let text = BLOCK.replacen("SOLID,       500,        13", fine, 1);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("part.cdb");
        fs::write(&path, text).unwrap();
        assert_eq!(read_mesh(&path).unwrap().mesh.n_nodes(), 12);
    }
}

#[test]
fn damaged_nodes() {
    let second = "       20        0        0 1.0000000000000E+000";
    let with = |new: &str| changed(second, new);
    assert_says(
        &with("       20        0        0                  NaN"),
        &["line 17: node 20", "not a finite number", "NaN"],
    );
    assert_says(&with("       20        0        0 1.0000000000000E+999"), &["node 20", "inf"]);
    assert_says(&with("       20        0        0********************"), &["line 17", "coordin"]);
    assert_says(&with("       20        0        0          one"), &["line 17", "`20 "]);
    assert_says(&with("        0        0        0 1.0000000000000E+000"), &["number of a node"]);
    assert_says(&with("      -20        0        0 1.0000000000000E+000"), &["number of a node"]);
    assert_says(&with(""), &["line 17", "found a blank line"]);
    assert_says(&with("N,R5.3,LOC,       20,"), &["line 17", "the end mark"]);
    assert_says(
        &with("       30        0        0 1.0000000000000E+000"),
        &["node 30 is defined twice", "renumber"],
    );
    assert_says(&changed("N,R5.3,LOC,       -1,\n", ""), &["line 29", "the number of a node"]);
}

#[test]
fn damaged_elements() {
    let brick = "        8        0        7       10       20       30";
    let with = |new: &str| changed(brick, new);
    assert_says(
        &with("        8        0        7       10       21       30"),
        &["element 7 names node 21, which is not in the file"],
    );
    assert_says(
        &with("        8        0       12       10       20       30"),
        &["element 12 is defined twice"],
    );
    assert_says(
        &with("       28        0        7       10       20       30"),
        &["line 33", "number of nodes of an element, 1 to 27"],
    );
    assert_says(
        &with("        9        0        7       10       20       30"),
        &["EBLOCK announces 4 elements and holds 3"],
    );
    let uncounted = BLOCK.replacen("SOLID,        30,         4", "SOLID", 1);
    let longer = brick.replacen("        8", "        9", 1);
    assert_says(
        &message(&uncounted.replacen(brick, &longer, 1)),
        &["element 7 of type SOLID45 has 9 nodes, where SOLID45 has 8"],
    );
    assert_says(
        &with("        7        0        7       10       20       30"),
        &["element 7 of type SOLID45 has 7 nodes, where SOLID45 has 8"],
    );
    assert_says(
        &with("        8        0        7       10      -20       30"),
        &["line 33", "a node of an element"],
    );
    assert_says(
        &with("        8        0        7       10       10       30"),
        &["1 of 2 SOLID45 elements are degenerate bricks", "elements 7."],
    );
    assert_says(
        &changed(
            "       10       20       30       40       50       60       70       80",
            "       50       60       70       80       10       20       30       40",
        ),
        &["element 7 is inverted or flat", "-1.250e-1"],
    );
}

#[test]
fn damaged_components() {
    let with = |new: &str| changed("        91       -94       500", new);
    assert_says(&with("       -94        91       500"), &["line 39", "minus the end of a range"]);
    assert_says(&with("        91       -94      -500"), &["minus the end of a range"]);
    assert_says(&with("        94       -91       500"), &["minus the end of a range"]);
    assert_says(&with("        91       -94         0"), &["minus the end of a range"]);
    assert_says(&with("        91       x94       500"), &["a number of the component"]);
}

#[test]
fn element_types_that_are_not_known() {
    assert_says(
        &changed("ET,        2,SOLID45\n", ""),
        &["element 12 is of type 2, which no ET command defines"],
    );
    assert_says(&changed("2,SOLID45", "2,BRICK"), &["line 9", "ET: expected", "`ET,        2,BRI"]);
    assert_says(
        &changed("2,SOLID45", "2,SHELL181"),
        &["2 elements of type SHELL181", "the first is element 12", "ESEL,U,TYPE"],
    );
    assert_says(&changed("2,SOLID45", "2,200"), &["no hexahedra", "select its elements"]);
    let loose = BLOCK.replace("EBLOCK,19,SOLID,", "EBLOCK,19,,");
    assert_says(&message(&loose), &["no hexahedra"]);
}

fn project_error(name: &str) -> String {
    let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes");
    read_mesh(&meshes.join(name)).unwrap_err().to_string()
}

#[test]
fn a_sector_with_wedges_is_refused() {
    assert_says(
        &project_error("ansys_sector.cdb"),
        &[
            "ansys_sector.cdb: 4 of 105 SOLID185 elements are degenerate bricks (4 wedges): \
             elements 246, 247, 298, 317. Only hexahedra",
            "MSHAPE,0,3D and MSHKEY,1",
        ],
    );
}

#[test]
fn tetrahedra_are_refused() {
    assert_says(
        &project_error("ansys_tet_beam.cdb"),
        &["100 elements of type SOLID187 (tetrahedra), the first is element 1", "VSWEEP"],
    );
}

#[test]
fn problems_can_be_told_apart() {
    let problem = error("").problem;
    assert!(matches!(*problem, Problem::Ansys(ansys::Problem::MissingBlock("NBLOCK"))));
}

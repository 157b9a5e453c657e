//! Files that are refused, each with its message.

use std::fs;

use topopt_io::{ImportedMesh, Place, Problem, ReadError, gmsh, read_mesh};

const CUBE: &str = include_str!("cube.msh");

fn read_bytes(bytes: &[u8]) -> Result<ImportedMesh, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.msh");
    fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

/// The message behind the name of the file.
fn message(bytes: &[u8]) -> String {
    let text = read_bytes(bytes).unwrap_err().to_string();
    let (_, message) = text.split_once("part.msh: ").expect("the file is named");
    message.to_owned()
}

/// The message for the cube after replacing `old` by `new`, once.
fn changed(old: &str, new: &str) -> String {
    assert!(CUBE.contains(old));
    message(CUBE.replacen(old, new, 1).as_bytes())
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn the_cube_itself_is_read() {
    let cube = read_bytes(CUBE.as_bytes()).unwrap();
    assert_eq!(cube.mesh.n_elements(), 1);
    assert_eq!(cube.node_tags, [10, 20, 30, 40, 50, 60, 70, 80]);
    assert_eq!(cube.element_tags, [7]);
    assert_eq!(cube.notes, ["1 node that no hexahedron uses was left out"]);
}

#[test]
fn files_that_are_no_mesh() {
    assert_says(&message(b""), &["the file is empty", "gmsh -3"]);
    assert_says(&message(b" \n\n"), &["the file is empty"]);
    assert_says(&message(b"solid part\n"), &["not a Gmsh mesh", "$MeshFormat"]);
    assert_says(&message(&[0xff, 0xfe, 0, 1, 2]), &["not a Gmsh mesh"]);
    let missing = read_mesh("no/such/part.msh".as_ref()).unwrap_err().to_string();
    assert_says(&missing, &["no/such/part.msh: cannot read the file: No such file"]);
    let other = read_mesh("part.stl".as_ref()).unwrap_err().to_string();
    assert_says(&other, &["part.stl", "supported are: .msh (Gmsh 2.2 and 4.1)"]);
}

#[test]
fn versions_that_are_not_read_say_how_to_convert() {
    for (old, version) in [("4 0 8", "4.0"), ("1 0 8", "1.0"), ("4.2 0 8", "4.2")] {
        let text = changed("2.2 0 8", old);
        assert_says(&text, &["line 2: ", &format!("version {version} of"), "-format msh41"]);
    }
    assert_says(&message(b"$NOD\n1\n1 0 0 0\n$ENDNOD\n"), &["version 1.0 of", "-format msh41"]);
    assert_says(&changed("2.2 0 8", "x 0 8"), &["line 2", "version of the format", "`x 0 8`"]);
}

#[test]
fn truncated_text() {
    let cut = |mark: &str| &CUBE.as_bytes()[..CUBE.find(mark).unwrap() + mark.len()];
    assert_says(&message(cut("40 0 1 0\n")), &["$Nodes announces 9 nodes", "truncated"]);
    assert_says(&message(cut("90 5 5 5\n")), &["line 21: the file ends inside section $Nodes"]);
    assert_says(&message(cut("$EndNodes\n")), &["no section $Elements"]);
    assert_says(&message(cut("7 5 2 3 1 10 20 ")), &["$Elements", "truncated"]);
    assert_says(
        &message(cut("7 5 2 3 1 10 20 30 40 50 60 70")),
        &["line 26: the file ends inside"],
    );
}

#[test]
fn truncated_binary() {
    let bytes = include_bytes!("../../../meshes/gmsh_box_4_1_binary.msh");
    let nodes = bytes.windows(6).position(|w| w == b"$Nodes").unwrap();
    let error = read_bytes(&bytes[..nodes + 60]).unwrap_err();
    assert!(matches!(error.place, Some(Place::Byte(at)) if at > nodes && at <= nodes + 60));
    assert_says(&error.to_string(), &["byte ", "$Nodes", "truncated"]);
    let error = read_bytes(&bytes[..bytes.len() - 20]).unwrap_err().to_string();
    assert_says(&error, &["byte ", "$Elements", "truncated"]);
}

#[test]
fn binary_of_another_machine() {
    let start = |size: &str, one: [u8; 4]| {
        let mut bytes = format!("$MeshFormat\n4.1 1 {size}\n").into_bytes();
        bytes.extend(one);
        bytes
    };
    assert_says(&message(&start("8", [0, 0, 0, 1])), &["big-endian", "convert it to text"]);
    assert_says(&message(&start("4", [1, 0, 0, 0])), &["data size 4", "64-bit"]);
    assert_says(&message(&start("8", [9, 0, 0, 0])), &["expected the number 1, found `9`"]);
}

#[test]
fn counts_that_lie() {
    assert_says(
        &changed("$Nodes\n9", "$Nodes\n999999999999"),
        &["line 11", "$Nodes announces 999999999999 nodes", "bytes left", "count is wrong"],
    );
    assert_says(&changed("$Nodes\n9", "$Nodes\n8"), &["line 20", "$Nodes", "`90 5 5 5`"]);
    assert_says(&changed("$Nodes\n9", "$Nodes\n10"), &["line 21", "a node", "`$EndNodes`"]);
    assert_says(&changed("$Nodes\n9", "$Nodes\n-9"), &["line 11", "number of nodes", "`-9`"]);
    assert_says(
        &changed("$Nodes\n9", "$Nodes\n1000000000000000000"),
        &["$Nodes announces 1000000000000000000 nodes"],
    );
    assert_says(
        &changed("$Elements\n3", "$Elements\n1000000000000000000"),
        &["line 23", "$Elements announces 1000000000000000000 elements"],
    );
    let lying = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 8888888888\n";
    assert_says(&message(lying.as_bytes()), &["line 6", "announces 8888888888 nodes in a block"]);
}

#[test]
fn damaged_sections() {
    assert_says(&changed("$EndNodes\n", ""), &["line 21", "the end of the section", "`$Elements`"]);
    assert_says(&changed("20 1 0 0", "20 1 0"), &["line 13", "a coordinate", "end of the line"]);
    assert_says(&changed("20 1 0 0", "20 1 0 0 0"), &["line 13", "expected the end of the line"]);
    assert_says(&changed("20 1 0 0", "twenty 1 0 0"), &["the tag of a node, found `twenty 1 0 0`"]);
    assert_says(&changed("$Elements\n", "$Nodes\n"), &["a second section $Nodes"]);
    assert_says(
        &changed("3 3 \"all\"", "3 3 all"),
        &["line 8", "name in quotation marks", "found `all`"],
    );
    let elements = CUBE.find("$Elements").unwrap();
    let swapped = CUBE.replacen("$Nodes", &format!("{}$Nodes", &CUBE[elements..]), 1);
    assert_says(&message(swapped.as_bytes()), &["line 11: ", "$Elements stands before", "again"]);
    let trailing = format!("{CUBE}what is this\n");
    assert_says(&message(trailing.as_bytes()), &["the next section", "`what is this`"]);
}

/// A file is read piece by piece, of a mebibyte each; a place is one of the whole file.
#[test]
fn places_far_into_a_file() {
    let filler = |bytes: usize| format!("$Extra\n{}\n$EndExtra\n", "1 2\n".repeat(bytes / 4));
    for bytes in [(1 << 20) - 40, (1 << 20) - 20, 1 << 20, (3 << 20) + 7] {
        let filler = filler(bytes);
        let far = |text: String| text.replacen("$Nodes", &format!("{filler}$Nodes"), 1);
        assert_eq!(read_bytes(far(CUBE.into()).as_bytes()).unwrap().mesh.n_elements(), 1);
        let damaged = far(CUBE.replacen("20 1 0 0", "20 1 x 0", 1));
        let line = 13 + filler.lines().count();
        let expected = format!("line {line}: section $Nodes: expected a coordinate, found `x 0`");
        assert_says(&message(damaged.as_bytes()), &[&expected]);
        let cut = &damaged.as_bytes()[..bytes];
        assert_says(&message(cut), &["the file ends inside section $Extra"]);
    }
    let blanks = CUBE.replacen("$Nodes", &format!("{}$Nodes", " \n".repeat(1 << 20)), 1);
    assert_eq!(read_bytes(blanks.as_bytes()).unwrap().mesh.n_elements(), 1);
    let endless = "1".repeat(1 << 20);
    assert_says(
        &changed("20 1 0 0", &format!("20 1 {endless} 0")),
        &["line 13: ", "expected a coordinate, found `1111"],
    );
    assert_says(&changed("3 3 \"all\"", &format!("3 3 \"{endless}")), &["line 8: ", "a line of"]);
}

#[test]
fn nodes_and_elements_that_contradict_themselves() {
    assert_says(&changed("20 1 0 0", "20 1 nan 0"), &["line 13", "node 20", "not a finite number"]);
    assert_says(&changed("20 1 0 0", "20 1 1e999 0"), &["node 20", "inf"]);
    assert_says(&changed("20 1 0 0", "30 1 0 0"), &["node 30 is defined twice", "renumber"]);
    assert_says(&changed("7 5 2 3 1 10 20", "7 5 2 3 1 10 21"), &["element 7 names node 21"]);
    assert_says(&changed("2 3 2 2 1 10 40", "2 3 2 2 1 11 40"), &["element 2 names node 11"]);
    assert_says(&changed("7 5 2 3 1 10 20", "7 5 2 3 1 10 10"), &["element 7 names node 10 twice"]);
    assert_says(
        &changed("10 20 30 40 50 60 70 80", "50 60 70 80 10 20 30 40"),
        &["element 7 is inverted or flat, in volume 1 (`all`)", "-1.250e-1"],
    );
    let second = "7 5 2 3 1 10 20 30 40 50 60 70 80\n7 5 2 3 1 20 10 40 30 60 50 80 70\n";
    let two = CUBE.replace("$Elements\n3", "$Elements\n4");
    let two = two.replace("7 5 2 3 1 10 20 30 40 50 60 70 80\n", second);
    assert_says(&message(two.as_bytes()), &["element 7 is defined twice"]);
}

#[test]
fn other_elements_than_hexahedra() {
    let tetrahedron = changed("7 5 2 3 1 10 20 30 40 50 60 70 80", "7 4 2 3 1 10 20 30 50");
    assert_says(
        &tetrahedron,
        &[
            "1 tetrahedra in volume 1 (`all`), the first is element 7",
            "Mesh.SubdivisionAlgorithm = 2",
        ],
    );
    let none = changed("7 5 2 3 1 10 20 30 40 50 60 70 80", "7 1 2 3 1 10 20");
    assert_says(&none, &["no hexahedra", "gmsh -3"]);
    let exotic = changed("7 5 2 3 1", "7 35 2 3 1");
    assert_says(&exotic, &["line 26", "element 7 is of Gmsh type 35", "Mesh.ElementOrder = 1"]);
    let partitioned = changed("7 5 2 3 1", "7 5 4 3 1 1 2");
    assert_says(&partitioned, &["line 26", "partitioned"]);
}

#[test]
fn surfaces_that_are_no_face() {
    let inside = changed("2 3 2 2 1 10 40 80 50", "2 3 2 2 1 10 30 70 50");
    assert_says(
        &inside,
        &["quadrilateral 2 of physical surface `left` is no face", "1 such", "Coherence"],
    );
    let triangle = changed("2 3 2 2 1 10 40 80 50", "2 2 2 2 1 10 40 80");
    assert_says(&triangle, &["triangle 2 of physical surface `left`"]);
}

#[test]
fn what_may_be_left_out_is_noted() {
    let notes = |text: String| read_bytes(text.as_bytes()).unwrap().notes.join("; ");
    let unknown = format!("{CUBE}$Extra\n1 2 3\n$EndExtra\n$NodeData\n1\n$EndNodeData\n");
    assert_says(&notes(unknown), &["section $Extra was passed over"]);
    let text = notes(CUBE.replace("2 3 2 2 1", "2 3 2 0 1"));
    assert_says(
        &text,
        &["1 surface elements without a physical group", "face set `left` is empty"],
    );
    let orphan = notes(CUBE.replace("1 15 2 1 1 20", "1 15 2 1 1 90"));
    assert_says(&orphan, &["1 nodes of node set `load` were left out"]);
    let error = read_bytes(CUBE.replace("$Extra", "").as_bytes());
    assert!(error.is_ok());
    let open = read_bytes(format!("{CUBE}$Extra\n1 2 3\n").as_bytes()).unwrap_err();
    assert!(
        matches!(*open.problem, Problem::Gmsh(gmsh::Problem::Truncated(ref section)) if section == "Extra")
    );
}

//! Gmsh files in text: what is read, noted and left out, and where an error is.

use std::fs;

use topopt_io::{ImportedMesh, Place, ReadError, gmsh, read_mesh};
use topopt_testing::files::CUBE_MSH as CUBE;

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
    assert_eq!(
        cube.notes,
        [
            "1 node was left out: it is neither a corner of a solid element nor in the middle of an edge"
        ]
    );
}

/// Nodes of any numbers, by corners and edges of the cube, with more of them behind.
#[test]
fn quadratic_hexahedra_by_their_corners() {
    let cube = read_bytes(CUBE.as_bytes()).unwrap().mesh;
    for (kind, n_nodes) in [(17, 20), (12, 27)] {
        let middles: Vec<_> = (8..n_nodes).map(|i| 1_000_000_000_000 - 7 * i).collect();
        let list = middles.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let (corners, n) = ("10 20 30 40 50 60 70 80", n_nodes + 1);
        let nodes: String = middles.iter().map(|tag| format!("{tag} .5 .5 .5\n")).collect();
        let version_2 = CUBE
            .replace("$Nodes\n9", &format!("$Nodes\n{n}"))
            .replace("$EndNodes", &format!("{nodes}$EndNodes"))
            .replace(&format!("7 5 2 3 1 {corners}"), &format!("7 {kind} 2 3 1 {corners} {list}"));
        let (tags, points) = (list.replace(' ', "\n"), ".5 .5 .5\n".repeat(middles.len()));
        let version_4 = format!(
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
             $Nodes\n1 {n_nodes} 10 1000000000000\n3 1 0 {n_nodes}\n{}\n{tags}\n\
             0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n{points}$EndNodes\n\
             $Elements\n1 1 7 7\n3 1 {kind} 1\n7 {corners} {list}\n$EndElements\n",
            corners.replace(' ', "\n")
        );
        for text in [version_2, version_4] {
            let read = read_bytes(text.as_bytes()).unwrap();
            assert_eq!(read.mesh.hexes(), cube.hexes());
            assert_eq!(read.mesh.coordinates(), cube.coordinates());
            assert_eq!(read.node_tags, [10, 20, 30, 40, 50, 60, 70, 80]);
            let note = "elements of second order, read by their corners: 1";
            assert_eq!(read.notes.last().unwrap(), note);
        }
    }
}

#[test]
fn truncated_binary() {
    let bytes = include_bytes!("../../../../meshes/gmsh_box_4_1_binary.msh");
    let nodes = bytes.windows(6).position(|w| w == b"$Nodes").unwrap();
    let error = read_bytes(&bytes[..nodes + 60]).unwrap_err();
    assert!(matches!(error.place, Some(Place::Byte(at)) if at > nodes && at <= nodes + 60));
    assert_says(&error.to_string(), &["byte ", "$Nodes", "truncated"]);
    let error = read_bytes(&bytes[..bytes.len() - 20]).unwrap_err().to_string();
    assert_says(&error, &["byte ", "$Elements", "truncated"]);
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
fn what_may_be_left_out_is_noted() {
    let notes = |text: String| {
        let read = read_bytes(text.as_bytes()).unwrap();
        [read.notes, read.remarks].concat().join("; ")
    };
    let unknown = format!("{CUBE}$Extra\n1 2 3\n$EndExtra\n$NodeData\n1\n$EndNodeData\n");
    assert_says(&notes(unknown), &["section $Extra was skipped"]);
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
    let fault = open.fault.format();
    assert!(matches!(fault, Some(gmsh::Fault::Truncated(section)) if section == "Extra"));
}

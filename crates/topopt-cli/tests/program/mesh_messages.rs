//! Mesh files that are refused, each with its message as the user sees it: the lists are here, the
//! messages in messages/*.snap.

use std::path::Path;

use topopt_testing::files::{BLOCK_CDB as BLOCK, CUBE_MSH as CUBE};

use crate::Folder;
use crate::messages::{assert_snapshot, message};

const BOX: &str = include_str!("../../../../meshes/vtu_box_ascii.vtu");

/// A cube of nodes 1 to 8 and element 7.
const ABAQUS_CUBE: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n\
    6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8\n7, 1, 2, 3, 4, 5, 6, 7, 8\n";

/// Title of an error, and the bytes of a file with it.
pub(crate) struct Bad(String, Vec<u8>);

pub(crate) fn whole(text: &str) -> Bad {
    let title = if text.is_empty() { "nothing".into() } else { quoted(text) };
    Bad(title, text.into())
}

pub(crate) fn bytes(title: &str, bytes: impl Into<Vec<u8>>) -> Bad {
    Bad(title.into(), bytes.into())
}

/// `good` with `old` replaced by `new`, once.
pub(crate) fn changed(good: &str, old: &str, new: &str) -> Bad {
    assert!(good.contains(old), "{old}");
    let new_title = if new.is_empty() { "nothing".into() } else { quoted(new) };
    Bad(format!("{} -> {new_title}", quoted(old)), good.replacen(old, new, 1).into())
}

/// `good` up to the end of `mark`.
pub(crate) fn cut(good: &str, mark: &str) -> Bad {
    let end = good.find(mark).unwrap() + mark.len();
    Bad(format!("cut behind {}", quoted(mark)), good[..end].into())
}

/// `good` with `more` behind it.
pub(crate) fn with(good: &str, more: &str) -> Bad {
    Bad(format!("with {}", quoted(more)), format!("{good}{more}").into())
}

fn quoted(text: &str) -> String {
    let printable: String = text.chars().flat_map(char::escape_default).collect();
    let printable = printable.replace("\\\"", "\"").replace("\\'", "'");
    let words = printable.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("`{words}`")
}

pub(crate) fn project_mesh(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)).unwrap()
}

/// Compares the messages of `topopt info FILE` for all the `files` with those in
/// messages/NAME.snap.
pub(crate) fn assert_messages(name: &str, file: &str, files: &[Bad]) {
    assert_messages_in(&Folder::new(), name, file, files);
}

/// Compares the messages on `files` in a `folder` with other files; see [`assert_messages`].
pub(crate) fn assert_messages_in(folder: &Folder, name: &str, file: &str, files: &[Bad]) {
    let of = |Bad(title, bytes): &Bad| {
        std::fs::write(folder.path(file), bytes).unwrap();
        format!("# {title}\n{}", message(folder, &["info", file]))
    };
    assert_snapshot(name, &files.iter().map(of).collect::<Vec<_>>());
}

#[test]
fn gmsh() {
    let edit = |old, new| changed(CUBE, old, new);
    let hexahedron = "7 5 2 3 1 10 20 30 40 50 60 70 80";
    let second = "7 5 2 3 1 10 20 30 40 50 60 70 80\n7 5 2 3 1 10 20 30 30 50 60 70 70";
    let elements = &CUBE[CUBE.find("$Elements").unwrap()..];
    let start = |size: &str, one: [u8; 4]| {
        [format!("$MeshFormat\n4.1 1 {size}\n").as_bytes(), &one].concat()
    };

    let binary = project_mesh("gmsh_box_4_1_binary.msh");
    let twice = CUBE.replace("$Elements\n3", "$Elements\n4").replace(hexahedron, second);

    assert_messages(
        "gmsh",
        "part.msh",
        &[
            whole(""),
            whole("solid part\n"),
            whole("$NOD\n1\n1 0 0 0\n$ENDNOD\n"),
            edit("2.2 0 8", "4.0 0 8"),
            edit("2.2 0 8", "x 0 8"),
            cut(CUBE, "40 0 1 0\n"),
            cut(CUBE, "90 5 5 5\n"),
            cut(CUBE, "$EndNodes\n"),
            cut(CUBE, "7 5 2 3 1 10 20 "),
            cut(CUBE, "7 5 2 3 1 10 20 30 40 50 60 70"),
            bytes("binary, cut behind the elements' beginning", &binary[..binary.len() - 20]),
            bytes("binary of a big-endian machine", start("8", [0, 0, 0, 1])),
            bytes("binary of a 32-bit machine", start("4", [1, 0, 0, 0])),
            bytes("binary without the number 1", start("8", [9, 0, 0, 0])),
            edit("$Nodes\n9", "$Nodes\n999999999999"),
            edit("$Nodes\n9", "$Nodes\n8"),
            edit("$Nodes\n9", "$Nodes\n10"),
            edit("$Nodes\n9", "$Nodes\n-9"),
            edit("$Elements\n3", "$Elements\n1000000000000000000"),
            whole("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 8888888888\n"),
            edit("$EndNodes\n", ""),
            edit("20 1 0 0", "20 1 0"),
            edit("20 1 0 0", "20 1 0 0 0"),
            edit("20 1 0 0", "twenty 1 0 0"),
            edit("20 1 0 0", "20 1 nan 0"),
            edit("20 1 0 0", "20 1 1e999 0"),
            edit("20 1 0 0", "30 1 0 0"),
            edit("$Elements\n", "$Nodes\n"),
            edit("3 3 \"all\"", "3 3 all"),
            bytes(
                "elements before nodes",
                CUBE.replacen("$Nodes", &format!("{elements}$Nodes"), 1),
            ),
            with(CUBE, "what is this\n"),
            edit("7 5 2 3 1 10 20", "7 5 2 3 1 10 21"),
            edit("2 3 2 2 1 10 40", "2 3 2 2 1 11 40"),
            edit("7 5 2 3 1 10 20", "7 5 2 3 1 10 10"),
            edit("10 20 30 40 50 60 70 80", "10 30 20 40 50 70 60 80"),
            bytes("element 7 twice", twice),
            edit(hexahedron, "7 4 2 3 1 10 20 30 50"),
            edit(hexahedron, "7 1 2 3 1 10 20"),
            edit("7 5 2 3 1", "7 35 2 3 1"),
            edit("7 5 2 3 1", "7 5 4 3 1 1 2"),
            whole("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PartitionedEntities\n2\n"),
            edit("2 3 2 2 1 10 40 80 50", "2 3 2 2 1 10 30 70 50"),
            edit("2 3 2 2 1 10 40 80 50", "2 2 2 2 1 10 40 80"),
        ],
    );
}

#[test]
fn ansys() {
    let edit = |old, new| changed(BLOCK, old, new);
    let brick = "        8        0        7       10       20       30";
    let element = |new| changed(BLOCK, brick, new);
    let second = "       20        0        0 1.0000000000000E+000";
    let node = |new| changed(BLOCK, second, new);
    let component = |new| changed(BLOCK, "        91       -94       500", new);
    let seven = BLOCK.replacen("SOLID,        30,         4", "SOLID", 1);
    let seven = seven.replacen(brick, &brick.replacen('8', "7", 1), 1);

    assert_messages(
        "ansys",
        "part.cdb",
        &[
            whole(""),
            whole("N,1,0,0,0\nN,2,1,0,0\n"),
            cut(BLOCK, "N,R5.3,LOC,       -1,\n"),
            cut(BLOCK, "NBLOCK,6,SOLID"),
            cut(BLOCK, "       93        0        0 1.00"),
            cut(BLOCK, "       30      500\n"),
            cut(BLOCK, "(8i10)\n"),
            whole("ETBLOCK,  1,  1\n(2i9,19a9)\n        1      185\n"),
            edit("(3i9,6e21.13e3)", ""),
            edit("(3i9,6e21.13e3)", "(3i8,6e20.13)"),
            edit("(3i9,6e21.13e3)", "(3i9)"),
            edit("(3i9,6e21.13e3)", "(3i9,3e21.13e3)"),
            edit("(19i9)", "(19i8)"),
            edit("(19i9)", "(9i9)"),
            edit("(8i10)", "(8i7)"),
            edit("SOLID,       500,        13", "SOLID,       500,        12"),
            edit("SOLID,        30,         4", "SOLID,        30, 999999999999"),
            edit("TOP     ,NODE,       4", "TOP     ,NODE,       5"),
            edit("TOP     ,NODE,       4", "TOP     ,NODE,       3"),
            edit("TOP     ,NODE,       4", "TOP     ,NODE"),
            edit("TOP     ,NODE,       4", "TOP     ,NODE,99999999999999"),
            node("       20        0        0                  NaN"),
            node("       20        0        0 1.0000000000000E+999"),
            node("       20        0        0********************"),
            node("        0        0        0 1.0000000000000E+000"),
            node("      -20        0        0 1.0000000000000E+000"),
            node("       30        0        0 1.0000000000000E+000"),
            node(""),
            node("N,R5.3,LOC,       20,"),
            edit("N,R5.3,LOC,       -1,\n", ""),
            element("        8        0        7       10       21       30"),
            element("        8        0       12       10       20       30"),
            element("       28        0        7       10       20       30"),
            element("        9        0        7       10       20       30"),
            element("        7        0        7       10       20       30"),
            element("        8        0        7       10      -20       30"),
            bytes("element 7 of seven nodes", seven),
            edit(
                "       10       20       30       40       50       60       70       80",
                "       10       30       20       40       50       70       60       80",
            ),
            component("       -94        91       500"),
            component("        91       x94       500"),
            edit("ET,        2,SOLID45\n", ""),
            edit("2,SOLID45", "2,BRICK"),
            edit("2,SOLID45", "2,SHELL181"),
            edit("2,SOLID45", "2,200"),
            edit(
                "       10       20       30       40       50       60       70       80",
                "       10       20       30       40       10       10       10       10",
            ),
        ],
    );
}

#[test]
fn abaqus() {
    let edit = |old, new| changed(ABAQUS_CUBE, old, new);
    let more = |more| with(ABAQUS_CUBE, more);

    assert_messages(
        "abaqus",
        "part.inp",
        &[
            whole("** only\n\n** comments\n"),
            whole("solid part\n"),
            whole("*NODE\n1, 0, 0, 0\n"),
            edit("2, 1, 0, 0", "x, 1, 0, 0"),
            edit("2, 1, 0, 0", "2, 1, y, 0"),
            edit("2, 1, 0, 0", "2, 1, nan, 0"),
            edit("2, 1, 0, 0", "3, 1, 0, 0"),
            edit("7, 1, 2, 3", "7, 1, , 3"),
            edit("7, 1, 2, 3", "7, 1, 9, 3"),
            edit("7, 1, 2, 3", "7, 1, 1, 3"),
            edit("1, 2, 3, 4, 5", "4, 3, 2, 1, 5"),
            edit("6, 7, 8", "6, 7"),
            edit("6, 7, 8", "6, 7, 8, 9"),
            more("*ELEMENT, TYPE=MASS\n7, 1\n"),
            more("*ELEMENT, TYPE=C3D10M\n12, 1, 2, 3, 5, 6, 7, 8, 4,\n1, 2\n13, 1, 2, 3, 5\n"),
            more("*ELEMENT\n8, 1\n"),
            more("*NSET\n1\n"),
            more("*NSET, NSET=a\n1, 9\n"),
            more("*NSET, NSET=a\n18446744073709551615\n"),
            more("*NSET, NSET=a\n1,,2\n"),
            more("*NSET, NSET=a, GENERATE\n5, 1\n"),
            more("*NSET, NSET=a, GENERATE\n1, 5, 0\n"),
            more("*NSET, NSET=a\n1\n*NSET, NSET=a\na\n*NSET, NSET=b\nc\n"),
            more("*ELSET, ELSET=a\n8\n"),
            more("*ELSET, ELSET=a\nb\n"),
            more("*BOUNDARY\n1, 1\nclamp, 1, 3\n"),
            more("*BOUNDARY\n1, HELD\n"),
            more("*BOUNDARY\n1, 3, 1\n"),
            more("*CLOAD\n1, 2\n"),
            more("*CLOAD\n99, 2, 1\n"),
            more("*SURFACE, NAME=s\n7, S2\n7\n"),
            more("*SURFACE, NAME=s\n7, S9\n"),
            more("*SURFACE, NAME=s\n8, S1\n"),
            more("*INCLUDE, INPUT=mesh.inp\n"),
            more("*NODE, INPUT=nodes.dat\n"),
            more("*NGEN\n1, 9\n"),
            more("*NODE, SYSTEM=C\n"),
            whole("*PART, NAME=a\n*END PART\n*PART, NAME=b\n"),
            whole("*ASSEMBLY\n*INSTANCE, NAME=a\n*END INSTANCE\n*INSTANCE, NAME=b\n"),
            whole("*ASSEMBLY\n*INSTANCE, NAME=a\n0., 0., 10.\n"),
        ],
    );
}

#[test]
fn vtk() {
    let edit = |old, new| changed(BOX, old, new);
    let base64 = String::from_utf8(project_mesh("vtu_box_base64.vtu")).unwrap();
    let mut zlib = project_mesh("vtu_box_raw_zlib.vtu");
    let end = zlib.windows(15).rposition(|w| w == b"</AppendedData>").unwrap();
    let short = zlib[..end - 20].to_vec();
    let is_head = |w: &[u8]| w[0] == 0x78 && [0x9c, 0x01, 0x5e].contains(&w[1]);
    let head = zlib.windows(2).rposition(is_head).unwrap();
    zlib[head] = 0;

    let piece = "</Piece><Piece NumberOfPoints=\"1\" NumberOfCells=\"1\"></Piece>";
    let huge = format!("NumberOfPoints=\"{}\"", u64::MAX);

    assert_messages(
        "vtk",
        "part.vtu",
        &[
            whole(""),
            whole("# vtk DataFile Version 3.0\n"),
            whole("<?xml version=\"1.0\"?>\n<html></html>"),
            edit("type=\"UnstructuredGrid\"", "type=\"PolyData\""),
            edit(
                "header_type=\"UInt32\"",
                "header_type=\"UInt32\" compressor=\"vtkOtherCompressor\"",
            ),
            edit("</Piece>", piece),
            edit("</CellData>", "</Celldata>"),
            edit("header_type=\"UInt32\"", "header_type=\"UInt16\""),
            edit("LittleEndian", "Middle"),
            edit("NumberOfPoints=\"18\"", ""),
            edit("NumberOfPoints=\"18\"", "NumberOfPoints=\"99999999999999999\""),
            edit("NumberOfPoints=\"18\"", &huge),
            edit("NumberOfCells=\"4\"", "NumberOfCells=\"-4\""),
            edit("NumberOfCells=\"4\"", "NumberOfCells=\"5\""),
            edit("format=\"ascii\"", "format=\"hex\""),
            edit("Name=\"offsets\"", "Name=\"ends\""),
            bytes("cut before </Piece>", &BOX[..BOX.find("</Piece>").unwrap()]),
            edit("1.1 1 0 ", "1.1 x 0 "),
            edit("1.1 1 0 ", "1.1 nan 0 "),
            edit("8 16 24 32", "8 16 24 31"),
            edit("8 16 24 32", "9 16 24 32"),
            edit("8 16 24 32", "8 4 24 32"),
            edit("0 1 2 3 12 13", "0 1 2 3 12 18"),
            edit("0 1 2 3 12 13", "0 1 2 3 12 12"),
            edit("0 1 2 3 12 13", "3 2 1 0 12 13"),
            edit("12 12 12 12", "12 10 10 12"),
            edit("12 12 12 12", "12 12 12 99"),
            edit("12 12 12 12", "9 9 9 9"),
            edit("12 12 12 12", "12 25 12 12"),
            changed(&base64, "BAAAAAAAAQE=", "BQAAAAAAAQE="),
            changed(&base64, "BAAAAAAAAQE=", "B*AAAAAAAQE="),
            bytes("damaged zlib data", zlib),
            bytes("appended data cut", short),
        ],
    );
}

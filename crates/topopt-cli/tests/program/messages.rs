//! Mesh files and cases that are refused, each with its message as the user sees it: the lists are
//! here, the messages in messages/*.snap.

use std::path::Path;

use topopt_testing::files::{BLOCK_CDB as BLOCK, CUBE_MSH as CUBE};

use crate::meshes::{CUBE as HELD_CUBE, FROM_FILE, GENERATED};
use crate::{CASE, Finished, Folder, program};

const BOX: &str = include_str!("../../../../meshes/vtu_box_ascii.vtu");

/// A cube of nodes 1 to 8 and element 7.
const ABAQUS_CUBE: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n\
    6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8\n7, 1, 2, 3, 4, 5, 6, 7, 8\n";

/// What is wrong with a file, and the file.
struct Bad(String, Vec<u8>);

fn whole(text: &str) -> Bad {
    let title = if text.is_empty() { "nothing".into() } else { quoted(text) };
    Bad(title, text.into())
}

fn bytes(title: &str, bytes: impl Into<Vec<u8>>) -> Bad {
    Bad(title.into(), bytes.into())
}

/// `good` with `old` replaced by `new`, once.
fn changed(good: &str, old: &str, new: &str) -> Bad {
    assert!(good.contains(old), "{old}");
    let new_title = if new.is_empty() { "nothing".into() } else { quoted(new) };
    Bad(format!("{} -> {new_title}", quoted(old)), good.replacen(old, new, 1).into())
}

/// `good` up to the end of `mark`.
fn cut(good: &str, mark: &str) -> Bad {
    let end = good.find(mark).unwrap() + mark.len();
    Bad(format!("cut behind {}", quoted(mark)), good[..end].into())
}

/// `good` with `more` behind it.
fn with(good: &str, more: &str) -> Bad {
    Bad(format!("with {}", quoted(more)), format!("{good}{more}").into())
}

fn quoted(text: &str) -> String {
    let printable: String = text.chars().flat_map(char::escape_default).collect();
    let words = printable.replace("\\\"", "\"").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("`{words}`")
}

fn project_mesh(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)).unwrap()
}

/// What `topopt` with `args` says when it refuses its input.
fn message(folder: &Folder, args: &[&str]) -> String {
    let finished = Finished::from(program(&folder.path("")).args(args).output().unwrap());
    assert_eq!((finished.status, finished.out.as_str()), (1, ""), "{args:?} {}", finished.err);
    finished.err
}

/// Compares the messages of `topopt info FILE` for all the `files` with those in messages/NAME.snap.
fn assert_messages(name: &str, file: &str, files: &[Bad]) {
    let folder = Folder::new();
    let of = |Bad(title, bytes): &Bad| {
        std::fs::write(folder.path(file), bytes).unwrap();
        format!("# {title}\n{}", message(&folder, &["info", file]))
    };
    assert_snapshot(name, &files.iter().map(of).collect::<Vec<_>>());
}

fn assert_snapshot(name: &str, messages: &[String]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, messages.join("\n")));
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
            edit("10 20 30 40 50 60 70 80", "50 60 70 80 10 20 30 40"),
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
    let nine = BLOCK.replacen("SOLID,        30,         4", "SOLID", 1);
    let nine = nine.replacen(brick, &brick.replacen('8', "9", 1), 1);
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
            bytes("element 7 of nine nodes", nine),
            edit(
                "       10       20       30       40       50       60       70       80",
                "       50       60       70       80       10       20       30       40",
            ),
            component("       -94        91       500"),
            component("        91       x94       500"),
            edit("ET,        2,SOLID45\n", ""),
            edit("2,SOLID45", "2,BRICK"),
            edit("2,SOLID45", "2,SHELL181"),
            edit("2,SOLID45", "2,200"),
            edit(
                "       10       20       30       40       50       60       70       80",
                "       10       20       30       40       50       50       50       50",
            ),
            bytes("the tetrahedra of mapdl-archive", project_mesh("ansys_tet_beam.cdb")),
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
            more("*SURFACE, NAME=s\n7, SPOS\n"),
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
            bytes("compressed by LZ4", project_mesh("vtu_box_lz4.vtu")),
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

/// A selection of [`CASE`]: the elements at the loaded end.
const END: &str = "[[select]]\nname = \"end\"\nkind = \"elements\"\n\
                   box = { min = [9, 0, 0], max = [10, 5, 5] }\n[design]";

/// `topopt check` about [`CASE`] with the selection `end`, changed by `--set`.
#[test]
fn cases() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("[design]", END));
    let sets: [&[&str]; 39] = [
        &["supports.0.set=fixd"],
        &["supports.0.fix=[\"x\"]"],
        &["supports.0.set=load", "loads.0.set=fixed"],
        &["supports.0.displacement=[0, 0, 1]", "supports.0.fix=[\"x\"]"],
        &["loads.0.force=[0, 0, 0]"],
        &["loads.0.force=[0, nan, 0]"],
        &["loads.0.set=fixed"],
        &["loads.0.pressure=1"],
        &["loads.0={set=\"load\",pressure=1}"],
        &["loads.0={set=\"end\",traction=[1, 0, 0]}"],
        &["loads.0={gravity=[0, 0, -9.81]}"],
        &["springs=[{set=\"load\",stiffness=[1, -1, 1]}]"],
        &["springs=[{set=\"load\",stiffness=[0, 0, 0]}]"],
        &["design.solid=[\"end\"]", "design.void=[\"end\"]"],
        &["design.void=[\"design\"]"],
        &["design.void=[\"load\"]"],
        &["design.density_min=0"],
        &["filter.radius=0"],
        &["output.vti_spacing=1e-9"],
        &["output.directory=case.toml"],
        &["solver.strategy=assembled_gpu"],
        &["select.0.any=[]"],
        &["select.0.any=[{}]"],
        &["select.0.not={nodes=[7, 1000]}"],
        &["select.0.kind=node"],
        &["select.0.normal={direction=[1, 0, 0]}"],
        &["select.0.plane={normal=[0, 0, 0],point=[0, 0, 0]}"],
        &["select.0.normal.direction=[0, 0, 0]"],
        &["select.0.set=fixd"],
        &["select.0.set=end"],
        &["select.0.near={set=\"lod\",distance=1}"],
        &["select.0.near={set=\"load\",distance=0}"],
        &["select.0.box.min=[12, 0, 0]"],
        &["select.0.box.min=[9.9, 0, 0]"],
        &["select.0.box.min=[0, 0, 0]"],
        &["select.0.cylinder={point=[0, 0, 0],axis=[1, 0, 0],radius=1,inner_radius=1}"],
        &["select.0.any=[{not={sphere={centr=[0, 0, 0],radius=1}}}]"],
        &["select.0.any=[{any=[{sphere={center=[0, 0],radius=0}}]}]"],
        &["select.0.name=fixed"],
    ];
    let of = |set: &&[&str]| {
        let args = set.iter().flat_map(|set| ["--set", *set]);
        let args: Vec<_> = ["check", "case.toml"].into_iter().chain(args).collect();
        format!("# {}\n{}", set.join(" "), message(&folder, &args))
    };
    assert_snapshot("cases", &sets.iter().map(of).collect::<Vec<_>>());
}

/// `topopt check` about a case with a mesh from a file, `topopt info` about none.
#[test]
fn cases_with_a_mesh_file() {
    let folder = Folder::new();
    let missing = format!("# topopt info\n{}", message(&folder, &["info", "none.msh"]));
    let tetrahedron = HELD_CUBE.replace("1 5 2 3 1 1 2 3 4 5 6 7 8", "1 4 2 3 1 1 2 3 5");
    let inverted = HELD_CUBE.replace("1 2 3 4 5 6 7 8", "5 6 7 8 1 2 3 4");
    let cases = [
        ("no file", "none.msh", ""),
        ("a file of another format", "part.stl", "solid part\n"),
        ("an empty file", "part.msh", ""),
        ("a tetrahedron", "part.msh", &tetrahedron),
        ("an inverted hexahedron", "part.msh", &inverted),
        ("other sets", "part.msh", &HELD_CUBE.replace("1 \"fixed\"", "1 \"free\"")),
    ]
    .map(|(title, file, text)| {
        let from_file = FROM_FILE.replace("part.msh", file);
        folder.write("case.toml", &CASE.replace(GENERATED, &from_file));
        if file != "none.msh" {
            folder.write(file, text);
        }
        format!("# {title}\n{}", message(&folder, &["check", "case.toml"]))
    });
    assert_snapshot("mesh_files", &[&[missing], cases.as_slice()].concat());
}

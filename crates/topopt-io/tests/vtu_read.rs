//! `.vtu` files as VTK writes them in all its layouts, our own, and files that are refused.

mod block;

mod damage;

use std::fs;
use std::path::{Path, PathBuf};

use damage::{any_bytes, any_of, damaged};
use proptest::prelude::*;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_io::{ImportedMesh, ReadError, gmsh, read_mesh};

/// The box of `gmsh_box_4_1_ascii.msh` with its arrays, written by VTK 9.7.
const LAYOUTS: [&str; 8] = [
    "ascii",
    "base64",
    "base64_zlib",
    "appended_base64",
    "appended_base64_zlib",
    "raw",
    "raw_zlib",
    "single_precision",
];

const ASCII: &str = include_str!("../../../meshes/vtu_box_ascii.vtu");

fn project_mesh(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)
}

fn read_bytes(bytes: &[u8]) -> Result<ImportedMesh, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.vtu");
    fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

/// The message behind the name of the file.
fn message(bytes: &[u8]) -> String {
    let text = read_bytes(bytes).unwrap_err().to_string();
    let (_, message) = text.split_once("part.vtu: ").expect("the file is named");
    message.to_owned()
}

/// The message for the box in ASCII after replacing `old` by `new`, once.
fn changed(old: &str, new: &str) -> String {
    assert!(ASCII.contains(old), "{old}");
    message(ASCII.replacen(old, new, 1).as_bytes())
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn every_layout_of_vtk_gives_the_same_mesh() {
    let expected = gmsh::read(&project_mesh("gmsh_box_4_1_ascii.msh")).unwrap().mesh;
    for layout in LAYOUTS {
        let file = read_mesh(&project_mesh(&format!("vtu_box_{layout}.vtu"))).unwrap();
        assert_eq!(file.mesh.hexes(), expected.hexes(), "{layout}");
        let width =
            |x: [f64; 3]| x.map(|v| if layout == "single_precision" { v as f32 as f64 } else { v });
        let coordinates: Vec<_> = expected.coordinates().iter().map(|&x| width(x)).collect();
        assert_eq!(file.mesh.coordinates(), coordinates, "{layout}");
        assert_eq!(file.mesh.sets().elements["solid"], [2, 3], "{layout}");
        assert_eq!(file.mesh.sets().nodes["load"], [5], "{layout}");
        assert_eq!(file.mesh.sets().summary().len(), 2, "{layout}");
        assert_eq!(file.element_tags, [0, 1, 2, 3], "{layout}");
        assert_eq!(file.node_tags, (0..18).collect::<Vec<u64>>(), "{layout}");
        assert_eq!(file.notes, ["array `part` is no set: it has other values than 0 and 1"]);
    }
}

#[test]
fn our_own_files_give_the_same_mesh() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("design.vtu");
    // More than a block of 256 KiB in every array of the mesh.
    let n = [35, 32, 31];
    let (points, hexes) = (block::coordinates(n), block::hexes(n));
    let density = vec![0.5; hexes.len()];
    let flag: Vec<u8> = (0..hexes.len()).map(|i| u8::from(i % 3 == 0)).collect();
    let scalar = |name, values| Array { name, components: 1, values };
    let data = [scalar("density", Values::F64(&density)), scalar("a<b", Values::U8(&flag))];
    for compression in [Compression::None, Compression::Zlib] {
        vtu::write(&path, &points, &hexes, &[], &data, compression).unwrap();
        let file = read_mesh(&path).unwrap();
        assert!(file.mesh.hexes() == hexes && file.mesh.coordinates() == points);
        assert_eq!(file.mesh.sets().elements["a<b"].len(), hexes.len().div_ceil(3));
        assert!(file.notes.is_empty(), "{:?}", file.notes);
    }
}

#[test]
fn data_of_the_cells_come_with_the_mesh() {
    let array = |name: &str| project_mesh(&format!("vtu_box_{name}.vtu"));
    for layout in LAYOUTS {
        let (file, data) = vtu::read_with_cell_data(&array(layout), &["part", "density"]).unwrap();
        assert_eq!((file.mesh.n_elements(), data.len()), (4, 2));
        assert_eq!(data[0], [1.0, 2.0, 3.0, 4.0]);
        let far = data[1].iter().zip([0.1, 0.2, 0.3, 0.4]).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f64::max) < 1e-7, "{layout} {data:?}");
    }
    let error = vtu::read_with_cell_data(&array("ascii"), &["rho"]).unwrap_err().to_string();
    assert_says(&error, &["no scalar array `rho`", "it has: solid, part, density"]);
}

/// The first cell of the file is no hexahedron.
#[test]
fn data_belong_to_the_hexahedra() {
    let text = fs::read_to_string(project_mesh("vtu_mixed.vtu")).unwrap();
    let array = "<CellData><DataArray type=\"Float64\" Name=\"density\" format=\"ascii\">7 8 9\
                 </DataArray></CellData>";
    let (start, end) = (text.find("<CellData>").unwrap(), text.find("<Points>").unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mixed.vtu");
    fs::write(&path, format!("{}{array}{}", &text[..start], &text[end..])).unwrap();
    let (_, data) = vtu::read_with_cell_data(&path, &["density"]).unwrap();
    assert_eq!(data, [[8.0, 9.0]]);
}

#[test]
fn voxels_quadratic_hexahedra_and_surfaces() {
    let file = read_mesh(&project_mesh("vtu_mixed.vtu")).unwrap();
    assert_eq!((file.mesh.n_nodes(), file.mesh.n_elements()), (12, 2));
    assert_eq!(file.element_tags, [1, 2]);
    assert!(file.mesh.volumes().iter().all(|volume| (volume - 1.0).abs() < 1e-14));
    assert_eq!(file.mesh.hexes()[0], [0, 1, 4, 3, 6, 7, 10, 9]);
    assert_eq!(
        file.notes,
        [
            "1 hexahedra of 20 points were read by their eight corners",
            "1 cells that are no volumes were left out",
            "12 nodes that no hexahedron uses were left out",
        ]
    );
}

#[test]
fn files_that_are_no_mesh() {
    assert_says(&message(b""), &["the file is empty", "Save Data"]);
    assert_says(&message(b"# vtk DataFile Version 3.0\n"), &["not a VTK XML file", ".vtu"]);
    assert_says(&message(b"<?xml version=\"1.0\"?>\n<html></html>"), &["line 2: not a VTK XML"]);
    assert_says(
        &changed("type=\"UnstructuredGrid\"", "type=\"PolyData\""),
        &["line 2: ", "type `PolyData`", "UnstructuredGrid"],
    );
    let lz4 = fs::read(project_mesh("vtu_box_lz4.vtu")).unwrap();
    assert_says(
        &message(&lz4),
        &["line 1: ", "by vtkLZ4DataCompressor", "zlib", "Compressor Type"],
    );
    assert_says(
        &changed("</Piece>", "</Piece><Piece NumberOfPoints=\"1\" NumberOfCells=\"1\"></Piece>"),
        &["2 pieces", "Merge Blocks"],
    );
    let missing = read_mesh("no/such/part.vtu".as_ref()).unwrap_err().to_string();
    assert_says(&missing, &["no/such/part.vtu: cannot read the file"]);
}

#[test]
fn damaged_xml() {
    assert_says(&changed("</CellData>", "</Celldata>"), &["line 22: the XML is damaged"]);
    assert_says(
        &changed("header_type=\"UInt32\"", "header_type=\"UInt16\""),
        &["has `UInt16` for"],
    );
    assert_says(
        &changed("LittleEndian", "Middle"),
        &["line 2: <VTKFile> has `Middle`", "byte_order"],
    );
    assert_says(&changed("NumberOfPoints=\"18\"", ""), &["line 4: <Piece> has nothing for"]);
    assert_says(&changed("NumberOfCells=\"4\"", "NumberOfCells=\"-4\""), &["<Piece> has `-4` for"]);
    assert_says(
        &changed("format=\"ascii\"", "format=\"hex\""),
        &["<DataArray> has `hex`", "format"],
    );
    assert_says(&changed("Name=\"offsets\"", "Name=\"ends\""), &["no array `offsets`"]);
    let cut = &ASCII.as_bytes()[..ASCII.find("</Piece>").unwrap()];
    assert_says(&message(cut), &["the file ends too early", "truncated"]);
}

#[test]
fn numbers_that_do_not_fit() {
    assert_says(
        &changed("NumberOfPoints=\"18\"", "NumberOfPoints=\"99999999999999999\""),
        &["array `Points` has 54 numbers where 299999999999999997 are needed"],
    );
    let huge = format!("NumberOfPoints=\"{}\"", u64::MAX);
    assert_says(&changed("NumberOfPoints=\"18\"", &huge), &["<Piece>", "NumberOfPoints"]);
    assert_says(
        &changed("NumberOfCells=\"4\"", "NumberOfCells=\"5\""),
        &["line 56: ", "array `types` has 4 numbers where 5 are needed"],
    );
    assert_says(&changed("1.1 1 0 ", "1.1 x 0 "), &["line 24: array `Points`: `x` is no number"]);
    assert_says(&changed("1.1 1 0 ", "1.1 nan 0 "), &["node 2", "not a finite number"]);
    assert_says(&changed("8 16 24 32", "8 16 24 31"), &["`connectivity` has 32 numbers where 31"]);
    assert_says(&changed("8 16 24 32", "9 16 24 32"), &["cell 0 of VTK type 12 has 9 points"]);
    assert_says(&changed("8 16 24 32", "8 4 24 32"), &["cell 1 of VTK type 12 has -4 points"]);
    assert_says(&changed("0 1 2 3 12 13", "0 1 2 3 12 18"), &["element 0 names node 18"]);
    assert_says(&changed("0 1 2 3 12 13", "0 1 2 3 12 12"), &["element 0 names node 12 twice"]);
    assert_says(&changed("0 1 2 3 12 13", "3 2 1 0 12 13"), &["element 0 is inverted"]);
}

#[test]
fn other_cells() {
    assert_says(
        &changed("12 12 12 12", "12 10 10 12"),
        &["2 tetrahedra, the first is cell 1", "only hexahedra"],
    );
    assert_says(&changed("12 12 12 12", "12 12 12 99"), &["1 cells of another type", "cell 3"]);
    assert_says(&changed("12 12 12 12", "9 9 9 9"), &["no hexahedra", "VTK types 11, 12"]);
    assert_says(&changed("12 12 12 12", "12 25 12 12"), &["cell 1 of VTK type 25 has 8 points"]);
}

#[test]
fn damaged_binary_data() {
    let base64 = fs::read_to_string(project_mesh("vtu_box_base64.vtu")).unwrap();
    assert_says(
        &message(base64.replacen("BAAAAAAAAQE=", "BQAAAAAAAQE=", 1).as_bytes()),
        &["array `solid` has 5 bytes where 4 are needed"],
    );
    assert_says(
        &message(base64.replacen("BAAAAAAAAQE=", "B*AAAAAAAQE=", 1).as_bytes()),
        &["array `solid`: a character is not of base64"],
    );
    let raw = fs::read(project_mesh("vtu_box_raw_zlib.vtu")).unwrap();
    let mut zlib = raw.clone();
    let at =
        raw.windows(2).rposition(|w| w == [0x78, 0x9c] || w == [0x78, 0x01] || w == [0x78, 0x5e]);
    zlib[at.unwrap()] = 0;
    assert_says(&message(&zlib), &["array `types`: zlib says"]);
    let end = raw.windows(15).rposition(|w| w == b"</AppendedData>").unwrap();
    assert_says(&message(&raw[..end - 20]), &["the file ends too early"]);
}

#[test]
fn every_truncation_is_an_error() {
    for layout in LAYOUTS {
        let bytes = fs::read(project_mesh(&format!("vtu_box_{layout}.vtu"))).unwrap();
        let mark: &[u8] =
            if layout.contains("raw") || layout.contains("app") || layout.contains("single") {
                b"</AppendedData>"
            } else {
                b"</VTKFile>"
            };
        let end = bytes.windows(mark.len()).rposition(|w| w == mark).unwrap();
        for length in (0..end - 4).step_by(7) {
            assert!(read_bytes(&bytes[..length]).is_err(), "{layout} cut to {length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_do_no_harm(
        layout in 0..LAYOUTS.len(),
        changes in any_bytes(),
    ) {
        prop_assert!(is_sound(&damaged(layout_bytes(layout), changes)));
    }

    #[test]
    fn changed_signs_do_no_harm(
        layout in 0..LAYOUTS.len(),
        changes in any_of(b"0123456789-.<>\"A= "),
    ) {
        prop_assert!(is_sound(&damaged(layout_bytes(layout), changes)));
    }
}

fn layout_bytes(layout: usize) -> Vec<u8> {
    fs::read(project_mesh(&format!("vtu_box_{}.vtu", LAYOUTS[layout]))).unwrap()
}

/// Whether `bytes` give a mesh with a number for each element, or an error that names the file.
fn is_sound(bytes: &[u8]) -> bool {
    match read_bytes(bytes) {
        Ok(imported) => imported.mesh.n_elements() == imported.element_tags.len(),
        Err(error) => error.to_string().contains("part.vtu: "),
    }
}

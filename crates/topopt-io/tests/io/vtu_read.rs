//! `.vtu` files as VTK writes them in all its layouts, and our own; damaged files do no harm.

use std::fs;
use std::path::{Path, PathBuf};

use crate::block;
use crate::damage::{any_bytes, any_of, damaged, is_sound, read_bytes};
use proptest::prelude::*;
use topopt_io::read_mesh;
use topopt_io::vtk::{Array, Compression, Section, Values, pvtu, vtu};

const NAME: &str = "part.vtu";

/// The box of `gmsh_box_4_1_ascii.msh` with its arrays, written by VTK 9.7.
const LAYOUTS: [&str; 10] = [
    "ascii",
    "base64",
    "base64_zlib",
    "appended_base64",
    "appended_base64_zlib",
    "lz4",
    "lzma",
    "raw",
    "raw_zlib",
    "single_precision",
];

fn project_mesh(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)
}

#[test]
fn every_layout_of_vtk_gives_the_same_mesh() {
    let expected = read_mesh(&project_mesh("gmsh_box_4_1_ascii.msh")).unwrap().mesh;
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
        assert_eq!(file.notes, ["array `part` is not a set: it has values other than 0 and 1"]);
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
fn pieces_one_after_the_other_are_the_whole() {
    let (points, hexes) = (block::coordinates([5, 4, 3]), block::hexes([5, 4, 3]));
    let density: Vec<f64> = (0..60).map(|e| f64::from(e) / 7.0).collect();
    let moved: Vec<f64> = points.as_flattened().iter().map(|x| 2.0 * x).collect();
    let of_points = [Array { name: "moved", components: 3, values: Values::F64(&moved) }];
    let of_cells = [Array { name: "density", components: 1, values: Values::F64(&density) }];
    let directory = tempfile::tempdir().unwrap();
    let names = ["a&b.vtu", "c.vtu", "d.vtu", "e.vtu", "f.vtu", "g.vtu", "h.vtu"].map(String::from);
    let whole = directory.path().join("whole.pvtu");
    let data: [&[Array]; 2] = [&of_points, &of_cells];
    pvtu::write(&whole, &names, (&points, &hexes), data, Compression::Zlib).unwrap();
    let text = fs::read_to_string(&whole).unwrap();
    assert_eq!(text.matches("<Piece Source=").count(), 7);
    assert!(text.contains("\"a&amp;b.vtu\"") && text.contains("Name=\"moved\""), "{text}");

    let mut cell = 0;
    for name in &names {
        let path = directory.path().join(name);
        let (file, found) = vtu::read_with_cell_data(&path, &["density"]).unwrap();
        let moved = vtu::read_arrays::<3>(&path, Section::Points, &["moved"]).unwrap();
        let of_points = file.mesh.coordinates().iter().zip(moved[0].as_ref().unwrap());
        of_points.for_each(|(x, moved)| assert_eq!(x.map(|x| 2.0 * x), *moved));
        for (e, density_there) in found[0].iter().enumerate() {
            let corners = hexes[cell].map(|node| points[node as usize]);
            assert_eq!(file.mesh.element_coordinates(e), corners);
            assert_eq!(*density_there, density[cell]);
            cell += 1;
        }
    }
    assert_eq!(cell, hexes.len());

    let short = [Array { name: "short", components: 1, values: Values::F64(&density[1..]) }];
    let error = pvtu::write(&whole, &names, (&points, &hexes), [&[], &short], Compression::None);
    assert!(error.unwrap_err().to_string().contains("array `short` has 59 values"));
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
    assert!(error.contains("no scalar cell array `rho` (it has: solid, part, density)"));
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
            "1 cells that are not volumes were left out",
            "elements of second order, read by their corners: 1",
        ]
    );
}

#[test]
fn every_truncation_is_an_error() {
    for layout in LAYOUTS {
        let bytes = fs::read(project_mesh(&format!("vtu_box_{layout}.vtu"))).unwrap();
        let find = |mark: &[u8]| bytes.windows(mark.len()).rposition(|w| w == mark);
        let end = find(b"</AppendedData>").or(find(b"</VTKFile>")).unwrap();
        for length in (0..end - 4).step_by(7) {
            assert!(read_bytes(&bytes[..length], NAME).is_err(), "{layout} cut to {length} bytes");
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
        prop_assert!(is_sound(&damaged(layout_bytes(layout), changes), NAME));
    }

    #[test]
    fn changed_signs_do_no_harm(
        layout in 0..LAYOUTS.len(),
        changes in any_of(b"0123456789-.<>\"A= "),
    ) {
        prop_assert!(is_sound(&damaged(layout_bytes(layout), changes), NAME));
    }
}

fn layout_bytes(layout: usize) -> Vec<u8> {
    fs::read(project_mesh(&format!("vtu_box_{}.vtu", LAYOUTS[layout]))).unwrap()
}

const WEDGE: &str = r#"<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="9" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0  1 0 0  0 1 0  0 0 1  1 0 1  0 1 1  0 0 2  0 1 2  1 0 2
</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">
0 1 2 3 4 5   3 4 4 5 6 8 8 7
</DataArray><DataArray type="Int64" Name="offsets" format="ascii">6 14</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">13 12</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>"#;

#[test]
fn wedges_as_such_and_as_hexahedra() {
    let file = read_bytes(WEDGE.as_bytes(), NAME).unwrap();
    assert_eq!(file.mesh.hexes(), [[0, 1, 2, 2, 3, 4, 5, 5], [4, 5, 3, 3, 8, 7, 6, 6]]);
    assert_eq!(file.notes, ["wedges, read as hexahedra of six nodes: 2"]);
    assert!(file.mesh.volumes().iter().all(|volume| (volume - 0.5).abs() < 1e-15));
    let refused = [
        ("6 14", "5 14", "cell 0"),
        (
            "3 4 4 5 6 8 8 7",
            "3 4 4 5 7 8 8 6",
            "element 1 at (0.333333, 0.333333, 1.5) is inverted or flat",
        ),
        ("3 4 4 5 6 8 8 7", "0 1 4 3 0 0 0 0", "element 1 uses node 0 twice and is not a wedge"),
    ];
    for (old, new, words) in refused {
        let error = read_bytes(WEDGE.replace(old, new).as_bytes(), NAME).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// The order of the nodes of a wedge is another one in older versions of VTK, of either order.
#[test]
fn wedges_of_older_versions() {
    let twelve = "0.5 0 0  0.5 0.5 0  0 0.5 0  0.5 0 1  0.5 0.5 1  0 0.5 1";
    let more = format!("1 0 2\n{twelve}  0 0 0.5  1 0 0.5  0 1 0.5");
    let quadratic = WEDGE.replace("1 0 2", &more).replace("Points=\"9\"", "Points=\"18\"");
    let of_points = |nodes: &str, count: usize, kind: u8| {
        // With a tetrahedron, so that the wedge is cut by its middles.
        let types = format!("\"types\" format=\"ascii\">{kind} 10");
        let text = quadratic.replace("0 1 2 3 4 5", nodes).replace("3 4 4 5 6 8 8 7", "3 4 5 6");
        let text = text.replace("6 14", &format!("{count} {}", count + 4));
        read_bytes(text.replace("\"types\" format=\"ascii\">13 12", &types).as_bytes(), NAME)
    };
    for (count, kind, now, before) in [
        (6, 13, "0 1 2 3 4 5", "0 2 1 3 5 4"),
        (12, 31, "0 1 2 3 4 5 9 10 11 12 13 14", "0 2 1 3 5 4 11 10 9 14 13 12"),
        (15, 26, "0 1 2 3 4 5 9 10 11 12 13 14 15 16 17", "0 2 1 3 5 4 11 10 9 14 13 12 15 17 16"),
    ] {
        let [now, before] = [now, before].map(|nodes| of_points(nodes, count, kind).unwrap());
        assert_eq!((now.mesh, now.uncut), (before.mesh, before.uncut));
        let note = "wedges with their nodes in the order of older versions of VTK: 1";
        assert_eq!(before.notes[1], note);
        assert!(now.notes.iter().all(|other| other != note), "{:?}", now.notes);
    }
}

/// A `.vtu` file of a cube that claims 2^28 cells: their types and offsets are compressed blocks of
/// 1 MiB of zeros each, 2.3 GB in all. Nothing of it is inflated.
#[test]
fn what_cannot_be_is_refused_before_it_is_inflated() {
    let zeros = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, &[0; 1 << 20]).unwrap();
        encoder.finish().unwrap()
    };
    let mut data = Vec::new();
    let mut add = |n_blocks: u64, last: u64, block: &[u8]| {
        let start = data.len();
        let lengths = (0..n_blocks).map(|_| block.len() as u64);
        let header = [n_blocks, 1 << 20, last].into_iter().chain(lengths);
        data.extend(header.flat_map(u64::to_le_bytes));
        (0..n_blocks).for_each(|_| data.extend_from_slice(block));
        start
    };
    let cells = 1_u64 << 28;
    let (types, offsets) = (add(cells >> 20, 0, &zeros), add(cells >> 17, 0, &zeros));
    let connectivity = add(1, 64, &zeros);
    let array = |name: &str, kind: &str, offset: usize| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    };
    let arrays = array("connectivity", "Int64", connectivity)
        + &array("offsets", "Int64", offsets)
        + &array("types", "UInt8", types);
    let mut file = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\" \
         compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\
         <Piece NumberOfPoints=\"8\" NumberOfCells=\"{cells}\"><Points>\
         <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points>\n\
         <Cells>{arrays}</Cells></Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_",
        "0 ".repeat(24)
    )
    .into_bytes();
    file.extend(data);
    file.extend(b"</AppendedData></VTKFile>");
    let error = read_bytes(&file, NAME).unwrap_err().to_string();
    let said = "NumberOfCells is 268435456, which is inconsistent with 8 points and 8 in all cells together";
    assert!(error.contains(said), "{error}");
}

#[test]
fn long_words_of_a_file_are_cut_in_messages() {
    let long = "x".repeat(5_000_000);
    for (old, new) in [
        ("UnstructuredGrid\" version", format!("{long}\" version")),
        ("Float64", long.clone()),
        ("0 0 0  1", format!("0 0 {long}  1")),
        ("LittleEndian", long.clone()),
        ("Name=\"offsets\" format=\"ascii\">6 14", format!("Name=\"{long}\" format=\"ascii\">z")),
        ("</Points>", format!("</{long}>")),
    ] {
        assert!(WEDGE.contains(old));
        match read_bytes(WEDGE.replacen(old, &new, 1).as_bytes(), NAME) {
            Err(error) => assert!(error.to_string().len() < 600, "{old}"),
            Ok(_) => assert_eq!(old, "Float64", "text needs no type"),
        }
    }
}

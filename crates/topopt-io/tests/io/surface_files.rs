//! Files of triangles, decoded by hand: STL, OBJ, 3MF, PLY; and what VTK reads.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::tempdir;
use topopt_io::three_mf::{self, Unit};
use topopt_io::{obj, ply, stl};

/// A tetrahedron, outwards.
const VERTICES: [[f64; 3]; 4] =
    [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 1e-7]];
const TRIANGLES: [[u32; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

#[test]
fn stl_holds_normals_and_corners() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.stl");
    stl::write(&path, &VERTICES, &TRIANGLES).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 84 + 4 * 50);
    assert!(!bytes.starts_with(b"solid"));
    assert_eq!(bytes[80..84], 4u32.to_le_bytes());
    let record = &bytes[84 + 3 * 50..];
    let value = |i: usize| f32::from_le_bytes(record[4 * i..4 * i + 4].try_into().unwrap());
    let values: Vec<f32> = (0..12).map(value).collect();
    assert_eq!(values[..3], [0.0, 0.0, -1.0], "the last triangle lies below");
    assert_eq!(values[3..], [0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 1.5, 0.0, 0.0]);
    assert_eq!(record[48..], [0, 0]);
}

#[test]
fn stl_refuses_vertices_that_would_become_one() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.stl");
    let far = VERTICES.map(|[x, y, z]| [x, y, z + 100.0]);
    let error = stl::write(&path, &far, &TRIANGLES).unwrap_err().to_string();
    assert!(error.contains("one in single precision") && error.contains("write .3mf"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn obj_keeps_all_digits() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.obj");
    obj::write(&path, &VERTICES[..3], &TRIANGLES[3..]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "v 0 0 0\nv 1.5 0 0\nv 0 0.1 0\nf 1 3 2\n");
}

#[test]
fn three_mf_holds_one_object_and_its_unit() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.3mf");
    three_mf::write(&path, &VERTICES, &TRIANGLES, Unit::Inch).unwrap();
    let archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    assert!(archive.index_for_name("3D/3dmodel.model").is_some(), "where other programs look");
    let models = threemf::read(fs::File::open(&path).unwrap()).unwrap();
    let [model] = &models[..] else { panic!("{} models", models.len()) };
    assert!(matches!(model.unit, threemf::model::Unit::Inch));
    assert_eq!((model.build.item.len(), model.resources.object.len()), (1, 1));
    let mesh = model.resources.object[0].mesh.as_ref().unwrap();
    let vertices: Vec<_> = mesh.vertices.vertex.iter().map(|v| [v.x, v.y, v.z]).collect();
    let triangles: Vec<_> =
        mesh.triangles.triangle.iter().map(|t| [t.v1, t.v2, t.v3].map(|v| v as u32)).collect();
    assert_eq!((&vertices[..], &triangles[..]), (&VERTICES[..], &TRIANGLES[..]));
}

#[test]
fn ply_keeps_all_digits() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.ply");
    ply::write(&path, &VERTICES, &TRIANGLES).unwrap();
    let bytes = fs::read(&path).unwrap();
    let header = "ply\nformat binary_little_endian 1.0\ncomment written by topopt\n\
        element vertex 4\nproperty double x\nproperty double y\nproperty double z\n\
        element face 4\nproperty list uchar uint vertex_indices\nend_header\n";
    assert_eq!(String::from_utf8_lossy(&bytes[..header.len()]), header);

    let (vertices, triangles) = bytes[header.len()..].split_at(4 * 24);
    let vertices: Vec<_> =
        vertices.chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    assert_eq!(vertices, VERTICES.as_flattened());
    let expected = TRIANGLES.map(|triangle| {
        let [a, b, c] = triangle.map(|vertex| vertex as u8);
        [3, a, 0, 0, 0, b, 0, 0, 0, c, 0, 0, 0]
    });
    assert_eq!(triangles, expected.as_flattened());
}

#[test]
fn ply_is_read_as_written_and_not_otherwise() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.ply");
    ply::write(&path, &VERTICES, &TRIANGLES).unwrap();
    assert_eq!(ply::read(&path).unwrap(), (VERTICES.to_vec(), TRIANGLES.to_vec()));

    let whole = fs::read(&path).unwrap();
    let refused = |damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        ply::read(&path).is_err()
    };
    assert!(!refused(&|_| ()), "the damage is what is refused");
    let end = whole.len();
    assert!(refused(&|bytes| bytes.truncate(end - 1)), "cut short");
    assert!(refused(&|bytes| bytes.push(0)), "something behind it");
    assert!(refused(&|bytes| bytes[end - 12] = 4), "a vertex that is not there");
    let start = end - 4 * 13 - 4 * 24;
    let nan = f64::NAN.to_le_bytes();
    assert!(refused(&|bytes| bytes[start..start + 8].copy_from_slice(&nan)), "no number");
    assert!(refused(&|bytes| bytes.clear()), "empty");
    let count = whole.windows(8).position(|word| word == b"vertex 4").unwrap() + 7;
    let huge = usize::MAX.to_string().into_bytes();
    let huge = [&whole[..count], &huge, &whole[count + 1..]].concat();
    assert!(refused(&|bytes| bytes.clone_from(&huge)), "a count beyond memory");
}

#[test]
fn ply_holds_a_surface_without_triangles() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.ply");
    ply::write(&path, &[], &[]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("vertex 0\n") && text.contains("face 0\n"), "{text}");
    assert!(text.ends_with("end_header\n"), "{text}");
}

#[test]
fn ply_that_cannot_be_written_leaves_nothing_behind() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.ply");
    fs::create_dir(&path).unwrap();
    let error = ply::write(&path, &VERTICES, &TRIANGLES).unwrap_err().to_string();
    assert!(error.contains("part.ply"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
}

#[test]
fn vtk_reads_ply() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.ply");
    let vertices = VERTICES.map(|[x, y, z]| [x, y, 1e6 * z]);
    ply::write(&path, &vertices, &TRIANGLES).unwrap();
    let Some(surface) = read_by_vtk(&path) else { return };
    assert_closed(&surface, 4, 4);
    assert_eq!(surface["bounds"][1], 1.5);
    let volume = surface["signed_volume"].as_f64().unwrap();
    assert!((volume / (1.5 * 0.1 * 0.1 / 6.0) - 1.0).abs() < 1e-6, "{surface}");
}

/// Returns VTK's measures of a surface; nothing where VTK cannot be had and need not be.
pub fn read_by_vtk(path: &Path) -> Option<Value> {
    let python = std::env::var_os("TOPOPT_PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/surface_readback.py");
    let output = match Command::new(&python).arg(script).arg(path).output() {
        Ok(output) if output.status.code() != Some(77) => output,
        missing => {
            let required = std::env::var_os("TOPOPT_REQUIRE_VTK").is_some();
            assert!(!required, "{} has no VTK: {missing:?}", python.display());
            println!("skipped: {} has no VTK", python.display());
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut surfaces: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    surfaces.pop()
}

/// One closed surface, turned outwards, of so many vertices and triangles.
#[track_caller]
pub fn assert_closed(surface: &Value, vertices: usize, triangles: usize) {
    let counts = ["points", "triangles", "regions"].map(|name| surface[name].as_u64().unwrap());
    assert_eq!(counts, [vertices as u64, triangles as u64, 1], "{surface}");
    for name in ["open_edges", "nonmanifold_edges", "turned_edges", "other_cells"] {
        assert_eq!(surface[name], 0, "{name}: {surface}");
    }
}

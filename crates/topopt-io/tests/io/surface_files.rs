//! Files of triangles, decoded by hand: STL, OBJ, 3MF.

use std::fs;

use tempfile::tempdir;
use topopt_io::three_mf::{self, Unit};
use topopt_io::{obj, stl};

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

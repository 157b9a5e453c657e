//! Binary glTF, decoded by hand and read by VTK.

use std::f64::consts::PI;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;
use topopt_io::glb;
use topopt_mesh::hexahedron::determinant;

use crate::surface_files::{assert_closed, read_by_vtk};

/// A file taken apart.
struct Decoded {
    document: Value,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Decoded {
    /// Checks what the format says of header, chunks, views and accessors.
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&bytes[..4], number(4), number(8)), (&b"glTF"[..], 2, bytes.len()));
        let text = number(12);
        assert_eq!((&bytes[16..20], text % 4), (&b"JSON"[..], 0));
        let document: Value = serde_json::from_slice(&bytes[20..20 + text]).unwrap();
        let chunk = 20 + text;
        assert_eq!(
            (number(chunk), &bytes[chunk + 4..chunk + 8]),
            (bytes.len() - chunk - 8, &b"BIN\0"[..])
        );
        let binary = &bytes[chunk + 8..];
        assert_eq!(document["buffers"], json!([{"byteLength": binary.len()}]));

        let mut end = 0;
        let mut words = |i: usize, kind: u64, target: u64| -> Vec<[u8; 4]> {
            let (accessor, view) = (&document["accessors"][i], &document["bufferViews"][i]);
            assert_eq!(
                (&accessor["bufferView"], &accessor["componentType"]),
                (&json!(i), &json!(kind))
            );
            assert_eq!((&view["target"], &view["byteOffset"]), (&json!(target), &json!(end)));
            let per_entry = if accessor["type"] == "VEC3" { 12 } else { 4 };
            let length = view["byteLength"].as_u64().unwrap() as usize;
            assert_eq!(accessor["count"], json!(length / per_entry));
            end += length;
            binary[end - length..end].as_chunks().0.to_vec()
        };
        let floats = |words: Vec<[u8; 4]>| -> Vec<[f32; 3]> {
            words.as_chunks().0.iter().map(|x| x.map(f32::from_le_bytes)).collect()
        };
        let [positions, normals] = [0, 1].map(|i| floats(words(i, 5126, 34962)));
        let triangles = words(2, 5125, 34963);
        let triangles = triangles.as_chunks().0.iter().map(|t| t.map(u32::from_le_bytes)).collect();
        assert_eq!(end, binary.len());
        Self { document, positions, normals, triangles }
    }

    /// The vertices by the node of the scene, in meters and with y upwards.
    fn placed(&self) -> Vec<[f64; 3]> {
        let node = &self.document["nodes"][0];
        let vector = |name: &str| [0, 1, 2, 3].map(|i| node[name][i].as_f64().unwrap_or_default());
        let [scale, rotation, shift] = ["scale", "rotation", "translation"].map(vector);
        assert!((rotation.iter().map(|q| q * q).sum::<f64>() - 1.0).abs() < 1e-15);
        let placed = |x: &[f32; 3]| {
            let scaled = std::array::from_fn(|i| scale[i] * f64::from(x[i]));
            let turned = turned(rotation, scaled);
            std::array::from_fn(|i| turned[i] + shift[i])
        };
        self.positions.iter().map(placed).collect()
    }

    /// Returns the volume by the divergence theorem, in the unit of the positions cubed.
    fn volume(&self) -> f64 {
        let cone = |triangle: &[u32; 3]| {
            determinant(&triangle.map(|v| self.positions[v as usize].map(f64::from))) / 6.0
        };
        self.triangles.iter().map(cone).sum()
    }
}

/// `x` turned by the unit quaternion `[x, y, z, w]`: x + 2 w (q x x) + 2 q x (q x x).
fn turned(rotation: [f64; 4], x: [f64; 3]) -> [f64; 3] {
    let [a, b, c, w] = rotation;
    let once = topopt_mesh::vector::cross([a, b, c], x);
    let twice = topopt_mesh::vector::cross([a, b, c], once);
    std::array::from_fn(|i| x[i] + 2.0 * (w * once[i] + twice[i]))
}

/// A prism along z, of radius and height 1 and with `n` sides; its lower bottom is at `base`.
fn prism(n: u32, base: [f64; 3]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let vertex = |i: u32| {
        let angle = 2.0 * PI * f64::from(i / 2) / f64::from(n);
        let x = [angle.cos(), angle.sin(), f64::from(i % 2)];
        std::array::from_fn(|i| base[i] + x[i])
    };
    let side = |i: u32| {
        let [a, b] = [2 * i, 2 * ((i + 1) % n)];
        [[a, b, b + 1], [a, b + 1, a + 1]]
    };
    let bottoms = |i: u32| [[0, 2 * i + 2, 2 * i], [1, 2 * i + 1, 2 * i + 3]];
    let triangles = (0..n).flat_map(side).chain((1..n - 1).flat_map(bottoms));
    ((0..2 * n).map(vertex).collect(), triangles.collect())
}

fn written(vertices: &[[f64; 3]], triangles: &[[u32; 3]], meters: f64) -> Decoded {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.glb");
    glb::write(&path, vertices, triangles, meters).unwrap();
    Decoded::read(&path)
}

#[test]
fn accessors_state_the_box_of_the_positions() {
    let (vertices, triangles) = prism(7, [0.1, 0.2, 0.3]);
    let file = written(&vertices, &triangles, 1.0);
    let bound = |of: fn(f32, f32) -> f32, i: usize| {
        file.positions.iter().map(|x| x[i]).reduce(of).map(f64::from).unwrap()
    };
    let accessors = &file.document["accessors"];
    for i in 0..3 {
        assert_eq!(accessors[0]["min"][i].as_f64(), Some(bound(f32::min, i)));
        assert_eq!(accessors[0]["max"][i].as_f64(), Some(bound(f32::max, i)));
    }
    assert_eq!(accessors[1].get("min"), None);
}

#[test]
fn the_scene_is_one_part_of_gray_metal() {
    let (vertices, triangles) = prism(3, [0.0; 3]);
    let document = written(&vertices, &triangles, 1.0).document;
    assert_eq!(document["asset"], json!({"version": "2.0", "generator": "topopt"}));
    assert_eq!((&document["scene"], &document["scenes"]), (&json!(0), &json!([{"nodes": [0]}])));
    let primitive = json!({
        "attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": 0,
    });
    assert_eq!(document["meshes"][0]["primitives"], json!([primitive]));
    assert_eq!(document["nodes"][0]["mesh"], 0);
    assert_eq!(document["materials"][0]["doubleSided"], true);
    let color = &document["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"];
    assert_eq!(color.as_array().map(Vec::len), Some(4));
}

/// z upwards becomes y upwards, and inches become meters.
#[test]
fn the_node_places_the_part_in_meters_with_y_upwards() {
    let (vertices, triangles) = prism(4, [10.0, 20.0, 30.0]);
    let file = written(&vertices, &triangles, 0.0254);
    let mut expected: Vec<_> =
        vertices.iter().map(|&[x, y, z]| [x, z, -y].map(|x| 0.0254 * x)).collect();
    let mut placed = file.placed();
    for points in [&mut expected, &mut placed] {
        points.iter_mut().flatten().for_each(|x| *x = (x.to_owned() * 1e8).round());
        points.sort_by(|a, b| a.partial_cmp(b).unwrap());
        points.dedup();
    }
    assert_eq!(placed, expected);
}

/// Sides of 15 degrees are round, of 45 degrees flat; the bottoms are flat.
#[test]
fn vertices_are_split_at_sharp_edges_alone() {
    for (n, round) in [(24, true), (8, false)] {
        let (vertices, triangles) = prism(n, [0.0; 3]);
        let file = written(&vertices, &triangles, 1.0);
        let n = n as usize;
        assert_eq!(file.positions.len(), if round { 4 * n } else { 6 * n });
        assert_eq!(file.triangles.len(), triangles.len());

        let half_side = PI / n as f64;
        for (x, normal) in file.positions.iter().zip(&file.normals) {
            let normal = normal.map(f64::from);
            let length = topopt_mesh::vector::length(normal);
            assert!((length - 1.0).abs() < 1e-6, "{normal:?}");
            if normal[2].abs() > 0.5 {
                assert_eq!(normal[2], f64::from(2.0 * x[2]), "up at the top, down below");
                continue;
            }
            // Of the three triangles at a vertex two lie on one side, one on the other.
            let off_radius = (normal[0] * f64::from(x[0]) + normal[1] * f64::from(x[1])).acos();
            let expected = if round { half_side / 3.0 } else { half_side };
            assert!((off_radius - expected).abs() < 1e-3, "{off_radius} {expected}");
        }
    }
}

#[test]
fn a_part_far_from_the_origin_keeps_its_shape() {
    let far = [1e9, -2e9, 3e9];
    let [near, far] = [[0.0; 3], far].map(|base| {
        let (vertices, triangles) = prism(24, base);
        written(&vertices, &triangles, 1e-3)
    });
    let volume = 12.0 * (PI / 12.0).sin();
    for file in [&near, &far] {
        assert!((file.volume() / volume - 1.0).abs() < 1e-6, "{} {volume}", file.volume());
    }
    assert_eq!(far.triangles, near.triangles);
    let shift = &far.document["nodes"][0]["translation"];
    let shift = [0, 1, 2].map(|i| shift[i].as_f64().unwrap());
    let expected = [1e6, 3e6 + 0.5e-3, 2e6];
    assert!((0..3).all(|i| (shift[i] - expected[i]).abs() < 1e-8), "{shift:?}");
}

/// A file holds unit vectors alone.
#[test]
fn a_triangle_without_area_has_a_normal() {
    let vertices = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let file = written(&vertices, &[[0, 1, 2], [0, 2, 3]], 1.0);
    assert_eq!((file.positions.len(), file.triangles.len()), (6, 2));
    assert_eq!(file.normals, [[0.0, 0.0, 1.0]; 6]);
}

/// Two triangles of one plane that share no edge.
#[test]
fn parts_that_touch_in_a_vertex_do_not_share_it() {
    let vertices = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    let file = written(&vertices, &[[0, 1, 2], [0, 3, 4]], 1.0);
    assert_eq!(file.positions.len(), 6);
}

#[test]
fn what_the_format_cannot_hold_is_refused_and_leaves_nothing_behind() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.glb");
    let refused = |vertices: &[[f64; 3]], triangles: &[[u32; 3]]| {
        glb::write(&path, vertices, triangles, 1.0).unwrap_err().to_string()
    };
    let (mut vertices, triangles) = prism(3, [0.0; 3]);
    let empty = refused(&vertices, &[]);
    assert!(empty.contains("part.glb") && empty.contains("no triangles"), "{empty}");
    vertices[0][0] = 1e39;
    let large = refused(&vertices, &triangles);
    assert!(large.contains("larger than the single precision"), "{large}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn vtk_reads_a_closed_part_in_meters() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("part.glb");
    let (vertices, triangles) = prism(24, [5.0, 2.0, 0.0]);
    glb::write(&path, &vertices, &triangles, 1e-2).unwrap();
    let Some(surface) = read_by_vtk(&path) else { return };
    assert_closed(&surface, vertices.len(), triangles.len());
    let volume = 12.0e-6 * (PI / 12.0).sin();
    let read = surface["signed_volume"].as_f64().unwrap();
    assert!((read / volume - 1.0).abs() < 1e-5, "{read} {volume}");
    let expected = [0.04, 0.06, 0.0, 0.01, -0.03, -0.01];
    for (i, expected) in expected.into_iter().enumerate() {
        let bound = surface["bounds"][i].as_f64().unwrap();
        assert!((bound - expected).abs() < 1e-8, "{surface}");
    }
}

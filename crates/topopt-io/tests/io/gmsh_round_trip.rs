//! Meshes written and read again, and meshes that Gmsh itself wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::block;
use proptest::prelude::*;
use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_io::{Cutting, ImportedMesh, read_mesh};
use topopt_mesh::surface::boundary_faces;
use topopt_mesh::{Face, HexMesh, Sets, hexahedron};
use topopt_testing::kuhn;

const FORMATS: [(Version, Encoding); 4] = [
    (Version::V2_2, Encoding::Ascii),
    (Version::V2_2, Encoding::Binary),
    (Version::V4_1, Encoding::Ascii),
    (Version::V4_1, Encoding::Binary),
];

/// A block with overlapping element sets, a face set with faces inside, node sets and empty sets.
fn block_with_sets(n: [usize; 3]) -> HexMesh {
    let hexes = block::hexes(n);
    let count = hexes.len() as u32;
    let faces: Vec<_> = (0..count)
        .rev()
        .flat_map(|element| {
            [1, 4].map(|local| Face { element, local: (local + element as u8) % 6 })
        })
        .collect();
    let sets = Sets {
        nodes: BTreeMap::from([
            ("load".into(), vec![3, 1, 6]),
            ("empty".into(), vec![]),
            ("fixed".into(), vec![3, 0]),
        ]),
        faces: BTreeMap::from([("fixed".into(), faces), ("no faces".into(), vec![])]),
        elements: BTreeMap::from([
            ("design".into(), (0..count).filter(|e| e % 3 != 1).collect()),
            ("solid".into(), (0..count).filter(|e| e % 2 == 0).collect()),
            ("größte Spannung".into(), vec![count - 1]),
            ("void".into(), vec![]),
        ]),
    };
    HexMesh::new(block::coordinates(n), hexes, sets).unwrap()
}

fn round_trip(mesh: &HexMesh, (version, encoding): (Version, Encoding)) -> ImportedMesh {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mesh.msh");
    gmsh::write(&path, mesh, GmshFormat { version, encoding }).unwrap();
    read_mesh(&path).unwrap()
}

#[test]
fn every_format_gives_back_the_same_mesh() {
    for n in [[1, 1, 1], [2, 1, 1], [4, 3, 2], [5, 6, 7]] {
        let mesh = block_with_sets(n);
        for format in FORMATS {
            let read = round_trip(&mesh, format);
            assert_eq!(read.mesh, mesh, "{format:?} {n:?}");
            assert_eq!(read.node_tags, (1..=mesh.n_nodes() as u64).collect::<Vec<_>>());
            assert_eq!(read.element_tags, (1..=mesh.n_elements() as u64).collect::<Vec<_>>());
            assert_eq!(read.notes.len(), 3, "three sets are empty: {:?}", read.notes);
        }
    }
}

#[test]
fn wedges_and_their_triangles_come_back() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes/ansys_sector.cdb");
    let mesh = topopt_io::read_mesh(&path).unwrap().mesh;
    let of_wedges = (0..mesh.n_elements() as u32)
        .filter(|&e| hexahedron::wedge(&mesh.hexes()[e as usize]).is_some())
        .flat_map(|element| (0..6).map(move |local| Face { element, local }))
        .filter(|face| hexahedron::distinct(&face.nodes(&mesh)).count() > 2);
    let of_wedges: Vec<Face> = of_wedges.collect();
    assert_eq!(of_wedges.len(), 4 * 5);
    let faces = [("wedges".into(), of_wedges), ("surface".into(), boundary_faces(&mesh))];
    let sets = Sets { faces: BTreeMap::from(faces), ..mesh.sets().clone() };
    let mesh = HexMesh::new(mesh.coordinates().to_vec(), mesh.hexes().to_vec(), sets).unwrap();
    for format in FORMATS {
        let read = round_trip(&mesh, format);
        assert_eq!(read.mesh, mesh, "{format:?}");
        assert_eq!(read.notes, ["wedges, read as hexahedra of six nodes: 4"]);
    }
}

#[test]
fn tetrahedra_with_their_faces_come_back() {
    let curve = |[x, y, z]: [f64; 3]| [x + 0.1 * y * y, y - 0.1 * x * z, z + 0.1 * x * y];
    let mesh = kuhn([2, 3, 1], curve, true);
    let surface = boundary_faces(&mesh);
    let ends = surface.iter().filter(|face| face.nodes(&mesh).contains(&0));
    let sets = Sets {
        nodes: BTreeMap::from([("point".into(), vec![0, 5])]),
        faces: BTreeMap::from([
            ("corner".into(), ends.copied().collect()),
            ("surface".into(), surface),
        ]),
        elements: BTreeMap::from([("a".into(), vec![0, 2, 3]), ("b".into(), vec![2, 35])]),
    };
    let (x, tetrahedra) = (mesh.coordinates().to_vec(), mesh.tetrahedra().to_vec());
    let mesh = HexMesh::of_tetrahedra(x, tetrahedra, sets).unwrap();
    for (version, encoding) in FORMATS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mesh.msh");
        gmsh::write(&path, &mesh, GmshFormat { version, encoding }).unwrap();
        let read = gmsh::read(&path, Cutting::KeepOrCut).unwrap();
        assert_eq!(read.mesh, mesh, "{version:?} {encoding:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_sets_come_back(
        nodes in proptest::collection::hash_set(0u32..45, 0..45),
        faces in proptest::collection::hash_set((0u32..16, 0u8..6), 0..96),
        elements in proptest::collection::vec(proptest::collection::btree_set(0u32..16, 0..16), 4),
        stretch in 1e-12f64..1e12,
    ) {
        let n = [4, 2, 2];
        let mut sets = Sets::default();
        sets.nodes.insert("a b".into(), nodes.into_iter().collect());
        let faces = faces.into_iter().map(|(element, local)| Face { element, local });
        sets.faces.insert("f".into(), faces.collect());
        for (i, set) in elements.into_iter().enumerate() {
            sets.elements.insert(format!("e{i}"), set.into_iter().collect());
        }
        let coordinates = block::coordinates(n);
        let coordinates = coordinates.into_iter().map(|x| x.map(|v| v * stretch)).collect();
        let mesh = HexMesh::new(coordinates, block::hexes(n), sets).unwrap();
        for format in FORMATS {
            prop_assert_eq!(&round_trip(&mesh, format).mesh, &mesh);
        }
    }
}

#[test]
fn a_set_name_that_the_format_cannot_hold_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mesh.msh");
    let mut sets = Sets::default();
    sets.nodes.insert("a \"quoted\" name".into(), vec![0]);
    let mesh = HexMesh::new(block::coordinates([1; 3]), block::hexes([1; 3]), sets).unwrap();
    let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
    let error = gmsh::write(&path, &mesh, format).unwrap_err().to_string();
    assert!(error.contains(r#"the set name "a \"quoted\" name"; rename the set"#), "{error}");
    assert!(!path.exists());
}

fn project_mesh(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)
}

#[test]
fn meshes_of_gmsh_are_read_the_same_in_every_format() {
    let read = |name: &str| read_mesh(&project_mesh(name)).unwrap();
    let imported = read("gmsh_box_2_2_ascii.msh");
    let mesh = &imported.mesh;
    assert_eq!((mesh.n_nodes(), mesh.n_elements()), (18, 4));
    assert!((mesh.volumes().iter().sum::<f64>() - 2.0).abs() < 1e-15);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    let sets = mesh.sets();
    assert_eq!(sets.nodes["load"], [5]);
    assert_eq!(sets.nodes["edge"], [4, 5]);
    assert_eq!(sets.elements["design"], [0, 1, 2, 3]);
    assert_eq!(sets.elements["solid"], [2, 3]);
    assert_eq!(sets.elements["physical_volume_77"], [0, 1]);
    assert_eq!(sets.nodes_of("fixed", mesh).unwrap(), [0, 3, 6, 9, 12, 15]);
    assert_eq!(sets.nodes_of("bottom side", mesh).unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(sets.faces["middle"].len(), 2);
    // Version 2.2 gives an element a tag for each of its groups; the lowest counts.
    assert_eq!(imported.element_tags, [9, 11, 13, 15]);
    assert_eq!(read("gmsh_box_2_2_binary.msh"), imported);
    let version_4 = read("gmsh_box_4_1_ascii.msh");
    assert_eq!(version_4.mesh, imported.mesh);
    assert_eq!(version_4.node_tags, imported.node_tags);
    assert_eq!(read("gmsh_box_4_1_binary.msh"), version_4);
}

#[test]
fn the_reference_meshes_have_their_counts() {
    let sizes = |name: &str| {
        let mesh = read_mesh(&project_mesh(name)).unwrap().mesh;
        let sets = mesh.sets().summary().into_iter().map(|(n, _, len)| (n, len));
        (mesh.n_nodes(), mesh.n_elements(), sets.collect::<Vec<_>>())
    };
    let set = |name: &str, len| (name.to_owned(), len);
    let michell = vec![set("design", 37908), set("fixed", 384), set("load", 4), set("solid", 0)];
    assert_eq!(sizes("michell_reference.msh"), (51540, 37908, michell));
    let rod = vec![set("design", 24432), set("fixed", 176), set("load", 385), set("solid", 8744)];
    assert_eq!(sizes("connecting_rod_reference.msh"), (49103, 33176, rod));
}

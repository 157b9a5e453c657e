//! Meshes of the project as meshio and VTK read them, against what is read here.

use std::path::Path;

use topopt_io::read_mesh;

/// Numbers that meshio 5.3.5, or VTK 9.7 for `.vtu`, gives, by
/// ```python
/// weighted = lambda a: (numpy.arange(1, a.size + 1) * a.ravel()).sum()
/// print(len(points), weighted(points), len(hexes), weighted(hexes + 1))
/// print({name: (len(nodes), (nodes + 1).sum()) for name, nodes in sets})
/// ```
/// with the hexahedra of all cell blocks, each once, and for every set the nodes of its cells.
struct Oracle {
    n_nodes: usize,
    coordinates: f64,
    n_elements: usize,
    connectivity: u64,
    sets: &'static [(&'static str, usize, u64)],
}

fn assert_agrees(file: &str, oracle: &Oracle) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(file);
    let mesh = read_mesh(&path).unwrap().mesh;
    assert_eq!((mesh.n_nodes(), mesh.n_elements()), (oracle.n_nodes, oracle.n_elements), "{file}");
    let coordinates = mesh.coordinates().as_flattened();
    let weighted: f64 = (1..).zip(coordinates).map(|(i, x)| f64::from(i) * x).sum();
    assert!((weighted / oracle.coordinates - 1.0).abs() < 1e-13, "{file}: {weighted}");
    let nodes = mesh.hexes().as_flattened().iter().map(|&node| u64::from(node) + 1);
    let weighted: u64 = (1..).zip(nodes).map(|(i, node): (u64, u64)| i * node).sum();
    assert_eq!(weighted, oracle.connectivity, "{file}");
    for &(name, count, sum) in oracle.sets {
        let nodes = mesh.sets().nodes_of(name, &mesh).unwrap();
        let found: u64 = nodes.iter().map(|&node| u64::from(node) + 1).sum();
        assert_eq!((nodes.len(), found), (count, sum), "{file}: {name}");
    }
}

/// The box of four hexahedra with these sets.
fn box_with(sets: &'static [(&'static str, usize, u64)]) -> Oracle {
    Oracle { n_nodes: 18, coordinates: 1119.0, n_elements: 4, connectivity: 6184, sets }
}

#[test]
fn gmsh_in_all_four_formats_as_meshio() {
    let oracle = box_with(&[
        ("bottom side", 6, 21),
        ("design", 18, 171),
        ("edge", 2, 11),
        ("fixed", 6, 51),
        ("load", 1, 6),
        ("middle", 6, 51),
        ("solid", 12, 120),
    ]);
    for format in ["2_2_ascii", "2_2_binary", "4_1_ascii", "4_1_binary"] {
        assert_agrees(&format!("gmsh_box_{format}.msh"), &oracle);
    }
}

#[test]
fn the_reference_meshes_as_meshio() {
    let michell = Oracle {
        n_nodes: 51540,
        coordinates: 366_310_572_386.082_4,
        n_elements: 37908,
        connectivity: 1_582_113_901_835_208,
        sets: &[
            ("design", 51540, 1_328_211_570),
            ("fixed", 516, 15_052_202),
            ("load", 4, 13594),
            ("solid", 0, 0),
        ],
    };
    assert_agrees("michell_reference.msh", &michell);
    let rod = Oracle {
        n_nodes: 49103,
        coordinates: 1_165_064_873_480.319_6,
        n_elements: 33176,
        connectivity: 1_157_268_506_523_072,
        sets: &[
            ("design", 37737, 897_088_509),
            ("fixed", 225, 663_715),
            ("load", 385, 15_685_375),
            ("solid", 12350, 333_516_120),
        ],
    };
    assert_agrees("connecting_rod_reference.msh", &rod);
}

#[test]
fn abaqus_as_meshio() {
    let of_meshio = box_with(&[("all", 18, 171), ("load", 1, 6), ("solid", 12, 120)]);
    assert_agrees("abaqus_box_meshio.inp", &of_meshio);
    let of_gmsh = box_with(&[
        ("bottom_side", 6, 21),
        ("design", 18, 171),
        ("edge", 2, 11),
        ("fixed", 6, 51),
        ("middle", 6, 51),
        ("solid", 12, 120),
        ("PhysicalVolume77", 12, 102),
        ("Volume2", 12, 120),
    ]);
    assert_agrees("abaqus_box_gmsh.inp", &of_gmsh);
}

#[test]
fn vtu_as_vtk() {
    let oracle = box_with(&[("load", 1, 6), ("solid", 12, 120)]);
    for layout in ["ascii", "base64_zlib", "raw", "raw_zlib", "appended_base64_zlib"] {
        assert_agrees(&format!("vtu_box_{layout}.vtu"), &oracle);
    }
}

//! Ansys archives: the raw content against mapdl-archive, and the meshes made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use topopt_io::ansys::{self, Archive, Element, ElementType, Held, Property, Ranges, Surface};
use topopt_io::deck::{Deck, SetLoad};
use topopt_io::{ImportedMesh, read_mesh};
use topopt_mesh::hexahedron;
use topopt_testing::files::BLOCK_CDB as BLOCK;

fn project_mesh(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)
}

fn archive(name: &str) -> Archive {
    ansys::read_archive(&project_mesh(name)).unwrap()
}

fn read_text<T>(text: &str, read: impl FnOnce(&Path) -> T) -> T {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.CDB");
    fs::write(&path, text).unwrap();
    read(&path)
}

fn import(text: &str) -> ImportedMesh {
    read_text(text, |path| read_mesh(path).unwrap())
}

/// Numbers of a file that mapdl-archive 0.4.2 gives, by
/// ```python
/// import mapdl_archive, numpy as np
/// a = mapdl_archive.Archive(FILE)
/// c = [e[10:] for e in a.elem]
/// print(a.n_node, a.nnum.sum(), a.nodes.sum(0), np.abs(a.nodes).sum())
/// print(a.n_elem, a.enum.sum(), a.ekey)
/// print(sum(n * ((np.arange(len(x)) + 1) * x).sum() for n, x in zip(a.enum.tolist(), c)))
/// ```
struct Oracle {
    n_nodes: usize,
    node_tags: u64,
    coordinates: [f64; 3],
    magnitudes: f64,
    n_elements: usize,
    element_tags: u64,
    types: &'static [(u32, u32)],
    nodes_each: usize,
    /// Sum over the elements of number * sum over its nodes of position (from 1) * node.
    connectivity: u64,
}

fn assert_agrees(name: &str, oracle: &Oracle) {
    let archive = archive(name);
    assert_eq!(archive.node_tags.len(), oracle.n_nodes);
    assert_eq!(archive.node_tags.iter().map(|&tag| u64::from(tag)).sum::<u64>(), oracle.node_tags);
    let sum = |i: usize| archive.coordinates.iter().map(|x| x[i]).sum::<f64>();
    for i in 0..3 {
        assert!((sum(i) - oracle.coordinates[i]).abs() < 1e-12 * oracle.magnitudes, "{name} {i}");
    }
    let magnitudes: f64 = archive.coordinates.as_flattened().iter().map(|v| v.abs()).sum();
    assert!((magnitudes / oracle.magnitudes - 1.0).abs() < 1e-12, "{name}");
    assert_eq!(archive.elements.len(), oracle.n_elements);
    let element_tags: u64 = archive.elements.iter().map(|e| u64::from(e.tag)).sum();
    assert_eq!(element_tags, oracle.element_tags);
    let types: Vec<_> =
        archive.element_types.iter().map(|(&kind, known)| (kind, known.number)).collect();
    assert_eq!(types, oracle.types);
    assert!(archive.elements.iter().all(|e| e.n_nodes == oracle.nodes_each && e.material == 1));
    let weighted = |element: &Element| -> u64 {
        let nodes = archive.nodes_of(element).iter().map(|&node| u64::from(node));
        u64::from(element.tag) * (1..).zip(nodes).map(|(i, node): (u64, u64)| i * node).sum::<u64>()
    };
    assert_eq!(archive.elements.iter().map(weighted).sum::<u64>(), oracle.connectivity);
}

#[test]
fn a_beam_of_quadratic_bricks() {
    let oracle = Oracle {
        n_nodes: 321,
        node_tags: 51681,
        coordinates: [160.5, 160.5, 802.5],
        magnitudes: 1123.5,
        n_elements: 40,
        element_tags: 820,
        types: &[(1, 186)],
        nodes_each: 20,
        connectivity: 34_819_858,
    };
    assert_agrees("ansys_hex_beam.cdb", &oracle);
}

#[test]
fn a_rotor_of_bricks() {
    let oracle = Oracle {
        n_nodes: 786,
        node_tags: 309_291,
        coordinates: [3229.104010688896, -7.519540545786185e-13, 4.230540376348735e-09],
        magnitudes: 3622.491061242642,
        n_elements: 524,
        element_tags: 137_550,
        types: &[(185, 185)],
        nodes_each: 8,
        connectivity: 2_559_021_809,
    };
    assert_agrees("ansys_rotor.cdb", &oracle);
}

#[test]
fn a_sector_with_four_wedges() {
    let oracle = Oracle {
        n_nodes: 655,
        node_tags: 215_001,
        coordinates: [-250.1408023055825, -556.862194624981, -295.02081741454464],
        magnitudes: 1103.083890230581,
        n_elements: 105,
        element_tags: 28980,
        types: &[(1, 200), (2, 185)],
        nodes_each: 8,
        connectivity: 406_711_824,
    };
    assert_agrees("ansys_sector.cdb", &oracle);
    let archive = archive("ansys_sector.cdb");
    let wedge = archive.elements.iter().find(|element| element.tag == 298).unwrap();
    assert_eq!(archive.nodes_of(wedge), [335, 333, 647, 647, 269, 271, 636, 636]);
    // What mapdl-archive gives for the bricks: nodes, grid.volume, and grid.celltypes, of which
    // four are VTK_WEDGE.
    let file = read_mesh(&project_mesh("ansys_sector.cdb")).unwrap();
    let mesh = &file.mesh;
    assert_eq!((mesh.n_nodes(), mesh.n_elements(), mesh.n_degenerate()), (230, 105, 4));
    assert_eq!(file.node_tags.iter().sum::<u64>(), 74_862);
    let connectivity = |(hex, tag): (&[u32; 8], &u64)| -> u64 {
        let nodes = hex.map(|node| file.node_tags[node as usize]);
        tag * (1..).zip(nodes).map(|(i, node): (u64, u64)| i * node).sum::<u64>()
    };
    let sum: u64 = mesh.hexes().iter().zip(&file.element_tags).map(connectivity).sum();
    assert_eq!(sum, 406_711_824);
    let wedges = mesh.hexes().iter().zip(&file.element_tags);
    let wedges = wedges.filter(|(hex, _)| hexahedron::wedge(hex).is_some()).map(|(_, tag)| *tag);
    assert_eq!(wedges.collect::<Vec<_>>(), [246, 247, 298, 317]);
    let volume: f64 = mesh.volumes().iter().sum();
    assert!((volume / 0.06855882966412952 - 1.0).abs() < 1e-13, "{volume}");
    assert_eq!(mesh.sets().nodes["REFINE"].len(), 10);
    let note = "wedges, read as hexahedra of six nodes: 4";
    assert!(file.notes.iter().any(|found| found == note), "{:?}", file.notes);
}

#[test]
fn a_beam_of_tetrahedra() {
    let oracle = Oracle {
        n_nodes: 180,
        node_tags: 107_026,
        coordinates: [1098.54387647325, -1.137708519175125, -12.794766535878912],
        magnitudes: 1182.8223153190484,
        n_elements: 100,
        element_tags: 5050,
        types: &[(1, 200), (2, 186), (3, 187)],
        nodes_each: 4,
        connectivity: 31_750_429,
    };
    assert_agrees("ansys_tet_beam.cdb", &oracle);
}

/// Size and sum of the components, as `len` and `sum` of `Archive.node_components` and
/// `Archive.element_components` of mapdl-archive 0.4.2 give them.
#[test]
fn components_with_ranges() {
    let size = |ranges: &Ranges| {
        let tags = || ranges.iter().flat_map(|&(first, last)| first..=last);
        (tags().count(), tags().sum::<u32>())
    };
    let sizes = |components: &BTreeMap<String, Ranges>| -> Vec<(String, usize, u32)> {
        let all = components.iter().map(|(name, ranges)| (name.clone(), size(ranges)));
        all.map(|(name, (count, sum))| (name, count, sum)).collect()
    };
    let beam = archive("ansys_hex_beam.cdb");
    assert_eq!(
        sizes(&beam.node_components),
        [("NCOMP2".into(), 98, 13788), ("NODE_SELECTION".into(), 164, 27324)]
    );
    assert_eq!(
        sizes(&beam.element_components),
        [("ECOMP1".into(), 22, 645), ("ECOMP2".into(), 22, 257)]
    );
    let sector = archive("ansys_sector.cdb");
    assert_eq!(sizes(&sector.node_components), [("REFINE".into(), 25, 11770)]);
}

#[test]
fn the_beam_becomes_a_mesh_by_its_corners() {
    let beam = read_mesh(&project_mesh("ansys_hex_beam.cdb")).unwrap();
    assert_eq!((beam.mesh.n_nodes(), beam.mesh.n_elements()), (99, 40));
    assert!((beam.mesh.volumes().iter().sum::<f64>() - 5.0).abs() < 1e-12);
    assert_eq!(beam.element_tags, (1..=40).collect::<Vec<_>>());
    let sets = beam.mesh.sets();
    let expected: Vec<u32> = (16..=17).chain(20..=39).collect();
    assert_eq!(sets.elements["ECOMP1"], expected);
    let corners = &sets.nodes["NCOMP2"];
    assert!(corners.is_sorted() && corners.len() < 98);
    assert_eq!(
        beam.notes,
        [
            "the file has the material 1 (elements: 40): DENS 2700, EX 70000000000, NUXY 0.35",
            "node set `NCOMP2`: nodes in the middle of edges (8) were left out, and the ends of these \
             edges were added (6)",
            "node set `NODE_SELECTION`: nodes in the middle of edges (7) were left out, and the ends \
             of these edges were added (5)",
            "elements of second order, read by their corners: 40",
        ]
    );
}

#[test]
fn the_rotor_becomes_a_mesh() {
    let rotor = read_mesh(&project_mesh("ansys_rotor.cdb")).unwrap();
    assert_eq!((rotor.mesh.n_nodes(), rotor.mesh.n_elements()), (786, 524));
    assert!(rotor.notes.is_empty(), "{:?}", rotor.notes);
    assert!(rotor.mesh.sets().summary().is_empty());
}

#[test]
fn everything_of_a_small_archive() {
    let archive = read_text(BLOCK, |path| ansys::read_archive(path).unwrap());
    let kind = |number| ElementType { number, keys: [0; 3] };
    assert_eq!(
        archive.element_types,
        BTreeMap::from([
            (1, ElementType { keys: [7, 0, 0], ..kind(200) }),
            (2, kind(45)),
            (7, kind(21))
        ])
    );
    assert_eq!(archive.coordinates[0], [0.0; 3]);
    assert_eq!(archive.coordinates[5], [1.0, -1e-200, 1.0]);
    assert_eq!(archive.rotated_nodes.keys().collect::<Vec<_>>(), [&94]);
    assert_eq!(archive.node_components["TOP"], [(91, 94), (500, 500), (70, 70)]);
    let once = |value| Property { value, ..Property::default() };
    let by_table = |value| Property { table: vec![[0.0, value]], ..once(value) };
    let steel = BTreeMap::from([("EX", by_table(2e5)), ("NUXY", by_table(0.3))]);
    let polynomial = vec![1.1e5, -20.0];
    let modulus = Property { value: 1.1e5, varies: true, polynomial, ..Property::default() };
    let other = BTreeMap::from([("EX", modulus), ("DENS", once(4.5e-9)), ("ALPX", once(1e-5))]);
    assert_eq!(archive.materials, BTreeMap::from([(1, steel), (2, other)]));
    let held = |value, by_all| Some(Held { value, by_all });
    assert_eq!(archive.displacements.len(), 5);
    assert_eq!(archive.displacements[&30], [held(0.0, true); 3]);
    assert_eq!(archive.displacements[&40], [None, None, held(0.1, false)]);
    assert_eq!(archive.forces[&93], [5.0, -10.0, 0.0]);
    assert_eq!(archive.surfaces[&(Surface::Pressure, 12, 2)], [1.0]);
}

#[test]
fn a_small_archive_becomes_a_mesh_with_sets() {
    let block = import(BLOCK);
    assert_eq!(block.node_tags, [10, 20, 30, 40, 50, 60, 70, 80, 91, 92, 93, 94]);
    assert_eq!(block.element_tags, [7, 12]);
    assert_eq!(block.mesh.hexes()[0], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(block.mesh.hexes()[1], [4, 5, 6, 7, 8, 9, 10, 11]);
    let sets = block.mesh.sets();
    let nodes: Vec<_> = sets.nodes.iter().map(|(name, set)| (name.as_str(), &set[..])).collect();
    assert_eq!(
        nodes,
        [
            ("D_ALL", &[2][..]),
            ("D_UX", &[0, 1]),
            ("D_UY", &[0]),
            ("D_UZ_0.1", &[3]),
            ("F_1", &[8, 9]),
            ("F_2", &[10]),
            ("TOP", &[6, 8, 9, 10, 11]),
        ]
    );
    assert_eq!(sets.elements["PART"], [0, 1]);
    assert!(sets.elements["SKIN"].is_empty());
}

#[test]
fn what_was_left_out_of_a_small_archive_is_noted() {
    assert_eq!(
        import(BLOCK).notes,
        [
            "MASS21 elements were left out: 1",
            "MESH200 elements were left out: 1",
            "the file has the material 1 (elements: 1): EX 200000, NUXY 0.3",
            "the file has the material 2 (elements: 1): ALPX 0.00001, DENS 0.0000000045, \
             EX 110000 (the first of several)",
            "element set `PART`: elements that are not solids were left out: 1",
            "element set `SKIN`: elements that are not solids were left out: 1",
            "nodes with a displacement other than zero have sets of their own: 1, the first is node 40",
            "node set `F_1`: the force in the file is [0.0, -10.0, 0.0] on each node (2)",
            "node set `F_2`: the force in the file is [5.0, -10.0, 0.0] on each node (1)",
            "1 node was left out: it is neither a corner of a solid element nor in the middle of an edge",
            "1 nodes of node set `TOP` were left out: no solid element has them",
            "element set `SKIN` is empty",
        ]
    );
}

#[test]
fn the_same_mesh_in_other_words() {
    let block = import(BLOCK);
    let table = "ETBLOCK,        3,        7\n(2i9,19a9)\n        1      200        0\n        \
                 2      185\n        7       21\n       -1\n";
    let types = BLOCK.find("ET,        1").unwrap()..BLOCK.find("RLBLOCK").unwrap();
    let mut with_table = BLOCK.to_owned();
    with_table.replace_range(types, table);
    assert_eq!(import(&with_table).mesh, block.mesh);
    assert_eq!(import(&BLOCK.replace('\n', "\r\n")), block);
    let lower = BLOCK.replace("NBLOCK,6,SOLID", "nblock,6,solid").replace("CMBLOCK", "cmblock");
    assert_eq!(import(&lower), block);
    let narrow = BLOCK.replace("N,R5.3,LOC,       -1,", "-1");
    assert_eq!(import(&narrow), block);
}

#[test]
fn a_component_keeps_its_name_beside_a_condition() {
    let block = import(&BLOCK.replace("TOP     ", "D_UX    "));
    assert_eq!(block.mesh.sets().nodes["D_UX"], [6, 8, 9, 10, 11]);
    assert_eq!(block.mesh.sets().nodes["D_UX_"], [0, 1]);
}

#[test]
fn a_range_may_be_wider_than_the_mesh() {
    let all =
        import(&BLOCK.replace("        91       -94       500", "         1-999999999        94"));
    assert_eq!(all.mesh.sets().nodes["TOP"], (0..12).collect::<Vec<_>>());
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let lines: Vec<&str> = BLOCK.lines().collect();
    let start = |mark: &str| lines.iter().position(|line| line.starts_with(mark)).unwrap();
    let mut turned = lines.clone();
    turned[start("(3i9") + 1..start("N,R5.3")].reverse();
    turned[start("(19i9") + 1..start("       -1")].reverse();
    assert_eq!(import(&turned.join("\n")), import(BLOCK));
}

/// The count of a block may be the largest number, or none.
#[test]
fn counts_of_several_kinds() {
    for count in ["SOLID,       500,       500", "SOLID,       500", "SOLID"] {
        let block = import(&BLOCK.replacen("SOLID,       500,        13", count, 1));
        assert_eq!(block.mesh.n_nodes(), 12);
    }
}

/// A brick and a tetrahedron on its top, each node and element by a command.
const COMMANDS: &str = "/PREP7\nET,1,185\nET,2,SOLID285\nMP,EX,1,210000\nMP,PRXY,1,0.3\nMP,EX,2,70000\n\
    N,1,0,0,0\nN,2,1\nN,3,1,1\nN,4,0,1\nN,5,0,0,1\nN,6,1,0,1\nN,R5.3,LOC,7,1,1,1\nN,8,0,1,1\n\
    N,9,5,0,0\nN,10,6,0,0\nN,11,5,1,0\nN,12,5,0,1\nN,R5.3,LOC,-1,\n\
    TYPE,1\nMAT,1\nE,1,2,3,4,5,6,7,8\n\
    EN,R5.5,ATTR,4,2,2,1,1,0,7,0,0\nEN,R5.5,NODE,9,10,11,12\nEN,R5.5,ATTR,-1\n\
    D,1,ALL\nD,2,UX,0.5\nSFE,1,6,PRES,1,R5.0\n3.5,3.5,3.5,3.5\nSFE,7,1,PRES,0,2.5\nSFE,7,9,PRES,,1\n\
    ACEL,0,9.81,0\nOMEGA,0,0,3\n";

#[test]
fn commands_for_each_node_and_element_and_their_loads() {
    let imported = import(COMMANDS);
    assert_eq!(imported.element_tags, [1, 7, 7, 7, 7]);
    assert!((imported.mesh.volumes().iter().sum::<f64>() - (1.0 + 1.0 / 6.0)).abs() < 1e-14);
    let sets = imported.mesh.sets();
    assert_eq!(sets.elements["MAT_1"], [0]);
    assert_eq!(sets.elements["MAT_2"], [1, 2, 3, 4]);
    assert_eq!(sets.faces["SFE_1"].len(), 3, "2.5 on a triangle, by value");
    assert_eq!(sets.faces["SFE_2"], [topopt_mesh::Face { element: 0, local: 5 }]);

    let Deck { materials, supports, loads, lost, .. } = imported.deck;
    let moduli: Vec<_> = materials.iter().map(|material| material.youngs_modulus).collect();
    assert_eq!(moduli, [Some(210000.0), Some(70000.0)]);
    let displaced: Vec<_> = supports.iter().map(|s| (s.fixed, s.displacement[0])).collect();
    assert_eq!(displaced, [([true; 3], 0.0), ([true, false, false], 0.5)]);
    let pressure = |i: usize, pressure| SetLoad::Pressure { set: format!("SFE_{i}"), pressure };
    let expected = [
        pressure(1, 2.5),
        pressure(2, 3.5),
        SetLoad::Gravity { acceleration: [0.0, -9.81, 0.0] },
        SetLoad::Centrifugal { center: [0.0; 3], angular_velocity: [0.0, 0.0, 3.0] },
    ];
    assert!(loads.iter().map(|load| &load.load).eq(&expected), "{loads:?}");
    assert_eq!(lost, ["pressures and other SFE on what is no face of a solid: 1"]);
}

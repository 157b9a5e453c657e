//! Abaqus files: the same box from three writers, and every keyword that is read.

use std::fs;
use std::path::{Path, PathBuf};

use topopt_io::deck::{Deck, DeckLoad, DeckMaterial, DeckSupport, SetLoad};
use topopt_io::{ImportedMesh, read_mesh};
use topopt_mesh::{Face, hexahedron};

fn project_mesh(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(name)
}

/// Reads `text` as an input file.
pub(crate) fn read(text: &str) -> ImportedMesh {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.inp");
    fs::write(&path, text).unwrap();
    read_mesh(&path).unwrap()
}

/// Two cubes side by side in x, nodes 1 to 12 and elements 1 and 2, and then `more`.
pub(crate) fn two_cubes(more: &str) -> ImportedMesh {
    read(&format!("{TWO_CUBES}{more}"))
}

const TWO_CUBES: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n5, 1, 1, 0\n\
    6, 2, 1, 0\n7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n12, 2, 1, 1\n\
    *ELEMENT, TYPE=C3D8\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n";

#[test]
fn three_writers_give_the_box_of_gmsh() {
    let box_of_gmsh = read_mesh(&project_mesh("gmsh_box_4_1_ascii.msh")).unwrap();
    for name in ["gmsh", "meshio", "assembly"] {
        let file = read_mesh(&project_mesh(&format!("abaqus_box_{name}.inp"))).unwrap();
        assert_eq!(file.mesh.hexes(), box_of_gmsh.mesh.hexes(), "{name}");
        assert_eq!(file.mesh.coordinates(), box_of_gmsh.mesh.coordinates(), "{name}");
        assert_eq!(file.node_tags, (1..=18).collect::<Vec<u64>>(), "{name}");
        let tags = if name == "meshio" { [1, 2, 3, 4] } else { [9, 10, 11, 12] };
        assert_eq!(file.element_tags, tags, "{name}");
        let solid = ["Solid", "solid"].map(|name| file.mesh.sets().elements.get(name));
        assert_eq!(solid.into_iter().flatten().next().unwrap(), &[2, 3], "{name}");
    }
}

#[test]
fn surfaces_that_gmsh_wrote_become_node_sets() {
    let imported = read_mesh(&project_mesh("abaqus_box_gmsh.inp")).unwrap();
    let box_of_gmsh = read_mesh(&project_mesh("gmsh_box_4_1_ascii.msh")).unwrap().mesh;
    let sets = imported.mesh.sets();
    for (name, in_gmsh) in [("fixed", "fixed"), ("bottom_side", "bottom side"), ("edge", "edge")] {
        let nodes = box_of_gmsh.sets().nodes_of(in_gmsh, &box_of_gmsh).unwrap();
        assert_eq!(sets.nodes[name], nodes);
        assert!(!sets.elements.contains_key(name), "{name}");
    }
    assert_eq!(sets.elements["design"], [0, 1, 2, 3]);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("6 elements of type CPS4, which are not solids, were left out"),
        "{notes}"
    );
    assert!(notes.contains("element set `fixed` names 2 elements that are not solids"), "{notes}");
}

#[test]
fn a_part_with_an_instance() {
    let imported = read_mesh(&project_mesh("abaqus_box_assembly.inp")).unwrap();
    let sets = imported.mesh.sets();
    let names: Vec<_> = sets.summary().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["All", "Box-1.All", "Solid", "Top", "boundary_1_3", "cload_2_-10.0"]);
    assert_eq!(sets.nodes["All"], [4, 5]);
    assert_eq!(sets.nodes["Box-1.All"].len(), 18);
    assert_eq!(sets.nodes["boundary_1_3"], [0, 3, 6, 9, 12, 15]);
    assert_eq!(sets.nodes["cload_2_-10.0"], [4, 5]);
    let top = sets.nodes_of("Top", &imported.mesh).unwrap();
    assert!(top.iter().all(|&n| imported.mesh.coordinates()[n as usize][2] == 1.0));
    assert_eq!(top.len(), 6);
    assert_eq!(
        imported.notes,
        [
            "elements of type C3D8R are computed with incompatible modes, as C3D8I, or with \
             `elements.kind = \"full\"` as C3D8",
            "the file has the material `Steel` (line 64), density 7.85e-9, Young's modulus \
             210000.0, Poisson's ratio 0.3",
        ]
    );
}

#[test]
fn faces_s1_to_s6_are_those_of_abaqus() {
    // The nodes of the faces, from the manual's table, of the cube at [0, 1]^3.
    let sides = [
        ("S1", [1, 2, 5, 4]),
        ("S2", [7, 10, 11, 8]),
        ("S3", [1, 7, 8, 2]),
        ("S4", [2, 8, 11, 5]),
        ("S5", [5, 11, 10, 4]),
        ("S6", [4, 10, 7, 1]),
    ];
    for (side, nodes) in sides {
        let imported = two_cubes(&format!("*SURFACE, NAME=side, TYPE=ELEMENT\n1, {side}\n"));
        let face = imported.mesh.sets().faces["side"][0];
        assert_eq!(face.element, 0);
        let mut found = face.nodes(&imported.mesh).map(|n| imported.node_tags[n as usize]);
        let mut expected: [u64; 4] = nodes;
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{side}");
    }
}

#[test]
fn sets_with_ranges_nested_sets_and_any_case() {
    let imported = two_cubes(
        "*Nset, NSET=Left, Generate\n1, 10, 3\n* NSET , nset = corner\n 12 ,\n\
         *nset, nset=\"Both Sides\"\nleft, CORNER, 3\n*NSET, NSET=LEFT\n2\n\
         *NSET, NSET=beyond, GENERATE\n11, 99\n\
         *ELSET, ELSET=all, GENERATE\n1, 2\n*ELSET,\nELSET=again\nall, 1, 1\n\
         *SURFACE, NAME=face\nall, S6\n2, s4\n*SURFACE, NAME=points, TYPE=NODE\ncorner, 1.\n4\n",
    );
    let sets = imported.mesh.sets();
    assert_eq!(sets.nodes["Left"], [0, 1, 3, 6, 9]);
    assert_eq!(sets.nodes["Both Sides"], [0, 2, 3, 6, 9, 11]);
    assert_eq!(sets.nodes["beyond"], [10, 11]);
    assert_eq!(sets.nodes["points"], [3, 11]);
    assert_eq!(sets.elements["again"], [0, 1]);
    let face = |element, local| Face { element, local };
    assert_eq!(sets.faces["face"], [face(0, 0), face(1, 0), face(1, 1)]);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn supports_and_loads_are_node_sets() {
    let imported = two_cubes(
        "*NSET, NSET=end\n3, 6\n*BOUNDARY\n1, 1, 6\n4, PINNED\n7, 2\n10, XASYMM\nend, 1, 1, -0.5\n\
         8, 4, 6\n*CLOAD, OP=NEW\nend, 3, 1.5D+1\n9, 3, 15\n12, 1, 0.0\n12, 5, 3.\n",
    );
    let sets = &imported.mesh.sets().nodes;
    let names: Vec<_> = sets.keys().map(String::as_str).collect();
    let expected = [
        "boundary_1_3",
        "boundary_2_2",
        "boundary_2_3",
        "cload_3_15.0",
        "displacement_1_1_-0.5",
        "end",
    ];
    assert_eq!(names, expected);
    assert_eq!(sets["boundary_1_3"], [0, 3]);
    assert_eq!(sets["boundary_2_2"], [6]);
    assert_eq!(sets["boundary_2_3"], [9]);
    assert_eq!(sets["cload_3_15.0"], [2, 5, 8]);
    assert_eq!(sets["displacement_1_1_-0.5"], sets["end"]);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    assert_eq!(imported.deck.lost, ["moments on nodes of solid elements, which take none"]);
}

/// A row of cubes with a force of its own at each of 42 nodes.
#[test]
fn many_different_forces_stand_beside_the_mesh() {
    let mut text = "*NODE\n".to_owned();
    for (i, [y, z]) in (0..=20).flat_map(|i| [[0, 0], [1, 0], [1, 1], [0, 1]].map(|yz| (i, yz))) {
        text += &format!("{}, {i}, {y}, {z}\n", 1 + 4 * i + if y == 0 { 3 * z } else { 1 + z });
    }
    text += "*ELEMENT, TYPE=C3D8\n";
    for i in 0..20 {
        let nodes: Vec<String> = (1..=8).map(|n| (4 * i + n).to_string()).collect();
        text += &format!("{}, {}\n", 1 + i, nodes.join(", "));
    }
    let many: String = (1..=42).map(|i| format!("{}, 2, {i}.25\n", 2 * i)).collect();
    let deck = format!("{text}*STEP\n*CLOAD\n{many}2, 1, 3.\n*STEP\n*CLOAD, OP=NEW\n1, 1, 2\n");
    let imported = read(&deck);
    let sets = &imported.mesh.sets().nodes;
    assert_eq!(sets["step_1_cload"].len(), 42);
    assert_eq!(sets["step_2_cload_1_2.0"], [0]);
    let forces = &imported.deck.nodal["step_1_cload"];
    assert_eq!(forces[..2], [[3.0, 1.25, 0.0], [0.0, 2.25, 0.0]]);
    assert_eq!(forces[41], [0.0, 42.25, 0.0]);
    let set = "step_1_cload".into();
    assert_eq!(imported.deck.loads[0].load, SetLoad::ByNode { set });
    assert_eq!(imported.deck.lost, [""; 0]);
}

#[test]
fn quadratic_hexahedra_by_their_corners_over_several_lines() {
    let mut text = "*NODE, NSET=Nall\n".to_owned();
    for (tag, x) in (1..).zip(hexahedron::NODES) {
        text += &format!("{tag}, {:?}, {:?}, {:?}\n", x[0], x[1], x[2]);
    }
    for (tag, [a, b]) in (9..).zip(hexahedron::EDGES) {
        let x: [f64; 3] =
            std::array::from_fn(|i| 0.5 * (hexahedron::NODES[a][i] + hexahedron::NODES[b][i]));
        text += &format!("{tag}, {:?}, {:?}, {:?}\n", x[0], x[1], x[2]);
    }
    text += "*ELEMENT, TYPE=C3D20R, ELSET=Eall\n5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n\
             11, 12, 17, 18, 19, 20,\n13, 14, 15, 16\n";
    let imported = read(&text);
    assert_eq!((imported.mesh.n_nodes(), imported.mesh.n_elements()), (8, 1));
    assert_eq!(imported.mesh.sets().elements["Eall"], [0]);
    assert_eq!(imported.mesh.sets().nodes["Nall"].len(), 8);
    assert_eq!(imported.notes, ["elements of second order, read by their corners: 1",]);
}

#[test]
fn elements_that_are_no_solids_are_left_out() {
    let imported = two_cubes(
        "*ELEMENT, TYPE=S4R, ELSET=skin\n7, 1, 2, 5, 4\n*ELEMENT, TYPE=MASS\n8, 3\n\
         *ELSET, ELSET=mixed\nskin, 2\n*SURFACE, NAME=mixed\nmixed, S1\n*TIE, NAME=x\na, b\n",
    );
    let sets = imported.mesh.sets();
    assert_eq!(sets.nodes["skin"], [0, 1, 3, 4]);
    assert_eq!(sets.elements["mixed"], [1]);
    assert_eq!(sets.faces["mixed"], [Face { element: 1, local: 4 }]);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("1 elements of type MASS, which are not solids, were left out"),
        "{notes}"
    );
    assert!(notes.contains("1 faces of surface `mixed` were left out"), "{notes}");
    assert_eq!(imported.deck.lost, ["*TIE (line 25): 1 line of data"]);
}

/// A deck of two cubes beside a reference node 99, with loads in two steps.
const DECK: &str = "*NODE\n99, 3, .5, .5\n*ELSET, ELSET=left\n1\n*ELSET, ELSET=right\n2\n\
    *MATERIAL, NAME=Steel\n*ELASTIC\n210000., 0.3\n*DENSITY\n7.85E-9\n\
    *MATERIAL, NAME=Alu\n*ELASTIC\n70000., 0.3\n\
    *SOLID SECTION, ELSET=left, MATERIAL=STEEL\n*SOLID SECTION, ELSET=right, MATERIAL=Alu\n\
    *SURFACE, NAME=end\n2, S4\n*COUPLING, CONSTRAINT NAME=c, REF NODE=99, SURFACE=end\n*KINEMATIC\n\
    *BOUNDARY\n1, 1, 3\n\
    *STEP, NAME=push\n*CLOAD\n99, 1, -5.\n99, 6, 2.\n*DSLOAD\nend, P, 3.\nend, TRVEC, 4., 0, 2, 0\n*END STEP\n\
    *STEP\n*DLOAD\nleft, P2, 7.\n, GRAV, 9810., 0, 0, -1.\n\
    right, CENTRIF, 4., 1, 0, 0, 0, 0, 1\nright, HP1, 1\n*END STEP\n";

#[test]
fn a_deck_says_what_holds_and_what_loads_it() {
    let Deck { materials, supports, loads, lost, .. } = two_cubes(DECK).deck;
    let of = |name: &str, set: &str, modulus, density| DeckMaterial {
        name: name.into(),
        set: Some(set.into()),
        youngs_modulus: Some(modulus),
        poissons_ratio: Some(0.3),
        mass_density: density,
        ..DeckMaterial::default()
    };
    assert_eq!(
        materials,
        [of("Steel", "left", 210000.0, Some(7.85e-9)), of("Alu", "right", 70000.0, None)]
    );
    let fixed = [true; 3];
    let set = "boundary_1_3".to_owned();
    assert_eq!(supports, [DeckSupport { set, fixed, ..DeckSupport::default() }]);

    let load = |case: &str, load| DeckLoad { case: case.into(), load };
    let set = || "end".to_owned();
    let (force, moment) = ([-5.0, 0.0, 0.0], [0.0, 0.0, 2.0]);
    // What acts in a step goes on in the next one.
    let surface = |case| {
        let traction = [0.0, 4.0, 0.0];
        [
            load(case, SetLoad::Pressure { set: set(), pressure: 3.0 }),
            load(case, SetLoad::Traction { set: set(), traction }),
        ]
    };
    let remote =
        |case| load(case, SetLoad::Remote { set: set(), at: [3.0, 0.5, 0.5], force, moment });
    let [[p1, t1], [p2, t2]] = ["push", "step_2"].map(surface);
    assert_eq!(
        loads,
        [
            p1,
            t1,
            remote("push"),
            p2,
            t2,
            load("step_2", SetLoad::Gravity { acceleration: [0.0, 0.0, -9810.0] }),
            load(
                "step_2",
                SetLoad::Centrifugal { center: [1.0, 0.0, 0.0], angular_velocity: [0.0, 0.0, 2.0] }
            ),
            load("step_2", SetLoad::Pressure { set: "step_2_dload_7.0".into(), pressure: 7.0 }),
            remote("step_2"),
        ]
    );
    assert_eq!(
        lost,
        [
            "the rotation of some elements only: it acts on the whole part",
            "*COUPLING (line 35) is rigid: the load at its reference node is spread over `end`, which stays \
             as soft as the part",
            "load `HP1` of *DLOAD (line 52)",
        ]
    );
}

#[test]
fn a_coupling_that_is_held_holds_its_surface() {
    let deck = DECK.replace("*BOUNDARY\n1, 1, 3\n", "*BOUNDARY\n99, 1, 6\n");
    let imported = two_cubes(&deck).deck;
    let set = "end".to_owned();
    let support = DeckSupport { set, fixed: [true; 3], ..DeckSupport::default() };
    assert_eq!(imported.supports, [support]);
}

#[test]
fn an_instance_is_put_where_it_is() {
    let part = TWO_CUBES.replace("*NODE", "*PART, NAME=p\n*NODE");
    let assembly = "*END PART\n*ASSEMBLY, NAME=a\n*INSTANCE, NAME=p-1, PART=p\n10., 0., 0.\n\
                    10., 0., 0., 10., 0., 1., 90.\n*END INSTANCE\n*END ASSEMBLY\n";
    let mesh = read(&format!("{part}{assembly}")).mesh;
    // (2, 1, 1) is translated to (12, 1, 1) and turned about x = 10 to (9, 2, 1).
    let last = mesh.coordinates()[11];
    assert!([9.0, 2.0, 1.0].iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-14), "{last:?}");
}

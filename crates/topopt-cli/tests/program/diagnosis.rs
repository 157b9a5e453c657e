//! Warnings of `topopt check` where a run is possible.

use serde_json::Value;
use topopt_mesh::{HexMesh, Sets};
use topopt_testing::mapped_box;

use crate::meshes::{CUBE, FROM_FILE, GENERATED, write};
use crate::{CASE, Folder, topopt};

/// The warnings about case.toml with keys set.
fn warnings(folder: &Folder, set: &[&str]) -> Vec<String> {
    let mut args = vec!["check", "case.toml", "--json"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&out).unwrap();
    let text = |warning: &Value| warning.as_str().unwrap().to_owned();
    found["warnings"].as_array().unwrap().iter().map(text).collect()
}

fn with_mesh(mesh: &str) -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    folder.write("part.msh", mesh);
    folder
}

/// The cube and another that touches it at x = 1 and shares no node with it; `held` lines hold it.
fn two_cubes(held: &str) -> String {
    let second = "8 0 1 1\n109 1 0 0\n110 2 0 0\n111 2 1 0\n112 1 1 0\n113 1 0 1\n114 2 0 1\n\
                  115 2 1 1\n116 1 1 1\n$EndNodes";
    let more = format!("17 5 2 3 1 109 110 111 112 113 114 115 116\n{held}$EndElements");
    CUBE.replace("8 0 1 1\n$EndNodes", second)
        .replace("$Nodes\n8", "$Nodes\n16")
        .replace("$Elements\n6", &format!("$Elements\n{}", 7 + held.lines().count()))
        .replace("$EndElements", &more)
}

#[test]
fn parts_that_touch_and_are_not_joined() {
    let held = "8 15 2 1 1 110\n9 15 2 1 1 111\n10 15 2 1 1 114\n";
    let found = warnings(&with_mesh(&two_cubes(held)), &["design.keep_loaded=free"]);
    assert_eq!(
        found,
        [
            "the mesh has 2 parts that share no node, of 1, 1 elements: each must be held \
             separately; merge nodes in the mesher if they belong together",
            "4 pairs of nodes are in the same place, the first 2 and 109: the parts that meet \
             there are not joined; merge the nodes in the mesher (Coherence in Gmsh) if they should be",
        ]
    );
}

/// The cube and a smaller one on its side x = 1, whose corners lie within that side.
#[test]
fn parts_that_do_not_fit_together() {
    let mut mesh = two_cubes("8 15 2 1 1 110\n9 15 2 1 1 111\n10 15 2 1 1 114\n");
    for (old, new) in [
        ("109 1 0 0", "109 1 .25 .25"),
        ("112 1 1 0", "112 1 .75 .25"),
        ("113 1 0 1", "113 1 .25 .75"),
        ("116 1 1 1", "116 1 .75 .75"),
    ] {
        mesh = mesh.replace(old, new);
    }
    let found = warnings(&with_mesh(&mesh), &[]);
    let expected = "4 nodes lie on faces without being corners of them; the first is 109 at (1, \
                    0.25, 0.25) on a face of element 1: the mesh is not joined there; make it \
                    conforming (Coherence or BooleanFragments in Gmsh)";
    assert!(found.iter().any(|warning| warning == expected), "{found:#?}");
}

#[test]
fn a_part_that_floats_because_it_is_not_joined() {
    let folder = with_mesh(&two_cubes(""));
    let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    let text = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status == 1 && text.contains("(part 2 of 2 of the mesh)"), "{err}");
    assert!(text.contains("4 pairs of nodes are in the same place, the first 2 and 109"), "{err}");
}

#[test]
fn poor_elements_by_their_numbers() {
    let sheared = "5 8 0 1\n6 9 0 1\n7 9 1 1\n8 8 1 1";
    let mesh = CUBE.replace("5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1", sheared);
    let mesh = mesh.replace("1 5 2 3 1 1 2", "77 5 2 3 1 1 2");
    let found = warnings(&with_mesh(&mesh), &["elements.kind=incompatible_modes"]);
    assert_eq!(
        found,
        [
            "poor elements: the scaled Jacobian goes down to 0.124; the worst of 1 below 0.2 are 77 at \
          (4.5, 0.5, 0.5): displacements near them are inaccurate; improve the mesh there"
        ]
    );
}

#[test]
fn forces_that_supports_take() {
    let found = warnings(&Folder::new(), &["loads.0.set=design"]);
    assert_eq!(
        found,
        [
            "load case `default`: 36 of its 396 nodes are loaded in a direction in which they are held; \
          (0, -36, 0) in sum goes directly into the supports, and is no part of the sums of `topopt \
          check`; keep sets of loads and supports apart, unless this is intended"
        ]
    );
}

#[test]
fn forces_on_void() {
    let end = "select=[{ name = \"end\", kind = \"elements\", box = { min = [9, 0, 0], max = [10, \
               5, 5] } }]";
    let found = warnings(&Folder::new(), &[end, "design.void=[\"end\"]"]);
    let [warning] = found.as_slice() else { panic!("{found:?}") };
    let expected =
        "load case `default` acts on void elements: 6 of its nodes lie in it, the first is ";
    assert!(warning.starts_with(expected), "{warning}");
    let near = end.replace("min = [9", "min = [8").replace("max = [10", "max = [9");
    assert!(
        warnings(
            &Folder::new(),
            &[&near, "design.void=[\"end\"]", "elements.kind=incompatible_modes"]
        )
        .is_empty()
    );
}

#[test]
fn units_that_do_not_fit() {
    let folder = Folder::new();
    let warned = |set: &[&str]| {
        let set = set.iter().flat_map(|set| ["--set", set]);
        let args: Vec<_> = ["check", "case.toml"].into_iter().chain(set).collect();
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""));
        out
    };

    let (mm, m) = (["units.length=mm", "units.force=N"], ["units.length=m", "units.force=N"]);
    let with = |units: [&'static str; 2], modulus| [units[0], units[1], modulus];

    let pascals = warned(&with(mm, "material.youngs_modulus=210e9"));
    let text = "Young's modulus is 2.1e11 N/mm^2 (MPa), by [units]: 2.1e17 Pa, more than that of diamond; \
                if 2.1e11 is in Pa, give 2.1e5";
    assert!(pascals.contains(text), "{pascals}");

    let megapascals = warned(&with(m, "material.youngs_modulus=70e3"));
    let text = "7e4 Pa, less than that of rubber; if 7e4 is in MPa, give 7e10";
    assert!(megapascals.contains(text), "{megapascals}");
    // Six nodes with 1 N each, on a part of 250 mm^3.
    let soft = warned(&with(mm, "material.youngs_modulus=0.5"));
    let text = "forces of 6 on a part of 6.29961 across with Young's modulus 5e-1 give strains of \
                about 3.0e-1, far beyond small displacements";
    assert!(soft.contains(text), "{soft}");

    let right = warned(&with(mm, "material.youngs_modulus=210e3"));
    assert!(!right.contains("Young"), "{right}");
    assert!(right.contains("mm and N; stress in N/mm^2 (MPa), compliance in N mm"), "{right}");
    assert!(!warned(&[]).contains("Young"));
}

/// A sheet of 10 x 2 x 2 elements, 20 x 4 x 1, in a folder with a case; inner corners lean against
/// each other by `lean`.
fn sheet(lean: f64) -> Folder {
    let mesh = mapped_box([10, 2, 2], |[x, y, z]| {
        let i = (10.0 * x).round();
        let side = if i % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let leaning = if (1.0..10.0).contains(&i) { side * lean * (z - 0.5) } else { 0.0 };
        [2.0 * i + leaning, 4.0 * y, z]
    });
    let at = |x: f64| {
        let nodes = (0..mesh.n_nodes() as u32).zip(mesh.coordinates());
        nodes.filter(|(_, at)| at[0] == x).map(|(node, _)| node).collect::<Vec<_>>()
    };
    let sets = Sets {
        nodes: [("fixed".into(), at(0.0)), ("load".into(), at(20.0))].into(),
        elements: [("sheet".into(), (0..40).collect())].into(),
        ..Sets::default()
    };
    let folder = with_mesh("");
    let (coordinates, hexes) = (mesh.coordinates().to_vec(), mesh.hexes().to_vec());
    write(&folder.path("part.msh"), &HexMesh::new(coordinates, hexes, sets).unwrap());
    folder
}

#[test]
fn thin_members_that_bend_too_little() {
    let thin = |lean: f64, kind: &str, force: &str| {
        let set = [
            &format!("elements.kind={kind}"),
            &format!("loads.0.force={force}"),
            "filter.radius_in_elements=2",
        ];
        let found = warnings(&sheet(lean), &set);
        found.into_iter().filter(|text| text.starts_with("thin")).collect::<Vec<_>>()
    };
    let (across, along) = ("[0, 0, 1]", "[1, 0, 0]");
    assert_eq!(
        thin(0.0, "full", across),
        ["thin members: 32 elements lie where the part is thin, for instance at (3, 3, 0.5) in \
             the set `sheet`, with 2 elements through: what bends there moves about 63 % too \
             little; set `elements.kind = \"incompatible_modes\"`, or use 4 elements through or \
             more, no longer than a quarter of the thickness"]
    );
    assert_eq!(
        thin(0.5, "incompatible_modes", across),
        ["thin members: 32 elements lie where the part is thin, for instance at (3, 1, 0.5) in \
             the set `sheet`, with 2 elements through: what bends there moves up to 67 % too \
             little; no brick of eight nodes bends rightly there: elements are wedges, cut \
             tetrahedra, or tapered; edges through the thickness should be parallel, as those of \
             an extruded mesh, or elements as short as thick"]
    );
    assert!(thin(0.0, "incompatible_modes", across).is_empty());
    assert!(thin(0.0, "full", along).is_empty(), "pulled, not bent");
}

//! Parts of tetrahedra, computed as elements of ten nodes.

use std::fmt::Write;

use serde_json::Value;
use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_mesh::HexMesh;
use topopt_testing::kuhn;

use crate::solve::numbers;
use crate::{Folder, topopt};

/// A strip of 120 x 20 x 2 of steel, held at its end and bent by a force of 10 at the other one.
const STRIP: &str = r#"title = "Strip"
[mesh]
file = "strip.inp"
[[select]]
name = "wall"
kind = "nodes"
plane = { point = [0, 0, 0], normal = [1, 0, 0] }
[[select]]
name = "end"
kind = "faces"
plane = { point = [120, 0, 0], normal = [1, 0, 0] }
[[supports]]
set = "wall"
[[loads]]
set = "end"
total_force = [0, 0, 10]
[material]
youngs_modulus = 210000
poissons_ratio = 0.3
[solver]
device = "cpu"
[output]
compression = "none"
"#;

const DESIGN: &str = "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\n[filter]\nradius = 8\n[optimizer]\n\
                      max_iterations = 5\n";

fn mesh() -> HexMesh {
    kuhn([12, 2, 1], |[x, y, z]| [120.0 * x, 20.0 * y, 2.0 * z], false)
}

/// Numbers from 1 of the nodes of the elements, the first `n` of each: 4 or 10.
fn elements(mesh: &HexMesh, n: usize) -> impl Iterator<Item = Vec<u32>> {
    mesh.tetrahedra().iter().map(move |nodes| nodes[..n].iter().map(|node| node + 1).collect())
}

/// The nodes that the elements use: the vertices come first.
fn nodes(mesh: &HexMesh, n: usize) -> &[[f64; 3]] {
    let used = elements(mesh, n).flatten().max().unwrap();
    &mesh.coordinates()[..used as usize]
}

fn joined(values: &[u32]) -> String {
    values.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn abaqus(mesh: &HexMesh, n: usize) -> String {
    let mut text = String::from("*NODE\n");
    for (node, [x, y, z]) in (1..).zip(nodes(mesh, n)) {
        writeln!(text, "{node}, {x:e}, {y:e}, {z:e}").unwrap();
    }
    writeln!(text, "*ELEMENT, TYPE=C3D{n}").unwrap();
    for (element, nodes) in (1..).zip(elements(mesh, n)) {
        writeln!(text, "{element}, {}", joined(&nodes)).unwrap();
    }
    text
}

fn nastran(mesh: &HexMesh, n: usize) -> String {
    let mut text = String::from("BEGIN BULK\n");
    for (node, [x, y, z]) in (1..).zip(nodes(mesh, n)) {
        writeln!(text, "GRID,{node},,{x:?},{y:?},{z:?}").unwrap();
    }
    for (element, nodes) in (1..).zip(elements(mesh, n)) {
        writeln!(text, "CTETRA,{element},1,{}", joined(&nodes[..n.min(6)])).unwrap();
        if n == 10 {
            writeln!(text, ",{}", joined(&nodes[6..])).unwrap();
        }
    }
    text + "PSOLID,1,1\nENDDATA\n"
}

fn ansys(mesh: &HexMesh, n: usize) -> String {
    let (nodes, n_elements) = (nodes(mesh, n), mesh.n_elements());
    let kind = if n == 10 { 187 } else { 285 };
    let count = nodes.len();
    let mut text = format!("/PREP7\nET,1,{kind}\nNBLOCK,6,SOLID,{count},{count}\n(3i9,6e20.12)\n");
    for (node, [x, y, z]) in (1..).zip(nodes) {
        writeln!(text, "{node:9}{:9}{:9}{x:20.12}{y:20.12}{z:20.12}", 0, 0).unwrap();
    }
    writeln!(text, "N,R5.3,LOC,       -1,\nEBLOCK,19,SOLID,{n_elements},{n_elements}\n(19i9)")
        .unwrap();
    for (element, nodes) in (1..).zip(elements(mesh, n)) {
        let fields = [&[1, 1, 1, 1, 0, 0, 0, 0, n as u32, 0, element], &nodes[..]].concat();
        for line in fields.chunks(19) {
            let line: String = line.iter().map(|field| format!("{field:9}")).collect();
            writeln!(text, "{line}").unwrap();
        }
    }
    text + "       -1\nFINISH\n"
}

fn strip(n: usize, more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("strip.inp", &abaqus(&mesh(), n));
    folder.write("case.toml", &format!("{STRIP}{more}"));
    folder
}

/// The deflection is that of tetrahedra of ten nodes, whether the file has those in the middles of
/// edges or not: hexahedra that they are cut into have 0.709.
#[test]
fn a_thin_strip_bends_as_it_should_from_every_format() {
    let folder = strip(4, "");
    let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
    gmsh::write(&folder.path("strip10.msh"), &mesh(), format).unwrap();
    for n in [4, 10] {
        folder.write(&format!("strip{n}.inp"), &abaqus(&mesh(), n));
        folder.write(&format!("strip{n}.bdf"), &nastran(&mesh(), n));
        folder.write(&format!("strip{n}.cdb"), &ansys(&mesh(), n));
    }
    let names = ["4.inp", "10.inp", "4.bdf", "10.bdf", "4.cdb", "10.cdb", "10.msh"];
    for name in names {
        let file = format!("mesh.file=strip{name}");
        let found = numbers(&folder, &["--set", &file, "--overwrite"]);
        let case = &found["load_cases"][0];
        let compliance = case["compliance"].as_f64().unwrap();
        assert!((compliance / 19.801_526_236_5 - 1.0).abs() < 1e-7, "{name}: {compliance}");
        assert_eq!((&found["nodes"], &found["elements"]), (&Value::from(375), &Value::from(144)));
        assert!(case["sum"].as_array().unwrap().iter().all(|f| f.as_f64().unwrap().abs() < 1e-6));

        let share = case["mesh_error"]["energy_share"].as_f64().unwrap();
        let missing = 1.0 - compliance / 20.25;
        assert!(share > 0.3 * missing && share < missing, "{name}: {share} for {missing}");
        let peak = case["nodal_von_mises"]["maximum"].as_f64().unwrap();
        assert!((peak / 87.7 - 1.0).abs() < 0.12, "{name}: {peak}");
    }
    for (array, length) in [("nodal_von_mises", 375), ("energy_error", 144)] {
        assert_eq!(folder.array("solved/analysis.vtu", array).len(), length);
    }
    assert_eq!(folder.array("solved/analysis.vtu", "nodal_principal_stress").len(), 3 * 375);
}

/// A design on tetrahedra: as many densities, a history that falls, a surface, and a proof.
#[test]
fn a_design_of_tetrahedra_is_verified_and_exported() {
    let folder = strip(4, DESIGN);
    let set = ["optimizer.max_iterations=12", "filter.radius=12"];
    folder.run_well(&set);
    let compliance = folder.history("compliance");
    assert!(compliance[compliance.len() - 1] < 0.9 * compliance[0], "{compliance:?}");
    assert_eq!(folder.array("out/design.vtu", "density").len(), 144);

    // So grey a design has more volume where it is built.
    let verify = ["verify", "out", "--threshold", "0.3"];
    let (status, out, err) = topopt(&folder.path(""), &verify);
    assert_eq!(status, 3, "{out}{err}");
    let proof: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    let solid = proof["load_cases"][0]["compliance"].as_f64().unwrap();
    assert!(solid > 19.801_526 && solid < 21.0, "{proof}");

    let export = ["export", "out", "-o", "part.stl"];
    let info = ["info", "out/design.vtu"];
    for args in [&["check", "case.toml"][..], &info, &["report", "out"], &export] {
        let (status, out, err) = topopt(&folder.path(""), args);
        assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    }
    // Rounding of displacements, times the stiffness of such flat elements, is 1e-8 of the forces.
    let tolerance = ["--set", "solver.tolerance=1e-7"];
    let args = [&["solve", "case.toml", "--design", "out", "-o", "again"][..], &tolerance].concat();
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");

    let resumed = folder.run(&["optimizer.max_iterations=14", set[1]], &["--resume"]);
    assert_eq!((resumed.status, resumed.err.as_str()), (0, ""), "{}", resumed.out);
    assert_eq!(folder.history("compliance").len(), 14);
}

/// Results of cut elements are no results of others.
#[test]
fn a_run_on_cut_elements_is_not_resumed_on_tetrahedra() {
    let folder = strip(4, DESIGN);
    folder.run_well(&["mesh.cut=true"]);
    let resumed = folder.run(&["optimizer.max_iterations=7"], &["--resume"]);
    assert_eq!(resumed.status, 1, "{}", resumed.out);
    assert!(resumed.err.contains("mesh"), "{}", resumed.err);
}

/// How often the text of `check` says that tetrahedra were cut.
fn notes_on_cut(folder: &Folder, set: &str) -> (usize, String) {
    let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml", "--set", set]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    (out.matches("tetrahedra were cut into hexahedra").count(), out)
}

#[test]
fn a_note_says_once_why_tetrahedra_were_cut() {
    let folder = strip(10, DESIGN);
    assert_eq!(notes_on_cut(&folder, "filter.radius=9").0, 0);
    assert_eq!(notes_on_cut(&folder, "mesh.cut=true").0, 0);
    for setting in ["solver.strategy=ebe", "solver.smoother=patch"] {
        let (count, out) = notes_on_cut(&folder, setting);
        let key = setting.split('=').next().unwrap();
        assert!(count == 1 && out.contains(&format!("`{key} = ")), "{out}");
    }
    assert_eq!(notes_on_cut(&folder, "filter.weights=helmholtz").0, 0);
}

#[test]
fn a_note_says_that_other_elements_are_among_them() {
    let folder = strip(4, DESIGN);
    let far = "9002, 130, 0, 0\n9003, 130, 10, 0\n9004, 130, 0, 2\n9005, 130, 10, 2\n";
    let at = |x: [f64; 3]| 1 + mesh().coordinates().iter().position(|&other| other == x).unwrap();
    let [a, b, c, d] =
        [[0.0, 0.0], [10.0, 0.0], [0.0, 2.0], [10.0, 2.0]].map(|[y, z]| at([120.0, y, z]));
    let element =
        format!("*ELEMENT, TYPE=C3D8\n9000, {a}, 9002, 9003, {b}, {c}, 9004, 9005, {d}\n");
    let deck = folder.read("strip.inp").replace("*ELEMENT", &format!("{far}*ELEMENT"));
    folder.write("strip.inp", &(deck + &element));
    let (count, out) = notes_on_cut(&folder, "filter.radius=9");
    assert!(count == 1 && out.contains("the mesh has other elements besides"), "{out}");
}

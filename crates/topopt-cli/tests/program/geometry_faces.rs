//! Faces of a geometry: listed, drawn, selected by number, name, form and likeness, and as a case.

use std::f64::consts::PI;
use std::process::Command;

use serde_json::Value;

use crate::gmsh::has_gmsh;
use crate::{Folder, topopt};

/// A block of 40 x 20 x 10 with a bore of radius 4, two of radius 2, a rounded edge and a ball at a
/// corner.
const SCRIPT: &str = "SetFactory(\"OpenCASCADE\");
Box(1) = {0, 0, 0, 40, 20, 10};
Cylinder(2) = {20, 10, -1, 0, 0, 12, 4};
Cylinder(3) = {6, 5, -1, 0, 0, 12, 2};
Cylinder(4) = {6, 15, -1, 0, 0, 12, 2};
BooleanDifference(5) = {Volume{1}; Delete;}{Volume{2, 3, 4}; Delete;};
e() = Curve In BoundingBox {39.9, -0.1, -0.1, 40.1, 0.1, 10.1};
f() = Fillet{5}{e()}{2};
";

/// Groups, of which Gmsh saves no others.
const GROUPS: &str = "Physical Volume(\"block\") = {f()};
b() = Surface In BoundingBox {15.9, 5.9, -0.1, 24.1, 14.1, 10.1};
Physical Surface(\"bore\") = {b()};
";

/// A folder with the block as block.geo and, as Gmsh writes them, block.step and block.stl. Some
/// faces of the STEP file have names, and one has a color.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("block.geo", SCRIPT);
    let gmsh = std::env::var_os("GMSH").unwrap_or_else(|| "gmsh".into());
    for (dimension, name) in [("-0", "block.step"), ("-2", "block.stl")] {
        let mut command = Command::new(&gmsh);
        command.current_dir(folder.path("")).args([dimension, "block.geo"]);
        command.args(["-setnumber", "Mesh.MeshSizeFromCurvature", "40", "-o", name]);
        assert!(command.output().unwrap().status.success());
    }
    folder.write("block.geo", &format!("{SCRIPT}{GROUPS}"));

    // In a file of one solid its faces stand in the order of their numbers.
    let text = folder.read("block.step");
    let parts = text.split("ADVANCED_FACE('").enumerate().map(|(i, part)| match i {
        0 => part.to_owned(),
        _ => format!("ADVANCED_FACE('side {i}{part}"),
    });
    folder.write("block.step", &parts.collect::<String>());
    folder
}

pub(crate) fn faces(folder: &Folder, file: &str) -> Vec<Value> {
    let (status, out, err) = topopt(&folder.path(""), &["info", file, "--faces", "--json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

/// Numbers of the faces of a kind and radius.
fn numbers(faces: &[Value], kind: &str, radius: Option<f64>) -> Vec<u64> {
    let is_alike = |face: &&Value| {
        let off = radius.map_or(0.0, |r| (face["radius"].as_f64().unwrap_or(0.0) - r).abs());
        face["kind"] == kind && off < 1e-4
    };
    faces.iter().filter(is_alike).map(|face| face["number"].as_u64().unwrap()).collect()
}

#[test]
fn faces_are_listed_with_their_forms_in_every_format() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    for (file, n_faces, exact) in
        [("block.step", 10, 1e-5), ("block.geo", 10, 1e-5), ("block.stl", 8, 2e-2)]
    {
        let faces = faces(&folder, file);
        assert_eq!(faces.len(), n_faces, "{file}");
        let [bore, small] = [4.0, 2.0].map(|r| numbers(&faces, "cylinder", Some(r)));
        // The rounded edge of the STL file bends into its neighbors.
        assert_eq!((bore.len(), small.len()), (1, if file == "block.stl" { 2 } else { 3 }));
        let face = |number: u64| faces.iter().find(|face| face["number"] == number).unwrap();
        let bore = face(bore[0]);
        assert_eq!(bore["hollow"], true, "{file}");
        let area = bore["area"].as_f64().unwrap();
        assert!((area / (80.0 * PI) - 1.0).abs() < exact, "{file}: {area}");
        for (i, expected) in [20.0, 10.0, 5.0].into_iter().enumerate() {
            assert!((bore["center"][i].as_f64().unwrap() - expected).abs() < 1e-4, "{file}");
        }
        let rounded = small.iter().filter(|&&number| face(number)["hollow"] == false).count();
        assert_eq!(rounded, small.len() - 2, "{file}");
    }
    let (status, out, err) = topopt(&folder.path(""), &["info", "case.toml", "--faces"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("case.toml is no geometry: a mesh has no faces of CAD"), "{err}");
}

/// The list is a case file's text, each entry of which takes one face.
#[test]
fn the_list_is_read_as_a_case() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let (status, list, _) = topopt(&folder.path(""), &["info", "block.step", "--faces"]);
    assert_eq!(status, 0);
    assert!(list.starts_with("# block.step: 10 faces\n#  1  "), "{list}");
    assert!(list.contains("name = \"side 1\"\nkind = \"faces\"\nfaces = [1]\n"), "{list}");
    let table: toml::Table = list.parse().unwrap();
    assert_eq!(table["select"].as_array().unwrap().len(), 10);
    let case = "title = \"a\"\n[mesh]\nfile = \"block.step\"\nelement_size = 5\n\
                [material]\nyoungs_modulus = 1.0\n[[supports]]\nset = \"side 1\"\n\
                [[loads]]\nset = \"side 2\"\npressure = 1.0\n[design]\nvolume_fraction = 0.3\n\
                [filter]\nradius_in_elements = 1.5\n";
    folder.write("list.toml", &format!("{case}{list}"));
    let (status, out, err) = topopt(&folder.path(""), &["check", "list.toml"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
}

/// A case of a file with sets of faces that it selects and loads, besides the support.
fn text(file: &str, selections_and_loads: &str) -> String {
    let size = if file.ends_with(".msh") { "" } else { "element_size = 5\n" };
    format!(
        "title = \"a\"\n[mesh]\nfile = \"{file}\"\n{size}[material]\n\
         youngs_modulus = 1.0\n[[select]]\nname = \"held\"\nkind = \"faces\"\n\
         plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}\n[[supports]]\nset = \"held\"\n\
         {selections_and_loads}[design]\nvolume_fraction = 0.3\n[filter]\n\
         radius_in_elements = 1.5\n"
    )
}

/// A pressure on selected faces, whose sum is known, and what `select` says besides.
fn case(folder: &Folder, file: &str, select: &str, load: &str) -> (i32, String, String) {
    let loaded =
        format!("[[select]]\nname = \"loaded\"\n{select}\n[[loads]]\nset = \"loaded\"\n{load}\n");
    folder.write("select.toml", &text(file, &loaded));
    topopt(&folder.path(""), &["check", "select.toml"])
}

/// Areas of selected faces: the sum of a traction of 1 in z, in a load case for each.
pub(crate) fn areas(folder: &Folder, file: &str, selections: &[String]) -> Vec<f64> {
    let loaded = |(k, select): (usize, &String)| {
        format!(
            "[[select]]\nname = \"set {k}\"\nkind = \"faces\"\n{select}\n[[loads]]\n\
             set = \"set {k}\"\ncase = \"case {k}\"\ntraction = [0, 0, 1]\n"
        )
    };
    let loaded: String = selections.iter().enumerate().map(loaded).collect();
    folder.write("select.toml", &text(file, &loaded));
    let (status, out, err) = topopt(&folder.path(""), &["check", "select.toml", "--json"]);
    assert_eq!((status, err.as_str()), (0, ""), "{file} {selections:?}: {out}");

    let check: Value = serde_json::from_str(&out).unwrap();
    let area = |k: usize| {
        let load = &check["loads"][k];
        assert_eq!(load["case"], format!("case {k}"));
        let force = [0, 1, 2].map(|i| load["sum_of_forces"][i].as_f64().unwrap());
        assert_eq!(force[..2], [0.0; 2]);
        force[2]
    };
    (0..selections.len()).map(area).collect()
}

/// Asserts the areas of selected faces up to 2 %.
fn assert_areas(folder: &Folder, file: &str, expected: &[(String, f64)]) {
    let selections: Vec<String> = expected.iter().map(|(select, _)| select.clone()).collect();
    for ((select, expected), found) in expected.iter().zip(areas(folder, file, &selections)) {
        assert!((found / expected - 1.0).abs() < 0.02, "{file} {select}: {found} {expected}");
    }
}

#[test]
fn selections_take_the_faces_that_they_name() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let bores = [80.0 * PI, 2.0 * 40.0 * PI, 2.0 * PI / 2.0 * 10.0];
    for file in ["block.step", "block.geo", "block.stl"] {
        let listed = faces(&folder, file);
        let [large] = numbers(&listed, "cylinder", Some(4.0))[..] else { panic!("{file}") };
        let small = numbers(&listed, "cylinder", Some(2.0));
        let is_hollow = |number: &&u64| listed[**number as usize - 1]["hollow"] == true;
        let hollow: Vec<&u64> = small.iter().filter(is_hollow).collect();
        let form = |more: &str| format!("form = {{ kind = \"cylinder\", {more} }}");
        let mut expected = vec![
            (format!("faces = [{large}]"), bores[0]),
            (format!("faces = [{}, {large}]", hollow[0]), bores[0] + 0.5 * bores[1]),
            (form("radius = 4"), bores[0]),
            (form("radius = 4.1, tolerance = 0.2"), bores[0]),
            (form("radius = 2, hollow = true"), bores[1]),
            (format!("same_as = {}", hollow[1]), bores[1]),
        ];
        if file == "block.step" {
            for number in [2, 3] {
                let area = listed[number - 1]["area"].as_f64().unwrap();
                expected.push((format!("faces = [\"side {number}\"]"), area));
            }
        }
        // The rounded edge of the STL file bends into its neighbors.
        if file != "block.stl" {
            expected.push((form("radius = 2, hollow = false"), bores[2]));
        }
        assert_areas(&folder, file, &expected);
    }

    // A mesh that was written once has a set for each face.
    let mesh = ["mesh", "block.step", "--element-size", "5", "-o", "block.msh"];
    assert_eq!(topopt(&folder.path(""), &mesh).0, 0);
    let listed = faces(&folder, "block.step");
    let [large] = numbers(&listed, "cylinder", Some(4.0))[..] else { panic!("one large bore") };
    let by_set = [format!("faces = [{large}]"), format!("set = \"face_{large}\"")];
    assert_areas(&folder, "block.msh", &by_set.map(|select| (select, bores[0])));
}

/// Nodes on a face, elements at a face, and a layer of a thickness around a bore.
#[test]
fn nodes_and_elements_of_faces() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let nodes = "kind = \"nodes\"\nform = { kind = \"cylinder\", radius = 4 }";
    let (status, out, err) = case(&folder, "block.step", nodes, "total_force = [0, 0, -8]");
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("forces add up to (0, 0, -8)"), "{out}");

    let [large] = numbers(&faces(&folder, "block.step"), "cylinder", Some(4.0))[..] else {
        panic!("one large bore")
    };
    let ring = format!(
        "kind = \"faces\"\nfaces = [{large}]\n[[select]]\nname = \"at it\"\nkind = \"elements\"\n\
         faces = [{large}]\n[[select]]\nname = \"ring\"\nkind = \"elements\"\n\
         near = {{ set = \"loaded\", distance = 2.5 }}"
    );
    let (status, out, err) = case(&folder, "block.step", &ring, "pressure = 1.0");
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let solid = |set: &str| {
        let set = format!("design.solid=[\"{set}\"]");
        let args = ["check", "select.toml", "--set", &set, "--set", "design.keep_loaded=free"];
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        let (_, count) = out.split_once("solid elements").unwrap();
        count.split_whitespace().next().unwrap().parse::<usize>().unwrap()
    };
    let [at_it, ring] = ["at it", "ring"].map(solid);
    assert!(0 < at_it && at_it < ring, "{at_it} {ring}");
}

#[test]
fn faces_that_are_not_there_are_refused() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let refused = |file: &str, select: &str| {
        let select = format!("kind = \"faces\"\n{select}");
        let (status, out, err) = case(&folder, file, &select, "pressure = 1.0");
        assert_eq!((status, out.as_str()), (1, ""), "{select}");
        err.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ")
    };
    for (select, message, remedy) in [
        ("faces = [99]", "the part has no face 99", "its faces are 1 to 10"),
        ("same_as = 11", "the part has no face 11", "`topopt info"),
        ("faces = [\"sid 4\"]", "no face of the part is named `sid 4`", "did you mean `side 4`?"),
        ("faces = [\"bore of the pin\"]", "named `bore of the pin`", "it has faces named `side 1`"),
        (
            "form = { kind = \"cylinder\", radius = 5 }",
            "the part has no cylinder of radius 5",
            "2 x cylinder, radius 2, hollow; 1 x cylinder, radius 4, hollow",
        ),
        ("form = { kind = \"torus\" }", "the part has no torus", "it has"),
        ("form = { kind = \"plane\", radius = 5 }", "a plane has no radius", "remove `radius`"),
        ("form = { kind = \"sphere\", tolerance = 5 }", "a tolerance without a radius", "give the"),
        ("faces = [0]", "`select.faces[0]` is out of range", "at least 1"),
        ("faces = []", "`select.faces` needs at least 1 entries", "this list"),
        ("faces = [1.5]", "must be a whole number or text in quotes", "a number"),
    ] {
        let said = refused("block.step", select);
        assert!(said.contains(message) && said.contains(remedy), "{select}: {said}");
    }

    let mesh = ["mesh", "block.step", "--element-size", "5", "-o", "block.msh"];
    assert_eq!(topopt(&folder.path(""), &mesh).0, 0);
    for select in ["faces = [99]", "faces = [\"side 1\"]", "same_as = 3"] {
        let said = refused("block.msh", select);
        assert!(said.contains("it was not made of a geometry here"), "{select}: {said}");
    }
}

#[test]
fn init_writes_a_case_of_the_geometry() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let (status, out, err) = topopt(&folder.path(""), &["init", "block.step"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.starts_with("wrote block.toml: 10 faces"), "{out}");
    let text = folder.read("block.toml");
    assert!(text.contains("file = \"block.step\"\nelement_size = "), "{text}");
    let (status, _, err) = topopt(&folder.path(""), &["check", "block.toml"]);
    assert_eq!(status, 1);
    assert!(err.contains("block.toml has no [[supports]]"), "{err}");

    // As a user does: without the marks of comments before supports and loads.
    let (before, rest) = text.split_once("# [[select]]").unwrap();
    let (entries, behind) = rest.split_once("[design]").unwrap();
    let entries = format!("# [[select]]{entries}").replace("# Where", "## Where");
    let uncommented: Vec<&str> =
        entries.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
    let size = "--set=mesh.element_size=4";
    folder.write("block.toml", &format!("{before}{}\n[design]{behind}", uncommented.join("\n")));
    let (status, out, err) = topopt(&folder.path(""), &["check", "block.toml", size]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("forces add up to (0, 0, -1000)"), "{out}");

    let (status, _, err) = topopt(&folder.path(""), &["init", "block.step"]);
    assert_eq!(status, 1);
    assert!(err.contains("block.toml already exists"), "{err}");
}

#[test]
fn the_page_shows_every_number_that_is_seen() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let args = ["info", "block.step", "--faces", "--page", "faces.html"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.ends_with("\n# wrote faces.html\n"), "{out}");
    let page = folder.read("faces.html");
    for number in 1..=10 {
        assert!(page.contains(&format!("href=\"#face-{number}\"")), "{number} is not drawn");
        assert!(page.contains(&format!("id=\"face-{number}\"")), "{number} is not in the table");
    }
    let (status, _, err) = topopt(&folder.path(""), &["info", "block.step", "--page", "a.html"]);
    assert_eq!(status, 1);
    assert!(err.contains("--faces"), "{err}");
    let args = ["info", "block.step", "--faces", "--page", "faces.pdf"];
    assert_eq!(topopt(&folder.path(""), &args).0, 1);
}

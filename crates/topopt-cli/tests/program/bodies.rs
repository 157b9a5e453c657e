//! Geometries of several bodies that share faces, on hexahedra and on tetrahedra.

use serde_json::Value;

use crate::gmsh::has_gmsh;
use crate::{Folder, topopt};

/// Begins a script; `glue` becomes a group of the faces between the two volumes.
const KERNEL: &str = "SetFactory(\"OpenCASCADE\");\n";
const GLUE: &str =
    "b() = Boundary{ Volume{v(0)}; };\nc() = Boundary{ Volume{v(1)}; };\nglue() = {};
For i In {0:#b()-1}\n  For j In {0:#c()-1}\n    If (Abs(b(i)) == Abs(c(j)))
      glue() += {Abs(b(i))};\n    EndIf\n  EndFor\nEndFor
Physical Surface(\"glue\") = {glue()};
Physical Volume(\"soft\") = {v(0)};\nPhysical Volume(\"stiff\") = {v(1)};\n";

/// A tower on a plate, a bushing in a block, and a core within a box: name, height, size of
/// hexahedra, and script.
const PARTS: [(&str, f64, f64, &str); 3] = [
    (
        "tower",
        14.0,
        1.0,
        "Box(1) = {0,0,0, 20,12,6}; Box(2) = {4,2,6, 8,6,8};
         v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; };\n",
    ),
    (
        "bushing",
        8.0,
        1.2,
        "Box(1) = {0,0,0, 20,20,8}; Cylinder(2) = {10,10,0, 0,0,8, 6};
         Cylinder(3) = {10,10,0, 0,0,8, 3};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; }
         BooleanDifference{ Volume{2}; Delete; }{ Volume{3}; Delete; }
         v() = BooleanFragments{ Volume{:}; Delete; }{};\n",
    ),
    (
        "core",
        14.0,
        1.2,
        "Box(1) = {0,0,0, 14,14,14}; Sphere(2) = {7,7,7, 4.5};
         v() = BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; };\n",
    ),
];

/// A case of two materials, held below and pulled at the `top`.
fn case(file: &str, top: f64, mesh: &str) -> String {
    format!(
        "title = \"a\"\n[mesh]\nfile = \"{file}\"\n{mesh}\n[material]\nyoungs_modulus = 100.0\n\
         [[materials]]\nset = \"stiff\"\nyoungs_modulus = 700.0\n[[select]]\nname = \"held\"\n\
         kind = \"faces\"\nbox = {{ min = [-1, -1, -0.1], max = [99, 99, 0.1] }}\n[[select]]\n\
         name = \"loaded\"\nkind = \"faces\"\nbox = {{ min = [-1, -1, {}], max = [99, 99, 99] }}\n\
         [[supports]]\nset = \"held\"\n[[loads]]\nset = \"loaded\"\ntotal_force = [1, 0, 3]\n\
         [design]\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n[optimizer]\n\
         max_iterations = 2\n",
        top - 0.1
    )
}

fn prints(folder: &Folder, args: &[&str]) -> String {
    let (status, out, err) = topopt(&folder.path(""), args);
    assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    out
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Names and kinds of the sets of a mesh.
fn sets(folder: &Folder, file: &str) -> Vec<(String, String)> {
    let info = json(&prints(folder, &["info", file, "--json"]));
    let sets = info["sets"].as_array().unwrap().iter();
    sets.map(|set| (set["name"].to_string(), set["kind"].to_string())).collect()
}

#[test]
fn bodies_of_two_materials_are_computed_alike_on_hexahedra_and_tetrahedra() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    for (name, top, size, script) in PARTS {
        let geometry = format!("{name}.geo");
        folder.write(&geometry, &format!("{KERNEL}{script}{GLUE}"));
        let mut compliance = Vec::new();
        let mut meshed = Vec::new();
        for (method, size) in [("hexahedra", size), ("tetrahedra", 2.0 * size)] {
            let mesh = format!("method = \"{method}\"\nelement_size = {size}");
            folder.write("case.toml", &case(&geometry, top, &mesh));
            let out = prints(&folder, &["solve", "case.toml", "--overwrite", "--output", method]);
            assert_eq!(out.contains("bodies: 2, faces between them: 1"), method == "hexahedra");
            let analysis = json(&folder.read(&format!("{method}/analysis.json")));
            compliance.push(analysis["load_cases"][0]["compliance"].as_f64().unwrap());

            let [mesh, size] = [format!("{method}.msh"), size.to_string()];
            let args = ["mesh", &geometry, "--method", method, "--element-size", &size];
            prints(&folder, &[&args[..], &["-o", &mesh]].concat());
            meshed.push(sets(&folder, &mesh));
        }
        let ratio = compliance[0] / compliance[1];
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {compliance:?}");
        assert_eq!(meshed[0], meshed[1]);
        assert!(meshed[0].contains(&("\"glue\"".into(), "\"face\"".into())), "{meshed:?}");
    }
}

#[test]
fn bodies_get_a_number_of_hexahedra_smaller_ones_in_places_and_a_design() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    folder.write("bushing.geo", &format!("{KERNEL}{}{GLUE}", PARTS[1].3));
    folder.write("case.toml", &case("bushing.geo", 8.0, "method = \"hexahedra\"\nelements = 2000"));
    let out = prints(&folder, &["run", "case.toml", "--output", "out"]);
    assert!(out.contains("bodies: 2"), "{out}");
    let n = folder.summary()["elements"].as_f64().unwrap();
    assert!((n / 2000.0).ln().abs() < 0.3, "{n} elements");

    let counts = [1.9, 1.0].map(|size| {
        let refine = format!(
            "method = \"hexahedra\"\nelement_size = 2\nacross = 4\nrefine = [{{ set = \"glue\", \
             element_size = {size}, distance = 1 }}]"
        );
        folder.write("case.toml", &case("bushing.geo", 8.0, &refine));
        let out = prints(&folder, &["solve", "case.toml", "--overwrite", "--output", "fine"]);
        assert!(out.contains("bodies: 2"), "{out}");
        json(&folder.read("fine/analysis.json"))["elements"].as_f64().unwrap()
    });
    assert!(counts[1] > 1.5 * counts[0], "{counts:?}");
}

fn run_script(folder: &Folder, file: &str) {
    let gmsh = std::env::var("GMSH").unwrap_or_else(|_| "gmsh".into());
    let mut gmsh = std::process::Command::new(gmsh);
    let run = gmsh.args([file, "-0"]).current_dir(folder.path("")).output().unwrap();
    assert!(run.status.success(), "{run:?}");
}

/// BREP files keep shared faces; STEP files of Gmsh repeat them, and are joined as by a script.
#[test]
fn bodies_of_files_conform_where_they_share_faces() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let saved = "Save \"tower.brep\";\nSave \"tower.step\";\n";
    folder.write("export.geo", &format!("{KERNEL}{}{saved}", PARTS[0].3));
    folder.write("merged.geo", &format!("{KERNEL}Merge \"tower.step\";\nCoherence;\n"));
    run_script(&folder, "export.geo");
    let args = |file| ["mesh", file, "--method", "hexahedra", "--element-size", "1", "-o", "a.msh"];
    for file in ["tower.brep", "merged.geo", "tower.step"] {
        let out = prints(&folder, &args(file));
        assert!(out.contains("1824 elements") && out.contains("bodies: 2"), "{out}");
        assert_eq!(out.contains("they were joined there"), file == "tower.step", "{out}");
    }
    for args in [
        &["mesh", "tower.step", "--element-size", "2", "-o", "a.msh"][..],
        &["info", "tower.step", "--faces"],
    ] {
        let out = prints(&folder, args);
        assert!(!out.contains("not joined"), "{out}");
    }
    // The tower divides the top of the plate, of 240.
    assert!(prints(&folder, &["info", "tower.step", "--faces"]).contains("area 192"));
}

/// A bolt with a head in a plate, and boxes that overlap, as STEP files.
#[test]
fn bodies_of_a_step_file_are_joined_unless_they_overlap() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let bolt = "Box(1) = {0,0,0, 40,20,10}; Cylinder(2) = {30,10,0, 0,0,10, 4};\n\
         BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; };\n\
         Cylinder(4) = {30,10,10, 0,0,4, 7};\n\
         BooleanUnion(5) = { Volume{2}; Delete; }{ Volume{4}; Delete; };\n";
    let two = "Box(1) = {0,0,0, 10,10,8}; Box(2) = {8,0,0, 10,10,8};\n";
    for (name, script) in [("bolt", bolt), ("two", two)] {
        folder.write("export.geo", &format!("{KERNEL}{script}Save \"{name}.step\";\n"));
        run_script(&folder, "export.geo");
    }
    for method in ["hexahedra", "tetrahedra"] {
        let args = |file| ["mesh", file, "--method", method, "--element-size", "2", "-o", "a.msh"];
        let out = prints(&folder, &args("bolt.step"));
        assert!(out.contains("they were joined there") && !out.contains("not joined"), "{out}");
        assert!(refused(&folder, &args("two.step")).contains("two.step: bodies overlap at"));
    }
}

fn refused(folder: &Folder, args: &[&str]) -> String {
    let (status, _, err) = topopt(&folder.path(""), args);
    assert_ne!(status, 0, "{args:?}");
    err.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ")
}

/// Two boxes that overlap, lie side by side, or share a face; and a ball and a rod that touch one.
#[test]
fn bodies_that_overlap_are_refused_and_those_not_joined_noted() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let groups = "Physical Volume(\"a\") = {1};\nPhysical Volume(\"b\") = {2};\n";
    let args =
        |method| ["mesh", "part.geo", "--method", method, "--element-size", "2", "-o", "a.msh"];
    let script = |second: &str| {
        let first = "Box(1) = {0,0,0, 10,10,8};";
        folder.write("part.geo", &format!("{KERNEL}{first} {second}\n{groups}"));
    };

    script("Box(2) = {8,0,0, 10,10,8};");
    for method in ["hexahedra", "tetrahedra", "auto"] {
        let err = refused(&folder, &args(method));
        assert!(err.contains("part.geo: bodies overlap at (") && err.contains("`b`"), "{err}");
        assert!(err.contains("Coherence"), "{err}");
    }
    script("Box(2) = {10,0,0, 10,10,8};");
    assert!(refused(&folder, &args("hexahedra")).contains("volume 1 (`a`) and volume 2 (`b`)"));
    assert!(prints(&folder, &args("tetrahedra")).contains("not joined: a gap of 0 at (10, "));
    for second in ["Sphere(2) = {5,5,13, 5};", "Cylinder(2) = {0,5,11, 10,0,0, 3};"] {
        script(second);
        for method in ["hexahedra", "tetrahedra"] {
            let out = prints(&folder, &args(method));
            assert!(out.contains("not joined: a gap of "), "{second} {method}: {out}");
            assert!(out.contains("(`a` and `b`)"), "{second} {method}: {out}");
        }
    }
    script("Box(2) = {12,0,0, 10,10,8};");
    assert!(!prints(&folder, &args("tetrahedra")).contains("not joined"));
}

/// A script and its mesh.
#[test]
fn bodies_in_no_physical_group_are_noted() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let boxes = "Box(1) = {0,0,0, 4,4,4}; Box(2) = {4,0,0, 4,4,4}; Box(7) = {8,0,0, 4,4,4};\n\
                 Coherence;\n";
    folder.write("part.geo", &format!("{KERNEL}{boxes}Physical Volume(\"a\") = {{1, 2}};\n"));
    folder.write("all.geo", &format!("{KERNEL}{boxes}"));
    let note = "in no physical group are left out, as Gmsh does: volume 7";
    for method in ["hexahedra", "tetrahedra"] {
        let args = |file| ["mesh", file, "--method", method, "--element-size", "2", "-o", "a.msh"];
        assert!(prints(&folder, &args("part.geo")).contains(note));
        assert!(!prints(&folder, &args("all.geo")).contains("no physical group"));
    }
}

/// A face between two boxes, by its name and by its number.
#[test]
fn faces_between_bodies_are_selected_and_have_no_side() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    folder.write(
        "part.geo",
        &format!(
            "{KERNEL}Box(1) = {{0,0,0, 8,4,4}}; Box(2) = {{8,0,0, 8,4,4}};\n\
         v() = BooleanFragments{{ Volume{{1}}; Delete; }}{{ Volume{{2}}; Delete; }};\n{GLUE}"
        ),
    );
    for method in ["hexahedra", "tetrahedra"] {
        for condition in ["faces = [2]", "faces = [\"glue\"]", "set = \"glue\""] {
            let of_load = |load: &str| {
                let case = format!(
                    "[mesh]\nfile = \"part.geo\"\nmethod = \"{method}\"\nelement_size = 2\n\
                     [[select]]\nname = \"between\"\nkind = \"faces\"\n{condition}\n[[select]]\n\
                     name = \"held\"\nkind = \"faces\"\nbox = {{ min = [0, 0, 0], max = [0, 4, 4] }}\n\
                     [[supports]]\nset = \"held\"\n[[loads]]\nset = \"between\"\n{load}\n\
                     [design]\nvolume_fraction = 0.5\n[filter]\nradius_in_elements = 1.5\n"
                );
                folder.write("case.toml", &case);
            };
            of_load("traction = [0, 0, 0.5]");
            let out = prints(&folder, &["check", "case.toml"]);
            assert!(out.contains("forces add up to (0, 0, 8)"), "{method} {condition}: {out}");
            for load in ["pressure = 1", "bearing = [1, 0, 0]"] {
                of_load(load);
                let err = refused(&folder, &["check", "case.toml"]);
                assert!(err.contains("lie between bodies"), "{method} {condition}: {err}");
            }
        }
    }
}

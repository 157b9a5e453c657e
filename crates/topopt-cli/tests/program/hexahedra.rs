//! Geometries meshed by hexahedra of the grid, beside the tetrahedra of Gmsh.

use serde_json::Value;

use crate::geometry_faces::{areas, faces, folder};
use crate::gmsh::has_gmsh;
use crate::{Folder, topopt};

/// `topopt` in `folder` with `args`, which must succeed; what it prints.
fn prints(folder: &Folder, args: &[&str]) -> String {
    let (status, out, err) = topopt(&folder.path(""), args);
    assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    out
}

/// Writes a mesh of `file` by elements of a `method`, and says what was said.
fn mesh(folder: &Folder, file: &str, method: &str, size: &str, output: &str) -> String {
    let size = ["--element-size", size];
    prints(folder, &[&["mesh", file, "--method", method, "-o", output][..], &size].concat())
}

fn info(folder: &Folder, file: &str) -> Value {
    serde_json::from_str(&prints(folder, &["info", file, "--json"])).unwrap()
}

/// A block with bores, a fillet and groups: sets of the same names and areas in either mesh.
#[test]
fn faces_and_groups_are_those_of_tetrahedra() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    folder.write(
        "block.geo",
        &format!(
            "{}c() = Curve In BoundingBox {{15.9, 5.9, 9.9, 24.1, 14.1, 10.1}};\nPhysical Curve(\"rim\") \
             = {{c()}};\n",
            folder.read("block.geo")
        ),
    );
    let volume = |info: &Value| info["volume"].as_f64().unwrap();
    let names = |info: &Value| -> Vec<(String, String)> {
        let sets = info["sets"].as_array().unwrap().iter();
        sets.map(|set| (set["name"].to_string(), set["kind"].to_string())).collect()
    };
    mesh(&folder, "block.geo", "hexahedra", "2", "hexes.msh");
    mesh(&folder, "block.geo", "tetrahedra", "4", "tets.msh");
    let [hexes, tets] = ["hexes.msh", "tets.msh"].map(|file| info(&folder, file));
    assert_eq!(names(&hexes), names(&tets));
    assert!((volume(&hexes) / volume(&tets) - 1.0).abs() < 1e-2);

    // Faces that share no node with the held one; ten chords around a small bore cut off 1.6 %.
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let is_apart = |face: &&Value| face["kind"] == "cylinder" || number(&face["center"][0]) > 39.9;
    for file in ["block.step", "block.stl"] {
        let said = mesh(&folder, file, "hexahedra", "1.2", "hexes.msh");
        assert!(said.contains("hexahedra of size 1.2: scaled Jacobian 0."), "{said}");
        let apart: Vec<Value> = faces(&folder, file).into_iter().filter(|f| is_apart(&f)).collect();
        let by_number = |face: &Value| format!("faces = [{}]", face["number"]);
        let selections: Vec<String> = apart.iter().map(by_number).collect();
        for (face, found) in apart.iter().zip(areas(&folder, "hexes.msh", &selections)) {
            let most = if number(&face["radius"]).round() == 2.0 { 0.02 } else { 0.01 };
            let off = found / number(&face["area"]) - 1.0;
            assert!(off.abs() < most, "{file} {face}: {found}");
        }
    }
}

/// The case of a block that a bore holds; its mesh is by elements of a `method`.
fn case(folder: &Folder, file: &str, mesh: &str) {
    let text = format!(
        "title = \"a\"\n[mesh]\nfile = \"{file}\"\n{mesh}\n[material]\nyoungs_modulus = 1.0\n\
         [[select]]\nname = \"held\"\nkind = \"faces\"\nform = {{ kind = \"cylinder\", radius = 2, \
         hollow = true }}\n[[select]]\nname = \"loaded\"\nkind = \"faces\"\nform = {{ kind = \
         \"cylinder\", radius = 4 }}\n[[supports]]\nset = \"held\"\n[[loads]]\nset = \"loaded\"\n\
         total_force = [1, 2, 5]\n[design]\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = \
         1.5\n[optimizer]\nmax_iterations = 3\n"
    );
    folder.write("case.toml", &text);
}

#[test]
fn a_step_file_is_computed_on_hexahedra() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let mut compliance = Vec::new();
    for (method, size) in [("hexahedra", 1.2), ("tetrahedra", 2.5)] {
        case(&folder, "block.step", &format!("method = \"{method}\"\nelement_size = {size}"));
        prints(&folder, &["solve", "case.toml", "--output", method]);
        let analysis: Value =
            serde_json::from_str(&folder.read(&format!("{method}/analysis.json"))).unwrap();
        compliance.push(analysis["load_cases"][0]["compliance"].as_f64().unwrap());
    }
    let ratio = compliance[0] / compliance[1];
    assert!((ratio - 1.0).abs() < 0.03, "{compliance:?}");

    // Settings that tetrahedra are cut for, and a number in place of a size.
    case(&folder, "block.step", "method = \"hexahedra\"\nelements = 1500");
    let out = prints(
        &folder,
        &["run", "case.toml", "--output", "out", "--set", "filter.weights=helmholtz"],
    );
    assert!(out.contains("meshed by ") && !out.contains("cut into"), "{out}");
    let n = folder.summary()["elements"].as_f64().unwrap();
    assert!((n / 1500.0).ln().abs() < 0.25, "{n} elements");
}

#[test]
fn parts_that_hexahedra_do_not_suit_are_refused_or_get_tetrahedra() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let kernel = "SetFactory(\"OpenCASCADE\");\n";
    let edge = "Box(1) = {0, 0, 0, 4, 4, 4};\nBox(2) = {4, 4, 0, 4, 4, 4};\nCoherence;\n";
    let point = "Box(1) = {0, 0, 0, 4, 4, 4};\nBox(2) = {4, 4, 4, 4, 4, 4};\nCoherence;\n";
    let apart = "Box(1) = {0, 0, 0, 4, 4, 4};\nBox(2) = {4, 1, 0, 4, 4, 4};\n";
    let overlap = "Box(1) = {0, 0, 0, 4, 4, 4};\nBox(2) = {2, 1, 1, 4, 4, 4};\n";
    let bore = "Box(1) = {0, 0, 0, 9, 9, 2};\nCylinder(2) = {4, 0.5, -1, 0, 0, 4, 0.4};\n\
                BooleanDifference(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};\n";
    for (name, script, reason) in [
        ("edge.geo", edge, "touch each other along the edge from (4, 4, "),
        ("point.geo", point, "touch each other at (4, 4, 4) alone"),
        ("apart.geo", apart, "with a face of each, and do not share it"),
        ("overlap.geo", overlap, "bodies overlap at"),
        ("bore.geo", bore, "needs elements of at most 0.52"),
    ] {
        folder.write(name, &format!("{kernel}{script}"));
        let args = |method| ["mesh", name, "--method", method, "--element-size", "1.5"];
        let (status, _, err) = topopt(&folder.path(""), &args("hexahedra"));
        let err = err.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        assert!(status == 1 && err.contains(reason), "{err}");
        assert_eq!(err.contains("tetrahedra"), name != "overlap.geo", "{err}");
        if name == "overlap.geo" {
            assert!(topopt(&folder.path(""), &args("auto")).2.contains(reason));
            continue;
        }
        let out = prints(&folder, &args("auto"));
        assert!(out.contains("not meshed by hexahedra") && out.contains(reason), "{out}");
    }

    let cube = "Box(1) = {0, 0, 0, 9, 9, 9};\n";
    folder.write("cube.geo", &format!("{kernel}{cube}"));
    let fine = ["mesh", "cube.geo", "--method", "hexahedra", "--element-size", "1e-4"];
    let (status, _, err) = topopt(&folder.path(""), &fine);
    assert!(status == 1 && err.contains("more than") && err.contains("larger"), "{err}");
    let both = ["mesh", "cube.geo", "--method", "hexahedra", "--hexes", "auto"];
    assert!(topopt(&folder.path(""), &both).2.contains("--hexes is for Gmsh"));

    // A triangle that is missing, and one that is nowhere.
    let facet = |x: [&str; 3]| {
        let corner = |x: &str| format!("vertex {x}\n");
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", x.map(corner).concat())
    };
    let open = [["0 0 0", "1 0 0", "0 1 0"], ["0 0 0", "0 0 1", "1 0 0"]].map(facet).concat();
    for (last, reason) in [("0 0 1", "do not close"), ("NaN 0 1", "no place in space")] {
        let text = format!("solid a\n{open}{}endsolid a\n", facet(["0 0 0", "0 1 0", last]));
        folder.write("open.stl", &text);
        let (status, _, err) =
            topopt(&folder.path(""), &["mesh", "open.stl", "--method", "hexahedra"]);
        assert!(status == 1 && err.contains(reason), "{err}");
    }
}

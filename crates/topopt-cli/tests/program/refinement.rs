//! Places of a geometry with smaller elements, on hexahedra and tetrahedra.

use crate::geometry_faces::folder;
use crate::gmsh::has_gmsh;
use crate::{Folder, topopt};

/// The case of the block of `folder` with these keys of its mesh.
fn case(folder: &Folder, file: &str, mesh: &str) {
    let text = format!(
        "title = \"a\"\n[mesh]\nfile = \"{file}\"\n{mesh}\n[material]\nyoungs_modulus = 1.0\n\
         [[select]]\nname = \"small\"\nkind = \"faces\"\nform = {{ kind = \"cylinder\", radius = 2, \
         hollow = true }}\n[[select]]\nname = \"end\"\nkind = \"faces\"\nbox = {{ min = [-1, -1, -1], \
         max = [0.1, 21, 11] }}\n[[select]]\nname = \"round\"\nkind = \"faces\"\ncylinder = {{ point = \
         [20, 10, 0], axis = [0, 0, 1], radius = 5 }}\n[[supports]]\nset = \"small\"\n[[loads]]\n\
         set = \"end\"\ntotal_force = [1, 2, 5]\n[design]\nvolume_fraction = 0.4\n[filter]\n\
         radius_in_elements = 1.5\n"
    );
    folder.write("case.toml", &text);
}

/// Number of elements of the case, and nodes that its supports hold.
fn counts(folder: &Folder, file: &str, mesh: &str) -> [f64; 2] {
    case(folder, file, mesh);
    let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let number = |line: &str, place: usize| {
        let line = out.lines().find(|text| text.trim_start().starts_with(line)).unwrap();
        line.split_whitespace().nth(place).unwrap().parse().unwrap()
    };
    [number("elements", 1), number("supports", 1)]
}

#[test]
fn elements_are_smaller_near_faces_and_in_boxes_and_few_elsewhere() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    for (file, method) in [
        ("block.step", "hexahedra"),
        ("block.stl", "hexahedra"),
        ("block.step", "tetrahedra"),
        ("block.stl", "tetrahedra"),
    ] {
        let usual = if method == "hexahedra" { 2.0 } else { 4.0 };
        let mesh = format!("method = \"{method}\"\nelement_size = {usual}");
        let fine = "element_size = 0.5";
        let [coarse, held] = counts(&folder, file, &mesh);
        let mesh_near = format!("{mesh}\nrefine = [{{ set = \"small\", {fine}, distance = 0.5 }}]");
        let [more, more_held] = counts(&folder, file, &mesh_near);
        assert!(more_held > 2.0 * held, "{file}, {method}: {held} to {more_held} nodes");
        let everywhere = coarse * f64::powi(usual / 0.5, 3);
        assert!(more > 1.2 * coarse && more < 0.6 * everywhere, "{file}: {coarse} to {more}");

        if file == "block.step" {
            let in_box = format!("{mesh}\nrefine = [{{ set = \"end\", {fine} }}]");
            assert!(counts(&folder, file, &in_box)[0] > 1.2 * coarse, "{method}");
        }
    }
    let group = "element_size = 4\nrefine = [{ set = \"bore\", element_size = 1 }]";
    let [coarse, more] =
        ["element_size = 4", group].map(|mesh| counts(&folder, "block.geo", mesh)[0]);
    assert!(more > 1.2 * coarse, "{coarse} to {more}");
}

/// A bar of 24 x 18 x 12 that is pulled along x, with smaller elements in the middle.
fn pulled_bar() -> String {
    let set = |name: &str, kind: &str, low: &str, high: &str| {
        let place = format!("box = {{ min = [{low}], max = [{high}] }}");
        format!("[[select]]\nname = \"{name}\"\nkind = \"{kind}\"\n{place}\n")
    };
    let held = |name: &str, axis: &str, high: &str| {
        let set = set(name, "faces", "-1, -1, -1", high);
        format!("{set}[[supports]]\nset = \"{name}\"\nfix = [\"{axis}\"]\n")
    };
    let parts = [
        "title = \"a\"\n[mesh]\nfile = \"bar.geo\"\nmethod = \"hexahedra\"\nelement_size = 2\n",
        "refine = [{ set = \"spot\", element_size = 0.5, distance = 0.1 }]\n",
        "[material]\nyoungs_modulus = 2.0\n[solver]\ntolerance = 1e-10\n",
        &held("left", "x", "0.1, 19, 13"),
        &held("front", "y", "25, 0.1, 13"),
        &held("bottom", "z", "25, 19, 0.1"),
        &set("right", "faces", "23.9, -1, -1", "25, 19, 13"),
        &set("spot", "nodes", "13, 8, 5", "15, 10, 7"),
        "[[loads]]\nset = \"right\"\ntotal_force = [21.6, 0.0, 0.0]\n",
    ];
    parts.concat()
}

/// A linear displacement leaves no residual on transitions: the compliance is F^2 L / (E A).
#[test]
fn a_spot_gets_transitions_that_pass_the_patch_test_and_a_note() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let part = "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 24, 18, 12};\n";
    folder.write("bar.geo", part);
    folder.write("case.toml", &pulled_bar());
    let (status, out, err) = topopt(&folder.path(""), &["solve", "case.toml", "--output", "out"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("division in three with transitions, about "), "{out}");
    let analysis: serde_json::Value =
        serde_json::from_str(&folder.read("out/analysis.json")).unwrap();
    let compliance = analysis["load_cases"][0]["compliance"].as_f64().unwrap();
    let exact = 21.6 * 21.6 * 24.0 / (2.0 * 18.0 * 12.0);
    assert!((compliance / exact - 1.0).abs() < 1e-8, "{compliance} for {exact}");
}

#[test]
fn walls_get_the_hexahedra_across_that_are_asked_for() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    folder.write("plate.geo", "SetFactory(\"OpenCASCADE\");\nBox(1) = {0, 0, 0, 40, 16, 2};\n");
    let across = |count: &str| {
        let args =
            ["mesh", "plate.geo", "--method", "hexahedra", "--element-size", "4", "--across"];
        let (status, out, err) =
            topopt(&folder.path(""), &[&args[..], &[count, "-o", "a.msh"]].concat());
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        out
    };
    assert!(across("1").contains(": 40 elements") && across("4").contains(": 160 elements"));
}

#[test]
fn places_that_there_are_not_before_a_mesh_are_refused() {
    if !has_gmsh() {
        return;
    }
    let folder = folder();
    let far = "refine = [{ set = \"far\", element_size = 1 }]\n[[select]]\nname = \"far\"\nkind = \
               \"nodes\"\nbox = { min = [90, 0, 0], max = [91, 1, 1] }";
    for (mesh, reason) in [
        ("refine = [{ set = \"round\", element_size = 1 }]", "where there is no mesh yet"),
        (
            "refine = [{ set = \"none\", element_size = 1 }]",
            "no selection and no group of faces `none`",
        ),
        (far, "`far` lies beside the part"),
        ("refine = [{ set = \"end\", element_size = 0 }]", "greater than 0"),
        ("element_size = 2\nrefine = [{ set = \"end\", element_size = 2 }]", "no smaller than all"),
        ("across = 3", "`mesh.across` counts hexahedra"),
        ("method = \"hexahedra\"\nrefine = [{ set = \"end\", element_size = 1e-5 }]", "more than"),
    ] {
        case(&folder, "block.step", mesh);
        let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml"]);
        let err = err.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        assert!(status == 1 && err.contains(reason), "{mesh}: {out} {err}");
    }
}

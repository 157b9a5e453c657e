//! `topopt check --preview`: sets, supports and loads, as VTK's own reader finds them.

use serde_json::Value;

use topopt_testing::files::CUBE_MSH;

use crate::meshes::GENERATED;
use crate::vtk::{array, number, read};
use crate::{CASE, Folder, topopt};

const MORE: &str = "fix = [\"x\", \"z\"]\n\
    [[supports]]\nset = \"corner\"\nfix = [\"y\"]\n\
    [[select]]\nname = \"corner\"\nkind = \"nodes\"\nnearest = [0, 0, 0]\n\
    [[select]]\nname = \"end\"\nkind = \"faces\"\nnormal = { direction = [1, 0, 0] }\n\
    [[select]]\nname = \"hole\"\nkind = \"elements\"\n\
    cylinder = { point = [5, 2.5, 0], axis = [0, 0, 1], radius = 1.1 }\n\
    [[loads]]\nset = \"end\"\npressure = 2\ncase = \"push\"\n\n[[loads]]";

#[test]
fn a_preview_holds_sets_supports_and_loads() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replacen("\n[[loads]]", MORE, 1));
    let set = "design.void=[\"hole\"]";
    let args = ["check", "case.toml", "--set", set, "--preview", "look.vtu"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let Some(found) = read(&folder.path("look.vtu")) else { return };

    assert_eq!((&found["points"], &found["cells"]), (&396.into(), &250.into()));
    let names = |data: &Value| -> Vec<String> {
        data.as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap().into()).collect()
    };

    let (points, cells) = (&found["point_data"], &found["cell_data"]);
    assert_eq!(
        names(points),
        ["set_corner", "set_end", "set_fixed", "set_load", "support", "force", "force_default"]
    );
    assert_eq!(names(cells), ["set_design", "set_hole", "solid", "void", "scaled_jacobian"]);

    // Solid are the elements at the loaded face, and the one at the corner that both supports
    // together hold in every direction.
    let sum = |data: &Value, name: &str, i: usize| number(&array(data, name)["sum"][i]);
    for (data, name, expected) in [
        (points, "set_corner", 1.0),
        (points, "set_end", 36.0),
        (points, "support", 36.0 * 5.0 + 2.0),
        (cells, "set_hole", 10.0),
        (cells, "void", 10.0),
        (cells, "solid", 25.0 + 1.0),
        (cells, "set_design", 250.0),
        (cells, "scaled_jacobian", 250.0),
    ] {
        assert_eq!(sum(data, name, 0), expected, "{name}");
    }

    assert_eq!(number(&array(points, "support")["max"][0]), 7.0);
    let forces = [0, 1, 2].map(|i| sum(points, "force", i));
    assert!((forces[0] + 50.0).abs() < 1e-12 && forces[1..] == [0.0, 0.0], "{forces:?}");
    assert_eq!([0, 1, 2].map(|i| sum(points, "force_default", i)), [0.0, -6.0, 0.0]);
}

#[test]
fn a_preview_shows_supports_that_are_refused() {
    let folder = Folder::new();
    let hinge = ["--set", "supports.0.set=load", "--set", "loads.0.set=fixed"];
    let args = [&["check", "case.toml", "--preview", "look.vtu"], &hinge[..]].concat();
    let (status, _, err) = topopt(&folder.path(""), &args);
    assert!(status == 1 && err.contains("rigid motion free"), "{err}");
    assert_eq!(folder.files(), ["case.toml", "look.vtu"]);
}

/// Node 7 of a cube almost in the plane of its neighbors, whose Jacobian is still positive where
/// elements are integrated: the element is refused, and the preview shows it.
#[test]
fn a_preview_shows_the_flat_element_that_is_refused() {
    let folder = Folder::new();
    let flat = CUBE_MSH.replace("70 1 1 1", "70 0.66 0.66 0.66");
    assert!(flat != CUBE_MSH);
    folder.write("part.msh", &flat);
    let mesh = "file = \"part.msh\"\n[[select]]\nname = \"fixed\"\nkind = \"nodes\"\nnodes = [10, 40, \
                80, 50]";
    folder.write("case.toml", &CASE.replace(GENERATED, mesh));
    let args = ["check", "case.toml", "--preview", "look.vtu"];
    let (status, _, err) = topopt(&folder.path(""), &args);
    assert_eq!(status, 1, "{err}");
    insta::assert_snapshot!(err, @r#"
      x element 7 at (0.4575, 0.4575, 0.4575) is inverted or flat: its scaled Jacobian is -3.673e-2,
      | and at least 0.001 is needed
       ,-[case.toml:4:8]
     3 | [mesh]
     4 | file = "part.msh"
       :        ^^^^^|^^^^
       :             `-- this mesh
     5 | [[select]]
       `----
      help: improve the mesh there; `topopt check CASE --preview FILE.vtu` shows the scaled Jacobian
            of every element in ParaView
    "#);
    let (status, _, err) = topopt(&folder.path(""), &["run", "case.toml", "--output", "out"]);
    assert!(status == 1 && err.contains("element 7 at"), "{err}");
    assert_eq!(folder.files(), ["case.toml", "look.vtu", "part.msh"]);
}

#[test]
fn a_preview_that_cannot_be_written() {
    let folder = Folder::new();
    for (file, message) in [
        ("look.vtk", "give a file name that ends with .vtu"),
        ("none/look.vtu", "choose an existing, writable folder"),
    ] {
        let (status, out, err) =
            topopt(&folder.path(""), &["check", "case.toml", "--preview", file]);
        assert!(status == 1 && out.is_empty() && err.contains(message), "{err}");
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

//! Loads arrive: elements at loads and supports stay solid, and what is built is verified under all
//! of a load.

use serde_json::Value;

use crate::verify::{assert_near, numbers, write_design};
use crate::{CASE, Finished, Folder, program, topopt};

/// The end face of the cantilever of 10 x 5 x 5 elements, 25 of which it has.
const END: &str = "[[select]]\nname = \"end\"\nkind = \"faces\"\n\
    box = { min = [9.9, -1, -1], max = [10.1, 6, 6] }\n";

/// [`CASE`] with a force on its end face, and more tables.
fn end_loaded(more: &str) -> Folder {
    let folder = Folder::new();
    let loads = "set = \"end\"\ntotal_force = [0, -100, 0]";
    let case = CASE.replace("set = \"load\"\nforce = [0, -1, 0]", loads);
    folder.write("case.toml", &format!("{case}{END}{more}"));
    folder
}

/// Returns the output of `topopt check` for the case, with keys to set.
fn check(folder: &Folder, set: &[&str]) -> Value {
    let mut args = vec!["check", "case.toml", "--json"];
    args.extend(set.iter().flat_map(|set| ["--set", set]));
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

fn kept(folder: &Folder, set: &[&str]) -> u64 {
    check(folder, set)["kept_elements"].as_u64().unwrap()
}

fn one_line(text: &str) -> String {
    text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refused(folder: &Folder, parts: &[&str]) {
    let args = ["verify", "out", "--threshold", "0.9"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, out.as_str()), (1, ""), "{err}");
    parts.iter().for_each(|part| assert!(one_line(&err).contains(part), "{part}\n{err}"));
}

#[test]
fn elements_at_a_loaded_face_stay_solid_and_are_counted() {
    let folder = end_loaded("");
    let Finished { out, .. } = folder.run_well(&[
        "output.compression=none",
        "filter.kind=density",
        "design.volume_fraction=0.5",
        "optimizer.max_iterations=15",
    ]);
    let line = "note: 25 elements are kept solid at loads and supports: 10 % of the part, besides the \
                design volume";
    assert!(out.contains(line), "{out}");
    assert_eq!(folder.summary()["kept_elements"], 25);
    let density = folder.array("out/design.vtu", "density");
    let mesh = crate::verify::cantilever();
    let at_end = mesh.centers().into_iter().zip(density).filter(|(x, _)| x[0] > 9.0);
    at_end.for_each(|(_, density)| assert!((density - 1.0).abs() < 1e-12, "{density}"));

    let found = numbers(&folder, &[]);
    assert_eq!(found["notes"], serde_json::json!([]));
    assert_near(&found["load_cases"][0]["applied"][1], -100.0);
}

/// A length keeps more layers, `free` none, and what is passive anyway is not counted again.
#[test]
fn the_layer_has_the_thickness_that_is_asked_for() {
    let folder = end_loaded(
        "[[select]]\nname = \"pad\"\nkind = \"elements\"\n\
         box = { min = [9, -1, -1], max = [10, 6, 3] }\n",
    );
    assert_eq!(kept(&folder, &[]), 25);
    assert_eq!(kept(&folder, &["design.keep_loaded=2.0"]), 50);
    assert_eq!(kept(&folder, &["design.solid=[\"pad\"]"]), 10);
    let free = check(&folder, &["design.keep_loaded=free"]);
    assert_eq!(free["kept_elements"], 0);
    let note =
        "load case `default`: 100 % of the forces of `end` act on elements that may become empty";
    assert!(free["notes"].to_string().contains(note), "{free}");

    for (value, message) in [
        ("0", "`design.keep_loaded` is out of range"),
        ("empty", "`design.keep_loaded` cannot be \"empty\""),
        ("true", "`design.keep_loaded` must be text in quotes or a number"),
    ] {
        let set = format!("design.keep_loaded={value}");
        let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml", "--set", &set]);
        assert!(status == 1 && one_line(&err).contains(message), "{err}");
    }
}

/// A bore or a pad is kept, a wall or a plane of symmetry is not; what moves the part is a load.
#[test]
fn supports_are_kept_where_they_are_mounts() {
    let of = |more: &str| kept(&end_loaded(more), &[]) - 25;
    let corner = "[[select]]\nname = \"spot\"\nkind = \"nodes\"\n\
        box = { min = [0, 0, 0], max = [0, 1, 1] }\n";
    assert_eq!(of(&format!("{corner}[[supports]]\nset = \"spot\"\n")), 4);
    let three =
        ["x", "y", "z"].map(|axis| format!("[[supports]]\nset = \"spot\"\nfix = [\"{axis}\"]\n"));
    assert_eq!(of(&format!("{corner}{}", three.concat())), 4);

    // The whole face at the wall is held, and is 10 % of the surface.
    assert_eq!(of(""), 0);
    let symmetry = "[[select]]\nname = \"side\"\nkind = \"nodes\"\n\
        plane = { point = [0, 0, 0], normal = [0, 0, 1] }\n\
        [[supports]]\nset = \"side\"\nfix = [\"z\"]\n";
    assert_eq!(of(symmetry), 0);
    let top = "[[select]]\nname = \"spot\"\nkind = \"nodes\"\n\
        box = { min = [3, 5, 0], max = [6, 5, 5] }\n";
    let moved = "[[supports]]\nset = \"spot\"\nfix = [\"y\"]\ndisplacement = [0, -0.1, 0]\n";
    assert_eq!(of(&format!("{top}{moved}")), 25);
    let springs = "[[springs]]\nset = \"spot\"\nstiffness = [0, 2, 0]\n";
    assert_eq!(of(&format!("{top}{springs}")), 25);
    let weight = "[[loads]]\ngravity = [0, -1, 0]\n";
    let folder = end_loaded(weight);
    assert_eq!(kept(&folder, &["material.mass_density=1"]), 25);
}

#[test]
fn void_wins_over_a_load_with_a_warning() {
    let folder = end_loaded(
        "[[select]]\nname = \"gap\"\nkind = \"elements\"\n\
         box = { min = [9, -1, -1], max = [10, 2, 6] }\n",
    );
    let found = check(&folder, &["design.void=[\"gap\"]"]);
    assert_eq!(found["kept_elements"], 15);
    let warning = "load case `default` acts on void elements: 12 of its nodes lie in it";
    assert!(found["warnings"].to_string().contains(warning), "{found}");
}

/// Without two elements at a corner of the end face two of its nodes, with 3 % of the force, are
/// empty.
#[test]
fn a_small_share_goes_to_the_nearest_solid_nodes_with_its_moment() {
    let folder = end_loaded("");
    folder.run_well(&["solver.tolerance=1e-10"]);
    let args = ["--threshold", "0.9"];
    write_design(&folder, |_| true);
    let whole = numbers(&folder, &["--threshold", "0.0005"]);
    write_design(&folder, |[x, y, z]| x < 9.0 || y < 4.0 || z < 3.0);
    let found = numbers(&folder, &args);
    let note = found["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("load case `default`: 3 % of the forces of `end` stood on empty"),
        "{note}"
    );
    assert!(note.ends_with("up to 1 away; resultant and moment are kept"), "{note}");
    for key in ["applied", "applied_moment"] {
        for i in 0..3 {
            let [found, whole] =
                [&found, &whole].map(|v| v["load_cases"][0][key][i].as_f64().unwrap());
            assert!((found - whole).abs() < 1e-9, "{key} {found} {whole}");
        }
    }
    assert!(found["compliance"]["verified"].as_f64() > whole["compliance"]["verified"].as_f64());
}

/// The surface at a density of 0.9 lies in the second row of elements, and fills less than a tenth
/// of three of them: besides the six nodes of the edge, two are empty.
#[test]
fn a_load_that_the_design_has_left_is_refused() {
    let folder = end_loaded("");
    folder.run_well(&["design.keep_loaded=free"]);
    write_design(&folder, |[x, y, _]| x < 9.0 || y > 1.0);
    let message = "load case `default`: 18 % of the forces of `end` stand on elements that are empty in \
                   the built shape, which is more than the 5 % that can be moved";
    refused(&folder, &[message, "run again with `design.keep_loaded = \"solid\"`"]);
    assert!(!folder.path("out/verify.json").exists());

    let springs = "[[select]]\nname = \"tip\"\nkind = \"nodes\"\n\
        box = { min = [10, 0, 0], max = [10, 0, 5] }\n\
        [[springs]]\nset = \"tip\"\nstiffness = [0, 1, 0]\n";
    let folder = end_loaded(springs);
    folder.run_well(&["design.keep_loaded=free"]);
    write_design(&folder, |[x, y, _]| x < 9.0 || y > 1.0);
    refused(
        &folder,
        &["100 % of the stiffness of the springs at `tip` is on elements that are empty"],
    );

    let moved = "[[supports]]\nset = \"end\"\nfix = [\"y\"]\ndisplacement = [0, -1, 0]\n";
    let folder = Folder::new();
    folder.write("case.toml", &format!("{CASE}{END}{moved}"));
    folder.run_well(&["design.keep_loaded=free"]);
    write_design(&folder, |[x, ..]| x < 9.0);
    refused(&folder, &["nothing is left of `end`, which a support moves"]);
}

/// Two blocks that share an edge alone.
#[test]
fn pieces_that_touch_in_an_edge_are_said_at_the_end_of_a_run() {
    let folder = end_loaded(
        "[[select]]\nname = \"above\"\nkind = \"elements\"\nbox = { min = [-1, 2, -1], max = [5, 6, 6] }\n\
         [[select]]\nname = \"below\"\nkind = \"elements\"\nbox = { min = [5, -1, -1], max = [11, 2, 6] }\n",
    );
    let apart = "the shape is 2 large pieces that touch in edges and corners";
    let keys = ["design.void=[\"above\",\"below\"]", "design.volume_fraction=0.9"];
    let Finished { out, .. } = folder.run_well(&keys);
    assert!(out.contains(&format!("warning: {apart}")), "{out}");
    let Finished { out, .. } = folder.run_well(&keys[1..]);
    assert!(!out.contains("large pieces"), "{out}");
}

/// A slab of void between load and support: the shape is in two pieces.
#[test]
fn what_does_not_hang_together_is_said_at_the_end_of_a_run() {
    let folder = end_loaded(
        "[[select]]\nname = \"slab\"\nkind = \"elements\"\n\
         box = { min = [4, -1, -1], max = [6, 6, 6] }\n",
    );
    let Finished { out, .. } = folder.run_well(&["design.void=[\"slab\"]"]);
    let warnings = folder.summary()["warnings"].clone();
    let unconnected = "load case `default` is not connected with the supports: 100 % of its forces is on \
                       pieces that nothing holds";
    assert!(warnings.to_string().contains(unconnected), "{warnings}");
    assert!(out.contains(&format!("warning: {unconnected}")), "{out}");
    assert!(warnings.to_string().contains("of the shape float"), "{warnings}");
    folder.run_well(&["optimizer.max_iterations=30", "design.volume_fraction=0.5"]);
    let warnings = folder.summary()["warnings"].to_string();
    assert!(!warnings.contains("piece"), "{warnings}");
}

#[test]
fn a_changed_layer_is_no_run_to_resume() {
    let folder = end_loaded("");
    folder.run_well(&["output.checkpoint_every=1"]);
    let Finished { status, err, .. } = folder.run(&["design.keep_loaded=free"], &["--resume"]);
    assert_eq!(status, 1);
    assert!(err.contains("design.keep_loaded: \"solid\" -> \"free\""), "{err}");
    // The program itself reads what it has written.
    let case = folder.read("out/case.toml");
    assert!(case.contains("keep_loaded = \"solid\""), "{case}");
    assert!(program(&folder.path("")).args(["check", "out/case.toml"]).status().unwrap().success());
}

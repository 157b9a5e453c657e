//! `topopt distance`: values, what VTK reads of them, what is refused.

use std::path::Path;

use serde_json::json;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::generate::block;
use topopt_mesh::numbers::place;
use topopt_mesh::vector::{difference, length};
use topopt_study::distance::{Part, Question};
use topopt_study::place::Place;

use crate::vtk::{array, number, read};
use crate::{CASE, Finished, Folder, program};

/// Sets of the cantilever of 10 x 5 x 5 elements: its end x = 10, and the elements beyond x = 5.
const SELECTED: &str = "[[select]]\nname = \"end\"\nkind = \"faces\"\n\
    normal = { direction = [1, 0, 0] }\n\
    [[select]]\nname = \"half\"\nkind = \"elements\"\nbox = { min = [5, 0, 0], max = [10, 5, 5] }\n\
    [[loads]]";

fn distance(folder: &Folder, args: &[&str]) -> Finished {
    program(&folder.path(""))
        .args(["distance", "--device", "cpu"])
        .args(args)
        .output()
        .unwrap()
        .into()
}

/// Runs `topopt distance`, which must succeed; returns its output without the seconds.
fn distance_well(folder: &Folder, args: &[&str]) -> String {
    let Finished { status, out, err } = distance(folder, args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let without = |line: &str| match line.split_once(" in ") {
        Some((start, seconds)) if seconds.ends_with(" s, cpu") => format!("{start} in N s\n"),
        _ => format!("{line}\n"),
    };
    out.lines().map(without).collect()
}

/// The part of a mesh or a case.
fn part(path: &Path) -> Part {
    Part::read(path, Path::new("none.vtu"), &Gmsh::default(), &Interrupt::new()).unwrap()
}

const CPU: Place = Place::Cpu { note: None };

fn from(set: &str) -> Question {
    let (from, within) = (vec![set.to_owned()], f64::INFINITY);
    Question { from, from_surface: false, speeds: Vec::new(), within }
}

#[test]
fn distances_from_sets_of_a_mesh_and_a_case() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replacen("[[loads]]", SELECTED, 1));
    let part = part(&folder.path("case.toml"));
    let values = |question: &Question| part.distances(question, &CPU).unwrap().values;
    let [fixed, end] = ["fixed", "end"].map(|set| values(&from(set)));
    let both = values(&Question { from: vec!["end".into(), "fixed".into()], ..from("") });
    let half = vec![("design".into(), 7.0), ("design".into(), 1.0), ("half".into(), 2.0)];
    let arrival = values(&Question { speeds: half, ..from("fixed") });
    let near = values(&Question { within: 3.0, ..from("end") });
    let surface = values(&Question { from: Vec::new(), from_surface: true, ..from("") });

    assert_eq!(fixed.len(), 396);
    let assert_equal = |found: f64, expected: f64, node: usize| {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected} at {node}");
    };
    for node in 0..fixed.len() {
        let (number, [x, y, z]) = part.node(node);
        assert_eq!(number, node as u64 + 1);
        assert_equal(fixed[node], x, node);
        assert_equal(end[node], 10.0 - x, node);
        assert_equal(both[node], x.min(10.0 - x), node);
        assert_equal(arrival[node], x.min(5.0) + 0.5 * (x - 5.0).max(0.0), node);
        if x < 6.5 {
            assert!(near[node].is_nan())
        } else {
            assert_equal(near[node], 10.0 - x, node)
        }
        let walls = [x, 10.0 - x, y, 5.0 - y, z, 5.0 - z];
        // Fronts meet between the nodes: up to a third of an element, and nowhere beyond the exact
        // one.
        let error = surface[node] - walls.into_iter().fold(10.0, f64::min);
        assert!((-0.34..1e-12).contains(&error), "{error} at {node}");
    }
}

#[test]
fn what_is_written_and_said() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replacen("[[loads]]", SELECTED, 1));
    let args = ["case.toml", "--from", "end", "-o", "far.vtu"];
    insta::assert_snapshot!(distance_well(&folder, &args), @r"
    wrote far.vtu: `distance` at 396 nodes, 250 elements
    largest distance 10 at node 336, (0, 5, 5); from 36 nodes in N s
    ");
    let args =
        ["case.toml", "--from", "end", "--speed", "half = 2", "--within", "1", "-o", "near.vtu"];
    insta::assert_snapshot!(distance_well(&folder, &args), @r"
    wrote near.vtu: `arrival` at 396 nodes, 250 elements
    largest arrival 1 at node 384, (8, 5, 5); from 36 nodes in N s
    288 nodes lie beyond 1 and have NaN
    ");

    let Some(far) = read(&folder.path("far.vtu")) else { return };
    assert_eq!((&far["points"], &far["cells"]), (&json!(396), &json!(250)));
    let values = array(&far["point_data"], "distance");
    assert_eq!(
        (&values["nan"], &values["min"], &values["max"]),
        (&json!(0), &json!([0.0]), &json!([10.0]))
    );
    assert!((number(&values["sum"][0]) - 396.0 * 5.0).abs() < 1e-9, "{values}");
    let near = read(&folder.path("near.vtu")).unwrap();
    assert_eq!(array(&near["point_data"], "arrival")["nan"], 288);
}

/// Tetrahedra are cut to measure on, and written as they were.
#[test]
fn a_cut_part_is_written_by_the_cells_of_its_file() {
    let folder = Folder::new();
    let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes");
    let file = meshes.join("mixed.vtu");
    let args = [file.to_str().unwrap(), "--from-surface", "-o", "far.vtu"];
    distance_well(&folder, &args);
    let [given, far] = [file.clone(), folder.path("far.vtu")].map(|file| read(&file));
    let (Some(given), Some(far)) = (given, far) else { return };
    for same in ["points", "cells", "bounds"] {
        assert_eq!(given[same], far[same], "{same}");
    }

    assert_eq!(far["cell_types"], json!([10, 12, 13, 14]), "by their corners");
    let imported = topopt_io::read_mesh(&file).unwrap();
    let uncut = imported.uncut.unwrap();
    let part = part(&file);
    for (node, x) in uncut.coordinates.iter().enumerate() {
        let (_, at) = part.node(node);
        assert!(length(difference(at, *x)) == 0.0, "{} is not {}", place(at), place(*x));
    }
}

/// Two cubes that share nothing, and sets of them, one of which is empty.
fn two_cubes(folder: &Folder) {
    let (mut points, mut hexes) = block([1; 3], |node| node.map(|i| i as f64));
    points.extend(points.clone().iter().map(|[x, y, z]| [x + 2.0, *y, *z]));
    hexes.push(hexes[0].map(|node| node + 8));
    let sets = [("left", [1, 0]), ("none", [0, 0])];
    let sets = sets.each_ref().map(|(name, values)| Array {
        name,
        components: 1,
        values: Values::U8(values),
    });
    let path = folder.path("two.vtu");
    vtu::write(&path, &points, &hexes, &[], &sets, Compression::default()).unwrap();
}

#[test]
fn a_part_that_is_not_reached_is_said() {
    let folder = Folder::new();
    two_cubes(&folder);
    insta::assert_snapshot!(distance_well(&folder, &["two.vtu", "--from", "left", "-o", "far.vtu"]), @r"
    wrote far.vtu: `distance` at 16 nodes, 2 elements
    largest distance 0 at node 7, (1, 1, 1); from 8 nodes in N s
    warning: 8 nodes are not reached and have NaN: no way through elements leads there
    ");
}

#[test]
fn what_is_refused_leaves_nothing() {
    let folder = Folder::new();
    two_cubes(&folder);
    let mut refusals = String::new();
    for args in [
        &["two.vtu", "--from", "lift", "--from", "none", "-o", "a.vtu"][..],
        &["two.vtu", "--from", "left", "--speed", "right=2", "-o", "a.vtu"],
        &["two.vtu", "--from", "left", "--speed", "none=2", "-o", "a.vtu"],
        &["two.vtu", "--from", "left", "-o", "two.vtu"],
        &["two.vtu", "--from", "left", "-o", "a.stl"],
        &["two.vtu", "--from", "left", "-o", "none/a.vtu"],
        &["case.toml", "--from", "left", "-o", "a.vtu"],
        &["no.msh", "--from", "left", "-o", "a.vtu"],
    ] {
        let Finished { status, out, err } = distance(&folder, args);
        assert_eq!((status, out.as_str()), (1, ""), "{args:?}");
        refusals += &err;
    }
    insta::assert_snapshot!(refusals, @r"
    x node, face or element set `lift` is not in the mesh
    help: did you mean `left`? the mesh has left (1 elements), none (0 elements)

    x set `none` is empty
    help: use another set, or fill this one in the mesher
    x element set `right` is not in the mesh
    help: the mesh has left (1 elements), none (0 elements)
    x set `none` is empty
    help: use another set, or fill this one in the mesher
    x two.vtu is an input
    help: choose another file to write
    x cannot write the format of a.stl
    help: give a file name that ends with .vtu
    x cannot write none/a.vtu: No such file or directory (os error 2)
    help: choose an existing, writable folder with enough space
    x node, face or element set `left` is not in the mesh
    help: the mesh has design (250 elements), fixed (25 faces), load (6 nodes)
    x no.msh: cannot read the file: No such file or directory (os error 2); check its name and its
    | permissions
    ");
    assert_eq!(folder.files(), ["case.toml", "two.vtu"]);
}

#[test]
fn values_that_make_no_sense() {
    for (args, message) in [
        (&["a.msh", "-o", "a.vtu"][..], "--from"),
        (&["a.msh", "--from", "a", "-o", "a.vtu", "--speed", "a=0"], "a speed above 0"),
        (&["a.msh", "--from", "a", "-o", "a.vtu", "--speed", "a"], "such as rings=0.5"),
        (&["a.msh", "--from", "a", "-o", "a.vtu", "--within=-1"], "--within"),
    ] {
        let Finished { status, err, .. } = distance(&Folder::new(), args);
        assert!(status == 1 && err.contains(message), "{err}");
    }
}

//! Parts that expand by changes of temperature.

use serde_json::Value;

use crate::{Folder, difference, topopt};

const EXPANSION: f64 = 12e-6;
const MODULUS: f64 = 200e3;
const RATIO: f64 = 0.3;

/// A bar of 10 x 5 x 5, which single nodes hold as a body that is free to expand.
const BAR: &str = r#"
[mesh]
generator = "cantilever"
elements = 250

[material]
youngs_modulus = 200e3
poissons_ratio = 0.3
thermal_expansion = 12e-6

[[select]]
name = "corner"
kind = "nodes"
nearest = [0.0, 0.0, 0.0]

[[select]]
name = "along"
kind = "nodes"
nearest = [10.0, 0.0, 0.0]

[[select]]
name = "across"
kind = "nodes"
nearest = [0.0, 5.0, 0.0]

[solver]
tolerance = 1e-12
device = "cpu"

[output]
compression = "none"
"#;

const FREE: &str = r#"
[[supports]]
set = "corner"

[[supports]]
set = "along"
fix = ["y", "z"]

[[supports]]
set = "across"
fix = ["z"]
"#;

/// Solves `case.toml` of these parts, which must succeed: the folder with `out`, and the numbers.
fn solved(parts: &[&str]) -> (Folder, Value) {
    let folder = Folder::new();
    folder.write("case.toml", &parts.concat());
    let found = solve(&folder);
    (folder, found)
}

fn solve(folder: &Folder) -> Value {
    let args = ["solve", "case.toml", "-o", "out", "--json", "--overwrite"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!(status, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn refused(parts: &[&str]) -> String {
    let folder = Folder::new();
    folder.write("case.toml", &parts.concat());
    let (status, _, err) = topopt(&folder.path(""), &["solve", "case.toml", "-o", "out"]);
    assert_eq!(status, 1, "{err}");
    err
}

#[test]
fn a_free_block_expands_without_stress() {
    let load = "[[loads]]\ntemperature = 100\nreference_temperature = 20\n";
    let (folder, found) = solved(&[BAR, FREE, load]);
    let places = folder.array("out/analysis.vtu", "Points");
    let expected: Vec<f64> = places.iter().map(|x| EXPANSION * 80.0 * x).collect();
    let off = difference(&folder.array("out/analysis.vtu", "displacement"), &expected);
    assert!(off < 1e-10, "{off:e}");

    let stress = found["load_cases"][0]["von_mises"]["maximum"].as_f64().unwrap();
    assert!(stress < 1e-9 * MODULUS * EXPANSION * 80.0, "{stress}");
    assert!(found["warnings"].as_array().unwrap().is_empty(), "{found}");
    let changes = folder.array("out/analysis.vtu", "temperature_change");
    assert!(changes.iter().all(|change| *change == 80.0));
}

/// All faces of a block are held across: the pressure is E a T / (1 - 2 nu).
#[test]
fn a_block_held_on_all_faces_has_the_pressure_of_theory() {
    let mut supports = String::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let mut normal = [0.0; 3];
        normal[axis] = 1.0;
        for (side, at) in [("low", 0.0), ("high", if axis == 0 { 10.0 } else { 5.0 })] {
            let point = normal.map(|n| n * at);
            supports += &format!(
                "[[select]]\nname = \"{name}_{side}\"\nkind = \"faces\"\n\
                 plane = {{ point = {point:?}, normal = {normal:?} }}\n\
                 [[supports]]\nset = \"{name}_{side}\"\nkind = \"faces\"\nfix = [\"{name}\"]\n"
            );
        }
    }
    let (folder, found) = solved(&[BAR, &supports, "[[loads]]\ntemperature = -50\n"]);
    let pressure = MODULUS * EXPANSION * 50.0 / (1.0 - 2.0 * RATIO);
    for stress in folder.array("out/analysis.vtu", "stress").as_chunks::<6>().0 {
        let expected = [pressure, pressure, pressure, 0.0, 0.0, 0.0];
        assert!(difference(stress, &expected) < 1e-8, "{stress:?}");
    }

    // The reactions are those of the pressure on the faces, and balance each other.
    let balance = &found["load_cases"][0];
    let reaction = balance["reactions"][0]["force"][0].as_f64().unwrap();
    assert!((reaction / (-25.0 * pressure) - 1.0).abs() < 1e-8, "{reaction}");
    assert_eq!(balance["applied"], serde_json::json!([0.0, 0.0, 0.0]));
    let sum = balance["sum"][0].as_f64().unwrap();
    assert!(sum.abs() < 1e-8 * reaction.abs(), "{sum}");
}

/// The deck of a strip of 40 x 2 x 1 from x = 0, y = 0, z = 0, of bricks of 1 x 1 x 1.
fn strip() -> String {
    let number = |i: usize, j: usize, k: usize| 1 + i + 41 * (j + 3 * k);
    let mut deck = "*NODE\n".to_owned();
    for (k, j, i) in (0..41 * 3 * 2).map(|n| (n / 123, n / 41 % 3, n % 41)) {
        deck += &format!("{}, {i}., {j}., {k}.\n", number(i, j, k));
    }
    deck += "*ELEMENT, TYPE=C3D8I, ELSET=ALL\n";
    for (j, i) in (0..80).map(|n| (n / 40, n % 40)) {
        let base = [(0, 0), (1, 0), (1, 1), (0, 1)];
        let nodes = (0..2).flat_map(|k| base.map(|(di, dj)| number(i + di, j + dj, k).to_string()));
        deck += &format!("{}, {}\n", 1 + i + 40 * j, nodes.collect::<Vec<_>>().join(", "));
    }
    deck
}

/// Two layers of one modulus and height, of which one expands by a along the strip: the curvature
/// is 3 a T / (2 h).
#[test]
fn a_bimetal_strip_has_the_curvature_of_theory() {
    let case = r#"
[mesh]
file = "strip.inp"

[material]
youngs_modulus = 200e3
poissons_ratio = 0.0
thermal_expansion = 0.0

[[select]]
name = "upper"
kind = "elements"
box = { min = [-1.0, 1.0, -1.0], max = [50.0, 3.0, 2.0] }

[[materials]]
set = "upper"
youngs_modulus = 200e3
thermal_expansion = [20e-6, 0.0, 0.0]

[[select]]
name = "corner"
kind = "nodes"
nearest = [0.0, 0.0, 0.0]

[[select]]
name = "along"
kind = "nodes"
nearest = [40.0, 0.0, 0.0]

[[select]]
name = "across"
kind = "nodes"
nearest = [0.0, 0.0, 1.0]

[[supports]]
set = "corner"

[[supports]]
set = "along"
fix = ["y", "z"]

[[supports]]
set = "across"
fix = ["y"]

[[loads]]
temperature = 50.0

[solver]
tolerance = 1e-12
device = "cpu"

[output]
compression = "none"
"#;
    let folder = Folder::new();
    folder.write("strip.inp", &strip());
    folder.write("case.toml", case);
    solve(&folder);
    let u = folder.array("out/analysis.vtu", "displacement");
    let deflection = |x: usize| u[3 * (x + 41) + 1];
    let curvature = (deflection(10) - 2.0 * deflection(20) + deflection(30)) / 100.0;
    let expected = -3.0 * 20e-6 * 50.0 / (2.0 * 2.0);
    assert!((curvature / expected - 1.0).abs() < 1e-6, "{curvature} {expected}");
}

/// A bar of the same form that heat flows into at its end.
const HEAT: &str = r#"
[physics]
kind = "heat"

[mesh]
generator = "cantilever"
elements = 250

[material]
conductivity = 50.0

[[select]]
name = "end"
kind = "faces"
plane = { point = [10.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }

[[select]]
name = "root"
kind = "faces"
plane = { point = [0.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }

[[supports]]
set = "root"
temperature = 20.0

[[loads]]
set = "end"
heat_flux = 300.0

[solver]
tolerance = 1e-12
device = "cpu"
"#;

/// A thermal case is solved first: a temperature linear along the bar bends it without stress.
#[test]
fn heat_and_expansion_are_solved_in_one_command() {
    let folder = Folder::new();
    folder.write("heat.toml", HEAT);
    let load = "[[loads]]\ntemperature = { file = \"heat.toml\" }\nreference_temperature = 20\n";
    folder.write("case.toml", &[BAR, FREE, load].concat());
    let found = solve(&folder);

    let gradient = 300.0 / 50.0;
    let places = folder.array("out/analysis.vtu", "Points");
    let expected = places.as_chunks::<3>().0.iter().flat_map(|[x, y, z]| {
        let along = [0.5 * (x * x - y * y - z * z), x * y, x * z];
        along.map(|u| EXPANSION * gradient * u)
    });
    let expected: Vec<f64> = expected.collect();
    let off = difference(&folder.array("out/analysis.vtu", "displacement"), &expected);
    assert!(off < 1e-8, "{off:e}");
    let stress = found["load_cases"][0]["von_mises"]["maximum"].as_f64().unwrap();
    assert!(stress < 1e-7 * MODULUS * EXPANSION * gradient * 10.0, "{stress}");

    // The case among the results repeats the analysis, and so does a file of temperatures.
    let first = folder.array("out/analysis.vtu", "displacement");
    let (status, _, err) = topopt(&folder.path("out"), &["solve", "case.toml", "-o", "again"]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(folder.array("out/again/analysis.vtu", "displacement"), first);
    let (status, _, err) = topopt(&folder.path(""), &["solve", "heat.toml", "-o", "warm"]);
    assert_eq!(status, 0, "{err}");
    let load = "[[loads]]\ntemperature = { file = \"warm/analysis.vtu\" }\n\
                reference_temperature = 20\n";
    folder.write("case.toml", &[BAR, FREE, load].concat());
    solve(&folder);
    assert!(difference(&folder.array("out/analysis.vtu", "displacement"), &first) < 1e-12);
}

/// An expression is that field; nodes and elements of sets have theirs, and the rest the other.
#[test]
fn temperatures_of_fields_and_sets() {
    let field = "[[loads]]\ntemperature = \"20 + 6 * x\"\nreference_temperature = 20\n";
    let (folder, _) = solved(&[BAR, FREE, field]);
    let tip = folder.array("out/analysis.vtu", "displacement");
    let places = folder.array("out/analysis.vtu", "Points");
    let far = places.as_chunks::<3>().0.iter().position(|x| *x == [10.0, 0.0, 0.0]).unwrap();
    assert!((tip[3 * far] / (EXPANSION * 6.0 * 50.0) - 1.0).abs() < 1e-9, "{}", tip[3 * far]);

    let half = "[[select]]\nname = \"half\"\nkind = \"elements\"\n\
                box = { min = [-1, -1, -1], max = [5.1, 9, 9] }\n";
    let sets = "[[loads]]\ntemperature = 30\n[[loads]]\nset = \"half\"\ntemperature = 50\n\
                [[loads]]\nset = \"along\"\ntemperature = 38\n";
    let (folder, _) = solved(&[BAR, FREE, half, sets]);
    let mut changes = folder.array("out/analysis.vtu", "temperature_change");
    changes.sort_by(f64::total_cmp);
    // An eighth of the difference at the one node of the corner element.
    let expected = [vec![30.0; 124], vec![31.0], vec![50.0; 125]].concat();
    assert!(difference(&changes, &expected) < 1e-12, "{changes:?}");
}

#[test]
fn what_is_no_temperature_is_refused() {
    let bare = BAR.replace("thermal_expansion = 12e-6\n", "");
    let err = refused(&[&bare, FREE, "[[loads]]\ntemperature = 30\n"]);
    assert!(err.contains("has no `thermal_expansion`") && err.contains("12e-6"), "{err}");
    let twice = "[[loads]]\ntemperature = 30\n[[loads]]\ntemperature = 40\n";
    let err = refused(&[BAR, FREE, twice]);
    assert!(err.contains("all other elements have two temperatures"), "{err}");
    let alone = "[[loads]]\nset = \"load\"\nforce = [0, 1, 0]\nreference_temperature = 3\n";
    let err = refused(&[BAR, FREE, alone]);
    assert!(err.contains("`reference_temperature` without `temperature`"), "{err}");
    let err = refused(&[BAR, FREE, "[[loads]]\ntemperature = \"20 +\"\n"]);
    assert!(err.contains("`temperature` is no expression"), "{err}");
    let err = refused(&[BAR, FREE, "[[loads]]\ntemperature = { file = \"case.toml\" }\n"]);
    assert!(err.contains("is no thermal case"), "{err}");
    let err = refused(&[BAR, FREE, "[[loads]]\ntemperature = { file = \"none.vtu\" }\n"]);
    assert!(err.contains("none.vtu"), "{err}");

    let layered = "layered = { build_direction = [0, 0, 1], knock_down = 0.6 }\n";
    let three = format!("thermal_expansion = [1e-6, 2e-6, 3e-6]\n{layered}");
    let unlike = BAR.replace("thermal_expansion = 12e-6\n", &three);
    let err = refused(&[&unlike, FREE, "[[loads]]\ntemperature = 30\n"]);
    assert!(err.contains("expands alike within its layers"), "{err}");
}

#[test]
fn temperatures_of_another_part_are_refused() {
    let folder = Folder::new();
    // A bar of 6 x 3 x 3 in the corner of this one, whose end it does not reach.
    folder.write("heat.toml", &HEAT.replace("250", "54").replace("[10.0,", "[6.0,"));
    let load = "[[loads]]\ntemperature = { file = \"heat.toml\" }\n";
    folder.write("case.toml", &[BAR, FREE, load].concat());
    let (status, _, err) = topopt(&folder.path(""), &["solve", "case.toml", "-o", "out"]);
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("is not that of the part") && err.contains("(6, 3, 3)"), "{err}");

    // At its root they are known.
    let of_set = load.replace("]]\n", "]]\nset = \"corner\"\n");
    folder.write("case.toml", &[BAR, FREE, &of_set].concat());
    solve(&folder);
}

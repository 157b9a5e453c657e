//! `topopt verify`: the design of a run solved again as solid and void.

use serde_json::Value;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};

use crate::gmsh::has_gmsh;
use crate::{CASE, Finished, Folder, program};

fn verify(folder: &Folder, args: &[&str]) -> Finished {
    program(&folder.path("")).args(["verify", "out"]).args(args).output().unwrap().into()
}

/// Returns the numbers of a verification, which may report that the volume is not kept.
pub fn numbers(folder: &Folder, args: &[&str]) -> Value {
    let finished = verify(folder, &[args, &["--json"]].concat());
    let is_met = (finished.status, finished.err.as_str()) == (0, "");
    assert!(is_met || finished.status == 3, "{}", finished.err);
    let numbers: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(numbers, serde_json::from_str::<Value>(&folder.read("out/verify.json")).unwrap());
    numbers
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub fn assert_near(found: &Value, expected: f64) {
    let found = number(found);
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

/// Refused with all the `parts` of a message.
fn refused(folder: &Folder, args: &[&str], parts: &[&str]) {
    let Finished { status, out, err } = verify(folder, args);
    assert_eq!((status, out.as_str()), (1, ""), "{err}");
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(message.contains(part), "{part}\n{err}");
    }
}

/// The mesh of [`CASE`]: 10 x 5 x 5 unit elements.
pub fn cantilever() -> HexMesh {
    Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap()
}

/// Overwrites the design of 10 x 5 x 5 unit elements by those whose center is `solid`.
pub fn write_design(folder: &Folder, solid: impl Fn([f64; 3]) -> bool) {
    let mesh = cantilever();
    let density: Vec<f64> =
        mesh.centers().into_iter().map(|x| if solid(x) { 1.0 } else { 0.001 }).collect();
    let cells = [Array { name: "density", components: 1, values: Values::F64(&density) }];
    let (path, x) = (folder.path("out/design.vtu"), mesh.coordinates());
    vtu::write(&path, x, mesh.hexes(), &[], &cells, Compression::None).unwrap();
}

/// Meshed anew, a bar has the same exact solution; forces on each node of an edge keep their sum,
/// and supports and loads that are named are found on the new mesh.
#[test]
fn a_bar_meshed_anew_is_as_in_the_book() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let end = "[[select]]\nname = \"end\"\nkind = \"faces\"\n\
               box = { min = [9.9, -1, -1], max = [10.1, 6, 6] }\n\
               [material]\nyoungs_modulus = 70\npoissons_ratio = 0\n";
    let loads = "set = \"end\"\ntraction = [2, 0, 0]\n[[loads]]\ncase = \"edge\"\nset = \"load\"\n\
                 force = [0, -1, 0]\n[[loads]]\ncase = \"bent\"\nset = \"end\"\n\
                 traction = [0, -1, 0]";
    let case = CASE.replace("set = \"load\"\nforce = [0, -1, 0]", loads) + end;
    folder.write("case.toml", &case);
    let settings =
        ["design.keep_loaded=free", "optimizer.max_iterations=1", "solver.tolerance=1e-10"];
    folder.run_well(&settings);

    let found = numbers(&folder, &["--remesh"]);
    let [remeshed, cases] = [&found["remeshed"], &found["remeshed"]["load_cases"]];
    assert!(number(&remeshed["elements"]) > 100.0 && number(&remeshed["nodes"]) > 200.0);
    assert!((number(&remeshed["volume"]) / 250.0 - 1.0).abs() < 1e-9);
    let pulled = number(&cases[0]["compliance"]);
    assert!((pulled / (2.0 * 2.0 * 25.0 * 10.0 / 70.0) - 1.0).abs() < 1e-6, "{pulled}");
    let applied = number(&cases[1]["applied"][1]);
    assert!((applied + 6.0).abs() < 1e-9, "{applied}");
    let bent = number(&cases[2]["compliance"]) / number(&found["load_cases"][2]["compliance"]);
    assert!((bent - 1.0).abs() < 0.02, "{bent}");
}

/// A bar of 10 x 5 x 5 of E = 70 under the traction 2: C = t^2 A L / E, u = t L / E.
#[test]
fn a_solid_bar_is_as_in_the_book() {
    let folder = Folder::new();
    let end = "[[select]]\nname = \"end\"\nkind = \"faces\"\n\
               box = { min = [9.9, -1, -1], max = [10.1, 6, 6] }\n\
               [material]\nyoungs_modulus = 70\npoissons_ratio = 0\nyield_strength = 7\n";

    let loads = "set = \"end\"\ntraction = [2, 0, 0]";
    let case = CASE.replace("set = \"load\"\nforce = [0, -1, 0]", loads) + end;
    folder.write("case.toml", &case);
    folder.run_well(&[
        "design.keep_loaded=free",
        "optimizer.max_iterations=1",
        "solver.tolerance=1e-12",
    ]);

    let found = numbers(&folder, &[]);
    assert_near(&found["compliance"]["verified"], 2.0 * 2.0 * 25.0 * 10.0 / 70.0);
    // The run had the density 0.3 everywhere.
    assert_near(&found["compliance"]["ratio"], 0.3f64.powi(3));
    assert_near(&found["grey_level"], 4.0 * 0.3 * 0.7);
    assert_near(&found["volume"]["verified"], 250.0);
    assert_near(&found["volume_fraction"]["optimized"], 0.3);

    assert_near(&found["largest_displacement"]["value"], 2.0 * 10.0 / 70.0);
    assert_eq!(found["largest_displacement"]["at"][0], 10.0);
    for key in ["percentile_95", "percentile_99", "maximum"] {
        assert_near(&found["von_mises"][key], 2.0);
    }

    assert_near(&found["load_cases"][0]["safety_factors"][0]["factor"], 3.5);

    // A climb ends a hundredth of an element before the middle.
    assert!((number(&found["smallest_member"]["width"]) - 5.0).abs() < 0.05);
    assert_eq!(found["parts"], serde_json::json!([1.0]));
    assert_eq!((&found["smallest_gap"], &found["notes"]), (&Value::Null, &serde_json::json!([])));

    refused(
        &folder,
        &["--threshold", "0.5"],
        &[
            "nothing has a density of 0.5 or more: the largest is 0.3000",
            "give a smaller `--threshold`",
        ],
    );
}

/// The numbers against the files of the run and of the verification.
#[test]
fn a_small_cantilever() {
    let folder = Folder::new();
    folder.run_well(&[
        "mesh.elements=1000",
        "design.keep_loaded=free",
        "optimizer.max_iterations=15",
        "output.compression=none",
        "solver.tolerance=1e-9",
    ]);
    let found = numbers(&folder, &[]);
    let density = folder.array("out/design.vtu", "density");
    let n = density.len() as f64; // all volumes are 1
    let grey = density.iter().map(|rho| 4.0 * rho * (1.0 - rho)).sum::<f64>() / n;
    assert_near(&found["grey_level"], grey);
    assert_near(&found["compliance"]["optimized"], number(&folder.summary()["compliance"]));
    // What was grey is stiffer as solid: SIMP makes it softer than its share of material.
    let ratio = number(&found["compliance"]["ratio"]);
    assert!((0.6..1.0).contains(&ratio), "{ratio}");
    assert!((number(&found["volume"]["ratio"]) - 1.0).abs() < 1e-5);
    let [p95, p99, maximum] =
        ["percentile_95", "percentile_99", "maximum"].map(|key| number(&found["von_mises"][key]));
    assert!(0.0 < p95 && p95 < p99 && p99 < maximum);
    let member = number(&found["smallest_member"]["width"]);
    assert!((0.5..3.0).contains(&member), "{member}");
    let shares = found["parts"].as_array().unwrap().iter().map(number);
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-12);

    // A lower threshold, more material: stiffer.
    let generous = numbers(&folder, &["--threshold", "0.1"]);
    assert!(number(&generous["compliance"]["verified"]) < number(&found["compliance"]["verified"]));
    let text = verify(&folder, &[]).out;
    assert!(text.lines().any(|line| line.trim_start().starts_with("compliance ")), "{text}");
    assert!(text.ends_with("written to verify.json and verify.vtu in out\n"), "{text}");
    assert!(folder.path("out/verify.vtu").is_file());
    folder.run_well(&[]);
    assert!(!folder.path("out/verify.json").exists() && !folder.path("out/verify.vtu").exists());
}

/// Pieces that nothing holds, or no load reaches.
#[test]
fn pieces_that_carry_nothing_are_told() {
    let folder = Folder::new();
    folder.run_well(&[]);
    let args = ["--threshold", "0.5"];
    let below = |y: f64| y < 2.0;
    write_design(&folder, |[x, y, _]| below(y) || (4.0..9.0).contains(&x) && y > 4.0);
    let found = numbers(&folder, &args);
    assert_eq!(found["parts"].as_array().unwrap().len(), 2);
    let falls = "the built part falls into 2 pieces, the largest of ";
    assert!(has_warning(&found, falls, " % of its volume"), "{found}");
    let thin = "the thinnest members are 0.";
    assert!(has_warning(&found, thin, "a finer mesh tells"), "{found}");
    let loose = "that nothing holds: it was left out of the solve";
    assert!(has_warning(&found, "a piece about (6.5, ", loose), "{found}");
    assert_eq!(found["notes"], serde_json::json!([]));

    write_design(&folder, |[x, y, _]| below(y) || x < 4.0 && y > 4.0);
    let found = numbers(&folder, &args);
    assert!(has_warning(&found, "a piece", "that no load reaches: it carries nothing"), "{found}");
}

fn has_warning(found: &Value, start: &str, end: &str) -> bool {
    let warnings = found["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    warnings.into_iter().any(|warning| warning.starts_with(start) && warning.ends_with(end))
}

#[test]
fn designs_that_do_not_connect_are_refused() {
    let folder = Folder::new();
    folder.run_well(&[]);
    let remedy = "or run more iterations";
    write_design(&folder, |x| (x[0] - 5.0).abs() > 2.0);
    let message = "no solid elements connect load case `default` with the supports";
    refused(&folder, &["--threshold", "0.5"], &[message, remedy]);
    write_design(&folder, |x| x[0] < 5.0);
    let message =
        "load case `default`: 100 % of the forces of `load` stand on elements that are empty";
    refused(&folder, &["--threshold", "0.5"], &[message, remedy]);
    let other = program(&folder.path("")).args(["verify", "none"]).output().unwrap();
    let err = String::from_utf8(other.stderr).unwrap();
    assert!(err.contains("none is not a results folder"), "{err}");
}

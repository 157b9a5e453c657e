//! Gravity, springs and displaced supports through the whole program.

use topopt_cuda::{Probe, probe};
use topopt_io::vtk::vtu;
use topopt_mesh::generate::{Benchmark, Resolution};

use crate::verify::{assert_near, numbers, write_design};
use crate::vtk::{array, number, read};
use crate::{CASE, Folder, difference, topopt};

/// Ends of the bar of 10 x 5 x 5, on which the cases below act.
const ENDS: &str = "[[select]]\nname = \"wall\"\nkind = \"faces\"\n\
    plane = { point = [0, 0, 0], normal = [1, 0, 0] }\n\
    [[select]]\nname = \"end\"\nkind = \"faces\"\n\
    plane = { point = [10, 0, 0], normal = [1, 0, 0] }\n\n";

/// A folder with a case of the supports, springs and loads of `conditions`.
pub fn folder(conditions: &str) -> Folder {
    let folder = Folder::new();
    let start = CASE.find("[[supports]]").unwrap();
    let end = CASE.find("[design]").unwrap();
    folder.write("case.toml", &format!("{}{ENDS}{conditions}\n{}", &CASE[..start], &CASE[end..]));
    folder
}

/// Settings of a bar full of material of modulus 20, without lateral contraction.
pub const BAR: [&str; 8] = [
    "design.keep_loaded=free",
    "material.poissons_ratio=0",
    "material.youngs_modulus=20",
    "material.mass_density=0.5",
    "design.volume_fraction=1",
    "optimizer.max_iterations=1",
    "solver.tolerance=1e-12",
    "output.compression=none",
];

/// Runs the bar; its displacement must be along x and of `exact` at x. Returns the compliance.
fn run_bar(conditions: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let folder = folder(conditions);
    folder.run_well(&BAR);
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let expected: Vec<f64> =
        mesh.coordinates().iter().flat_map(|x| [exact(x[0]), 0.0, 0.0]).collect();
    let found = folder.array("out/design.vtu", "displacement");
    assert!(difference(&found, &expected) < 1e-9, "{}", difference(&found, &expected));
    folder.summary()["compliance"].as_f64().unwrap()
}

fn assert_relative(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

/// Both ends turn about one axis: the part moves as a rigid body, u = w x (x - c).
#[test]
fn turned_ends_turn_the_whole_bar() {
    let turned = |set: &str| {
        format!(
            "[[supports]]\nset = \"{set}\"\nrotation = [0.01, -0.02, 0.03]\ncenter = [1, 2, -3]\n"
        )
    };
    let folder = folder(&(turned("wall") + &turned("end")));
    folder.run_well(&BAR);
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let expected = mesh.coordinates().iter().flat_map(|[x, y, z]| {
        let [x, y, z] = [x - 1.0, y - 2.0, z + 3.0];
        [-0.02 * z - 0.03 * y, 0.03 * x - 0.01 * z, 0.01 * y + 0.02 * x]
    });
    let expected: Vec<f64> = expected.collect();
    let found = folder.array("out/design.vtu", "displacement");
    assert!(difference(&found, &expected) < 1e-9, "{}", difference(&found, &expected));

    for (key, said) in [
        (
            "rotation=[0, 0, 0.1]",
            "a rotation moves nodes in y, a direction in which they are not held",
        ),
        ("center=[0, 0, 1]", "`center` without `rotation`"),
    ] {
        let supports = format!("supports=[{{ set = \"fixed\", fix = [\"x\", \"z\"], {key} }}]");
        let finished = Folder::new().run(&[&supports], &[]);
        assert!(finished.err.contains(said), "{}", finished.err);
    }
}

const HANGING: &str = "[[supports]]\nset = \"wall\"\n[[loads]]\ngravity = [0.6, 0, 0]\n";

/// u = b / E (L x - x^2 / 2) for the weight b per volume.
#[test]
fn a_bar_under_its_own_weight() {
    let (weight, slope) = (0.5 * 0.6, 0.5 * 0.6 / 20.0);
    let compliance = run_bar(HANGING, |x| slope * (10.0 * x - 0.5 * x * x));
    // The displacement is linear between nodes a unit apart.
    assert_relative(compliance, weight * 25.0 * slope * (1000.0 / 3.0 - 10.0 / 12.0));
}

const ON_SPRINGS: &str = "[[springs]]\nset = \"wall\"\nstiffness_per_area = [2, 3, 4]\n\
    [[loads]]\nset = \"end\"\npressure = -0.5\n";

/// u = t / k + t x / E: springs alone hold the bar.
#[test]
fn a_bar_on_an_elastic_foundation() {
    let compliance = run_bar(ON_SPRINGS, |x| 0.5 / 2.0 + 0.5 * x / 20.0);
    assert_relative(compliance, 0.5 * 25.0 * (0.25 + 0.25));
}

const MOVED: &str = "[[supports]]\nset = \"wall\"\n[[supports]]\nset = \"end\"\n\
    displacement = [0.4, 0, 0]\n";

/// u = d x / L; the objective is less twice the strain energy, E A d^2 / L.
#[test]
fn a_bar_with_a_displaced_end() {
    let compliance = run_bar(MOVED, |x| 0.4 * x / 10.0);
    assert_relative(compliance, -20.0 * 25.0 * 0.16 / 10.0);
}

/// Runs the bar with 0.3 of the material everywhere and verifies it as solid where `is_solid`, over
/// an area of `area`. The stress must be `stress` at x, 0 in the void; `elongation` is the largest
/// displacement, at the end, and `compliance` that of a unit of area. The void strains alike.
pub fn verify_bar(
    conditions: &str,
    (is_solid, area): (fn([f64; 3]) -> bool, f64),
    stress: impl Fn(f64) -> f64,
    elongation: f64,
    compliance: f64,
) {
    let folder = folder(conditions);
    folder.run_well(&[&BAR[..], &["design.volume_fraction=0.3"]].concat());
    write_design(&folder, is_solid);
    let found = numbers(&folder, &["--threshold", "0.5"]);
    assert_eq!(found["notes"], serde_json::json!([]));
    assert_near(&found["volume"]["verified"], 10.0 * area);
    let stiffness = area + 1e-9 * (25.0 - area);
    assert_near(&found["compliance"]["verified"], stiffness * compliance);
    assert_near(&found["largest_displacement"]["value"], elongation);
    assert_eq!(found["largest_displacement"]["at"][0], 10.0);
    let (file, stresses) =
        vtu::read_with_cell_data(&folder.path("out/verify.vtu"), &["von_mises"]).unwrap();
    let expected = |x: [f64; 3]| if is_solid(x) { stress(x[0]) } else { 0.0 };
    let expected: Vec<f64> = file.mesh.centers().into_iter().map(expected).collect();
    let off = difference(&stresses[0], &expected);
    assert!(off < 1e-9, "{off}");
    let largest = expected.iter().fold(0.0, |largest: f64, stress| largest.max(*stress));
    assert_near(&found["von_mises"]["maximum"], largest);
}

/// All of the bar, with its area.
const ALL: (fn([f64; 3]) -> bool, f64) = (|_| true, 25.0);

/// b L^2 / (2 E) for the weight b per volume; the stress is b (L - x).
#[test]
fn weight_is_verified() {
    let (weight, slope) = (0.5 * 0.6, 0.5 * 0.6 / 20.0);
    let compliance = weight * slope * (1000.0 / 3.0 - 10.0 / 12.0);
    verify_bar(HANGING, ALL, |x| weight * (10.0 - x), 0.5 * slope * 100.0, compliance);
}

/// t / k + t L / E under the traction t, on springs alone.
#[test]
fn springs_are_verified() {
    verify_bar(ON_SPRINGS, ALL, |_| 0.5, 0.5 / 2.0 + 0.5 * 10.0 / 20.0, 0.5 * 0.5);
}

/// E d / L; the objective is less twice the strain energy, E d^2 / L.
#[test]
fn displaced_supports_are_verified() {
    verify_bar(MOVED, ALL, |_| 20.0 * 0.4 / 10.0, 0.4, -20.0 * 0.16 / 10.0);
}

/// Weight, springs, forces, and an end that is pushed down in one of two load cases.
const MIXED: &str = "[[supports]]\nset = \"wall\"\n\
    [[supports]]\nset = \"end\"\nfix = [\"y\"]\ndisplacement = [0, -0.2, 0]\ncase = \"push\"\n\
    [[springs]]\nset = \"load\"\nstiffness = [0.01, 0, 0.02]\n\
    [[loads]]\ngravity = [0, 0, -0.02]\n\
    [[loads]]\nset = \"load\"\ntotal_force = [0, 0, -0.1]\n\
    [[loads]]\ngravity = [0, -0.01, 0]\ncase = \"push\"\n\
    [[load_cases]]\nname = \"push\"\nweight = 0.5\n";

#[test]
fn mixed_loads_are_optimized() {
    let folder = folder(MIXED);
    let ramp = ["material.mass_density=0.5", "design.interpolation=ramp", "design.penalty=5"];
    let criteria = ["optimizer.method=oc", "filter.kind=sensitivity"];
    let run = ["design.keep_loaded=free", "optimizer.max_iterations=20", "output.compression=none"];
    let set = [&ramp[..], &criteria, &run].concat();
    folder.run_well(&set);

    let history = folder.history("compliance");
    assert!(history[19] < 0.1 * history[0], "{history:?}");
    // Material that does harm by its weight is left out: the volume need not be used up.
    assert!(folder.history("volume_fraction").iter().all(|&v| v > 0.0 && v < 0.3 + 1e-9));

    let summary = folder.summary();
    assert_eq!(summary["settings"]["interpolation"], "ramp");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("designs swing to and fro between two"), "{warnings}");
    // The end is where it is pushed to, in the case that pushes it and not in the other.
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let [held, pushed] =
        ["displacement", "displacement_push"].map(|name| folder.array("out/design.vtu", name));
    for (node, _) in mesh.coordinates().iter().enumerate().filter(|(_, x)| x[0] > 9.5) {
        // To the rounding of the preconditioner at nodes that are held in part.
        assert!(held[3 * node + 1].abs() < 1e-15 && (pushed[3 * node + 1] + 0.2).abs() < 1e-15);
    }

    let simp = "design.interpolation=simp";
    folder.run_well(&["material.mass_density=0.5", simp, "optimizer.max_iterations=1"]);
    let note = folder.summary()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.contains("sags") && note.contains("\"ramp\" avoids that"), "{note}");
}

#[test]
fn mixed_loads_on_a_gpu_give_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = folder(MIXED);
    let set = [
        "material.mass_density=0.5",
        "design.interpolation=ramp",
        "solver.tolerance=1e-11",
        "solver.preconditioner=jacobi",
    ];
    folder.run_well(&set);
    let expected = folder.history("compliance");
    let finished = folder.run(&set, &["--device", "gpu", "--strategy", "mf"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    assert!(difference(&folder.history("compliance"), &expected) < 1e-9);
}

#[test]
fn check_tells_of_them_and_the_preview_shows_them() {
    let folder = folder(MIXED);
    let args = ["check", "case.toml", "--set", "material.mass_density=0.5", "--preview", "a.vtu"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    for line in [
        "supports         72 nodes, 144 displacements held",
        "springs          6 nodes, stiffness adds up to (0.06, 0, 0.12)",
        "load case        default: 6 nodes, forces add up to (0, 0, -0.1), gravity of (0, 0, -0.01) \
         per volume, weight 1",
        "load case        push: gravity of (0, -0.005, 0) per volume, 36 nodes displaced, weight 0.5",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    let Some(found) = read(&folder.path("a.vtu")) else { return };
    let points = &found["point_data"];
    let sum = |name: &str| [0, 1, 2].map(|i| number(&array(points, name)["sum"][i]));
    assert!((sum("displacement_push")[1] + 36.0 * 0.2).abs() < 1e-12);
    assert!((sum("spring")[0] - 0.06).abs() < 1e-12 && (sum("spring")[2] - 0.12).abs() < 1e-12);
    assert!(array_is_missing(points, "displacement"));
}

fn array_is_missing(points: &serde_json::Value, name: &str) -> bool {
    points.as_array().unwrap().iter().all(|array| array["name"] != name)
}

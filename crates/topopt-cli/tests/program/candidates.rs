//! Designs of several materials that they choose themselves.

use topopt_io::vtk::Section;
use topopt_io::vtk::vtu::read_arrays;
use topopt_mesh::generate::{Benchmark, Resolution};

use crate::ranks::agree_in;
use crate::refused::refused;
use crate::resume::Bits;
use crate::verify::numbers;
use crate::{Folder, program};

/// Steel and aluminum, with less mass than the part has of aluminum.
const TWO: &str = r#"
[units]
length = "mm"
force = "N"

[mesh]
generator = "cantilever"
elements = 500

[material]
name = "steel S235"

[[candidates]]
name = "aluminum 6061-T6"

[[supports]]
set = "fixed"

[[loads]]
set = "load"
total_force = [0.0, -100.0, 0.0]

[[constraints]]
response = "mass"
at_most = 9e-7

[filter]
radius_in_elements = 1.5
"#;
const MASSES: [f64; 2] = [2.7e-9, 7.85e-9];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("case.toml", TWO);
    folder
}

/// The mass, the materials and the moduli of a design are those that its file says, and those that
/// are verified.
#[test]
fn a_design_of_two_metals_is_stiffer_than_of_either_and_verified() {
    let folder = folder();
    folder.run_well(&["output.compression=none"]);
    let summary = folder.summary();
    let [compliance, grey] = ["compliance", "grey_level"].map(|k| summary[k].as_f64().unwrap());
    assert!(grey < 0.05, "{grey}");

    let density = folder.array("out/design.vtu", "density");
    let file = folder.path("out/design.vtu");
    let material = read_arrays::<1>(&file, Section::Cells, &["material"]).unwrap().remove(0);
    let material: Vec<u8> = material.unwrap().into_iter().map(|[number]| number as u8).collect();
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(500)).unwrap();
    let elements = || density.iter().zip(&material).zip(mesh.volumes());
    let mass: f64 = elements()
        .map(|((density, material), v)| density * v * MASSES[usize::from(*material == 2)])
        .sum();
    assert!((mass / 9e-7 - 1.0).abs() < 0.02, "{mass}");
    let share = |number| material.iter().filter(|own| **own == number).count();
    assert!(share(1) > 50 && share(2) > 9, "{} {}", share(1), share(2));
    assert!(elements().all(|((density, material), _)| (*material > 0) == (*density >= 0.5)));

    let found = numbers(&folder, &[]);
    let verified = found["compliance"]["verified"].as_f64().unwrap();
    assert!((verified / compliance - 1.0).abs() < 0.05, "{verified} {compliance}");
    let built = found["mass"].as_f64().unwrap();
    assert!((built / 9e-7 - 1.0).abs() < 0.02, "{built}");
    let yields = found["load_cases"][0]["safety_factors"].as_array().map_or(0, Vec::len);
    assert_eq!(yields, 2, "{}", found["load_cases"][0]);

    for name in ["steel S235", "aluminum 6061-T6"] {
        let alone = folder_of(name);
        alone.run_well(&[]);
        let other = alone.summary()["compliance"].as_f64().unwrap();
        assert!(compliance < 0.97 * other, "{compliance}, {other} of {name}");
    }
}

/// The case of one metal.
fn folder_of(name: &str) -> Folder {
    let folder = Folder::new();
    let text = TWO.replace("\n[[candidates]]\nname = \"aluminum 6061-T6\"\n", "");
    folder.write("case.toml", &text.replace("steel S235", name));
    folder
}

/// Pieces of steel in aluminum are members, though they have no way of steel to load and support.
#[test]
fn pieces_of_one_material_in_another_stay() {
    for most in ["2.0253e-6", "6.07e-6"] {
        let folder = folder();
        let limit = format!("constraints=[{{ response = \"mass\", at_most = {most} }}]");
        folder.run_well(&["mesh.elements=1500", "optimizer.max_iterations=45", &limit]);
        assert!(folder.summary()["islands"].is_null(), "{}", folder.summary()["islands"]);
    }
}

/// A run goes on to the same bits, and starts from its own design with its materials.
#[test]
fn runs_are_resumed_and_start_from_designs_of_several_materials() {
    let run = |folder: &Folder, iterations: &str, args: &[&str]| {
        let set = [iterations, "output.checkpoint_every=1", "output.compression=none"];
        let finished = folder.run(&set, args);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    };
    let [whole, resumed, next] = [(); 3].map(|()| folder());
    run(&whole, "optimizer.max_iterations=30", &[]);
    run(&resumed, "optimizer.max_iterations=24", &[]);
    run(&resumed, "optimizer.max_iterations=30", &["--resume"]);
    assert_eq!(Bits::of(&resumed), Bits::of(&whole));

    let from = whole.path("out");
    let sharp = ["--set", "projection.sharpness=2", "--set", "filter.kind=density"];
    let args = [&["--start-from", from.to_str().unwrap()], &sharp[..]].concat();
    run(&next, "optimizer.max_iterations=1", &args);
    let first = next.history("compliance")[0];
    let last = whole.history("compliance")[29];
    assert!((first / last - 1.0).abs() < 0.3, "{first} {last}");
}

#[test]
fn ranks_agree_on_several_materials() {
    let set = ["optimizer.max_iterations=25", "output.checkpoint_every=0"];
    agree_in(&folder(), "candidates", &set, &[3], "displacement");
}

#[test]
fn what_does_not_go_with_candidates_is_refused() {
    for (set, message) in [
        ("candidates=[{ youngs_modulus = 7e4 }]", "a candidate without `youngs_modulus` or"),
        (
            "candidates=[{ name = \"Ti-6Al-4V\", mass_density = 9e-9 }]",
            "the lighter one is not the",
        ),
        ("candidates=[{ name = \"PLA\" }, { name = \"PETG\" }]", "not the softer"),
        ("design.volume_fraction=0.4", "ask for the mass, as by [[constraints]]"),
        (
            "projection={ sharpness = 2, threshold = 0.4 }",
            "a surface of a given width, or a threshold",
        ),
        ("loads=[{ temperature = 20 }]", "under temperatures: what expands would depend"),
        ("manufacturing=[{ kind = \"member_size\", minimum = 4 }]", "members of a least width"),
        ("material.layered={ build_direction = [0, 0, 1], knock_down = 0.5 }", "with a direction"),
        (
            "materials=[{ set = \"design\", name = \"PLA\" }]",
            "[[candidates]] besides materials of element sets",
        ),
    ] {
        refused(&folder(), &[set], &[message]);
    }

    let folder = folder();
    folder.run_well(&["optimizer.max_iterations=1"]);
    let args = ["solve", "case.toml", "--design", "out", "--output", "solved"];
    let finished: crate::Finished = program(&folder.path("")).args(args).output().unwrap().into();
    assert_eq!(finished.status, 1);
    assert!(finished.err.contains("`topopt verify RESULT` solves it"), "{}", finished.err);
}

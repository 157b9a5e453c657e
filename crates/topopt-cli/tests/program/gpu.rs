//! A run on a GPU, or on the emulated driver where `LD_LIBRARY_PATH` names it.

use topopt_case::config::Device;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_cuda::{Probe, probe};
use topopt_mesh::HexMesh;
use topopt_study::distance::{Part, Question};
use topopt_study::place::Place;
use topopt_testing::kuhn;

use super::{Finished, Folder, difference, heat_tetrahedra, program};
use crate::continuation::PROJECTED;
use crate::solve;
use crate::verify::{assert_near, numbers, write_design};

#[test]
fn a_gpu_that_is_not_there() {
    let folder = Folder::new();
    let finished = folder.run(&["solver.device=gpu:97"], &[]);
    assert_eq!(finished.status, 1);
    let reasons = ["GPU", "no CUDA driver is installed"]; // with a driver, without one
    assert!(reasons.iter().any(|reason| finished.err.contains(reason)), "{}", finished.err);
    assert!(finished.err.contains("leave `solver.device` and `--device` out"), "{}", finished.err);
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn every_strategy_gives_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let tight = ["solver.tolerance=1e-11", "solver.preconditioner=jacobi", "design.solid=[]"];
    folder.run_well(&tight);
    let expected = folder.history("compliance");
    for strategy in topopt_cuda::Strategy::ALL {
        let finished = folder.run(&tight, &["--device", "gpu", "--strategy", strategy.name()]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        assert!(difference(&folder.history("compliance"), &expected) < 1e-9, "{}", strategy.name());
        assert_eq!(folder.summary()["strategy"], strategy.name());
    }
    let finished = folder.run(&tight, &["--device", "gpu"]);
    assert!(finished.out.contains("note: strategy "), "{}", finished.out);
}

/// Preconditioners on a GPU take all elements to be of one isotropic material.
#[test]
fn materials_with_a_direction_give_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let half = "select=[{ name = \"half\", kind = \"elements\", box = { min = [-1e9, -1e9, -1e9], \
                max = [5.1, 1e9, 1e9] } }]";
    let set = "materials=[{ set = \"half\", youngs_modulus = 3, poissons_ratio = 0.45 }]";
    let layered = "material.layered={ build_direction = [1, 2, 3], knock_down = 0.4 }";
    let keys = [half, set, layered, "solver.tolerance=1e-11", "mesh.elements=250"];
    for kind in ["full", "incompatible_modes"] {
        let kind = format!("elements.kind={kind}");
        let keys = [&keys[..], &[kind.as_str()]].concat();
        let on_cpu = folder.run_well(&keys);
        let expected = folder.history("compliance");
        let counts = folder.history("pcg_iterations");
        let finished = folder.run(&keys, &["--device", "gpu"]);
        assert_eq!(
            (finished.status, finished.err.as_str()),
            (0, ""),
            "{}{}",
            finished.out,
            on_cpu.out
        );
        assert!(difference(&folder.history("compliance"), &expected) < 1e-7);
        let more =
            folder.history("pcg_iterations").iter().sum::<f64>() / counts.iter().sum::<f64>();
        assert!(more < 2.0, "{more} times the iterations of the CPU");
        assert_eq!(folder.summary()["strategy"], "mf");
        let finished = folder.run(&keys, &["--device", "gpu", "--strategy", "ebe"]);
        assert!(
            finished.err.contains("use `mf`") || finished.err.contains("mf"),
            "{}",
            finished.err
        );
    }
}

#[test]
fn the_helmholtz_filter_gives_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let helmholtz = ["filter.weights=helmholtz", "solver.preconditioner=jacobi"];
    let sensitivity = ["filter.kind=sensitivity", "solver.tolerance=1e-11"];
    for keys in [&sensitivity[..], &[PROJECTED, &["continuation.1.tolerance=1e-11"]].concat()] {
        let keys = [&helmholtz[..], keys].concat();
        folder.run_well(&keys);
        let columns = ["compliance", "volume_fraction", "change"];
        let expected = columns.map(|column| folder.history(column));
        let finished = folder.run(&keys, &["--device", "gpu", "--strategy", "mf"]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        assert!(folder.summary()["device"].as_str().unwrap().starts_with("gpu"));
        for (column, expected) in columns.into_iter().zip(&expected) {
            assert!(difference(&folder.history(column), expected) < 1e-8, "{column}, {keys:?}");
        }
    }
}

#[test]
fn the_projected_density_has_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let keys =
        [PROJECTED, &["solver.preconditioner=jacobi", "continuation.1.tolerance=1e-11"]].concat();
    folder.run_well(&keys);
    let columns = ["compliance", "volume_fraction", "grey_level", "change"];
    let expected = columns.map(|column| folder.history(column));
    let finished = folder.run(&keys, &["--device", "gpu", "--strategy", "mf"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    for (column, expected) in columns.into_iter().zip(&expected) {
        assert!(difference(&folder.history(column), expected) < 1e-8, "{column}");
    }
}

#[test]
fn methods_give_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let keys = ["filter.kind=density", "solver.preconditioner=jacobi", "solver.tolerance=1e-11"];
    for method in ["mma", "gcmma", "simpl", "oc_anderson"] {
        let method = format!("optimizer.method={method}");
        let keys = [&keys[..], &[&method, "optimizer.max_iterations=6"]].concat();
        folder.run_well(&keys);
        let columns = ["compliance", "volume_fraction", "change"];
        let expected = columns.map(|column| folder.history(column));
        let finished = folder.run(&keys, &["--device", "gpu", "--strategy", "mf"]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        for (column, expected) in columns.into_iter().zip(&expected) {
            assert!(difference(&folder.history(column), expected) < 1e-7, "{column}, {method}");
        }
    }
}

/// Objectives with adjoint states, limits, worst cases: as far as designs depend on gradients.
#[test]
fn other_problems_give_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let two =
        "loads=[{set=\"load\",force=[0, -1, 0]},{set=\"load\",force=[0, 0, 1],case=\"aside\"}]";
    let worst = "objective={minimize=\"compliance\",worst_case=true}";
    let light = "objective={minimize=\"mass\"}";
    let limits = "constraints=[{response=\"displacement\",set=\"load\",at_most=250},\
                  {response=\"displacement\",set=\"load\",direction=[0, -1, 0],case=\"default\",\
                  at_most=200},{response=\"compliance\",case=\"aside\",at_most=900}]";
    let springs = "springs=[{set=\"load\",stiffness=[0.01, 0.01, 0.01]}]";
    let output = "objective={maximize=\"output_displacement\",set=\"load\",direction=[1, -1, 0],\
                  case=\"default\"}";
    let posed: [&[&str]; 3] =
        [&[two, worst], &[two, light, limits, "material.mass_density=2"], &[two, springs, output]];

    for keys in posed {
        let folder = Folder::new();
        let usual = ["solver.preconditioner=jacobi", "solver.tolerance=1e-11"];
        let keys = [&usual[..], &["optimizer.max_iterations=6"], keys].concat();
        folder.run_well(&keys);
        let columns = ["objective", "compliance", "volume_fraction", "change", "kkt_residual"];
        let expected = columns.map(|column| folder.history(column));
        let finished = folder.run(&keys, &["--device", "gpu", "--strategy", "mf"]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        for (column, expected) in columns.into_iter().zip(&expected) {
            assert!(difference(&folder.history(column), expected) < 1e-6, "{column}, {keys:?}");
        }
    }
}

#[test]
fn distances_are_those_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let part = Part::read(
        &folder.path("case.toml"),
        &folder.path("far.vtu"),
        &Gmsh::default(),
        &Interrupt::new(),
    );
    let (part, gpu) = (part.unwrap(), Place::find(Device::Gpu(0)).unwrap());
    let question = Question {
        from: vec!["fixed".into()],
        from_surface: false,
        speeds: vec![("design".into(), 2.5)],
        within: 3.5,
    };
    let [found, expected] =
        [gpu, Place::Cpu { note: None }].map(|place| part.distances(&question, &place).unwrap());
    assert_eq!(found.n_beyond, expected.n_beyond);
    assert!(found.n_beyond > 0 && found.n_sources == expected.n_sources);
    let pairs = || found.values.iter().zip(&expected.values);
    assert!(pairs().all(|(a, b)| (a - b).abs() < 1e-12 || a.is_nan() && b.is_nan()));
}

const DETERMINISTIC: [&str; 3] =
    ["solver.deterministic=true", "output.compression=none", "output.checkpoint_every=1"];

/// Runs on what `--device auto` finds. The emulated driver runs threads and blocks in `order`.
fn run_in_order(folder: &Folder, order: &str, args: &[&str]) -> Finished {
    let mut run = program(&folder.path(""));
    run.args(["run", "case.toml", "--output", "out", "--device", "auto"]).args(args);
    run.args(DETERMINISTIC.iter().flat_map(|set| ["--set", set]));
    run.env("TOPOPT_EMULATOR_ORDER", order).output().unwrap().into()
}

#[test]
fn a_deterministic_run_goes_on_to_the_same_bits_in_any_order_of_threads() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    for (strategy, preconditioner, weights) in [
        ("auto", "multigrid", "cone"),
        ("ebeSym", "multigrid", "helmholtz"),
        ("bsr", "block-jacobi", "cone"),
        ("nbn", "jacobi", "cone"),
    ] {
        let (whole, parts) = (Folder::new(), Folder::new());
        let weights = format!("filter.weights={weights}");

        let run = |folder: &Folder, order, iterations: &str, args: &[&str]| {
            let solver =
                ["--strategy", strategy, "--preconditioner", preconditioner, "--set", &weights];
            let iterations = ["--set", iterations];
            let finished = run_in_order(folder, order, &[&solver[..], &iterations, args].concat());
            assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
            (folder.history("compliance"), folder.array("out/design.vtu", "density"))
        };

        let expected = run(&whole, "forward", "optimizer.max_iterations=2", &[]);
        run(&parts, "forward", "optimizer.max_iterations=1", &[]);
        let found = run(&parts, "reverse", "optimizer.max_iterations=2", &["--resume"]);
        assert_eq!(found, expected, "{strategy} {preconditioner}");

        let name = if strategy == "auto" { "dbd" } else { strategy };
        assert_eq!(whole.summary()["strategy"], name);
        let told = whole.summary()["notes"].to_string().contains("strategy dbd, not measured");
        assert_eq!(told, strategy == "auto");
    }
}

#[test]
fn a_deterministic_run_has_the_history_of_the_cpu_and_stays_where_it_began() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let (plain, folder, hidden) = (Folder::new(), Folder::new(), Folder::new());

    plain.run_well(&["solver.tolerance=1e-9"]);

    let tight = ["--set", "solver.tolerance=1e-9"];
    let finished = run_in_order(&folder, "forward", &tight);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    assert!(folder.summary()["device"].as_str().unwrap().starts_with("gpu"));
    assert!(difference(&folder.history("compliance"), &plain.history("compliance")) < 1e-8);

    let without_gpu = |folder: &Folder, args: &[&str]| {
        let mut run = program(&folder.path(""));
        run.args(["run", "case.toml", "--output", "out", "--device", "auto"]).args(args);
        run.args(DETERMINISTIC.iter().flat_map(|set| ["--set", set])).args(tight);
        run.env("TOPOPT_EMULATOR_DEVICES", "0").env("CUDA_VISIBLE_DEVICES", "");
        Finished::from(run.output().unwrap())
    };

    let finished = without_gpu(&hidden, &[]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    let exactly = ["compliance", "pcg_residual"];
    assert_eq!(exactly.map(|c| hidden.history(c)), exactly.map(|c| plain.history(c)));

    let there = "a GPU and would continue on the processor";
    let here = "the processor and would continue on a GPU";
    let onto_gpu = run_in_order(&hidden, "forward", &[&tight[..], &["--resume"]].concat());
    for (finished, words) in [(without_gpu(&folder, &["--resume"]), there), (onto_gpu, here)] {
        assert_eq!(finished.status, 1, "{}", finished.out);
        assert!(finished.err.contains(words), "{}", finished.err);
    }

    let finished = folder.run(&tight[1..], &["--device", "auto", "--resume"]);
    assert!(finished.err.contains("solver.deterministic: true -> false"), "{}", finished.err);
}

#[test]
fn what_adds_in_no_order_is_refused_where_bits_count() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let in_order = ["mf", "dbd", "nbn", "ebeSym", "bsr"];
    for name in topopt_cuda::Strategy::ALL.map(topopt_cuda::Strategy::name) {
        if in_order.contains(&name) {
            continue;
        }
        let finished = run_in_order(&folder, "forward", &["--strategy", name]);
        let message = format!(
            "  x strategy `{name}` does not add in the fixed order that `solver.deterministic` requires\n  help: \
             set `solver.strategy` to \"auto\", or to one of mf, dbd, nbn, ebeSym, bsr\n"
        );
        assert_eq!((finished.status, finished.err), (1, message));
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn every_preconditioner_gives_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();

    let run = |device: &str, name: &str| {
        let arguments = ["--device", device, "--preconditioner", name, "--strategy", "mf"];
        let finished = folder.run(&["solver.tolerance=1e-9"], &arguments);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        let counts = folder.history("pcg_iterations");
        (folder.summary()["preconditioner"].clone(), counts, folder.history("compliance"))
    };

    for name in ["auto", "multigrid", "jacobi", "block-jacobi"] {
        let (expected, found) = (run("cpu", name), run("gpu", name));
        assert_eq!(found.0, expected.0);
        assert!(difference(&found.2, &expected.2) < 1e-8, "{name}");

        if expected.0["name"] == "multigrid" {
            let late = found.1.iter().zip(&expected.1).map(|(a, b)| (a - b).abs());
            assert!(late.fold(0.0, f64::max) <= 1.0, "{:?}, {:?}", found.1, expected.1);
        }
    }
}

/// Counted by the emulated driver.
#[test]
fn only_scalars_cross_the_bus_inside_the_design_loop() {
    let folder = Folder::new();
    let mut command = program(folder.path("").as_path());
    command.args(["run", "case.toml", "--output", "out", "--device", "auto"]);
    let output = command.env("TOPOPT_EMULATOR_TRACE", folder.path("trace")).output().unwrap();
    let finished = Finished::from(output);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    if !folder.path("trace").exists() {
        println!("skipped: no emulated driver");
        return;
    }
    let trace = folder.read("trace");
    let lines: Vec<&str> = trace.lines().collect();
    let is_step = |line: &&str| line.contains(" cg_step ");
    let first = lines.iter().position(is_step).unwrap();
    let last = lines.iter().rposition(is_step).unwrap();
    let moves = |line: &&&str| line.starts_with("upload ") || line.starts_with("download ");
    let inside: Vec<_> = lines[first..last].iter().filter(moves).collect();
    assert!(inside.len() > 10, "the design loop is not in the trace");
    assert!(inside.iter().all(|line| line.ends_with(" 8")), "{inside:?}");
}

#[test]
fn a_design_is_verified_on_a_gpu_as_on_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=3", "solver.tolerance=1e-9"]);
    // A tower beside a gap, which meets the rest in an edge only.
    write_design(&folder, |[x, y, z]| y < 2.0 || (x > 4.0 && x < 6.0 && y > 2.0 && z < 1.0));
    let [cpu, gpu] = ["cpu", "gpu"].map(|device| numbers(&folder, &["--device", device]));
    assert!(gpu["device"].as_str().unwrap().starts_with("gpu ("), "{}", gpu["device"]);
    // The compliance is off by the square of the residual, stresses and displacements in
    // proportion.
    assert_near(&gpu["compliance"]["verified"], cpu["compliance"]["verified"].as_f64().unwrap());
    for [key, value] in [["von_mises", "maximum"], ["largest_displacement", "value"]] {
        let [found, expected] = [&gpu, &cpu].map(|found| found[key][value].as_f64().unwrap());
        assert!((found / expected - 1.0).abs() < 1e-6, "{key}: {found} {expected}");
    }
    let [cpu, gpu] = [cpu, gpu].map(|found| found["pcg_iterations"].as_i64().unwrap());
    assert!((cpu - gpu).abs() <= 2, "{cpu} and {gpu} iterations");
}

#[test]
fn a_part_is_solved_on_a_gpu_as_on_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = Folder::new();
    let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
        let args = ["--device", device, "--overwrite", "--set", "solver.tolerance=1e-10"];
        solve::numbers(&folder, &args)["load_cases"][0].clone()
    });
    assert_near(&gpu["compliance"], cpu["compliance"].as_f64().unwrap());
    for [key, value] in [["von_mises", "maximum"], ["largest_displacement", "value"]] {
        let [found, expected] = [&gpu, &cpu].map(|found| found[key][value].as_f64().unwrap());
        assert!((found / expected - 1.0).abs() < 1e-6, "{key}: {found} {expected}");
    }
}

/// A beam of tetrahedra that is bent at its end.
const TETRAHEDRA: &str = r#"title = "Tetrahedra"
[mesh]
file = "beam.inp"
[[select]]
name = "wall"
kind = "nodes"
plane = { point = [0, 0, 0], normal = [1, 0, 0] }
[[select]]
name = "end"
kind = "faces"
plane = { point = [6, 0, 0], normal = [1, 0, 0] }
[[supports]]
set = "wall"
[[loads]]
set = "end"
total_force = [0, 0, -1]
[design]
style = "smooth"
volume_fraction = 0.5
keep_loaded = "free"
[filter]
radius = 0.8
[optimizer]
max_iterations = 2
[solver]
tolerance = 1e-10
"#;

/// The deck of a `mesh` of tetrahedra of ten nodes.
fn deck(mesh: &HexMesh) -> String {
    let mut text = String::from("*NODE\n");
    for (node, [x, y, z]) in (1..).zip(mesh.coordinates()) {
        text += &format!("{node}, {x:.17e}, {y:.17e}, {z:.17e}\n");
    }
    text += "*ELEMENT, TYPE=C3D10\n";
    for (element, nodes) in (1..).zip(mesh.tetrahedra()) {
        let nodes = nodes.map(|node| (node + 1).to_string()).join(", ");
        text += &format!("{element}, {nodes}\n");
    }
    text
}

/// A case with elements of ten nodes, some of them curved.
pub fn beam_of_tetrahedra() -> Folder {
    let folder = Folder::new();
    let arch = |[x, y, z]: [f64; 3]| [6.0 * x, 2.0 * y, z + 0.4 * y * (x - 0.5).max(0.0)];
    folder.write("beam.inp", &deck(&kuhn([6, 2, 2], arch, true)));
    folder.write("case.toml", TETRAHEDRA);
    folder
}

#[test]
fn tetrahedra_have_the_history_of_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = beam_of_tetrahedra();
    for name in ["multigrid", "jacobi", "block-jacobi"] {
        let run = |device: &str, more: &[&str]| {
            let arguments = [&["--device", device, "--preconditioner", name], more].concat();
            let finished = folder.run(&[], &arguments);
            assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
            (folder.history("compliance"), folder.summary()["preconditioner"].clone())
        };
        let (expected, levels) = run("cpu", &[]);
        assert_eq!(folder.summary()["elements"], 144);
        for more in [&[][..], &["--set", "solver.deterministic=true"]] {
            let found = run("gpu", more);
            assert!(difference(&found.0, &expected) < 1e-8, "{name}, {more:?}");
            assert_eq!(found.1, levels);
            assert!(folder.summary()["device"].as_str().unwrap().starts_with("gpu"));
            assert_eq!(
                (&folder.summary()["elements"], &folder.summary()["strategy"]),
                (&144.into(), &"mf".into())
            );
        }
    }

    // Cut into four hexahedra each.
    let finished =
        folder.run(&["optimizer.max_iterations=1", "solver.smoother=patch"], &["--device", "gpu"]);
    assert_eq!(finished.status, 0, "{}", finished.err);
    assert!(finished.out.contains("tetrahedra were cut into hexahedra"), "{}", finished.out);
}

/// Heat in tetrahedra runs on the CPU, with a note, unless a GPU is asked for; elasticity filters
/// by the Helmholtz equation of the vertices on the GPU.
#[test]
fn heat_in_tetrahedra_is_left_to_the_cpu() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let heat = heat_tetrahedra::design();
    let finished = heat.run(&["optimizer.max_iterations=1"], &["--device", "auto"]);
    assert_eq!(finished.status, 0, "{}", finished.err);
    assert!(finished.out.contains("running on the CPU: GPUs compute heat"), "{}", finished.out);
    let refused = heat.run(&[], &["--device", "gpu"]);
    assert_eq!(refused.status, 1, "{}", refused.out);
    assert!(refused.err.contains("GPUs compute heat in hexahedra only"), "{}", refused.err);

    let set = ["filter.weights=helmholtz", "optimizer.max_iterations=3"];
    let folder = beam_of_tetrahedra();
    let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
        let finished = folder.run(&set, &["--device", device]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        folder.history("compliance")
    });
    assert!(difference(&gpu, &cpu) < 1e-6, "{gpu:?} {cpu:?}");
}

//! `topopt run --ranks`: the results of one rank, whatever their number.

use std::path::Path;

use crate::continuation::NARROWING;
use crate::gpu::beam_of_tetrahedra;
use crate::heat::part;
use crate::interrupt::interrupt_at;
use crate::objectives::{LIMITS, unlimited};
use crate::resume::ADJOINT;
use crate::{CASE, Finished, Folder, difference, heat_in_time, heat_tetrahedra, program};

/// Solves so exact that their errors are not seen in the compliance.
const EXACT: [&str; 3] =
    ["solver.tolerance=1e-10", "solver.early_tolerance=1e-10", "output.compression=none"];

/// Else a clock decides which there are.
const NO_CHECKPOINT: &str = "output.checkpoint_every=0";

/// `topopt run` on so many ranks, which must succeed.
fn run_on(folder: &Folder, ranks: usize, set: &[&str], more: &[&str]) -> Finished {
    let number = ranks.to_string();
    let args = [&["--ranks", number.as_str()][..], more].concat();
    let finished = folder.run(&[&EXACT[..], set].concat(), &args);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    finished
}

/// Asserts that a run of [`crate::CASE`] on each of `sizes` ranks agrees with one rank.
fn agree(name: &str, set: &[&str], sizes: &[usize]) {
    agree_in(&Folder::new(), name, set, sizes, "displacement");
}

/// Asserts that runs of the case in `folder`, which has `state` as its nodal field, agree: the same
/// files, with the same history to rounding and the error of solves.
pub fn agree_in(folder: &Folder, name: &str, set: &[&str], sizes: &[usize], state: &str) {
    run_on(folder, 1, set, &[]);
    let columns = folder.read("out/history.csv");
    let columns: Vec<&str> = ["compliance", "volume_fraction", "objective"]
        .into_iter()
        .filter(|column| columns.lines().next().unwrap().split(',').any(|name| name == *column))
        .collect();
    let alone: Vec<_> = columns.iter().map(|column| folder.history(column)).collect();
    let fields = ["density", state].map(|field| (field, folder.array("out/design.vtu", field)));
    let files = folder.files();

    for &size in sizes {
        run_on(folder, size, set, &[]);
        assert_eq!(folder.files(), files, "{name} on {size} ranks");
        for (column, alone) in columns.iter().zip(&alone) {
            let found = folder.history(column);
            assert_eq!(found.len(), alone.len());
            for (found, alone) in found.iter().zip(alone) {
                let off = (found / alone - 1.0).abs();
                assert!(off < 1e-9, "{name} on {size} ranks, {column}: {found}, not {alone}");
            }
        }
        for (field, alone) in &fields {
            let off = difference(&folder.array("out/design.vtu", field), alone);
            assert!(off < 1e-6, "{name} on {size} ranks, {field}: off by {off:e}");
        }
    }
}

#[test]
fn the_four_benchmarks_have_the_history_of_one_rank() {
    for case in ["cantilever", "l_beam", "michell", "connecting_rod"] {
        let folder = Folder::new();
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let text = std::fs::read_to_string(text.join(format!("{case}.toml"))).unwrap();
        folder.write("case.toml", &text.replace("size = 1", "elements = 3000"));
        let set = ["optimizer.max_iterations=2", "solver.device=cpu", NO_CHECKPOINT];
        agree_in(&folder, case, &set, &[2, 3, 4, 8], "displacement");
    }
}

#[test]
fn every_strategy_and_preconditioner_runs_on_ranks() {
    for strategy in ["mf", "ebe", "nbn", "bsr"] {
        agree(strategy, &[&format!("solver.strategy={strategy}")], &[3]);
    }
    for cycle in ["V", "W"] {
        agree(cycle, &[&format!("solver.cycle={cycle}")], &[3]);
    }
    for preconditioner in ["jacobi", "block-jacobi"] {
        let set = [&*format!("solver.preconditioner={preconditioner}")];
        agree(preconditioner, &set, &[2, 8]);
        let iterations = [1, 2, 8].map(|size| {
            let folder = Folder::new();
            run_on(&folder, size, &set, &[]);
            folder.history("pcg_iterations").iter().sum::<f64>()
        });
        let off = iterations.map(|n| (n / iterations[0] - 1.0).abs());
        assert!(off.iter().all(|off| *off < 0.1), "{preconditioner}: {iterations:?}");
    }
}

#[test]
fn every_filter_and_method_runs_on_ranks() {
    for kind in ["none", "sensitivity", "density"] {
        agree(kind, &[&format!("filter.kind={kind}")], &[2, 8]);
    }
    let helmholtz = ["filter.kind=density", "filter.weights=helmholtz"];
    agree("helmholtz", &helmholtz, &[2, 3, 8]);
    agree("crisp", &["design.style=crisp"], &[2]);
    let loads = "loads=[{ set = \"load\", force = [0, -1, 0] }, { temperature = \"x\" }]";
    agree("warm", &["material.thermal_expansion=0.1", loads], &[3]);
    for weights in ["cone", "helmholtz"] {
        let weights = format!("filter.weights={weights}");
        let set = ["filter.kind=density", &weights, "optimizer.max_iterations=7", NARROWING[0]];
        agree("narrowing", &[&set[..], &NARROWING[1..]].concat(), &[2, 8]);
    }
    for method in ["oc_adaptive", "oc_anderson", "mma", "gcmma", "simpl"] {
        let method = format!("optimizer.method={method}");
        agree(&method, &["filter.kind=density", "optimizer.max_iterations=6", &method], &[3]);
    }
}

/// 250 elements on 8 ranks are four layers of the cantilever or fewer, on 60 ranks four elements.
#[test]
fn a_filter_may_reach_across_parts_and_parts_may_be_single_elements() {
    let wide = ["filter.radius_in_elements=6.5"];
    agree("wide, in lists", &wide, &[8, 60]);
    agree("wide, walked", &[wide[0], "filter.neighbor_memory_mb=0"], &[8, 60]);
    let few = ["mesh.elements=2", "filter.radius_in_elements=1.5", "optimizer.max_iterations=2"];
    agree("few elements", &few, &[2]);
}

/// Weight, a rotation, springs, supports that are moved, two load cases, two materials, limits, and
/// elements that are neither solid nor void by choice.
#[test]
fn everything_that_a_case_may_say_runs_on_ranks() {
    let folder = Folder::new();
    let more = r#"
[[loads]]
gravity = [0, 0, -0.02]

[[loads]]
angular_velocity = [0, 0, 0.1]
case = "turn"

[[supports]]
set = "moved"
displacement = [0, 0, 0.5]
fix = ["z"]
case = "turn"

[[springs]]
set = "tip"
stiffness = [0, 0.3, 0.1]

[[select]]
name = "moved"
kind = "nodes"
nearest = [5, 0, 5]

[[select]]
name = "tip"
kind = "nodes"
nearest = [10, 5, 5]

[[select]]
name = "far"
kind = "elements"
box = { min = [6, 0, 0], max = [10, 5, 5] }

[[select]]
name = "hole"
kind = "elements"
box = { min = [2, 1, 1], max = [3, 4, 4] }

[[materials]]
set = "far"
youngs_modulus = 3
mass_density = 1
"#;
    folder.write("case.toml", &format!("{CASE}{more}"));
    let set = ["material.mass_density=0.5", "design.void=[\"hole\"]"];
    agree_in(&folder, "everything", &set, &[2, 3, 8], "displacement");

    folder.write("case.toml", &format!("{}{LIMITS}", unlimited().read("case.toml")));
    let set = ["material.mass_density=2", "optimizer.max_iterations=4"];
    agree_in(&folder, "limits", &set, &[3], "displacement");
}

#[test]
fn tetrahedra_run_on_ranks() {
    let folder = beam_of_tetrahedra();
    for set in [
        &[][..],
        &["design.style=crisp", "optimizer.max_iterations=4"],
        &["solver.preconditioner=block-jacobi", "filter.kind=sensitivity"],
        &["loads.0.total_force=[0, 1, 0]", "design.keep_symmetry=false"],
    ] {
        let set = [set, &["solver.device=cpu", NO_CHECKPOINT]].concat();
        agree_in(&folder, "tetrahedra", &set, &[2, 5], "displacement");
        assert_eq!(folder.summary()["elements"], 144);
    }
}

#[test]
fn heat_and_filters_of_tetrahedra_run_on_ranks() {
    let steady = heat_tetrahedra::design();
    for weights in ["cone", "helmholtz"] {
        let weights = format!("filter.weights={weights}");
        agree_in(&steady, &weights, &[&*weights, NO_CHECKPOINT], &[2, 5], "temperature");
    }
    let elastic = ["filter.weights=helmholtz", "solver.device=cpu", NO_CHECKPOINT];
    agree_in(&beam_of_tetrahedra(), "elastic", &elastic, &[3], "displacement");
    let crisp = ["design.style=crisp", "optimizer.max_iterations=4"];
    agree_in(
        &beam_of_tetrahedra(),
        "crisp",
        &[&elastic[..], &crisp].concat(),
        &[2],
        "displacement",
    );
    let [lumped, consistent] = ["lumped", "consistent"].map(heat_tetrahedra::in_time);
    for folder in [lumped, consistent] {
        let set = ["solver.tolerance=1e-13", NO_CHECKPOINT];
        agree_in(&folder, "in time", &set, &[2], "temperature");
    }
}

#[test]
fn heat_runs_on_ranks() {
    let steady = part(
        [12, 6, 6],
        |[x, y, z]| [8.0 * x + 0.3 * y * z, 4.0 * y, 4.0 * z],
        "[material]\nconductivity = 3\n[[supports]]\nset = \"low\"\ntemperature = 5\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 1\n\
        [[loads]]\nheat_source = 1\n[design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n\
        [filter]\nradius_in_elements = 2.5\n[optimizer]\nmax_iterations = 3\n",
    );
    for strategy in ["mf", "bsr"] {
        let set = [&*format!("solver.strategy={strategy}"), NO_CHECKPOINT];
        agree_in(&steady, strategy, &set, &[2, 3, 8], "temperature");
    }
    // Errors of steps in time add up.
    let objective = "objective={minimize=\"mean_temperature\",set=\"tip\",time=\"end\"}";
    let set = [objective, NO_CHECKPOINT, "solver.tolerance=1e-11"];
    agree_in(&heat_in_time::folder(), "in time", &set, &[2, 3], "temperature");
    let set = [&set[..], &["transient.capacity=consistent"]].concat();
    agree_in(&heat_in_time::folder(), "consistent", &set, &[3], "temperature");
}

#[test]
fn a_signal_ends_all_ranks_and_they_go_on_together() {
    let folder = Folder::new();
    let finished = interrupt_at(&folder, "iteration", &["--ranks", "3"]);
    assert!(finished.err.contains("interrupted after iteration"), "{}", finished.err);
    let before = folder.history("compliance");
    assert!(!before.is_empty());
    let until = format!("optimizer.max_iterations={}", before.len() + 1);
    let set = ["mesh.elements=60000", "solver.tolerance=1e-9", &until];
    let resumed = folder.run(&set, &["--resume", "--ranks", "2"]);
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    assert_eq!(folder.history("compliance")[..before.len()], before);
    assert_eq!(folder.history("compliance").len(), before.len() + 1);
}

#[test]
fn a_run_goes_on_with_another_number_of_ranks() {
    for key in ["filter.kind=density", ADJOINT] {
        let set = ["output.checkpoint_every=2", key];
        let whole = Folder::new();
        run_on(&whole, 1, &[&set[..], &["optimizer.max_iterations=6"]].concat(), &[]);
        let expected = whole.history("compliance");

        let folder = Folder::new();
        let parts = [(3, 2, None), (1, 4, Some("--resume")), (8, 6, Some("--resume"))];
        for (ranks, until, more) in parts {
            let until = format!("optimizer.max_iterations={until}");
            let more: Vec<&str> = more.into_iter().collect();
            run_on(&folder, ranks, &[&set[..], &[&until]].concat(), &more);
        }
        assert_eq!(folder.summary()["iterations"], 6);
        let found = folder.history("compliance");
        assert_eq!(found.len(), 6);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{found:?}");
        let [found, expected] =
            [&folder, &whole].map(|of| of.history("pcg_iterations").iter().sum::<f64>());
        // Aggregates end at the parts of ranks: 128 iterations for 116.
        assert!((found / expected - 1.0).abs() < 0.12, "{key}: {found}, not {expected}");
    }
}

#[test]
fn the_summary_names_the_ranks() {
    let folder = Folder::new();
    run_on(&folder, 2, &["solver.threads=2"], &[]);
    assert_eq!(folder.summary()["device"], "2 ranks of cpu (1 threads)");
}

/// The first rank alone writes; what it cannot do ends all.
#[test]
fn what_ends_one_rank_ends_all_with_its_message() {
    let folder = Folder::new();
    let set = ["solver.max_iterations=2", "solver.preconditioner=jacobi"];
    let ended = folder.run(&set, &["--ranks", "4"]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    assert_eq!(
        ended.err.matches("the solver did not converge after 2").count(),
        1,
        "{}",
        ended.err
    );

    folder.write("out.txt", "");
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out.txt", "--ranks", "3"]);
    let refused: Finished = command.output().unwrap().into();
    assert_eq!(refused.status, 1, "{}", refused.err);
    assert_eq!(refused.err.matches("cannot write to the output directory").count(), 1);
    let refused = folder.run(&["supports.0.set=nowhere"], &["--ranks", "3"]);
    assert_eq!(refused.status, 1, "{}", refused.err);
    assert_eq!(refused.err.matches("`nowhere` is not in the mesh").count(), 1, "{}", refused.err);
}

#[test]
fn no_rank_is_not_a_number_of_ranks() {
    let refused = Folder::new().run(&[], &["--ranks", "0"]);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("--ranks"), "{}", refused.err);
}

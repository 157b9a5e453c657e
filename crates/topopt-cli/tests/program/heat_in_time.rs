//! Designs for heat in time: objectives beside what `topopt solve` finds of the same design,
//! resumed runs, and what is refused.

use topopt_cuda::{Probe, probe};

use crate::heat::{EXACT, part};
use crate::{Folder, difference, topopt};

/// Sources that rise, convection, temperatures that are held at one end, and steps of two lengths;
/// `tip` is a node in the middle of the other end.
pub fn folder() -> Folder {
    part(
        [8, 4, 4],
        |[x, y, z]| [8.0 * x + 0.3 * y * z, 4.0 * y, 4.0 * z],
        "[material]\nconductivity = 3\nmass_density = 2\nheat_capacity = 1\n\
        [[supports]]\nset = \"low\"\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 1\n\
        [[loads]]\nheat_source = 1\nover_time = [[0, 0.2], [4, 1]]\n\
        [[select]]\nname = \"tip\"\nkind = \"nodes\"\nnearest = [8.15, 2, 2]\n\
        [transient]\nend = 6\nsteps = [[2, 0.5], [6, 1]]\ninitial = 0.5\n\
        probes = [{ name = \"tip\", point = [8.075, 2, 2] }]\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n\
        [optimizer]\nmax_iterations = 4\n[output]\ndirectory = \"results\"\n",
    )
}

/// Exit status, output and messages.
fn run(folder: &Folder, args: &[&str]) -> (i32, String, String) {
    topopt(&folder.path(""), &[&["run", "case.toml"], args].concat())
}

/// A column of a table.
fn column(table: &str, name: &str) -> Vec<f64> {
    let k = table.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    table.lines().skip(1).map(|row| row.split(',').nth(k).unwrap().parse().unwrap()).collect()
}

/// The temperature of a node at the end and its mean over time are those that a solve of the design
/// has at a probe there.
#[test]
fn an_objective_in_time_is_that_of_the_design() {
    let folder = folder();
    for time in ["end", "mean"] {
        let objective =
            format!("objective={{minimize=\"mean_temperature\",set=\"tip\",time=\"{time}\"}}");
        let args = [&EXACT[..], &["--set", &objective, "--overwrite"]].concat();
        let (status, out, err) = run(&folder, &args);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        let objective = column(&folder.read("results/history.csv"), "objective");
        assert!(objective[3] < 0.9 * objective[0], "{objective:?}");

        let solve = ["solve", "case.toml", "--design", "results", "-o", "solved", "--overwrite"];
        let (status, _, err) = topopt(&folder.path(""), &[&solve, &EXACT[..]].concat());
        assert_eq!(status, 0, "{err}");
        let table = folder.read("solved/transient.csv");
        let (times, tip) = (column(&table, "time"), column(&table, "tip"));
        let pieces = times.windows(2).zip(tip.windows(2));
        let mean = pieces.map(|(t, u)| 0.5 * (t[1] - t[0]) * (u[0] + u[1])).sum::<f64>() / 6.0;
        let expected = if time == "end" { tip[tip.len() - 1] } else { mean };
        let found = objective[3];
        assert!((found / expected - 1.0).abs() < 1e-7, "{time}: {found} {expected}");
    }
}

/// A run that is resumed ends with the same table and the same design.
#[test]
fn a_run_in_time_is_resumed_to_the_same_bits() {
    let folder = folder();
    let objective = "objective={minimize=\"largest_temperature\",set=\"high\",time=\"mean\"}";
    let whole = ["--set", objective, "--set", "output.compression=none"];
    assert_eq!(run(&folder, &whole).0, 0);
    let files = || {
        let objective = column(&folder.read("results/history.csv"), "objective");
        [objective, folder.array("results/design.vtu", "density")]
    };
    let expected = files();
    let shorter = [&whole[..], &["--overwrite", "--set", "optimizer.max_iterations=2"]].concat();
    assert_eq!(run(&folder, &shorter).0, 0);
    assert!(files() != expected);
    assert_eq!(run(&folder, &[&whole[..], &["--resume"]].concat()).0, 0);
    assert!(files() == expected);
}

/// On a GPU a run in time has the objectives of the processor.
#[test]
fn a_run_in_time_on_a_gpu_is_that_of_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let folder = folder();
    let objective = "objective={minimize=\"compliance\",time=\"mean\"}";
    for capacity in ["transient.capacity=lumped", "transient.capacity=consistent"] {
        let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
            let args = ["--set", objective, "--set", capacity, "--device", device, "--overwrite"];
            let (status, _, err) = run(&folder, &[&args, &EXACT[..]].concat());
            assert_eq!(status, 0, "{err}");
            column(&folder.read("results/history.csv"), "objective")
        });
        assert_eq!(cpu.len(), 4);
        assert!(difference(&gpu, &cpu) < 1e-9, "{capacity}: {gpu:?} {cpu:?}");
    }
}

/// Refuses keys that have no meaning in time, and `time` where there is none.
#[test]
fn what_has_no_time_is_refused() {
    let folder = folder();
    let volume = "constraints=[{response=\"volume\",at_most=0.3,set=\"all\",time=\"end\"}]";
    let held = "supports=[{set=\"low\",temperature=5}]";
    for (keys, part_of_message) in [
        (volume, "the response `volume` has no `time`"),
        (held, "in time the compliance is that of loads"),
        ("filter.kind=\"sensitivity\"", "a filter of sensitivities is for the least compliance"),
    ] {
        let (status, _, err) = run(&folder, &["--set", keys]);
        assert!(
            status == 1 && err.contains(part_of_message) && err.contains("help:"),
            "{status} {err}"
        );
    }
    let steady = folder.read("case.toml").replace("over_time", "#").replace("[transient]", "#");
    let steady =
        steady.replace("\nend = 6\nsteps = [[2, 0.5], [6, 1]]\ninitial = 0.5\nprobes", "\n#");
    folder.write("case.toml", &steady);
    let keys = "objective={minimize=\"mean_temperature\",set=\"tip\",time=\"end\"}";
    let (status, _, err) = run(&folder, &["--set", keys]);
    assert!(status == 1 && err.contains("`time` without [transient]"), "{err}");
}

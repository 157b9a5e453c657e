//! Numbers that count something, far beyond what can be counted, and memory that is counted.

use crate::{CASE, Folder, topopt};

const HEAT: &str = "[physics]\nkind = \"heat\"\n[mesh]\ngenerator = \"cantilever\"\nelements = 100\n\
    [material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n[[supports]]\nset = \"fixed\"\n\
    [[loads]]\nset = \"load\"\ntotal_heat = 5\n[solver]\ndevice = \"cpu\"\n[transient]\nend = 1\nstep = 0.25\n";

#[test]
fn steps_are_counted_before_they_are_listed() {
    let folder = Folder::new();
    folder.write("case.toml", HEAT);
    for (set, part) in [
        ("transient.step=1e-18", "1.0e18 steps, and 10000000 are the most"),
        ("transient.end=1e300", "steps, and 10000000 are the most"),
        ("transient.step=1e-320", "steps, and 10000000 are the most"),
        ("transient.step=1e-8", "100000000 steps, and 10000000 are the most"),
        ("transient={end=1.0,steps=[[0.5,0.1],[1.0,1e-9]]}", "steps, and 10000000 are the most"),
        ("transient={end=1000000.5,steps=[[1e6,1e5],[2e6,1e-7]]}", "are lost in the rounding"),
    ] {
        for command in [&["check"][..], &["solve", "-o", "out"]] {
            let args = [command, &["case.toml", "--set", set]].concat();
            let (status, out, err) = topopt(&folder.path(""), &args);
            let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(status == 1 && message.contains(part), "{set}: {out}{err}");
            assert!(message.contains("help: give longer steps"), "{err}");
        }
    }
}

#[test]
fn entries_behind_the_end_count_for_nothing() {
    let times = |steps: &str| {
        let folder = Folder::new();
        folder.write("case.toml", HEAT);
        let set = format!("transient={{end=5.0,steps={steps}}}");
        let (status, out, err) =
            topopt(&folder.path(""), &["solve", "case.toml", "-o", "out", "--set", &set]);
        assert_eq!(status, 0, "{steps}: {out}{err}");
        let table = folder.read("out/transient.csv");
        let time = |row: &str| row.split(',').nth(1).unwrap().parse::<f64>().unwrap();
        table.lines().skip(1).map(time).collect::<Vec<_>>()
    };
    let whole = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    for steps in [
        "[[100.0,1.0],[200.0,2.0]]",
        "[[5.0,1.0],[200.0,2.0]]",
        "[[5.0,1.0],[7.0,2.0],[9.0,3.0]]",
        "[[2.0,1.0]]",
    ] {
        assert_eq!(times(steps), whole, "{steps}");
    }
    assert_eq!(times("[[1.0,0.5],[3.0,1.0],[4.0,2.0]]"), [0.0, 0.5, 1.0, 2.0, 3.0, 5.0]);
    assert_eq!(times("[[5.0,1.0],[5.000000000000001,1.0]]"), whole);
}

#[test]
fn ranks_have_bounds() {
    let folder = Folder::new();
    for (ranks, part) in [
        ("18446744073709551615", "a process has at most 256 ranks"),
        ("257", "a process has at most 256 ranks"),
        ("251", "251 ranks are too many for 250 elements"),
    ] {
        let (status, _, err) =
            topopt(&folder.path(""), &["run", "case.toml", "-o", "out", "--ranks", ranks]);
        assert!(status == 1 && err.contains(part) && err.contains("help:"), "{ranks}: {err}");
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn tables_have_exponents() {
    let folder = Folder::new();
    folder.write("case.toml", &format!("{HEAT}initial = 1e100\n"));
    let (status, out, err) = topopt(&folder.path(""), &["solve", "case.toml", "-o", "out"]);
    assert_eq!(status, 0, "{out}{err}");
    let table = folder.read("out/transient.csv");
    assert!(table.lines().all(|line| line.len() < 200) && table.contains("1e100"), "{table}");
}

/// Whatever a limit leaves, nothing aborts.
#[cfg(target_os = "linux")]
#[test]
fn results_are_read_in_the_memory_that_is_there_or_not_at_all() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("elements = 250", "elements = 1500"));
    folder.run_well(&[]);
    let program = env!("CARGO_BIN_EXE_topopt");
    let mut done = [0; 4];
    for megabytes in [90, 110, 130, 160, 200, 240, 300, 500] {
        for (command, done) in [
            "report out",
            "verify out",
            "export out -o part.stl --threshold 0.3",
            "solve case.toml -o solved --overwrite",
        ]
        .into_iter()
        .zip(&mut done)
        {
            let line = format!("ulimit -v {}; {program} {command}", megabytes << 10);
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &line]).current_dir(folder.path("")).env("RAYON_NUM_THREADS", "2");
            let output = shell.output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{megabytes} MB, {command}: {err}"
            );
            *done += usize::from(output.status.success());
        }
    }
    assert!(done.iter().all(|done| *done > 0), "{done:?}");
}

//! Names that a table has to quote, or that no folder should have.

use topopt_study::history::History;

use crate::{CASE, Folder, topopt};

const HEAT: &str = "[physics]\nkind = \"heat\"\n[mesh]\ngenerator = \"cantilever\"\nelements = 100\n\
    [material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n[[supports]]\nset = \"fixed\"\n\
    [[loads]]\nset = \"load\"\ntotal_heat = 5\n[solver]\ndevice = \"cpu\"\n[transient]\nend = 1\nstep = 0.3\n";

fn probe(name: &str) -> String {
    let name = name.replace('"', "\\\"");
    format!("{HEAT}[[transient.probes]]\nname = \"{name}\"\npoint = [1, 1, 1]\n")
}

#[test]
fn probes_are_quoted_or_refused() {
    for name in ["a,b", "say \"no\"", ",", "\"", "a b"] {
        let folder = Folder::new();
        folder.write("case.toml", &probe(name));
        let (status, out, err) = topopt(&folder.path(""), &["solve", "case.toml", "-o", "out"]);
        assert_eq!(status, 0, "{name}: {out}{err}");
        let table = History::parse(&folder.read("out/transient.csv")).unwrap();
        assert_eq!(table.columns.last().unwrap(), name);
        assert!(folder.read("out/analysis.html").contains("<html"));
    }
    for (name, message) in [("", "a probe has no name"), ("step", "has a column `step` of its own")]
    {
        let folder = Folder::new();
        folder.write("case.toml", &probe(name));
        let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml"]);
        assert!(status == 1 && err.contains(message) && err.contains("help:"), "{err}");
    }
    let folder = Folder::new();
    let twice = probe("a") + "[[transient.probes]]\nname = \"a\"\npoint = [2, 1, 1]\n";
    folder.write("case.toml", &twice);
    let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert!(status == 1 && err.contains("two probes are named `a`"), "{err}");
}

#[test]
fn columns_have_names_of_their_own() {
    let folder = Folder::new();
    let mut case = CASE.to_owned();
    for (name, y) in [("t 2", 0), ("t", 5), ("t,2", 3), ("t\\\"", 1)] {
        case += &format!(
            "[[select]]\nname = \"{name}\"\nkind = \"nodes\"\nnearest = [10, {y}, 0]\n\
             [[constraints]]\nresponse = \"displacement\"\nset = \"{name}\"\nat_most = 1e6\n"
        );
    }
    case += "[[constraints]]\nresponse = \"displacement\"\nset = \"t\"\nat_most = 2e6\n";
    folder.write("case.toml", &case);
    folder.run_well(&[]);
    let mut columns = History::parse(&folder.read("out/history.csv")).unwrap().columns;
    let n = columns.len();
    columns.sort();
    columns.dedup();
    assert_eq!(columns.len(), n, "{columns:?}");
    let (status, out, err) = topopt(&folder.path(""), &["report", "out"]);
    assert_eq!(status, 0, "{out}{err}");
}

#[test]
fn cases_named_by_dots_have_folders_below() {
    for name in ["..toml", "...toml", "....toml"] {
        let folder = Folder::new();
        folder.write(name, CASE);
        let (status, out, err) = topopt(&folder.path(""), &["run", name]);
        assert_eq!(status, 0, "{name}: {out}{err}");
        assert!(
            !folder.path("summary.json").exists() && !folder.path("results/summary.json").exists()
        );
        assert_eq!(std::fs::read_dir(folder.path("results")).unwrap().count(), 1);
    }
}

/// A name of bytes that are no text.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_need_not_be_named_by_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let name = OsStr::from_bytes(b"o\xff\xfe");
    for command in ["run", "solve"] {
        let mut call = crate::program(&folder.path(""));
        call.arg(command).arg("case.toml").arg("-o").arg(name).arg("--overwrite");
        let output = call.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(if command == "run" { 0 } else { 1 }), "{err}");
    }
    let mut call = crate::program(&folder.path(""));
    call.arg("run").arg("case.toml").arg("-o").arg(name);
    call.args(["--resume", "--set", "optimizer.max_iterations=4"]);
    let output = call.output().unwrap();
    // There is no checkpoint, which is another matter.
    assert!(!String::from_utf8_lossy(&output.stderr).contains("UTF-8"));
}

//! The folder of the results, as input of other commands and of another run.

use std::path::Path;

use topopt_study::run_directory::RunDirectory;

use crate::meshes::{FROM_FILE, GENERATED, distorted, write};
use crate::{CASE, Folder, program};

/// The run was made relative to a folder, with overrides; its case file repeats it from elsewhere.
#[test]
fn its_case_file_gives_the_same_run_from_any_folder() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    write(&folder.path("part.msh"), &distorted());
    let args = ["--strategy", "ebe", "--device", "cpu"];
    folder.run(&["design.penalty=2.5", "output.compression=none"], &args);
    let results = |folder: &Folder| {
        (folder.history("compliance"), folder.array("out/design.vtu", "density"), folder.files())
    };
    let (first, case) = (results(&folder), folder.read("out/case.toml"));
    std::fs::remove_file(folder.path("out/design.vtu")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut again = program(elsewhere.path());
    assert!(again.arg("run").arg(folder.path("out/case.toml")).output().unwrap().status.success());
    assert_eq!(results(&folder), first);
    assert_eq!(folder.read("out/case.toml"), case);
    assert_eq!(folder.summary()["strategy"], "ebe");
}

#[test]
fn its_files_are_found() {
    let folder = Folder::new();
    folder.run_well(&["design.penalty=2.5"]);
    let run = RunDirectory::open(&folder.path("out")).unwrap();
    assert!(run.design().is_file() && run.history().is_file());
    assert_eq!(run.summary().unwrap().done.iterations, 3);
    let config = run.config().unwrap();
    assert_eq!((config.design.penalty, config.output_directory()), (2.5, folder.path("out")));
}

/// Keys of cases whose summaries have entries of their own: limits and stages, and heat with a
/// conductivity along each axis.
const SUMMARIZED: [&[&str]; 3] = [
    &[],
    &[
        "material.mass_density=7.8e-9",
        "materials=[{set=\"near\",youngs_modulus=2,mass_density=1e-9}]",
        "select=[{name=\"near\",kind=\"elements\",box={min=[0,0,0],max=[4,99,99]}}]",
        "units={length=\"mm\",force=\"N\"}",
        "objective={minimize=\"mass\"}",
        "constraints=[{response=\"compliance\",at_most=1e9}]",
        "design={}",
        "filter={kind=\"density\",radius_in_elements=1.5}",
        "projection.sharpness=2",
        "continuation=[{from=2,penalty=3.5}]",
        "optimizer.method=mma",
    ],
    &[
        "physics.kind=heat",
        "material={conductivity=[1,2,\"1+x\"],mass_density=\"2+x\"}",
        "supports=[{set=\"fixed\",temperature=0}]",
        "loads=[{set=\"load\",total_heat=1}]",
    ],
];

#[test]
fn its_summary_is_read_as_it_was_written() {
    for keys in SUMMARIZED {
        let folder = Folder::new();
        folder.run_well(keys);
        let summary = RunDirectory::open(&folder.path("out")).unwrap().summary().unwrap();
        let again = serde_json::to_string_pretty(&summary).unwrap() + "\n";
        assert_eq!(again, folder.read("out/summary.json"));
    }
}

#[test]
fn a_folder_without_results_is_refused() {
    let folder = Folder::new();
    let refused = |path: &Path| RunDirectory::open(path).unwrap_err().to_string();
    let none = refused(&folder.path("none"));
    assert!(none.ends_with("none is not a results folder: there is no such folder"), "{none}");
    let other = refused(&folder.path(""));
    assert!(other.contains("it lacks history.csv or case.toml"), "{other}");
    folder.run_well(&[]);
    for name in ["design.vtu", "summary.json"] {
        std::fs::remove_file(folder.path("out").join(name)).unwrap();
        let unfinished = refused(&folder.path("out"));
        assert!(unfinished.contains(&format!("has written no {name}")), "{unfinished}");
    }
}

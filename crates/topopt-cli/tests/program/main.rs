//! The program as it is called: output, exit status, files.

mod ansys;
mod bodies;
mod calculix;
mod candidates;
mod carried;
mod casting;
mod check;
mod coarse;
mod commands;
mod continuation;
mod counts;
mod crisp;
mod deck_messages;
mod deck_writers;
mod decks;
mod demand_ranks;
mod design_space;
mod diagnosis;
mod distance;
mod doubts;
mod export;
mod extrusion;
mod geometry_faces;
mod gmsh;
mod gpu;
mod gpu_ranks;
#[cfg(unix)]
mod guide;
mod half_models;
mod heat;
mod heat_axes;
mod heat_fields;
mod heat_films;
mod heat_in_time;
mod heat_pages;
mod heat_resume;
mod heat_series;
mod heat_tetrahedra;
mod heat_verified;
mod hexahedra;
mod inertia_relief;
mod interrupt;
mod kept;
mod launched;
mod laws;
mod limits_built;
mod literature;
mod loads;
mod made;
mod making;
mod manufacturing;
mod materials;
mod mechanisms;
mod member_size;
mod mesh_messages;
mod meshes;
mod messages;
mod methods;
mod milling;
mod names;
mod numbering;
mod numbers;
mod objectives;
mod open_voids;
mod optistruct;
mod overhang;
mod preview;
mod progress;
mod pynastran;
mod pyramids;
mod ranks;
mod refinement;
mod refused;
mod report;
mod resume;
mod resume_meshes;
mod rounding;
mod run;
mod run_directory;
mod safety;
mod solve;
mod space_faces;
mod start_from;
mod starts;
mod support_loads;
mod symmetry;
mod temperatures;
mod tetrahedra;
mod thermal_strain;
mod together;
mod tosca;
mod verified_cases;
mod verify;
mod vtk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

/// A small cantilever; three iterations take some hundredths of a second.
const CASE: &str = r#"title = "Small"

[mesh]
generator = "cantilever"
elements = 250

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, -1, 0]

[design]
style = "smooth"
volume_fraction = 0.3

[filter]
radius_in_elements = 1.5

[optimizer]
max_iterations = 3
change_tolerance = 0
compliance_tolerance = 0

[solver]
device = "cpu"

[output]
checkpoint_every = 0
"#;

/// The files of a run to the folder `out`.
const RESULTS: [&str; 6] = [
    "out/case.toml",
    "out/design.pvd",
    "out/design.vti",
    "out/design.vtu",
    "out/history.csv",
    "out/summary.json",
];

/// A working directory with [`CASE`] in case.toml.
struct Folder(TempDir);

/// How a call of the program ended.
struct Finished {
    status: i32,
    out: String,
    err: String,
}

/// The program, to be called in `folder`.
fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topopt"));
    command.current_dir(folder);
    command
}

/// Runs the program in `folder`: exit status, standard output, standard error.
fn topopt(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let Finished { status, out, err } = program(folder).args(args).output().unwrap().into();
    (status, out, err)
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        Self { status, out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("case.toml", CASE);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// `topopt run case.toml --output out` with `args`, which begin with keys to set.
    fn run(&self, set: &[&str], args: &[&str]) -> Finished {
        let mut command = program(self.0.path());
        command.args(["run", "case.toml", "--output", "out"]);
        command.args(set.iter().flat_map(|set| ["--set", set]));
        // Results of an earlier run are to be replaced.
        if !args.contains(&"--resume") {
            command.arg("--overwrite");
        }
        command.args(args).output().unwrap().into()
    }

    /// Runs the case, which must succeed.
    fn run_well(&self, set: &[&str]) -> Finished {
        let finished = self.run(set, &[]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        finished
    }

    fn summary(&self) -> Value {
        serde_json::from_str(&self.read("out/summary.json")).unwrap()
    }

    /// How long each step of out/summary.json took; together no longer than the whole run.
    fn seconds(&self) -> BTreeMap<String, f64> {
        let summary = self.summary();
        let mut steps: BTreeMap<_, _> = Deserialize::deserialize(&summary["seconds"]).unwrap();
        let total = steps.remove("total").unwrap();
        assert!(steps.values().sum::<f64>() <= total, "{summary}");
        steps
    }

    /// A column of out/history.csv.
    fn history(&self, column: &str) -> Vec<f64> {
        let text = self.read("out/history.csv");
        assert!(text.ends_with('\n'));
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap();
        let index = names.iter().position(|name| *name == column).unwrap();
        let value = |row: Vec<&str>| {
            assert_eq!(row.len(), names.len());
            row[index].parse().unwrap()
        };
        rows.map(value).collect()
    }

    /// All files below the working directory, hidden ones too, sorted.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() { folders.push(path) } else { files.push(name) }
            }
        }
        files.sort();
        files
    }

    /// Values of an array of doubles in a .vtu file that is not compressed.
    fn array(&self, file: &str, name: &str) -> Vec<f64> {
        let bytes = std::fs::read(self.path(file)).unwrap();
        let mark = b"encoding=\"raw\">\n_";
        let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let header = std::str::from_utf8(&bytes[..start]).unwrap();
        let tag = header.split('<').find(|tag| tag.contains(&format!("Name=\"{name}\""))).unwrap();
        let offset = tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap();
        let data = &bytes[start + offset.parse::<usize>().unwrap()..];
        let (length, values) = data.split_first_chunk().unwrap();
        let values = &values[..u64::from_le_bytes(*length) as usize];
        values.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect()
    }
}

/// The largest difference of `a` and `b`, relative to the largest of `b`.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
}

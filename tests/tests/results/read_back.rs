//! The results of a run as VTK's own readers find them.
//!
//! Needs a Python with the package `vtk`, named by `TOPOPT_PYTHON` or called `python3`. Where there
//! is none the tests pass without a word, unless `TOPOPT_REQUIRE_VTK` is set, as it is in CI.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_tests::root;

use crate::{ELEMENTS, run};

#[test]
fn vtk_reads_the_results_back() {
    for compression in ["zlib", "none"] {
        let folder = tempfile::tempdir().unwrap();
        run("cantilever", folder.path(), compression);
        let Some(design) = read(&folder.path().join("design.vtu")) else { return };
        let mesh = mesh();
        check_mesh(&design, &mesh);
        check_fields(&design, &last_row(folder.path()));
        check_grid(&read(&folder.path().join("design.vti")).unwrap(), &mesh, &design);
        check_series(&read(&folder.path().join("design.pvd")).unwrap(), &design);
    }
}

fn check_mesh(design: &Value, mesh: &HexMesh) {
    assert_eq!(design["points"], mesh.n_nodes());
    assert_eq!(design["cells"], mesh.n_elements());
    assert_eq!(design["cell_types"], serde_json::json!([12]));
    assert_eq!(numbers(&design["last_cell"]), mesh.hexes().last().unwrap().map(f64::from));
    let bounds = mesh.bounding_box();
    let expected: Vec<f64> = (0..3).flat_map(|i| [bounds.min[i], bounds.max[i]]).collect();
    assert_eq!(numbers(&design["bounds"]), expected);
}

/// The elements are cubes of one size: the mean density is the volume fraction. Twice the strain
/// energy is the compliance. The first node of the user's numbering is clamped, the last is not.
fn check_fields(design: &Value, history: &[(String, f64)]) {
    let column = |name: &str| history.iter().find(|(n, _)| n == name).unwrap().1;
    let density = array(&design["cell_data"], "density");
    let mean = number(&density["sum"][0]) / number(&density["count"]);
    assert!((mean - column("volume_fraction")).abs() < 1e-12, "mean density {mean}");
    assert!(number(&density["min"][0]) >= 0.01 && number(&density["max"][0]) <= 1.0);
    let energy = number(&array(&design["cell_data"], "strain_energy")["sum"][0]);
    let compliance = column("compliance");
    assert!((2.0 * energy / compliance - 1.0).abs() < 1e-10, "2 * {energy} | {compliance}");
    let displacement = array(&design["point_data"], "displacement");
    assert_eq!(displacement["components"], 3);
    assert_eq!(numbers(&displacement["first"]), [0.0; 3]);
    assert!(numbers(&displacement["last"])[1] < 0.0);
    for array in [density, displacement] {
        assert_eq!((&array["type"], &array["nan"]), (&"double".into(), &0.into()));
    }
}

/// The grid has a cell for each cube, so that densities are the same but for their precision.
fn check_grid(grid: &Value, mesh: &HexMesh, design: &Value) {
    assert_eq!(grid["cells"], mesh.n_elements());
    let extent = mesh.bounding_box().extent();
    assert_eq!(numbers(&grid["dimensions"]), extent.map(|length| length + 1.0));
    assert_eq!(
        (numbers(&grid["origin"]), numbers(&grid["spacing"])),
        ([0.0; 3].into(), [1.0; 3].into())
    );
    let (found, expected) =
        (array(&grid["cell_data"], "density"), array(&design["cell_data"], "density"));
    let difference = number(&found["sum"][0]) / number(&expected["sum"][0]) - 1.0;
    assert!(difference.abs() < 1e-6, "{difference:e}");
    for end in ["first", "last"] {
        assert_eq!(number(&found[end][0]) as f32, number(&expected[end][0]) as f32, "{end}");
    }
}

fn check_series(series: &Value, design: &Value) {
    let files = series["files"].as_array().unwrap();
    let entry = |f: &Value| (number(&f["time"]), f["file"].as_str().unwrap().to_owned());
    let expected = [(2.0, "snapshots/design_0002.vtu"), (3.0, "design.vtu")];
    let found: Vec<_> = files.iter().map(entry).collect();
    assert_eq!(found, expected.map(|(time, name)| (time, name.to_owned())));
    assert_eq!(&files[1]["data"], design);
    let density = |data: &Value| array(&data["cell_data"], "density")["sum"].clone();
    assert_eq!(files[0]["data"]["cells"], design["cells"]);
    assert!(density(&files[0]["data"]) != Value::Null);
}

fn mesh() -> HexMesh {
    Benchmark::Cantilever.generate(Resolution::Elements(ELEMENTS)).unwrap()
}

/// Names and values of the last row of the history.
fn last_row(folder: &Path) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(folder.join("history.csv")).unwrap();
    let (names, values) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    let values = values.split(',').map(|value| value.parse().unwrap());
    names.split(',').map(String::from).zip(values).collect()
}

/// What VTK finds in a file; nothing where VTK cannot be had and need not be.
fn read(file: &Path) -> Option<Value> {
    let python = std::env::var_os("TOPOPT_PYTHON").unwrap_or_else(|| "python3".into());
    let script = root().join("tests/vtk_readback.py");
    let output = Command::new(&python).arg(script).arg(file).output();
    let missing = match &output {
        Ok(output) => output.status.code() == Some(77),
        Err(_) => true,
    };
    if missing {
        let required = std::env::var_os("TOPOPT_REQUIRE_VTK").is_some();
        assert!(!required, "{} has no VTK: {output:?}", python.display());
        return None;
    }
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn array<'a>(data: &'a Value, name: &str) -> &'a Value {
    let arrays = data.as_array().unwrap();
    arrays.iter().find(|array| array["name"] == name).unwrap_or_else(|| panic!("no {name}: {data}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

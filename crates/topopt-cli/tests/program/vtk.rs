//! The files of a run on a distorted mesh from a file, with two load cases, as VTK's own readers
//! find them.
//!
//! Needs a Python with the package `vtk`, named by `TOPOPT_PYTHON` or called `python3`; without it
//! the test is skipped, unless `TOPOPT_REQUIRE_VTK` is set.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use topopt_mesh::{HexMesh, UniformGrid};

use crate::meshes::{FROM_FILE, GENERATED, distorted, write};
use crate::{CASE, Folder};

const LIFT: &str = "[[loads]]\nset = \"load\"\nforce = [0, 0, 2]\ncase = \"lift & turn\"\n\
    [[load_cases]]\nname = \"lift & turn\"\nweight = 0.5\n[design]";

#[test]
fn vtk_reads_two_load_cases_on_a_distorted_mesh() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE).replace("[design]", LIFT));
    let mesh = distorted();
    write(&folder.path("part.msh"), &mesh);
    folder.run_well(&[
        "solver.tolerance=1e-10",
        "output.snapshot_every=1",
        "output.vti_spacing=0.5",
        "output.pieces=3",
        "design.keep_loaded=free",
    ]);
    let in_folder = |name: &str| read(&folder.path("out").join(name));
    let Some(design) = in_folder("design.vtu") else { return };
    check_design(&design, &mesh, &folder);
    check_pieces(&in_folder("design.pvtu").unwrap(), &design, &folder);
    check_grid(&in_folder("design.vti").unwrap(), &design, &mesh);
    check_series(&in_folder("design.pvd").unwrap(), &design, &folder);
    let free = "design.keep_loaded=free";
    folder.run_well(&["solver.tolerance=1e-10", "output.compression=none", free]);
    assert_eq!(in_folder("design.vtu").unwrap(), design);
    assert!(!folder.path("out/design.pvtu").exists() && !folder.path("out/pieces").exists());
}

/// Pieces have all cells once, in the same order, and as many points as each needs.
fn check_pieces(pieces: &Value, design: &Value, folder: &Folder) {
    for what in ["cells", "bounds", "cell_types", "cell_data"] {
        assert_eq!(pieces[what], design[what], "{what}");
    }
    let (points, whole) = (&pieces["point_data"], &design["point_data"]);
    for array in whole.as_array().unwrap() {
        let in_pieces = self::array(points, array["name"].as_str().unwrap());
        for what in ["type", "components", "nan", "min", "max"] {
            assert_eq!(in_pieces[what], array[what], "{}: {what}", array["name"]);
        }
    }
    let names = [1, 2, 3].map(|piece| format!("out/pieces/piece_000{piece}.vtu"));
    let files = names.map(|name| read(&folder.path(&name)).unwrap());
    let points = |file: &Value| file["points"].as_u64().unwrap();
    assert_eq!(files.iter().map(points).sum::<u64>(), points(pieces));
    assert!(files.iter().all(|file| points(file) < points(design)));
    assert_eq!(files.map(|file| file["cells"].as_u64().unwrap()), [83, 83, 84]);
}

fn check_design(design: &Value, mesh: &HexMesh, folder: &Folder) {
    assert_eq!((&design["points"], &design["cells"]), (&mesh.n_nodes().into(), &250.into()));
    assert_eq!(design["cell_types"], json!([12]));
    assert_eq!(design["last_cell"], json!(mesh.hexes().last().unwrap()));

    let bounds = mesh.bounding_box();
    let bounds: Vec<_> = (0..3).flat_map(|i| [bounds.min[i], bounds.max[i]]).collect();
    assert_eq!(design["bounds"], json!(bounds));

    let names = |arrays: &Value| -> Vec<String> {
        arrays.as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap().into()).collect()
    };
    assert_eq!(
        names(&design["point_data"]),
        [
            "displacement",
            "force",
            "displacement_lift & turn",
            "force_lift & turn",
            "supported",
            "loaded"
        ]
    );
    assert_eq!(names(&design["cell_data"]), ["density", "strain_energy", "passive"]);

    let summary = folder.summary();
    let [density, energy] =
        ["density", "strain_energy"].map(|name| array(&design["cell_data"], name));
    for array in [density, energy] {
        assert_eq!((&array["type"], &array["nan"]), (&json!("double"), &json!(0)));
    }

    let (least, most) = (number(&density["min"][0]), number(&density["max"][0]));
    assert!((0.01..0.1).contains(&least) && (0.5..=1.0).contains(&most), "{least} {most}");
    let doubled = 2.0 * number(&energy["sum"][0]);
    let compliance = summary["compliance"].as_f64().unwrap();
    assert!((doubled / compliance - 1.0).abs() < 1e-8, "{doubled} | {compliance}");

    let [down, lift] =
        ["displacement", "displacement_lift & turn"].map(|n| array(&design["point_data"], n));
    assert!(number(&down["min"][1]) < -number(&down["max"][2]).abs(), "{down}");
    assert!(number(&lift["max"][2]) > number(&lift["max"][1]).abs(), "{lift}");
    // Node 0 is on the clamped side.
    assert_eq!(
        (&down["first"], &lift["first"]),
        (&json!([0.0, 0.0, 0.0]), &json!([0.0, 0.0, 0.0]))
    );
}

/// Every cell of the grid has the density of the element under it.
fn check_grid(grid: &Value, design: &Value, mesh: &HexMesh) {
    let expected = UniformGrid::covering(&mesh.bounding_box(), 0.5).unwrap();
    assert_eq!(grid["dimensions"], json!(expected.cells.map(|n| n + 1)));
    assert_eq!(grid["spacing"], json!([0.5, 0.5, 0.5]));
    for (i, origin) in expected.origin.iter().enumerate() {
        assert!((number(&grid["origin"][i]) - origin).abs() < 1e-12);
    }
    let density = array(&grid["cell_data"], "density");
    assert_eq!((&density["count"], &density["nan"]), (&expected.n_cells().into(), &0.into()));
    assert_eq!(density["min"], json!([0.0]), "there are cells outside the bent part");
    let fine = array(&design["cell_data"], "density");
    assert!((number(&density["max"][0]) - number(&fine["max"][0])).abs() < 1e-6);
    // Material by volume, as well as cells of half a width tell.
    let material = number(&density["sum"][0]) * 0.5_f64.powi(3);
    let volume: f64 = mesh.volumes().iter().sum();
    assert!((material / (0.3 * volume) - 1.0).abs() < 0.05, "{material} of {volume}");
}

/// The history's volume fractions are those of the snapshots, weighted by element volumes: equal
/// sums of a snapshot and the design only for the last.
fn check_series(series: &Value, design: &Value, folder: &Folder) {
    let files = series["files"].as_array().unwrap();
    let entries: Vec<_> =
        files.iter().map(|f| (number(&f["time"]), f["file"].as_str().unwrap())).collect();

    assert_eq!(
        entries,
        [
            (1.0, "snapshots/design_0001.vtu"),
            (2.0, "snapshots/design_0002.vtu"),
            (3.0, "design.vtu")
        ]
    );

    assert_eq!(&files[2]["data"], design);
    let compliance = folder.history("compliance");
    for (file, compliance) in files.iter().zip(compliance) {
        let energy = array(&file["data"]["cell_data"], "strain_energy");
        let doubled = 2.0 * number(&energy["sum"][0]);
        assert!((doubled / compliance - 1.0).abs() < 1e-8, "{doubled} | {compliance}");
    }

    let start = array(&files[0]["data"]["cell_data"], "density");
    assert_eq!((&start["min"], &start["max"]), (&json!([0.3]), &json!([0.3])));
}

/// Reads a file with VTK; none where VTK cannot be had and need not be.
pub fn read(file: &Path) -> Option<Value> {
    read_back("VTK", "vtk_readback.py", &[file])
}

/// Runs a script of the tests on `files`; returns its JSON, or none where the `package` of Python
/// that it uses cannot be had and need not be.
pub fn read_back(package: &str, script: &str, files: &[impl AsRef<OsStr>]) -> Option<Value> {
    let python = std::env::var_os("TOPOPT_PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(script);
    let output = match Command::new(&python).arg(script).args(files).output() {
        Ok(output) if output.status.code() != Some(77) => output,
        missing => {
            let required = format!("TOPOPT_REQUIRE_{}", package.to_ascii_uppercase());
            let is_required = std::env::var_os(required).is_some();
            assert!(!is_required, "{} has no {package}: {missing:?}", python.display());
            println!("skipped: {} has no {package}", python.display());
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

pub fn array<'a>(data: &'a Value, name: &str) -> &'a Value {
    let arrays = data.as_array().unwrap();
    arrays.iter().find(|array| array["name"] == name).unwrap_or_else(|| panic!("no {name}: {data}"))
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

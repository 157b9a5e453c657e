//! The subcommands beside `run` and `check`.

use std::path::Path;

use serde_json::json;
use topopt_case::case::Case;
use topopt_case::config::Config;

use crate::topopt;

#[test]
fn init_writes_a_case_that_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let (status, out, err) = topopt(folder.path(), &["init", "part"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("part.toml"), "{out}");
    let path = folder.path().join("part.toml");
    let config = Config::load(&path, &["mesh.elements=100".into()]).unwrap();
    Case::build(&config).unwrap();
}

/// Keys of the template whose lines show an example and no default.
const WITHOUT_DEFAULT: [&str; 41] = [
    "direction",
    "least_width",
    "from_mesh",
    "yield_strength",
    "cut",
    "file",
    "across",
    "element_size",
    "refine",
    "hexes",
    "gmsh",
    "gmsh_timeout",
    "length",
    "force",
    "elements",
    "radius",
    "threads",
    "directory",
    "vti_spacing",
    "total_force",
    "at",
    "moment",
    "bearing",
    "angular_velocity",
    "center",
    "traction",
    "pressure",
    "threshold",
    "sharpness",
    "filter_radius",
    "filter_radius_in_elements",
    "gravity",
    "temperature",
    "rotation",
    "reference_temperature",
    "mass_density",
    "thermal_expansion",
    "stiffness_per_area",
    "checkpoint_every",
    "early_tolerance",
    "initial_volume_fraction",
];

/// Every line of the template that is commented out is the default it claims to be.
#[test]
fn template_shows_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    topopt(folder.path(), &["init", "part"]);
    let path = folder.path().join("part.toml");
    let text = std::fs::read_to_string(&path).unwrap();

    let shown = |line: &str| {
        let is_key = line.starts_with("# [[") || line.starts_with("# ") && line.contains(" = ");
        // The method of the optimizer has a default, and that of making has none.
        let is_other = WITHOUT_DEFAULT.iter().any(|key| line.starts_with(&format!("# {key} =")))
            || line.starts_with("# method = \"printed\"");
        // What is further to the right is of another physics.
        let is_key = is_key && !line.starts_with("#  ");
        if is_key && !is_other { line[2..].to_owned() } else { line.to_owned() }
    };

    // Objective and constraints have no defaults.
    let (before, after) = text.split_once("# What is minimized").unwrap();
    let (_, after) = after.split_once("# The filter").unwrap();
    let uncommented: Vec<_> = before.lines().chain(after.lines().skip(1)).map(shown).collect();
    assert!(uncommented.len() > 60 && uncommented.iter().any(|l| l.starts_with("penalty")));
    let plain = Config::parse(&path, text, &[]).unwrap();
    let mut full = Config::parse(&path, uncommented.join("\n"), &[]).unwrap();
    full.solver.max_iterations = None; // by the preconditioner when left out

    let sections = |c: &Config| {
        serde_json::json!([
            c.material,
            c.filter.get_ref(),
            c.optimizer,
            c.solver,
            c.output,
            c.design.penalty,
            c.design.density_min,
            c.supports[0].fix,
            c.loads[0].case,
        ])
    };

    assert_eq!(sections(&plain), sections(&full));
    assert_eq!(full.load_cases[0].weight, 1.0);
}

#[test]
fn init_does_not_overwrite() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("part.toml"), "precious").unwrap();
    for name in ["part", "part.toml"] {
        let (status, out, err) = topopt(folder.path(), &["init", name]);
        assert_eq!((status, out.as_str()), (1, ""));
        insta::allow_duplicates! { insta::assert_snapshot!(err, @"
        x part.toml already exists
        help: choose another name, or remove the file first
        "); }
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("part.toml")).unwrap(), "precious");
}

#[test]
fn schema_is_json() {
    let (status, out, _) = topopt(Path::new("."), &["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &schema), (0, &topopt_case::config::schema()));
}

#[test]
fn completions_name_the_subcommands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (status, out, _) = topopt(Path::new("."), &["completions", shell]);
        assert_eq!(status, 0);
        assert!(out.contains("completions") && out.contains("ascii"), "{shell}: {out}");
    }
}

#[test]
fn mesh_and_info_agree() {
    let folder = tempfile::tempdir().unwrap();
    for extra in [&[][..], &["--ascii"], &["--format", "2.2"], &["--format", "2.2", "--ascii"]] {
        let args = ["mesh", "l_beam", "--elements", "500", "-o", "beam.msh"];
        let (status, out, err) = topopt(folder.path(), &[&args, extra].concat());
        assert_eq!((status, err.as_str()), (0, ""));
        let (status, json, _) = topopt(folder.path(), &["info", "beam.msh", "--json"]);
        assert_eq!(status, 0);
        let info: serde_json::Value = serde_json::from_str(&json).unwrap();
        let counts = format!("{} elements, {} nodes", info["elements"], info["nodes"]);
        assert!(out.contains(&counts), "{out} {json}");
        let elements = info["elements"].as_u64().unwrap();
        let sets: Vec<_> = info["sets"].as_array().unwrap().iter().collect();
        let design = serde_json::json!({"name": "design", "kind": "element", "count": elements});
        assert!(sets.contains(&&design), "{json}");
        assert_eq!(info["components"], 1);
        assert_eq!(info["quality"]["scaled_jacobian"]["min"], 1.0);
        assert_eq!(info["volume"].as_f64().unwrap().round(), elements as f64);
        assert_eq!(info["bounding_box"]["min"], serde_json::json!([0.0, 0.0, 0.0]));
    }
}

/// Elements have the numbers of the file; worst first.
#[test]
fn info_on_every_format() {
    let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes");
    let of_the_box = [("design", "element", 4), ("edge", "node", 2), ("solid", "element", 2)];
    for (file, counts, extent, worst, sets, notes) in [
        ("gmsh_box_4_1_binary.msh", [18, 4, 8], [2.0, 1.0, 1.0], 11, &of_the_box[..], 0),
        ("abaqus_box_gmsh.inp", [18, 4, 14], [2.0, 1.0, 1.0], 11, &of_the_box, 11),
        ("vtu_box_raw_zlib.vtu", [18, 4, 2], [2.0, 1.0, 1.0], 2, &of_the_box[2..], 1),
        ("ansys_hex_beam.cdb", [99, 40, 4], [1.0, 1.0, 5.0], 1, &[("ECOMP2", "element", 22)], 7),
    ] {
        let (status, out, err) = topopt(&meshes, &["info", file, "--json"]);
        assert_eq!((status, err.as_str()), (0, ""), "{file}");
        let info: serde_json::Value = serde_json::from_str(&out).unwrap();

        let length = |key: &str| info[key].as_array().unwrap().len();
        assert_eq!((&info["nodes"], &info["elements"]), (&json!(counts[0]), &json!(counts[1])));
        assert_eq!((length("sets"), length("notes")), (counts[2], notes), "{file}");

        for (name, kind, count) in sets {
            let set = json!({"name": name, "kind": kind, "count": count});
            assert!(info["sets"].as_array().unwrap().contains(&set), "{file} {set}");
        }

        assert_eq!(info["bounding_box"], json!({"min": [0.0, 0.0, 0.0], "max": extent}), "{file}");
        let volume: f64 = extent.iter().product();
        assert!((info["volume"].as_f64().unwrap() - volume).abs() < 1e-12, "{file}");
        assert_eq!(info["quality"]["worst_elements"][0], worst, "{file}");
        assert_eq!(info["components"], 1, "{file}");
    }
}

#[test]
fn info_for_people() {
    let folder = tempfile::tempdir().unwrap();
    topopt(folder.path(), &["mesh", "cantilever", "--elements", "16"]);
    let (status, out, _) = topopt(folder.path(), &["info", "cantilever.msh"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(out, @r"
    cantilever.msh
      nodes            45
      elements         16
      connected parts  1
      extent           4 x 2 x 2
      from, to         [0.0, 0.0, 0.0], [4.0, 2.0, 2.0]
      volume           16
      element width    1 (cube root of the volume, mean over the part)
      scaled Jacobian  smallest 1.000 (element 1), mean 1.000; 1 is best
      aspect ratio     largest 1.000, mean 1.000; 1 is best
      sets             design  16 elements
                       fixed   4 faces
                       load    3 nodes
    ");
}

#[test]
fn unwritable_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["mesh", "cantilever", "--elements", "16", "-o", "none/a.msh"];
    let (status, _, err) = topopt(folder.path(), &args);
    assert_eq!(status, 1);
    insta::assert_snapshot!(err, @r"
    x cannot write none/a.msh: No such file or directory (os error 2)
    help: choose an existing, writable folder
    ");
}

#[test]
fn mesh_format_that_is_not_written() {
    let args = ["mesh", "cantilever", "--elements", "16", "-o", "a.vtu"];
    let (status, _, err) = topopt(Path::new("."), &args);
    assert_eq!(status, 1);
    insta::assert_snapshot!(err, @r"
    x cannot write the format of a.vtu
    help: give a file name that ends with .msh
    ");
}

#[test]
fn wrong_usage_is_status_one_and_help_is_status_zero() {
    for args in [&["mesh"][..], &["mesh", "tower", "--size", "1"], &["frob"], &[]] {
        let (status, out, err) = topopt(Path::new("."), args);
        assert_eq!((status, out.as_str()), (1, ""), "{args:?}");
        assert!(err.contains("--help"), "{err}");
    }
    let (status, out, _) = topopt(Path::new("."), &["--help"]);
    assert!(status == 0 && out.contains("Write the mesh of a benchmark"), "{out}");
}

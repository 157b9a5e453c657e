//! Whole case files.

use std::path::Path;

use topopt_case::config::{Config, Device, FilterKind, Method, Strategy};
use topopt_cli::render::{Drawing, render};

use crate::{CASE, parse};

#[test]
fn short_case_has_the_defaults() {
    let config = parse(CASE.to_owned(), &[]).unwrap();
    assert_eq!((config.material.youngs_modulus, config.material.poissons_ratio), (1.0, 0.3));
    assert_eq!((config.design.penalty, config.design.density_min), (3.0, 0.01));
    assert_eq!(config.filter.get_ref().kind, FilterKind::Sensitivity);
    assert_eq!((config.optimizer.method, config.optimizer.max_iterations), (Method::Oc, 150));
    assert_eq!((config.solver.device, config.solver.strategy), (Device::Auto, Strategy::Auto));
    assert_eq!(config.supports[0].fix.len(), 3);
    assert_eq!(config.loads[0].case, "default");
    assert_eq!(config.output_directory(), Path::new("results/case"));
    assert_eq!(config.mesh_path(), None);
}

#[test]
fn missing_file() {
    let error = Config::load(Path::new("no/such/case.toml"), &[]).unwrap_err();
    insta::assert_snapshot!(render(error.findings(), Drawing::Plain), @r"
    x cannot read the case file no/such/case.toml: No such file or directory (os error 2)
    help: `topopt init NAME` writes a case file to start from
    ");
}

/// Every table of the case file, every kind of condition, and values that need care.
const EVERYTHING: &str = r#"title = "A \"quoted\" part, µm"
[mesh]
file = "part.msh"
[material]
youngs_modulus = 210e3
poissons_ratio = 0.1234567890123456789
[[select]]
name = "bores"
kind = "faces"
cylinder = { point = [1, 2, 3], axis = [0, 0, 1e-3], radius = 4 }
box = { min = [-1e300, 0, 0], max = [1, 1, 1] }
plane = { point = [0, 0, 0], normal = [1, 0, 0], tolerance = 1e-9 }
normal = { direction = [0, 0, -1] }
[[select]]
name = "rest"
kind = "nodes"
any = [{ sphere = { center = [0, 0, 0], radius = 1 } }, { nodes = [3, 4294967295] }]
all = [{ set = "bores" }]
nearest = [0.1, 0.2, 0.3]
not = { not = { set = "tip" } }
[[supports]]
set = "bores"
fix = ["x", "z"]
[[loads]]
set = "tip"
total_force = [0, -10, 0]
[[loads]]
set = "tip"
pressure = 2
case = "second"
[[load_cases]]
name = "second"
weight = 0.25
[design]
style = "smooth"
volume_fraction = 0.3
solid = ["ring"]
[filter]
kind = "density"
radius_in_elements = 2.5
[projection]
sharpness = 4
[[continuation]]
from = 20
sharpness = 8
[[continuation]]
from = 40
tolerance = 1e-7
penalty = 3.5
filter_radius_in_elements = 2
[solver]
device = "gpu:1"
strategy = "ebeSym"
threads = 3
"#;

#[test]
fn all_settings_written_as_a_case_file_are_the_same_case() {
    let crisp = [CASE, EVERYTHING].map(|text| text.replace("\"smooth\"", "\"crisp\""));
    for text in [CASE, EVERYTHING, &crisp[0], &crisp[1]] {
        let config = parse(text.to_owned(), &["output.directory=out", "design.penalty=4"]).unwrap();
        let written = config.to_toml().unwrap();
        let mut again = Config::parse(Path::new("elsewhere/case.toml"), written, &[]).unwrap();
        assert_eq!((again.output.directory.clone(), again.design.penalty), (None, 4.0));
        let absolute = |path| std::path::absolute(path).unwrap();
        assert_eq!(again.mesh_path(), config.mesh_path().map(absolute));
        again.output.directory = Some("out".into());
        // Settings for hexahedra alone are written with what they make of tetrahedra.
        again.mesh.get_mut().cut = config.mesh.get_ref().cut.clone();
        if let Some(file) = &mut again.mesh.get_mut().file {
            *file.get_mut() = "part.msh".into();
        }
        let [first, second] = [config, again].map(|config| serde_json::to_value(config).unwrap());
        assert_eq!(first, second);
    }
}

/// Wherever the file breaks off, there is a message, and its place is in the file.
#[test]
fn file_cut_anywhere_is_refused_with_its_place() {
    for end in 0..CASE.len() - "\nradius = 3\n".len() {
        let message = parse(CASE[..end].to_owned(), &[]).unwrap_err();
        assert!(!message.contains("Failed to read"), "{message}");
    }
}

#[test]
fn benchmarks_load_and_run_fifty_iterations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    let fractions =
        [("cantilever", 0.3), ("l_beam", 0.45), ("michell", 0.45), ("connecting_rod", 0.3)];
    for (name, volume_fraction) in fractions {
        let config = Config::load(&folder.join(format!("{name}.toml")), &[]).unwrap();
        assert_eq!(config.mesh.get_ref().size.as_ref().map(|s| *s.get_ref()), Some(1));
        assert_eq!(config.volume_bound(), Some(volume_fraction));
        assert_eq!(config.filter.get_ref().radius_in_elements, Some(3.0));
        let optimizer = &config.optimizer;
        assert_eq!(optimizer.max_iterations, 50);
        assert_eq!(optimizer.change_tolerance, 0.0);
        assert_eq!(optimizer.compliance_tolerance, 0.0);
        assert_eq!(optimizer.absolute_compliance_tolerance, 0.0);
        assert_eq!(config.design.solid.len(), usize::from(name == "connecting_rod"));
    }
}

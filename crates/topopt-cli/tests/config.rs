//! The case file: what it accepts, and what it says about what it does not.

use std::path::Path;

use topopt_cli::render::{Drawing, render};
use topopt_study::config::{Config, Device, FilterKind, Method, Strategy, schema};

const CASE: &str = r#"[mesh]
generator = "cantilever"
size = 1

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, -1, 0]

[design]
volume_fraction = 0.3

[filter]
radius = 3
"#;

fn parse(text: String, overrides: &[&str]) -> Result<Config, String> {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    Config::parse(Path::new("cases/case.toml"), text, &overrides)
        .map_err(|error| render(error.findings(), Drawing::Plain))
}

/// The message about `CASE` with `old` replaced by `new`.
fn refused(old: &str, new: &str) -> String {
    assert!(CASE.contains(old), "{old} is not in the case");
    parse(CASE.replacen(old, new, 1), &[]).unwrap_err()
}

/// The message about `CASE` with the overrides.
fn override_refused(overrides: &[&str]) -> String {
    parse(CASE.to_owned(), overrides).unwrap_err()
}

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
fn mesh_file_is_relative_to_the_case_file() {
    let text = CASE.replace("generator = \"cantilever\"\nsize = 1", "file = \"part.msh\"");
    assert_eq!(parse(text, &[]).unwrap().mesh_path().unwrap(), Path::new("cases/part.msh"));
}

#[test]
fn missing_file() {
    let error = Config::load(Path::new("no/such/case.toml"), &[]).unwrap_err();
    insta::assert_snapshot!(render(error.findings(), Drawing::Plain), @r"
    x cannot read the case file no/such/case.toml: No such file or directory (os error 2)
    help: `topopt init NAME` writes a case file to start from
    ");
}

#[test]
fn not_toml() {
    insta::assert_snapshot!(refused("\"fixed\"", "fixed"), @r"
     x the case file is not valid TOML: invalid boolean, expected `false`
      ,-[cases/case.toml:6:7]
    5 | [[supports]]
    6 | set = fixed
      :       ^^|^^
      :         `-- here
    7 | 
      `----
     help: text stands in double quotes, a table begins with [name], a list with [[name]]
    ");
}

#[test]
fn unknown_key() {
    insta::assert_snapshot!(refused("volume_fraction", "volume_fracton"), @r"
     x unknown key `volume_fracton` in [design]
       ,-[cases/case.toml:13:1]
    12 | [design]
    13 | volume_fracton = 0.3
       : ^^^^^^^|^^^^^^
       :        `-- not a known key
    14 | 
       `----
     help: did you mean `volume_fraction`?
    ");
}

#[test]
fn unknown_table() {
    insta::assert_snapshot!(refused("[filter]", "[smoothing]\nwidth = 1\n[filter]"), @r"
     x unknown key `smoothing` in the case file
       ,-[cases/case.toml:15:2]
    14 | 
    15 | [smoothing]
       :  ^^^^|^^^^
       :      `-- not a known key
    16 | width = 1
       `----
     help: the case file may have the keys continuation, design, filter, load_cases, loads, material,
           mesh, optimizer, output, projection, select, solver, springs, supports, title, units
    ");
}

#[test]
fn wrong_type() {
    insta::assert_snapshot!(refused("0.3", "\"a third\""), @r#"
     x `design.volume_fraction` must be a number, not text
       ,-[cases/case.toml:13:19]
    12 | [design]
    13 | volume_fraction = "a third"
       :                   ^^^^|^^^^
       :                       `-- text
    14 | 
       `----
     help: give a number, greater than 0 and at most 1
    "#);
}

#[test]
fn out_of_range() {
    insta::assert_snapshot!(refused("0.3", "1.5"), @r"
     x `design.volume_fraction` is out of range
       ,-[cases/case.toml:13:19]
    12 | [design]
    13 | volume_fraction = 1.5
       :                   ^|^
       :                    `-- must be greater than 0 and at most 1
    14 | 
       `----
     help: Share of the design volume that the material may fill.
    ");
}

#[test]
fn several_at_once() {
    let text = "0.3\ndensity_min = 0\npenalty = nan\n[material]\npoissons_ratio = 0.5";
    insta::assert_snapshot!(refused("0.3", text), @r"
     x `design.density_min` is out of range
       ,-[cases/case.toml:14:15]
    13 | volume_fraction = 0.3
    14 | density_min = 0
       :               |
       :               `-- must be greater than 0 and less than 1
    15 | penalty = nan
       `----
     help: with density 0 the stiffness matrix is singular; 0.01 is usual

     x `design.penalty` must be a finite number
       ,-[cases/case.toml:15:11]
    14 | density_min = 0
    15 | penalty = nan
       :           ^|^
       :            `-- not finite
    16 | [material]
       `----
     help: give a number, at least 1

     x `material.poissons_ratio` is out of range
       ,-[cases/case.toml:17:18]
    16 | [material]
    17 | poissons_ratio = 0.5
       :                  ^|^
       :                   `-- must be greater than -1 and less than 0.5
    18 | 
       `----
     help: 0.5 is an incompressible material, for which these elements lock; for rubber take 0.45
    ");
}

#[test]
fn unknown_choice() {
    insta::assert_snapshot!(refused("\"cantilever\"", "\"l-beam\""), @r#"
     x `mesh.generator` cannot be "l-beam"
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "l-beam"
      :             ^^^^|^^^
      :                 `-- must be "cantilever" or "l_beam" or "michell" or "connecting_rod"
    3 | size = 1
      `----
     help: did you mean "l_beam"?
    "#);
}

#[test]
fn devices_by_name_and_number() {
    let device = |text: &str| {
        parse(CASE.to_owned(), &[&format!("solver.device={text}")]).unwrap().solver.device
    };
    assert_eq!([device("auto"), device("cpu")], [Device::Auto, Device::Cpu]);
    assert_eq!([device("gpu"), device("gpu:3")], [Device::Gpu(0), Device::Gpu(3)]);
    insta::assert_snapshot!(override_refused(&["solver.device=tpu"]), @r#"
     x there is no device "tpu"; write "auto", "cpu", "gpu", or "gpu:1" for the second GPU
      ,-[--set:1:15]
    1 | solver.device=tpu
      :               ^|^
      :                `-- here
      `----
    "#);
}

#[test]
fn missing_table() {
    insta::assert_snapshot!(refused("[filter]\nradius = 3", ""), @r"
    x cases/case.toml has no [filter]
    help: add [filter]: the filter, which sets the smallest feature size and prevents checkerboards
    ");
}

#[test]
fn no_supports() {
    insta::assert_snapshot!(refused("[[supports]]\nset = \"fixed\"\n", ""), @r"
    x cases/case.toml has no [[supports]]
    help: add [[supports]]: where the part is held; or [[springs]] that hold it
    ");
}

#[test]
fn force_of_two_components() {
    insta::assert_snapshot!(refused("[0, -1, 0]", "[0, -1]"), @r#"
     x `loads.force` needs exactly 3 entries, not 2
       ,-[cases/case.toml:10:9]
     9 | set = "load"
    10 | force = [0, -1]
       :         ^^^|^^^
       :            `-- this list
    11 | 
       `----
     help: Force [x, y, z] on each node of the set.
    "#);
}

#[test]
fn direction_twice() {
    insta::assert_snapshot!(refused("\"fixed\"", "\"fixed\"\nfix = [\"x\", \"x\"]"), @r#"
     x `supports.fix` names an entry twice
      ,-[cases/case.toml:7:13]
    6 | set = "fixed"
    7 | fix = ["x", "x"]
      :             ^|^
      :              `-- a second time
    8 | 
      `----
     help: leave one of them out
    "#);
}

#[test]
fn filter_radius_zero() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 0"), @r"
     x `filter.radius` is out of range
       ,-[cases/case.toml:16:10]
    15 | [filter]
    16 | radius = 0
       :          |
       :          `-- must be greater than 0
       `----
     help: Radius as a length.
    ");
}

#[test]
fn filter_without_radius() {
    insta::assert_snapshot!(refused("radius = 3", ""), @r"
     x [filter] has no radius
       ,-[cases/case.toml:15:1]
    14 | 
    15 | [filter]
       : ^^^^|^^^
       :     `-- this table
    16 | 
       `----
     help: give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3
           element widths are usual
    ");
}

#[test]
fn filter_with_two_radii() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 3\nradius_in_elements = 3"), @r"
     x [filter] has both `radius` and `radius_in_elements`
       ,-[cases/case.toml:15:1]
    14 | 
    15 | [filter]
       : ^^^^|^^^
       :     `-- this table
    16 | radius = 3
       `----
     help: give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3
           element widths are usual
    ");
}

#[test]
fn projection_without_the_density_filter() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 3\n[projection]\nsharpness = 4"), @r#"
     x [projection] without the density filter
       ,-[cases/case.toml:17:1]
    16 | radius = 3
    17 | [projection]
       : ^^^^^^|^^^^^
       :       `-- projects filtered densities
    18 | sharpness = 4
       `----
     help: add `kind = "density"` to [filter], or leave [projection] out
    "#);
}

#[test]
fn projection_too_sharp() {
    let text = "radius = 3\nkind = \"density\"\n[projection]\nsharpness = 1e3";
    insta::assert_snapshot!(refused("radius = 3", text), @r"
     x `projection.sharpness` is out of range
       ,-[cases/case.toml:19:13]
    18 | [projection]
    19 | sharpness = 1e3
       :             ^|^
       :              `-- must be greater than 0 and at most 256
       `----
     help: Sharpness beta: 1 is hardly bent, 32 nearly a step. Raised in stages of `[[continuation]]`
           it gives better designs.
    ");
}

/// The message about `CASE` with entries of the continuation in place of those for iteration 1.
fn continuation_refused(entries: &str) -> String {
    refused("radius = 3\n", &format!("radius = 3\n{entries}"))
}

#[test]
fn continuation_from_the_first_iteration() {
    insta::assert_snapshot!(continuation_refused("[[continuation]]\nfrom = 1\npenalty = 2\n"), @r"
     x `continuation.from` is out of range
       ,-[cases/case.toml:18:8]
    17 | [[continuation]]
    18 | from = 1
       :        |
       :        `-- must be at least 2
    19 | penalty = 2
       `----
     help: what holds from the first iteration stands in the other tables
    ");
}

#[test]
fn continuation_out_of_order() {
    let entries = "[[continuation]]\nfrom = 20\npenalty = 2\n\
                   [[continuation]]\nfrom = 20\ntolerance = 1e-6\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] is not in the order of its iterations
       ,-[cases/case.toml:21:8]
    20 | [[continuation]]
    21 | from = 20
       :        ^|
       :         `-- not after the entry before
    22 | tolerance = 1e-6
       `----
     help: sort the entries by `from`, and join those of the same iteration
    ");
}

#[test]
fn continuation_of_what_is_not_there() {
    let entries = "[[continuation]]\nfrom = 20\nsharpness = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] of a projection that is not there
       ,-[cases/case.toml:19:13]
    18 | from = 20
    19 | sharpness = 2
       :             |
       :             `-- no [projection]
       `----
     help: add [projection] with the `sharpness` to begin with, or leave the key out
    ");
    let entries = "kind = \"none\"\n[[continuation]]\nfrom = 20\nfilter_radius_in_elements = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] of a filter that is not there
       ,-[cases/case.toml:20:29]
    19 | from = 20
    20 | filter_radius_in_elements = 2
       :                             |
       :                             `-- no filter
       `----
     help: set `filter.kind` and a radius to begin with, or leave the key out
    ");
}

#[test]
fn continuation_of_nothing() {
    insta::assert_snapshot!(continuation_refused("[[continuation]]\nfrom = 20\n"), @r"
     x [[continuation]] that changes nothing
       ,-[cases/case.toml:18:8]
    17 | [[continuation]]
    18 | from = 20
       :        ^|
       :         `-- this entry
       `----
     help: give one of `penalty`, `filter_radius`, `filter_radius_in_elements`, `sharpness` and
           `tolerance`
    ");
}

#[test]
fn continuation_with_two_radii() {
    let entries = "[[continuation]]\nfrom = 20\nfilter_radius_in_elements = 2\nfilter_radius = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] has both `filter_radius` and `filter_radius_in_elements`
       ,-[cases/case.toml:19:29]
    18 | from = 20
    19 | filter_radius_in_elements = 2
       :                             |
       :                             `-- one too many
    20 | filter_radius = 2
       `----
     help: give one of them
    ");
}

#[test]
fn mesh_from_nowhere() {
    insta::assert_snapshot!(refused("generator = \"cantilever\"\nsize = 1", ""), @r#"
     x [mesh] names no mesh
      ,-[cases/case.toml:1:1]
    1 | [mesh]
      : ^^^|^^
      :    `-- this table
    2 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn mesh_from_two_sources() {
    insta::assert_snapshot!(refused("size = 1", "file = \"part.msh\""), @r#"
     x [mesh] has both `file` and `generator`
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "cantilever"
      :             ^^^^^^|^^^^^
      :                   `-- one too many
    3 | file = "part.msh"
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn mesh_from_a_file_numbered_anew() {
    let (generated, mesh) =
        ("generator = \"cantilever\"\nsize = 1", "file = \"a.msh\"\nshuffled = true");
    insta::assert_snapshot!(refused(generated, mesh), @r#"
     x a mesh from a file has its own numbering
      ,-[cases/case.toml:3:12]
    2 | file = "a.msh"
    3 | shuffled = true
      :            ^^|^
      :              `-- for generators only
    4 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn mesh_without_size() {
    insta::assert_snapshot!(refused("size = 1", ""), @r#"
     x [mesh] does not say how large
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "cantilever"
      :             ^^^^^^|^^^^^
      :                   `-- of which size?
    3 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn less_volume_than_void() {
    insta::assert_snapshot!(refused("0.3", "0.05\ndensity_min = 0.1"), @r"
     x `design.volume_fraction` is less than `design.density_min`
       ,-[cases/case.toml:13:19]
    12 | [design]
    13 | volume_fraction = 0.05
       :                   ^^|^
       :                     `-- too little material
    14 | density_min = 0.1
       `----
     help: even void has density 0.1: raise `volume_fraction` or lower `density_min`
    ");
}

#[test]
fn load_case_without_loads() {
    let text = "[[load_cases]]\nname = \"lift\"\n[filter]";
    insta::assert_snapshot!(refused("[filter]", text), @r#"
     x load case `lift` has no loads
       ,-[cases/case.toml:16:8]
    15 | [[load_cases]]
    16 | name = "lift"
       :        ^^^|^^
       :           `-- no [[loads]] of this case
    17 | [filter]
       `----
     help: add `case = "lift"` to the [[loads]] that belong to it
    "#);
}

#[test]
fn overrides_replace_values() {
    let set = [
        "optimizer.max_iterations=7",
        "solver.strategy=ebe",
        "title=\"two words\"",
        "output.directory=out/here",
        "loads.0.force=[0, -2, 0]",
        "filter.radius_in_elements=2.5",
        "mesh.elements=1000",
        "design.solid=[\"ring\"]",
    ];
    let config = parse(CASE.to_owned(), &set).unwrap();
    assert_eq!(config.optimizer.max_iterations, 7);
    assert_eq!(config.solver.strategy, Strategy::Ebe);
    assert_eq!(config.title.as_deref(), Some("two words"));
    assert_eq!(config.output_directory(), Path::new("out/here"));
    assert_eq!(config.loads[0].force.as_ref().unwrap().get_ref(), &[0.0, -2.0, 0.0]);
    let filter = config.filter.get_ref();
    assert_eq!((filter.radius, filter.radius_in_elements), (None, Some(2.5)));
    let mesh = config.mesh.get_ref();
    assert_eq!(mesh.elements.as_ref().map(|n| *n.get_ref()), Some(1000));
    assert!(mesh.size.is_none());
    assert_eq!(config.design.solid[0].get_ref(), "ring");
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
    for text in [CASE, EVERYTHING] {
        let config = parse(text.to_owned(), &["output.directory=out", "design.penalty=4"]).unwrap();
        let written = config.to_toml().unwrap();
        let mut again = Config::parse(Path::new("elsewhere/case.toml"), written, &[]).unwrap();
        assert_eq!((again.output.directory.clone(), again.design.penalty), (None, 4.0));
        let absolute = |path| std::path::absolute(path).unwrap();
        assert_eq!(again.mesh_path(), config.mesh_path().map(absolute));
        again.output.directory = Some("out".into());
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
fn later_override_wins() {
    let config = parse(CASE.to_owned(), &["design.penalty=2", "design.penalty=4"]).unwrap();
    assert_eq!(config.design.penalty, 4.0);
}

#[test]
fn override_out_of_range() {
    let set = ["solver.tolerance=1e-6", "design.volume_fraction=1.5"];
    insta::assert_snapshot!(override_refused(&set), @r"
     x `design.volume_fraction` is out of range
      ,-[--set:1:24]
    1 | design.volume_fraction=1.5
      :                        ^|^
      :                         `-- must be greater than 0 and at most 1
      `----
     help: Share of the design volume that the material may fill.
    ");
}

#[test]
fn override_of_unknown_key() {
    insta::assert_snapshot!(override_refused(&["optimiser.max_iterations=3"]), @r"
     x unknown key `optimiser` in the case file
      ,-[--set:1:1]
    1 | optimiser.max_iterations=3
      : ^^^^|^^^^
      :     `-- not a known key
      `----
     help: did you mean `optimizer`?
    ");
}

#[test]
fn override_of_missing_entry() {
    insta::assert_snapshot!(override_refused(&["loads.1.set=tip"]), @r"
     x --set loads.1.set: there is no entry `1`; the list has 1, counted from 0
      ,-[--set:1:7]
    1 | loads.1.set=tip
      :       |
      :       `-- here
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_below_a_value() {
    insta::assert_snapshot!(override_refused(&["mesh.size.x=1"]), @r"
     x --set mesh.size.x: there can be no key `x` below a single value
      ,-[--set:1:11]
    1 | mesh.size.x=1
      :           |
      :           `-- here
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_without_value() {
    insta::assert_snapshot!(override_refused(&["optimizer.max_iterations"]), @r"
     x `--set optimizer.max_iterations` gives no value
      ,-[--set:1:1]
    1 | optimizer.max_iterations
      : ^^^^^^^^^^^^|^^^^^^^^^^^
      :             `-- no `=`
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_with_broken_value() {
    insta::assert_snapshot!(override_refused(&["loads.0.force=[0, 1"]), @r"
     x the value of --set is not valid TOML: unclosed array, expected `]`
      ,-[--set:1:15]
    1 | loads.0.force=[0, 1
      :               ^^|^^
      :                 `-- this value
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn benchmarks_load_and_run_fifty_iterations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
    let fractions =
        [("cantilever", 0.3), ("l_beam", 0.45), ("michell", 0.45), ("connecting_rod", 0.3)];
    for (name, volume_fraction) in fractions {
        let config = Config::load(&folder.join(format!("{name}.toml")), &[]).unwrap();
        assert_eq!(config.mesh.get_ref().size.as_ref().map(|s| *s.get_ref()), Some(1));
        assert_eq!(*config.design.volume_fraction.get_ref(), volume_fraction);
        assert_eq!(config.filter.get_ref().radius_in_elements, Some(3.0));
        let optimizer = &config.optimizer;
        assert_eq!(optimizer.max_iterations, 50);
        assert_eq!(optimizer.change_tolerance, 0.0);
        assert_eq!(optimizer.compliance_tolerance, 0.0);
        assert_eq!(optimizer.absolute_compliance_tolerance, 0.0);
        assert_eq!(config.design.solid.len(), usize::from(name == "connecting_rod"));
    }
}

#[test]
fn schema_describes_every_key() {
    let schema = schema();
    let template = include_str!("../src/commands/template.toml");
    let keys = described_keys(&schema, "");
    assert!(keys.len() > 40, "{keys:?}");
    for key in keys {
        let name = key.rsplit('.').next().unwrap();
        let forms = [format!("{name} = "), format!("[{name}]")];
        assert!(forms.iter().any(|form| template.contains(form)), "{key} is not in the template");
    }
    let solver = &schema["properties"]["solver"]["properties"];
    assert_eq!(solver["strategy"]["default"], "auto");
    assert_eq!(solver["max_iterations"]["minimum"], 1);
    assert_eq!(solver["strategy"]["oneOf"][1]["const"], "mf");
}

/// Every key below `schema` by its dotted path; each must have a type and a description.
fn described_keys(schema: &serde_json::Value, name: &str) -> Vec<String> {
    let below = if schema["type"] == "array" { &schema["items"] } else { schema };
    let Some(keys) = below["properties"].as_object() else { return Vec::new() };
    assert_eq!(below["additionalProperties"], false, "{name}");
    let mut found = Vec::new();
    for (key, schema) in keys {
        let path = format!("{name}.{key}").trim_start_matches('.').to_owned();
        let text = schema["description"].as_str().unwrap_or_default();
        assert!(text.len() > 5 && !text.contains('\n'), "{path} has no description in a line");
        assert!(has_type(schema), "{path}: {schema}");
        found.extend(described_keys(schema, &path));
        found.push(path);
    }
    found
}

fn has_type(schema: &serde_json::Value) -> bool {
    schema["type"].is_string()
        || schema["oneOf"].is_array()
        || schema["$ref"] == "#/$defs/Condition"
}

#[test]
fn keys_by_their_old_names_are_read() {
    let select = "[[select]]\nname = \"ball\"\nkind = \"nodes\"\nsphere = { centre = [0, 0, 0], radius = 1 }\n";
    let old = CASE.replacen("radius = 3\n", "radius = 3\nneighbour_memory_mb = 7\n", 1) + select;
    let new = old.replace("neighbour", "neighbor").replace("centre", "center");
    let [of_old, of_new] = [old, new].map(|text| parse(text, &[]).unwrap().to_toml().unwrap());
    assert_eq!(of_old, of_new);
    assert!(of_new.contains("neighbor_memory_mb = 7") && of_new.contains("center"));

    let overridden = parse(CASE.to_owned(), &["filter.neighbour_memory_mb=9"]).unwrap();
    assert_eq!(overridden.filter.get_ref().neighbor_memory_mb, 9);
}

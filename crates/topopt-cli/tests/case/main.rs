//! A case file and its mesh together: sets, loads, supports, and what is refused.

mod demands;
mod loads;
mod materials;
mod named_sets;
mod selections;
mod spread_loads;
mod supports;

use std::path::Path;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_cli::render::{Drawing, render};
use topopt_fem::Elasticity;

/// The case of that text with the overrides, or the messages about it.
fn case_of(text: &str, overrides: &[&str]) -> Result<Case, String> {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    built(Config::parse(Path::new("case.toml"), text.to_owned(), &overrides))
}

fn built(config: Result<Config, InputError>) -> Result<Case, String> {
    config
        .and_then(|config| Case::build(&config))
        .map_err(|error| render(error.findings(), Drawing::Plain))
}

const CASE: &str = r#"[mesh]
generator = "connecting_rod"
elements = 500

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, 1, 0]

[design]
volume_fraction = 0.3
solid = ["solid"]

[filter]
radius_in_elements = 3
"#;

/// The message about `CASE` with `old` replaced by `new`.
fn refused(old: &str, new: &str) -> String {
    assert!(CASE.contains(old), "{old} is not in the case");
    case_of(&CASE.replacen(old, new, 1), &[]).unwrap_err()
}

#[test]
fn generated_case_is_complete() {
    let case = case_of(CASE, &[]).unwrap();
    let sets = case.mesh.sets();
    let fixed = sets.nodes_of("fixed", &case.mesh).unwrap();
    assert_eq!(case.fixed, [fixed.clone(), fixed.clone(), fixed]);
    let load = sets.nodes_of("load", &case.mesh).unwrap();
    assert_eq!(case.load_cases.len(), 1);
    assert_eq!((case.load_cases[0].name.as_str(), case.load_cases[0].weight), ("default", 1.0));
    let expected: Vec<_> = load.into_iter().map(|node| (node, [0.0, 1.0, 0.0])).collect();
    assert_eq!(case.load_cases[0].forces, expected);
    assert_eq!(case.solid, sets.elements["solid"]);
    assert!(case.tags.is_none());
}

#[test]
fn a_shuffled_mesh_is_loaded_and_held_in_the_same_places() {
    let text = CASE.replacen("elements = 500", "elements = 500\nshuffled = true", 1);
    let [plain, shuffled] = [CASE, &text].map(|text| case_of(text, &[]).unwrap());
    assert_ne!(plain.mesh.hexes(), shuffled.mesh.hexes());
    assert_ne!(plain.mesh.coordinates(), shuffled.mesh.coordinates());
    let places = |case: &Case, nodes: &[u32]| {
        let x = case.mesh.coordinates();
        let mut places: Vec<_> = nodes.iter().map(|&n| x[n as usize].map(f64::to_bits)).collect();
        places.sort_unstable();
        places
    };
    let held = |case: &Case| places(case, &case.fixed[0]);
    let loaded = |case: &Case| {
        let nodes: Vec<u32> = case.load_cases[0].forces.iter().map(|(node, _)| *node).collect();
        places(case, &nodes)
    };
    assert_eq!(held(&plain), held(&shuffled));
    assert_eq!(loaded(&plain), loaded(&shuffled));
}

#[test]
fn loads_of_a_case_add_up_and_cases_stay_apart() {
    let loads = "[[loads]]\nset = \"load\"\nforce = [2, 0, 0]\n\
                 [[loads]]\nset = \"load\"\nforce = [0, 0, 1]\ncase = \"side\"\n\
                 [[load_cases]]\nname = \"side\"\nweight = 0.5\n\n[design]";
    let case = case_of(&CASE.replace("[design]", loads), &[]).unwrap();
    let summary: Vec<_> =
        case.load_cases.iter().map(|c| (c.name.as_str(), c.weight, c.forces[0].1)).collect();
    assert_eq!(summary, [("default", 1.0, [2.0, 1.0, 0.0]), ("side", 0.5, [0.0, 0.0, 1.0])]);
}

#[test]
fn supports_hold_the_directions_named() {
    let case = case_of(&CASE.replace("\"fixed\"", "\"fixed\"\nfix = [\"y\"]"), &[]).unwrap();
    assert_eq!(case.fixed.each_ref().map(|nodes| nodes.is_empty()), [true, false, true]);
}

#[test]
fn element_width_of_unit_cubes_is_one() {
    let case = case_of(&CASE.replace("connecting_rod", "cantilever").replace("\"solid\"", ""), &[]);
    assert!((case.unwrap().mesh.element_width() - 1.0).abs() < 1e-14);
}

#[test]
fn unknown_sets() {
    let text = CASE.replace("\"fixed\"", "\"fixd\"").replace("[\"solid\"]", "[\"rings\"]");
    insta::assert_snapshot!(case_of(&text, &[]).unwrap_err(), @r#"
     x node, face or element set `fixd` is not in the mesh
      ,-[case.toml:6:7]
    5 | [[supports]]
    6 | set = "fixd"
      :       ^^^|^^
      :          `-- no such set
    7 | 
      `----
     help: did you mean `fixed`? the mesh has design (304 elements), fixed (36 faces), load (68
           nodes), solid (168 elements)

     x element set `rings` is not in the mesh
       ,-[case.toml:14:10]
    13 | volume_fraction = 0.3
    14 | solid = ["rings"]
       :          ^^^|^^^
       :             `-- no such set
    15 | 
       `----
     help: the mesh has design (304 elements), fixed (36 faces), load (68 nodes), solid (168
           elements)
    "#);
}

#[test]
fn empty_sets() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = folder.path().join("cube.msh");
    std::fs::write(&mesh, CUBE).unwrap();
    let text = CASE
        .replace("generator = \"connecting_rod\"\nelements = 500", "file = \"cube.msh\"")
        .replace("\"fixed\"", "\"body\"")
        .replace("\"load\"", "\"nothing\"");
    let config = Config::parse(&folder.path().join("case.toml"), text, &[]).unwrap();
    let error = Case::build(&config).unwrap_err();
    let messages: Vec<_> = error.findings().iter().map(|f| f.to_string()).collect();
    assert_eq!(messages, ["set `nothing` is empty", "set `solid` is empty"]);
}

/// One hexahedron in the element set `body`; the sets `nothing` and `solid` are empty.
const CUBE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n3\n0 1 \"nothing\"\n3 2 \"solid\"\n3 3 \"body\"\n$EndPhysicalNames\n\
    $Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n\
    $Elements\n1\n1 5 2 3 1 1 2 3 4 5 6 7 8\n$EndElements\n";

#[test]
fn mesh_numbers_of_the_file_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cube.msh"), CUBE.replace("1 5 2 3", "17 5 2 3")).unwrap();
    let text = CASE
        .replace("generator = \"connecting_rod\"\nelements = 500", "file = \"cube.msh\"")
        .replace("\"fixed\"", "\"body\"\nfix = [\"x\"]")
        .replace("\"load\"", "\"body\"")
        .replace("solid = [\"solid\"]", "");
    let config = Config::parse(&folder.path().join("case.toml"), text, &[]).unwrap();
    let tags = Case::build(&config).unwrap().tags.unwrap();
    assert_eq!((tags.nodes, tags.elements), ((1..=8).collect(), vec![17]));
}

#[test]
fn zero_load() {
    insta::assert_snapshot!(refused("[0, 1, 0]", "[0, 0, 0]"), @r#"
     x load case `default` has no force: its sum is zero on every node
       ,-[case.toml:10:9]
     9 | set = "load"
    10 | force = [0, 0, 0]
       :         ^^^^|^^^^
       :             `-- zero
    11 | 
       `----
     help: give a force on a set that is free to move in its direction
    "#);
}

#[test]
fn load_on_supports_only() {
    insta::assert_snapshot!(refused("\"load\"", "\"fixed\""), @r#"
     x load case `default` acts only where the part is held, so nothing is loaded
       ,-[case.toml:9:7]
     8 | [[loads]]
     9 | set = "fixed"
       :       ^^^|^^^
       :          `-- held in the direction of the force
    10 | force = [0, 1, 0]
       `----
     help: give a force on a set that is free to move in its direction
    "#);
}

#[test]
fn nothing_to_design() {
    insta::assert_snapshot!(refused("[\"solid\"]", "[\"solid\", \"design\"]"), @r#"
     x every element is solid: nothing remains to be designed
       ,-[case.toml:14:19]
    13 | volume_fraction = 0.3
    14 | solid = ["solid", "design"]
       :                   ^^^^|^^^
       :                       `-- with this set
    15 | 
       `----
     help: remove a set from `solid` or `void`, or make it smaller in the mesh
    "#);
}

#[test]
fn no_elements() {
    insta::assert_snapshot!(refused("elements = 500", "elements = 99999999999"), @r#"
     x 99999999999 elements are too many for 32-bit numbers; request at most 2147483647
      ,-[case.toml:3:12]
    2 | generator = "connecting_rod"
    3 | elements = 99999999999
      :            ^^^^^|^^^^^
      :                 `-- here
    4 | 
      `----
    "#);
}

#[test]
fn a_mesh_in_memory_takes_the_place_of_that_of_the_case() {
    let own = case_of(CASE, &[]).unwrap();
    let overrides = ["mesh.generator=cantilever".to_owned()];
    let config = Config::parse(Path::new("case.toml"), CASE.to_owned(), &overrides).unwrap();
    let found = Case::on::<Elasticity>(&config, own.mesh.clone()).unwrap();
    assert_eq!(found.mesh.n_elements(), own.mesh.n_elements());
    assert_eq!(found.fixed, own.fixed);
    assert_eq!(found.load_cases[0].forces, own.load_cases[0].forces);
}

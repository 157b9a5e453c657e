//! Several materials in the case file, and what is refused.

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::materials::{MaterialShare, body_forces};
use topopt_fem::{DIM, Elasticity};

use crate::case_of;

/// 10 x 5 x 5 unit cubes with a corner at the origin; the sets `left` and `right` overlap by a layer.
const CASE: &str = r#"[mesh]
generator = "cantilever"
elements = 250

[[select]]
name = "left"
kind = "elements"
box = { min = [0, 0, 0], max = [4, 5, 5] }

[[select]]
name = "right"
kind = "elements"
box = { min = [4, 0, 0], max = [10, 5, 5] }

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, 1, 0]

[[materials]]
set = "left"
youngs_modulus = 70

[design]
volume_fraction = 0.3

[filter]
radius_in_elements = 1.5
"#;

fn build(more: &str, set: &[&str]) -> Result<Case, String> {
    case_of(&format!("{CASE}{more}"), set)
}

const RIGHT: &str = "[[materials]]\nset = \"right\"\nyoungs_modulus = 3\n";

#[test]
fn elements_are_of_the_material_of_their_set() {
    let shares = |more: &str| {
        let config = Config::parse("case.toml".as_ref(), format!("{CASE}{more}"), &[]).unwrap();
        let case = Case::build(&config).unwrap();
        let shares = MaterialShare::all::<Elasticity, DIM>(&config, &case);
        shares.into_iter().map(|s| (s.name(), s.coefficient(), s.elements)).collect::<Vec<_>>()
    };
    let left = ("set `left`".to_owned(), 70.0.into(), 100);
    assert_eq!(shares(""), [("[material]".into(), 1.0.into(), 150), left.clone()]);
    // Where sets take all elements, [material] has none.
    assert_eq!(shares(RIGHT), [left, ("set `right`".into(), 3.0.into(), 150)]);
}

#[test]
fn an_element_has_one_material() {
    let twice = RIGHT.replace("right", "wide")
        + "[[select]]\nname = \"wide\"\n\
        kind = \"elements\"\nbox = { min = [3, 0, 0], max = [10, 5, 5] }\n";
    insta::assert_snapshot!(build(&twice, &[]).unwrap_err(), @r#"
     x 25 elements are in the sets of two materials, `left` and `wide`
       ,-[case.toml:32:7]
    31 | [[materials]]
    32 | set = "wide"
       :       ^^^|^^
       :          `-- the second material
    33 | youngs_modulus = 3
       `----
     help: give [[materials]] sets that share no element
    "#);
    let same = build(&RIGHT.replace("right", "left"), &[]).unwrap_err();
    assert!(same.contains("100 elements are in the sets of two materials, `left` and `left`"));
    let missing = build(&RIGHT.replace("right", "rigth"), &[]).unwrap_err();
    assert!(missing.contains("did you mean `right`?"), "{missing}");
    let nodes = build(&RIGHT.replace("right", "load"), &[]).unwrap_err();
    assert!(nodes.contains("element set `load` is not in the mesh"), "{nodes}");
}

#[test]
fn all_materials_have_one_poissons_ratio() {
    build("", &["materials.0.poissons_ratio=0.3"]).unwrap();
    let both = ["materials.0.poissons_ratio=0.25", "material.poissons_ratio=0.25"];
    build("", &both).unwrap();
    let refused = build(&format!("{RIGHT}poissons_ratio = 0.25\n"), &[]).unwrap_err();
    assert!(refused.contains("set `right` has Poisson's ratio 0.25, [material] has 0.3"));
    assert!(refused.contains("all materials must have one Poisson's ratio"), "{refused}");
}

#[test]
fn gravity_needs_the_mass_of_every_material() {
    let gravity = "[[loads]]\ngravity = [0, 0, -9.81]\n";
    let none = build(gravity, &[]).unwrap_err();
    assert!(none.contains("need the mass of the material of set `left`"), "{none}");
    assert!(none.contains("150 elements are in no set of"), "{none}");
    let rest = build(gravity, &["materials.0.mass_density=2"]).unwrap_err();
    assert!(!rest.contains("set `left`") && rest.contains("[material] has no `mass_density`"));
    let left = build(gravity, &["material.mass_density=2"]).unwrap_err();
    assert!(left.contains("set `left`") && !left.contains("in no set"), "{left}");
    let all = format!("{RIGHT}mass_density = 1\n{gravity}");
    build(&all, &["materials.0.mass_density=2"]).unwrap();
    build(gravity, &["materials.0.mass_density=2", "material.mass_density=5"]).unwrap();
    build("", &[]).unwrap();
}

#[test]
fn a_field_of_mass_densities_weighs_as_much_as_materials() {
    let weight = |of_all: &str, of_left: &str| {
        let keys = [("material", of_all), ("materials.0", of_left)];
        let keys = keys.map(|(table, density)| format!("{table}.mass_density={density}"));
        let text = format!("{CASE}[[loads]]\ngravity = [0, 0, -9.81]\n");
        let config = Config::parse("case.toml".as_ref(), text, &keys).unwrap();
        let case = Case::build(&config).unwrap();
        body_forces(&config, &case, &case.load_cases[0]).into_flattened()
    };
    let field = "\"if(x < 4, 2, 5)\"";
    let expected = weight("5", "2");
    assert!(expected.iter().any(|force| *force < -1.0));
    for found in [weight(field, field), weight(field, "2"), weight("5", field)] {
        let pairs = found.iter().zip(&expected);
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    }
}

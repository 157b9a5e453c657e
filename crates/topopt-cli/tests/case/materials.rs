//! Several materials in the case file, and what is refused.

use topopt_case::case::Case;
use topopt_case::config::{Config, Material};
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

/// Messages of constants of no material, and of laws that contradict each other.
#[test]
fn laws_of_no_material_are_refused() {
    let refused = |key: &str, value: &str| {
        let law = format!("materials.0.{key}={value}");
        build("", &[law.as_str()]).unwrap_err()
    };
    let orthotropic = |rest: &str| {
        let ratios = "youngs_moduli = [3, 1, 1], poissons_ratios = [0.2, 0.2, 0.3]";
        refused("orthotropic", &format!("{{ {ratios}, {rest} }}"))
    };
    let none = refused(
        "orthotropic",
        "{ youngs_moduli = [1, 1, 1], poissons_ratios = [0.6, 0.6, 0.6], \
                                         shear_moduli = [1, 1, 1] }",
    );
    assert!(none.contains("the least eigenvalue of its compliance matrix is -2.0000e-1"), "{none}");
    let none = orthotropic("shear_moduli = [1, 0, 1]");
    assert!(none.contains("no material has the modulus 0"), "{none}");
    let none = orthotropic("shear_moduli = [1, 1, 1], frame = [[1, 0, 0], [2, 0, 0]]");
    assert!(none.contains("the vectors of `frame` are parallel"), "{none}");
    let none = orthotropic("shear_moduli = [1, 1, 1], frame = [[0, 0, 0], [2, 0, 0]]");
    assert!(none.contains("the first vector of `frame` has the length 0"), "{none}");
    let both = orthotropic("shear_moduli = [1, 1, 1]");
    assert!(both.contains("a material has `orthotropic` and `youngs_modulus`"), "{both}");

    let none = refused("layered", "{ build_direction = [0, 0, 0], knock_down = 0.5 }");
    assert!(none.contains("`build_direction` has the length 0"), "{none}");
    let none = refused("layered", "{ build_direction = [0, 0, 1], knock_down = 40 }");
    assert!(none.contains("the least eigenvalue of its compliance matrix is -"), "{none}");
    let none = refused("layered", "{ build_direction = [0, 0, 1], knock_down = -1 }");
    assert!(none.contains("knock_down"), "{none}");
    let row = |k: usize| {
        format!(
            "[{}]",
            [0.0; 6]
                .map(|x: f64| x + f64::from(u8::from(k == 0)))
                .map(|x| x.to_string())
                .join(", ")
        )
    };
    let stiffness = (0..6).map(row).collect::<Vec<_>>().join(", ");
    let none = refused("anisotropic", &format!("{{ stiffness = [{stiffness}] }}"));
    assert!(
        none.contains("`stiffness` is not symmetric: 1 in row 1 and column 2, 0 across"),
        "{none}"
    );
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

/// Steel by name, in millimeters and in feet.
#[test]
fn a_material_by_name_has_its_numbers_in_the_units_of_the_case() {
    let config = |keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        Config::parse("case.toml".as_ref(), CASE.to_owned(), &keys)
    };
    let named = "material.name=\"steel S235\"";
    let in_units = |units: &str| config(&[named, &format!("units={units}")]).unwrap().material;
    let steel = in_units("{ length = \"mm\", force = \"N\" }");
    let density = |material: &Material| topopt_case::config::number(material.mass_density.as_ref());
    assert_eq!((steel.youngs_modulus, steel.poissons_ratio), (210e3, 0.3));
    assert_eq!((density(&steel), steel.yield_strength), (Some(7.85e-9), Some(235.0)));
    let steel = in_units("{ length = \"in\", force = \"lbf\" }");
    // 30.4579e6 psi, 0.2836 lb/in^3 over 386.089 in/s^2, 34.0839 ksi.
    assert!((steel.youngs_modulus / 30.4579e6 - 1.0).abs() < 1e-5, "{}", steel.youngs_modulus);
    assert!((density(&steel).unwrap() / 7.3454e-4 - 1.0).abs() < 1e-4);
    assert!((steel.yield_strength.unwrap() / 34083.9 - 1.0).abs() < 1e-5);

    let units = "units={ length = \"mm\", force = \"N\" }";
    let own =
        config(&[named, units, "material.youngs_modulus=200e3", "material.yield_strength=190"]);
    let own = own.unwrap().material;
    assert_eq!((own.youngs_modulus, own.yield_strength), (200e3, Some(190.0)));
    let none = build("", &[named]).unwrap_err();
    assert!(none.contains("a material by name needs the units of the case"), "{none}");
    let unknown = build("", &[units, "material.name=\"steel S234\""]).unwrap_err();
    assert!(unknown.contains("steel S235"), "{unknown}");
}

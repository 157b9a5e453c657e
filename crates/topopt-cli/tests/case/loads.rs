//! Loads on faces and nodes, and what they add up to.

use topopt_case::case::Case;

use crate::case_of;

/// 10 x 5 x 5 unit cubes with a corner at the origin, loaded at x = 10.
const CASE: &str = r#"[mesh]
generator = "cantilever"
elements = 250

[[select]]
name = "end"
kind = "faces"
plane = { point = [10, 0, 0], normal = [1, 0, 0] }

[[supports]]
set = "fixed"

[[loads]]
set = "end"
LOAD

[design]
volume_fraction = 0.3

[filter]
radius_in_elements = 1.5
"#;

pub fn build(load: &str, set: &[&str]) -> Result<Case, String> {
    case_of(&CASE.replace("LOAD", load), set)
}

/// Sum of the forces, and the largest on a node.
fn resultant(case: &Case) -> ([f64; 3], f64) {
    let forces = &case.load_cases[0].forces;
    let largest = forces.iter().flat_map(|(_, force)| force.map(f64::abs)).fold(0.0, f64::max);
    (std::array::from_fn(|i| forces.iter().map(|(_, force)| force[i]).sum()), largest)
}

pub fn assert_near(found: [f64; 3], expected: [f64; 3]) {
    let near = (0..3).all(|i| (found[i] - expected[i]).abs() < 1e-12);
    assert!(near, "{found:?} {expected:?}");
}

#[test]
fn quantities_on_faces() {
    // The end is 5 x 5; an inner node has a share of 1/25, one at a corner a quarter of it.
    for (load, sum, largest) in [
        ("force = [0, 1, 2]", [0.0, 36.0, 72.0], 2.0),
        ("total_force = [0, 1, 2]", [0.0, 1.0, 2.0], 2.0 / 25.0),
        ("traction = [0, 1, 2]", [0.0, 25.0, 50.0], 2.0),
        ("pressure = 3", [-75.0, 0.0, 0.0], 3.0),
        ("pressure = -3", [75.0, 0.0, 0.0], 3.0),
    ] {
        let (found, found_largest) = resultant(&build(load, &[]).unwrap());
        assert_near(found, sum);
        assert!((found_largest - largest).abs() < 1e-12, "{load}: {found_largest}");
    }
}

#[test]
fn a_total_force_on_nodes_is_shared_equally() {
    let case = build("total_force = [0, 0, -3]", &["loads.0.set=load"]).unwrap();
    assert_eq!(case.load_cases[0].forces.len(), 6);
    assert!(case.load_cases[0].forces.iter().all(|(_, force)| *force == [0.0, 0.0, -0.5]));
}

#[test]
fn loads_of_a_case_act_together() {
    let load = "total_force = [0, 1, 0]\n[[loads]]\nset = \"end\"\npressure = 2\n\
                [[loads]]\nset = \"load\"\ntotal_force = [0, 0, 4]";
    let (sum, _) = resultant(&build(load, &[]).unwrap());
    assert_near(sum, [-50.0, 1.0, 4.0]);
}

#[test]
fn a_load_per_area_needs_faces() {
    insta::assert_snapshot!(build("pressure = 1", &["loads.0.set=load"]).unwrap_err(), @r#"
     x `pressure` needs faces, but set `load` has none, only 6 nodes
       ,-[case.toml:15:12]
    14 | set = "end"
    15 | pressure = 1
       :            |
       :            `-- per area
    16 | 
       `----
     help: name a face set: a physical surface of Gmsh, or a [[select]] with `kind = "faces"`; or
           give `total_force`, which is shared equally by nodes
    "#);
    let traction = build("traction = [1, 0, 0]", &["loads.0.set=design"]).unwrap_err();
    assert!(traction.contains("`traction` needs faces, but set `design` has none"), "{traction}");
    let missing = build("traction = [1, 0, 0]", &["loads.0.set=ende"]).unwrap_err();
    assert!(missing.contains("did you mean `end`?"), "{missing}");
}

#[test]
fn a_load_has_one_quantity() {
    insta::assert_snapshot!(build("", &[]).unwrap_err(), @r#"
     x a load without a force
       ,-[case.toml:14:7]
    13 | [[loads]]
    14 | set = "end"
       :       ^^|^^
       :         `-- no magnitude given
    15 | 
       `----
     help: give one of `force` (on each node), `total_force` (on the whole set), `moment` (on the
           whole set), `bearing` (a pin in a bore), `traction` (per area), `pressure` (per area,
           along the normal), `gravity` (on the whole part), `angular_velocity` (on the whole part),
           `temperature` (of elements that expand) and `from_mesh`; several [[loads]] of a case act
           together
    "#);
    let two = build("force = [0, 1, 0]\npressure = 1", &[]).unwrap_err();
    assert!(two.contains("a load of more than one kind") && two.contains("one too many"), "{two}");
    let zero = build("pressure = 0", &[]).unwrap_err();
    assert!(zero.contains("load case `default` has no force"), "{zero}");
}

const HOLE: &str = "force = [0, 1, 0]\n[[select]]\nname = \"hole\"\nkind = \"elements\"\n\
                    cylinder = { point = [5, 2.5, 0], axis = [0, 0, 1], radius = 1.1 }";

#[test]
fn void_elements_are_those_of_the_set() {
    let case = build(HOLE, &["design.void=[\"hole\"]"]).unwrap();
    assert_eq!(case.void.len(), 2 * 5);
    let centers = case.mesh.centers();
    assert!(case.void.iter().all(|&e| (centers[e as usize][0] - 5.0).abs() < 1.0));
}

//! Supports, springs and gravity in the case file, and what is refused.

use topopt_case::case::Case;

use crate::case_of;

/// 10 x 5 x 5 unit cubes with a corner at the origin.
const CASE: &str = r#"[mesh]
generator = "cantilever"
elements = 250

[[select]]
name = "end"
kind = "faces"
plane = { point = [10, 0, 0], normal = [1, 0, 0] }

[design]
volume_fraction = 0.3

[filter]
radius_in_elements = 1.5

"#;

const HELD: &str = "[[supports]]\nset = \"fixed\"\n";
const PULLED: &str = "[[loads]]\nset = \"load\"\nforce = [0, -1, 0]\n";

fn build(parts: &[&str]) -> Result<Case, String> {
    case_of(&format!("{CASE}{}", parts.concat()), &[])
}

#[test]
fn springs_are_summed_and_spread_over_faces() {
    let springs = "[[springs]]\nset = \"end\"\nstiffness_per_area = [4, 0, 0]\n\
                   [[springs]]\nset = \"load\"\nstiffness = [0, 2, 1]\n";
    let case = build(&[springs, PULLED]).unwrap();
    let sum = |i: usize| case.springs.iter().map(|(_, k)| k[i]).sum::<f64>();
    assert_eq!(case.springs.len(), 36);
    assert!((sum(0) - 4.0 * 25.0).abs() < 1e-12, "{}", sum(0));
    assert_eq!([sum(1), sum(2)], [12.0, 6.0]);
}

#[test]
fn displacements_belong_to_their_load_case_or_to_all() {
    let everywhere = "[[supports]]\nset = \"end\"\nfix = [\"x\"]\ndisplacement = [0.5, 0, 0]\n";
    let names = |case: &Case| -> Vec<(String, usize)> {
        case.load_cases.iter().map(|c| (c.name.clone(), c.displacements.len())).collect()
    };
    let all = build(&[HELD, everywhere, PULLED, PULLED, "case = \"other\"\n"]).unwrap();
    assert_eq!(names(&all), [("default".into(), 36), ("other".into(), 36)]);
    assert!(all.load_cases[1].displacements.iter().all(|(_, d)| *d == [0.5, 0.0, 0.0]));
    let one = build(&[HELD, everywhere, "case = \"push\"\n", PULLED]).unwrap();
    assert_eq!(names(&one), [("default".into(), 0), ("push".into(), 36)]);
    let alone = build(&[HELD, everywhere]).unwrap();
    assert_eq!(names(&alone), [("default".into(), 36)]);
    let listed = build(&[HELD, everywhere, "[[load_cases]]\nname = \"a\"\nweight = 2\n"]).unwrap();
    assert_eq!((names(&listed), listed.load_cases[0].weight), (vec![("a".into(), 36)], 2.0));
}

#[test]
fn gravity_of_a_case_adds_up() {
    let gravity = "[[loads]]\ngravity = [0, 0, -9.81]\n[[loads]]\ngravity = [1, 0, 0]\n";
    let case = build(&[HELD, gravity, "[material]\nmass_density = 2\n"]).unwrap();
    assert_eq!(case.load_cases[0].gravity, [1.0, 0.0, -9.81]);
    assert!(case.load_cases[0].forces.is_empty());
}

#[test]
fn gravity_without_mass() {
    insta::assert_snapshot!(build(&[HELD, "[[loads]]\ngravity = [0, 0, -9.81]\n"]).unwrap_err(), @r"
     x gravity needs the mass of the material
       ,-[case.toml:19:11]
    18 | [[loads]]
    19 | gravity = [0, 0, -9.81]
       :           ^^^^^^|^^^^^^
       :                 `-- [material] has no `mass_density`
       `----
     help: add `mass_density = ...` to [material]: mass per volume of solid material, in units that
           go with the others (steel: 7850 with m, kg, N; 7.85e-9 with mm, t, N)
    ");
}

#[test]
fn gravity_on_a_set() {
    let refused = build(&[HELD, "[[loads]]\nset = \"end\"\ngravity = [0, 0, -9.81]\n"]);
    insta::assert_snapshot!(refused.unwrap_err(), @r#"
     x gravity acts on the whole part
       ,-[case.toml:19:7]
    18 | [[loads]]
    19 | set = "end"
       :       ^^|^^
       :         `-- no set here
    20 | gravity = [0, 0, -9.81]
       `----
     help: remove `set`; for a force on part of the structure use `total_force`
    "#);
}

#[test]
fn a_force_on_no_set() {
    insta::assert_snapshot!(build(&[HELD, "[[loads]]\nforce = [0, 0, 1]\n"]).unwrap_err(), @r"
     x a load without a set
       ,-[case.toml:19:9]
    18 | [[loads]]
    19 | force = [0, 0, 1]
       :         ^^^^|^^^^
       :             `-- on which set?
       `----
     help: add `set = ...`: the name of a node, face or element set
    ");
    let empty = build(&[HELD, "[[loads]]\ncase = \"a\"\n"]).unwrap_err();
    assert!(empty.contains("a load without a force"), "{empty}");
}

#[test]
fn a_part_that_nothing_holds_or_loads() {
    insta::assert_snapshot!(build(&[]).unwrap_err(), @r"
    x case.toml has no [[supports]]
    help: add [[supports]]: where the part is held; or add [[springs]] that hold it; or, for a part
          that flies or floats, `inertia_relief = true` above all tables

    x case.toml has no [[loads]]
    help: add [[loads]]: the forces on the part; or give [[supports]] a `displacement`
    ");
}

#[test]
fn a_displacement_where_the_part_is_free() {
    let free = "[[supports]]\nset = \"end\"\nfix = [\"x\", \"z\"]\ndisplacement = [0, 1, 0]\n";
    insta::assert_snapshot!(build(&[HELD, free]).unwrap_err(), @r#"
     x a displacement in y, a direction in which the set is not held
       ,-[case.toml:21:16]
    20 | fix = ["x", "z"]
    21 | displacement = [0, 1, 0]
       :                ^^^^|^^^^
       :                    `-- this direction is free
       `----
     help: add "y" to `fix`, or give 0 for y
    "#);
}

#[test]
fn a_support_of_one_case_without_displacement() {
    let support = "[[supports]]\nset = \"end\"\ncase = \"push\"\n";
    insta::assert_snapshot!(build(&[HELD, support, PULLED]).unwrap_err(), @r#"
     x a support holds in all load cases
       ,-[case.toml:20:8]
    19 | set = "end"
    20 | case = "push"
       :        ^^^|^^
       :           `-- has no effect without a displacement
    21 | [[loads]]
       `----
     help: leave `case` out, or add `displacement = [x, y, z]`
    "#);
}

#[test]
fn supports_that_disagree() {
    let both = "[[supports]]\nset = \"end\"\ndisplacement = [0, 1, 0]\n\
                [[supports]]\nset = \"load\"\n";
    insta::assert_snapshot!(build(&[HELD, both]).unwrap_err(), @r#"
     x two supports move the same nodes differently
       ,-[case.toml:22:7]
    21 | [[supports]]
    22 | set = "load"
       :       ^^^|^^
       :          `-- elsewhere moved by 1
       `----
     help: use sets that share no node, or leave the direction out of `fix` of one of them
    "#);
}

#[test]
fn springs_that_are_none() {
    let spring = |keys: &str| {
        let spring = format!("[[springs]]\nset = \"load\"\n{keys}\n");
        build(&[HELD, &spring, PULLED]).unwrap_err()
    };

    insta::assert_snapshot!(spring(""), @r#"
     x springs without stiffness
       ,-[case.toml:19:7]
    18 | [[springs]]
    19 | set = "load"
       :       ^^^|^^
       :          `-- how stiff?
    20 | 
       `----
     help: give one of `stiffness` (on each node) and `stiffness_per_area` (on faces)
    "#);

    insta::assert_snapshot!(spring("stiffness_per_area = [1, 1, 1]"), @r#"
     x `stiffness_per_area` needs faces, but set `load` has none, only 6 nodes
       ,-[case.toml:20:22]
    19 | set = "load"
    20 | stiffness_per_area = [1, 1, 1]
       :                      ^^^^|^^^^
       :                          `-- per area
    21 | [[loads]]
       `----
     help: name a face set: a physical surface of Gmsh, or a [[select]] with `kind = "faces"`; or
           give `stiffness`, which each node has
    "#);

    let two = spring("stiffness = [1, 1, 1]\nstiffness_per_area = [1, 1, 1]");
    assert!(two.contains("springs with two kinds of stiffness"), "{two}");
    let negative = spring("stiffness = [1, -1, 1]");
    assert!(negative.contains("springs with negative stiffness"), "{negative}");
    let none = spring("stiffness = [0, 0, 0]");
    assert!(none.contains("springs with zero stiffness"), "{none}");
}

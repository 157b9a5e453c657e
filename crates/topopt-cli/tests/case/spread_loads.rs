//! Forces at a point, moments, bearings and rotations in the case file, and what is refused.

use topopt_case::case::Case;
use topopt_case::case_loads::Rotation;
use topopt_mesh::vector::{cross, difference};

use crate::case_of;
use crate::loads::{assert_near, build};

/// Sums of the forces of the first load case, and of their moments about `at`.
fn resultant(case: &Case, at: [f64; 3]) -> [[f64; 3]; 2] {
    let mut sums = [[0.0; 3]; 2];
    for (node, force) in &case.load_cases[0].forces {
        let turned = cross(difference(case.mesh.coordinates()[*node as usize], at), *force);
        (0..3).for_each(|i| sums[0][i] += force[i]);
        (0..3).for_each(|i| sums[1][i] += turned[i]);
    }
    sums
}

#[test]
fn a_force_at_a_point_has_its_moment() {
    let at = [14.0, -1.0, 2.0];
    let load = "total_force = [0.5, 1, -2]\nat = [14, -1, 2]";
    // By area on the faces of the end, alike on its nodes and on those of an edge off the line.
    for set in
        ["loads.0.set=end", "loads.0={set=\"block\", total_force=[0.5, 1, -2], at=[14, -1, 2]}"]
    {
        let block = "\n[[select]]\nname = \"block\"\nkind = \"nodes\"\n\
                     box = { min = [8, 0, 0], max = [10, 5, 1] }";
        let case = build(&format!("{load}{block}"), &[set]).unwrap();
        let [sum, turned] = resultant(&case, at);
        assert_near(sum, [0.5, 1.0, -2.0]);
        assert_near(turned, [0.0; 3]);
    }
    // Through the center of even faces it is the uniform traction.
    let centered = build("total_force = [0.5, 1, -2]\nat = [10, 2.5, 2.5]", &[]).unwrap();
    let plain = build("total_force = [0.5, 1, -2]", &[]).unwrap();
    let forces = |case: &Case| case.load_cases[0].forces.clone();
    for ((a, f), (b, g)) in forces(&centered).into_iter().zip(forces(&plain)) {
        assert_eq!(a, b);
        assert_near(f, g);
    }
}

#[test]
fn a_moment_has_no_force() {
    let case = build("moment = [3, 0.5, -1]", &[]).unwrap();
    for at in [[0.0; 3], [9.0, 8.0, -7.0]] {
        let [sum, turned] = resultant(&case, at);
        assert_near(sum, [0.0; 3]);
        assert_near(turned, [3.0, 0.5, -1.0]);
    }
    let both = "moment = [0, 0, 2]\n[[loads]]\nset = \"end\"\ntotal_force = [1, 0, 0]\n\
                at = [10, 2.5, 2.5]";
    let [sum, turned] = resultant(&build(both, &[]).unwrap(), [0.0, 2.5, 2.5]);
    assert_near(sum, [1.0, 0.0, 0.0]);
    assert_near(turned, [0.0, 0.0, 2.0]);
}

#[test]
fn a_line_of_nodes_takes_no_moment_about_it() {
    // The set `load` of the cantilever is the edge x = 10, y = 0.
    let beside = build("total_force = [0, 1, 0]\nat = [10, 4, 1]", &["loads.0.set=load"]);
    assert!(beside.is_ok(), "{beside:?}");
    let turned = build("moment = [0, 0, 1]", &["loads.0.set=load"]).unwrap_err();
    assert!(turned.contains("wider across its direction (0, 0, 1)"), "{turned}");
    let about = build("total_force = [0, -1, 0]\nat = [14, 0, 2.5]", &["loads.0.set=load"]);
    assert!(about.unwrap_err().contains("are on a line and take no moment about it"));
    let point = "moment = [0, 0, 1]\n[[select]]\nname = \"tip\"\nkind = \"nodes\"\n\
                 nearest = [10, 0, 0]";
    let refused = build(point, &["loads.0.set=tip"]).unwrap_err();
    assert!(refused.contains("the nodes of set `tip` are in one point and take no moment"));
}

#[test]
fn places_belong_to_one_quantity_each() {
    for (load, message) in [
        ("moment = [0, 0, 1]\nat = [0, 0, 0]", "a moment is the same about every point"),
        ("force = [0, 0, 1]\nat = [0, 0, 0]", "`at` without `total_force`"),
        ("force = [0, 0, 1]\ncenter = [0, 0, 0]", "`center` without `angular_velocity`"),
        ("moment = [0, 0, 1]\nforce = [0, 0, 1]", "a load of more than one kind"),
        ("bearing = [-1, 0, 0]\nkind = \"nodes\"", "a bearing needs faces"),
        ("angular_velocity = [0, 0, 1]", "a rotation acts on the whole part"),
        ("moment = [0, 0, 0]", "load case `default` has no force"),
        ("bearing = [0, 0, 0]", "load case `default` has no force"),
    ] {
        let refused = build(load, &[]).unwrap_err();
        assert!(refused.contains(message), "{load}: {refused}");
    }
    let nodes = build("bearing = [-1, 0, 0]", &["loads.0.set=load"]).unwrap_err();
    assert!(nodes.contains("`bearing` needs faces, but set `load` has none"), "{nodes}");
}

#[test]
fn a_bearing_pushes_on_faces_that_meet_it() {
    let [sum, _] = resultant(&build("bearing = [-3, 0, 0]", &[]).unwrap(), [0.0; 3]);
    assert_near(sum, [-3.0, 0.0, 0.0]);
    insta::assert_snapshot!(build("bearing = [3, 0, 0]", &[]).unwrap_err(), @r#"
     x no face of set `end` takes this bearing load
       ,-[case.toml:15:11]
    14 | set = "end"
    15 | bearing = [3, 0, 0]
       :           ^^^^|^^^^
       :               `-- no outward normal points against it
    16 | 
       `----
     help: name the faces of the bore that the force presses on, or turn the force
    "#);
    let across = build("bearing = [-3, 0, 4]", &[]).unwrap_err();
    assert!(across.contains("the faces of set `end` leave 80 % of this bearing load"), "{across}");
}

const ROTATING: &str = "force = [0, 1, 0]\n[[loads]]\nangular_velocity = [0, 0, 2]\n\
                        center = [1, 2, 3]\n[[loads]]\nangular_velocity = [1, 0, 0]";

#[test]
fn rotations_of_a_case_act_together() {
    let case = build(ROTATING, &["material.mass_density=2"]).unwrap();
    let expected = [
        Rotation { angular_velocity: [0.0, 0.0, 2.0], center: [1.0, 2.0, 3.0] },
        Rotation { angular_velocity: [1.0, 0.0, 0.0], center: [0.0; 3] },
    ];
    assert_eq!(case.load_cases[0].rotations, expected);
    // w^2 r about each axis.
    let acceleration = case.load_cases[0].acceleration();
    assert_near(acceleration.uniform, [-4.0, -8.0, 0.0]);
    assert_eq!(acceleration.gradient, [[4.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 1.0]]);

    let massless = build(ROTATING, &[]).unwrap_err();
    assert!(massless.contains("a rotation needs the mass of the material"), "{massless}");
    let still = case_of(STILL, &["material.mass_density=2"]).unwrap_err();
    assert!(still.contains("load case `default` has no force"), "{still}");
}

const STILL: &str = "[mesh]\ngenerator = \"cantilever\"\nelements = 250\n\
    [[supports]]\nset = \"fixed\"\n[[loads]]\nangular_velocity = [0, 0, 0]\n\
    [design]\nvolume_fraction = 0.3\n[filter]\nradius_in_elements = 1.5\n";

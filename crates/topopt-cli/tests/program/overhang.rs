//! Parts that are printed without props, or cast.

use serde_json::Value;
use topopt_case::config::Generator;
use topopt_mesh::HexMesh;

use crate::gpu_ranks::agree_elsewhere;
use crate::{Folder, topopt};

const CRISP: [&str; 4] =
    ["mesh.elements=1000", "design.style=crisp", "filter.kind=density", "output.compression=none"];

fn key(demand: &str) -> String {
    format!("manufacturing=[{{kind=\"overhang\",{demand}}}]")
}

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(1000)).unwrap()
}

/// Measures of the built part in out/verify.json.
fn made(folder: &Folder) -> Vec<Value> {
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    assert_eq!(status, 0, "{err}");
    let found: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    found["made"].as_array().unwrap().clone()
}

/// With a radius of 1.5 members are one element wide, and hold each other up as built or not by
/// chance.
#[test]
fn printed_designs_hold_themselves_up() {
    let folder = Folder::new();
    let keys = ["filter.radius_in_elements=2.5", "optimizer.max_iterations=60"];
    let crisp = [&CRISP[..], &keys].concat();
    folder.run_well(&crisp);
    let free = *folder.history("compliance").last().unwrap();

    let told = folder.run_well(&[&crisp[..], &[&key("build_direction=[2,0,0]")]].concat()).out;
    assert!(!told.contains("oscillate"), "{told}");
    let compliance = *folder.history("compliance").last().unwrap();
    assert!(compliance < 1.4 * free, "{compliance} and {free}");
    let grey = folder.summary()["grey_level"].as_f64().unwrap();
    assert!(grey < 0.05, "{grey}");
    let made = made(&folder);
    let lost = made.last().unwrap();
    assert_eq!(lost["measure"], "lost when it is printed at 50 degrees");
    assert!(lost["met"] == true, "{lost}");
}

/// Solid elements that have an empty one farther out along the draw, and in the other direction too
/// where the mold has two sides, as a share of the solid ones.
fn undercut(folder: &Folder, axis: usize, sides: usize) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let is_column = |a: usize, b: usize| {
        (0..3).all(|i| i == axis || (centers[a][i] - centers[b][i]).abs() < 0.1)
    };
    let is_covered = |e: usize, sign: f64| {
        (0..density.len()).any(|other| {
            let farther = sign * (centers[other][axis] - centers[e][axis]);
            farther > 0.1 && density[other] > 0.5 && is_column(e, other)
        })
    };
    let signs = &[1.0, -1.0][..sides];
    let empty = (0..density.len()).filter(|&e| density[e] < 0.5);
    let undercut = empty.filter(|&e| signs.iter().all(|&sign| is_covered(e, sign))).count();
    undercut as f64 / density.iter().filter(|x| **x > 0.5).count() as f64
}

#[test]
fn cast_designs_come_out_of_the_mold() {
    let folder = Folder::new();
    let crisp = [&CRISP[..], &["optimizer.max_iterations=60"]].concat();
    folder.run_well(&crisp);
    assert!(undercut(&folder, 2, 1) > 0.05, "{}", undercut(&folder, 2, 1));
    let free = *folder.history("compliance").last().unwrap();
    for sides in [1, 2] {
        let demand =
            format!("manufacturing=[{{kind=\"casting\",draw_direction=[0,0,3],sides={sides}}}]");
        folder.run_well(&[&crisp[..], &[&demand]].concat());
        let found = undercut(&folder, 2, sides);
        assert!(found < 0.002, "{sides} sides: {found}");
        let compliance = *folder.history("compliance").last().unwrap();
        assert!(compliance < 1.5 * free, "{sides} sides: {compliance} and {free}");
        let made = made(&folder);
        assert_eq!(made.last().unwrap()["measure"], "missing above undercuts");
        assert!(made.iter().all(|made| made["met"] == true), "{made:?}");
    }
}

#[test]
fn a_printed_design_is_the_same_on_ranks_and_on_a_gpu() {
    let folder = Folder::new();
    let key = key("build_direction=[0.2,1,0],anywhere=true,angle_degrees=50");
    let tight = ["solver.tolerance=1e-11", "solver.early_tolerance=1e-11"];
    let keys = [&CRISP[1..], &tight, &["optimizer.max_iterations=4", key.as_str()]].concat();
    agree_elsewhere(&folder, &keys, |_| ());
}

#[test]
fn prints_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let up = key("build_direction=[0,1,0]");
    let twice = up.replace("]}]", "]},{kind=\"overhang\",build_direction=[1,0,0]}]");
    let mirrored = up.replace("]}]", "]},{kind=\"symmetry\",point=[0,2.5,0],normal=[0,1,0]}]");
    let density = "filter.kind=density";
    for (keys, message) in [
        (vec![key("build_direction=[0,0,0]"), density.into()], "the direction of build has no"),
        (vec![key("angle_degrees=40"), density.into()], "needs `build_direction`"),
        (vec![key("build_direction=[0,1,0],angle_degrees=90"), density.into()], "out of range"),
        (
            vec![key("build_direction=[1,1,1]"), density.into()],
            "no face of the part lies on a plate",
        ),
        (vec![key("build_direction=[1,1,1],plate=\"none\""), density.into()], "`none`"),
        (vec![up.clone()], "needs the density filter"),
        (vec![twice, density.into()], "a part is printed in one direction"),
        (vec![mirrored, density.into()], "`symmetry` and `overhang` do not go together"),
        (
            vec![
                up.replace("]}]", "]},{kind=\"casting\",draw_direction=[0,1,0]}]"),
                density.into(),
            ],
            "a part is made in one direction, printed or cast",
        ),
        (
            vec![
                "manufacturing=[{kind=\"casting\",draw_direction=[0,0,0]}]".into(),
                density.into(),
            ],
            "the direction of draw has no length",
        ),
        (
            vec![
                "manufacturing=[{kind=\"casting\",draw_direction=[0,0,1],sides=3}]".into(),
                density.into(),
            ],
            "a mold opens to one or two sides",
        ),
        (
            vec![
                up,
                density.into(),
                "projection={sharpness=1}".into(),
                "continuation=[{from=2,half_width=1}]".into(),
            ],
            "does not go with a surface of a given width",
        ),
    ] {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let ended = folder.run(&keys, &[]);
        let err = ended.err.replace("\n     | ", " ");
        assert!(ended.status == 1 && err.contains(message), "{keys:?}: {err}");
    }
}

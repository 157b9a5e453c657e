//! Parts that are printed without props.

use crate::Folder;
use crate::made::{CRISP, are_refused, are_same_elsewhere, follows, is_made, is_refused};

/// Keys of a run of a crisp design.
const LONG: [&str; 2] = ["mesh.elements=1000", "optimizer.max_iterations=60"];

fn key(demand: &str) -> String {
    format!("manufacturing=[{{kind=\"overhang\",{demand}}}]")
}

/// With a radius of 1.5 members are one element wide, and hold each other up as built or not by
/// chance.
#[test]
fn printed_designs_hold_themselves_up() {
    let folder = Folder::new();
    let crisp = [&CRISP[..], &LONG, &["filter.radius_in_elements=2.5"]].concat();
    folder.run_well(&crisp);
    let free = *folder.history("compliance").last().unwrap();

    let told = folder.run_well(&[&crisp[..], &[&key("build_direction=[2,0,0]")]].concat()).out;
    assert!(!told.contains("oscillate"), "{told}");
    let compliance = *folder.history("compliance").last().unwrap();
    assert!(compliance < 1.4 * free, "{compliance} and {free}");
    let grey = folder.summary()["grey_level"].as_f64().unwrap();
    assert!(grey < 0.05, "{grey}");
    is_made(&folder, "lost when it is printed at 50 degrees", "volume");
}

#[test]
fn a_printed_design_is_the_same_on_ranks_and_on_a_gpu() {
    let key = key("build_direction=[0.2,1,0],anywhere=true,angle_degrees=50");
    are_same_elsewhere(&[&CRISP[..], &["optimizer.max_iterations=4", key.as_str()]].concat());
}

#[test]
fn prints_that_make_no_sense_are_refused() {
    let up = key("build_direction=[0,1,0]");
    let with = |other: &str| up.replace("]}]", &format!("]}},{{{other}}}]"));
    are_refused(&[
        (&key("build_direction=[0,0,0]"), "the direction of build has no"),
        (&key("angle_degrees=40"), "needs `build_direction`"),
        (&key("build_direction=[0,1,0],angle_degrees=90"), "out of range"),
        (&key("build_direction=[1,1,1]"), "no face of the part lies on a plate"),
        (&key("build_direction=[1,1,1],plate=\"none\""), "`none`"),
        (&with("kind=\"overhang\",build_direction=[1,0,0]"), "a part is printed in one direction"),
        (
            &with("kind=\"symmetry\",point=[0,2.5,0],normal=[0,1,0]"),
            "`symmetry` and `overhang` do not go together",
        ),
        (
            &with("kind=\"casting\",draw_direction=[0,1,0]"),
            "a part is made in one direction, printed or cast",
        ),
    ]);
    follows(&up);
}

/// An L-beam hangs from its top and is loaded at the tip of its lower arm: printed from the top,
/// the arm is in the air, and printed from the tip, the top is.
#[test]
fn loads_that_no_printed_part_carries_are_refused() {
    let of_l_beam = |demand: &str| [key(demand), "mesh.generator=l_beam".to_owned()];
    for direction in ["[0,-1,0]", "[-1,0,0]"] {
        let keys = of_l_beam(&format!("build_direction={direction}"));
        let keys = [keys[0].as_str(), &keys[1], CRISP[1], "mesh.elements=1000"];
        is_refused(&keys, "load case `default` is in the air");
    }
    for demand in ["build_direction=[0,1,0]", "build_direction=[0,-1,0],anywhere=true"] {
        let keys = of_l_beam(demand);
        let keys = [keys[0].as_str(), &keys[1], CRISP[1], "mesh.elements=1000"];
        Folder::new().run_well(&[&keys[..], &["optimizer.max_iterations=1"]].concat());
    }
}

/// Nothing rests on void elements: what is above them is in the air, whatever loads it.
#[test]
fn nothing_rests_on_void_elements() {
    let key = key("build_direction=[0,0,1]");
    let below = "select=[{name=\"below\",kind=\"elements\",box={min=[3,-1,-1],max=[99,99,2]}}]";
    let keys = [key.as_str(), below, "design.void=[\"below\"]", CRISP[1], "mesh.elements=1000"];
    is_refused(&keys, "load case `default` is in the air");
}

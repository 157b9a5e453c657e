//! Parts that are printed without props.

use serde_json::Value;

use crate::made::{CRISP, are_refused, are_same_elsewhere, follows, is_made, is_refused, made};
use crate::{Folder, topopt};

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
    let made = made(&folder);
    let lost = made.iter().find(|made| made["measure"] == "lost when it is printed at 50 degrees");
    assert!(lost.is_some_and(|lost| lost["of"] == "volume"), "{made:?}");
    is_made(&folder, "kept solid in the air when it is printed at 50 degrees", "part");

    let steep = made.iter().find(|made| made["measure"].as_str().unwrap().starts_with("steeper"));
    let share = steep.unwrap()["share"].as_f64().unwrap();
    assert!((0.001..0.3).contains(&share) && steep.unwrap()["at_most"].is_null(), "{made:?}");
    let (status, _, err) = topopt(&folder.path(""), &["report", "out"]);
    assert_eq!(status, 0, "{err}");
    let page = folder.read("out/report.html");
    let lost = lost.unwrap()["share"].as_f64().unwrap();
    for (said, is_there) in [
        ("is lost when it is printed at 50 degrees (at most 1 %: met)", true),
        ("is steeper than 45 degrees from upright, an area of", true),
        ("Misses what its making demands", lost > 0.0),
    ] {
        assert_eq!(page.contains(said), is_there, "{said}");
    }
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

/// The cantilever of 10 x 5 x 5 elements, held at x = 0, and a set of it.
fn on_plate(direction: &str, select: &str) -> [String; 3] {
    let demand = key(&format!("build_direction={direction},plate=\"s\""));
    [demand, format!("select=[{{name=\"s\",{select}}}]"), CRISP[1].into()]
}

const ENDS: &str = "kind=\"faces\",any=[{plane={point=[0,0,0],normal=[1,0,0]}},\
                    {plane={point=[10,0,0],normal=[1,0,0]}}]";

#[test]
fn sets_on_which_no_part_stands_are_refused() {
    let top = "kind=\"nodes\",box={min=[0,0,5],max=[10,5,5]}";
    let [none, of_surface] = ["no face of the part's surface", "the 50 faces that it has"];
    let line = "kind=\"nodes\",box={min=[0,0,0],max=[10,0,0]}";
    let inner = "kind=\"elements\",box={min=[3,1,1],max=[6,4,4]}";
    for (direction, select, why, more) in [
        ("[0,0,1]", top, of_surface, "180 degrees"),
        ("[0,0,1]", ENDS, of_surface, "90 degrees"),
        ("[1,0,2]", ENDS, of_surface, "63 degrees"),
        ("[0,0,1]", line, none, "all its nodes"),
        ("[0,0,1]", inner, none, "all its nodes"),
    ] {
        let keys = on_plate(direction, select);
        let keys = [keys[0].as_str(), &keys[1], &keys[2]];
        is_refused(&keys, &format!("`s` cannot be the plate: {why}"));
        is_refused(&keys, more);
        let sets = keys.iter().flat_map(|key| ["--set", key]);
        let folder = Folder::new();
        let args: Vec<_> = ["check", "case.toml"].into_iter().chain(sets).collect();
        let (status, _, err) = topopt(&folder.path(""), &args);
        assert!(status == 1 && err.contains("name faces whose outward normals"), "{err}");
    }
}

#[test]
fn a_plate_is_what_looks_down_of_a_set() {
    let lowest = "kind=\"nodes\",box={min=[0,0,0],max=[0,5,5]}";
    for (direction, select, note) in [
        ("[1,0,1]", ENDS, Some("the part stands on 25 of the 50 faces of `plate = \"s\"`: 0 lie")),
        ("[1,0,0]", lowest, None),
    ] {
        let folder = Folder::new();
        let keys = on_plate(direction, select);
        let keys = [keys[0].as_str(), &keys[1], &keys[2], "optimizer.max_iterations=1"];
        let out = folder.run_well(&keys).out.replace("\n     | ", " ");
        let noted = out.contains("the part stands on");
        assert!(noted == note.is_some() && out.contains(note.unwrap_or("")), "{out}");
    }
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

/// A lid over void elements is held up as far as what is printed beside them reaches.
#[test]
fn solid_elements_in_the_air_are_counted() {
    let lid = "{name=\"lid\",kind=\"elements\",box={min=[0,0,4],max=[10,5,5]}}";
    let below = "{name=\"below\",kind=\"elements\",box={min=[4,0,0],max=[10,5,4]}}";
    let select = format!("select=[{lid},{below}]");
    let key = key("build_direction=[0,0,1]");
    let loads = "loads=[{set=\"lid\",force=[0,0,-1]}]";
    let keys = [&select, &key, loads, "design.solid=[\"lid\"]", CRISP[1]];
    for (void, noted) in [("design.void=[\"below\"]", true), ("design.void=[]", false)] {
        let folder = Folder::new();
        let short = [void, "optimizer.max_iterations=1"];
        let said = folder.run_well(&[&keys[..], &short].concat()).out;
        let counted =
            said.contains("23 of 50 elements that stay solid, 17.7 % of the part, are in");
        assert!(counted == noted && said.contains("in the air") == noted, "{said}");
    }
}

/// A block at the free end and on top of a bar, which carries nothing, is left in the air by its
/// design; one on the plate needs no prop.
#[test]
fn what_a_design_leaves_in_the_air_is_measured_as_built() {
    for (low, is_held) in [(0, true), (6, false)] {
        let folder = Folder::new();
        let said = run_with_block(&folder, [14, 6, low]);
        let is_counted = said.contains("of 8 elements that stay solid, ")
            && said.contains("are in the air in this design");
        assert_eq!(is_counted, !is_held, "{said}");

        let (status, out, err) = topopt(&folder.path(""), &["verify", "out"]);
        let verdict = "% of the part is kept solid in the air when it is printed at 50 degrees";
        assert!(status == if is_held { 0 } else { 3 } && out.contains(verdict), "{out}{err}");
        let found: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
        let made = found["made"].as_array().unwrap();
        let kept = made.iter().find(|made| made["of"] == "part").unwrap();
        assert_eq!(kept["met"], is_held, "{kept}");
        let Some(missing) = kept.get("missing") else {
            assert!(is_held, "{kept}");
            continue;
        };
        let volume = missing["volume"].as_f64().unwrap();
        let at = [0, 1, 2].map(|i| missing["at"][i].as_f64().unwrap());
        let is_within = |(x, least): (f64, f64)| least < x && x < least + 2.0;
        assert!(volume > 1.0 && volume < 8.0, "{volume}");
        assert!(at.into_iter().zip([14.0, 6.0, 6.0]).all(is_within), "{at:?}");
    }
}

/// Runs a light bar of 16 x 8 x 8 elements, printed along z, with a block of 2 x 2 x 2 elements
/// that stays solid from `corner` on, and returns what is said.
fn run_with_block(folder: &Folder, corner: [u32; 3]) -> String {
    let bounds = format!("box={{min={corner:?},max={:?}}}", corner.map(|x| x + 2));
    let select = format!("select=[{{name=\"block\",kind=\"elements\",{bounds}}}]");
    let block = [&select, "design.solid=[\"block\"]", "design.keep_loaded=free"];
    let light = ["mesh.elements=1000", "design.volume_fraction=0.2", "optimizer.max_iterations=40"];
    let upwards = key("build_direction=[0,0,1]");
    folder.run_well(&[&CRISP[..], &block, &light, &[&upwards]].concat()).out
}

/// Nothing rests on void elements: what is above them is in the air, whatever loads it.
#[test]
fn nothing_rests_on_void_elements() {
    let key = key("build_direction=[0,0,1]");
    let below = "select=[{name=\"below\",kind=\"elements\",box={min=[3,-1,-1],max=[99,99,2]}}]";
    let keys = [key.as_str(), below, "design.void=[\"below\"]", CRISP[1], "mesh.elements=1000"];
    is_refused(&keys, "load case `default` is in the air");
}

//! Parts by the method of their making.

use crate::Folder;
use crate::made::{CRISP, are_refused, are_same_elsewhere, made};

/// Keys of a method along z.
fn keys(method: &str) -> [String; 3] {
    let method = format!("design.method={method}");
    [method, "design.direction=[0,0,2]".into(), "filter={}".into()]
}

/// Runs a crisp design by a method and other keys.
fn run(folder: &Folder, method: &str, others: &[&str]) {
    let keys = keys(method);
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    folder.run_well(&[&[CRISP[0], CRISP[2]], &keys[..], others].concat());
}

#[test]
fn methods_make_parts_that_keep_what_they_demand() {
    let folder = Folder::new();
    for (method, measures) in [
        ("printed", &["lost when it is printed at 50 degrees", "enclosed"][..]),
        ("cast", &["missing above undercuts"]),
        ("milled", &["out of reach of the tools"]),
        ("extruded", &["unequal where it is to be equal"]),
    ] {
        // With less material a printed bar holds the next one up or does not, by chance.
        let size = ["mesh.elements=2000", "design.volume_fraction=0.4"];
        run(&folder, method, &[&size[..], &["optimizer.max_iterations=60"]].concat());
        let made = made(&folder);
        for measure in measures {
            let found = made.iter().find(|made| made["measure"] == *measure);
            assert!(found.is_some_and(|made| made["met"] == true), "{method}: {made:?}");
        }
    }
}

/// A run of the case that is written, with the entries, is the same.
#[test]
fn entries_of_a_case_replace_those_of_its_method() {
    let folder = Folder::new();
    let short = "optimizer.max_iterations=2";
    let own = "manufacturing=[{kind=\"overhang\",build_direction=[0,1,0],angle_degrees=60.5}]";
    run(&folder, "printed", &[short, own, "design.least_width=4"]);
    let case: toml::Table = folder.read("out/case.toml").parse().unwrap();
    let entries = case["manufacturing"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["overhang", "open_voids", "member_size"]);
    assert_eq!(entries[0]["angle_degrees"].as_float(), Some(60.5));
    assert_eq!(case["filter"]["kind"].as_str(), Some("density"));
    let notes = folder.summary()["notes"].to_string();
    let said = "`open_voids`, `member_size`; for `overhang` the entries of the case file count";
    assert!(notes.contains(said), "{notes}");

    let history = folder.history("compliance");
    folder.write("case.toml", &folder.read("out/case.toml"));
    folder.run_well(&[]);
    assert_eq!(folder.history("compliance"), history);
}

#[test]
fn methods_that_make_no_sense_are_refused() {
    are_refused(&[
        ("design.method=forged", "cannot be \"forged\""),
        ("design.method=cast", "`design.method` has no direction"),
        ("design.direction=[0,0,1]", "without a method"),
        ("design.least_width=4", "without a method"),
        ("design={method=\"cast\",direction=[0,0,0],volume_fraction=0.3}", "has no length"),
    ]);
}

/// Printed, with a plane of symmetry and members of a least width.
#[test]
fn a_part_with_three_demands_is_the_same_on_ranks_and_on_a_gpu() {
    let demands = "manufacturing=[{kind=\"overhang\",build_direction=[0,1,0]},{kind=\"member_size\",minimum=3},\
        {kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0,1]}]";
    let skew = "loads=[{set=\"load\",force=[0.5,-1,0.7]}]";
    let keys = ["filter={kind=\"density\"}", skew, demands, "optimizer.max_iterations=4"];
    are_same_elsewhere(&[&[CRISP[0], CRISP[2]], &keys[..]].concat());
}

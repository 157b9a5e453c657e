//! Members and gaps of a least width.

use serde_json::Value;

use crate::Folder;
use crate::made::{are_same_elsewhere, made};

const CRISP: [&str; 4] = [
    "mesh.elements=1000",
    "design={style=\"crisp\",volume_fraction=0.3}",
    "filter={kind=\"density\"}",
    "output.compression=none",
];

fn key(widths: &str) -> String {
    format!("manufacturing=[{{kind=\"member_size\",{widths}}}]").replace(",}", "}")
}

/// Measures of widths of the built part.
fn widths(folder: &Folder) -> Vec<Value> {
    made(folder).into_iter().filter(|made| made["of"] == "surface").collect()
}

#[test]
fn members_and_gaps_have_the_least_width() {
    let folder = Folder::new();
    let demand = key("minimum=3,gap=3");
    folder.run_well(&[&CRISP[..], &["optimizer.max_iterations=90", &demand]].concat());
    let summary = folder.summary();
    let volume = *folder.history("volume_fraction").last().unwrap();
    assert!((volume - 0.3).abs() < 1e-3, "{volume}");
    let grey = summary["grey_level"].as_f64().unwrap();
    assert!(grey < 0.06, "{grey}");
    let made = widths(&folder);
    assert_eq!(made[0]["measure"], "beside members less than 2.7 wide");
    assert_eq!(made[1]["measure"], "beside gaps less than 2.7 wide");
    assert!(made.iter().all(|made| made["met"] == true), "{made:?}");
    // The last design is solved as it is built, and not thinner.
    let compliance = summary["compliance"].as_f64().unwrap();
    let eroded = *folder.history("compliance").last().unwrap();
    assert!(compliance < 0.9 * eroded, "{compliance} and {eroded}");
    let warnings = summary["warnings"].to_string();
    assert_eq!(
        warnings.contains("fallen apart"),
        eroded > 100.0 * compliance,
        "{eroded}: {warnings}"
    );
}

/// Without the maximum 30 % of the surface are beside members that are more than a tenth wider.
#[test]
fn members_have_the_largest_width() {
    let folder = Folder::new();
    folder.run_well(&[
        "mesh.elements=8000",
        "design={style=\"crisp\",volume_fraction=0.5}",
        "filter={kind=\"density\",radius_in_elements=1.8}",
        "optimizer={max_iterations=120}",
        &key("maximum=4"),
    ]);
    let volume = *folder.history("volume_fraction").last().unwrap();
    assert!((volume - 0.5).abs() < 2e-3, "{volume}");
    let made = widths(&folder);
    assert_eq!(made[0]["measure"], "beside members more than 4.4 wide");
    assert!(made.len() == 1 && made[0]["met"] == true, "{made:?}");
}

/// The sharper projection of a stage would take most of a grey design: iteration 26 begins one.
#[test]
fn thin_volumes_stay_whole_as_a_stage_begins() {
    let folder = Folder::new();
    let (key, thin) = (key("minimum=3"), CRISP[1].replace("0.3", "0.15"));
    folder.run_well(&[CRISP[0], CRISP[2], &thin, &key, "optimizer.max_iterations=28"]);
    let compliance = folder.history("compliance");
    assert!(compliance[25] < 10.0 * compliance[24], "{compliance:?}");
    assert!(compliance[27] < compliance[24], "{compliance:?}");
    let volume = folder.history("volume_fraction");
    let falls = (volume[25] - volume[26]) / volume[25];
    assert!(volume[24] < 0.151 && volume[25] > 0.3 && falls < 0.15, "{volume:?}");
}

#[test]
fn a_design_of_wide_members_is_the_same_on_ranks_and_on_a_gpu() {
    for key in [key("minimum=3,gap=3.5"), key("minimum=3,maximum=4")] {
        are_same_elsewhere(&[&CRISP[..], &["optimizer.max_iterations=4", &key]].concat());
    }
}

#[test]
fn widths_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let (density, wide) = ("filter={kind=\"density\"}", key("minimum=4"));
    let twice = wide.replace("}]", "},{kind=\"member_size\",gap=4}]");
    let of_radius = "filter={kind=\"density\",radius_in_elements=3.5}";
    let smooth = "design.style=smooth";
    let fine = "filter={kind=\"density\",radius_in_elements=1.5}";
    for (demand, others, message) in [
        (key("minimum=2.9"), &[density][..], "a least width is less than three elements"),
        (key("gap=2.9"), &[density], "a least width is less than three elements"),
        (key("minimum=0"), &[density], "out of range"),
        (key("maximum=2.9"), &[fine], "a largest width is less than three elements"),
        (key("minimum=4,maximum=3.9"), &[density], "is less than their least one"),
        (key("maximum=5"), &[fine], "no member of the part can be thicker"),
        (key("maximum=3.5"), &[fine, "optimizer.method=oc"], "under one limit of the volume"),
        (key("sides=2"), &[density], "`sides` does not belong to"),
        (key(""), &[density], "asks for no width"),
        (wide.clone(), &[of_radius], "larger than the radius of the filter"),
        (wide.clone(), &["filter={kind=\"sensitivity\"}"], "needs the density filter"),
        (wide.clone(), &["filter={weights=\"helmholtz\"}"], "needs the density filter"),
        (wide, &[density, smooth], "needs a projection with the threshold 0.5"),
        (twice, &[density], "widths of members are asked for twice"),
    ] {
        let keys = [&["design.style=crisp", demand.as_str()], others].concat();
        let ended = folder.run(&keys, &[]);
        let err = ended.err.replace("\n     | ", " ");
        assert!(ended.status == 1 && err.contains(message), "{keys:?}: {err}");
    }
}

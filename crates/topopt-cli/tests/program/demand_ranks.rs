//! Demands of `[[manufacturing]]` on ranks: the history of one rank, for every kind.

use topopt_case::config;

use crate::Folder;
use crate::ranks::agree_in;

/// Solves as exact as they get: what a demand hides has no derivative, and rests.
const EXACT: [&str; 6] = [
    "design.style=crisp",
    "design.volume_fraction=0.4",
    "solver.tolerance=1e-12",
    "solver.early_tolerance=1e-12",
    "output.checkpoint_every=0",
    "solver.device=cpu",
];

const RADIUS: &str = "filter={kind=\"density\",radius_in_elements=1.8}";
const NO_RADIUS: &str = "filter={kind=\"density\"}";

/// Demands of a `kind` on the cantilever of 10 x 5 x 5 elements, with the filter that they need.
fn demands(kind: &str) -> Vec<(&'static str, &'static str)> {
    let keys: &[&str] = match kind {
        "symmetry" => &["point=[5,2.5,2.5],normal=[0,1,0]"],
        "cyclic" => &["point=[5,2.5,2.5],axis=[1,0,0],sectors=4"],
        "pattern" => &["pitch=[2,0,0]"],
        "copy" => &["origin=[0,0,0],size=[4,5,5],to=[10,0,5],to_x=[-1,0,0]"],
        "extrusion" => &["direction=[0,0,1]"],
        "uniform" => &["normal=[0,0,1]"],
        "overhang" => &["build_direction=[0,1,0]"],
        "casting" => &[
            "draw_direction=[0,1,0]",
            "draw_direction=[0,0,1],sides=2",
            "draw_direction=[0,0,1],draft_degrees=10",
            "draw_direction=[0,0,1],thickness=3.02",
        ],
        "milling" => &["tool_directions=[[0,0,1],[0,0,-1]],diameter=2"],
        "open_voids" => &[""],
        "member_size" => {
            return vec![("minimum=3,gap=3", NO_RADIUS), ("maximum=3", RADIUS)];
        }
        other => panic!("no demand of the kind {other} is tried"),
    };
    keys.iter().map(|keys| (*keys, RADIUS)).collect()
}

/// Asymptotes adapt from the fourth design on, to moves that are none where elements are hidden.
#[test]
fn every_demand_has_the_history_of_one_rank() {
    let schema = config::schema();
    let kinds = &schema["properties"]["manufacturing"]["items"]["properties"]["kind"]["oneOf"];
    for kind in kinds.as_array().unwrap() {
        let kind = kind["const"].as_str().unwrap();
        for (keys, filter) in demands(kind) {
            let demand = format!("manufacturing=[{{kind=\"{kind}\",{keys}}}]").replace(",}", "}");
            let set = [&EXACT[..], &[filter, "optimizer.max_iterations=12", &demand]].concat();
            agree_in(&Folder::new(), &demand, &set, &[2, 4], "displacement");
        }
    }
}

const MIDDLE_Y: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,1,0]";
const MIDDLE_Z: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0,1]";
const HALVES: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[0,1,0],sectors=2";
const CELLS: &str = "kind=\"pattern\",pitch=[2,0,0]";
const PROFILE: &str = "kind=\"extrusion\",direction=[0,0,1]";
const LAYERS: &str = "kind=\"uniform\",normal=[0,0,1]";
const PRINTED: &str = "kind=\"overhang\",build_direction=[0,1,0]";
const CAST: &str = "kind=\"casting\",draw_direction=[0,1,0]";
const MILLED: &str = "kind=\"milling\",tool_directions=[[0,0,1],[0,0,-1]],diameter=2";
const OPEN: &str = "kind=\"open_voids\"";
const WIDE: &str = "kind=\"member_size\",minimum=3";

/// Every kind is in one of them; the load is not symmetric.
#[test]
fn chains_of_demands_have_the_history_of_one_rank() {
    let skew = "loads=[{set=\"load\",force=[0.5,-1,0.7]}]";
    for chain in [
        &[MIDDLE_Z, PRINTED][..],
        &[CELLS, CAST],
        &[MIDDLE_Z, LAYERS],
        &[PROFILE, WIDE],
        &[MIDDLE_Y, PROFILE, CELLS],
        &[MIDDLE_Z, PRINTED, WIDE],
        &[PRINTED, OPEN, WIDE],
        &[HALVES, CAST, OPEN],
        &[MIDDLE_Z, MILLED, WIDE],
    ] {
        let demands: Vec<_> = chain.iter().map(|demand| format!("{{{demand}}}")).collect();
        let demands = format!("manufacturing=[{}]", demands.join(","));
        let filter = if chain.contains(&WIDE) { NO_RADIUS } else { RADIUS };
        let keys = [filter, skew, "optimizer.max_iterations=8", &demands];
        let set = [&EXACT[..], &keys].concat();
        agree_in(&Folder::new(), &demands, &set, &[2, 4], "displacement");
    }
}

/// Move limits adapt likewise.
#[test]
fn every_method_has_the_history_of_one_rank_where_elements_are_hidden() {
    let demand = "manufacturing=[{kind=\"casting\",draw_direction=[0,1,0]}]";
    for method in ["oc", "oc_adaptive", "oc_anderson", "mma", "gcmma", "simpl"] {
        let method = format!("optimizer.method={method}");
        let keys = [&method, "optimizer.max_iterations=10", "design.style=smooth", RADIUS, demand];
        let set = [&EXACT[..], &keys].concat();
        agree_in(&Folder::new(), &method, &set, &[2, 4], "displacement");
    }
}

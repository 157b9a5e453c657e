//! Parts that are milled.

use serde_json::Value;
use topopt_case::config::Generator;
use topopt_mesh::HexMesh;

use crate::gpu_ranks::agree_elsewhere;
use crate::{Folder, topopt};

const CRISP: [&str; 5] = [
    "mesh.elements=1000",
    "design.style=crisp",
    "filter.kind=density",
    "output.compression=none",
    "optimizer.max_iterations=80",
];

fn key(demand: &str) -> String {
    format!("manufacturing=[{{kind=\"milling\",{demand}}}]")
}

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(1000)).unwrap()
}

/// Void elements that have a solid one beyond them along all of the `ways`, each an axis and a
/// sign, as a share of the void ones.
fn hidden(folder: &Folder, ways: &[(usize, f64)]) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let shades = |e: usize, other: usize, (axis, sign): (usize, f64)| {
        let arm: [f64; 3] = std::array::from_fn(|i| centers[other][i] - centers[e][i]);
        let is_on_way = (0..3).all(|i| i == axis || arm[i].abs() < 0.1);
        density[other] > 0.5 && is_on_way && sign * arm[axis] > 0.1
    };
    let is_hidden =
        |e: usize| ways.iter().all(|&way| (0..density.len()).any(|other| shades(e, other, way)));
    let void: Vec<usize> = (0..density.len()).filter(|&e| density[e] < 0.5).collect();
    void.iter().filter(|&&e| is_hidden(e)).count() as f64 / void.len() as f64
}

/// Void elements of the layers across y that no disc of this `diameter` covers whose other elements
/// are void, too, or beside the part, as a share of the void ones.
fn narrow(folder: &Folder, diameter: f64) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let (centers, width) = (mesh().centers(), mesh().element_width());
    let void: Vec<usize> = (0..density.len()).filter(|&e| density[e] < 0.5).collect();
    let across = |e: usize, [x, y, z]: [f64; 3]| {
        let is_level = (centers[e][1] - y).abs() < 0.1 * width;
        if is_level { (centers[e][0] - x).hypot(centers[e][2] - z) } else { f64::INFINITY }
    };
    let is_free = |place: [f64; 3]| {
        let mut solid = (0..density.len()).filter(|&e| density[e] >= 0.5);
        !solid.any(|e| across(e, place) < diameter / 2.0)
    };
    let places = |e: usize| {
        let steps = (-4..=4).flat_map(|i| (-4..=4).map(move |j| [i, j].map(f64::from)));
        let [x, y, z] = centers[e];
        let places = steps.map(move |[i, j]| [x + i * width, y, z + j * width]);
        places.filter(move |[u, _, w]| (u - x).hypot(w - z) < diameter / 2.0)
    };
    let has_room = |&e: &usize| places(e).any(is_free);
    void.iter().filter(|e| !has_room(e)).count() as f64 / void.len() as f64
}

/// Runs and verifies a milled part, and returns its compliance.
fn milled(folder: &Folder, demand: &str) -> f64 {
    folder.run_well(&[&CRISP[..], &[key(demand).as_str()]].concat());
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    assert_eq!(status, 0, "{err}");
    let found: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    let made = found["made"].as_array().unwrap().last().unwrap();
    assert_eq!(made["measure"], "out of reach of the tools");
    assert_eq!(made["of"], "void");
    assert!(made["met"] == true, "{made}");
    *folder.history("compliance").last().unwrap()
}

#[test]
fn tools_reach_every_void() {
    let folder = Folder::new();
    folder.run_well(&CRISP);
    let free = *folder.history("compliance").last().unwrap();
    let ways = [(1, 1.0), (1, -1.0), (0, 1.0)];
    assert!(hidden(&folder, &ways) > 0.02, "{}", hidden(&folder, &ways));

    let compliance = milled(&folder, "tool_directions=[[0,2,0],[0,-1,0],[1,0,0]]");
    assert!(hidden(&folder, &ways) < 0.002, "{}", hidden(&folder, &ways));
    assert!(compliance < 1.5 * free, "{compliance} and {free}");
}

#[test]
fn tools_have_room_in_every_void() {
    let folder = Folder::new();
    let ways = [(1, 1.0), (1, -1.0)];
    milled(&folder, "tool_directions=[[0,1,0],[0,-1,0]]");
    assert!(narrow(&folder, 3.2) > 0.02, "{}", narrow(&folder, 3.2));
    milled(&folder, "tool_directions=[[0,1,0],[0,-1,0]],diameter=3.2");
    assert!(hidden(&folder, &ways) < 0.002, "{}", hidden(&folder, &ways));
    assert!(narrow(&folder, 3.2) < 0.01, "{}", narrow(&folder, 3.2));
}

#[test]
fn a_milled_design_is_the_same_on_ranks_and_on_a_gpu() {
    let folder = Folder::new();
    let key = key("tool_directions=[[0.2,1,0],[0,0,-1]],diameter=2");
    let tight = ["solver.tolerance=1e-11", "solver.early_tolerance=1e-11"];
    let keys = [&CRISP[1..4], &tight, &["optimizer.max_iterations=3", key.as_str()]].concat();
    agree_elsewhere(&folder, &keys, |_| ());
}

#[test]
fn a_plane_of_symmetry_may_lie_across_tools_from_both_sides() {
    let folder = Folder::new();
    let across = "]},{kind=\"symmetry\",point=[0,4,0],normal=[0,1,0]}]";
    let both = key("tool_directions=[[0,1,0],[0,-1,0]]").replace("]}]", across);
    let keys = [&CRISP[..4], &["optimizer.max_iterations=3", both.as_str()]].concat();
    folder.run_well(&keys);
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    for (center, x) in centers.iter().zip(&density) {
        let is_image = |other: &[f64; 3]| {
            let image = [center[0], 8.0 - center[1], center[2]];
            (0..3).all(|i| (other[i] - image[i]).abs() < 1e-6)
        };
        let image = centers.iter().position(is_image).unwrap();
        assert!((density[image] - x).abs() < 1e-9);
    }
}

#[test]
fn tools_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let one = key("tool_directions=[[0,1,0]]");
    let with = |other: &str| one.replace("]}]", &format!("]}},{{{other}}}]"));
    let many = format!("tool_directions=[{}]", ["[0,0,1]"; 101].join(","));
    let density = "filter.kind=density";
    for (keys, message) in [
        (vec![key("diameter=2"), density.into()], "needs `tool_directions`"),
        (vec![key("tool_directions=[]"), density.into()], "`tool_directions` has no direction"),
        (vec![key("tool_directions=[[0,0,1],[0,0,0]]"), density.into()], "has no length"),
        (vec![key(&many), density.into()], "from more than 100 directions"),
        (vec![key("tool_directions=[[0,0,1]],diameter=-1"), density.into()], "out of range"),
        (
            vec![key("tool_directions=[[0,0,1]],diameter=0.1"), density.into()],
            "the tool is narrower than an element",
        ),
        (vec![one.clone()], "needs the density filter"),
        (
            vec![with("kind=\"casting\",draw_direction=[0,1,0]"), density.into()],
            "a part is made in one way, printed, cast or milled",
        ),
        (
            vec![with("kind=\"symmetry\",point=[0,2.5,0],normal=[0,1,0]"), density.into()],
            "`symmetry` and `milling` do not go together",
        ),
        (
            vec![
                one.clone(),
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

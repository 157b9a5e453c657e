//! Parts that are milled.

use topopt_case::config::Generator;
use topopt_mesh::HexMesh;

use crate::Folder;
use crate::made::{CRISP, are_refused, are_same_elsewhere, follows, is_made};

/// Keys of a run of a crisp design.
const LONG: [&str; 2] = ["mesh.elements=1000", "optimizer.max_iterations=80"];

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
    folder.run_well(&[&CRISP[..], &LONG, &[key(demand).as_str()]].concat());
    is_made(folder, "out of reach of the tools", "void");
    *folder.history("compliance").last().unwrap()
}

#[test]
fn tools_reach_every_void() {
    let folder = Folder::new();
    folder.run_well(&[&CRISP[..], &LONG].concat());
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
    let limit = 0.01;
    milled(&folder, "tool_directions=[[0,1,0],[0,-1,0]]");
    assert!(narrow(&folder, 3.2) > limit, "{}", narrow(&folder, 3.2));
    milled(&folder, "tool_directions=[[0,1,0],[0,-1,0]],diameter=3.2");
    assert!(hidden(&folder, &ways) < 0.002, "{}", hidden(&folder, &ways));
    assert!(narrow(&folder, 3.2) < limit, "{}", narrow(&folder, 3.2));
}

#[test]
fn a_milled_design_is_the_same_on_ranks_and_on_a_gpu() {
    let key = key("tool_directions=[[0.2,1,0],[0,0,-1]],diameter=2");
    are_same_elsewhere(&[&CRISP[..], &["optimizer.max_iterations=3", key.as_str()]].concat());
}

#[test]
fn a_plane_of_symmetry_may_lie_across_tools_from_both_sides() {
    let folder = Folder::new();
    let across = "]},{kind=\"symmetry\",point=[0,4,0],normal=[0,1,0]}]";
    let both = key("tool_directions=[[0,1,0],[0,-1,0]]").replace("]}]", across);
    let short = [LONG[0], "optimizer.max_iterations=3", both.as_str()];
    let keys = [&CRISP[..], &short].concat();
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
    let one = key("tool_directions=[[0,1,0]]");
    let with = |other: &str| one.replace("]}]", &format!("]}},{{{other}}}]"));
    let many = key(&format!("tool_directions=[{}]", ["[0,0,1]"; 101].join(",")));
    are_refused(&[
        (&key("diameter=2"), "needs `tool_directions`"),
        (&key("tool_directions=[]"), "`tool_directions` has no direction"),
        (&key("tool_directions=[[0,0,1],[0,0,0]]"), "has no length"),
        (&many, "from more than 100 directions"),
        (&key("tool_directions=[[0,0,1]],diameter=-1"), "out of range"),
        (&key("tool_directions=[[0,0,1]],diameter=0.1"), "the tool is narrower than an element"),
        (&key("tool_directions=[[0,0,1]],diameter=1e9"), "the tool is wider than the part"),
        (
            &with("kind=\"casting\",draw_direction=[0,1,0]"),
            "a part is made in one way, printed, cast or milled",
        ),
        (
            &with("kind=\"symmetry\",point=[0,2.5,0],normal=[0,1,0]"),
            "`symmetry` and `milling` do not go together",
        ),
    ]);
    follows(&one);
}

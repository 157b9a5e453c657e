//! Halves of models that mirror themselves, which runs on one rank solve in their place; on several
//! ranks the whole is solved.

use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_testing::{kuhn, mirrored};

use crate::Folder;
use crate::gpu_ranks::agree_elsewhere;

/// Solves that are as good as exact, on 20 x 10 x 10 cubes of edge 1 or twice as large.
const EXACT: [&str; 5] = [
    "mesh.elements=2000",
    "solver.tolerance=1e-11",
    "solver.early_tolerance=1e-11",
    "output.compression=none",
    "optimizer.max_iterations=4",
];

/// A plane in the middle of the bar across `axis`.
fn middle(axis: usize) -> String {
    let normal: [u8; 3] = std::array::from_fn(|i| u8::from(i == axis));
    format!("{{kind=\"symmetry\",point=[10,5,5],normal={normal:?}}}")
}

/// Asserts that the run with `keys` says `note`, and has the history and the design of the whole
/// model elsewhere.
fn assert_half(folder: &Folder, keys: &[&str], note: &str) {
    let keys = [&EXACT[..], keys].concat();
    let out = folder.run_well(&keys).out;
    assert!(out.contains(note), "{keys:?}: {out}");
    agree_elsewhere(folder, &keys, |_| ());
}

const HALF: &str = "half of the model is solved: it is symmetric about the plane z = 5";
const QUARTER: &str =
    "a quarter of the model is solved: it is symmetric about the planes y = 5 and z = 5";

/// A pull at the middle of the end, which is symmetric about two planes.
const PULL: [&str; 2] = [
    "select=[{name=\"tip\",kind=\"nodes\",box={min=[19.9,3.9,3.9],max=[21,6.1,6.1]}},\
     {name=\"core\",kind=\"elements\",box={min=[8,4,4],max=[12,6,6]}}]",
    "loads=[{set=\"tip\",force=[1,0,0]}]",
];

#[test]
fn halves_have_the_histories_and_designs_of_the_whole() {
    let folder = Folder::new();
    let one = format!("manufacturing=[{}]", middle(2));
    assert_half(&folder, &[&one], HALF);
    let springs = "springs=[{set=\"load\",stiffness=[0.1,0.2,0.3]}]";
    assert_half(&folder, &[&one, springs, "optimizer.method=mma", "filter.kind=density"], HALF);
    let cases = "loads=[{set=\"load\",force=[0,-1,0]},{gravity=[0,-9.8,0],case=\"weight\"}]";
    assert_half(&folder, &[&one, cases, "material.mass_density=1e-3"], HALF);

    let two = format!("manufacturing=[{},{}]", middle(1), middle(2));
    assert_half(&folder, &[&[&*two], &PULL[..]].concat(), QUARTER);
    let solid = ["design.solid=[\"core\"]", "filter.kind=density", "projection.sharpness=2"];
    assert_half(&folder, &[&[&*two], &PULL[..], &solid].concat(), QUARTER);
    let size =
        format!("manufacturing=[{},{},{{kind=\"member_size\",minimum=3}}]", middle(1), middle(2));
    let size =
        [&*size, "filter.radius_in_elements=3", "filter.kind=density", "projection.sharpness=2"];
    assert_half(&folder, &[&size[..], &PULL[..]].concat(), QUARTER);

    let three = format!("manufacturing=[{},{},{}]", middle(0), middle(1), middle(2));
    let squeezed = [
        "select=[{name=\"ends\",kind=\"nodes\",box={min=[-1,-1,-1],max=[0.1,99,99]}},\
         {name=\"others\",kind=\"nodes\",box={min=[19.9,-1,-1],max=[21,99,99]}},\
         {name=\"low\",kind=\"faces\",plane={point=[0,0,0],normal=[0,1,0]}},\
         {name=\"high\",kind=\"faces\",plane={point=[0,10,0],normal=[0,1,0]}}]",
        "supports=[{set=\"ends\"},{set=\"others\"}]",
        "loads=[{set=\"low\",pressure=1},{set=\"high\",pressure=1}]",
    ];
    let eighth = "an eighth of the model is solved: it is symmetric about the planes x = 10, y = 5 and z = 5";
    assert_half(&folder, &[&[&*three], &squeezed[..]].concat(), eighth);
}

#[test]
fn planes_that_are_found_halve_crisp_runs_which_resume() {
    let folder = Folder::new();
    let crisp = ["design.style=crisp", "filter.kind=density", "optimizer.max_iterations=6"];
    assert_half(&folder, &crisp, HALF);

    let keys = [&EXACT[..], &crisp, &["output.checkpoint_every=1"]].concat();
    folder.run_well(&keys);
    let alone = folder.history("compliance");
    folder.run_well(&[&keys[..], &["optimizer.max_iterations=3"]].concat());
    let resumed = folder.run(&keys, &["--resume"]);
    assert_eq!((resumed.status, resumed.err.as_str()), (0, ""));
    assert_eq!(folder.history("compliance"), alone);
}

#[test]
fn halves_of_tetrahedra_have_the_histories_of_the_whole() {
    let folder = Folder::new();
    let quarter = kuhn([3, 2, 2], |[x, y, z]| [20.0 * x, 5.0 * y, 5.0 * z], false);
    let mesh = mirrored(&mirrored(&quarter, 1), 2);
    let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
    gmsh::write(&folder.path("bar.msh"), &mesh, format).unwrap();
    let bar = [
        "mesh={file=\"bar.msh\"}",
        "filter.radius_in_elements=1.5",
        "select=[{name=\"end\",kind=\"nodes\",box={min=[-1,-1,-1],max=[0.1,99,99]}},\
         {name=\"tip\",kind=\"faces\",plane={point=[20,0,0],normal=[1,0,0]}}]",
        "supports=[{set=\"end\"}]",
        "loads=[{set=\"tip\",traction=[1,0,0]}]",
    ];
    let two = format!("manufacturing=[{},{}]", middle(1), middle(2));
    let keys = [&EXACT[1..], &bar, &[&*two]].concat();
    let out = folder.run_well(&keys).out;
    assert!(out.contains(QUARTER), "{out}");
    agree_elsewhere(&folder, &keys, |_| ());
}

/// Choices between equal supports are not those of the other side, and no variable may follow the
/// sign of a change by rounding.
#[test]
fn halves_of_printed_cast_and_milled_parts_have_the_histories_of_the_whole() {
    let folder = Folder::new();
    let demands = [
        "kind=\"overhang\",build_direction=[0,1,0]",
        "kind=\"casting\",draw_direction=[0,1,0],draft_degrees=5",
        "kind=\"milling\",tool_directions=[[0,1,0],[0,-1,0]],diameter=2",
        "kind=\"open_voids\"",
    ];
    for (demand, method) in demands.iter().flat_map(|demand| [(demand, "oc"), (demand, "mma")]) {
        let made = format!("manufacturing=[{},{{{demand}}}]", middle(2));
        let keys = [
            &made,
            "filter.kind=density",
            "projection.sharpness=2",
            &format!("optimizer.method={method}"),
            "optimizer.max_iterations=6",
        ];
        assert_half(&folder, &keys, HALF);
    }
}

/// Heat with held temperatures, from which it is counted, and with a film.
#[test]
fn halves_of_heat_have_the_histories_of_the_whole() {
    let folder = Folder::new();
    let two = format!("manufacturing=[{},{}]", middle(1), middle(2));
    let heat = [
        &*two,
        "physics.kind=\"heat\"",
        "material={conductivity=4}",
        "supports=[{set=\"fixed\",temperature=20}]",
        "loads=[{heat_source=1}]",
        "convection=[{set=\"end\",film_coefficient=0.1,ambient=30}]",
        "select=[{name=\"end\",kind=\"faces\",plane={point=[20,0,0],normal=[1,0,0]}}]",
    ];
    assert_half(&folder, &heat, QUARTER);
}

/// Loads of either sign that are symmetric together do not mirror themselves one by one.
#[test]
fn models_that_do_not_mirror_themselves_are_solved_as_a_whole() {
    let folder = Folder::new();
    let one = format!("manufacturing=[{}]", middle(2));
    let notes = |keys: &[&str]| {
        let out = folder.run_well(&[&EXACT[..], &[&one], keys].concat()).out;
        let notes = out.lines().filter(|line| line.contains("solved"));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    let both = |why: &str| vec![format!("note: both sides of the plane z = 5 are solved: {why}")];
    let skew = "loads=[{set=\"load\",force=[0,-1,0.1],case=\"wind\"}]";
    assert_eq!(notes(&[skew]), both("load case `wind` does not mirror itself there"));
    let springs = [
        "springs=[{set=\"half\",stiffness=[0,1,0]}]",
        "select=[{name=\"half\",kind=\"nodes\",box={min=[1,0,0],max=[8,5,2]}}]",
    ];
    assert_eq!(notes(&springs), both("materials, springs or films do not mirror themselves there"));
    let mesh = "mesh={generator=\"cantilever\",elements=250}";
    let planes = "manufacturing=[{kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0,1]}]";
    assert_eq!(
        notes(&[mesh, planes]),
        [
            "note: both sides of the plane z = 2.5 are solved: the mesh does not mirror itself there to \
          a billionth of an element, or has elements on both sides"
        ]
    );
    // A plate mirrors itself or does not.
    let printed = "manufacturing=[{kind=\"overhang\",build_direction=[1,0,0],plate=\"plate\"}]";
    for (high, n_halves) in [(10, 1), (3, 0)] {
        let bounds = format!("box={{min=[0,0,0],max=[0,10,{high}]}}");
        let plate = format!("select=[{{name=\"plate\",kind=\"nodes\",{bounds}}}]");
        let crisp = ["design.style=crisp", "filter.kind=density", printed, &plate];
        assert_eq!(notes(&crisp).len(), n_halves, "{high}");
    }
    // Adjoint states need not be symmetric.
    let stress =
        "constraints=[{response=\"displacement\",set=\"load\",direction=[0,-1,0],at_most=1e9}]";
    assert_eq!(notes(&["optimizer.method=mma", stress]), [""; 0]);
}

#[test]
fn a_check_says_that_a_half_is_solved() {
    let folder = Folder::new();
    let one = format!("manufacturing=[{}]", middle(2));
    let args = ["check", "case.toml", "--set", "mesh.elements=2000", "--set", &one];
    let (status, out, err) = crate::topopt(folder.0.path(), &args);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains(&format!("note: {HALF}")), "{out}");
}

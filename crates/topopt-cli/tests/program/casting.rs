//! Parts that are cast.

use topopt_case::config::Generator;
use topopt_mesh::HexMesh;

use crate::made::{CRISP, are_refused, are_same_elsewhere, follows, is_made, made};
use crate::{Folder, topopt};

/// Keys of a run of a crisp design on 16 x 8 x 8 elements.
const LONG: [&str; 2] = ["mesh.elements=1000", "optimizer.max_iterations=60"];

fn key(demand: &str) -> String {
    format!("manufacturing=[{{kind=\"casting\",draw_direction=[0,0,3],{demand}}}]")
        .replace(",}", "}")
}

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(1000)).unwrap()
}

/// Empty elements that have a solid one farther along z, by each of the signs that `ways` has at
/// their height, as a share of the solid ones.
fn undercut(folder: &Folder, ways: fn(f64) -> &'static [f64]) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let is_column =
        |a: usize, b: usize| (0..2).all(|i| (centers[a][i] - centers[b][i]).abs() < 0.1);
    let is_covered = |e: usize, sign: f64| {
        (0..density.len()).any(|other| {
            let farther = sign * (centers[other][2] - centers[e][2]);
            farther > 0.1 && density[other] > 0.5 && is_column(e, other)
        })
    };
    let empty = (0..density.len()).filter(|&e| density[e] < 0.5);
    let undercut = |&e: &usize| ways(centers[e][2]).iter().all(|&sign| is_covered(e, sign));
    empty.filter(undercut).count() as f64 / density.iter().filter(|x| **x > 0.5).count() as f64
}

/// Columns along z without a solid element, of 128.
fn holes(folder: &Folder) -> usize {
    let density = folder.array("out/design.vtu", "density");
    let mut has_solid = [false; 128];
    for (center, x) in mesh().centers().iter().zip(&density) {
        has_solid[8 * (center[0] as usize) + center[1] as usize] |= *x > 0.5;
    }
    has_solid.iter().filter(|has| !**has).count()
}

/// Runs a cast design, which must keep all its limits as built, and returns its compliance.
fn cast(folder: &Folder, demand: &str) -> f64 {
    folder.run_well(&[&CRISP[..], &LONG, &[key(demand).as_str()]].concat());
    let made = made(folder);
    assert!(made.iter().all(|made| made["met"] == true), "{demand}: {made:?}");
    *folder.history("compliance").last().unwrap()
}

#[test]
fn cast_designs_come_out_of_the_mold() {
    let folder = Folder::new();
    folder.run_well(&[&CRISP[..], &LONG].concat());
    assert!(undercut(&folder, |_| &[1.0]) > 0.05, "{}", undercut(&folder, |_| &[1.0]));
    assert!(holes(&folder) > 20, "{}", holes(&folder));
    let free = *folder.history("compliance").last().unwrap();

    let one: fn(f64) -> &'static [f64] = |_| &[1.0];
    let to_the_middle = |z: f64| -> &'static [f64] { if z > 4.0 { &[1.0] } else { &[-1.0] } };
    for (demand, ways, most) in [
        ("sides=1", one, 1.5),
        ("sides=2", |_| &[1.0, -1.0], 1.5),
        ("parting=[0,0,4]", to_the_middle, 1.5),
        ("through_holes=false", one, 2.5),
        ("parting=[0,0,4],through_holes=false", to_the_middle, 2.5),
    ] {
        let compliance = cast(&folder, demand);
        assert!(undercut(&folder, ways) < 0.002, "{demand}: {}", undercut(&folder, ways));
        assert!(compliance < most * free, "{demand}: {compliance} and {free}");
        assert!(!demand.contains("holes") || holes(&folder) == 0, "{demand}: {}", holes(&folder));
    }
    is_made(&folder, "in holes through along the draw", "void");
}

/// Empty elements below a solid one by so many layers that it reaches beyond their own width at an
/// angle of 20 degrees, as a share of the solid ones.
fn steep(folder: &Folder) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let slope = 20_f64.to_radians().tan();
    let is_covered = |e: usize| {
        (0..density.len()).any(|other| {
            let [x, y, z] = [0, 1, 2].map(|i| centers[other][i] - centers[e][i]);
            density[other] > 0.5 && z > 0.5 && x.hypot(y) < slope * z - 0.75
        })
    };
    let empty = (0..density.len()).filter(|&e| density[e] < 0.5);
    let solid = density.iter().filter(|x| **x > 0.5).count() as f64;
    empty.filter(|&e| is_covered(e)).count() as f64 / solid
}

#[test]
fn walls_have_a_draft() {
    let folder = Folder::new();
    cast(&folder, "sides=1");
    assert!(steep(&folder) > 0.03, "{}", steep(&folder));
    cast(&folder, "draft_degrees=20");
    assert!(steep(&folder) < 0.002, "{}", steep(&folder));
    is_made(&folder, "missing above undercuts at 20 degrees of draft", "volume");
}

#[test]
fn a_cast_design_is_the_same_on_ranks_and_on_a_gpu() {
    let demands = [
        "parting=[0,0,2],draft_degrees=5,through_holes=false",
        "sides=2,draft_degrees=9",
        "thickness=3,draft_degrees=5",
    ];
    for demand in demands {
        // Along an axis about which the part is symmetric, and from the fourth design on, rounding
        // chooses between equal densities.
        let key = key(demand).replace("[0,0,3]", "[0.3,0.2,1]");
        are_same_elsewhere(&[&CRISP[..], &["optimizer.max_iterations=3", key.as_str()]].concat());
    }
}

/// Columns along z with void between solid elements, of 128.
fn doubled(folder: &Folder) -> usize {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let is_column =
        |a: usize, b: usize| (0..2).all(|i| (centers[a][i] - centers[b][i]).abs() < 0.1);
    let is_between = |e: usize| {
        let solid = (0..density.len()).filter(|&other| density[other] > 0.5 && is_column(e, other));
        let above: Vec<bool> = solid.map(|other| centers[other][2] > centers[e][2]).collect();
        above.contains(&true) && above.contains(&false)
    };
    (0..density.len()).filter(|&e| density[e] < 0.5 && is_between(e)).count()
}

#[test]
fn stamped_designs_are_sheets() {
    let folder = Folder::new();
    let demand = key("thickness=3");
    let keys = [&CRISP[..], &["mesh.elements=1000", "design.volume_fraction=0.45", &demand]];
    folder.run_well(&keys.concat());
    assert_eq!(doubled(&folder), 0);
    let measures: Vec<_> = made(&folder).iter().map(|made| made["measure"].clone()).collect();
    assert_eq!(
        measures,
        [
            "missing between layers of the sheet",
            "deeper than 3.3 in the sheet",
            "where the sheet is less than 2.7 thick"
        ]
    );
    let made = made(&folder);
    assert!(made.iter().all(|made| made["met"] == true), "{made:?}");
}

/// A plane across the draw may be one of symmetry where both sides of the mold are alike.
#[test]
fn molds_go_with_planes_across_the_draw() {
    let plane = ",{kind=\"symmetry\",point=[0,0,2.5],normal=[0,0,1]}]";
    let both = |demand: &str| key(demand).replace("}]", &format!("}}{plane}"));
    let folder = Folder::new();
    for demand in ["parting=[0,0,2.5]", "sides=2"] {
        let short = ["optimizer.max_iterations=2", &both(demand)];
        folder.run_well(&[&CRISP[..], &short].concat());
    }
    let message = "`symmetry` and `casting` do not go together";
    are_refused(&[(&both("parting=[0,0,2]"), message), (&both("sides=1"), message)]);
}

/// Void elements below solid ones take the material of the surface, which fills them.
#[test]
fn a_part_that_is_one_undercut_is_said_to_be() {
    let folder = Folder::new();
    let half = |name: &str, z: [f64; 2]| {
        let [low, high] = z.map(|z| format!("[0,0,{z}]").replace("[0,0", "[3,0"));
        let high = high.replace("[3,0", "[16,8");
        format!("{{name=\"{name}\",kind=\"elements\",box={{min={low},max={high}}}}}")
    };
    let select = format!("select=[{},{}]", half("lid", [7.0, 8.0]), half("below", [0.0, 6.9]));
    let passive = ["design.solid=[\"lid\"]", "design.void=[\"below\"]", select.as_str()];
    let short = ["mesh.elements=1000", "optimizer.max_iterations=3"];
    folder.run(&[&CRISP[..], &short, &passive, &[key("").as_str()]].concat(), &[]);
    for args in [&["export", "out", "-o", "part.stl"][..], &["verify", "out"]] {
        let (status, _, err) = topopt(&folder.path(""), args);
        let said = err.contains("is undercut along the way out of the mold");
        assert!(status == 1 && said && !err.contains("fallen apart"), "{status}: {err}");
    }
}

#[test]
fn molds_that_make_no_sense_are_refused() {
    let beside = |other: &str| key("thickness=3").replace("}]", &format!("}},{{{other}}}]"));
    are_refused(&[
        (&key("").replace('3', "0"), "the direction of draw has no length"),
        (&key("sides=3"), "a mold opens to one or two sides"),
        (&key("sides=1,parting=[0,0,2]"), "has no plane in which it parts"),
        (&key("parting=[0,0,9]"), "has the whole part on one side"),
        (&key("sides=2,through_holes=false"), "needs to know where the two sides"),
        (&key("draft_degrees=45"), "out of range"),
        (&key("sides=2,thickness=3"), "drawn over a die from one side"),
        (&key("thickness=2"), "a sheet's width is less than three elements"),
        (&key("thickness=20"), "as thick as the part is high along the draw"),
        (&beside("kind=\"member_size\",maximum=3"), "ask for the widths of the same members"),
        (&beside("kind=\"open_voids\""), "a sheet encloses no void"),
    ]);
    follows(&key(""));

    // Two layers of elements.
    let closed = key("through_holes=false");
    let few = Folder::new().run(&["mesh.elements=16", CRISP[1], &closed], &[]);
    assert!(few.err.contains("nothing remains to be designed"), "{}", few.err);
}

//! Designs that mirror themselves across planes.

use topopt_case::config::Generator;
use topopt_mesh::{HexMesh, Plane};

use crate::Folder;
use crate::gpu_ranks::agree_elsewhere;

/// Keys of a load that is symmetric about no plane, with solves that are as good as exact.
const SKEW: [&str; 4] = [
    "loads=[{set=\"load\",force=[0.5,-1,0.7]}]",
    "solver.tolerance=1e-11",
    "solver.early_tolerance=1e-11",
    "output.compression=none",
];

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(250)).unwrap()
}

/// Plane through the middle of the mesh across `axis`.
fn plane(axis: usize) -> Plane {
    let bounds = mesh().bounding_box();
    Plane {
        point: std::array::from_fn(|i| (bounds.min[i] + bounds.max[i]) / 2.0),
        normal: std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 }),
    }
}

/// Key with planes through the middle across `axes`; a normal of any length will do.
fn planes(axes: &[usize]) -> String {
    let entry = |&axis: &usize| {
        let Plane { point, normal } = plane(axis);
        let normal = normal.map(|x| -3.0 * x);
        format!("{{kind=\"symmetry\",point={point:?},normal={normal:?}}}")
    };
    format!("manufacturing=[{}]", axes.iter().map(entry).collect::<Vec<_>>().join(","))
}

/// Largest difference of densities in out/design.vtu across the plane in the middle of `axis`.
fn asymmetry(folder: &Folder, axis: usize) -> f64 {
    let density = folder.array("out/design.vtu", "density");
    let across = plane(axis).paired(&mesh().centers(), 1e-6).unwrap();
    let pairs = density.iter().zip(across);
    pairs.map(|(x, image)| (x - density[image as usize]).abs()).fold(0.0, f64::max)
}

#[test]
fn designs_mirror_themselves_with_every_filter() {
    let filters: [&[&str]; 4] = [
        &["filter.kind=sensitivity"],
        &["filter.kind=none", "filter.radius_in_elements=1.5"],
        &["filter.kind=density"],
        &["filter.kind=density", "projection.sharpness=2", "optimizer.method=mma"],
    ];
    for filter in filters {
        let folder = Folder::new();
        let free = [&SKEW[..], filter].concat();
        folder.run_well(&free);
        assert!(asymmetry(&folder, 1) > 0.01 && asymmetry(&folder, 2) > 0.01, "{filter:?}");

        for axes in [&[1][..], &[1, 2]] {
            folder.run_well(&[&free[..], &[planes(axes).as_str()]].concat());
            for &axis in axes {
                let found = asymmetry(&folder, axis);
                // Filtered densities are sums in another order on the other side.
                assert!(found < 1e-12, "{filter:?}, {axes:?}, {axis}: {found:e}");
            }
            let volume = *folder.history("volume_fraction").last().unwrap();
            // MMA is on its way to the limit, from below.
            assert!((0.28..0.3001).contains(&volume), "{filter:?}: {volume}");
        }
    }
}

#[test]
fn a_symmetric_design_is_the_same_on_ranks_and_on_a_gpu_and_resumes() {
    let folder = Folder::new();
    let planes = planes(&[1, 2]);
    let keys = [&SKEW[..], &[planes.as_str(), "filter.kind=density"]].concat();
    let alone = agree_elsewhere(&folder, &keys, |place| {
        assert!(asymmetry(&folder, 1) < 1e-12 && asymmetry(&folder, 2) < 1e-12, "{place:?}");
    });

    folder.run_well(
        &[&keys[..], &["optimizer.max_iterations=2", "output.checkpoint_every=1"]].concat(),
    );
    let resumed = folder.run(&[&keys[..], &["output.checkpoint_every=1"]].concat(), &["--resume"]);
    assert_eq!((resumed.status, resumed.err.as_str()), (0, ""));
    assert_eq!(folder.history("compliance"), alone);
}

#[test]
fn planes_that_mirror_nothing_are_refused() {
    let folder = Folder::new();
    let refused = |key: &str| folder.run(&[key], &[]).err;
    let aside = "manufacturing=[{kind=\"symmetry\",point=[0,0,0],normal=[0,1,0]}]";
    let flat = "manufacturing=[{kind=\"symmetry\",point=[0,0,0],normal=[0,0,0]}]";
    insta::assert_snapshot!(refused(aside), @r#"
     x a plane of symmetry has the whole part on one side
      ,-[--set:1:39]
    1 | manufacturing=[{kind="symmetry",point=[0,0,0],normal=[0,1,0]}]
      :                                       ^^^|^^^
      :                                          `-- misses the part
      `----
     help: move the plane by `point` and `normal` to the middle of the part
    "#);
    insta::assert_snapshot!(refused(flat), @r#"
     x the normal of a plane of symmetry has no direction
      ,-[--set:1:54]
    1 | manufacturing=[{kind="symmetry",point=[0,0,0],normal=[0,0,0]}]
      :                                                      ^^^|^^^
      :                                                         `-- of length zero
      `----
     help: give the direction across the plane, such as [0, 1, 0]
    "#);

    let half = "select=[{name=\"half\",kind=\"elements\",box={min=[0,0,0],max=[99,3,99]}}]";
    let ended = folder.run(&[half, "design.solid=[\"half\"]", &planes(&[1])], &[]);
    assert!(
        ended.status == 1 && ended.err.contains("nothing remains to be designed"),
        "{}",
        ended.err
    );
}

/// Keys of a crisp design with loads and supports that are symmetric in part of the ways in which
/// the bar itself is.
const CRISP: [&str; 3] = ["design.style=crisp", "filter.kind=density", "output.compression=none"];

fn notes(folder: &Folder) -> Vec<String> {
    let summary = folder.summary();
    let notes = summary["notes"].as_array().unwrap().iter();
    let of_planes = |note: &&str| note.starts_with("the problem is symmetric");
    notes.filter_map(|note| note.as_str()).filter(of_planes).map(str::to_owned).collect()
}

/// Loads along the lower edge keep one plane of a bar that is clamped at an end, a pull at its
/// center two, and the diagonals besides.
#[test]
fn crisp_designs_keep_the_planes_of_their_problem() {
    let folder = Folder::new();
    folder.run_well(&CRISP);
    let expected = "the problem is symmetric about the plane through (5, 2.5, 2.5) across (0, 0, 1), and so is \
                    the design; `design.keep_symmetry = false` leaves it free";
    assert_eq!(notes(&folder), [expected]);
    assert!(asymmetry(&folder, 2) < 1e-12 && asymmetry(&folder, 1) > 0.01);

    let pull = "loads=[{set=\"load\",force=[1,0,0]},{set=\"top\",force=[1,0,0]}]";
    let top = "select=[{name=\"top\",kind=\"nodes\",box={min=[9.9,4.9,-1],max=[11,6,6]}}]";
    folder.run_well(&[&CRISP[..], &[pull, top]].concat());
    assert_eq!(notes(&folder).len(), 2);
    assert!(asymmetry(&folder, 2) < 1e-12 && asymmetry(&folder, 1) < 1e-12);

    folder.run_well(&[&CRISP[..], &["design.keep_symmetry=false"]].concat());
    assert!(notes(&folder).is_empty());
}

#[test]
fn planes_are_lost_by_loads_supports_materials_and_solid_elements() {
    let folder = Folder::new();
    let half = "{name=\"half\",kind=\"elements\",box={min=[2,0,0],max=[8,5,2]}}";
    let select = format!("select=[{half}]");
    let asked = [
        ["loads=[{set=\"load\",force=[0,-1,0.1]}]", "title=x"],
        ["springs=[{set=\"load\",stiffness=[0,1,0]}]", "loads=[{set=\"load\",force=[0,0,1]}]"],
        [&select, "materials=[{set=\"half\",youngs_modulus=2}]"],
        [&select, "design.solid=[\"half\"]"],
    ];
    let found = asked.map(|keys| {
        folder.run_well(&[&CRISP[..], &keys].concat());
        notes(&folder).len()
    });
    assert_eq!(found, [0, 1, 0, 0]);
}

/// A bar that is printed along y, or open at its surface besides a set: a set on both sides of the
/// plane keeps it, one on a single side does not.
#[test]
fn planes_are_kept_where_the_sets_of_plates_and_openings_mirror_themselves() {
    let folder = Folder::new();
    let printed = "kind=\"overhang\",build_direction=[0,1,0],plate=\"s\"";
    let open = "kind=\"open_voids\",closed=\"s\"";
    for demand in [printed, open] {
        let demand = format!("manufacturing=[{{{demand}}}]");
        for (width, n_planes) in [("0,5", 1), ("1,4", 1), ("0,3", 0)] {
            let [low, high] = width.split_once(',').map(<[&str; 2]>::from).unwrap();
            let bounds = format!("box={{min=[0,0,{low}],max=[10,0,{high}]}}");
            let select = format!("select=[{{name=\"s\",kind=\"nodes\",{bounds}}}]");
            let keys = [demand.as_str(), &select, "optimizer.max_iterations=4"];
            folder.run_well(&[&CRISP[..], &keys].concat());
            assert_eq!(notes(&folder).len(), n_planes, "{demand}: {width}");
            assert!(n_planes == 0 || asymmetry(&folder, 2) < 1e-12);
        }
    }
}

#[test]
fn symmetry_is_not_looked_for_where_more_than_loads_would_have_it() {
    let folder = Folder::new();
    let keys =
        ["design.keep_symmetry=true", "loads=[{gravity=[0,-9.8,0]}]", "material.mass_density=1"];
    insta::assert_snapshot!(folder.run(&keys, &[]).err, @r#"
     x planes of symmetry are found only for the least compliance of forces under one limit of
     | material
      ,-[--set:1:22]
    1 | design.keep_symmetry=true
      :                      ^^|^
      :                        `-- another problem
      `----
     help: give the planes by [[manufacturing]] with `kind = "symmetry"`
    "#);
}

//! Designs with equal densities along lines, in planes, about axes and in cells.

use topopt_case::config::Generator;
use topopt_mesh::HexMesh;

use crate::made::are_same_elsewhere;
use crate::{Folder, difference, topopt};

/// Keys of a load without symmetry, with solves that are as good as exact.
const SKEW: [&str; 6] = [
    "loads=[{set=\"load\",force=[0.5,-1,0.7]}]",
    "solver.tolerance=1e-11",
    "solver.early_tolerance=1e-11",
    "output.compression=none",
    "filter.kind=density",
    "design.keep_loaded=free",
];

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(250)).unwrap()
}

/// Key with `demands`.
fn key(demands: &[&str]) -> String {
    format!(
        "manufacturing=[{}]",
        demands.iter().map(|d| format!("{{{d}}}")).collect::<Vec<_>>().join(",")
    )
}

/// Largest difference of the densities in out/design.vtu at places that `image` takes to each
/// other, within the mesh; and the largest difference of all.
fn differences(folder: &Folder, image: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 2] {
    let density = folder.array("out/design.vtu", "density");
    let centers = mesh().centers();
    let mut most: f64 = 0.0;
    for (center, x) in centers.iter().zip(&density) {
        let image = image(*center);
        let other = centers.iter().position(|c| (0..3).all(|i| (c[i] - image[i]).abs() < 1e-6));
        most = most.max(other.map_or(0.0, |other| (x - density[other]).abs()));
    }
    let range = density.iter().fold([1.0, 0.0], |[a, b], &x| [f64::min(a, x), f64::max(b, x)]);
    [most, range[1] - range[0]]
}

const EXTRUSION: &str = "kind=\"extrusion\",direction=[0,0,2]";
const UNIFORM: &str = "kind=\"uniform\",normal=[0,3,0]";
const CYCLIC: &str = "kind=\"cyclic\",point=[0,2.5,2.5],axis=[2,0,0],sectors=4";
const MIRRORED: &str = "kind=\"cyclic\",point=[0,2.5,2.5],axis=[2,0,0],sectors=4,mirrored=[0,0,1]";
const PATTERN: &str = "kind=\"pattern\",pitch=[2,0,0]";
/// The first 4 of 10, turned about y at the other end.
const COPY: &str = "kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[10,0,5],to_x=[-1,0,0]";
const SYMMETRY: &str = "kind=\"symmetry\",point=[0,2.5,0],normal=[0,1,0]";

fn turned_at_the_ends([x, y, z]: [f64; 3]) -> [f64; 3] {
    if (4.0..6.0).contains(&x) { [x, y, z] } else { [10.0 - x, y, 5.0 - z] }
}

/// A demand with a map of places that it lets have equal densities.
type Demand = (&'static [&'static str], fn([f64; 3]) -> [f64; 3]);

const DEMANDS: [Demand; 9] = [
    (&[EXTRUSION], |[x, y, z]| [x, y, z + 1.0]),
    (&[UNIFORM], |[x, y, z]| [x + 1.0, y, z]),
    (&[CYCLIC], |[x, y, z]| [x, 5.0 - z, y]),
    (&[MIRRORED], |[x, y, z]| [x, 5.0 - y, z]),
    (&[PATTERN], |[x, y, z]| [x + 2.0, y, z]),
    (&[COPY], turned_at_the_ends),
    (&[COPY, SYMMETRY], |[x, y, z]| turned_at_the_ends([x, 5.0 - y, z])),
    (&[EXTRUSION, SYMMETRY], |[x, y, z]| [x, 5.0 - y, z + 1.0]),
    (&[PATTERN, EXTRUSION, SYMMETRY], |[x, y, z]| [x + 2.0, 5.0 - y, z + 1.0]),
];

#[test]
fn densities_are_equal_where_they_are_to_be() {
    for (demands, image) in DEMANDS {
        let folder = Folder::new();
        folder.run_well(&[&SKEW[..], &[key(demands).as_str()]].concat());
        let [most, range] = differences(&folder, image);
        assert!(most < 1e-12 && range > 0.1, "{demands:?}: {most:e} of {range}");
        let volume = *folder.history("volume_fraction").last().unwrap();
        assert!((0.29..0.3001).contains(&volume), "{demands:?}: {volume}");
    }
}

#[test]
fn designs_of_equal_densities_are_the_same_on_ranks_and_on_a_gpu() {
    for demands in [&[CYCLIC][..], &[PATTERN], &[UNIFORM], &[PATTERN, EXTRUSION, SYMMETRY]] {
        let short = ["optimizer.max_iterations=3", &key(demands)];
        are_same_elsewhere(&[&SKEW[..1], &SKEW[3..], &short].concat());
    }
}

/// Planes are looked for where no demand makes densities equal. A style that asks for them says
/// nothing, and a written case repeats what it asked for.
#[test]
fn asking_for_planes_beside_other_demands_is_noted() {
    let folder = Folder::new();
    let short = [&SKEW[..], &["optimizer.max_iterations=1"]].concat();
    let notes = |keys: &[&str]| {
        folder.run_well(&[&short[..], keys].concat());
        folder.summary()["notes"].to_string()
    };
    let asked = "design.keep_symmetry=true";
    for (demand, kind) in [
        (EXTRUSION, "extrusion"),
        (UNIFORM, "uniform"),
        (CYCLIC, "cyclic"),
        (PATTERN, "pattern"),
        (SYMMETRY, "symmetry"),
    ] {
        let note = format!("has no effect beside `kind = \\\"{kind}\\\"`");
        let found = notes(&[&key(&[demand]), asked]);
        assert!(found.contains(&note), "{found}");
    }
    let (_, out, err) = topopt(&folder.path(""), &["check", "out/case.toml"]);
    assert!(!out.contains("has no effect") && err.is_empty(), "{out}{err}");
    for quiet in ["design.style=crisp", "design.keep_symmetry=false"] {
        let found = notes(&[&key(&[CYCLIC]), quiet]);
        assert!(!found.contains("has no effect"), "{quiet}: {found}");
    }
}

#[test]
fn elements_that_repeat_nothing_have_densities_by_weights() {
    let thirds = CYCLIC.replace("sectors=4", "sectors=3");
    let folder = Folder::new();
    let keys = [&SKEW[..], &["optimizer.max_iterations=12"]].concat();
    folder.run_well(&[&keys[..], &[key(&[&thirds]).as_str()]].concat());
    let notes = folder.summary()["notes"].to_string();
    assert!(notes.contains("the elements do not repeat each other"), "{notes}");
    let compliance = folder.history("compliance");
    assert!(compliance[11] < 0.6 * compliance[0], "{compliance:?}");

    let alone = folder.array("out/design.vtu", "density");
    let ranks = folder.run(&[&keys[..], &[key(&[&thirds]).as_str()]].concat(), &["--ranks", "3"]);
    assert_eq!((ranks.status, ranks.err.as_str()), (0, ""));
    assert!(difference(&folder.history("compliance"), &compliance) < 1e-9);
    assert!(difference(&folder.array("out/design.vtu", "density"), &alone) < 1e-6);
}

#[test]
fn demands_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let refused = |demands: &[&str]| {
        let finished = folder.run(&[key(demands).as_str()], &[]);
        assert_eq!(finished.status, 1, "{demands:?}");
        finished.err
    };
    for (demand, message) in [
        ("kind=\"extrusion\",direction=[0,0,0]", "the direction of extrusion has no length"),
        ("kind=\"extrusion\"", "`kind = \"extrusion\"` needs `direction`"),
        (
            "kind=\"extrusion\",direction=[0,0,1],normal=[0,0,1]",
            "`normal` does not belong to `kind = \"extrusion\"`",
        ),
        ("kind=\"uniform\",normal=[0,0,0]", "the normal of planes of constant density has no"),
        ("kind=\"pattern\",pitch=[0,0,0.2]", "cells of this pattern are smaller than the"),
        ("kind=\"pattern\",pitch=[99,0,0]", "this pattern repeats nothing"),
        ("kind=\"copy\",origin=[0,0,0],size=[4,5,0],to=[6,0,0]", "that is copied has no volume"),
        ("kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[2,0,0]", "that another box of a copy has"),
        (
            "kind=\"copy\",origin=[0,0,0],size=[3,5,5],to=[3,0,0]},\
             {kind=\"copy\",origin=[3,0,0],size=[3,5,5],to=[7,0,0]",
            "that another box of a copy has",
        ),
        ("kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[60,0,0]", "these copies join no two"),
        (
            "kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[6,0,0],to_x=[0,2,0]",
            "an axis of the frame has no direction of its own",
        ),
        ("kind=\"cyclic\",point=[0,0,0],axis=[0,0,0],sectors=3", "the axis of sectors has no"),
        ("kind=\"cyclic\",point=[0,0,0],axis=[0,0,1],sectors=1", "out of range"),
        (
            "kind=\"cyclic\",point=[0,0,0],axis=[1,0,0],sectors=3,mirrored=[2,0,0]",
            "sectors mirror themselves is not across the axis",
        ),
        (
            "kind=\"cyclic\",point=[0,50,0],axis=[1,0,0],sectors=3",
            "these sectors join no two elements",
        ),
    ] {
        let err = refused(&[demand]).replace("\n     | ", " ");
        assert!(err.contains(message), "{err}");
    }

    let along = "kind=\"symmetry\",point=[0,2.5,2.5],normal=[0,1,1]";
    for pair in [
        [CYCLIC, SYMMETRY],
        [CYCLIC, EXTRUSION],
        [PATTERN, "kind=\"symmetry\",point=[5,0,0],normal=[1,0,0]"],
        [EXTRUSION, along],
    ] {
        let err = refused(&pair);
        assert!(err.contains("do not go together"), "{pair:?}: {err}");
    }
    let parallel = "kind=\"symmetry\",point=[0,1.5,0],normal=[0,1,0]";
    assert!(refused(&[SYMMETRY, parallel]).contains("mirror each other again and again"));
    insta::assert_snapshot!(refused(&[CYCLIC, SYMMETRY]), @r#"
     x `cyclic` and `symmetry` do not go together in these directions
      ,-[--set:1:79]
    1 | manufacturing=[{kind="cyclic",point=[0,2.5,2.5],axis=[2,0,0],sectors=4},{kind="symmetry",point=[0,2.5,0],normal=[0,1,0]}]
      :                                                                               ^^^^^|^^^^
      :                                                                                    `-- changes what the other demands
      `----
     help: let one direction lie along or across the other, or remove one; mirrored sectors are `kind
           = "cyclic"` with `mirrored`
    "#);
}

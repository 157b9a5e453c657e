//! Parts without enclosed voids.

use topopt_case::config::Generator;

use crate::Folder;
use crate::made::{are_refused, are_same_elsewhere, follows, is_made};

/// A bar of 16 x 8 x 8 elements between solid plates that is twisted: a closed tube is stiffest.
/// With a smaller filter openings are one element wide, which the surface closes.
const TWISTED: [&str; 10] = [
    "filter.radius_in_elements=2",
    "mesh.elements=1000",
    "select=[{name=\"left\",kind=\"elements\",box={min=[0,0,0],max=[2,8,8]}},\
     {name=\"right\",kind=\"elements\",box={min=[14,0,0],max=[16,8,8]}},\
     {name=\"end\",kind=\"nodes\",box={min=[16,0,0],max=[16,8,8]}}]",
    "loads=[{set=\"end\",moment=[1,0,0]}]",
    "design.solid=[\"left\",\"right\"]",
    "design.style=crisp",
    "design.volume_fraction=0.45",
    "filter.kind=density",
    "optimizer.max_iterations=80",
    "output.compression=none",
];

const OPEN: &str = "manufacturing=[{kind=\"open_voids\"}]";

/// Void elements, and those of them that no way through void ones joins with the outside of the
/// 16 x 8 x 8 elements.
fn voids(folder: &Folder) -> [usize; 2] {
    let density = folder.array("out/design.vtu", "density");
    let centers = Generator::Cantilever.generate(None, Some(1000)).unwrap().centers();
    let mut is_void = vec![false; 16 * 8 * 8];
    let at = |[x, y, z]: [usize; 3]| 64 * x + 8 * y + z;
    for (center, x) in centers.iter().zip(&density) {
        is_void[at(center.map(|x| x as usize))] = *x < 0.5;
    }
    let n_void = is_void.iter().filter(|is_void| **is_void).count();

    let places = (0..1024).map(|e| [e / 64, e / 8 % 8, e % 8]);
    let is_outer =
        |[x, y, z]: &[usize; 3]| [*x, *y, *z].contains(&0) || *x == 15 || *y == 7 || *z == 7;
    let mut open: Vec<[usize; 3]> = places.filter(is_outer).collect();
    while let Some(place) = open.pop() {
        if !std::mem::take(&mut is_void[at(place)]) {
            continue;
        }
        for axis in 0..3 {
            for next in [place[axis].wrapping_sub(1), place[axis] + 1] {
                let mut other = place;
                other[axis] = next;
                open.extend((other[0] < 16 && other[1] < 8 && other[2] < 8).then_some(other));
            }
        }
    }
    [n_void, is_void.iter().filter(|is_void| **is_void).count()]
}

#[test]
fn a_tube_is_opened() {
    let folder = Folder::new();
    folder.run_well(&TWISTED);
    let [void, enclosed] = voids(&folder);
    assert!(enclosed > void / 2, "{enclosed} of {void} are enclosed");
    let free = *folder.history("compliance").last().unwrap();

    folder.run_well(&[&TWISTED[..], &[OPEN]].concat());
    let [void, enclosed] = voids(&folder);
    assert!(void > 350 && enclosed == 0, "{enclosed} of {void} are enclosed");
    let compliance = *folder.history("compliance").last().unwrap();
    assert!(compliance < 1.2 * free, "{compliance} and {free}");

    is_made(&folder, "enclosed", "void");
}

#[test]
fn an_open_design_is_the_same_on_ranks_and_on_a_gpu() {
    let short = ["optimizer.max_iterations=3", OPEN];
    are_same_elsewhere(&[&TWISTED[..8], &TWISTED[9..], &short].concat());
}

#[test]
fn open_voids_that_make_no_sense_are_refused() {
    let with = |other: &str| OPEN.replace("}]", &format!("}},{{{other}}}]"));
    are_refused(&[
        (&with("kind=\"open_voids\""), "open voids are asked for twice"),
        (&with("kind=\"pattern\",pitch=[2,0,0]"), "`open_voids` and `pattern` do not go together"),
        (&OPEN.replace("}]", ",closed=\"none\"}]"), "`none`"),
        (&OPEN.replace("}]", ",closed=\"load\"}]"), "`load` closes nothing: no face of the part"),
    ]);
    follows(OPEN);
}

//! Profiles along curves, and with a twist.

use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};

use crate::Folder;
use crate::heat::part;
use crate::made::{are_refused, are_same_elsewhere, is_made};

/// Elements along and across a profile.
const N: [usize; 3] = [12, 4, 4];

const CASE: &str = r#"
[mesh]
file = "part.msh"
[[supports]]
set = "low"
[[loads]]
set = "high"
total_force = [1, 2, -1]
[design]
style = "smooth"
volume_fraction = 0.4
keep_loaded = "free"
[filter]
kind = "density"
radius_in_elements = 1.5
[solver]
device = "cpu"
tolerance = 1e-11
early_tolerance = 1e-11
[output]
compression = "none"
[optimizer]
max_iterations = 8
"#;

/// Runs a bar of 12 x 4 x 4 elements, whose places `place` maps, with a demand.
fn bar(place: fn([f64; 3]) -> [f64; 3], demand: &str) -> Folder {
    let of_bar = |[x, y, z]: [f64; 3]| place([12.0 * x, 4.0 * y - 2.0, 4.0 * z - 2.0]);
    let folder = part(N, of_bar, "");
    folder.write("case.toml", CASE);
    folder.run_well(&[key(demand).as_str()]);
    folder
}

fn key(demand: &str) -> String {
    format!("manufacturing=[{{kind=\"extrusion\",{demand}}}]")
}

/// Largest difference of densities at one place of the sections, and of all.
fn differences(folder: &Folder) -> [f64; 2] {
    let density = folder.array("out/design.vtu", "density");
    let (places, hexes) = block(N, |at| at.map(|i| i as f64));
    let reference = HexMesh::new(places, hexes, Sets::default()).unwrap();
    let mut ranges = vec![[1.0, 0.0]; 17];
    for (center, &x) in reference.centers().iter().zip(&density) {
        let place = 4 * center[1] as usize + center[2] as usize;
        for range in [place, 16] {
            ranges[range] = [f64::min(ranges[range][0], x), f64::max(ranges[range][1], x)];
        }
    }
    let width = |[low, high]: &[f64; 2]| high - low;
    [ranges[..16].iter().map(width).fold(0.0, f64::max), width(&ranges[16])]
}

/// A turn by 5 degrees for each element.
fn twisted([x, y, z]: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = (5.0 * x).to_radians().sin_cos();
    [x + 3.0, cos * y - sin * z, sin * y + cos * z]
}

/// An arc of radius 15.
fn bent([x, y, z]: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = (x / 15.0).sin_cos();
    [(15.0 - y) * sin, 15.0 - (15.0 - y) * cos, z]
}

const TWISTED: &str = "direction=[2,0,0],point=[0,0,0],twist_degrees=60,twist_length=12";

fn path(far: f64) -> String {
    let point = |k: i32| {
        let [x, y, z] = bent([2.0 * f64::from(k), far, 0.0]);
        format!("[{x},{y},{z}]")
    };
    format!("path=[{}]", (0..=6).map(point).collect::<Vec<_>>().join(","))
}

#[test]
fn sections_are_equal_along_a_twist_and_a_curve() {
    let [most, range] = differences(&bar(twisted, TWISTED));
    assert!(most < 1e-9 && range > 0.2, "{most:e} of {range}");
    // Sections of a mesh that does not turn are not those of one that does.
    let [most, _] = differences(&bar(twisted, "direction=[1,0,0]"));
    assert!(most > 0.1, "{most}");

    let [most, range] = differences(&bar(bent, &path(0.0)));
    assert!(most < 0.02 && range > 0.2, "{most} of {range}");
    let [most, _] = differences(&bar(bent, "direction=[1,0,0]"));
    assert!(most > 0.1, "{most}");
}

#[test]
fn a_path_is_kept_on_a_mesh_that_does_not_follow_it() {
    let folder = Folder::new();
    let demand = key("path=[[0,4,4],[8,4.3,4],[16,6,4]]");
    let crisp = ["design.style=crisp", "filter.kind=density", "mesh.elements=1000"];
    let long = ["optimizer.max_iterations=60", "filter.radius_in_elements=2.5", &demand];
    folder.run_well(&[crisp, long].concat());
    is_made(&folder, "unequal where it is to be equal", "volume");
}

#[test]
fn a_curved_profile_is_the_same_on_ranks_and_on_a_gpu() {
    let demand = key("path=[[0,2,2],[5,3,2],[10,5,3]],twist_degrees=90,twist_length=20");
    let keys = ["filter.kind=density", "output.compression=none", &demand];
    are_same_elsewhere(&keys);
}

#[test]
fn curves_and_twists_that_make_no_sense_are_refused() {
    let narrow = "path=[[0,0,0],[5,4,0],[10,0,0]]";
    are_refused(&[
        (&key("direction=[1,0,0],path=[[0,0,0],[1,0,0]]"), "needs `direction` or `path`"),
        (&key("path=[[0,0,0]]"), "has two to 200 points"),
        (&key("path=[[0,0,0],[0,0,0]]"), "none twice in a row"),
        (&key("direction=[1,0,0],twist_degrees=9"), "needs an axis"),
        (&key("direction=[1,0,0],point=[0,0,0]"), "are without effect"),
        (&key("path=[[0,0,0],[9,0,0]],point=[0,0,0],twist_degrees=9"), "about the path itself"),
        (&key(narrow), "sections of this path that cross"),
        (&key("path=[[0,0,0],[9,0,0],[9,9,0],[0,0,0]]"), "ends where it begins"),
        (&key("path=[[0,0,0],[9,0,0],[4,0,0]]"), "goes back over itself at (9, 0, 0)"),
        (&key("path=[[0,0,0],[9,0,0],[0,1,0],[9,1,0]]"), "goes back over itself at (9, 0, 0)"),
    ]);
}

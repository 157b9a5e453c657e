//! Meshes made of kept parts and keep-outs.

use std::f64::consts::PI;
use std::fs;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_io::stl;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::triangles::Triangles;
use topopt_testing::bodies::{Body, circle, prism, tube};

use crate::gmsh::has_gmsh;
use crate::messages::{assert_snapshot, message};
use crate::{Finished, Folder, topopt};

/// Two bosses with a bore, bolts through them, and a tool that comes between.
const CASE: &str = "[mesh]\nmethod = \"hexahedra\"\nelement_size = 1.5\n\n[mesh.design_space]\n\
    kept = [\"left.stl\", \"right.stl\"]\nwithin = \"hull\"\n\n\
    [[mesh.design_space.keep_out]]\nfile = \"left_bolt.stl\"\n\n\
    [[mesh.design_space.keep_out]]\nfile = \"right_bolt.stl\"\n\n\
    [[mesh.design_space.keep_out]]\nfile = \"tool.stl\"\nclearance = 2\n\n\
    [[supports]]\nset = \"left\"\n\n[[loads]]\nset = \"right\"\ntotal_force = [0, 0, -100]\n\n\
    [design]\nvolume_fraction = 0.97\n\n[filter]\nradius_in_elements = 1.5\n\n\
    [optimizer]\nmax_iterations = 3\nchange_tolerance = 0\ncompliance_tolerance = 0\n\n\
    [solver]\ndevice = \"cpu\"\n";

const TOOL: [[f64; 2]; 2] = [[30.0, 0.0], [3.0, 2.0]];

fn write(folder: &Folder, name: &str, (vertices, triangles): &Body) {
    stl::write(&folder.path(name), vertices, triangles).unwrap();
}

fn tool() -> Body {
    prism(&circle(TOOL[0], TOOL[1][0], 48), [-20.0, 30.0])
}

/// A folder with [`CASE`] and its bodies.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, x) in [("left", 0.0), ("right", 60.0)] {
        let boss = tube([x, 0.0], [4.0, 8.0], [0.0, 10.0], 48);
        write(&folder, &format!("{name}.stl"), &boss);
        let bolt = prism(&circle([x, 0.0], 4.0, 48), [-20.0, 30.0]);
        write(&folder, &format!("{name}_bolt.stl"), &bolt);
    }
    write(&folder, "tool.stl", &tool());
    folder.write("case.toml", CASE);
    folder
}

fn case(folder: &Folder, set: &[&str]) -> Case {
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    let config = Config::load(&folder.path("case.toml"), &set).unwrap();
    Case::build(&config).unwrap_or_else(|error| panic!("{error:?}"))
}

fn volume(mesh: &HexMesh, elements: impl Iterator<Item = usize>) -> f64 {
    elements.map(|element| mesh.volume(element)).sum()
}

/// Volume, sets and clearance of the mesh in a box and a hull, by hexahedra and tetrahedra.
#[test]
fn the_mesh_fills_what_is_left() {
    let folder = folder();
    let circle = |radius: f64| PI * radius * radius;
    let hull = 10.0 * (960.0 + circle(8.0) - 2.0 * circle(4.0) - circle(5.0));
    let boxed = 16.0 * (82.0 * 22.0 - 2.0 * circle(4.0) - circle(5.0));
    let in_box = ["mesh.design_space.within=box", "mesh.design_space.margin=3"];
    let by_hexahedra = [&in_box[..], &["mesh.element_size=2"]].concat();
    let by_tetrahedra =
        [&in_box[..], &["mesh.element_size=2.5", "mesh.method=tetrahedra"]].concat();
    let (tool, boss) = (tool(), 10.0 * (circle(8.0) - circle(4.0)));

    for (expected, set, shape) in [
        (hull, vec![], Shape::Hexahedron),
        (boxed, by_hexahedra, Shape::Hexahedron),
        (boxed, by_tetrahedra, Shape::Tetrahedron),
    ] {
        if shape == Shape::Tetrahedron && !has_gmsh() {
            continue;
        }
        let Case { mesh, sets, solid, .. } = case(&folder, &set);
        assert_eq!(mesh.shape(), shape);
        let found = volume(&mesh, 0..mesh.n_elements());
        assert!((found / expected - 1.0).abs() < 0.01, "{shape:?}: {found} and not {expected}");

        let kept = |name: &str| sets.elements[name].iter().map(|element| *element as usize);
        for name in ["left", "right"] {
            let found = volume(&mesh, kept(name));
            assert!((found / boss - 1.0).abs() < 0.1, "{shape:?}, {name}: {found} and not {boss}");
        }
        assert_eq!(kept("kept").count(), kept("left").count() + kept("right").count());
        assert!(kept("kept").all(|element| solid.contains(&(element as u32))));

        let triangles = tool.1.iter().map(|t| t.map(|vertex| tool.0[vertex as usize]));
        let triangles = Triangles::new(triangles);
        let least = mesh.coordinates().iter().map(|x| triangles.distance(*x)).fold(1e9, f64::min);
        assert!((1.95..2.05).contains(&least), "{shape:?}: {least}");
    }
}

fn well(folder: &Folder, args: &[&str]) -> String {
    let (status, out, err) = topopt(&folder.path(""), args);
    assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    out
}

/// A run with all that follows it: surfaces end at the space, and another space is refused.
#[test]
fn a_design_in_the_space() {
    let folder = folder();
    folder.run_well(&["output.compression=none", "output.checkpoint_every=1"]);
    assert!(folder.path("out/part.ply").exists());
    let density = folder.array("out/design.vtu", "density");
    let solid = density.iter().filter(|x| **x == 1.0).count();
    assert!(solid as f64 > 0.2 * density.len() as f64, "{solid} of {}", density.len());
    well(&folder, &["verify", "out"]);
    let said = well(&folder, &["export", "out", "-o", "design.stl"]);
    assert!(said.contains("the part ends at: its geometry"), "{said}");
    well(&folder, &["solve", "case.toml", "--output", "analysis"]);

    // The case among the results names the bodies wherever it lies.
    let resumed =
        folder.run(&["optimizer.max_iterations=4", "output.compression=none"], &["--resume"]);
    assert_eq!((resumed.status, resumed.err.as_str()), (0, ""));
    well(&folder, &["run", "out/case.toml", "--output", "copy"]);
    for change in ["mesh.design_space.within=box", "mesh.design_space.keep_out.2.clearance=1"] {
        let Finished { status, err, .. } = folder.run(&[change], &["--resume"]);
        assert!(status != 0 && err.contains("the mesh"), "{change}: {err}");
    }
}

/// Bodies are inputs, also where a result links to one.
#[cfg(unix)]
#[test]
fn bodies_are_not_written_over() {
    let folder = folder();
    folder.run_well(&["optimizer.max_iterations=1"]);
    let design = folder.path("out/design.vtu");
    fs::remove_file(&design).unwrap();
    std::os::unix::fs::symlink(folder.path("tool.stl"), &design).unwrap();
    let Finished { status, err, .. } = folder.run(&[], &[]);
    assert!(status == 1 && err.contains("is both an input and a result"), "{err}");
}

/// Messages on bodies that make no space.
#[test]
fn spaces_that_are_refused() {
    let folder = folder();
    let wall = |x: f64, width: f64| {
        prism(&[[x, -50.0], [x + width, -50.0], [x + width, 50.0], [x, 50.0]], [-50.0, 50.0])
    };
    write(&folder, "pin.stl", &prism(&circle([66.0, 0.0], 1.0, 16), [-5.0, 15.0]));
    write(&folder, "wall.stl", &wall(25.0, 10.0));
    write(&folder, "half.stl", &wall(-30.0, 60.0));
    write(&folder, "crumb.stl", &prism(&circle([30.0, 6.0], 0.2, 8), [0.0, 0.3]));
    let (vertices, triangles) = tool();
    write(&folder, "open.stl", &(vertices, triangles[40..].to_vec()));
    folder.write("part.msh", "");

    let tool = "\"tool.stl\"\nclearance = 2";
    let mut messages = Vec::new();
    for (old, new) in [
        (tool, "\"pin.stl\"\nclearance = 2"),
        (tool, "\"wall.stl\""),
        (tool, "\"wall.stl\"\nclearance = 80"),
        (tool, "\"open.stl\"\nclearance = 2"),
        (tool, "\"nothing.stl\"\nclearance = 2"),
        (tool, "\"part.msh\"\nclearance = 2"),
        (tool, "\"tool.stl\"\nclearance = -2"),
        ("within = \"hull\"", "within = { file = \"half.stl\" }"),
        ("within = \"hull\"", "within = { file = \"half.stl\" }\nmargin = 1"),
        ("within = \"hull\"", "within = \"ball\""),
        ("within = \"hull\"", "within = 3"),
        ("kept = [\"left.stl\", \"right.stl\"]", "kept = []"),
        ("kept = [\"left.stl\", \"right.stl\"]", ""),
        ("\"right.stl\"]", "\"right.stl\", \"crumb.stl\"]"),
        ("\"right.stl\"]", "\"left.stl\"]"),
        ("[mesh]\n", "[mesh]\nfile = \"left.stl\"\n"),
    ] {
        assert!(CASE.contains(old), "{old}");
        folder.write("case.toml", &CASE.replacen(old, new, 1));
        let title = new.trim().replace('\n', "; ");
        messages.push(format!("# {title}\n{}", message(&folder, &["check", "case.toml"])));
    }
    assert_snapshot("design_space", &messages);
}

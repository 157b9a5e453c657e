//! Gmsh run as a program: what it is asked, and what becomes of its failures. A shell script stands
//! in for it; the tests of `topopt-cli` run Gmsh itself.

mod triangulation;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use topopt_io::ImportedMesh;
use topopt_io::gmsh::{ElementSize, Hexes, Meshing, MeshingError, is_geometry, mesh};
use topopt_testing::files::CUBE_MSH as CUBE;

const BOX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meshes/gmsh_box_4_1_ascii.msh");

/// A geometry that is a script for the stand-in, which may copy `$box`, `$tets` and `$points`.
struct Geometry {
    folder: TempDir,
    path: PathBuf,
    meshing: Meshing,
}

impl Geometry {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part.geo");
        let place = folder.path().display();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "tets.msh",
            &CUBE.replace("7 5 2 3 1 10 20 30 40 50 60 70 80", "7 4 2 3 1 10 20 30 50"),
        );
        write("points.msh", &CUBE.replace("7 5 2 3 1 10 20 30 40 50 60 70 80", "7 15 2 3 1 10"));
        let names = format!("box={BOX} tets={place}/tets.msh points={place}/points.msh");
        write("part.geo", &format!("here={place} {names}\n{script}\n"));
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/io/gmsh_program/gmsh");
        let meshing = Meshing {
            program: Some(program),
            hexes: Hexes::Auto,
            size: ElementSize::OfGeometry,
            finer: Vec::new(),
            length_unit: "MM",
            timeout: Duration::from_secs(20),
            trust: true,
            surface: None,
        };
        Self { folder, path, meshing }
    }

    fn mesh(&self) -> Result<ImportedMesh, MeshingError> {
        mesh(&self.path, &self.meshing, &AtomicBool::new(false))
    }

    fn refused(&self) -> String {
        let place = format!("{}/", self.folder.path().display());
        self.mesh().unwrap_err().to_string().replace(&place, "")
    }
}

#[test]
fn geometries_are_told_by_their_extension() {
    for name in ["a.geo", "a.step", "a.STP", "a.brep", "b.iges", "b.igs", "c.stl"] {
        assert!(is_geometry(name.as_ref()), "{name}");
    }
    for name in ["a.msh", "a.geo.msh", "geo", "a.toml"] {
        assert!(!is_geometry(name.as_ref()), "{name}");
    }
}

#[test]
fn gmsh_is_asked_for_what_is_wanted() {
    let script = "echo \"$unit $size\" > $here/asked\ncat \"$settings\" >> $here/asked\n\
                  echo \"$mesh\" > $here/where\ncp $box \"$mesh\"";
    let mut geometry = Geometry::new(script);
    let mut asked = |hexes, edge: Option<f64>, length_unit| {
        let size = edge.map_or(ElementSize::OfGeometry, ElementSize::Edge);
        geometry.meshing = Meshing { hexes, size, length_unit, ..geometry.meshing.clone() };
        let mesh = geometry.mesh().unwrap();
        assert_eq!(mesh.mesh.n_elements(), 4);
        assert_eq!((mesh.notes.len(), mesh.remarks), (0, vec!["meshed by Gmsh 4.99.0".into()]));
        let folder = fs::read_to_string(geometry.folder.path().join("where")).unwrap();
        assert!(!Path::new(&folder).parent().unwrap().exists(), "left behind: {folder}");
        let asked = fs::read_to_string(geometry.folder.path().join("asked")).unwrap();
        // A group of all surfaces, so that Gmsh saves the numbers of their faces.
        let (before, rest) = asked.split_once("topopt_p() = ").unwrap();
        let (group, behind) = rest.split_once("EndIf\n").unwrap();
        assert!(group.contains("Physical Surface(\"topopt: all faces\") = Surface{:};"));
        format!("{before}{behind}")
    };
    assert_eq!(asked(Hexes::Auto, None, "MM"), "MM \n");
    let size = "M 0.25\nMesh.MeshSizeMax = 0.25;\n";
    assert_eq!(asked(Hexes::Auto, Some(0.25), "M"), size);
    let transfinite = "Transfinite Surface {:};\nTransfinite Volume {:};\nRecombine Surface {:};\n";
    assert_eq!(asked(Hexes::Transfinite, Some(0.25), "M"), format!("{size}{transfinite}"));
    assert!(asked(Hexes::Extrude, None, "MM").ends_with("Recombine Surface {:};\n"));
    assert!(asked(Hexes::Subdivide, None, "MM").contains("Mesh.ElementOrder = 2;"));
}

#[test]
fn what_is_left_over_is_cut_into_hexahedra() {
    let script = "if grep -q Subdivision \"$settings\"; then cp $box \"$mesh\"; \
                  else cp $tets \"$mesh\"; fi";
    let mut geometry = Geometry::new(script);
    let mesh = geometry.mesh().unwrap();
    assert_eq!(mesh.mesh.n_elements(), 4);
    geometry.meshing.hexes = Hexes::Transfinite;
    let message = "Gmsh left 1 tetrahedra in the mesh of part.geo";
    assert_eq!(geometry.refused(), message);
}

#[test]
fn failures_of_gmsh_are_told_in_its_own_words() {
    let failed = |script: &str| Geometry::new(script).refused();
    let said =
        "echo 'Info    : Meshing 1D'\necho \"Error   : 'part.geo', line 3: syntax error (x)\"";
    assert_eq!(
        failed(said),
        "Gmsh could not mesh part.geo (exit status: 0):\n'part.geo', line 3: syntax error (x)"
    );
    assert_eq!(
        failed("echo one\necho two >&2\nexit 7"),
        "Gmsh could not mesh part.geo (exit status: 7):\nInfo    : Running 'gmsh' [Gmsh 4.99.0, 1 \
         node, max. 1 thread]\none\ntwo"
    );
    assert!(failed("kill -SEGV $$").contains("(signal: 11 (SIGSEGV)"));
    assert_eq!(failed("cp $points \"$mesh\""), "Gmsh created no volume elements from part.geo");
    assert_eq!(failed("true"), "Gmsh created no volume elements from part.geo");
    let damaged = failed("echo '$MeshFormat' > \"$mesh\"");
    assert!(damaged.starts_with("part.geo: ") && damaged.contains("truncated"), "{damaged}");
}

#[test]
fn what_cannot_be_started() {
    let mut geometry = Geometry::new("");
    geometry.meshing.program = Some("no-such-gmsh".into());
    let message = "cannot start `no-such-gmsh`, which meshes geometries: No such file or directory \
                   (os error 2)";
    assert_eq!(geometry.refused(), message);
    geometry.path = geometry.folder.path().join("other.step");
    let message = "other.step: cannot read the file: No such file or directory (os error 2); check \
                   its name and its permissions";
    assert_eq!(geometry.refused(), message);
}

#[test]
fn gmsh_is_ended_after_its_time_and_on_request() {
    let mut geometry = Geometry::new("exec sleep 60");
    geometry.meshing.timeout = Duration::from_millis(200);
    let start = Instant::now();
    let message = "Gmsh did not mesh part.geo within 0.2 s and was stopped";
    assert_eq!(geometry.refused(), message);
    geometry.meshing.timeout = Duration::from_secs(60);
    let interrupt = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            interrupt.store(true, Ordering::Relaxed);
        });
        let error = mesh(&geometry.path, &geometry.meshing, &interrupt).unwrap_err();
        assert!(matches!(error, MeshingError::Interrupted), "{error}");
    });
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// Processes that Gmsh has started are ended with it.
#[test]
fn the_children_of_gmsh_are_ended_too() {
    let mut geometry = Geometry::new("sleep 60 &\necho $! > $here/child\nwait");
    geometry.meshing.timeout = Duration::from_millis(500);
    assert!(geometry.refused().contains("and was stopped"));
    let child = fs::read_to_string(geometry.folder.path().join("child")).unwrap();
    // An ended process may wait for its parent to look at it, and has no command line then.
    let line = Path::new("/proc").join(child.trim()).join("cmdline");
    let is_there = || fs::read(&line).is_ok_and(|text| !text.is_empty());
    let start = Instant::now();
    while is_there() {
        assert!(start.elapsed() < Duration::from_secs(10), "process {child} is still there");
        thread::sleep(Duration::from_millis(10));
    }
}

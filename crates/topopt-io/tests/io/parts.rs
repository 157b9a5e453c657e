//! Parts of OpenCASCADE meshed by Gmsh with tetrahedra, which are cut into hexahedra.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use topopt_io::ImportedMesh;
use topopt_io::gmsh::{self, ElementSize, Hexes, Meshing, MeshingError};
use topopt_mesh::quality::Worst;
use topopt_mesh::{Components, hanging_nodes};

const PARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meshes/parts");

/// Largest edges; the parts are 40 to 100 long, their walls and spokes 2 to 10 thick.
const SIZES: [f64; 4] = [12.0, 8.0, 5.0, 3.5];

/// Part and size of the meshes of every run of the tests: the worst parts at the largest sizes.
const SOME: [(&str, f64); 4] =
    [("stepped_shaft", 8.0), ("rib", 12.0), ("spoke_wheel", 12.0), ("elbow", 12.0)];

/// All 48 meshes by `TOPOPT_ALL_PARTS=1`, a few else.
#[test]
fn parts_mesh_at_every_size() {
    if !has_gmsh() {
        return;
    }
    let folder = Path::new(PARTS);
    let mut subjects: Vec<(String, f64)> =
        SOME.iter().map(|(part, size)| ((*part).to_owned(), *size)).collect();
    if std::env::var_os("TOPOPT_ALL_PARTS").is_some() {
        let entries = std::fs::read_dir(folder).unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut parts: Vec<String> = entries.map(|entry| stem(entry.unwrap().path())).collect();
        parts.sort();
        assert!(parts.len() >= 12);
        subjects = parts.iter().flat_map(|p| SIZES.map(|size| (p.clone(), size))).collect();
    }

    for (part, size) in subjects {
        let meshed = mesh(&folder.join(format!("{part}.geo")), ElementSize::Edge(size));
        let least = Worst::of(&meshed.mesh).scaled_jacobian;
        println!("{part} {size}: {} elements, {least:.3}", meshed.mesh.n_elements());
        assert!(least >= 0.05, "{part} at {size}: {least}; {:?}", meshed.notes);
        assert_eq!(Components::joined_by_faces(&meshed.mesh).n_parts, 1, "{part} at {size}");
        assert_eq!(hanging_nodes(&meshed.mesh), [], "{part} at {size}");
    }
}

/// Numbers that the curves of the parts allow, and one that they do not.
#[test]
fn parts_mesh_with_about_so_many_elements() {
    if !has_gmsh() {
        return;
    }
    let of = |part: &str, asked: usize| {
        let path = Path::new(PARTS).join(part);
        let mut mesh = mesh(&path, ElementSize::Number(asked));
        (mesh.mesh.n_elements() as f64 / asked as f64, mesh.notes.pop().unwrap())
    };
    for (part, asked) in [("bracket.geo", 20_000), ("wedge.geo", 8_000)] {
        let (ratio, note) = of(part, asked);
        assert!(ratio.ln().abs() <= 0.1, "{part}: {note}");
        assert!(note.starts_with(&format!("asked for {asked} elements, made ")), "{note}");
    }
    let (ratio, note) = of("spoke_wheel.geo", 200);
    assert!(ratio > 2.0 && note.ends_with("sizes in the geometry decide"), "{note}");
}

/// The triangles of a cube of 40 with a spherical cavity of radius 14, and of one with a gap.
#[test]
fn triangles_are_the_boundary_of_a_body() {
    if !has_gmsh() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cavity.stl");
    let geometry = Path::new(PARTS).join("sphere_in_block.geo");
    let mut gmsh = Command::new(program());
    gmsh.args(["-2", "-clmax", "2", "-format", "stl", "-o"]).arg(&path).arg(geometry);
    assert!(gmsh.output().unwrap().status.success());

    let meshed = mesh(&path, ElementSize::Edge(3.0));
    let volume: f64 = meshed.mesh.volumes().iter().sum();
    let exact = 64_000.0 - 4.0 / 3.0 * std::f64::consts::PI * 14.0_f64.powi(3);
    assert!((volume / exact - 1.0).abs() < 0.02, "{volume} {exact}");
    assert!(Worst::of(&meshed.mesh).scaled_jacobian >= 0.05);
    assert_eq!(Components::joined_by_faces(&meshed.mesh).n_parts, 1);

    // Without its first facets, and without a third.
    let text = std::fs::read_to_string(&path).unwrap();
    let (header, facets) = text.split_once('\n').unwrap();
    let facets: Vec<&str> = facets.split_inclusive("endfacet\n").collect();
    let without = |n: usize| {
        std::fs::write(&path, format!("{header}\n{}", facets[n..].concat())).unwrap();
        try_mesh(&path, ElementSize::Edge(3.0))
    };
    let closed: f64 = without(3).unwrap().mesh.volumes().iter().sum();
    assert!((closed / volume - 1.0).abs() < 0.01, "{closed} {volume}");
    let error = without(facets.len() / 3).unwrap_err();
    assert!(matches!(error, MeshingError::Facets { .. }), "{error}");
}

/// The facets of a surface of `n` times `m` places, which closes in both directions.
fn ring(n: usize, m: usize, at: impl Fn(f64, f64) -> [f64; 3]) -> Vec<[[f64; 3]; 3]> {
    let angle = |i: usize, n: usize| std::f64::consts::TAU * (i % n) as f64 / n as f64;
    let at = |i, j| at(angle(i, n), angle(j, m));
    let quad = |(i, j): (usize, usize)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).flat_map(quad).collect()
}

fn volume(mesh: &ImportedMesh) -> f64 {
    mesh.mesh.volumes().iter().sum()
}

/// Gmsh alone makes a body of volume 402 of the torus, and none of the cone.
#[test]
fn triangles_without_a_size_become_a_mesh_of_their_volume() {
    if !has_gmsh() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    let torus = ring(32, 16, |a, b| {
        let r = 10.0 + 3.0 * b.cos();
        [r * a.cos(), r * a.sin(), 3.0 * b.sin()]
    });
    let cone = (0..32).flat_map(|i| {
        let at = |i: usize| {
            let angle = std::f64::consts::TAU * (i % 32) as f64 / 32.0;
            [5.0 * angle.cos(), 5.0 * angle.sin(), 0.0]
        };
        let (low, high) = ([0.0; 3], [0.0, 0.0, 10.0]);
        [[at(i), at(i + 1), high], [at(i + 1), at(i), low]]
    });
    let polygon = |n: f64| 0.5 * n * (std::f64::consts::TAU / n).sin();
    for (facets, exact) in [(torus, 1720.117), (cone.collect(), polygon(32.0) * 25.0 * 10.0 / 3.0)]
    {
        std::fs::write(&path, crate::facets::text(&facets)).unwrap();
        let meshed = mesh(&path, ElementSize::OfGeometry);
        assert!((volume(&meshed) / exact - 1.0).abs() <= 0.01, "{} {exact}", volume(&meshed));
        let notes = meshed.notes.join("; ");
        assert!(notes.contains("facets enclose 1 body of volume"), "{notes}");
        assert!(notes.contains("no size of elements was given: edges of at most"), "{notes}");
    }

    let cubes = [crate::facets::cube(0.0, 2.0), crate::facets::cube(3.0, 4.0)].concat();
    std::fs::write(&path, crate::facets::text(&cubes)).unwrap();
    let meshed = mesh(&path, ElementSize::OfGeometry);
    assert!((volume(&meshed) - 9.0).abs() < 1e-9);
    assert_eq!(Components::of(&meshed.mesh).n_components(), 2);
}

/// A block with a bore of radius 4, whose wall is `wall` thin, as Gmsh writes it to a file `name`.
fn bored(folder: &Path, name: &str, wall: f64) -> PathBuf {
    let y = 20.0 - 4.0 - wall;
    let text = format!(
        "SetFactory(\"OpenCASCADE\");\nBox(1) = {{0, 0, 0, 40, 20, 10}};\n\
         Cylinder(2) = {{20, {y}, -1, 0, 0, 12, 4}};\n\
         BooleanDifference(3) = {{Volume{{1}}; Delete;}}{{Volume{{2}}; Delete;}};\n"
    );
    let (script, path) = (folder.join("bored.geo"), folder.join(name));
    std::fs::write(&script, text).unwrap();
    let mut gmsh = Command::new(program());
    gmsh.arg("-0").arg(&script).arg("-o").arg(&path);
    assert!(gmsh.output().unwrap().status.success());
    path
}

/// IGES files hold surfaces without a solid, whose unit Gmsh cannot set.
#[test]
fn solids_of_every_format_have_their_volume() {
    if !has_gmsh() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let exact = 10.0 * (800.0 - 16.0 * std::f64::consts::PI);
    for name in ["a.step", "a.brep", "a.igs", "a.iges"] {
        let path = bored(folder.path(), name, 6.0);
        let meshed = mesh(&path, ElementSize::Edge(5.0));
        assert!((volume(&meshed) / exact - 1.0).abs() <= 0.01, "{name}: {}", volume(&meshed));
        let is_sewn = meshed.notes.iter().any(|note| note.contains("joined to a solid"));
        assert_eq!(is_sewn, name.contains(".ig"), "{name}");
        if name != "a.brep" {
            let in_meters = Meshing { length_unit: "M", ..meshing(ElementSize::Edge(0.005)) };
            let meshed = gmsh::mesh(&path, &in_meters, &AtomicBool::new(false)).unwrap();
            assert!((1e9 * volume(&meshed) / exact - 1.0).abs() <= 0.01, "{name}");
        }
    }

    // A file of a single line, and one whose elements would be too many.
    let path = folder.path().join("line.igs");
    std::fs::write(&path, LINE).unwrap();
    let error = try_mesh(&path, ElementSize::OfGeometry).unwrap_err();
    let said = "line.igs has no solid: 0 surfaces and 1 curves were found";
    assert!(error.to_string().contains(said), "{error}");
    let error = try_mesh(&folder.path().join("a.step"), ElementSize::Edge(1e-3)).unwrap_err();
    assert!(matches!(error, MeshingError::TooMany { .. }), "{error}");
}

/// Walls of an eightieth of the block: no tetrahedra in them are good.
#[test]
fn bores_near_a_side_mesh_at_every_size() {
    if !has_gmsh() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = bored(folder.path(), "a.step", 0.25);
    for size in [10.0, 3.0] {
        let meshed = mesh(&path, ElementSize::Edge(size));
        let exact = 10.0 * (800.0 - 16.0 * std::f64::consts::PI);
        assert!((volume(&meshed) / exact - 1.0).abs() <= 0.01, "{size}: {}", volume(&meshed));
    }
}

/// An IGES file of a line from the origin to (1, 0, 0).
const LINE: &str = concat!(
    "one line                                                                S      1\n",
    "1H,,1H;,4Hline,8Hline.igs,4Hhand,1H1,32,38,6,308,15,4Hline,1.,2,2HMM,1,0G      1\n",
    ".01,15H20260101.000000,1.E-6,1.,4Hhand,4Hhand,11,0,15H20260101.000000;  G      2\n",
    "     110       1       0       0       0       0       0       000000000D      1\n",
    "     110       0       0       1       0                               0D      2\n",
    "110,0.,0.,0.,1.,0.,0.;                                                 1P      1\n",
    "S      1G      2D      2P      1                                        T      1\n",
);

fn mesh(geometry: &Path, size: ElementSize) -> ImportedMesh {
    try_mesh(geometry, size).unwrap()
}

fn try_mesh(geometry: &Path, size: ElementSize) -> Result<ImportedMesh, MeshingError> {
    gmsh::mesh(geometry, &meshing(size), &AtomicBool::new(false))
}

fn meshing(size: ElementSize) -> Meshing {
    Meshing {
        program: None,
        hexes: Hexes::Subdivide,
        size,
        finer: Vec::new(),
        length_unit: "MM",
        timeout: Duration::from_secs(120),
        trust: false,
        surface: None,
    }
}

fn program() -> OsString {
    std::env::var_os("GMSH").unwrap_or_else(|| "gmsh".into())
}

/// Whether Gmsh can be started. Without it there is nothing to test.
fn has_gmsh() -> bool {
    let has = Command::new(program()).arg("--version").output();
    let has = has.is_ok_and(|output| output.status.success());
    assert!(has || std::env::var_os("TOPOPT_REQUIRE_GMSH").is_none(), "Gmsh cannot be started");
    has
}

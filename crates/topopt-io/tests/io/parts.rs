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

/// What is meshed in every run of the tests: the parts that were the worst at the largest sizes.
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

    // Without its first facets.
    let text = std::fs::read_to_string(&path).unwrap();
    let (header, facets) = text.split_once('\n').unwrap();
    let rest: Vec<&str> = facets.split_inclusive("endfacet\n").skip(3).collect();
    std::fs::write(&path, format!("{header}\n{}", rest.concat())).unwrap();
    let error = try_mesh(&path, ElementSize::Edge(3.0)).unwrap_err();
    assert!(matches!(error, MeshingError::NoVolumes(_)), "{error}");
}

fn mesh(geometry: &Path, size: ElementSize) -> ImportedMesh {
    try_mesh(geometry, size).unwrap()
}

fn try_mesh(geometry: &Path, size: ElementSize) -> Result<ImportedMesh, MeshingError> {
    let meshing = Meshing {
        program: None,
        hexes: Hexes::Subdivide,
        size,
        length_unit: "MM",
        timeout: Duration::from_secs(120),
        trust: false,
    };
    gmsh::mesh(geometry, &meshing, &AtomicBool::new(false))
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

//! Parts of OpenCASCADE meshed by Gmsh with tetrahedra, which are cut into hexahedra.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use topopt_io::gmsh::{self, Hexes, Meshing};
use topopt_mesh::{Components, Quality, hanging_nodes};

/// Largest edges; the parts are 40 to 100 long, their walls and spokes 2 to 10 thick.
const SIZES: [f64; 4] = [12.0, 8.0, 5.0, 3.5];

/// What is meshed in every run of the tests: the parts that were the worst at the largest sizes.
const SOME: [(&str, f64); 4] =
    [("stepped_shaft", 8.0), ("rib", 12.0), ("spoke_wheel", 12.0), ("elbow", 12.0)];

/// All 48 meshes by `TOPOPT_ALL_PARTS=1`, a few else. Without Gmsh there is nothing to test.
#[test]
fn parts_mesh_at_every_size() {
    if !has_gmsh() {
        assert!(std::env::var_os("TOPOPT_REQUIRE_GMSH").is_none(), "Gmsh cannot be started");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes/parts");
    let mut subjects: Vec<(String, f64)> =
        SOME.iter().map(|(part, size)| ((*part).to_owned(), *size)).collect();
    if std::env::var_os("TOPOPT_ALL_PARTS").is_some() {
        let entries = std::fs::read_dir(&folder).unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut parts: Vec<String> = entries.map(|entry| stem(entry.unwrap().path())).collect();
        parts.sort();
        assert!(parts.len() >= 12);
        subjects = parts.iter().flat_map(|p| SIZES.map(|size| (p.clone(), size))).collect();
    }

    for (part, size) in subjects {
        let meshed = mesh(&folder.join(format!("{part}.geo")), size);
        let least = Quality::of(&meshed.mesh).summary().scaled_jacobian.min;
        println!("{part} {size}: {} elements, {least:.3}", meshed.mesh.n_elements());
        assert!(least >= 0.05, "{part} at {size}: {least}; {:?}", meshed.notes);
        assert_eq!(Components::joined_by_faces(&meshed.mesh).n_parts, 1, "{part} at {size}");
        assert_eq!(hanging_nodes(&meshed.mesh), [], "{part} at {size}");
    }
}

fn mesh(geometry: &Path, size: f64) -> topopt_io::ImportedMesh {
    let meshing = Meshing {
        program: None,
        hexes: Hexes::Subdivide,
        element_size: Some(size),
        length_unit: "MM",
        timeout: Duration::from_secs(120),
        trust: false,
    };
    gmsh::mesh(geometry, &meshing, &AtomicBool::new(false)).unwrap()
}

fn has_gmsh() -> bool {
    let program = std::env::var_os("GMSH").unwrap_or_else(|| "gmsh".into());
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

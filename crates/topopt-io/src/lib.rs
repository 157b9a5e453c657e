//! Formats at the edge: Gmsh and VTK in and out; Ansys, Abaqus and Nastran meshes in; CSV, and
//! surfaces as STL, 3MF, OBJ, PLY and GLB out; checkpoints.
//!
//! This crate knows no physics and no configuration. Readers return meshes that are checked, with
//! the numbers of the user's file; writers leave whole files or none ([`atomic`]).
//!
//! ```
//! use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_mesh::selection::{Condition, Selector};
//! use topopt_mesh::{HexMesh, SetKind};
//!
//! let folder = tempfile::tempdir()?;
//! let (part, tagged) = (folder.path().join("part.msh"), folder.path().join("tagged.msh"));
//! let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
//! gmsh::write(&part, &Benchmark::Cantilever.generate(Resolution::Elements(250))?, format)?;
//!
//! // Read, tag the nodes nearest to a point, and write.
//! let mesh = topopt_io::read_mesh(&part)?.mesh;
//! let tip = Selector::new(&mesh, SetKind::Node).select(&Condition::Nearest([10.0, 0.0, 0.0]));
//! let mut sets = mesh.sets().clone();
//! sets.nodes.insert("tip".into(), tip);
//! let mesh = HexMesh::new(mesh.coordinates().to_vec(), mesh.hexes().to_vec(), sets)?;
//! gmsh::write(&tagged, &mesh, format)?;
//!
//! assert_eq!(topopt_io::read_mesh(&tagged)?.mesh.sets().nodes["tip"].len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abaqus;
pub mod ansys;
pub mod atomic;
pub mod checkpoint;
pub mod csv;
pub mod deck;
pub mod deck_design;
mod directions;
mod elements;
mod file_sets;
mod found;
pub mod glb;
pub mod gmsh;
mod handed;
mod import;
mod included;
mod lines;
pub mod nastran;
mod notes;
pub mod obj;
mod part;
pub mod ply;
mod quote;
mod read_error;
pub mod stl;
mod temperatures;
pub mod three_mf;
pub mod tosca;
mod values;
pub mod vtk;

use std::path::Path;

pub use atomic::WriteError;
pub use import::{Cutting, ImportedMesh, UncutCells};
pub use read_error::{Fault, Place, ReadError};

/// Reads a mesh file; the extension chooses one of the [`formats`]. Tetrahedra and pyramids, and
/// what touches them, are [cut] into hexahedra.
///
/// [cut]: topopt_mesh::cells::Cut
///
/// # Errors
/// [`ReadError`]: the extension is not supported, or what the reader of the format says.
pub fn read_mesh(path: &Path) -> Result<ImportedMesh, ReadError> {
    read_mesh_as(path, Cutting::Allowed)
}

/// Whether the file at `path` is a mesh, by its extension.
pub fn is_mesh(path: &Path) -> bool {
    reader(path).is_some()
}

/// Reads the mesh at `path`; elements are cut only if `cutting` allows it. See [`read_mesh`].
///
/// # Errors
/// As [`read_mesh`], and elements that would have to be cut.
pub fn read_mesh_as(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    match reader(path) {
        Some(_) if ansys::is_by_content(path) => ansys::read(path, cutting),
        Some(read) => read(path, cutting),
        None => {
            let geometries = extensions(&gmsh::GEOMETRIES);
            let known = format!("{}, and geometries, which Gmsh meshes: {geometries}", formats());
            Err(ReadError { path: path.into(), place: None, fault: Fault::Extension(known).into() })
        }
    }
}

/// Lists the mesh files that are read: `.msh (Gmsh 2.2 and 4.1), .cdb (Ansys), ...`.
pub fn formats() -> String {
    let of_program = |formats: &[Format]| {
        let names: Vec<&str> = formats.iter().flat_map(|(names, ..)| *names).copied().collect();
        format!("{} ({})", extensions(&names), formats[0].1)
    };
    FORMATS.chunk_by(|a, b| a.1 == b.1).map(of_program).collect::<Vec<_>>().join(", ")
}

/// `.bdf, .dat`.
fn extensions(names: &[&str]) -> String {
    names.iter().map(|name| format!(".{name}")).collect::<Vec<_>>().join(", ")
}

/// The reader of the format chosen by the extension of `path`.
fn reader(path: &Path) -> Option<Reader> {
    let extension = path.extension()?;
    let is = |known: &&str| extension.eq_ignore_ascii_case(known);
    FORMATS.iter().find(|(known, ..)| known.iter().any(is)).map(|(.., read)| *read)
}

/// Reads a parameter file of Tosca with its model, a file of another format.
fn read_optimization(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    tosca::read(path, is_mesh, |model| read_mesh_as(model, cutting))
}

/// Reads a file of one format.
type Reader = fn(&Path, Cutting) -> Result<ImportedMesh, ReadError>;

/// Extensions of a format, the programs that write it, and its reader.
type Format = (&'static [&'static str], &'static str, Reader);

const FORMATS: [Format; 7] = [
    (&["msh"], "Gmsh 2.2 and 4.1", gmsh::read),
    (&["cdb"], "Ansys", ansys::read),
    (&["inp"], "Abaqus, CalculiX", abaqus::read),
    (&["bdf", "dat", "nas", "fem"], "Nastran, OptiStruct", nastran::read),
    (&[tosca::EXTENSION], "Tosca", read_optimization),
    (&["vtu"], "VTK", vtk::vtu::read),
    (&["vtk"], "VTK", vtk::legacy::read),
];

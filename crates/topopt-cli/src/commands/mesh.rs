//! `topopt mesh SOURCE`

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use topopt_case::config::{Generator, Hexes, MeshMethod};
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory;
use topopt_case::geometry_faces::set_name;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::{self, How};
use topopt_io::Cutting;
use topopt_io::gmsh::{self, Encoding, GmshFormat, Meshing, Version};
use topopt_mesh::{Face, HexMesh};
use topopt_study::failure::Failure;
use topopt_study::output_folder;

use crate::args::{MeshArgs, MeshSource, MshVersion};

/// Makes the mesh and writes it.
pub(super) fn mesh(
    args: &MeshArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    // What can be refused comes before the mesh, which may take long.
    let path = args.output.clone().unwrap_or_else(|| default_path(&args.source));
    output_folder::check_file(&path, &["msh"], &[]).map_err(InputError::from)?;
    if args.output.is_none() && path.exists() {
        let finding = Finding::new(format!("{} already exists", path.display()));
        let remedy = "name the file to write with `--output FILE`, this one or another";
        return Err(InputError::from(finding.remedy(remedy)).into());
    }

    let (mesh, notes) = match &args.source {
        MeshSource::Generator(generator) => (benchmark(*generator, args)?, Vec::new()),
        MeshSource::Geometry(geometry) => of_geometry(geometry, args, interrupt)?,
    };

    let version = match args.format {
        MshVersion::V2_2 => Version::V2_2,
        MshVersion::V4_1 => Version::V4_1,
    };
    let encoding = if args.ascii { Encoding::Ascii } else { Encoding::Binary };
    gmsh::write(&path, &mesh, GmshFormat { version, encoding }).map_err(|error| {
        let remedy = "choose an existing, writable folder";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?;

    let (elements, nodes) = (mesh.n_elements(), mesh.n_nodes());
    writeln!(out, "wrote {}: {elements} elements, {nodes} nodes", path.display())?;
    notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
    Ok(())
}

/// In the working directory, with the name of the source.
fn default_path(source: &MeshSource) -> PathBuf {
    let name = match source {
        MeshSource::Generator(generator) => Path::new(generator.benchmark().name()),
        MeshSource::Geometry(path) => Path::new(path.file_stem().unwrap_or_default()),
    };
    let mut name = name.as_os_str().to_owned();
    name.push(".msh");
    name.into()
}

/// The mesh with a set for each face of its geometry, by which selections find them again.
fn with_faces(mesh: HexMesh, faces: BTreeMap<u32, Vec<Face>>) -> Result<HexMesh, Finding> {
    let mut sets = mesh.sets().clone();
    for (number, faces) in faces {
        sets.faces.entry(set_name(number)).or_insert(faces);
    }
    mesh.with_sets(sets).map_err(|error| Finding::new(error.to_string()))
}

fn benchmark(generator: Generator, args: &MeshArgs) -> Result<HexMesh, InputError> {
    let [size, method, hexes, gmsh] = [
        args.element_size.is_some(),
        args.method.is_some(),
        args.hexes.is_some(),
        args.gmsh.gmsh.is_some(),
    ];
    if size || method || hexes || gmsh {
        let finding =
            Finding::new("--element-size, --method, --hexes and --gmsh are for geometries");
        return Err(finding.remedy("give the size of a benchmark by --size or --elements").into());
    }
    if args.size.is_none() && args.elements.is_none() {
        let name = generator.benchmark().name();
        let finding = Finding::new(format!("the size of the mesh of {name} is missing"));
        return Err(finding.remedy("give --size (1 to 5) or --elements; see --help").into());
    }
    args.elements.map(free_memory::check_elements).transpose()?;
    let mesh = generator.generate(args.size, args.elements);
    mesh.map_err(|error| Finding::new(error.to_string()).into())
}

fn of_geometry(
    geometry: &Path,
    args: &MeshArgs,
    interrupt: &Interrupt,
) -> Result<(HexMesh, Vec<String>), InputError> {
    if args.size.is_some() {
        let finding = Finding::new("--size is for benchmarks");
        return Err(finding.remedy("give --elements or the largest edge by --element-size").into());
    }
    if args.method == Some(MeshMethod::Hexahedra) && args.hexes.is_some() {
        let finding = Finding::new("--hexes is for Gmsh, and --method hexahedra does without");
        return Err(finding.remedy("leave one of them out").into());
    }
    if args.method == Some(MeshMethod::Tetrahedra) && args.across.is_some() {
        let finding = Finding::new("--across counts hexahedra, and --method asks for tetrahedra");
        return Err(finding.remedy("leave one of them out").into());
    }
    let default = meshing::by(&(&args.gmsh).into());
    let (hexes, cutting) = match args.hexes {
        None | Some(Hexes::Auto) => (default.hexes, Cutting::KeepOrCut),
        Some(hexes) => (hexes.into(), Cutting::Allowed),
    };
    let gmsh = Meshing {
        hexes,
        size: meshing::element_size(args.element_size, args.elements)?,
        ..default
    };
    let method = args.method.unwrap_or(MeshMethod::Tetrahedra);
    let across = args.across.unwrap_or(1) as usize;
    let read = meshing::read(geometry, &How { method, across, gmsh, cutting }, interrupt)?;
    let notes = [read.notes, read.remarks].concat();
    Ok((with_faces(read.mesh, read.faces)?, notes))
}

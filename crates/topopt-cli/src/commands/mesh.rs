//! `topopt mesh NAME`

use std::io::Write;
use std::path::PathBuf;

use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};

use crate::args::{MeshArgs, MshVersion};
use crate::failure::Failure;
use crate::report::{Finding, InputError};

/// Generates the mesh and writes it.
pub(super) fn mesh(args: &MeshArgs, out: &mut impl Write) -> Result<(), Failure> {
    let (size, elements) = args.resolution();
    let name = args.name.benchmark().name();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.msh")));
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("msh")) {
        let finding = Finding::new(format!("cannot write the format of {}", path.display()));
        return Err(InputError::from(finding.remedy("give a file name that ends with .msh")).into());
    }
    let mesh = args
        .name
        .generate(size, elements)
        .map_err(|error| InputError::from(Finding::new(error.to_string())))?;
    let version = match args.format {
        MshVersion::V2_2 => Version::V2_2,
        MshVersion::V4_1 => Version::V4_1,
    };
    let encoding = if args.ascii { Encoding::Ascii } else { Encoding::Binary };
    gmsh::write(&path, &mesh, GmshFormat { version, encoding }).map_err(|error| {
        let remedy = "choose a folder that exists and that you may write to";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?;
    let (elements, nodes) = (mesh.n_elements(), mesh.n_nodes());
    writeln!(out, "wrote {}: {elements} elements, {nodes} nodes", path.display())?;
    Ok(())
}

//! Meshes from files: read, or from a geometry made by Gmsh.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use topopt_hexmesh::HexmeshError;
use topopt_io::gmsh::{
    self, ElementSize, FacetFault, Meshing, MeshingError, PartFaces, Triangulation,
};
use topopt_io::{Cutting, ImportedMesh};
use topopt_mesh::Components;
use topopt_mesh::cells::Shape;
use topopt_mesh::numbers::shown;

use crate::config::{Config, Hexes, MeshMethod};
use crate::finding::Finding;
use crate::hexahedra::{self, NoHexahedra};
use crate::interrupt::Interrupt;
use crate::{contacts, free_memory, tetrahedra};

/// Gmsh program and trust in geometries. A case file cannot set these: others may have written it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gmsh {
    /// The program; when left out, the one that the variable GMSH names, or gmsh.
    pub program: Option<PathBuf>,
    /// Whether a geometry is meshed although it may run programs and write files.
    pub trust_geometry: bool,
}

/// Treatment of a file on the way to a mesh.
#[derive(Debug, Clone)]
pub struct How {
    /// Elements that a geometry is meshed by.
    pub method: MeshMethod,
    /// Least number of hexahedra across walls.
    pub across: usize,
    /// Settings of Gmsh.
    pub gmsh: Meshing,
    /// Treatment of cells of a mesh file.
    pub cutting: Cutting,
}

/// Reads the mesh at `path`, or meshes a geometry, as `how` says. Gmsh is ended soon after
/// `interrupt` is set.
///
/// # Errors
/// Messages of the reader, the mesher or Gmsh, with a remedy.
pub fn read(path: &Path, how: &How, interrupt: &Interrupt) -> Result<ImportedMesh, Finding> {
    let is_geometry = how.gmsh.surface.is_some() || gmsh::is_geometry(path);
    let mut read = if is_geometry {
        meshed(path, how, interrupt)?
    } else {
        let read = topopt_io::read_mesh_as(path, how.cutting);
        read.map_err(|error| Finding::new(error.to_string()))?
    };

    let parts = Components::of(&read.mesh);
    let overlap = contacts::overlapping(&read.mesh, &parts);
    if let Some(overlap) = overlap.as_ref().filter(|_| is_geometry) {
        let message = format!("{}: {overlap}", path.display());
        return Err(Finding::new(message).remedy(contacts::SHARING));
    }
    // Meshes of other programs may have bodies that are tied there.
    read.notes.extend(overlap.map(|overlap| format!("{overlap}: the material counts twice there")));
    read.notes.extend(contacts::note_on_gaps(&read.mesh, &parts));
    Ok(read)
}

/// Meshes the geometry at `path`, as `how` says.
fn meshed(path: &Path, how: &How, interrupt: &Interrupt) -> Result<ImportedMesh, Finding> {
    let by_gmsh = || {
        let _listening = interrupt.listen();
        gmsh::mesh(path, &how.gmsh, interrupt.flag())
            .map_err(|error| finding(&error, how.gmsh.hexes))
    };
    if how.method == MeshMethod::Tetrahedra {
        return by_gmsh();
    }
    if gmsh::has_commands(path) {
        let of_commands = by_gmsh()?;
        if of_commands.mesh.shape() == Shape::Hexahedron && of_commands.uncut.is_none() {
            return Ok(of_commands);
        }
    }

    match hexahedra::of(path, &how.gmsh, how.across, interrupt) {
        Ok(mesh) => Ok(mesh),
        Err(error) if how.method == MeshMethod::Hexahedra || interrupt.is_requested() => {
            Err(refused(path, &error, how))
        }
        Err(error) => {
            let mut mesh = by_gmsh()?;
            mesh.notes.push(format!("not meshed by hexahedra of the grid: {error}"));
            Ok(mesh)
        }
    }
}

/// Returns the finding on a geometry without hexahedra.
fn refused(path: &Path, error: &NoHexahedra, how: &How) -> Finding {
    let other = "another `element_size` may help; else set `mesh.method` to \"tetrahedra\", or to \
                 \"auto\", which takes them where hexahedra fail";
    let named = || Finding::new(format!("{}: {error}", path.display()));
    match error {
        NoHexahedra::Surface(error @ MeshingError::NotForGrid { .. }) => {
            Finding::new(error.to_string()).remedy("set `mesh.method` to \"tetrahedra\"")
        }
        NoHexahedra::Surface(error) => finding(error, how.gmsh.hexes),
        NoHexahedra::Mesh(HexmeshError::TooFine { .. }) => {
            named().remedy("give a larger `element_size`")
        }
        NoHexahedra::Bodies { error: HexmeshError::Overlap { .. }, .. } => {
            named().remedy(contacts::SHARING)
        }
        NoHexahedra::Bodies { .. } => named().remedy(format!(
            "{}; or keep them apart, or set `mesh.method` to \"tetrahedra\", which share only the nodes \
             there, as a hinge does, or none",
            contacts::SHARING
        )),
        NoHexahedra::Mesh(HexmeshError::NoMesh { size, .. }) if least_share(how, *size) < LEAST_SHARE => {
            named().remedy(format!(
                "places of finer elements are graded down to a fifth of `element_size`: give them at \
                 least {}, or a smaller `element_size`; else set `mesh.method` to \"tetrahedra\"",
                shown(LEAST_SHARE * size)
            ))
        }
        NoHexahedra::Mesh(_) | NoHexahedra::Poor { .. } => named().remedy(other),
    }
}

/// Share of the size of elements down to which finer ones beside them make a mesh: a grid that is
/// graded further has cells that are too flat for corners.
const LEAST_SHARE: f64 = 0.2;

/// Returns the smallest size that is asked for at a place, as a share of the usual one.
fn least_share(how: &How, usual: f64) -> f64 {
    how.gmsh.finer.iter().map(|finer| finer.size / usual).fold(f64::INFINITY, f64::min)
}

/// The finding on an error of Gmsh, with a remedy where there is one.
pub(crate) fn finding(error: &MeshingError, hexes: gmsh::Hexes) -> Finding {
    let finding = Finding::new(error.to_string());
    match remedy(error, hexes) {
        Some(remedy) => finding.remedy(remedy),
        None => finding,
    }
}

/// Finds the faces of the geometry at `path`. Gmsh is ended soon after `interrupt` is set.
///
/// # Errors
/// A file that is no geometry, and what Gmsh says, with a remedy where it failed.
pub fn faces(path: &Path, meshing: &Meshing, interrupt: &Interrupt) -> Result<PartFaces, Finding> {
    if !gmsh::is_geometry(path) {
        let message = format!("{} is no geometry: a mesh has no faces of CAD", path.display());
        return Err(Finding::new(message).remedy(
            "name the STEP, IGES, BREP, STL or .geo file; parts of a mesh are selected by its sets or \
             by position",
        ));
    }
    let _listening = interrupt.listen();
    gmsh::faces(path, meshing, interrupt.flag()).map_err(|error| finding(&error, meshing.hexes))
}

/// Finds the faces of the bodies in the geometry at `path`, with triangles near enough to their
/// curves to make other bodies of them. Gmsh is ended soon after `interrupt` is set.
///
/// # Errors
/// [`MeshingError`]
pub fn bodies(
    path: &Path,
    meshing: &Meshing,
    interrupt: &Interrupt,
) -> Result<PartFaces, MeshingError> {
    let _listening = interrupt.listen();
    gmsh::bodies(path, meshing, interrupt.flag())
}

/// Triangulates the surface of the geometry at `path`; none for a mesh, and for a script that
/// describes one. Gmsh is ended soon after `interrupt` is set.
pub fn triangulate(
    path: &Path,
    meshing: &Meshing,
    interrupt: &Interrupt,
) -> Option<Result<Triangulation, MeshingError>> {
    let _listening = interrupt.listen();
    if !gmsh::is_geometry(path) {
        return None;
    }
    gmsh::triangulate(path, meshing, interrupt.flag()).transpose()
}

/// Returns the treatment of a file where nothing is said besides the command line.
pub fn plain(gmsh: &Gmsh) -> How {
    How { method: MeshMethod::Tetrahedra, across: 1, gmsh: by(gmsh), cutting: Cutting::KeepOrCut }
}

/// How Gmsh works where nothing is said besides the command line.
pub fn by(gmsh: &Gmsh) -> Meshing {
    Meshing {
        program: gmsh.program.clone(),
        hexes: gmsh::Hexes::Tetrahedra,
        size: ElementSize::OfGeometry,
        finer: Vec::new(),
        length_unit: "MM",
        timeout: Duration::from_secs(600),
        trust: gmsh.trust_geometry,
        surface: None,
    }
}

/// The size of elements from their largest `edge` or their number.
///
/// # Errors
/// More elements than the memory holds, or none.
pub fn element_size(edge: Option<f64>, number: Option<usize>) -> Result<ElementSize, Finding> {
    number.map(free_memory::check_elements).transpose()?;
    let of_edge = edge.map_or(ElementSize::OfGeometry, ElementSize::Edge);
    Ok(number.map_or(of_edge, ElementSize::Number))
}

/// Returns the treatment of the mesh of `config` without places of smaller elements.
///
/// # Errors
/// More elements than the memory holds.
pub fn how(config: &Config, gmsh: &Gmsh) -> Result<How, Finding> {
    let keys = config.mesh.get_ref();
    Ok(How {
        method: keys.method.as_ref().map_or(MeshMethod::Tetrahedra, |method| *method.get_ref()),
        across: keys.across.as_ref().map_or(1, |across| *across.get_ref()),
        gmsh: of(config, gmsh)?,
        cutting: tetrahedra::cutting(config),
    })
}

/// Returns the settings of Gmsh from the command line and the case file.
///
/// # Errors
/// More elements than the memory holds.
pub fn of(config: &Config, gmsh: &Gmsh) -> Result<Meshing, Finding> {
    let keys = config.mesh.get_ref();
    let default = by(gmsh);
    let (edge, number) = (keys.element_size.as_ref(), keys.elements.as_ref());
    let hexes = keys.hexes.as_ref().map_or(Hexes::Auto, |hexes| *hexes.get_ref());
    let size = element_size(edge.map(|key| *key.get_ref()), number.map(|key| *key.get_ref()))?;
    Ok(Meshing {
        size,
        hexes: match hexes {
            Hexes::Auto if tetrahedra::for_hexahedra(config).is_none() => default.hexes,
            hexes => hexes.into(),
        },
        length_unit: config.units.map_or(default.length_unit, |units| units.length.in_step_files()),
        timeout: keys
            .gmsh_timeout
            .as_ref()
            .map_or(default.timeout, |seconds| Duration::from_secs_f64(*seconds.get_ref())),
        ..default
    })
}

/// Returns the treatment of a built part by hexahedra of the grid with an `edge`.
pub fn of_built_by_hexahedra(gmsh: &Gmsh, edge: f64) -> How {
    let gmsh = Meshing { size: ElementSize::Edge(edge), ..by(gmsh) };
    How { method: MeshMethod::Hexahedra, across: 1, gmsh, cutting: Cutting::KeepOrRefuse }
}

/// Returns the treatment of the built part of `config` by tetrahedra of at most `edge`.
pub fn of_built(config: &Config, gmsh: &Gmsh, edge: f64) -> How {
    let (cutting, hexes) = match tetrahedra::for_hexahedra(config) {
        None => (Cutting::KeepOrRefuse, gmsh::Hexes::Tetrahedra),
        Some(_) => (Cutting::Allowed, gmsh::Hexes::Subdivide),
    };
    let gmsh = Meshing { hexes, size: ElementSize::Edge(edge), ..by(gmsh) };
    How { method: MeshMethod::Tetrahedra, across: 1, gmsh, cutting }
}

impl From<Hexes> for gmsh::Hexes {
    fn from(hexes: Hexes) -> Self {
        match hexes {
            Hexes::Auto => gmsh::Hexes::Auto,
            Hexes::Transfinite => gmsh::Hexes::Transfinite,
            Hexes::Extrude => gmsh::Hexes::Extrude,
            Hexes::Subdivide => gmsh::Hexes::Subdivide,
        }
    }
}

/// Returns the remedy against facets that bound no body.
fn of_facets(fault: &FacetFault) -> &'static str {
    match fault {
        FacetFault::NotStl(_) | FacetFault::Malformed { .. } | FacetFault::Empty => {
            "export the part as STL again, text or binary"
        }
        FacetFault::NotFinite { .. } => {
            "export the part again, without damaged facets and in a unit that fits it"
        }
        FacetFault::Flat { .. } | FacetFault::NoVolume => {
            "a part needs a volume: give the surface a thickness in the CAD program"
        }
        FacetFault::Open { .. } => {
            "the triangles must enclose a body without gaps: close the holes with a repair tool such as \
             MeshLab, or export the part again from CAD, best as STEP"
        }
        FacetFault::Twisted { .. } => {
            "repair the file there: facets overlap, or form a surface with one side"
        }
        FacetFault::Nested { .. } => {
            "turn its facets over if it is a cavity; delete it if it is material in material"
        }
    }
}

fn is_stl(extension: &OsStr) -> bool {
    extension.eq_ignore_ascii_case("stl")
}

fn remedy(error: &MeshingError, hexes: gmsh::Hexes) -> Option<&'static str> {
    Some(match error {
        MeshingError::Program { .. } => {
            "install Gmsh (`apt install gmsh`, `pip install gmsh`, or from gmsh.info), or say \
             where it is with `--gmsh` or the variable GMSH; or mesh the part elsewhere and name \
             the .msh file"
        }

        MeshingError::Untrusted { .. } => {
            "check what the file does there; if you trust it and everything it reads, give \
             `--trust-geometry` on the command line"
        }
        MeshingError::Failed { .. } => {
            "check the geometry with `gmsh FILE`; if Gmsh cannot mesh it, another \
             `element_size` or `hexes` may help, or name a mesh that was made elsewhere"
        }
        MeshingError::Timeout { .. } => {
            "give a larger `element_size` or fewer `elements`, or more time by `gmsh_timeout` in [mesh]; \
             if it is slow at any size, check the geometry with `gmsh FILE`"
        }
        MeshingError::TooMany { .. } => {
            "give a larger `element_size`; check the unit of the file, and of the size"
        }
        MeshingError::Volume { .. } => {
            "give a smaller `element_size`, so that elements follow the surface; if the volume stays \
             wrong, the geometry has gaps or overlaps: repair it in a CAD program"
        }
        MeshingError::NoSolid { .. } => {
            "export the part as a solid (STEP: `MANIFOLD_SOLID_BREP`), or close the gaps between its \
             surfaces"
        }
        MeshingError::Facets { fault, .. } => of_facets(fault),
        MeshingError::Flat { path, .. } if path.extension().is_some_and(is_stl) => {
            "another `element_size` may help, or fewer facets: of a design of this program \
             `topopt export RESULT --decimate 0.2`; else repair the file there: look for slivers"
        }
        MeshingError::Flat { .. } => {
            "another `element_size` or number of elements may help, or repair the geometry there: \
             look for slivers and edges that are nearly tangent"
        }
        MeshingError::NoVolumes(path) if path.extension().is_some_and(is_stl) => {
            "the triangles must enclose one body without gaps: repair the file, or write several \
             bodies to a file each"
        }
        MeshingError::NoVolumes(_) => {
            "the geometry must have a volume; once a .geo file has one physical group, Gmsh saves \
             only elements in a group: add `Physical Volume(\"part\") = Volume{:};`"
        }

        MeshingError::NotHexahedra { .. } => match hexes {
            // They mesh again, or cut what is left.
            gmsh::Hexes::Auto | gmsh::Hexes::Subdivide | gmsh::Hexes::Tetrahedra => return None,
            gmsh::Hexes::Transfinite => {
                "only volumes of six sides with equal numbers of elements on opposite edges can be \
                 meshed so; set `hexes` to \"subdivide\""
            }
            gmsh::Hexes::Extrude => {
                "every volume must be an extrusion `Extrude {...} { Surface{...}; Layers{n}; \
                 Recombine; }` of the .geo file; else set `hexes` to \"subdivide\""
            }
        },
        _ => return None,
    })
}

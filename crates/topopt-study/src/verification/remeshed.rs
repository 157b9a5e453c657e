//! The built shape meshed anew, and solved as a part of its own.

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use topopt_case::built;
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::lookup::Lookup;
use topopt_case::meshing::{self, How};
use topopt_case::model::Model;
use topopt_io::stl;
use topopt_mesh::HexMesh;
use topopt_mesh::quality::Worst;
use topopt_surface::{Shaping, TriangleSurface};

use super::request::{REMEDIES, Request};
use super::transferred::transferred;
use super::verified::Verified;
use crate::analysis::{ROUNDED, filling};
use crate::built_shape::BuiltShape;
use crate::design_file::DesignFile;
use crate::failure::Failure;
use crate::part_file::PartFile;
use crate::place::Place;
use crate::solved::{Conditions, Given, Part, Solved};

/// Results of the built shape on a mesh that fits it, with O of all load cases and C of each one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remeshed<O, C> {
    /// Elements of the mesh.
    pub elements: usize,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// Volume of the elements.
    pub volume: f64,
    /// Weighted compliance.
    pub compliance: f64,
    /// Compliance of the shares of elements, over this one.
    pub verified_over_remeshed: f64,
    /// The largest values of all load cases.
    pub largest: O,
    /// Every load case by itself.
    pub load_cases: Vec<C>,
    /// Iterations of conjugate gradients, summed over load cases.
    pub pcg_iterations: usize,
    /// Largest relative residual over load cases.
    pub pcg_residual: f64,
    /// Notes on the mesh and on sets of which nothing is left, a sentence each.
    pub notes: Vec<String>,
}

/// Settings with which the built shape is solved.
pub(super) struct Settings<'a> {
    /// Threshold, and Gmsh.
    pub request: &'a Request,
    /// Compute target.
    pub place: &'a Place,
    /// Ends meshing and solve.
    pub interrupt: &'a Interrupt,
}

/// Edge of hexahedra in widths of the elements that were optimized, and least scaled Jacobian of
/// theirs: in members of few elements they may be poor, 0.09 where they were 2.9 widths long.
const HEXAHEDRON: f64 = 0.75;
const GOOD: f64 = 0.2;

/// Longest edge of tetrahedra in the same widths. Members of two widths get two elements of second
/// order across.
const EDGE: f64 = 1.5;

/// Shares of the triangles that are kept, the first that tetrahedra can be made in: those between
/// coplanar ones are of no use there, and others make other needles.
const TRIANGLES: [f64; 3] = [0.3, 0.5, 0.2];

/// Meshes what is built of the design in `file` within `body`, and solves it under the loads and
/// supports of the case that `lookup` has. `verified` is the compliance to compare with.
///
/// # Errors
/// No Gmsh, a surface that it cannot mesh, a load that is not on the shape, a failed solve.
pub(super) fn solved<K: Verified<N>, const N: usize>(
    lookup: &Lookup,
    (file, body): (&DesignFile, &PartFile),
    verified: f64,
    settings: &Settings,
) -> Result<Remeshed<K::Overall, K::Case>, Failure> {
    let (mesh, mut notes, width) = meshed(lookup.config, (file, body), settings)?;
    let sets = transferred(lookup.sets, lookup.mesh, &mesh, width);
    let config = built::case(lookup, &sets, &mut notes)?;
    let mesh = mesh.with_sets(sets).map_err(|error| Finding::new(error.to_string()));
    let case = Case::<N>::on::<K>(&config, mesh.map_err(InputError::from)?)?;
    let given = Given::of::<K>(&config, &case);

    let Settings { place, interrupt, .. } = *settings;
    let place = &place.instead(&config, &case.mesh).unwrap_or_else(|| place.clone());
    let model = Model::<K, N>::build(&config, case, place.needs_colors(&config))?;
    let filling = filling(&config, &model, None);
    let part = Part { config: &config, model: &model, given, filling };
    let remedies = REMEDIES;
    let conditions = Conditions { config: &config, place, interrupt, rounded: ROUNDED, remedies };
    let solved = Solved::new(part, conditions)?;

    let load_cases = solved.cases(false);
    Ok(Remeshed {
        elements: model.mesh.n_elements(),
        nodes: model.mesh.n_nodes(),
        volume: solved.part.filling.material.iter().sum(),
        compliance: solved.states.compliance,
        verified_over_remeshed: verified / solved.states.compliance,
        largest: K::overall(&solved, &load_cases, file)?,
        load_cases,
        pcg_iterations: solved.states.pcg_iterations,
        pcg_residual: solved.states.pcg_residual,
        notes,
    })
}

/// Mesh of what is built, notes on it, and the width of elements that were optimized.
type Meshed = (HexMesh, Vec<String>, f64);

/// The mesh of what is built: hexahedra where they are good, else tetrahedra.
fn meshed(
    config: &Config,
    (file, body): (&DesignFile, &PartFile),
    settings: &Settings,
) -> Result<Meshed, Failure> {
    let gmsh = &settings.request.gmsh;
    let by_hexahedra = |width: f64| meshing::of_built_by_hexahedra(gmsh, HEXAHEDRON * width);
    let hexahedra = of_triangles((file, body), None, settings, by_hexahedra);
    match hexahedra {
        Ok(found) if Worst::of(&found.0).scaled_jacobian >= GOOD => return Ok(found),
        Err(failure) if settings.interrupt.is_requested() => return Err(failure),
        _ => {}
    }

    let by_tetrahedra = |width: f64| meshing::of_built(config, gmsh, EDGE * width);
    let attempt = |share: f64| of_triangles((file, body), Some(share), settings, by_tetrahedra);
    let first = attempt(TRIANGLES[0]);
    if first.is_ok() || settings.interrupt.is_requested() {
        return first;
    }
    let other = TRIANGLES[1..].iter().find_map(|&share| attempt(share).ok());
    other.map_or(first, Ok)
}

/// The mesh of what is built within this share of its triangles, or all of them, as `how` says for
/// the width of elements.
fn of_triangles(
    (file, body): (&DesignFile, &PartFile),
    decimation: Option<f64>,
    settings: &Settings,
    how: impl Fn(f64) -> How,
) -> Result<Meshed, Failure> {
    let threshold = settings.request.threshold;
    let shaping = Shaping { threshold, decimation, ..Shaping::default() };
    let built = BuiltShape::of(file, body, &shaping).map_err(InputError::from)?;
    let width = built.solid.width();
    let (mesh, notes) = within(&built.shape.surface, &how(width), settings.interrupt)?;
    Ok((mesh, notes, width))
}

/// The mesh of what lies within `surface`, and notes on it.
fn within(
    surface: &TriangleSurface,
    how: &How,
    interrupt: &Interrupt,
) -> Result<(HexMesh, Vec<String>), Failure> {
    let folder = TempDir::new().map_err(|cause| {
        let message = format!("no folder for the mesh of the built shape: {cause}");
        InputError::from(Finding::new(message).remedy("set TMPDIR to a folder that can be written"))
    })?;
    let path = folder.path().join("built.stl");
    stl::write(&path, surface.vertices(), surface.triangles())?;
    let read = meshing::read(&path, how, interrupt);
    let imported = read.map_err(InputError::from)?;
    Ok((imported.mesh, imported.notes))
}

//! The choice between tetrahedra as elements of ten nodes and hexahedra that they are cut into.

use toml::Spanned;
use topopt_io::{Cutting, gmsh};
use topopt_mesh::HexMesh;
use topopt_mesh::cells::{Cells, Shape};

use crate::config::{Config, Smoother, Strategy};
use crate::finding::Finding;

/// Treatment of the cells of a mesh file: tetrahedra are kept where everything that the case asks
/// for computes them, unless the case file says that they are cut.
pub fn cutting(config: &Config) -> Cutting {
    let cut = config.mesh.get_ref().cut.as_ref().map(|cut| *cut.get_ref());
    match (cut, for_hexahedra(config).is_some()) {
        (Some(true), _) | (None, true) => Cutting::Allowed,
        (None, false) => Cutting::KeepOrCut,
        (Some(false), false) => Cutting::KeepOrRefuse,
        (Some(false), true) => Cutting::Refused,
    }
}

/// Returns the first setting of the case that hexahedra alone are computed with, as
/// `solver.strategy = "nbn"`.
pub fn for_hexahedra(config: &Config) -> Option<String> {
    let solver = &config.solver;
    if !matches!(solver.strategy, Strategy::Auto | Strategy::Mf) {
        return Some(format!("solver.strategy = {:?}", solver.strategy.name()));
    }
    let is_patch = solver.is_multigrid() && solver.smoother == Smoother::Patch;
    is_patch.then(|| "solver.smoother = \"patch\"".into())
}

/// Says in the case file that a mesh file is cut, where another setting decides that: results stay
/// those of hexahedra, also where their case is computed elsewhere.
pub(crate) fn resolve(config: &mut Config) {
    let is_mesh = config.mesh_path().is_some_and(|path| !gmsh::is_geometry(&path));
    if is_mesh && cutting(config) == Cutting::Allowed {
        config.mesh.get_mut().cut.get_or_insert(Spanned::new(0..0, true));
    }
}

/// Refuses a mesh of tetrahedra in a case that hexahedra alone are computed with.
///
/// # Errors
/// A finding with the setting.
pub(crate) fn check(config: &Config, mesh: &HexMesh) -> Result<(), Finding> {
    match for_hexahedra(config).filter(|_| mesh.shape() == Shape::Tetrahedron) {
        Some(setting) => Err(refused(&setting)),
        None => Ok(()),
    }
}

fn refused(setting: &str) -> Finding {
    Finding::new(format!("the mesh is of tetrahedra, which `{setting}` does not compute"))
        .remedy("change that setting, or cut them into hexahedra")
}

/// Returns the note on tetrahedra among `cells` that were cut though the case file did not ask for
/// it.
pub(crate) fn note_on_cut(config: &Config, cells: &Cells) -> Option<String> {
    let n_tetrahedra = cells.shapes().iter().filter(|it| **it == Shape::Tetrahedron).count();
    if config.mesh.get_ref().cut.is_some() || n_tetrahedra == 0 {
        return None;
    }
    if n_tetrahedra < cells.len() {
        return Some(
            "tetrahedra were cut into hexahedra, which are too stiff in bending: the mesh has other \
             elements besides; without these they would be elements of ten nodes"
                .into(),
        );
    }
    let setting = for_hexahedra(config)?;
    Some(format!(
        "tetrahedra were cut into hexahedra: these are less accurate, but `{setting}` computes \
         nothing else; without it the tetrahedra would be elements of ten nodes"
    ))
}

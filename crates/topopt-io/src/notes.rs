//! Notes on what was changed of the cells and the sets of a file.

use topopt_mesh::HexMesh;
use topopt_mesh::cells::{Cells, Cut, Moved, Shape};
use topopt_mesh::hexahedron;
use topopt_mesh::numbers::shown;
use topopt_mesh::quality::Worst;

use crate::elements::counts;
use crate::import::UncutCells;
use crate::read_error::list;

/// Returns the note on `count` nodes of a set that no hexahedron uses.
pub(crate) fn left_out_of_set(name: &str, count: usize) -> String {
    format!("{count} nodes of node set `{name}` were left out: no solid element has them")
}

/// Returns the note on a set that has the ends of edges in place of their middles.
pub(crate) fn ends_of_set(name: &str, n_middles: usize, n_ends: usize) -> String {
    format!(
        "node set `{name}`: nodes in the middle of edges ({n_middles}) were left out, and the ends of \
         these edges were added ({n_ends})"
    )
}

/// Returns the note on tetrahedra that are kept: the nodes that were added, and elements that were
/// made straight.
pub(crate) fn on_tetrahedra(cells: &Cells, cut: &Cut) -> Option<String> {
    let n_elements = cut.tetrahedra.len();
    if n_elements == 0 {
        return None;
    }
    let of_first = cells.iter().filter(|cell| cell.middles.is_empty()).count();
    let mut note = format!("tetrahedra, computed as elements of ten nodes: {n_elements}");
    if of_first > 0 {
        note += &format!("; nodes were added in the middles of the edges of {of_first} of them");
    }
    if cut.n_straightened > 0 {
        note += &format!(
            "; {} curved ones were straightened, because they would have been inverted",
            cut.n_straightened
        );
    }
    Some(note)
}

/// Returns the note on cells of second order that were not cut.
pub(crate) fn on_order(cells: &Cells, cut: &Cut) -> Option<String> {
    if !cut.tetrahedra.is_empty() {
        return None;
    }
    let is_straightened = |cell: &usize| !cut.is_cut(*cell) && !cells.get(*cell).middles.is_empty();
    let count = (0..cells.len()).filter(is_straightened).count();
    (count > 0).then(|| format!("elements of second order, read by their corners: {count}"))
}

/// Returns the note on corners that were moved in tetrahedra that are nearly flat.
pub(crate) fn on_moved(Moved { count, distance }: Moved) -> String {
    format!(
        "corners of nearly flat tetrahedra moved by up to {}, inside the part or along plane faces, so \
         that their hexahedra can be computed with: {count}",
        shown(distance)
    )
}

/// Returns the note on pyramids that stay hexahedra with corners that coincide.
pub(crate) fn on_pyramids(cells: &Cells, cut: &Cut) -> Option<String> {
    let is_kept = |cell: &usize| !cut.is_cut(*cell) && cells.get(*cell).shape == Shape::Pyramid;
    let count = (0..cells.len()).filter(is_kept).count();
    (count > 0).then(|| format!("pyramids, read as hexahedra of five nodes: {count}"))
}

/// Returns the note on wedges.
pub(crate) fn on_wedges(mesh: &HexMesh) -> Option<String> {
    if mesh.shape() == Shape::Tetrahedron {
        return None;
    }
    let wedges = mesh.hexes().iter().filter(|hex| hexahedron::wedge(hex).is_some()).count();
    (wedges > 0).then(|| format!("wedges, read as hexahedra of six nodes: {wedges}"))
}

/// Returns the note on cut cells: their shapes, and the quality before and after.
pub(crate) fn on_cut(
    uncut: &UncutCells,
    mesh: &HexMesh,
    n_cut: usize,
    n_straightened: usize,
) -> String {
    let UncutCells { coordinates, cells, .. } = uncut;
    let before = cells.iter().map(|cell| cell.scaled_jacobian(coordinates));
    let before = before.fold(f64::INFINITY, f64::min);
    let after = Worst::of(mesh).scaled_jacobian;

    let mut note = format!(
        "{n_cut} of {} elements were cut: of {} came {} hexahedra; the smallest scaled Jacobian was \
         {before:.3} and is {after:.3}",
        cells.len(),
        list(&counts(cells, &Shape::ALL)),
        mesh.n_elements(),
    );
    let degenerate = mesh.hexes().iter().filter(|hex| hexahedron::pyramid(hex).is_some()).count();
    if degenerate > 0 {
        note += &format!("; {degenerate} of them are pyramids, at the apexes of pyramids");
    }
    if n_straightened > 0 {
        note += &format!(
            "; {n_straightened} curved elements were straightened, because curved ones would have been \
             inverted or nearly flat"
        );
    }
    note
}

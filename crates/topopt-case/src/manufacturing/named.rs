//! Faces of the part's surface in the sets that demands name.

use std::collections::BTreeSet;

use toml::Spanned;
use topopt_mesh::Face;
use topopt_mesh::surface::boundary_faces;

use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;

/// Faces of a set, in the order of the user.
pub(super) struct Named {
    /// Faces on the surface of the part.
    pub free: Vec<Face>,
    /// Number of faces within the part.
    pub n_inner: usize,
}

/// Returns the faces of a `set` of the case; of nodes and elements those of the surface all of
/// whose nodes are in the set.
///
/// # Errors
/// A finding about a set that is not there.
pub(super) fn faces_of<const N: usize>(
    config: &Config,
    set: &Spanned<String>,
    case: &Case<N>,
) -> Result<Named, Finding> {
    let lookup = case.lookup(config);
    let mut free = boundary_faces(&case.mesh);
    if let Some(faces) = lookup.faces(set, None) {
        let of_surface: BTreeSet<Face> = free.into_iter().collect();
        let (free, inner): (Vec<_>, Vec<_>) =
            faces.into_iter().partition(|face| of_surface.contains(face));
        return Ok(Named { free, n_inner: inner.len() });
    }

    let mut findings = Vec::new();
    let nodes = lookup.nodes(set, None, &mut findings);
    if let Some(finding) = findings.pop() {
        return Err(finding);
    }
    let is_in = |face: &Face| {
        face.nodes(&case.mesh).into_iter().all(|node| nodes.binary_search(&node).is_ok())
    };
    free.retain(is_in);
    Ok(Named { free, n_inner: 0 })
}

//! Faces at the boundary of a mesh, kept with it.

use std::sync::{Arc, OnceLock};

use crate::Face;

/// Boundary of a mesh and its clones, once it was found. Meshes with it are equal to those without.
#[derive(Debug, Clone, Default)]
pub(crate) struct Boundary(Arc<OnceLock<Vec<Face>>>);

impl Boundary {
    /// The faces, which `find` gives if they are not there.
    pub(crate) fn get_or_find(&self, find: impl FnOnce() -> Vec<Face>) -> &[Face] {
        if let Some(faces) = self.0.get() {
            return faces;
        }
        // Before it is locked: a thread that waits for others in the search may ask again.
        let faces = find();
        self.0.get_or_init(|| faces)
    }
}

impl PartialEq for Boundary {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

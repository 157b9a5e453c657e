//! Random damage to a file, for the tests that readers survive it.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use topopt_io::{ImportedMesh, ReadError, read_mesh};

/// The bytes of a file; `path` from the folder of this crate.
pub fn file(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Reads `bytes` as a file of that name.
pub fn read_bytes(bytes: &[u8], name: &str) -> Result<ImportedMesh, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

/// Whether a file gives a mesh with a number for each element, or an error that names the file.
pub fn is_sound(bytes: &[u8], name: &str) -> bool {
    match read_bytes(bytes, name) {
        Ok(imported) => imported.mesh.n_elements() == imported.element_tags.len(),
        Err(error) => error.to_string().contains(&format!("{name}: ")),
    }
}

/// One to five places, each with a new byte.
pub fn any_bytes() -> impl Strategy<Value = Vec<(Index, u8)>> {
    vec((any::<Index>(), any::<u8>()), 1..6)
}

/// One to five places, each with a byte of `signs`.
pub fn any_of(signs: &'static [u8]) -> impl Strategy<Value = Vec<(Index, u8)>> {
    vec((any::<Index>(), prop::sample::select(signs)), 1..6)
}

/// `bytes` with the changes made, one after the other.
pub fn damaged(mut bytes: Vec<u8>, changes: Vec<(Index, u8)>) -> Vec<u8> {
    for (at, value) in changes {
        let at = at.index(bytes.len());
        bytes[at] = value;
    }
    bytes
}

/// `text` with pairs of its lines exchanged, one pair after the other.
pub fn with_lines_swapped(text: &str, swaps: Vec<[Index; 2]>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for [a, b] in swaps {
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        lines.swap(a, b);
    }
    lines.join("\n")
}

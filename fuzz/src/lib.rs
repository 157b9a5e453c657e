//! What all targets do with a file.

use std::fs;

use topopt_io::read_mesh;

/// Reads `bytes` as a mesh file with this extension: a mesh with a number for each element, or an
/// error with a message. All else is for the fuzzer to notice.
pub fn read(bytes: &[u8], extension: &str) {
    let path = std::env::temp_dir().join(format!("topopt-{}.{extension}", std::process::id()));
    fs::write(&path, bytes).expect("the folder for temporary files can be written to");
    match read_mesh(&path) {
        Ok(imported) => assert_eq!(imported.mesh.n_elements(), imported.element_tags.len()),
        Err(error) => assert!(error.to_string().contains(": ")),
    }
}

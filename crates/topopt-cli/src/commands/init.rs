//! `topopt init NAME`

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use topopt_study::failure::Failure;
use topopt_study::finding::{Finding, InputError};

/// A commented case file: the cantilever, with every key.
pub(super) const TEMPLATE: &str = include_str!("template.toml");

/// Writes the template to NAME.toml, which must not exist yet.
pub(super) fn init(name: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let is_toml = name.extension().is_some_and(|extension| extension == "toml");
    let mut path = name.as_os_str().to_owned();
    path.push(if is_toml { "" } else { ".toml" });
    let path = Path::new(&path);
    File::create_new(path)
        .and_then(|mut file| file.write_all(TEMPLATE.as_bytes()))
        .map_err(|cause| InputError::from(not_written(path, &cause)))?;
    writeln!(out, "wrote {0}; edit it, then `topopt run {0}`", path.display())?;
    Ok(())
}

fn not_written(path: &Path, cause: &std::io::Error) -> Finding {
    let path = path.display();
    match cause.kind() {
        ErrorKind::AlreadyExists => Finding::new(format!("{path} already exists"))
            .remedy("choose another name, or remove the file first"),
        _ => Finding::new(format!("cannot write {path}: {cause}"))
            .remedy("choose an existing, writable folder"),
    }
}

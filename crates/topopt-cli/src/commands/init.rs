//! `topopt init NAME`, `topopt init DECK`, `topopt init GEOMETRY`

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::{self, Gmsh};
use topopt_case::{deck_case, deck_totals, geometry_case};
use topopt_io::gmsh::is_geometry;
use topopt_study::failure::Failure;

/// A commented case file: the cantilever, with every key.
pub(super) const TEMPLATE: &str = include_str!("template.toml");

/// Writes the template to NAME.toml, or the case of a mesh file or a geometry to a file of its name
/// in the working directory; neither may exist yet.
pub(super) fn init(name: &Path, out: &mut dyn Write, interrupt: &Interrupt) -> Result<(), Failure> {
    if topopt_io::is_mesh(name) {
        return of_mesh(name, out, interrupt);
    }
    if is_geometry(name) {
        return of_geometry(name, out, interrupt);
    }
    let is_toml = name.extension().is_some_and(|extension| extension == "toml");
    let mut path = name.as_os_str().to_owned();
    path.push(if is_toml { "" } else { ".toml" });
    let path = Path::new(&path);
    create(path, TEMPLATE)?;
    writeln!(out, "wrote {0}; edit it, then `topopt run {0}`", path.display())?;
    Ok(())
}

fn of_mesh(mesh: &Path, out: &mut dyn Write, interrupt: &Interrupt) -> Result<(), Failure> {
    let how = meshing::plain(&Gmsh::default());
    let imported = meshing::read(mesh, &how, interrupt).map_err(InputError::from)?;
    let (text, lost) = deck_case::case_of(mesh, &imported);
    let path = case_path(mesh);
    create(&path, &text)?;

    let count = |table: &str| text.lines().filter(|line| *line == table).count();
    let [supports, loads, others] = ["[[supports]]", "[[loads]]", "[[materials]]"].map(count);
    let [springs, films] = ["[[springs]]", "[[convection]]"].map(count);
    let materials = if imported.deck.materials.is_empty() { 0 } else { 1 + others };
    let more = [("springs", springs), ("convection", films)].into_iter().filter(|(_, n)| *n > 0);
    let more: String = more.map(|(what, n)| format!(", {what} {n}")).collect();
    writeln!(
        out,
        "wrote {}: supports {supports}, loads {loads}, materials {materials}{more}",
        path.display()
    )?;
    deck_totals::lines(&imported).iter().try_for_each(|total| writeln!(out, "  {total}"))?;
    lost.iter().try_for_each(|what| writeln!(out, "  not carried over: {what}"))?;
    let moves = imported.deck.supports.iter().any(|s| s.case.is_some()) || films > 0;
    let is_held = supports + springs + films > 0 || imported.deck.inertia_relief;
    if !is_held || loads == 0 && !moves {
        writeln!(out, "  add supports and loads; `topopt info {}` lists the sets", mesh.display())?;
    }
    writeln!(out, "check it with `topopt check {}`", path.display())?;
    Ok(())
}

fn of_geometry(geometry: &Path, out: &mut dyn Write, interrupt: &Interrupt) -> Result<(), Failure> {
    let part = meshing::faces(geometry, &meshing::by(&Gmsh::default()), interrupt)
        .map_err(InputError::from)?;
    let (case, path) = (geometry_case::case_of(geometry, &part), case_path(geometry));
    create(&path, &case)?;
    let (case, geometry) = (path.display(), geometry.display());
    writeln!(out, "wrote {case}: {} faces to choose supports and loads from", part.faces.len())?;
    part.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
    writeln!(
        out,
        "see them with `topopt info {geometry} --faces --page faces.html`, edit the case, then `topopt \
         check {case}`"
    )?;
    Ok(())
}

/// Path of the case of a mesh or a geometry, in the working directory.
fn case_path(of: &Path) -> PathBuf {
    let mut path = of.file_stem().unwrap_or_default().to_owned();
    path.push(".toml");
    path.into()
}

fn create(path: &Path, text: &str) -> Result<(), InputError> {
    File::create_new(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|cause| not_written(path, &cause).into())
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

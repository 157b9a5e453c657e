//! The mesh of `[mesh.design_space]`: around kept parts, and clear of keep-outs.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use topopt_io::ImportedMesh;
use topopt_io::gmsh::{Meshing, Triangulation};
use topopt_mesh::numbers::{place, shown};
use topopt_mesh::{HexMesh, Sets};
use topopt_surface::{MOST_FACETS, Member, Space, SpaceError, TriangleSurface, Within};

use crate::config::{Around, Config, DesignSpace, Envelope, KEPT, KeepOut, Within as Bound};
use crate::finding::Finding;
use crate::interrupt::Interrupt;
use crate::meshing::{self, Gmsh, How};

/// Name of the body in messages.
const NAME: &str = "the design space";

/// Bodies that a mesh was made of.
#[derive(Debug, Clone)]
pub struct DesignBodies {
    /// Surfaces of the kept parts.
    pub kept: Vec<TriangleSurface>,
    /// Surface of all that was meshed.
    pub space: Triangulation,
}

/// Makes and meshes the design space of `config`; elements in kept parts become sets.
///
/// # Errors
/// Files that bound no body, bodies that make no space, and what the mesher says.
pub(crate) fn mesh(
    config: &Config,
    keys: &Spanned<DesignSpace>,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
) -> Result<(ImportedMesh, DesignBodies), Finding> {
    let How { method, across, gmsh: meshing, cutting } = meshing::how(config, gmsh)?;
    let files =
        Files { config, keys: keys.get_ref(), span: keys.span(), meshing: &meshing, interrupt };
    let bodies = files.read()?;
    let gmsh = Meshing { surface: Some(bodies.space.clone()), ..meshing.clone() };
    let mut meshed =
        meshing::read(Path::new(NAME), &How { method, across, gmsh, cutting }, interrupt)
            .map_err(|finding| finding.at(config.source(), keys.span(), "this space"))?;
    let sets = files.sets(&meshed.mesh, &bodies.kept)?;
    let mesh = meshed.mesh.with_sets(sets).map_err(|error| Finding::new(error.to_string()))?;
    meshed.mesh = mesh;
    Ok((meshed, bodies))
}

/// The files of a design space.
struct Files<'a> {
    config: &'a Config,
    keys: &'a DesignSpace,
    span: Range<usize>,
    meshing: &'a Meshing,
    interrupt: &'a Interrupt,
}

impl Files<'_> {
    /// Reads all bodies, and makes the space of them.
    fn read(&self) -> Result<DesignBodies, Finding> {
        let DesignSpace { kept, within, margin, keep_out } = self.keys;
        let part = |file: &Spanned<PathBuf>| self.body(file.get_ref(), file.span());
        let kept = kept.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let free = |KeepOut { file, clearance }: &KeepOut| {
            self.body(file.get_ref(), file.span()).map(|body| (body, *clearance))
        };
        let keep_out = keep_out.iter().map(free).collect::<Result<Vec<_>, _>>()?;
        let envelope = match within.get_ref() {
            Bound::Envelope(Envelope { file }) => Some(self.body(file, within.span())?),
            Bound::Around(_) => None,
        };
        let margin = margin.as_ref().map_or(0.0, |margin| *margin.get_ref());
        let within = match (&envelope, within.get_ref()) {
            (Some(envelope), _) => Within::Envelope(envelope),
            (None, Bound::Around(Around::Hull)) => Within::Hull(margin),
            (None, _) => Within::Box(margin),
        };

        let space = Space { kept: &kept, keep_out: &keep_out, within };
        let surface = space.surface().map_err(|error| self.refused(&error))?;
        let (vertices, triangles) = (surface.vertices().to_vec(), surface.triangles().to_vec());
        Ok(DesignBodies { kept, space: Triangulation { vertices, triangles } })
    }

    /// Triangulates the body in `file`, which the case file names at `span`.
    fn body(&self, file: &Path, span: Range<usize>) -> Result<TriangleSurface, Finding> {
        let path = self.config.folder().join(file);
        let finding = match meshing::triangulate(&path, self.meshing, self.interrupt) {
            Some(Ok(Triangulation { vertices, triangles })) => {
                return Ok(TriangleSurface::new(vertices, triangles));
            }
            Some(Err(error)) => meshing::finding(&error, self.meshing.hexes),
            None => {
                let message = format!("{} is no geometry of closed bodies", path.display());
                let remedy = "name an STL, STEP, IGES or BREP file, or a .geo file of OpenCASCADE";
                Finding::new(message).remedy(remedy)
            }
        };
        let finding = finding.at(self.config.source(), span, "this body");
        let relative = "files are relative to the folder of the case file";
        Err(if path.exists() { finding } else { finding.remedy(relative) })
    }

    /// The finding on bodies that make no space.
    fn refused(&self, error: &SpaceError) -> Finding {
        let of_member = |member: Member| match member {
            Member::Kept(i) => self.kept(i),
            Member::KeepOut(i) => self.keep_out(i),
            Member::Envelope => ("the body of `within`".into(), self.keys.within.span()),
        };
        let ((message, remedy), span) = match *error {
            SpaceError::NoBody(member) => {
                let (name, span) = of_member(member);
                (no_body(&name), span)
            }
            SpaceError::Cut { keep_out, kept, at } => {
                let (body, span) = self.keep_out(keep_out);
                (cut(&body, &self.kept(kept).0, at), span)
            }
            SpaceError::Apart { kept: Some(kept), at, .. } => {
                let (name, span) = self.kept(kept);
                (not_touching(&name, at), span)
            }
            SpaceError::Apart { kept: None, at, volume } => {
                (in_pieces(at, volume), self.span.clone())
            }
            SpaceError::TooFine { keep_out, facets } => {
                let (name, span) = self.keep_out(keep_out);
                (too_fine(&name, facets), span)
            }
            SpaceError::Nothing => (nothing(), self.span.clone()),
            SpaceError::GaveUp => (gave_up(), self.span.clone()),
        };
        Finding::new(message).at(self.config.source(), span, "this one").remedy(remedy)
    }

    /// Returns the name and the place of a kept part.
    fn kept(&self, i: usize) -> (String, Range<usize>) {
        let file = &self.keys.kept[i];
        (format!("the kept part {}", file.get_ref().display()), file.span())
    }

    /// Returns the name and the place of a keep-out.
    fn keep_out(&self, i: usize) -> (String, Range<usize>) {
        let file = &self.keys.keep_out[i].file;
        (format!("the keep-out {}", file.get_ref().display()), file.span())
    }

    /// The sets of `mesh`, and those of elements with their center in kept parts.
    fn sets(&self, mesh: &HexMesh, kept: &[TriangleSurface]) -> Result<Sets, Finding> {
        let centers = mesh.centers();
        let (mut sets, mut all) = (mesh.sets().clone(), Vec::new());
        for (i, part) in kept.iter().enumerate() {
            let elements = (0..).zip(part.holds(&centers)).filter(|(_, is_held)| *is_held);
            let elements: Vec<u32> = elements.map(|(element, _)| element).collect();
            if elements.is_empty() {
                let (name, span) = self.kept(i);
                let finding = Finding::new(format!("no element has its center in {name}"));
                let finding = finding.at(self.config.source(), span, "smaller than elements");
                return Err(finding.remedy("give a smaller `element_size`"));
            }
            all.extend(&elements);
            sets.elements.insert(DesignSpace::name(self.keys.kept[i].get_ref()), elements);
        }
        all.sort_unstable();
        all.dedup();
        sets.elements.insert(KEPT.into(), all);
        Ok(sets)
    }
}

/// A message with its remedy.
type Said = (String, String);

fn no_body(name: &str) -> Said {
    let message = format!("{name} bounds no body: its surface is open, or touches itself");
    (message, "repair the file, or export the body again from CAD, best as STEP".into())
}

fn cut(keep_out: &str, kept: &str, at: [f64; 3]) -> Said {
    let message = format!("{keep_out} reaches into {kept} at {}", place(at));
    let remedy = "cut the hole in the kept part, or move the keep-out: a clearance never cuts kept \
                  parts, but the body itself would";
    (message, remedy.into())
}

fn not_touching(kept: &str, at: [f64; 3]) -> Said {
    let message = format!("{kept} touches nothing around it: it is cut off near {}", place(at));
    let remedy = "give a smaller keep-out or `clearance`, or a larger `margin` or body in `within`";
    (message, remedy.into())
}

fn in_pieces(at: [f64; 3], volume: f64) -> Said {
    let message = format!(
        "keep-outs cut the design space into pieces: one of volume {} at {} holds no kept part",
        shown(volume),
        place(at)
    );
    let remedy = "let a keep-out end earlier, or leave the piece out by a body in `within`";
    (message, remedy.into())
}

fn too_fine(name: &str, facets: usize) -> Said {
    let message = format!(
        "{name} is not convex and has {facets} facets that its clearance does not merge; at most \
         {MOST_FACETS} can grow"
    );
    let remedy = "export it coarser, or as several bodies that are convex, a file each; or give the \
                  body with the clearance around it";
    (message, remedy.into())
}

fn nothing() -> Said {
    let message = "nothing besides the kept parts is left to be filled".to_owned();
    (message, "give a larger `margin`, or smaller keep-outs".into())
}

fn gave_up() -> Said {
    let message = "the bodies of the design space cannot be joined".to_owned();
    (message, "look for surfaces that cross themselves, and repair those files".into())
}

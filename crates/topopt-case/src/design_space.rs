//! The mesh of `[mesh.design_space]`: around kept parts, and clear of keep-outs.

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use toml::Spanned;
use topopt_io::ImportedMesh;
use topopt_io::gmsh::{Meshing, PartFaces, Triangulation, is_geometry};
use topopt_mesh::numbers::{place, shown};
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::length;
use topopt_mesh::{BoundingBox, HexMesh, Sets};
use topopt_surface::{Cylinder, MOST_FACETS, Member, Space, SpaceError, TriangleSurface, Within};

use crate::config::{
    Around, Config, DesignSpace, KEPT, KeepOut, KeptPart, NearFaces, Within as Bound,
};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;
use crate::interrupt::Interrupt;
use crate::meshing::{self, Gmsh, How};
use crate::space_bodies::{self, SpaceBody};
use crate::{refinement, selected_faces, space_holes};

/// Name of the body in messages.
const NAME: &str = "the design space";

/// Distance that counts as none, as a share of the diagonal of the space; and that of what rounds a
/// clearance, as a share of the clearance.
const ROUNDING: f64 = 1e-4;
const ROUNDED: f64 = 0.02;

/// Bodies that a mesh was made of.
#[derive(Debug, Clone)]
pub struct DesignBodies {
    /// Kept parts.
    pub kept: Vec<KeptBody>,
    /// Surface of all that was meshed.
    pub space: Triangulation,
}

/// A kept part.
#[derive(Debug, Clone)]
pub struct KeptBody {
    /// Surface of the part.
    pub surface: TriangleSurface,
    /// Layer of it that stays, if not all of it does.
    pub layer: Option<KeptLayer>,
}

/// Layer at faces of a kept part.
#[derive(Debug, Clone)]
pub struct KeptLayer {
    /// The faces.
    pub faces: TriangleSurface,
    /// Largest distance from them.
    pub distance: f64,
}

/// Makes and meshes the design space of `config`; elements in kept parts become sets. Returns also
/// the faces of all bodies on the mesh.
///
/// # Errors
/// Files that bound no body, bodies that make no space, and what the mesher says.
pub(crate) fn mesh(
    config: &Config,
    keys: &Spanned<DesignSpace>,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
) -> Result<(ImportedMesh, GeometryFaces, DesignBodies), Finding> {
    let How { method, across, gmsh: meshing, cutting } = meshing::how(config, gmsh)?;
    let files =
        Files { config, keys: keys.get_ref(), span: keys.span(), meshing: &meshing, interrupt };
    let read = files.read()?;
    let faces = GeometryFaces::of_bodies(&read);
    let (bodies, note) = files.made(&read, &faces)?;

    let bounds = BoundingBox::around(&bodies.space.vertices);
    let finer = refinement::boxes_within(config, bounds, &faces)?;
    let gmsh = Meshing { surface: Some(bodies.space.clone()), finer, ..meshing.clone() };
    let mut meshed =
        meshing::read(Path::new(NAME), &How { method, across, gmsh, cutting }, interrupt)
            .map_err(|finding| finding.at(config.source(), keys.span(), "this space"))?;
    let sets = files.sets(&meshed.mesh, &bodies.kept)?;
    let mesh = meshed.mesh.with_sets(sets).map_err(|error| Finding::new(error.to_string()))?;
    let faces = faces.on(space_bodies::faces_on(&mesh, &bodies.space, &read));
    meshed.notes.extend(note);
    meshed.notes.extend(files.note_on_idle(&read, &bodies.space));
    meshed.mesh = mesh;
    Ok((meshed, faces, bodies))
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
    /// Reads all bodies: kept parts, keep-outs as what they leave free, and the envelope.
    fn read(&self) -> Result<Vec<SpaceBody>, Finding> {
        let DesignSpace { kept, within, keep_out, .. } = self.keys;
        let kept = kept.iter().map(|part| (part.get_ref().file(), part.span(), false));
        let free = |body: &KeepOut| body.file.span();
        let keep_out =
            keep_out.iter().map(|body| (body.file.get_ref().as_path(), free(body), true));
        let envelope = match within.get_ref() {
            Bound::Envelope(envelope) => Some((envelope.file.as_path(), within.span(), false)),
            Bound::Around(_) => None,
        };
        let mut bodies = Vec::new();
        for (file, span, is_free) in kept.chain(keep_out).chain(envelope) {
            let part = self.body(file, span)?;
            let (name, file) = (DesignSpace::name(file), file.display().to_string());
            let body = SpaceBody::behind(bodies.last(), name, file, part);
            bodies.push(if is_free { body.turned() } else { body });
        }
        Ok(bodies)
    }

    /// Makes the space of the bodies, with a note on holes that were filled.
    fn made(
        &self,
        bodies: &[SpaceBody],
        faces: &GeometryFaces,
    ) -> Result<(DesignBodies, Option<String>), Finding> {
        let DesignSpace { kept, within, margin, keep_out } = self.keys;
        let (of_kept, others) = bodies.split_at(kept.len());
        let (of_keep_out, envelope) = others.split_at(keep_out.len());
        let surface = |body: &SpaceBody| body.surface.clone();
        let clearances = keep_out.iter().map(|body| body.clearance);
        let of_keep_out: Vec<_> = of_keep_out.iter().map(surface).zip(clearances).collect();
        let parts: Vec<TriangleSurface> = of_kept.iter().map(surface).collect();
        let margin = margin.as_ref().map_or(0.0, |margin| *margin.get_ref());
        let filled = match (envelope, within.get_ref()) {
            ([body], Bound::Envelope(envelope)) => Some(
                space_holes::filled(self.config, envelope, body, faces)
                    .map_err(|finding| finding.at(self.config.source(), within.span(), "here"))?,
            ),
            _ => None,
        };
        let bound = match (&filled, within.get_ref()) {
            (Some((envelope, _)), _) => Within::Envelope(envelope),
            (None, Bound::Around(Around::Hull)) => Within::Hull(margin),
            (None, _) => Within::Box(margin),
        };

        let cylinders: Vec<Cylinder> = bodies.iter().flat_map(SpaceBody::cylinders).collect();
        let space =
            Space { kept: &parts, keep_out: &of_keep_out, within: bound, cylinders: &cylinders };
        let surface = space.surface().map_err(|error| self.refused(&error))?;
        let (vertices, triangles) = (surface.vertices().to_vec(), surface.triangles().to_vec());
        let kept = kept.iter().zip(of_kept).map(|(keys, body)| self.kept_body(keys, body, faces));
        let kept = kept.collect::<Result<_, _>>()?;
        let space = Triangulation { vertices, triangles };
        Ok((DesignBodies { kept, space }, filled.and_then(|(_, note)| note)))
    }

    /// Notes keep-outs that lie apart from the space, and keep nothing free.
    fn note_on_idle(&self, bodies: &[SpaceBody], space: &Triangulation) -> Option<String> {
        let DesignSpace { kept, keep_out, .. } = self.keys;
        let rounding = ROUNDING * length(BoundingBox::around(&space.vertices).extent());
        let is_idle = |(body, keys): &(&SpaceBody, &KeepOut)| {
            let surface = triangles(&body.surface);
            let most = (1.0 + ROUNDED) * keys.clearance + rounding;
            space.vertices.par_iter().all(|x| surface.distance(*x) > most)
        };
        let all = bodies[kept.len()..].iter().zip(keep_out);
        let idle = all.filter(is_idle).map(|(_, keys)| keys.file.get_ref().display().to_string());
        let idle: Vec<String> = idle.collect();
        (!idle.is_empty()).then(|| {
            format!(
                "keep-outs that lie apart from the design space, and keep nothing free: {}; check \
                 their places and units",
                idle.join(", ")
            )
        })
    }

    /// A kept part with the layer of it that stays.
    fn kept_body(
        &self,
        keys: &Spanned<KeptPart>,
        body: &SpaceBody,
        faces: &GeometryFaces,
    ) -> Result<KeptBody, Finding> {
        let at = |finding: Finding| finding.at(self.config.source(), keys.span(), "this layer");
        let layer = match keys.get_ref() {
            KeptPart::Whole(_) => None,
            KeptPart::Layer(layer) => {
                let NearFaces { set, distance } = &layer.near;
                let numbers = selected_faces::numbers(self.config, faces, set).map_err(at)?;
                let own = body.surface_of(&numbers);
                let faces = own.ok_or_else(|| at(space_holes::of_others(set, body)))?;
                Some(KeptLayer { faces, distance: *distance })
            }
        };
        Ok(KeptBody { surface: body.surface.clone(), layer })
    }

    /// Triangulates the body in `file`, which the case file names at `span`.
    fn body(&self, file: &Path, span: Range<usize>) -> Result<PartFaces, Finding> {
        let path = self.config.folder().join(file);
        let finding = if is_geometry(&path) {
            match meshing::bodies(&path, self.meshing, self.interrupt) {
                Ok(part) => return Ok(part),
                Err(error) => meshing::finding(&error, self.meshing.hexes),
            }
        } else {
            let message = format!("{} is no geometry of closed bodies", path.display());
            let remedy = "name an STL, STEP, IGES or BREP file, or a .geo file of OpenCASCADE";
            Finding::new(message).remedy(remedy)
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
        let part = &self.keys.kept[i];
        (format!("the kept part {}", part.get_ref().file().display()), part.span())
    }

    /// Returns the name and the place of a keep-out.
    fn keep_out(&self, i: usize) -> (String, Range<usize>) {
        let file = &self.keys.keep_out[i].file;
        (format!("the keep-out {}", file.get_ref().display()), file.span())
    }

    /// The sets of `mesh`, and those of elements with their center in kept parts.
    fn sets(&self, mesh: &HexMesh, kept: &[KeptBody]) -> Result<Sets, Finding> {
        let centers = mesh.centers();
        let (mut sets, mut all) = (mesh.sets().clone(), Vec::new());
        for (i, part) in kept.iter().enumerate() {
            let elements = (0..).zip(part.surface.holds(&centers)).filter(|(_, is_held)| *is_held);
            let elements: Vec<u32> = elements.map(|(element, _)| element).collect();
            let in_layer = part.layer.as_ref().map(|layer| layer.elements(&elements, &centers));
            let solid = in_layer.as_ref().unwrap_or(&elements);
            if solid.is_empty() {
                let (name, span) = self.kept(i);
                let layer = part.layer.as_ref().map_or("", |_| "the layer of ");
                let finding = Finding::new(format!("no element has its center in {layer}{name}"));
                let finding = finding.at(self.config.source(), span, "smaller than elements");
                return Err(finding.remedy("give a smaller `element_size`"));
            }
            all.extend(solid);
            let name = DesignSpace::name(self.keys.kept[i].get_ref().file());
            sets.elements.insert(name, elements);
        }
        if !kept.is_empty() {
            all.sort_unstable();
            all.dedup();
            sets.elements.insert(KEPT.into(), all);
        }
        Ok(sets)
    }
}

impl KeptBody {
    /// Computes how deep each of `points` lies in what stays of the part: negative outside.
    pub fn depths(&self, points: &[[f64; 3]]) -> Vec<f64> {
        let surface = triangles(&self.surface);
        let layer = self.layer.as_ref().map(|layer| (triangles(&layer.faces), layer.distance));
        let of = |(x, is_held): (&[f64; 3], bool)| {
            let depth = surface.distance(*x) * if is_held { 1.0 } else { -1.0 };
            layer.as_ref().map_or(depth, |(faces, most)| depth.min(most - faces.distance(*x)))
        };
        points.par_iter().zip(self.surface.holds(points)).map(of).collect()
    }
}

impl KeptLayer {
    /// Finds `elements` whose centers, `[n_elements][3]`, lie in the layer.
    fn elements(&self, elements: &[u32], centers: &[[f64; 3]]) -> Vec<u32> {
        let faces = triangles(&self.faces);
        let is_near = |element: &&u32| faces.distance(centers[**element as usize]) <= self.distance;
        elements.par_iter().filter(is_near).copied().collect()
    }
}

/// The triangles of a surface.
fn triangles(surface: &TriangleSurface) -> Triangles {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| surface.vertices()[vertex as usize]);
    Triangles::new(surface.triangles().iter().map(corners))
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

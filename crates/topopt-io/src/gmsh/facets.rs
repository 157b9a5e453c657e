//! Facets of an STL file as the boundary of bodies: read, repaired where that is safe, and refused
//! where they enclose nothing. Gmsh accepts any facets, and works for hours or meshes another body.

mod fault;
mod holes;
mod orientation;
mod overlaps;
mod read;
mod regions;
mod shells;
mod slivers;
mod triangles;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use topopt_mesh::numbers::shown;
use topopt_mesh::{BoundingBox, Face, HexMesh};

pub use fault::FacetFault;
use read::Soup;
use shells::Shells;
pub use triangles::Triangulation;
pub(super) use triangles::{area, volume};

/// Closed surfaces that bound bodies, and their cavities.
#[derive(Debug)]
pub(super) struct Facets {
    /// `[n_vertices][3]`.
    vertices: Vec<[f64; 3]>,
    surface: Surface,
    /// The surface without needles, if it has any and keeps its volume without them.
    cleaned: Option<Surface>,
    /// Closed surfaces of every body, the outer one first.
    bodies: Vec<Vec<u32>>,
    /// Volume between the facets of the file.
    pub volume: f64,
    /// Area of the facets of the file.
    pub area: f64,
    /// Repairs of the facets, and the bodies that they enclose: a sentence each.
    pub notes: Vec<String>,
}

/// Triangles, counter-clockwise from outside the material.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Surface {
    /// `[n_triangles][3]`.
    triangles: Vec<[u32; 3]>,
    /// The closed surface that each triangle is in, `[n_triangles]`.
    shell_of: Vec<u32>,
}

/// The volume changes by at most this share where needles are removed.
const MOST_CHANGE: f64 = 1e-3;

/// Why a file gives no facets.
#[derive(Debug)]
pub(super) enum Unread {
    /// The operating system's cause.
    Io(io::Error),
    /// The file's.
    Fault(FacetFault),
}

impl From<FacetFault> for Unread {
    fn from(fault: FacetFault) -> Self {
        Self::Fault(fault)
    }
}

impl Facets {
    /// Reads the STL file at `path`.
    ///
    /// # Errors
    /// What cannot be read, and facets that bound no body.
    pub fn read(path: &Path) -> Result<Self, Unread> {
        let bytes = std::fs::read(path).map_err(Unread::Io)?;
        Ok(Self::of(read::parse(&bytes)?)?)
    }

    /// The facets of a surface that is in memory.
    ///
    /// # Errors
    /// Triangles that bound no body.
    pub fn of_surface(surface: &Triangulation) -> Result<Self, FacetFault> {
        Self::of(Soup::of(surface.vertices.clone(), surface.triangles.clone()))
    }

    fn of(soup: Soup) -> Result<Self, FacetFault> {
        let mut notes = soup.notes();
        let Soup { mut vertices, mut triangles, .. } = soup;
        let turned = orientation::turn_alike(&mut triangles);
        notes.extend(holes::close(&mut vertices, &mut triangles));
        orientation::check(&vertices, &triangles)?;
        if turned > 0 {
            notes.push(format!("facets turned over, so that neighbors agree: {turned}"));
        }

        let mut shells = Shells::of(&vertices, &triangles);
        if let Some(united) = overlaps::united(&vertices, &triangles, &shells) {
            notes.push(united.note());
            (vertices, triangles) = (united.vertices, united.triangles);
            shells = Shells::of(&vertices, &triangles);
        }
        let inside_out = shells.turn_outwards(&vertices, &mut triangles)?;
        if inside_out > 0 {
            notes.push(format!(
                "closed surfaces turned inside out, as their facets pointed into the material: \
                 {inside_out}"
            ));
        }
        let [volume, area] = [volume(&vertices, &triangles), area(&vertices, &triangles)];
        let bodies = shells.bodies();
        notes.push(said(triangles.len(), shells.len(), bodies.len(), volume));
        let surface = Surface { triangles, shell_of: shells.of_facets };
        let cleaned = surface.cleaned(&vertices, volume);
        Ok(Self { vertices, surface, cleaned, bodies, volume, area, notes })
    }

    /// The surface without needles, if it has any.
    pub fn cleaned(&self) -> Option<&Surface> {
        self.cleaned.as_ref()
    }

    /// The surface of the file.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Writes one of the surfaces as a mesh that Gmsh reads (version 2.2), with an entity for each
    /// closed surface.
    pub fn write(&self, surface: &Surface, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}", self.vertices.len())?;
        for (i, [x, y, z]) in (1..).zip(&self.vertices) {
            writeln!(file, "{i} {x:?} {y:?} {z:?}")?;
        }
        writeln!(file, "$EndNodes\n$Elements\n{}", surface.triangles.len())?;
        for ((i, triangle), shell) in (1..).zip(&surface.triangles).zip(&surface.shell_of) {
            let [a, b, c] = triangle.map(|vertex| vertex + 1);
            writeln!(file, "{i} 2 2 0 {} {a} {b} {c}", shell + 1)?;
        }
        writeln!(file, "$EndElements")?;
        file.flush()
    }

    /// A script that makes volumes of the entities.
    pub fn volumes(&self) -> String {
        let mut script = String::new();
        for (body, shells) in (1..).zip(&self.bodies) {
            for shell in shells.iter().map(|shell| shell + 1) {
                script += &format!("Surface Loop({shell}) = {{{shell}}};\n");
            }
            let loops: Vec<_> = shells.iter().map(|shell| (shell + 1).to_string()).collect();
            script += &format!("Volume({body}) = {{{}}};\n", loops.join(", "));
        }
        script
    }

    /// Copies of the vertices, `[n_vertices][3]`, and triangles, `[n_triangles][3]`.
    pub fn triangles(&self) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        (self.vertices.clone(), self.surface.triangles.clone())
    }

    /// Number of the face that each triangle is in, from 1, `[n_triangles]`.
    pub fn regions(&self) -> Vec<u32> {
        regions::of(&self.vertices, &self.surface.triangles)
    }

    /// Faces of a mesh of these bodies by the number of the face that is nearest.
    pub fn faces_of(&self, mesh: &HexMesh) -> BTreeMap<u32, Vec<Face>> {
        regions::of_mesh(&self.vertices, &self.surface.triangles, mesh)
    }

    /// Vertices, `[n_vertices][3]`, and triangles, `[n_triangles][3]`, of the surface of the file.
    pub fn into_triangles(self) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        (self.vertices, self.surface.triangles)
    }

    /// The box around them.
    pub fn bounding_box(&self) -> BoundingBox {
        BoundingBox::around(&self.vertices)
    }

    /// Number of bodies, each with its cavities.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }
}

impl Surface {
    /// The surface without needles; none where that changes nothing, or the `volume`.
    fn cleaned(&self, vertices: &[[f64; 3]], exact: f64) -> Option<Self> {
        let mut cleaned = self.clone();
        slivers::remove(vertices, &mut cleaned.triangles, &mut cleaned.shell_of);
        let change = volume(vertices, &cleaned.triangles) / exact - 1.0;
        (cleaned != *self && change.abs() <= MOST_CHANGE).then_some(cleaned)
    }
}

/// Turns `triangles` so that they run counter-clockwise as seen from outside of the body that they
/// bound; closed surfaces within another one are its cavities.
///
/// # Errors
/// Surfaces that are not closed, or enclose nothing.
pub(super) fn turn_outwards(
    vertices: &[[f64; 3]],
    triangles: &mut [[u32; 3]],
) -> Result<(), FacetFault> {
    orientation::turn_alike(triangles);
    orientation::check(vertices, triangles)?;
    Shells::of(vertices, triangles).turn_by_depth(vertices, triangles)?;
    Ok(())
}

/// Describes the bodies, cavities and volume that the facets enclose.
fn said(n_facets: usize, n_shells: usize, n_bodies: usize, volume: f64) -> String {
    let bodies = if n_bodies == 1 { "1 body".into() } else { format!("{n_bodies} bodies") };
    let cavities = match n_shells - n_bodies {
        0 => String::new(),
        1 => " with 1 cavity".into(),
        n => format!(" with {n} cavities"),
    };
    let volume = shown(volume);
    format!(
        "{n_facets} facets enclose {bodies}{cavities} of volume {volume}, in the file's own unit"
    )
}

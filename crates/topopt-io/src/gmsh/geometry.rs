//! A geometry meshed in several ways, until the mesh is good enough.

use std::time::Duration;

use topopt_mesh::numbers::{rounded, shown};

use super::attempts::{self, Attempt, Boundary, Help, MOST_OFF, OF_FACETS, OF_SURFACES};
use super::error::Fault as GmshFault;
use super::finer::{elements, fields};
use super::import::{ALL_FACES, Surfaces};
use super::meshing_error::{MOST_ELEMENTS, MeshingError};
use super::program::{Hexes, MESH, Runner, Task, Wanted, may_help, version};
use super::source::{NO_NAMES, Packing, Source, note_on_edge};
use crate::import::{Cutting, ImportedMesh};
use crate::read_error::{Fault, ReadError};

/// A geometry to be meshed.
pub(super) struct Geometry<'a> {
    pub runner: Runner<'a>,
    pub source: &'a Source,
    /// Largest edge of the elements, if the geometry does not say.
    pub edge: Option<f64>,
}

/// Smallest size that curvature asks for, as a share of the cube root of the volume: at the apex of
/// a cone it asks for none.
const LEAST_SIZE: f64 = 0.005;

impl Geometry<'_> {
    /// The mesh, made in several ways where one is not good enough.
    pub fn mesh(mut self) -> Result<ImportedMesh, MeshingError> {
        let chosen = match self.source {
            Source::Facets(_) if self.edge.is_none() => self.usual_edge(),
            _ => None,
        };
        self.edge = self.edge.or(chosen);
        self.check_number()?;

        let mut meshed = self.mesh_in_some_way()?;
        meshed.remarks.extend(self.check_volume(&meshed)?);
        if let Source::Facets(facets) = self.source {
            meshed.faces = facets.faces_of(&meshed.mesh);
        }
        meshed.notes.extend(self.source.notes());
        meshed.notes.extend(self.lost_tip(&meshed));
        meshed.notes.extend(chosen.map(note_on_edge));
        Ok(meshed)
    }

    fn mesh_in_some_way(&self) -> Result<ImportedMesh, MeshingError> {
        let hexes = self.runner.meshing.hexes;
        let is_script = matches!(self.source, Source::Script);
        if hexes == Hexes::Subdivide || hexes.is_by_commands() && !is_script {
            return self.by_tetrahedra();
        }
        let by_commands = if hexes.is_by_commands() { Hexes::Auto } else { hexes };
        match self.mesh_as(by_commands, self.attempts()[0]) {
            // Meshed again, so that the hexahedra have the size that the elements were to have.
            Err(MeshingError::NotHexahedra { .. }) if hexes.is_by_commands() => {
                self.by_tetrahedra()
            }
            meshed => meshed,
        }
    }

    /// The ways to mesh it, the usual one first.
    fn attempts(&self) -> Vec<Attempt> {
        let Source::Facets(facets) = self.source else { return OF_SURFACES.to_vec() };
        let (is_one, has_needles) = (facets.n_bodies() == 1, facets.cleaned().is_some());
        let is_possible = |attempt: &&Attempt| {
            // Gmsh would make one body of all smooth surfaces.
            (is_one || attempt.boundary == Boundary::Triangles)
                && (has_needles || !attempt.is_cleaned)
        };
        OF_FACETS.iter().filter(is_possible).copied().collect()
    }

    /// The mesh of tetrahedra, which are cut unless they are to be kept.
    fn by_tetrahedra(&self) -> Result<ImportedMesh, MeshingError> {
        let exact = self.source.measure().map(|measure| measure.volume);
        let are_kept = self.runner.meshing.hexes == Hexes::Tetrahedra;
        let hexes = if are_kept { Hexes::Tetrahedra } else { Hexes::Subdivide };
        let mesh = |attempt| self.mesh_as(hexes, attempt);
        attempts::best(&self.attempts(), exact, mesh, |error| self.help(error))
    }

    /// Returns the kind of attempt that may help after one has failed.
    fn help(&self, error: &MeshingError) -> Help {
        match (error, self.source) {
            (MeshingError::Timeout { .. }, Source::Facets(_)) => Help::OtherBoundary,
            (error, _) if may_help(error) => Help::OtherSettings,
            _ => Help::None,
        }
    }

    fn mesh_as(&self, hexes: Hexes, attempt: Attempt) -> Result<ImportedMesh, MeshingError> {
        let folder = self.runner.folder()?;
        let triangles = folder.path().join(TRIANGLES);
        let geometry = match self.source {
            Source::Facets(facets) => {
                let cleaned = facets.cleaned().filter(|_| attempt.is_cleaned);
                let surface = cleaned.unwrap_or(facets.surface());
                facets.write(surface, &triangles).map_err(MeshingError::Folder)?;
                triangles.as_path()
            }
            _ => self.runner.path,
        };
        let size = self.edge.map(|edge| ("element_size", edge));
        let numbers: Vec<_> = self.source.options().iter().copied().chain(size).collect();
        let settings = self.settings(hexes, attempt);
        let timeout = self.timeout(attempt);
        let wanted = Wanted::Mesh;
        let task = Task { geometry, wanted, numbers: &numbers, settings, timeout };
        let log = self.runner.run(&task, &folder)?;

        let cutting = match hexes {
            Hexes::Tetrahedra => Cutting::KeepOrCut,
            Hexes::Subdivide => Cutting::Allowed,
            _ => Cutting::Refused,
        };
        let read = super::read_as(&folder.path().join(MESH), cutting, self.surfaces());
        let mut mesh = read.map_err(|error| self.refused(error))?;
        mesh.remarks.extend(version(&log).map(|version| format!("meshed by Gmsh {version}")));

        let sets = mesh.mesh.sets();
        if sets.nodes.is_empty() && sets.faces.is_empty() {
            mesh.remarks.push(NO_NAMES.into());
        }
        Ok(mesh)
    }

    /// Meaning of the numbers of surfaces in a mesh: those that are made of facets are no faces.
    fn surfaces(&self) -> Surfaces {
        match self.source {
            Source::Facets(_) => Surfaces::Unnamed,
            Source::Script | Source::Solid(_) => Surfaces::Faces,
        }
    }

    /// The time that an attempt has; smooth surfaces leave some for the facets as they are.
    fn timeout(&self, attempt: Attempt) -> Duration {
        let timeout = self.runner.meshing.timeout;
        let is_first =
            matches!(self.source, Source::Facets(_)) && attempt.boundary == Boundary::Smooth;
        if is_first { timeout / 4 } else { timeout }
    }

    /// Settings that Gmsh reads after the geometry, so that they prevail.
    fn settings(&self, hexes: Hexes, attempt: Attempt) -> String {
        let by_tetrahedra = attempt.settings(hexes);
        let mut settings = match (self.source, attempt.boundary) {
            (Source::Facets(_), Boundary::Smooth) => BODY.into(),
            (Source::Facets(facets), Boundary::Triangles) => facets.volumes(),
            (Source::Script, _) => GROUP_FACES.replace("NAME", ALL_FACES),
            (Source::Solid(_), _) => self.source.repair().into(),
        };
        if let Some(size) = self.edge_of(attempt) {
            settings += &format!("Mesh.MeshSizeMax = {size:?};\n");
        }
        if let (Source::Solid(_), Some(measure)) = (self.source, self.source.measure()) {
            let least = rounded(LEAST_SIZE * measure.volume.cbrt());
            settings +=
                &format!("If (Mesh.MeshSizeMin == 0)\nMesh.MeshSizeMin = {least:?};\nEndIf\n");
        }
        settings += &fields(&self.runner.meshing.finer, [1.0; 2]);

        settings += match hexes {
            Hexes::Auto => "",
            Hexes::Transfinite => {
                "Transfinite Surface {:};\nTransfinite Volume {:};\nRecombine Surface {:};\n"
            }
            Hexes::Extrude => {
                "Mesh.Algorithm = 8;\nMesh.RecombinationAlgorithm = 1;\nRecombine Surface {:};\n"
            }
            Hexes::Subdivide | Hexes::Tetrahedra => &by_tetrahedra,
        };
        settings
    }

    /// Largest edge of the elements in an attempt.
    fn edge_of(&self, attempt: Attempt) -> Option<f64> {
        let measure = self.source.measure().filter(|_| attempt.number > 0);
        let packing = Packing::of(self.runner.meshing.hexes);
        let finer = measure.map(|measure| measure.edge_of(attempt.number as f64, packing));
        [self.edge, finer].into_iter().flatten().min_by(f64::total_cmp)
    }

    fn usual_edge(&self) -> Option<f64> {
        let packing = Packing::of(self.runner.meshing.hexes);
        self.source.measure().map(|measure| rounded(measure.usual_edge(packing)))
    }

    fn check_number(&self) -> Result<(), MeshingError> {
        let (Some(measure), Some(edge)) = (self.source.measure(), self.edge) else { return Ok(()) };
        let meshing = self.runner.meshing;
        let packing = Packing::of(meshing.hexes);
        match measure.elements(edge, packing) + elements(&meshing.finer, packing.edge) {
            count if count > MOST_ELEMENTS => Err(MeshingError::TooMany {
                edge,
                volume: measure.volume,
                count,
                most: MOST_ELEMENTS,
            }),
            _ => Ok(()),
        }
    }

    /// Compares the volume of the mesh with that of the geometry, where it is known: a remark on
    /// both.
    fn check_volume(&self, meshed: &ImportedMesh) -> Result<Option<String>, MeshingError> {
        let Some(measure) = self.source.measure() else { return Ok(None) };
        let (meshed, exact) = (meshed.mesh.volumes().iter().sum::<f64>(), measure.volume);
        let off = meshed / exact - 1.0;
        if off.abs() <= MOST_OFF {
            let (meshed, exact, percent) = (shown(meshed), shown(exact), 100.0 * off);
            return Ok(Some(format!(
                "the mesh has the volume {meshed}, the geometry {exact}: {percent:+.2} %"
            )));
        }
        Err(MeshingError::Volume { path: self.runner.path.into(), meshed, exact })
    }

    /// Reports a tip of the facets that the mesh lacks: its volume is tiny, and surfaces that Gmsh
    /// makes of facets may lose it, however small the elements are.
    fn lost_tip(&self, meshed: &ImportedMesh) -> Option<String> {
        let Source::Facets(facets) = self.source else { return None };
        let [mesh, part] = [meshed.mesh.bounding_box(), facets.bounding_box()].map(|b| b.extent());
        let i = (0..3).max_by(|&i, &j| (part[i] - mesh[i]).total_cmp(&(part[j] - mesh[j])))?;
        (part[i] - mesh[i] > MOST_OFF * part[i]).then(|| {
            format!(
                "a tip of the part was cut off: the mesh is {} long in {}, the STL file {}",
                shown(mesh[i]),
                ["x", "y", "z"][i],
                shown(part[i])
            )
        })
    }

    /// Converts an error of the mesh to one in terms of the geometry.
    fn refused(&self, error: ReadError) -> MeshingError {
        let path = self.runner.path.to_owned();
        match (error.fault.format::<GmshFault>(), &*error.fault) {
            (_, Fault::CutRefused { shapes, .. }) => {
                MeshingError::NotHexahedra { path, shapes: shapes.clone() }
            }
            (Some(GmshFault::NoSolids | GmshFault::MissingSection(_)), _)
            | (None, Fault::Io(_)) => MeshingError::NoVolumes(path),
            _ => MeshingError::Refused(ReadError { path, place: None, ..error }),
        }
    }
}

/// From triangles to a body of smooth surfaces, which meet at angles of 40 degrees and more. The
/// facets themselves say nothing of the size of elements, nor does their curvature.
const BODY: &str = "ClassifySurfaces{40 * Pi / 180, 1, 1, Pi};
CreateGeometry;
Surface Loop(1) = Surface{:};
Volume(1) = {1};
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;
";

/// Puts all surfaces of a script into one more group, as Gmsh saves only what is in a group once
/// there is one.
const GROUP_FACES: &str = "topopt_p() = Physical Point{:};
topopt_c() = Physical Curve{:};
topopt_s() = Physical Surface{:};
topopt_v() = Physical Volume{:};
If (#topopt_p() + #topopt_c() + #topopt_s() + #topopt_v() > 0)
Physical Surface(\"NAME\") = Surface{:};
EndIf
";

/// The triangles of an STL file in the temporary folder.
const TRIANGLES: &str = "triangles.msh";

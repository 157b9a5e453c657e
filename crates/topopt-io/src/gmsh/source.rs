//! `Source`: a geometry before it is meshed: its size, and whether it bounds a body at all.

use std::fs::File;
use std::io;

use topopt_mesh::numbers::shown;

use super::facets::{Facets, Unread};
use super::meshing_error::MeshingError;
use super::program::{Hexes, Runner, Task, Wanted, is_iges, is_of_facets, is_solid};
use super::trust::{self, Suspect};

/// A geometry that has been looked at.
#[derive(Debug)]
pub(super) enum Source {
    /// A script of Gmsh.
    Script,
    /// Bodies of OpenCASCADE.
    Solid(Solid),
    /// Closed surfaces of triangles.
    Facets(Facets),
}

/// Bodies as OpenCASCADE has them.
#[derive(Debug)]
pub(super) struct Solid {
    /// Volume and area of the bodies; none if this version of Gmsh does not print them.
    measure: Option<Measure>,
    /// Options with which Gmsh reads it.
    options: Vec<(&'static str, f64)>,
    /// Whether surfaces were sewn together.
    is_sewn: bool,
    /// Whether its bodies repeat the faces in which they touch, and are joined in them.
    is_joined: bool,
}

/// Volume and area of the bodies of a geometry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub volume: f64,
    pub area: f64,
}

/// Default numbers of elements: usual, and largest in thin walls.
const USUAL: f64 = 20_000.0;
const MOST_USUAL: f64 = 60_000.0;

/// Elements in a wall that count as across it, where nothing says how large they are to be.
const ACROSS: f64 = 2.0;

/// How closely elements fill a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Packing {
    /// Largest edge of an element over the cube root of its volume.
    pub edge: f64,
    /// Elements in a wall that is thinner than they are long, for each square of that length on its
    /// surface.
    pub in_wall: f64,
}

impl Packing {
    /// Cells of a grid, one across a wall.
    pub const GRID: Self = Self { edge: 1.0, in_wall: 0.5 };

    /// Elements that Gmsh makes: tetrahedra have edges of 1.8; where they are cut, from 1.4 to 1.5
    /// in twelve parts.
    pub fn of(hexes: Hexes) -> Self {
        let edge = if hexes == Hexes::Tetrahedra { 1.8 } else { 1.45 };
        Self { edge, in_wall: 3.5 }
    }
}

impl Source {
    /// Looks at the geometry of `runner`.
    ///
    /// # Errors
    /// A file that cannot be read or trusted, and one that bounds no body.
    pub fn of(runner: Runner) -> Result<Self, MeshingError> {
        let path = runner.path;
        let of_facets = |fault| MeshingError::Facets { path: path.into(), fault };
        if let Some(surface) = &runner.meshing.surface {
            return Ok(Self::Facets(Facets::of_surface(surface).map_err(of_facets)?));
        }
        let unreadable = |cause: io::Error| MeshingError::Geometry { path: path.into(), cause };
        // Before Gmsh starts, so that a file that cannot be opened is not reported as its failure.
        File::open(path).map_err(unreadable)?;

        if !runner.meshing.trust
            && let Some(Suspect { path, line, word, harm }) = trust::suspect(path)
        {
            return Err(MeshingError::Untrusted { path, line, word, harm });
        }
        if is_of_facets(path) {
            let facets = Facets::read(path).map_err(|unread| match unread {
                Unread::Io(cause) => unreadable(cause),
                Unread::Fault(fault) => of_facets(fault),
            });
            return Ok(Self::Facets(facets?));
        }
        if is_solid(path) { Ok(Self::Solid(Solid::of(runner)?)) } else { Ok(Self::Script) }
    }

    /// Returns the volume and area of the geometry, if they are known.
    pub fn measure(&self) -> Option<Measure> {
        match self {
            Self::Script => None,
            Self::Solid(solid) => solid.measure,
            Self::Facets(facets) => Some(Measure { volume: facets.volume, area: facets.area }),
        }
    }

    /// Options that must be set before the geometry is read.
    pub fn options(&self) -> &[(&'static str, f64)] {
        match self {
            Self::Solid(solid) => &solid.options,
            _ => &[],
        }
    }

    /// Commands that come before all others behind the geometry.
    pub fn repair(&self) -> &'static str {
        match self {
            Self::Solid(Solid { is_joined: true, .. }) => JOIN,
            _ => "",
        }
    }

    /// Returns repairs and remarks on the geometry, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Facets(facets) => facets.notes.clone(),
            Self::Solid(Solid { is_sewn: true, .. }) => {
                vec!["the file has surfaces alone: they were joined to a solid".into()]
            }
            Self::Solid(Solid { is_joined: true, .. }) => vec![
                "the bodies of the file repeat the faces in which they touch: they were joined there, \
                 as by `Coherence` in a .geo file"
                    .into(),
            ],
            _ => Vec::new(),
        }
    }
}

impl Measure {
    /// About how many elements of at most this `edge` there will be.
    pub fn elements(self, edge: f64, packing: Packing) -> f64 {
        let Self { volume, area } = self;
        (volume * (packing.edge / edge).powi(3)).max(packing.in_wall * area / edge.powi(2))
    }

    /// The largest edge of about `count` elements.
    pub fn edge_of(self, count: f64, packing: Packing) -> f64 {
        let Self { volume, area } = self;
        (packing.edge * (volume / count).cbrt()).max((packing.in_wall * area / count).sqrt())
    }

    /// A size for a body without one: a usual number of elements, more where walls are thin.
    pub fn usual_edge(self, packing: Packing) -> f64 {
        let thickness = 2.0 * self.volume / self.area;
        let wanted = self.edge_of(USUAL, packing).min(thickness / ACROSS);
        wanted.max(self.edge_of(MOST_USUAL, packing))
    }
}

/// Distances, as a share of the diagonal, up to which edges of surfaces are joined.
const SEWN: [f64; 3] = [1e-7, 1e-5, 1e-3];

impl Solid {
    /// The bodies in the file of `runner`; surfaces alone are sewn together, if they enclose one.
    fn of(runner: Runner) -> Result<Self, MeshingError> {
        let scale =
            if is_iges(runner.path) { of_millimeter(runner.meshing.length_unit) } else { 1.0 };
        let scaled = vec![("Geometry.OCCScaling", scale)];
        let options = if scale == 1.0 { Vec::new() } else { scaled };
        let Some(first) = probe(runner, &options, "")? else {
            return Ok(Self { measure: None, options, is_sewn: false, is_joined: false });
        };
        if first.measure.volume > 0.0 {
            let is_joined = first.volumes > 1 && first.is_of_repeated_faces(runner, &options)?;
            let measure = Some(first.measure);
            return Ok(Self { measure, options, is_sewn: false, is_joined });
        }

        for share in SEWN {
            let sewing = [
                ("Geometry.OCCSewFaces", 1.0),
                ("Geometry.OCCMakeSolids", 1.0),
                ("Geometry.Tolerance", share * first.diagonal),
            ];
            let options = [&options[..], &sewing].concat();
            let is_wanted = first.surfaces > 0;
            let sewn = if is_wanted { probe(runner, &options, "")? } else { None };
            if let Some(Probed { measure, .. }) = sewn.filter(|sewn| sewn.measure.volume > 0.0) {
                let measure = Some(measure);
                return Ok(Self { measure, options, is_sewn: true, is_joined: false });
            }
        }
        let Probed { surfaces, curves, .. } = first;
        Err(MeshingError::NoSolid { path: runner.path.into(), surfaces, curves })
    }
}

/// A millimeter, which OpenCASCADE makes of the unit of every IGES file, in the unit of the mesh.
/// Gmsh sets another one before the reader of IGES is ready for it, which refuses it.
fn of_millimeter(unit: &str) -> f64 {
    match unit {
        "CM" => 0.1,
        "M" => 1e-3,
        "INCH" => 1.0 / 25.4,
        "FT" => 1.0 / 304.8,
        _ => 1.0,
    }
}

/// Size of a geometry and counts of its surfaces and curves, as Gmsh prints them.
struct Probed {
    measure: Measure,
    volumes: usize,
    surfaces: usize,
    curves: usize,
    diagonal: f64,
}

impl Probed {
    /// Whether bodies of the file of `runner` have faces in common once they are joined, and are
    /// the same bodies: those that overlap would become others.
    fn is_of_repeated_faces(
        &self,
        runner: Runner,
        options: &[(&'static str, f64)],
    ) -> Result<bool, MeshingError> {
        let Some(joined) = probe(runner, options, JOIN)? else { return Ok(false) };
        let [volume, area] =
            [joined.measure.volume / self.measure.volume, joined.measure.area / self.measure.area];
        let are_same = joined.volumes == self.volumes && (volume - 1.0).abs() < SAME;
        Ok(are_same && area < 1.0 - SAME)
    }
}

/// Relative difference of volumes and areas that counts as none.
const SAME: f64 = 1e-6;

/// Joins bodies in the faces that they have in common.
const JOIN: &str = "SetFactory(\"OpenCASCADE\");\nCoherence;\n";

/// Reads the file of `runner` without meshing it, and runs commands for a `repair`; none where this
/// Gmsh does not know how.
fn probe(
    runner: Runner,
    options: &[(&'static str, f64)],
    repair: &str,
) -> Result<Option<Probed>, MeshingError> {
    let folder = runner.folder()?;
    let task = Task {
        geometry: runner.path,
        wanted: Wanted::Nothing,
        numbers: options,
        settings: format!("{repair}{PROBE}"),
        timeout: runner.meshing.timeout,
    };
    let log = match runner.run(&task, &folder) {
        Ok(log) => log,
        // The mesh fails in the same way if it is the geometry's fault.
        Err(MeshingError::Failed { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };

    // Progress stands before it in the same line.
    let numbers = log.lines().find_map(|line| Some(line.split_once(ANSWER)?.1));
    let numbers: Vec<f64> =
        numbers.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
    let [volume, area, volumes, surfaces, curves, diagonal] = numbers[..] else {
        return Ok(None);
    };
    let measure = Measure { volume: volume.abs(), area };
    let [volumes, surfaces, curves] = [volumes, surfaces, curves].map(|n| n as usize);
    Ok(Some(Probed { measure, volumes, surfaces, curves, diagonal }))
}

/// Begins what [`PROBE`] prints.
const ANSWER: &str = "topopt:";

const PROBE: &str = "SetFactory(\"OpenCASCADE\");
v() = Volume{:};
s() = Surface{:};
c() = Curve{:};
volume = 0;
area = 0;
For i In {0:#v()-1}
  volume += Mass Volume{v(i)};
EndFor
For i In {0:#s()-1}
  area += Mass Surface{s(i)};
EndFor
BoundingBox;
x = General.MaxX - General.MinX;
y = General.MaxY - General.MinY;
z = General.MaxZ - General.MinZ;
Printf(\"topopt: %.17g %.17g %g %g %g %.17g\", volume, area, #v(), #s(), #c(), Sqrt(x * x + y * y + z * z));
";

/// Returns the note on an edge length that was chosen because no size was given.
pub(super) fn note_on_edge(edge: f64) -> String {
    format!("no size of elements was given: edges of at most {} were chosen", shown(edge))
}

/// Remark on a mesh without sets of nodes or faces.
pub(super) const NO_NAMES: &str = "the geometry has no named surfaces, curves or points: `[[select]]` of a case \
                        takes faces by the numbers that `topopt info FILE --faces` lists, and in a \
                        .geo file `Physical Surface(\"fixed\") = {1};` names them";

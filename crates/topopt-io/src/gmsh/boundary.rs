//! The boundary of bodies in numbered faces, and the mesh of hexahedra that is made within it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use topopt_mesh::cells::{self, NO_NODE};
use topopt_mesh::numbers::rounded;
use topopt_mesh::triangles::Triangles;

use super::facets;
use super::finer::{elements, fields};
use super::import::{Surfaces, import};
use super::meshing_error::{MOST_ELEMENTS, MeshingError};
use super::program::{ElementSize, Meshing, Runner, Task, Wanted, is_script};
use super::raw::{Corners, RawMesh, Volume};
use super::source::{Measure, NO_NAMES, Packing, Source, note_on_edge};
use super::triangulation::{PER_TURN, by_curvature};
use crate::import::{Cutting, ImportedMesh, Nodes};
use crate::read_error::{Located, ReadError};

/// Closed surfaces of bodies in faces of their geometry.
pub struct Boundary {
    /// Coordinates, `[n_vertices][3]`.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles, counter-clockwise as seen from before them, `[n_triangles][3]`.
    pub triangles: Vec<[u32; 3]>,
    /// Number of the face of the geometry that each triangle is in, `[n_triangles]`.
    pub faces: Vec<u32>,
    /// Bodies behind and before each triangle, numbered from 0, `[n_triangles][2]`.
    pub bodies: Vec<[Option<u32>; 2]>,
    /// Edge of the elements: the one that was asked for, or that suits the bodies.
    pub edge: f64,
    path: PathBuf,
    /// Names and groups of the geometry.
    groups: RawMesh,
    /// Tag and physical groups of each body.
    of_bodies: Vec<(i64, Vec<u32>)>,
    notes: Vec<String>,
}

/// Hexahedra within a [`Boundary`].
#[derive(Debug, Clone, Copy)]
pub struct Skin<'a> {
    /// Coordinates of the nodes, `[n_nodes][3]`.
    pub points: &'a [[f64; 3]],
    /// Nodes of the hexahedra in the order of VTK, `[n_hexes][8]`.
    pub hexes: &'a [[u32; 8]],
    /// Body that each hexahedron is of, `[n_hexes]`.
    pub bodies: &'a [u32],
    /// Nodes of the outer faces and of those between bodies, and the numbers of the faces of the
    /// geometry that they lie on.
    pub faces: &'a [([u32; 4], u32)],
    /// Distance up to which a node lies on a curve.
    pub tolerance: f64,
}

/// Size of triangles over that of elements: at most, and where the surface curves at least. With
/// [`PER_TURN`] no triangle lies more than 0.011 elements off the surface.
const LARGEST: f64 = 1.0;
const SMALLEST: f64 = 0.125;

/// Largest relative difference from the volume of the geometry.
const MOST_OFF: f64 = 5e-3;

/// Distance between nodes of a curve that is kept, in elements.
const GAP: f64 = 2.0;

/// Triangulates the boundary of the bodies at `geometry`, for at most so many elements as `most` of
/// the size that `meshing` gives; facets of an STL file are taken as they are. Gmsh is ended soon
/// after `interrupt` is set.
///
/// # Errors
/// [`MeshingError`]; among them more elements than `most`.
pub fn boundary(
    geometry: &Path,
    meshing: &Meshing,
    most: f64,
    interrupt: &AtomicBool,
) -> Result<Boundary, MeshingError> {
    let runner = Runner { path: geometry, meshing, interrupt };
    let source = Source::of(runner)?;
    let size = |measure: Measure| size(runner, measure, most);
    if let Source::Facets(facets) = source {
        let measure = Measure { volume: facets.volume, area: facets.area };
        let (faces, mut notes) = (facets.regions(), facets.notes.clone());
        let (edge, note) = size(measure)?;
        notes.extend(note);
        let (vertices, triangles) = facets.into_triangles();
        let path = geometry.into();
        let (groups, of_bodies) = (RawMesh::default(), vec![(1, Vec::new())]);
        let bodies = vec![[Some(0), None]; triangles.len()];
        return Ok(Boundary {
            vertices,
            triangles,
            faces,
            bodies,
            edge,
            path,
            groups,
            of_bodies,
            notes,
        });
    }

    // Where nothing else says how large the body is, triangles by curvature do.
    let measure = match source.measure() {
        Some(measure) => measure,
        None => closed(runner, &source, None)?.measure(),
    };
    let (edge, note) = size(measure)?;
    let mut made = closed(runner, &source, Some(edge))?;
    let (meshed, exact) = (made.measure().volume, measure.volume);
    if (meshed / exact - 1.0).abs() > MOST_OFF {
        return Err(MeshingError::Volume { path: geometry.into(), meshed, exact });
    }
    made.notes.extend(source.notes());
    made.notes.extend(note);
    Ok(made)
}

/// Edge of the elements, with a note where it was chosen.
fn size(
    runner: Runner,
    measure: Measure,
    most: f64,
) -> Result<(f64, Option<String>), MeshingError> {
    let (edge, is_chosen) = match runner.meshing.size {
        ElementSize::Edge(edge) => (edge, false),
        ElementSize::Number(number) => (measure.edge_of(number as f64, Packing::GRID), false),
        ElementSize::OfGeometry => (rounded(measure.usual_edge(Packing::GRID)), true),
    };
    let count =
        measure.elements(edge, Packing::GRID) + elements(&runner.meshing.finer, Packing::GRID.edge);
    let most = most.min(MOST_ELEMENTS);
    if count > most {
        return Err(MeshingError::TooMany { edge, volume: measure.volume, count, most });
    }
    Ok((edge, is_chosen.then(|| note_on_edge(edge))))
}

/// Triangulates the boundary for elements of size `edge`, or by its curvature alone.
fn closed(runner: Runner, source: &Source, edge: Option<f64>) -> Result<Boundary, MeshingError> {
    let folder = runner.folder()?;
    let mut settings = format!(
        "Mesh.ElementOrder = 1;\nMesh.MeshSizeExtendFromBoundary = 0;\n{}",
        by_curvature(source, PER_TURN)
    );
    if let Some(edge) = edge {
        let [least, most] = [SMALLEST, LARGEST].map(|share| share * edge);
        settings += &format!("Mesh.MeshSizeMin = {least:?};\nMesh.MeshSizeMax = {most:?};\n");
        settings += &fields(&runner.meshing.finer, [SMALLEST, LARGEST]);
    }
    let size = edge.map(|edge| ("element_size", edge));
    let numbers: Vec<_> = source.options().iter().copied().chain(size).collect();
    let (wanted, timeout) = (Wanted::Surface, runner.meshing.timeout);
    runner.run(
        &Task { geometry: runner.path, wanted, numbers: &numbers, settings, timeout },
        &folder,
    )?;
    Boundary::of(runner.surface(&folder)?, runner.path, edge.unwrap_or_default())
}

impl Boundary {
    /// The boundary of the bodies of a mesh of surfaces.
    fn of(raw: RawMesh, path: &Path, edge: f64) -> Result<Self, MeshingError> {
        let refused = |reason: String| MeshingError::NotForGrid { path: path.into(), reason };
        let found = bodies(&raw);
        if found.is_empty() {
            return Err(refused("there is no volume".into()));
        }
        let mut around: HashMap<i64, Vec<u32>> = HashMap::new();
        for ((_, body), number) in found.iter().zip(0..) {
            for &surface in &body.surfaces {
                around.entry(surface).or_default().push(number);
            }
        }
        let (mut triangles, mut faces) = (Vec::new(), Vec::new());
        for face in &raw.faces {
            let entity = raw.entity(face.place);
            if !around.contains_key(&entity) {
                if let Some(&group) = raw.groups(face.place).first() {
                    let name = raw.name(2, group);
                    return Err(refused(format!("`{name}` is a surface that bounds no body")));
                }
                continue;
            }
            let [a, b, c, d] = face.nodes;
            triangles.push([a, b, c]);
            triangles.extend((c != d).then_some([a, c, d]));
            faces.resize(triangles.len(), u32::try_from(entity).unwrap_or_default());
        }

        let vertices = raw.nodes.coordinates.clone();
        let mut bodies = vec![[None, None]; triangles.len()];
        for body in 0..found.len() as u32 {
            let is_own = |t: &usize| around[&i64::from(faces[*t])].contains(&body);
            let own: Vec<usize> = (0..triangles.len()).filter(is_own).collect();
            let mut turned: Vec<[u32; 3]> = own.iter().map(|&t| triangles[t]).collect();
            facets::turn_outwards(&vertices, &mut turned)
                .map_err(|fault| MeshingError::Facets { path: path.into(), fault })?;
            for (&t, turned) in own.iter().zip(turned) {
                match bodies[t][0] {
                    None => (triangles[t], bodies[t][0]) = (turned, Some(body)),
                    Some(_) => bodies[t][1] = Some(body),
                }
            }
        }
        let of_body = |(tag, body): &(i64, &Volume)| (*tag, body.groups.clone());
        let of_bodies = found.iter().map(of_body).collect();
        let notes = raw.note_on_left_out(&BTreeSet::new()).into_iter().collect();
        let (path, groups) = (path.into(), raw);
        Ok(Self { vertices, triangles, faces, bodies, edge, path, groups, of_bodies, notes })
    }

    /// Returns the number and the groups of a body in the geometry, for people.
    pub fn body_name(&self, body: u32) -> String {
        self.of_bodies.get(body as usize).map_or_else(
            || format!("body {body}"),
            |(tag, groups)| self.groups.volume_name(*tag, groups),
        )
    }

    fn measure(&self) -> Measure {
        let is_outer = |(_, bodies): &(&[u32; 3], &[Option<u32>; 2])| bodies[1].is_none();
        let outer = self.triangles.iter().zip(&self.bodies).filter(is_outer);
        let outer: Vec<[u32; 3]> = outer.map(|(triangle, _)| *triangle).collect();
        let volume = facets::volume(&self.vertices, &outer);
        Measure { volume, area: facets::area(&self.vertices, &self.triangles) }
    }

    /// The checked mesh of hexahedra within this boundary, with the sets of the geometry.
    ///
    /// # Errors
    /// [`MeshingError`]; among them groups of curves and points without nodes on them.
    pub fn filled(&self, skin: Skin) -> Result<ImportedMesh, MeshingError> {
        let refused = |located: Located| {
            let Located { place, fault } = located;
            MeshingError::Refused(ReadError { path: self.path.clone(), place, fault })
        };
        let raw = self.raw(skin).map_err(|fault| refused(fault.into()))?;
        let raw = self.with_nodes_on_curves(raw, skin)?;
        let filled = import(raw, Cutting::Refused, Surfaces::Faces);
        let mut filled = filled.map_err(|fault| refused(fault.into()))?;
        filled.notes.extend(self.notes.iter().cloned());
        let sets = filled.mesh.sets();
        if sets.nodes.is_empty() && sets.faces.is_empty() {
            filled.remarks.push(NO_NAMES.into());
        }
        Ok(filled)
    }

    /// Hexahedra and their outer faces as in a file of Gmsh.
    fn raw(&self, skin: Skin) -> Result<RawMesh, crate::read_error::Fault> {
        let tags = (1..=skin.points.len() as u64).collect();
        let mut raw = RawMesh::default();
        raw.names = self.groups.names.clone();
        raw.nodes = Nodes::new(tags, skin.points.to_vec())?;
        let of_body = |(tag, groups): &(i64, Vec<u32>)| raw.intern(groups.clone(), *tag);
        let of_bodies: Vec<u32> = self.of_bodies.iter().map(of_body).collect();
        raw.reserve(skin.hexes.len(), 8);
        for ((hex, &body), tag) in skin.hexes.iter().zip(skin.bodies).zip(1..) {
            raw.cells.push(cells::Shape::Hexahedron, hex, &[]);
            raw.tags.push(tag);
            raw.places.push(of_bodies[body as usize]);
        }

        let mut places = BTreeMap::new();
        for face in &self.groups.faces {
            let entity = self.groups.entity(face.place);
            let of_face = || raw.intern(self.groups.groups(face.place).to_vec(), entity);
            places.entry(entity).or_insert_with(of_face);
        }
        for (&(nodes, number), tag) in skin.faces.iter().zip(1 + skin.hexes.len() as u64..) {
            let entity = i64::from(number);
            let place = *places.entry(entity).or_insert_with(|| raw.intern(Vec::new(), entity));
            raw.faces.push(Corners { tag, nodes, place });
            raw.middles.push([NO_NODE; 4]);
        }
        Ok(raw)
    }

    /// Adds nodes of the skin that lie on physical curves and points.
    fn with_nodes_on_curves(&self, mut raw: RawMesh, skin: Skin) -> Result<RawMesh, MeshingError> {
        let at = |v: u32| self.vertices[v as usize];
        let mut of_places = BTreeMap::<(usize, u32), Vec<[u32; 2]>>::new();
        for line in &self.groups.lines {
            of_places.entry((1, line.place)).or_default().push(line.nodes);
        }
        for point in &self.groups.points {
            of_places.entry((0, point.place)).or_default().push([point.nodes[0]; 2]);
        }
        let mut nodes: Vec<u32> = skin.faces.iter().flat_map(|(nodes, _)| *nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();

        for ((dimension, place), segments) in of_places {
            let curve = Triangles::new(segments.iter().map(|&[a, b]| [at(a), at(b), at(b)]));
            let x = |node: u32| skin.points[node as usize];
            let own: Vec<u32> =
                nodes.iter().copied().filter(|&v| curve.distance(x(v)) <= skin.tolerance).collect();
            let kept = Triangles::new(own.iter().map(|&v| [x(v); 3]));
            let gap = if dimension == 1 { GAP * self.edge } else { skin.tolerance };
            let groups = self.groups.groups(place).to_vec();
            if segments.as_flattened().iter().any(|&v| kept.distance(at(v)) > gap) {
                let name = self.groups.name(dimension as u8, groups[0]);
                let kind = ["point", "curve"][dimension];
                let reason = format!("the {kind} `{name}` lies where faces meet in no edge");
                return Err(MeshingError::NotForGrid { path: self.path.clone(), reason });
            }
            let place = raw.intern(groups, i64::from(place));
            for node in own {
                match dimension {
                    1 => raw.lines.push(Corners { tag: 0, nodes: [node; 2], place }),
                    _ => raw.points.push(Corners { tag: 0, nodes: [node], place }),
                }
            }
        }
        Ok(raw)
    }
}

/// The bodies of a mesh of surfaces and their tags: those in physical groups, if any is.
fn bodies(raw: &RawMesh) -> Vec<(i64, &Volume)> {
    let all = || raw.volumes.iter().map(|(&tag, volume)| (tag, volume));
    let in_groups: Vec<(i64, &Volume)> =
        all().filter(|(_, body)| !body.groups.is_empty()).collect();
    if in_groups.is_empty() { all().collect() } else { in_groups }
}

/// Whether the script at `path` describes elements itself, as by layers or transfinite volumes.
pub fn has_commands(path: &Path) -> bool {
    let text = || std::fs::read(path).unwrap_or_default();
    is_script(path) && String::from_utf8_lossy(&text()).contains("Recombine")
}

//! Faces of a part as CAD has them: number, form, area, name and color, and the triangles between
//! which they are drawn.

mod fit;
mod form;
mod refine;
mod step;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::cells::NO_NODE;
use topopt_mesh::numbers::rounded;
use topopt_mesh::vector::{cross, difference, dot, length};

use super::facets::{self, Facets};
use super::meshing_error::MeshingError;
use super::program::{Meshing, Runner, Task, Wanted, is_step};
use super::raw::RawMesh;
use super::source::{Packing, Source};
use super::triangulation::by_curvature;
use fit::Patch;

pub use form::{Form, clean};

/// Face of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct PartFace {
    /// Number, as Gmsh counts the faces of the file.
    pub number: u32,
    /// Name in the file.
    pub name: Option<String>,
    /// Color in the file: red, green and blue.
    pub color: Option<[u8; 3]>,
    /// Surface that it lies on.
    pub form: Form,
    /// Whether the material is outside of the curvature, as around a bore; none for planes, and
    /// where that is not known.
    pub is_inner: Option<bool>,
    /// Whether its normals look into all directions around an axis, as half a bore does, and a
    /// fillet does not.
    pub is_around: bool,
    /// Area.
    pub area: f64,
    /// Center, as [`Form::center`].
    pub center: [f64; 3],
    /// Box around it.
    pub bounds: BoundingBox,
}

/// Faces of a part with triangles to draw them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartFaces {
    /// The faces, by increasing number.
    pub faces: Vec<PartFace>,
    /// Coordinates, `[n_vertices][3]`.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles, `[n_triangles][3]`.
    pub triangles: Vec<[u32; 3]>,
    /// Place among `faces` of the face that each triangle is of, `[n_triangles]`.
    pub of_triangles: Vec<u32>,
    /// Whether names are those of groups, which become sets of the mesh.
    pub are_sets: bool,
    /// Size for elements of a part that has none of its own (length), if the volume is known.
    pub usual_size: Option<f64>,
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
}

/// Edges of a turn, each with a node in its middle: chords leave a bore by a five-hundredth of its
/// radius, and areas are exact to five digits. Planes have no more triangles than their borders
/// ask for: of 400 bores in a plate a fifth is left, and a tenth of the time.
const PER_TURN: u32 = 24;

/// Edges of a turn of bodies that others are made of.
const PER_TURN_OF_BODIES: u32 = 36;

/// Rounding of coordinates in a file, as a share of the diagonal: seven digits of an STL file.
const ROUNDING: f64 = 1e-6;

/// Finds the faces of the geometry at `path`. Gmsh is ended soon after `interrupt` is set.
///
/// # Errors
/// [`MeshingError`].
pub fn faces(
    path: &Path,
    meshing: &Meshing,
    interrupt: &AtomicBool,
) -> Result<PartFaces, MeshingError> {
    faces_by(PER_TURN, path, meshing, interrupt)
}

/// Finds faces as [`faces`] does, by triangles that other bodies may be made of.
///
/// # Errors
/// [`MeshingError`].
pub fn bodies(
    path: &Path,
    meshing: &Meshing,
    interrupt: &AtomicBool,
) -> Result<PartFaces, MeshingError> {
    faces_by(PER_TURN_OF_BODIES, path, meshing, interrupt)
}

fn faces_by(
    per_turn: u32,
    path: &Path,
    meshing: &Meshing,
    interrupt: &AtomicBool,
) -> Result<PartFaces, MeshingError> {
    let runner = Runner { path, meshing, interrupt };
    let source = Source::of(runner)?;
    let usual_size =
        source.measure().map(|measure| rounded(measure.usual_edge(Packing::of(meshing.hexes))));
    if let Source::Facets(facets) = &source {
        return Ok(PartFaces { usual_size, ..Skin::of_facets(facets).faces(&BTreeMap::new()) });
    }

    let raw = triangulated(runner, &source, per_turn)?;
    let (skin, names) = Skin::of_mesh(&raw);
    let mut found = PartFaces { usual_size, ..skin.faces(&names) };
    if is_step(path)
        && let Ok(bytes) = std::fs::read(path)
    {
        found.name(&step::faces(&String::from_utf8_lossy(&bytes)));
    }
    Ok(found)
}

/// The surface meshed with triangles of second order, whose nodes all lie on it.
fn triangulated(runner: Runner, source: &Source, per_turn: u32) -> Result<RawMesh, MeshingError> {
    let folder = runner.folder()?;
    let quadratic = "Mesh.ElementOrder = 2;\nMesh.SecondOrderLinear = 0;\n\
                     Mesh.SecondOrderIncomplete = 1;\nMesh.HighOrderOptimize = 0;\n\
                     Mesh.MeshSizeExtendFromBoundary = 0;\n";
    let settings = format!("{quadratic}{}", by_curvature(source, per_turn));
    let task = Task {
        geometry: runner.path,
        wanted: Wanted::Surface,
        numbers: source.options(),
        settings,
        timeout: runner.meshing.timeout,
    };
    runner.run(&task, &folder)?;
    runner.surface(&folder)
}

/// Surface of a part, in faces.
struct Skin {
    vertices: Vec<[f64; 3]>,
    /// Triangles between all nodes, those in the middles of edges too.
    fine: Vec<[u32; 3]>,
    /// Number of the face of each, `[n_fine]`.
    of_fine: Vec<u32>,
    /// Triangles between the corners; none if there are no middles.
    coarse: Vec<[u32; 3]>,
    of_coarse: Vec<u32>,
    /// Numbers of faces between two bodies.
    inside: HashSet<u32>,
}

impl Skin {
    fn of_facets(facets: &Facets) -> Self {
        let (vertices, fine) = facets.triangles();
        let of_fine = facets.regions();
        let (coarse, of_coarse, inside) = (Vec::new(), Vec::new(), HashSet::new());
        Self { vertices, fine, of_fine, coarse, of_coarse, inside }
    }

    /// The surface in a mesh, and the names of its faces.
    fn of_mesh(raw: &RawMesh) -> (Self, BTreeMap<u32, String>) {
        let mut skin = Self {
            vertices: raw.nodes.coordinates.clone(),
            fine: Vec::new(),
            of_fine: Vec::new(),
            coarse: Vec::new(),
            of_coarse: Vec::new(),
            inside: HashSet::new(),
        };
        let mut names = BTreeMap::new();
        let mut n_bodies = HashMap::<i64, usize>::new();
        for surface in raw.volumes.values().flat_map(|volume| &volume.surfaces) {
            *n_bodies.entry(*surface).or_default() += 1;
        }
        for (face, middles) in raw.faces.iter().zip(&raw.middles) {
            let entity = raw.entity(face.place);
            let Ok(number) = u32::try_from(entity) else { continue };
            let n_around = n_bodies.get(&entity).copied();
            if n_around.is_none() && !n_bodies.is_empty() {
                continue; // a surface of no body
            }
            if n_around == Some(2) {
                skin.inside.insert(number);
            }
            if let Some(&group) = raw.groups(face.place).first() {
                names.entry(number).or_insert_with(|| raw.name(2, group));
            }
            let (coarse, fine) = split(face.nodes, *middles);
            skin.of_coarse.extend(coarse.iter().map(|_| number));
            skin.of_fine.extend(fine.iter().map(|_| number));
            skin.coarse.extend(coarse);
            skin.fine.extend(fine);
        }
        (skin, names)
    }

    fn faces(mut self, names: &BTreeMap<u32, String>) -> PartFaces {
        let is_closed = self.turn_outwards();
        let mut numbers = self.of_fine.clone();
        numbers.sort_unstable();
        numbers.dedup();
        let places: HashMap<u32, u32> = numbers.iter().copied().zip(0..).collect();

        let fine = grouped(&self.fine, &self.of_fine, &places);
        let coarse = grouped(&self.coarse, &self.of_coarse, &places);
        let rounding = ROUNDING * length(BoundingBox::around(&self.vertices).extent());
        let of_place = |place: usize| {
            let patch = Patch { vertices: &self.vertices, triangles: &fine[place], rounding };
            patch.face(&coarse[place], is_closed && !self.inside.contains(&numbers[place]))
        };
        let mut faces: Vec<PartFace> = (0..numbers.len()).into_par_iter().map(of_place).collect();
        for (face, &number) in faces.iter_mut().zip(&numbers) {
            face.number = number;
            face.name = names.get(&number).cloned();
        }
        let of_triangles = self.of_fine.iter().map(|number| places[number]).collect();
        let Self { vertices, fine: triangles, .. } = self;
        PartFaces {
            faces,
            vertices,
            triangles,
            of_triangles,
            are_sets: !names.is_empty(),
            usual_size: None,
            notes: Vec::new(),
        }
    }
}

impl Skin {
    /// Turns the triangles that bound the part, if they enclose something; whether they do.
    fn turn_outwards(&mut self) -> bool {
        let is_outer = |place: &usize| !self.inside.contains(&self.of_fine[*place]);
        let outer: Vec<usize> = (0..self.fine.len()).filter(is_outer).collect();
        let mut triangles: Vec<[u32; 3]> = outer.iter().map(|&place| self.fine[place]).collect();
        let is_closed = facets::turn_outwards(&self.vertices, &mut triangles).is_ok();
        for (place, triangle) in outer.into_iter().zip(triangles) {
            self.fine[place] = triangle;
        }
        is_closed
    }
}

/// Triangles by the places of the faces whose numbers they have.
fn grouped(
    triangles: &[[u32; 3]],
    numbers: &[u32],
    places: &HashMap<u32, u32>,
) -> Vec<Vec<[u32; 3]>> {
    let mut groups = vec![Vec::new(); places.len()];
    for (triangle, number) in triangles.iter().zip(numbers) {
        groups[places[number] as usize].push(*triangle);
    }
    groups
}

/// Triangles between the corners of a triangle or a quadrilateral, and those between its corners
/// and the middles of its sides, if it has any.
fn split(nodes: [u32; 4], middles: [u32; 4]) -> (Vec<[u32; 3]>, Vec<[u32; 3]>) {
    let ([a, b, c, d], [ab, bc, cd, da]) = (nodes, middles);
    let is_triangle = c == d;
    let coarse = if is_triangle { vec![[a, b, c]] } else { vec![[a, b, c], [a, c, d]] };
    let fine = match (middles.contains(&NO_NODE), is_triangle) {
        (_, true) if [ab, bc, cd].contains(&NO_NODE) => coarse.clone(),
        (_, true) => vec![[a, ab, cd], [b, bc, ab], [c, cd, bc], [ab, bc, cd]],
        (true, false) => coarse.clone(),
        (false, false) => {
            vec![[a, ab, da], [b, bc, ab], [c, cd, bc], [d, da, cd], [ab, bc, cd], [ab, cd, da]]
        }
    };
    (coarse, fine)
}

impl Patch<'_> {
    /// The face of these triangles; `coarse` ones between the corners alone, if there are middles,
    /// and whether the triangles are known to be counter-clockwise from outside.
    fn face(&self, coarse: &[[u32; 3]], is_turned: bool) -> PartFace {
        let form = self.form();
        let (area, centroid) = match (self.moments(self.triangles), self.moments(coarse)) {
            (fine, coarse) if coarse[0] == 0.0 => (fine[0], fine),
            // Areas between chords of half the length have a quarter of the error.
            (fine, coarse) => {
                let exact: [f64; 4] = std::array::from_fn(|i| (4.0 * fine[i] - coarse[i]) / 3.0);
                (exact[0], exact)
            }
        };
        let centroid = [1, 2, 3].map(|i| centroid[i] / area);
        let used = self.triangles.as_flattened().iter();
        let points: Vec<_> = used.map(|&v| self.vertices[v as usize]).collect();
        let sum = self.triangles.iter().map(|triangle| self.facet(triangle).1);
        let sum = sum.fold([0.0; 3], |sum, area| [0, 1, 2].map(|i| sum[i] + area[i]));
        let is_inner = (is_turned && form.is_round()).then(|| self.points_inwards(&form));
        let form = if is_turned { self.outwards(form) } else { form };
        PartFace {
            number: 0,
            name: None,
            color: None,
            form,
            is_inner,
            is_around: length(sum) <= AROUND * area,
            area,
            center: form.center(centroid),
            bounds: BoundingBox::around(&points),
        }
    }

    /// Area of triangles, and its first moments.
    fn moments(&self, triangles: &[[u32; 3]]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for triangle in triangles {
            let (center, area) = self.facet(triangle);
            let area = length(area);
            sums[0] += area;
            (0..3).for_each(|i| sums[1 + i] += area * center[i]);
        }
        sums
    }

    /// Centroid and area vector of a triangle.
    fn facet(&self, triangle: &[u32; 3]) -> ([f64; 3], [f64; 3]) {
        let [a, b, c] = triangle.map(|v| self.vertices[v as usize]);
        let center = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        (center, cross(difference(b, a), difference(c, a)).map(|x| 0.5 * x))
    }

    /// Whether the outward normals of the facets point to where the form curves around.
    fn points_inwards(&self, form: &Form) -> bool {
        let step = 1e-6 * form.radius().unwrap_or(1.0);
        let along = |triangle| {
            let (center, area) = self.facet(triangle);
            dot(form.normal(center, step), area)
        };
        self.triangles.iter().map(along).sum::<f64>() < 0.0
    }

    /// A plane whose normal points away from the material; other forms as they are.
    fn outwards(&self, form: Form) -> Form {
        let Form::Plane { normal, point } = form else { return form };
        let sum: f64 = self.triangles.iter().map(|it| dot(normal, self.facet(it).1)).sum();
        Form::Plane { normal: normal.map(|x| if sum < 0.0 { -x } else { x }), point }
    }
}

/// Length of the sum of the normals of a face, as a share of its area: 2 / pi for half a cylinder,
/// 0.9 for a quarter.
const AROUND: f64 = 0.7;

/// Units that a STEP file and a mesh may have, relative to each other.
const UNITS: [f64; 6] = [1.0, 1e-3, 1e-2, 10.0, 25.4, 304.8];

impl PartFaces {
    /// The face with a number.
    pub fn face(&self, number: u32) -> Option<&PartFace> {
        self.faces.binary_search_by_key(&number, |face| face.number).ok().map(|at| &self.faces[at])
    }

    /// Gives faces the names and colors that they have in a STEP file, where Gmsh has left their
    /// order: each must hold its corners.
    fn name(&mut self, of_file: &[step::StepFace]) {
        let is_named = |face: &step::StepFace| face.name.is_some() || face.color.is_some();
        if !of_file.iter().any(is_named) {
            return;
        }
        let ratios = UNITS.iter().flat_map(|&a| UNITS.map(|b| a / b));
        let tolerance = 10.0 * ROUNDING * length(BoundingBox::around(&self.vertices).extent());
        let holds = |(face, other): (&PartFace, &step::StepFace), ratio: f64| {
            other.points.iter().all(|x| is_in(&face.bounds, x.map(|x| ratio * x), tolerance))
        };
        let is_same = |ratio: f64| self.faces.iter().zip(of_file).all(|pair| holds(pair, ratio));
        if self.faces.len() != of_file.len() || !ratios.into_iter().any(is_same) {
            self.notes.push(format!(
                "names and colors of the file are left out: its {} faces could not be matched with \
                 these",
                of_file.len()
            ));
            return;
        }
        for (face, other) in self.faces.iter_mut().zip(of_file) {
            face.name = other.name.clone();
            face.color = other.color;
        }
    }
}

fn is_in(bounds: &BoundingBox, x: [f64; 3], tolerance: f64) -> bool {
    (0..3).all(|i| bounds.min[i] - tolerance <= x[i] && x[i] <= bounds.max[i] + tolerance)
}

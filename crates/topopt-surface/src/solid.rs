//! `Solid`: the one shape of a design that is exported, pictured and verified.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot};

use crate::cut::Cut;
use crate::gauss_points::GaussPoints;
use crate::lattice::Lattice;
use crate::shape::Shape;
use crate::shaping::{Shaping, SolidError};
use crate::skin::Skin;
use crate::threshold::Volumes;
use crate::{Field, FieldError, Part, TriangleSurface};

/// The solid of a design: what lies within its skin and the part.
#[derive(Debug, Clone)]
pub struct Solid<'a> {
    mesh: &'a HexMesh,
    /// The densities as a field, and the largest of them, which is 1 there.
    lattice: Lattice,
    scale: f64,
    /// The skin before and after fairing; it runs out of the part.
    rough: TriangleSurface,
    skin: TriangleSurface,
    /// Distances from the skin, positive inside, on the tetrahedra of the mesh.
    field: Field,
    level: f64,
    threshold: f64,
    volume: f64,
    /// Volume to keep, unless a threshold was given.
    kept: Option<f64>,
    width: f64,
    crumbs: usize,
}

impl<'a> Solid<'a> {
    /// The solid of `density`, `[n_elements]`, in `mesh`: all of it, or nothing, where no threshold
    /// divides the densities. Pieces smaller than an element are left out.
    ///
    /// # Errors
    /// [`SolidError`].
    pub fn of(mesh: &'a HexMesh, density: &[f64], shaping: &Shaping) -> Result<Self, SolidError> {
        Self::with_depth(mesh, density, None, shaping)
    }

    /// The solid of `density`, as [`Solid::of`] makes it, where elements are solid that lie in a
    /// part of space: it ends where that ends, and not with the elements. `depth`, `[n_nodes]`, is
    /// that of the nodes in it, negative outside.
    ///
    /// # Errors
    /// [`SolidError`].
    pub fn with_depth(
        mesh: &'a HexMesh,
        density: &[f64],
        depth: Option<&[f64]>,
        shaping: &Shaping,
    ) -> Result<Self, SolidError> {
        check(mesh, density)?;
        let volumes = Volumes::of(mesh);
        let (whole, n) = (volumes.total(), mesh.n_elements() as f64);
        let width = (whole / n).cbrt();
        let design = density.iter().zip(mesh.volumes()).map(|(density, v)| density * v).sum();

        // Sums and squares of 1e300 are no numbers.
        let scale = density.iter().map(|density| density.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let (lattice, threshold) = level(mesh, (density, depth), scale, shaping.threshold, width)?;

        let Skin { rough, mut surface, crumbs } =
            Skin::of(&lattice, threshold, width, shaping.quality)?;
        if let Some(share) = shaping.decimation {
            surface.decimate(share)?;
        }
        let field = Self::distances(mesh, &surface, |x| lattice.at(x) - threshold, width)?;
        let kept = shaping.threshold.is_none().then_some(design);
        let (level, volume) = match kept {
            Some(design) => volumes.threshold(&field, design),
            None => (0.0, volumes.clipped(&field, 0.0)),
        };
        let (skin, threshold) = (surface, threshold * scale);
        Ok(Self {
            mesh,
            lattice,
            scale,
            rough,
            skin,
            field,
            level,
            threshold,
            volume,
            kept,
            width,
            crumbs,
        })
    }

    /// Returns the mesh around the solid.
    pub fn mesh(&self) -> &'a HexMesh {
        self.mesh
    }

    /// Returns the density at which the surface lies.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The mean density around `x`; beyond the part that of what is near.
    pub fn density(&self, x: [f64; 3]) -> f64 {
        self.scale * self.lattice.at(x)
    }

    /// Returns the volume inside the surface, within the mesh.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Returns the width of an element: the edge of a cube of the mean volume.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Whether the solid is neither empty nor the whole mesh, so that its surface cuts elements.
    pub fn is_cut(&self) -> bool {
        let [least, most] = self.field.range();
        least < self.level && self.level <= most
    }

    /// Share of every element's volume that is solid, `[n_elements]`.
    pub fn shares(&self) -> Vec<f64> {
        let volumes = Volumes::of(self.mesh);
        let cut = Cut { mesh: self.mesh, field: &self.field, threshold: self.level };
        let share = |element: usize| volumes.inside(&cut, element) / volumes.of_element(element);
        (0..self.mesh.n_elements()).into_par_iter().map(share).collect()
    }

    /// Cuts the skin with the surface of `part`, and keeps the volume by moving it along its
    /// normals.
    ///
    /// # Errors
    /// [`SolidError::Cut`].
    pub fn shape(&self, part: &Part) -> Result<Shape, SolidError> {
        // The mesh knows nearly how far: its faces are those of the part, but for their bends.
        let mut found = self.cut(&self.skin, -self.level, part)?;
        let (mut offset, mut last) = (-self.level, None);
        for _ in 0..CUTS {
            let Some(design) = self.kept else { break };
            let missing = design - found.0.volume();
            let slope = match last {
                Some((before, missed)) => (missed - missing) / (offset - before),
                None => found.0.free_area(),
            };
            if missing.abs() <= TOLERANCE * design || slope.is_nan() || slope <= 0.0 {
                break;
            }
            last = Some((offset, missing));
            offset = (offset + missing / slope).clamp(-self.width, self.width);
            found = self.cut(&self.skin, offset, part)?;
        }

        let mut crossings = found.0.crossings();
        for nudge in NUDGES {
            if crossings.is_empty() {
                break;
            }
            found = self.cut(&self.skin, offset + nudge * self.width, part)?;
            crossings = found.0.crossings();
        }
        let (surface, crumbs) = found;
        // A cut of the rough surface takes as long; it is the same where fairing has changed
        // nothing.
        let level_set = match self.rough.topology() == self.skin.topology() {
            true => surface.topology(),
            false => self.cut(&self.rough, 0.0, part)?.0.topology(),
        };
        let (crumbs, width) = (self.crumbs + crumbs, self.width);
        Ok(Shape { surface, crossings, level_set, crumbs, width })
    }

    /// The surface of what `skin`, moved by an `offset` along its normals, and `part` have in
    /// common, and how many pieces smaller than an element were left out.
    fn cut(
        &self,
        skin: &TriangleSurface,
        offset: f64,
        part: &Part,
    ) -> Result<(TriangleSurface, usize), SolidError> {
        let mut surface = part.cut(&skin.offset(offset)).ok_or(SolidError::Cut)?;
        let crumbs = surface.drop_crumbs(self.width.powi(3));
        Ok((surface, crumbs))
    }

    /// Distances of the vertices of the tetrahedra from `skin`, positive inside; `above` tells
    /// which are far from it.
    fn distances(
        mesh: &HexMesh,
        skin: &TriangleSurface,
        above: impl Fn([f64; 3]) -> f64 + Sync,
        width: f64,
    ) -> Result<Field, FieldError> {
        let walls = Triangles::new(skin.corners_of_all());
        let normals = skin.normals();
        let distance = |x: [f64; 3]| {
            let value = above(x);
            let far = FAR_DISTANCE * width;
            if value.abs() > FAR || walls.is_empty() {
                return far.copysign(value);
            }
            let (t, wall) = walls.nearest_of(x).expect("there are walls");
            let way = difference(x, wall);
            let outwards = dot(way, skin.normal_at(t, wall, &normals));
            dot(way, way).sqrt().min(far).copysign(-outwards)
        };
        let nodes = mesh.coordinates().par_iter().map(|&x| distance(x)).collect();
        let centers = mesh.centers().into_par_iter().map(distance).collect();
        Field::new(mesh, nodes, centers)
    }
}

/// Cuts that find the offset, and the relative difference of volumes that counts as none.
const CUTS: usize = 4;
const TOLERANCE: f64 = 1e-4;

/// Moves, in element widths, that are tried where the cut surface crosses itself: faces that nearly
/// coincide may leave slivers which rounding folds.
const NUDGES: [f64; 4] = [3e-4, -3e-4, 1e-3, -1e-3];

/// Difference of the field from its level beyond which a vertex is at least an element from the
/// skin, and the distance that it gets, in element widths.
const FAR: f64 = 0.48;
const FAR_DISTANCE: f64 = 3.0;

impl TriangleSurface {
    /// The normal, not of length 1, in a point `x` of a triangle, linear between those of vertices.
    fn normal_at(&self, triangle: usize, x: [f64; 3], normals: &[[f64; 3]]) -> [f64; 3] {
        let corners = self.triangles[triangle];
        let places = corners.map(|vertex| self.vertices[vertex as usize]);
        let [a, b, c] = places.map(|place| difference(place, x));
        let whole = self.area_vector(&corners);
        let shares = [cross(b, c), cross(c, a), cross(a, b)].map(|part| dot(part, whole));
        let normal =
            |i: usize| -> f64 { (0..3).map(|k| shares[k] * normals[corners[k] as usize][i]).sum() };
        [0, 1, 2].map(normal)
    }
}

/// The field of `density` over `scale`, and the level in it that is `given` or keeps the volume.
fn level(
    mesh: &HexMesh,
    (density, depth): (&[f64], Option<&[f64]>),
    scale: f64,
    given: Option<f64>,
    width: f64,
) -> Result<(Lattice, f64), SolidError> {
    let points = GaussPoints::of(mesh);
    // Beyond all densities a threshold means everything or nothing, although the field rings.
    let least = density.iter().copied().fold(f64::INFINITY, f64::min);
    let scaled: Vec<f64> = match given {
        Some(threshold) if threshold <= least => vec![1.0; density.len()],
        Some(threshold) if threshold > scale => vec![0.0; density.len()],
        _ => density.iter().map(|density| density / scale).collect(),
    };
    let mut scaled = points.spread(&scaled);
    if let Some(depth) = depth.filter(|depth| depth.len() == mesh.n_nodes()) {
        points.end_at(mesh, depth, &mut scaled);
    }
    let lattice = Lattice::of(&points, &scaled, width).ok_or_else(|| too_large(mesh, width))?;
    let level = match given {
        Some(threshold) => threshold / scale,
        None => lattice.level(&points, &scaled),
    };
    Ok((lattice, level))
}

fn check(mesh: &HexMesh, density: &[f64]) -> Result<(), FieldError> {
    if density.len() != mesh.n_elements() {
        return Err(FieldError::Length { found: density.len(), expected: mesh.n_elements() });
    }
    match density.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(FieldError::NotFinite { index, value: density[index] }),
        None => Ok(()),
    }
}

fn too_large(mesh: &HexMesh, width: f64) -> SolidError {
    SolidError::TooLarge(mesh.bounding_box().extent().iter().map(|x| x / width).product())
}

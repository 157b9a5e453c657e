//! `UncutSolid`: a solid with its skin, from the densities of a design.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot};

use crate::mean_density::{MeanDensity, check};
use crate::shape::Shape;
use crate::shaping::{Shaping, SolidError};
use crate::shells::Crumbs;
use crate::skin::Skin;
use crate::solid::{Filled, Solid};
use crate::threshold::Volumes;
use crate::{Field, FieldError, Part, TriangleSurface};

/// A solid with its skin, which runs out of the part until it is cut with that.
#[derive(Debug, Clone)]
pub struct UncutSolid<'a> {
    /// The solid.
    pub solid: Solid<'a>,
    /// The skin before and after fairing.
    rough: TriangleSurface,
    skin: TriangleSurface,
    /// Volume to keep, unless a threshold was given.
    kept: Option<f64>,
    crumbs: Crumbs,
}

impl<'a> UncutSolid<'a> {
    /// The solid of `density`, `[n_elements]`, in `mesh`: all of it, or nothing, where no threshold
    /// divides the densities. Pieces smaller than an element are left out.
    ///
    /// # Errors
    /// [`SolidError`].
    pub fn of(mesh: &'a HexMesh, density: &[f64], shaping: &Shaping) -> Result<Self, SolidError> {
        Self::with_depth(mesh, density, None, shaping)
    }

    /// The solid of `density`, as [`UncutSolid::of`] makes it, where elements are solid that lie in
    /// a part of space: it ends where that ends, and not with the elements. `depth`, `[n_nodes]`,
    /// is that of the nodes in it, negative outside.
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
        let part = (mesh, volumes.total());
        let mean = MeanDensity::with_threshold(part, (density, depth), shaping.threshold)?;
        let design = density.iter().zip(mesh.volumes()).map(|(density, v)| density * v).sum();
        let MeanDensity { lattice, level: threshold, scale, width } = mean;

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
        let threshold = threshold * scale;
        let solid = Solid { mesh, filled: Filled { field, level, threshold, volume, width } };
        Ok(Self { solid, rough, skin: surface, kept, crumbs })
    }

    /// Cuts the skin with the surface of `part`, and keeps the volume by moving it along its
    /// normals.
    ///
    /// # Errors
    /// [`SolidError::Cut`].
    pub fn shape(&self, part: &Part) -> Result<Shape, SolidError> {
        // The mesh knows nearly how far: its faces are those of the part, but for their bends.
        let Filled { level, width, .. } = self.solid.filled;
        let (mut offset, mut last) = (-level, None);
        let mut found = self.cut(&self.skin, offset, part)?;
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
            offset = (offset + missing / slope).clamp(-width, width);
            if let Some(filled) = found.0.filled_to(design, NEAR * width, part.surface()) {
                found.0 = filled;
                break;
            }
            found = self.cut(&self.skin, offset, part)?;
        }

        let mut crossings = found.0.crossings();
        for nudge in NUDGES {
            if crossings.is_empty() {
                break;
            }
            let offset = offset + nudge * width;
            let moved = self.skin.moved_without_crossings(self.skin.offset(offset));
            let Some(skin) = moved else { continue };
            found = self.cut(&skin, 0.0, part)?;
            crossings = found.0.crossings();
        }
        let (surface, crumbs) = found;
        // A cut of the rough surface takes as long; it is the same where fairing has changed
        // nothing.
        let level_set = match self.rough.topology() == self.skin.topology() {
            true => surface.topology(),
            false => self.cut(&self.rough, 0.0, part)?.0.topology(),
        };
        let crumbs = self.crumbs.and(crumbs);
        Ok(Shape { surface, crossings, level_set, crumbs, width })
    }

    /// The surface of what `skin`, moved by an `offset` along its normals, and `part` have in
    /// common, and the pieces smaller than an element, which are left out.
    fn cut(
        &self,
        skin: &TriangleSurface,
        offset: f64,
        part: &Part,
    ) -> Result<(TriangleSurface, Crumbs), SolidError> {
        let mut surface = part.cut(&skin.offset(offset)).ok_or(SolidError::Cut)?;
        let crumbs = surface.drop_crumbs(self.solid.width().powi(3));
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

/// Move, in element widths, up to which vertices of the cut surface go to where those of a new cut
/// would be: a tenth of what can be seen in the normals.
const NEAR: f64 = 0.02;

/// Moves, in element widths, that are tried where the cut surface crosses itself. With none the
/// skin moves less where it would cross itself; faces that nearly coincide may leave slivers,
/// which rounding folds.
const NUDGES: [f64; 5] = [0.0, 3e-4, -3e-4, 1e-3, -1e-3];

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

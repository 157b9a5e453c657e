//! `UncutSolid`: a solid with its skin, from the densities of a design.

use topopt_mesh::HexMesh;

use crate::depths::Depths;
use crate::mean_density::{MeanDensity, check};
use crate::shape::Shape;
use crate::shaping::{Form, Shaping, SolidError};
use crate::shells::Crumbs;
use crate::skin::Skin;
use crate::solid::{Filled, Solid};
use crate::{Part, Topology, TriangleSurface};

/// A cut surface, pairs of its triangles that cross, and pieces that were left out.
type Filling = (TriangleSurface, Vec<[u32; 2]>, Crumbs);

/// A solid with its skin, which runs out of the part until it is cut with that.
#[derive(Debug, Clone)]
pub struct UncutSolid<'a> {
    /// The solid.
    pub solid: Solid<'a>,
    /// The densities whose level surface became the skin.
    pub mean: MeanDensity,
    /// The skin before and after fairing.
    rough: TriangleSurface,
    skin: TriangleSurface,
    /// Depth below the skin at which the surface within the mesh keeps the volume.
    level: f64,
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
        Self::formed(mesh, density, Form::default(), shaping)
    }

    /// The solid of `density`, as [`UncutSolid::of`] makes it, in a `form`.
    ///
    /// # Errors
    /// [`SolidError`].
    pub fn formed(
        mesh: &'a HexMesh,
        density: &[f64],
        form: Form,
        shaping: &Shaping,
    ) -> Result<Self, SolidError> {
        check(mesh, density)?;
        shaping.check()?;
        let volumes = mesh.volumes();
        let whole = volumes.iter().sum();
        let mean = MeanDensity::with_threshold((mesh, whole), (density, form), shaping.threshold)?;
        let MeanDensity { lattice, level: threshold, scale, width } = &mean;
        let (threshold, width) = (*threshold, *width);

        let Skin { rough, mut surface, crumbs } =
            Skin::of(lattice, threshold, width, shaping.quality)?;
        if let Some(share) = shaping.decimation {
            surface.decimate(share)?;
        }
        let sum = |values: &[f64]| values.iter().zip(&volumes).map(|(value, v)| value * v).sum();
        let kept: Option<f64> = shaping.threshold.is_none().then(|| sum(density));
        let above = |x| lattice.at(x) - threshold;
        let depths = Depths::below(&surface, above, (mesh, &volumes), width);
        let level = kept.map_or(0.0, |design| depths.level(design, width));
        let shares = depths.shares(level);
        let (volume, threshold) = (sum(&shares), threshold * scale);
        let solid = Solid { mesh, filled: Filled { shares, threshold, volume, width } };
        Ok(Self { solid, mean, rough, skin: surface, level, kept, crumbs })
    }

    /// Cuts the skin with the surface of `part`, and keeps the volume by moving it along its
    /// normals.
    ///
    /// # Errors
    /// [`SolidError::Cut`].
    pub fn shape(&self, part: &Part) -> Result<Shape, SolidError> {
        let (surface, level_set) = rayon::join(|| self.filled(part), || self.level_set(part));
        let (surface, crossings, crumbs) = surface?;
        let level_set = level_set?.unwrap_or_else(|| surface.topology());
        let (crumbs, width) = (self.crumbs.and(crumbs), self.solid.width());
        Ok(Shape { surface, crossings, level_set, crumbs, width })
    }

    /// Pieces, cavities and handles of the rough surface, cut with that of `part`; none where
    /// fairing has changed nothing, since a cut takes as long as that of the skin.
    fn level_set(&self, part: &Part) -> Result<Option<Topology>, SolidError> {
        let is_same = self.rough.topology() == self.skin.topology();
        if is_same { Ok(None) } else { Ok(Some(self.cut(&self.rough, 0.0, part)?.0.topology())) }
    }

    /// The skin, cut with the surface of `part`, which keeps the volume, the pairs of its triangles
    /// that cross, and the pieces that were left out.
    fn filled(&self, part: &Part) -> Result<Filling, SolidError> {
        // The mesh knows nearly how far: its faces are those of the part, but for their bends.
        let width = self.solid.width();
        let (mut offset, mut last) = (-self.level, None);
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
        Ok((surface, crossings, crumbs))
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
}

/// Cuts that find the offset, and the relative difference of volumes that counts as none.
const CUTS: usize = 4;
const TOLERANCE: f64 = 1e-5;

/// Move, in element widths, up to which vertices of the cut surface go to where those of a new cut
/// would be: a tenth of what can be seen in the normals.
const NEAR: f64 = 0.02;

/// Moves, in element widths, that are tried where the cut surface crosses itself. With none the
/// skin moves less where it would cross itself; faces that nearly coincide may leave slivers,
/// which rounding folds.
const NUDGES: [f64; 5] = [0.0, 3e-4, -3e-4, 1e-3, -1e-3];

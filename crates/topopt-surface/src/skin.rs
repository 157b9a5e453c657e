//! The skin of a design: a smooth closed surface that runs out of the part where the design does.

use topopt_linalg::BackendError;

use crate::TriangleSurface;
use crate::fairing::faired;
use crate::lattice::Lattice;
use crate::marching::level_surface;
use crate::quality::Quality;
use crate::shells::Crumbs;

/// Spacing of the lattice that triangles are made on, for one of their edges.
const SPACING: f64 = 1.4;

/// Wavelength, in element widths, below which waves are taken out.
const WAVELENGTH: f64 = 7.0;

/// The skin before and after fairing.
pub(crate) struct Skin {
    /// The level surface of the field.
    pub rough: TriangleSurface,
    /// The skin.
    pub surface: TriangleSurface,
    /// Pieces smaller than an element, which were left out.
    pub crumbs: Crumbs,
}

impl Skin {
    /// The skin of {`field` >= `level`} at elements of the `width`.
    pub fn of(
        field: &Lattice,
        level: f64,
        width: f64,
        quality: Quality,
    ) -> Result<Self, BackendError> {
        let spacing = SPACING * quality.edge() * width;
        let mut rough = level_surface(|x| field.at(x) - level, field.bounds(), spacing);
        let crumbs = rough.drop_crumbs(width.powi(3));
        rough.part_touching();
        let surface = rough.moved_without_crossings(faired(&rough, WAVELENGTH * width)?);
        let surface = surface.unwrap_or_else(|| rough.clone());
        Ok(Self { rough, surface, crumbs })
    }
}

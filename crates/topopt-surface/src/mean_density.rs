//! `MeanDensity`: the densities of a design averaged over a few elements around.

use topopt_mesh::HexMesh;

use crate::gauss_points::GaussPoints;
use crate::lattice::Lattice;
use crate::shaping::{Form, SolidError};

/// Mean densities, which go on beyond the part.
#[derive(Debug, Clone)]
pub struct MeanDensity {
    /// The densities over `scale`, the largest of them, and the level there at which a surface
    /// lies.
    pub(crate) lattice: Lattice,
    pub(crate) scale: f64,
    pub(crate) level: f64,
    /// Width of an element: the edge of a cube of the mean volume.
    pub(crate) width: f64,
}

impl MeanDensity {
    /// The means of `density`, `[n_elements]`, in `mesh`, in a `form`.
    ///
    /// # Errors
    /// [`SolidError::Length`], [`SolidError::NotFinite`] and [`SolidError::TooLarge`].
    pub fn of(mesh: &HexMesh, density: &[f64], form: Form) -> Result<Self, SolidError> {
        check(mesh, density)?;
        Self::with_threshold((mesh, mesh.volumes().iter().sum()), (density, form), None)
    }

    /// The mean density around `x`; beyond the part that of what is near.
    pub fn at(&self, x: [f64; 3]) -> f64 {
        self.scale * self.lattice.at(x)
    }

    /// The means of densities, one for each element, in a form and a mesh of the volume `whole`,
    /// with the level that is `given` or keeps the volume.
    pub(crate) fn with_threshold(
        (mesh, whole): (&HexMesh, f64),
        (density, form): (&[f64], Form),
        given: Option<f64>,
    ) -> Result<Self, SolidError> {
        let width = (whole / mesh.n_elements() as f64).cbrt();
        // Sums and squares of 1e300 are no numbers.
        let scale = density.iter().map(|density| density.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let points = GaussPoints::of(mesh);

        // Beyond all densities a threshold means everything or nothing, although the field rings.
        let least = density.iter().copied().fold(f64::INFINITY, f64::min);
        let scaled: Vec<f64> = match given {
            Some(threshold) if threshold <= least => vec![1.0; density.len()],
            Some(threshold) if threshold > scale => vec![0.0; density.len()],
            _ => density.iter().map(|density| density / scale).collect(),
        };
        let mut scaled = points.spread(&scaled);
        if let Some(depth) = form.depth.filter(|depth| depth.len() == mesh.n_nodes()) {
            points.end_at(mesh, depth, &mut scaled);
        }
        let given = given.map(|threshold| threshold / scale);
        let found = Lattice::of(&points, &scaled, width, (given, form.draw));
        let (lattice, level) = found.ok_or_else(|| too_large(mesh, width))?;
        Ok(Self { lattice, scale, level, width })
    }
}

pub(crate) fn check(mesh: &HexMesh, density: &[f64]) -> Result<(), SolidError> {
    if density.len() != mesh.n_elements() {
        return Err(SolidError::Length { found: density.len(), expected: mesh.n_elements() });
    }
    match density.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(SolidError::NotFinite { index, value: density[index] }),
        None => Ok(()),
    }
}

fn too_large(mesh: &HexMesh, width: f64) -> SolidError {
    SolidError::TooLarge(mesh.bounding_box().extent().iter().map(|x| x / width).product())
}

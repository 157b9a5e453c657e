//! How a level set moves.

use crate::checks::check_finite;
use crate::{DistanceError, Tetrahedra};

/// A coefficient of [`Motion`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coefficient<'a, T> {
    /// One value everywhere.
    Uniform(T),
    /// Values by tetrahedron, `[n_cells]`.
    Cells(&'a [T]),
    /// Values by vertex, `[n_points]`; a tetrahedron has the mean of its corners.
    Vertices(&'a [T]),
}

/// The motion of a level set: phi_t + alpha . grad(phi) + epsilon |grad(phi)| = beta kappa
/// |grad(phi)|, where kappa = div(grad(phi) / |grad(phi)|) is the sum of the principal curvatures,
/// positive for a sphere that is negative inside.
///
/// So a front moves with alpha, grows outwards with the speed epsilon, and its bumps are smoothed
/// by beta: a sphere shrinks by R^2 = R0^2 - 4 beta t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion<'a> {
    /// alpha, a velocity.
    pub velocity: Coefficient<'a, [f64; 3]>,
    /// epsilon, a speed outwards, to where the field is positive; inwards if negative.
    pub normal_speed: Coefficient<'a, f64>,
    /// beta >= 0, an area per time.
    pub curvature: Coefficient<'a, f64>,
}

impl Motion<'static> {
    /// No motion at all; a start from which single coefficients are replaced.
    pub const REST: Self = Self {
        velocity: Coefficient::Uniform([0.0; 3]),
        normal_speed: Coefficient::Uniform(0.0),
        curvature: Coefficient::Uniform(0.0),
    };
}

impl Motion<'_> {
    /// Whether all coefficients are those of the tetrahedra, finite, and none smooths backwards.
    pub(crate) fn check(&self, tetrahedra: &Tetrahedra) -> Result<(), DistanceError> {
        let velocity = self.velocity.entries(tetrahedra, "velocities")?.as_flattened();
        check_finite("component of the velocity", velocity)?;
        check_finite("normal speed", self.normal_speed.entries(tetrahedra, "normal speeds")?)?;

        let curvature = self.curvature.entries(tetrahedra, "factors of the curvature")?;
        check_finite("factor of the curvature", curvature)?;
        match curvature.iter().find(|&&beta| beta < 0.0) {
            Some(&value) => {
                Err(DistanceError::Negative { what: "a factor of the curvature", value })
            }
            None => Ok(()),
        }
    }
}

impl<T> Coefficient<'_, T> {
    /// All entries, if there are as many as there should be.
    fn entries(&self, tetrahedra: &Tetrahedra, what: &'static str) -> Result<&[T], DistanceError> {
        let (entries, expected) = match self {
            Self::Uniform(value) => (std::slice::from_ref(value), 1),
            Self::Cells(values) => (*values, tetrahedra.cells().len()),
            Self::Vertices(values) => (*values, tetrahedra.points().len()),
        };
        let found = entries.len();
        if found != expected {
            return Err(DistanceError::Length { what, found, expected });
        }
        Ok(entries)
    }
}

impl<T: Mean> Coefficient<'_, T> {
    /// Value in a tetrahedron with these vertices.
    pub(crate) fn at(&self, cell: u32, corners: [u32; 4]) -> T {
        match self {
            Self::Uniform(value) => *value,
            Self::Cells(values) => values[cell as usize],
            Self::Vertices(values) => T::mean(corners.map(|vertex| values[vertex as usize])),
        }
    }
}

/// Scalars and vectors that have a mean; public only as a bound.
pub trait Mean: Copy {
    /// The mean of four.
    fn mean(values: [Self; 4]) -> Self;
}

impl Mean for f64 {
    fn mean(values: [Self; 4]) -> Self {
        values.iter().sum::<f64>() / 4.0
    }
}

impl Mean for [f64; 3] {
    fn mean(values: [Self; 4]) -> Self {
        [0, 1, 2].map(|d| values.iter().map(|value| value[d]).sum::<f64>() / 4.0)
    }
}

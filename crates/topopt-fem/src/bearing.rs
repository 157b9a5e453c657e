//! The load of a pin in a bore.
//!
//! A pin without friction pushes along the normals, p = max(0, -n . q) with the outward normal n of
//! the part: the cosine of the angle from q, on the side that q points to. On a bore that is meshed
//! evenly q has the direction of the force. On others the sum of such pressures would point
//! elsewhere, so q is what gives the force: the minimum of the convex function sum A p^2 / 2 - F .
//! q, found by Newton's method. Pressure along the force instead of the normal would be simpler,
//! but pushes the flanks of the bore sideways, as no pin does.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use topopt_mesh::{Face, HexMesh};

use crate::surface_load::{NodalForces, Point, points, sum_at_nodes};

/// Why faces do not take a force as a bearing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BearingError {
    /// No outward normal points against the force.
    NoFace,
    /// Share of the force in directions without normals.
    Sideways(f64),
}

/// Share of the force that pressure may leave, such as a slightly tilted force along the axis of
/// the bore. It acts as friction, in proportion to the pressure.
const FRICTION: f64 = 0.1;

/// Share of the area, seen against the force, below which no face takes it.
const NO_AREA: f64 = 1e-6;

/// Share of the largest eigenvalue below which pressure has no effect in a direction: of bores that
/// taper by less than about two degrees, along the axis.
const FLAT: f64 = 1e-3;

/// Nodal forces of a pin that pushes on `faces` with `force`, which is their sum to rounding.
///
/// # Errors
/// [`BearingError`] if the faces cannot take it by pressure.
pub fn bearing(
    mesh: &HexMesh,
    faces: &[Face],
    force: [f64; 3],
) -> Result<NodalForces, BearingError> {
    let target = Vector3::from(force);
    let size = target.norm();
    let bore = Bore::new(points(mesh, faces).collect());
    let direction = target / size;
    let facing: f64 = bore.pressures(&direction).map(|(area, p)| area * p).sum();
    if facing.is_nan() || facing <= NO_AREA * bore.area() {
        return Err(BearingError::NoFace);
    }

    let q = bore.balance(&target);
    let pressures: Vec<f64> = bore.pressures(&q).map(|(_, p)| p).collect();
    let pressed = bore.resultant(&q);
    let rest = target - pressed;
    if rest.norm() > FRICTION * size {
        return Err(BearingError::Sideways(rest.norm() / size));
    }

    let weight: f64 = bore.pressures(&q).map(|(area, p)| area * p).sum();
    let friction = rest / weight;
    let mut pressures = pressures.into_iter();
    Ok(sum_at_nodes(bore.points.into_iter().map(|point| {
        let p = pressures.next().unwrap_or(0.0);
        let area = Vector3::from(point.area);
        let push = friction * area.norm() - area;
        (point, (push * p).into())
    })))
}

/// The faces of a bore by the points of the Gauss rule.
struct Bore {
    points: Vec<Point>,
    /// Outward normals, and the area of each integration point.
    normals: Vec<(Vector3<f64>, f64)>,
}

impl Bore {
    fn new(points: Vec<Point>) -> Self {
        let normal = |point: &Point| {
            let area = Vector3::from(point.area);
            let size = area.norm();
            (if size > 0.0 { area / size } else { area }, size)
        };
        Self { normals: points.iter().map(normal).collect(), points }
    }

    fn area(&self) -> f64 {
        self.normals.iter().map(|(_, area)| area).sum()
    }

    /// Area and pressure of every point.
    fn pressures(&self, q: &Vector3<f64>) -> impl Iterator<Item = (f64, f64)> {
        let q = *q;
        self.normals.iter().map(move |(n, area)| (*area, (-n.dot(&q)).max(0.0)))
    }

    /// The force that they amount to.
    fn resultant(&self, q: &Vector3<f64>) -> Vector3<f64> {
        let terms = self.normals.iter().zip(self.pressures(q));
        terms.map(|((n, area), (_, p))| -n * (area * p)).sum()
    }

    /// The q whose pressures amount to `force`, as far as pressure can.
    fn balance(&self, force: &Vector3<f64>) -> Vector3<f64> {
        const MOST_STEPS: usize = 50;
        const MOST_HALVINGS: usize = 30;
        let energy = |q: &Vector3<f64>| -> f64 {
            let stored: f64 = self.pressures(q).map(|(area, p)| 0.5 * area * p * p).sum();
            stored - force.dot(q)
        };

        // Pressures grow in proportion to q: the length that is best for this direction.
        let mut q = *force;
        q *= force.norm_squared() / force.dot(&self.resultant(&q));
        for _ in 0..MOST_STEPS {
            let step = self.newton_step(&q, force);
            let halvings = (0..MOST_HALVINGS).map(|k| 0.5_f64.powi(k as i32));
            let now = energy(&q);
            let Some(length) = halvings.into_iter().find(|t| energy(&(q + step * *t)) < now) else {
                break;
            };
            q += step * length;
        }
        q
    }

    fn newton_step(&self, q: &Vector3<f64>, force: &Vector3<f64>) -> Vector3<f64> {
        let active = self.normals.iter().filter(|(n, _)| n.dot(q) < 0.0);
        let stiffness: Matrix3<f64> = active.map(|(n, area)| n * n.transpose() * *area).sum();
        let SymmetricEigen { eigenvalues, eigenvectors } = stiffness.symmetric_eigen();
        let residual = force - self.resultant(q);
        let least = FLAT * eigenvalues.max();
        let mut step = Vector3::zeros();
        for (axis, value) in eigenvectors.column_iter().zip(&eigenvalues) {
            if *value > least {
                step += axis * (axis.dot(&residual) / value);
            }
        }
        step
    }
}

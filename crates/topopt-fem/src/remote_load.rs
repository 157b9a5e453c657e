//! A force at a point and a moment, spread over nodes by least squares as an RBE3 element does.
//!
//! With weights w_n, their sum W, the weighted centroid c and arms r_n = x_n - c, the forces are
//! f_n = w_n (F / W + T x r_n). T solves J T = M_c with the inertia J = sum w_n (|r_n|^2 I - r_n
//! r_n^T) and the moment M_c about c. Of all forces of this resultant these have the smallest sum of
//! |f_n|^2 / w_n: nodes move freely, and nothing is stiffened.

use nalgebra::{Matrix3, SymmetricEigen};
use topopt_mesh::HexMesh;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::surface_load::{NodalForces, accurate_sum};

/// A force that acts at a point, with a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointLoad {
    /// Force.
    pub force: [f64; 3],
    /// Moment about `at`, force times length.
    pub moment: [f64; 3],
    /// Point where the force acts; of no effect without a force.
    pub at: [f64; 3],
}

/// Why nodes cannot take a moment by forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpreadError {
    /// They lie in one point, or there are none.
    Point,
    /// They lie on a line of this direction, and part of the moment turns about it.
    Line([f64; 3]),
}

/// Share of the largest inertia below which nodes lie on a line: they are a millionth of their
/// length apart across it.
const LINE: f64 = 1e-12;

/// Share of a moment that is rounding.
const ROUNDING: f64 = 1e-12;

/// Forces on the nodes of `weights`, pairs of node and weight > 0, with the resultant and the
/// moment of `load`, to rounding.
///
/// # Errors
/// [`SpreadError`] if a moment is left that these nodes cannot take.
pub fn spread(
    mesh: &HexMesh,
    weights: &[(u32, f64)],
    load: &PointLoad,
) -> Result<NodalForces, SpreadError> {
    let group = Group::new(mesh, weights).ok_or(SpreadError::Point)?;
    let about_center = cross(difference(load.at, group.center), load.force);
    let moment = std::array::from_fn(|i| load.moment[i] + about_center[i]);
    group.check(load, moment)?;

    let mut forces = vec![[0.0; 3]; weights.len()];
    group.add(load.force, moment, &mut forces);
    // Where nodes lie close to a line their inertia is ill-conditioned; what rounding has taken is
    // given back.
    for _ in 0..2 {
        let [force, turned] = group.resultant(&forces);
        group.add(difference(load.force, force), difference(moment, turned), &mut forces);
    }
    Ok(weights.iter().map(|(node, _)| *node).zip(forces).collect())
}

/// Nodes with weights, as a rigid body of masses.
struct Group<'a> {
    weights: &'a [(u32, f64)],
    total: f64,
    center: [f64; 3],
    /// x_n - c.
    arms: Vec<[f64; 3]>,
    /// Principal axes of the inertia, with the inertia about each; 0 where it is rounding.
    axes: [([f64; 3], f64); 3],
    /// The largest distance of a node from the origin: what coordinates are rounded by.
    reach: f64,
}

impl<'a> Group<'a> {
    fn new(mesh: &HexMesh, weights: &'a [(u32, f64)]) -> Option<Self> {
        let x = |node: u32| mesh.coordinates()[node as usize];
        let total = accurate_sum(weights.iter().map(|(_, w)| *w));
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let center = std::array::from_fn(|i| {
            accurate_sum(weights.iter().map(|&(n, w)| w * x(n)[i])) / total
        });
        let arms: Vec<_> = weights.iter().map(|&(n, _)| difference(x(n), center)).collect();
        let reach = weights.iter().map(|&(n, _)| length(x(n))).fold(0.0, f64::max);

        let inertia = Matrix3::from_fn(|i, j| {
            let term = |(&(_, w), r): (&(u32, f64), &[f64; 3])| {
                w * (if i == j { dot(*r, *r) } else { 0.0 } - r[i] * r[j])
            };
            accurate_sum(weights.iter().zip(&arms).map(term))
        });
        let SymmetricEigen { eigenvalues, eigenvectors } = inertia.symmetric_eigen();
        let least = (LINE * eigenvalues.max()).max(total * (LINE * reach).powi(2));
        let axes = std::array::from_fn(|i| {
            let axis = eigenvectors.column(i);
            let value = eigenvalues[i];
            ([axis[0], axis[1], axis[2]], if value > least { value } else { 0.0 })
        });
        Some(Self { weights, total, center, arms, axes, reach })
    }

    /// Whether the nodes can take `moment` about their center.
    fn check(&self, load: &PointLoad, moment: [f64; 3]) -> Result<(), SpreadError> {
        let arm = self.reach + length(load.at);
        let rounding = ROUNDING * (length(load.moment) + length(load.force) * arm);
        let is_weak = |(axis, inertia): &&([f64; 3], f64)| {
            *inertia == 0.0 && dot(*axis, moment).abs() > rounding
        };
        match self.axes.iter().find(is_weak) {
            None => Ok(()),
            Some(_) if self.axes.iter().all(|(_, inertia)| *inertia == 0.0) => {
                Err(SpreadError::Point)
            }
            Some((axis, _)) => Err(SpreadError::Line(*axis)),
        }
    }

    /// Adds the forces of resultant `force` and of `moment` about the center.
    fn add(&self, force: [f64; 3], moment: [f64; 3], forces: &mut [[f64; 3]]) {
        let mut turn = [0.0; 3];
        for (axis, inertia) in self.axes.iter().filter(|(_, inertia)| *inertia > 0.0) {
            let share = dot(*axis, moment) / inertia;
            (0..3).for_each(|i| turn[i] += share * axis[i]);
        }
        for ((f, &(_, weight)), arm) in forces.iter_mut().zip(self.weights).zip(&self.arms) {
            let turned = cross(turn, *arm);
            (0..3).for_each(|i| f[i] += weight * (force[i] / self.total + turned[i]));
        }
    }

    /// Resultant and moment about the center of `forces`.
    fn resultant(&self, forces: &[[f64; 3]]) -> [[f64; 3]; 2] {
        let force = |i: usize| accurate_sum(forces.iter().map(|f| f[i]));
        let turned = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let terms = self.arms.iter().zip(forces);
            accurate_sum(terms.flat_map(|(r, f)| [r[j] * f[k], -r[k] * f[j]]))
        };
        [std::array::from_fn(force), std::array::from_fn(turned)]
    }
}

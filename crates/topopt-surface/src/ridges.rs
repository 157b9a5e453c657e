//! Ridges of the field: members of one element, which a mean over a few elements hardly leaves.

use rayon::prelude::*;

use crate::gauss_points::GaussPoints;
use crate::lattice::{Lattice, Means};

/// Height above the level that the field has in the middle of a member of one element, whose
/// surface is then that of the element, or a tenth beyond: with less height it has holes.
const RIDGE: f64 = 0.08;

/// Height that the mean has lost of the density there: a ramp of densities loses nothing.
const LOST: f64 = 0.3;

/// Distance, in element widths, at which a point below that height belongs to a thicker member if
/// the field is as high as this above the level: it is near its surface.
const BESIDE: f64 = 1.75;
const DEEP: f64 = 0.16;

/// Rounds that lift thin members, and the least share of its lift that a point is taken to get.
const LIFTS: usize = 4;
const LEAST_LIFTED: f64 = 0.1;

impl Lattice {
    /// Lifts members of one element above the level that is `given` or keeps the volume, and
    /// returns that. Near the level, a web would fall into crumbs that touch each other.
    pub(crate) fn lift_ridges(
        &mut self,
        means: &Means,
        density: &[f64],
        width: f64,
        given: Option<f64>,
    ) -> f64 {
        let level_of = |field: &Self| given.unwrap_or_else(|| field.level(means.points, density));
        let mut level = level_of(self);
        for _ in 0..LIFTS {
            let lacking = self.lacking(means.points, density, level, BESIDE * width);
            if lacking.iter().all(|lack| *lack == 0.0) {
                break;
            }

            // What a point gets of a lift of 1: little in a bar, more in a plate.
            let is_lifted: Vec<f64> =
                lacking.iter().map(|lack| f64::from(u8::from(*lack > 0.0))).collect();
            let got = self.with(means.of(&is_lifted));
            let lift = |(lack, got): (&f64, f64)| lack / got.max(LEAST_LIFTED);
            let lifts: Vec<f64> =
                lacking.par_iter().zip(got.at_points(means.points)).map(lift).collect();
            self.add(&means.of(&lifts));
            level = level_of(self);
        }
        level
    }

    /// Lack of height, `[n_points]`, at points of a `density` of the `level` or more that belong to
    /// no member which is thicker within the `reach`.
    fn lacking(&self, points: &GaussPoints, density: &[f64], level: f64, reach: f64) -> Vec<f64> {
        let points = points.places.par_iter().zip(density);
        points.map(|(x, density)| self.lack(*x, *density, level, reach)).collect()
    }

    fn lack(&self, x: [f64; 3], density: f64, level: f64, reach: f64) -> f64 {
        let height = self.at(x);
        let lack = level + RIDGE - height;
        if lack <= 0.0 || density < level.max(height + LOST) {
            return 0.0;
        }
        let mut beside = (0..3).flat_map(|axis| {
            [-reach, reach].map(|step| [0, 1, 2].map(|i| x[i] + if i == axis { step } else { 0.0 }))
        });
        let is_thin = beside.all(|x| self.at(x) < level + DEEP);
        if is_thin { lack } else { 0.0 }
    }
}

//! Measures of a built part by the demands of the way in which it is made.

use serde::{Deserialize, Serialize};
use topopt_design::{DesignSpace, Swept, equal_by};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::shown;

use super::kinds::asked;
use super::{cast, overhang};
use crate::config::Config;

/// Measure of a built part, with its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Meaning of the measure, such as `lost when it is printed at 50 degrees`.
    pub measure: String,
    /// Share of the volume of the design elements that are solid.
    pub share: f64,
    /// Largest share that is accepted.
    pub at_most: f64,
    /// Whether the limit is kept.
    pub met: bool,
}

/// Share of the volume by which a part may miss a demand: elements at a surface are cut anywhere.
const AT_MOST: f64 = 0.01;

impl Made {
    pub(super) fn new(measure: String, share: f64) -> Self {
        Self { measure, share, at_most: AT_MOST, met: share <= AT_MOST }
    }

    /// Returns measure, value and verdict, such as `0.3 % of the volume is undercut along the draw
    /// (at most 1 %: met)`.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| shown((1e4 * share).round() / 1e2);
        let met = if self.met { "met" } else { "NOT MET" };
        let [share, most] = [self.share, self.at_most].map(percent);
        format!("{share} % of the volume is {} (at most {most} %: {met})", self.measure)
    }

    /// Warns of a limit that is not kept.
    pub fn warning(&self) -> Option<String> {
        (!self.met).then(|| format!("of the built part {}", self.in_words()))
    }
}

/// Measures the `shares` of the elements that are solid, `[n_elements]` in the order of the `mesh`
/// of the problem, by each kind of demand.
pub fn measured(config: &Config, mesh: &HexMesh, space: &DesignSpace, shares: &[f64]) -> Vec<Made> {
    let centers = mesh.centers();
    let asked = |kind| asked(config, kind, &centers, mesh.element_width());
    let volumes = space.design_volumes();
    let total: f64 = volumes.iter().zip(shares).map(|(volume, share)| volume * share).sum();
    let share_of = |amount: &dyn Fn(usize) -> f64| {
        (0..volumes.len()).map(|e| volumes[e] * amount(e)).sum::<f64>() / total
    };

    let solid = || shares.iter().map(|&share| f64::from(share >= 0.5)).collect::<Vec<f64>>();

    let mut all = Vec::new();
    if let Some(rows) = space.shares() {
        let equal = equal_by(rows, &space.volumes, space.n_variables(), shares);
        let share = share_of(&|e| (shares[e] - equal[e]).abs());
        all.push(Made::new("unequal where it is to be equal".into(), share));
    }
    if let Some(asked) = asked(&overhang::OVERHANG)
        && let Some((again, degrees)) = overhang::again(&asked, mesh, space)
    {
        let solid = solid();
        let (printed, _) = again.swept(&solid);
        let share = share_of(&|e| if printed[e] < 0.5 { solid[e] } else { 0.0 });
        all.push(Made::new(
            format!("lost when it is printed at {} degrees", shown(degrees)),
            share,
        ));
    }
    if asked(&cast::CASTING).is_some() {
        let solid = solid();
        let filled = Swept::new(space.sweeps().to_vec(), solid.len()).values(&solid);
        let share = share_of(&|e| (filled[e] - solid[e]).max(0.0));
        all.push(Made::new("missing above undercuts".into(), share));
    }
    all
}

//! Measures of a built part by the demands of the way in which it is made.

use topopt_design::{DesignSpace, Openings, Swept, equal_by};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::shown;

use super::kinds::asked;
use super::made::Made;
use super::{cast, milling, overhang};
use crate::config::Config;

/// Difference from the share that elements have in common up to which it is that of the exported
/// surface: its triangles are no mirror images of each other where the design is one.
const OF_SURFACE: f64 = 0.1;

/// Measures the `shares` of the elements that are solid, `[n_elements]` in the order of the `mesh`
/// of the problem, by each kind of demand.
pub fn measured(config: &Config, mesh: &HexMesh, space: &DesignSpace, shares: &[f64]) -> Vec<Made> {
    let centers = mesh.centers();
    let asked = |kind| asked(config, kind, &centers, mesh.element_width());
    let volumes = space.design_volumes();
    let sum = |amount: &dyn Fn(usize) -> f64| -> f64 {
        (0..volumes.len()).map(|e| volumes[e] * amount(e)).sum()
    };
    let [solid_volume, void_volume] = [sum(&|e| shares[e]), sum(&|e| 1.0 - shares[e])];
    let share_of = |amount: &dyn Fn(usize) -> f64| sum(amount) / solid_volume;
    let share_of_void =
        |amount: &dyn Fn(usize) -> f64| sum(amount) / void_volume.max(f64::MIN_POSITIVE);

    let solid = || shares.iter().map(|&share| f64::from(share >= 0.5)).collect::<Vec<f64>>();

    let mut all = Vec::new();
    if let Some(rows) = space.shares() {
        let equal = equal_by(rows, &space.volumes, space.n_variables(), shares);
        let share = share_of(&|e| ((shares[e] - equal[e]).abs() - OF_SURFACE).max(0.0));
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
    if let Some(mold) = asked(&cast::CASTING).and_then(|asked| cast::mold(&asked).ok()) {
        let missing = missing(space, shares);
        all.push(Made::new(mold.undercuts_in_words(), share_of(&|e| missing[e])));
        let open = if mold.is_closed { mold.open_through(mesh, shares) } else { Vec::new() };
        let share = |e: usize| if open[e] { 1.0 - shares[e] } else { 0.0 };
        all.extend(mold.is_closed.then(|| {
            Made::of_void("in holes through along the draw".into(), share_of_void(&share))
        }));
    }
    if asked(&milling::MILLING).is_some() {
        let missing = missing(space, shares);
        all.push(Made::of_void("out of reach of the tools".into(), share_of_void(&|e| missing[e])));
    }
    if let Some(openings) = space.openings() {
        let (measure, amount) = enclosed(openings, shares);
        all.push(Made::of_void(measure, share_of_void(&|e| amount[e])));
    }
    all
}

/// Share of each element that mold or tools would leave, beyond the `shares` that are solid.
fn missing(space: &DesignSpace, shares: &[f64]) -> Vec<f64> {
    let filled = Swept::new(space.sweeps().to_vec(), shares.len()).values(shares);
    filled
        .iter()
        .zip(shares)
        .map(|(filled, share)| (filled - share - OF_SURFACE).max(0.0))
        .collect()
}

/// Returns the measure of voids that are enclosed, and the share of each element that is one of
/// them, where so many `shares` are solid.
fn enclosed(openings: &Openings, shares: &[f64]) -> (String, Vec<f64>) {
    let is_solid: Vec<bool> = shares.iter().map(|&share| share >= 0.5).collect();
    let voids = openings.enclosed(&is_solid);
    let mut amount = vec![0.0; shares.len()];
    voids.iter().flatten().for_each(|&e| amount[e as usize] = 1.0 - shares[e as usize]);
    let measure = match voids.len() {
        0 => "enclosed".into(),
        1 => "enclosed, in 1 cavity".into(),
        n => format!("enclosed, in {n} cavities"),
    };
    (measure, amount)
}

//! Demands that are turned with the part: densities and derivatives are turned as well.

use std::collections::BTreeSet;

use topopt_case::model::Model;
use topopt_design::DesignTransform;
use topopt_fem::Elasticity;
use topopt_linalg::{Cpu, Csr};
use topopt_testing::Noise;

use super::{Block, Demand, FILTER, PROJECTION, STRAIGHT, TURNED, all_of, chain, kinds, model};

/// Largest difference where nothing but rounding is another one.
const ROUNDING: f64 = 1e-13;

/// Largest difference where elements that do not repeat each other share variables by weights: such
/// variables lie at the places of the first elements in the numbering of the problem, which goes
/// along a curve through space and is another one in the turned part. In a copy that is smaller
/// they lie farther apart.
const BY_WEIGHTS: f64 = 0.03;
const IN_COPIES: f64 = 0.1;

/// Densities that follow from a field by elements, with derivatives by that field.
struct Response {
    /// Densities and derivatives, `[n_elements]` each, as the user numbers elements.
    values: [Vec<f64>; 2],
    /// Whether elements share variables.
    are_shared: bool,
    /// Whether each element is designed, and not kept solid.
    is_designed: Vec<bool>,
}

/// A variable of each element, or weights of some.
fn shares(model: &Model<Elasticity, 3>) -> Csr {
    let own = || Csr::selection((0..model.space.n_elements() as u32).collect());
    model.space.shares().cloned().unwrap_or_else(own)
}

/// Variables with their weights in element `e`.
fn entries(shares: &Csr, e: usize) -> impl Iterator<Item = (usize, f64)> {
    let range = shares.starts[e]..shares.starts[e + 1];
    range.map(|k| (shares.columns[k] as usize, shares.values[k]))
}

/// Response of the design whose variables are means of noise over their elements; none where the
/// demand is refused.
fn response(block: &Block, demand: &Demand) -> Option<Response> {
    let model = model(block, &[demand], &format!("{FILTER}{PROJECTION}")).ok()?;
    let (mut chain, shares) = (chain(&model), shares(&model));
    let [n, n_elements] = [chain.inputs().points, chain.outputs().points];
    let mut noise = Noise(3);
    let [field, weights] =
        [(); 2].map(|()| model.renumbering.elements_from_original(&noise.vector(n_elements)));
    let (mut x, mut totals) = (vec![0.0; n], vec![0.0; n]);
    for e in 0..n_elements {
        for (variable, weight) in entries(&shares, e) {
            x[variable] += weight * (0.5 + 0.45 * field[e]);
            totals[variable] += weight;
        }
    }
    x.iter_mut().zip(&totals).for_each(|(x, total)| *x /= total);

    let (mut density, mut gradient) = (vec![0.0; n_elements], vec![0.0; n]);
    chain.forward(&Cpu, &x, &mut density).unwrap();
    chain.backward(&Cpu, &weights, &mut gradient).unwrap();
    let by_field =
        |e| entries(&shares, e).map(|(k, weight)| weight * gradient[k] / totals[k]).sum();
    let by_field: Vec<f64> = (0..n_elements).map(by_field).collect();
    let mut is_designed = vec![true; n_elements];
    model.space.solid.iter().for_each(|&e| is_designed[e as usize] = false);
    Some(Response {
        values: [density, by_field].map(|x| model.renumbering.elements_to_original(&x)),
        are_shared: model.space.shares().is_some(),
        is_designed: model.renumbering.elements_to_original(&is_designed),
    })
}

/// Largest difference of densities and of derivatives on a straight and a turned block, where both
/// are designed: the images of solid elements are solid by the variables that they share.
fn difference(straight: &Response, turned: &Response) -> f64 {
    let is_designed = |e: &usize| straight.is_designed[*e] && turned.is_designed[*e];
    let off = |e: usize| [0, 1].map(|k| (straight.values[k][e] - turned.values[k][e]).abs());
    let all = (0..straight.is_designed.len()).filter(is_designed).flat_map(off);
    all.fold(0.0, f64::max)
}

/// Equal cubes are divided in other ways where they are turned, so that elements that share no
/// variables are tried where they are distorted.
#[test]
fn densities_and_derivatives_turn_with_the_part() {
    let turns = [STRAIGHT, TURNED];
    let mut exact = BTreeSet::new();
    for (are_equal, [straight, turned]) in [
        (true, turns.map(|turn| Block::new("equal", [6, 4, 5], 0.0, turn))),
        (false, turns.map(|turn| Block::new("distorted", [6, 4, 5], 0.15, turn))),
        (false, turns.map(|turn| Block::of_tetrahedra("tetrahedra", [3, 2, 3], turn))),
    ] {
        for (demand, other) in all_of(&straight).iter().zip(&all_of(&turned)) {
            let [a, b] = [(&straight, demand), (&turned, other)].map(|(block, demand)| {
                response(block, demand).unwrap_or_else(|| panic!("{demand:?} goes alone"))
            });
            if are_equal && !a.are_shared {
                continue;
            }
            let found = difference(&a, &b);
            let is_exact = found < ROUNDING;
            let message = format!("{} {demand:?}: {found}", straight.name);
            let by_weights = if demand.0 == "copy" { IN_COPIES } else { BY_WEIGHTS };
            assert!(is_exact || a.are_shared && found < by_weights, "{message}");
            if is_exact && are_equal == a.are_shared {
                exact.insert(demand.clone().0);
            }
        }
    }
    assert!(kinds().iter().all(|kind| exact.contains(kind)), "{exact:?}");
}

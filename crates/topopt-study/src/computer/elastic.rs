//! Solvers and warnings of linear elasticity.

use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::units;
use topopt_fem::{DIM, Elasticity, LoadCase};

use super::solvable::Solvable;
use crate::thin;

impl Solvable<DIM> for Elasticity {
    fn doubts(config: &Config, model: &Model) -> Vec<String> {
        let mut all = units::doubts(config, model);
        all.extend(nearly_incompressible(config));
        all.extend(balanced(config, model));
        all
    }

    fn thin_members(model: &Model, are_solid: Option<&[bool]>) -> Option<String> {
        thin::warning(model, are_solid)
    }
}

/// Poisson's ratio from which on trilinear elements lock and solves need many iterations.
const INCOMPRESSIBLE: f64 = 0.499;

fn nearly_incompressible(config: &Config) -> Option<String> {
    let of_sets = config.materials.iter().filter_map(|material| {
        let ratio = *material.poissons_ratio.as_ref()?.get_ref();
        Some((ratio, format!(" of set `{}`", material.set.get_ref())))
    });
    let mut all = of_sets.chain([(config.material.poissons_ratio, String::new())]);
    all.find(|(ratio, _)| *ratio >= INCOMPRESSIBLE).map(|(ratio, of_set)| {
        format!(
            "Poisson's ratio {ratio}{of_set} is nearly incompressible: hexahedra of eight nodes lock, and \
             solves may not converge; 0.49 is close enough for rubber"
        )
    })
}

/// Load cases whose forces add up to zero, though no moment is asked for.
fn balanced(config: &Config, model: &Model) -> Vec<String> {
    let is_balanced = |case: &&LoadCase| {
        let total: f64 = case.forces.iter().map(|f| f.abs()).sum();
        let sum = |i: usize| case.forces.iter().skip(i).step_by(DIM).sum::<f64>();
        let mut of_case = config.loads.iter().filter(|load| load.case == case.name);
        let is_zero = (0..DIM).all(|i| sum(i).abs() < 1e-9 * total);
        is_zero && !of_case.any(|load| load.moment().is_some())
    };
    let cases = model.problem.load_cases().iter().filter(is_balanced);
    cases
        .map(|case| {
            format!(
                "the forces of load case `{}` add up to zero; if this is not intended, check their \
                 signs",
                case.name
            )
        })
        .collect()
}

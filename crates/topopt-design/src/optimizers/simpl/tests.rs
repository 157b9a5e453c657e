use topopt_linalg::Cpu;

use super::*;
use crate::optimizers::convex::Bars;

fn simpl(line_search: LineSearch) -> Simpl<Cpu> {
    Simpl::new(&Cpu, Space::variables(40)).unwrap().with_line_search(line_search)
}

#[test]
fn the_objective_falls_to_its_least_within_bounds_and_volume() {
    for (power, line_search) in [
        (1.0, LineSearch::Armijo),
        (1.0, LineSearch::Bregman),
        (1.5, LineSearch::Armijo),
        (1.5, LineSearch::Bregman),
    ] {
        let bars = Bars::new(power);
        let designs = bars.designs(&mut simpl(line_search), &bars.start(), 60);
        let values: Vec<f64> = designs.iter().map(|x| bars.objective(x)).collect();
        for (k, x) in designs.iter().enumerate().skip(1) {
            assert!(
                values[k] <= values[k - 1] * (1.0 + 1e-7),
                "{power} {line_search:?} {k}: {values:?}"
            );
            assert!((bars.volume(x) / bars.limit - 1.0).abs() < 1e-9);
            let [floor, ceiling] = &bars.bounds;
            assert!((0..40).all(|j| (floor[j]..=ceiling[j]).contains(&x[j])));
        }

        // Designs end a little before their bounds.
        let least = bars.objective(&bars.optimum());
        assert!((values[60] / least - 1.0).abs() < 1e-5, "{line_search:?} {} {least}", values[60]);
        let far = designs[60].iter().zip(bars.optimum()).map(|(x, y)| (x - y).abs());
        assert!(far.fold(0.0, f64::max) < 1e-2);
    }
}

/// Two elements of half the volume do what one does.
#[test]
fn designs_do_not_depend_on_how_elements_are_cut() {
    let bars = Bars::new(1.0);
    let mut cut = Bars::new(1.0);
    let halves = |values: &[f64]| values.iter().flat_map(|v| [0.5 * v, 0.5 * v]).collect();
    cut.costs = halves(&bars.costs);
    cut.volumes = halves(&bars.volumes);
    cut.bounds = bars.bounds.each_ref().map(|bound| bound.iter().flat_map(|v| [*v, *v]).collect());

    let whole = bars.designs(&mut simpl(LineSearch::Armijo), &bars.start(), 6);
    let start: Vec<f64> = bars.start().iter().flat_map(|x| [*x, *x]).collect();
    let mut of_cut = Simpl::new(&Cpu, Space::variables(80)).unwrap();
    let parts = cut.designs(&mut of_cut, &start, 6);
    for (x, y) in whole.iter().zip(&parts) {
        assert!((0..80).all(|j| (y[j] - x[j / 2]).abs() < 1e-6));
    }
}

#[test]
fn a_restored_optimizer_goes_on_to_the_same_bits() {
    let make = || Box::new(simpl(LineSearch::Bregman)) as Box<dyn Optimizer<Cpu>>;
    Bars::new(1.5).check_memory(&make, 6);
}

/// No multiplier remains where the minimum needs less than the allowed volume.
#[test]
fn a_volume_that_is_not_needed_stays_unused() {
    let mut bars = Bars::new(1.0);
    bars.limit = 1e3;
    let designs = bars.designs(&mut simpl(LineSearch::Armijo), &bars.start(), 40);
    let [first, last] = [0, 40].map(|k| bars.volume(&designs[k]));
    assert!(first < last && last < 1e3);
    assert!(designs[40].iter().zip(&bars.bounds[1]).all(|(x, ceiling)| ceiling - x < 1e-3));
}

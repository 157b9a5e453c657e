//! Heat in time against series.

use std::f64::consts::PI;

use crate::heat::{EXACT, error, part};
use crate::solve::numbers;

/// A cooling wall with convection, by its series; tables over time scale what they belong to.
#[test]
fn a_wall_cools_as_its_series_says() {
    // k = c = h = L = 1: the roots of z tan z = 1.
    let roots = [0.860333589, 3.425618459, 6.437298179, 9.529334405];
    let at = |x: f64, t: f64| {
        let term = |z: f64| {
            4.0 * z.sin() / (2.0 * z + (2.0 * z).sin()) * (-z * z * t).exp() * (z * x).cos()
        };
        roots.map(term).iter().sum::<f64>()
    };
    let tables = "[material]\nconductivity = 1\nmass_density = 2\nheat_capacity = 0.5\n\
        [[convection]]\nset = \"high\"\nfilm_coefficient = 1\n\
        [transient]\nend = 0.5\nsteps = [[0.02, 0.0005], [0.5, 0.005]]\ninitial = 1\n";
    let folder = part([40, 1, 1], |x| x, tables);
    let found = numbers(&folder, &EXACT);
    assert!(error(&folder, |[x, ..]| at(x, 0.5)) < 2e-4);
    let stored = found["transient"]["stored"].as_f64().unwrap();
    let exact: f64 = (0..1000).map(|i| (at((i as f64 + 0.5) / 1000.0, 0.5) - 1.0) / 1000.0).sum();
    assert!((stored - exact).abs() < 2e-4, "{stored} {exact}");

    let tables = "[material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n\
        [[supports]]\nset = \"low\"\ntemperature = 4\nover_time = [[0, 0], [1, 1]]\n\
        [[supports]]\nset = \"high\"\ntemperature = 4\nover_time = [[0, 0], [1, 1]]\n\
        [transient]\nend = 40\nstep = 0.25\n";
    let folder = part([4, 1, 1], |x| x, tables);
    numbers(&folder, &EXACT);
    assert!(error(&folder, |_| 4.0) < 1e-6, "a constant beyond the end of its table");
}

/// A block that its faces warm, as Chang, Chow and Chang state it (1991, in Code_Aster's TTLV301):
/// all faces at 2 from 1 on. The product of three series; with order 2.
#[test]
fn a_block_that_its_faces_warm_follows_its_series() {
    const HALVES: [f64; 3] = [1.0, 1.6, 2.0];
    let factor = |x: f64, half: f64, t: f64| -> f64 {
        let term = |n: i32| {
            let (root, odd) = (f64::from(2 * n + 1) * PI / (2.0 * half), f64::from(2 * n + 1));
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            sign * 4.0 / (odd * PI) * (root * x).cos() * (-root * root * t).exp()
        };
        (0..100).map(term).sum()
    };
    let at =
        |x: [f64; 3], t: f64| 2.0 - (0..3).map(|i| factor(x[i], HALVES[i], t)).product::<f64>();
    // As benchmarks/block.py has them, of 100 terms in each direction.
    assert!((at([0.0; 3], 0.5) - 1.7368399).abs() < 1e-7);
    assert!((at([0.5, 0.8, 1.0], 0.5) - 1.9001677).abs() < 1e-7);

    let supports = ["low", "high", "sides"]
        .map(|set| format!("[[supports]]\nset = \"{set}\"\ntemperature = 2\n"));
    let tables = format!(
        "[material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n{}\
         [transient]\nend = 0.5\nsteps = [[0.01, 0.0005], [0.1, 0.0025], [0.5, 0.01]]\ninitial = 1\n",
        supports.concat()
    );
    let errors = [8, 16].map(|n| {
        let place = |x: [f64; 3]| std::array::from_fn(|i| HALVES[i] * (2.0 * x[i] - 1.0));
        let folder = part([n; 3], place, &tables);
        numbers(&folder, &EXACT);
        error(&folder, |x| at(x, 0.5))
    });
    assert!(errors[1] < 6e-3 && errors[0] / errors[1] > 3.5, "{errors:?}");
}

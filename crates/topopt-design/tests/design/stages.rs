//! Runs with the density filter, the projection, and settings that change on the way.

use topopt_design::{
    Cone, Course, DensityFilter, Formulation, OptimalityCriteria, Optimization, Projection, Stage,
    StateEquation, StopRule, StopRules, Weights, physical_density, start,
};
use topopt_linalg::{Cpu, Space};

use super::{COUNT, Ended, Outcome, Recorder, SIMP, TIGHT, cantilever, plain, solver, space};

/// A run with a move limit of 0.05, the density filter of radius 1.5, a projection of `sharpness`
/// if there is one, and `stages`.
fn run(sharpness: Option<f64>, stages: &[Stage], stop: StopRules) -> (Outcome, Recorder) {
    let problem = cantilever();
    let space = space(problem.mesh());
    let n = space.volumes.len();
    let centers = problem.mesh().centers();
    let weights_of =
        Box::new(|radius| Ok(Box::new(Cone::new(centers.clone(), radius, usize::MAX)) as Box<_>));
    let weights = Weights::new(1.5, weights_of).unwrap();
    let filter = DensityFilter::new(&Cpu, weights, &space.volumes).unwrap();
    let projection = sharpness
        .map(|sharpness| Projection::new(&Cpu, n, space.density_min, 0.5, sharpness).unwrap());
    let mut transform = physical_density(&Cpu, filter, projection, None, &space).unwrap();
    let start = start::uniform(&Cpu, &space, &mut transform).unwrap();

    let equation = StateEquation::new(&Cpu, &problem, SIMP, solver(&problem, TIGHT)).unwrap();
    let formulation = Formulation { transform, ..plain(&space) };
    let optimizer =
        Box::new(OptimalityCriteria::new(&Cpu, Space::variables(n), 0.05, 0.5).unwrap());
    let mut recorder = Recorder::default();
    let outcome = Optimization::new(equation, formulation, optimizer, stop, &start)
        .unwrap()
        .with_stages(stages.into())
        .run(&mut recorder)
        .unwrap();
    (outcome, recorder)
}

/// Stages from iterations 11, 21, 31 with twice the sharpness each.
fn doubling(first: f64) -> [Stage; 3] {
    [(11, 2.0), (21, 4.0), (31, 8.0)].map(|(from, factor)| Stage {
        from,
        sharpness: Some(Course::constant(factor * first)),
        ..Stage::default()
    })
}

#[test]
fn every_design_has_its_volume_and_its_passive_elements() {
    let radii = [(4, 2.5), (8, 1.2)];
    let radii = radii.map(|(from, radius)| Stage {
        from,
        filter_radius: Some(Course::constant(radius)),
        ..Stage::default()
    });
    for sharpness in [None, Some(2.0), Some(8.0)] {
        let (_, recorder) = run(sharpness, &radii, COUNT);
        assert_eq!(recorder.reports.len(), 12);
        for (report, density) in recorder.reports.iter().zip(&recorder.densities) {
            let volume = report.volume_fraction;
            assert!((volume - 0.4).abs() < 1e-9, "{sharpness:?} {}: {volume}", report.iteration);
            assert_eq!((density[3], density[77], density[20]), (1.0, 1.0, 0.01));
            assert!(density.iter().all(|density| (0.01..=1.0).contains(density)));
        }
        let compliance = recorder.reports.iter().map(|r| r.objective).collect::<Vec<_>>();
        assert!(compliance[11] < 0.7 * compliance[0], "{sharpness:?}: {compliance:?}");
    }
}

#[test]
fn growing_sharpness_takes_the_grey_out() {
    let stop = StopRules { max_iterations: 40, ..COUNT };
    let (_, filtered) = run(None, &[], stop);
    let (_, projected) = run(Some(4.0), &doubling(4.0), stop);
    let grey = |recorder: &Recorder| recorder.reports.last().unwrap().grey_level;
    let (filtered_grey, projected_grey) = (grey(&filtered), grey(&projected));
    println!("grey level {filtered_grey:.4} filtered, {projected_grey:.4} projected");
    assert!(projected_grey < 0.1, "{projected_grey}");
    assert!(projected_grey < 0.25 * filtered_grey, "{projected_grey} {filtered_grey}");
    // The measure itself, from the densities.
    let problem = cantilever();
    let volumes = space(problem.mesh()).design_volumes();
    let density = projected.densities.last().unwrap();
    let sum: f64 = volumes.iter().zip(density).map(|(v, d)| 4.0 * d * (1.0 - d) * v).sum();
    assert!((sum / volumes.iter().sum::<f64>() - projected_grey).abs() < 1e-13);
}

#[test]
fn stages_change_what_they_name_when_they_begin() {
    let stages = [
        Stage { from: 4, penalty: Some(Course::constant(1.5)), ..Stage::default() },
        Stage {
            from: 7,
            penalty: Some(Course::constant(3.0)),
            tolerance: Some(Course::constant(1e-4)),
            ..Stage::default()
        },
    ];
    let (_, plain) = run(None, &[], COUNT);
    let (_, staged) = run(None, &stages, COUNT);
    let same = |a: &Recorder, b: &Recorder, n: usize| a.densities[..n] == b.densities[..n];
    assert!(same(&plain, &staged, 4), "designs until the first stage has been evaluated");
    assert!(!same(&plain, &staged, 5));
    let compliance = |recorder: &Recorder| recorder.reports[3].objective;
    assert!(compliance(&staged) < 0.9 * compliance(&plain), "a lower penalty is stiffer");
    for report in &staged.reports {
        let is_loose = report.pcg_residual > 1e-9;
        assert_eq!(is_loose, report.iteration >= 7, "{report:?}");
    }
}

#[test]
fn tolerances_wait_for_the_last_stage() {
    let stop = StopRules { max_iterations: 40, change: 0.5, ..COUNT };
    let (outcome, _) = run(None, &[], stop);
    assert_eq!((outcome.iterations, outcome.ended), (1, Ended::Rule(StopRule::Change)));
    let last = Stage { from: 9, penalty: Some(Course::constant(2.0)), ..Stage::default() };
    let (outcome, _) = run(None, &[last], stop);
    assert_eq!((outcome.iterations, outcome.ended), (9, Ended::Rule(StopRule::Change)));
    let soon = StopRules { max_iterations: 3, ..stop };
    let (outcome, _) = run(None, &[last], soon);
    assert_eq!((outcome.iterations, outcome.ended), (3, Ended::Rule(StopRule::MaxIterations)));
}

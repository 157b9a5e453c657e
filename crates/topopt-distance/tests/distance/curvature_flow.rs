//! Flow by mean curvature in long steps.

use rayon::ThreadPoolBuilder;
use topopt_distance::{
    Coefficient, DistanceError, Flow, Flowed, Motion, Patches, Steps, Tetrahedra, curvature_flow,
    evolve,
};
use topopt_testing::{distorted_cube, mapped_cube};

use crate::cubes::{apart, cube, largest, sphere};

const CENTER: [f64; 3] = [0.5, 0.5, 0.5];
const RADIUS: f64 = 0.3;

fn start(patches: &Patches) -> Vec<f64> {
    patches.tetrahedra().points().iter().map(|&x| sphere(CENTER, RADIUS, x)).collect()
}

fn flowed(patches: &Patches, flow: Flow) -> Flowed {
    curvature_flow(patches, &start(patches), &flow).unwrap()
}

/// The largest error of the distance near to the front.
fn error(patches: &Patches, found: &[f64], radius: f64) -> f64 {
    largest(patches.tetrahedra().points(), |vertex, x| {
        let distance = sphere(CENTER, radius, x);
        if distance.abs() < 0.08 { found[vertex] - distance } else { 0.0 }
    })
}

const TIME: f64 = 0.01;

/// The radius after `TIME`.
fn expected() -> f64 {
    (RADIUS * RADIUS - 4.0 * TIME).sqrt()
}

#[test]
fn a_sphere_shrinks_to_first_order_in_step_and_element() {
    let errors = [8, 16].map(|n| {
        let patches = Patches::new(cube(n, 1.0));
        let flow = Flow { time: TIME, n_steps: n / 4, band: 0.3 };
        error(&patches, &flowed(&patches, flow).values, expected())
    });
    let order = (errors[0] / errors[1]).log2();
    assert!(expected() < 0.23 && errors[1] < 0.013 && order > 0.8, "{errors:?}, order {order}");
}

#[test]
fn four_steps_do_where_explicit_ones_would_be_thousands() {
    // Elements from 1 / 144 to 23 / 144 of the width.
    let graded = |[x, y, z]: [f64; 3]| [x * x, y, z];
    let patches = Patches::new(Tetrahedra::of_mesh(&mapped_cube(12, graded)).unwrap());
    let found = flowed(&patches, Flow { time: TIME, n_steps: 4, band: 0.4 });
    let error = error(&patches, &found.values, expected());
    assert!(error < 0.03 && found.n_iterations < 400, "{error}, {}", found.n_iterations);

    let motion = Motion { curvature: Coefficient::Uniform(1.0), ..Motion::REST };
    let steps = Steps { time: TIME, band: 0.4, most: 1000 };
    let refused = evolve(&patches, &start(&patches), &motion, &steps).unwrap_err();
    assert!(matches!(refused, DistanceError::Steps { needed, .. } if needed > 3000.0));
}

#[test]
fn a_plane_that_meets_the_boundary_at_an_angle_stays() {
    let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(8, 0.2, false)).unwrap());
    let plane = |x: [f64; 3]| (2.0 * x[0] + x[1] - 2.0 * x[2] - 0.4) / 3.0;
    let start: Vec<f64> = patches.tetrahedra().points().iter().map(|&x| plane(x)).collect();
    let flow = Flow { time: TIME, n_steps: 2, band: 0.5 };
    let long = curvature_flow(&patches, &start, &flow).unwrap();
    let motion = Motion { curvature: Coefficient::Uniform(1.0), ..Motion::REST };
    let steps = Steps { time: TIME / 10.0, band: 0.5, most: 1000 };
    let short = evolve(&patches, &start, &motion, &steps).unwrap();

    // At a right angle to the boundary it would move there by about half the square root of the
    // time, 0.05. It still moves a little as distances to what ends at the boundary fan out there.
    for found in [long.values, short.values] {
        let moved = apart(patches.tetrahedra(), &found, plane);
        assert!(moved < 0.03, "{moved}");
    }
}

#[test]
fn a_boundary_that_is_near_does_not_draw_a_front_to_it() {
    // A sphere that nearly touches all six sides of the cube, by less than a cell.
    let (start, end) = (0.45, (0.45f64 * 0.45 - 4.0 * TIME).sqrt());
    let errors = [8, 16].map(|n| {
        let patches = Patches::new(cube(n, 1.0));
        let points = patches.tetrahedra().points();
        let values: Vec<f64> = points.iter().map(|&x| sphere(CENTER, start, x)).collect();
        let flow = Flow { time: TIME, n_steps: n / 2, band: 0.3 };
        let found = curvature_flow(&patches, &values, &flow).unwrap().values;
        apart(patches.tetrahedra(), &found, |x| sphere(CENTER, end, x))
    });
    assert!(errors[1] < 0.02 && errors[1] < 0.7 * errors[0], "{errors:?}");
}

#[test]
fn a_sphere_may_vanish() {
    let patches = Patches::new(cube(8, 1.0));
    let flow = Flow { time: 2.0 * RADIUS * RADIUS, n_steps: 6, band: 0.3 };
    assert!(flowed(&patches, flow).values.iter().all(|value| *value == 0.3));
}

#[test]
fn a_flow_has_the_same_bits_on_any_number_of_threads() {
    let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(10, 0.2, false)).unwrap());
    let results = [1, 6].map(|n_threads| {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| flowed(&patches, Flow { time: 0.002, n_steps: 2, band: 0.3 }))
    });
    assert!(results[0].n_iterations > 10);
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_flow_without_time_or_steps_is_refused() {
    let patches = Patches::new(cube(4, 1.0));
    let flow = Flow { time: 0.1, n_steps: 2, band: 0.3 };
    let refused = |flow| curvature_flow(&patches, &start(&patches), &flow).unwrap_err().to_string();
    assert_eq!(
        refused(Flow { time: -1.0, ..flow }),
        "the time is -1; it must be positive and finite"
    );
    let message = refused(Flow { time: f64::INFINITY, ..flow });
    assert_eq!(message, "the time is inf; it must be positive and finite");
    let message = refused(Flow { n_steps: 0, ..flow });
    assert_eq!(message, "the number of steps is 0; it must be positive and finite");
    assert_eq!(
        refused(Flow { band: f64::NAN, ..flow }),
        "the band is NaN; it must be positive and finite"
    );
}

//! Spheres that move, grow and shrink.

use rayon::ThreadPoolBuilder;
use topopt_distance::{Coefficient, Evolved, Motion, Patches, Steps, Tetrahedra, evolve};
use topopt_testing::distorted_cube;

use crate::cubes::{cube, largest, sphere};

const CENTER: [f64; 3] = [0.5, 0.5, 0.5];
const RADIUS: f64 = 0.25;

/// The sphere around `CENTER` after it has moved, in a band of five cells.
fn moved(patches: &Patches, n: usize, motion: &Motion, time: f64) -> Evolved {
    let points = patches.tetrahedra().points();
    let start: Vec<f64> = points.iter().map(|&x| sphere(CENTER, RADIUS, x)).collect();
    evolve(patches, &start, motion, &Steps { time, band: 5.0 / n as f64, most: 1000 }).unwrap()
}

/// The largest errors of the distance near to the front in cubes of 8^3 and 16^3 cells, and their
/// order.
fn errors(motion: &Motion, time: f64, expected: impl Fn([f64; 3]) -> f64) -> ([f64; 2], f64) {
    let errors = [8, 16].map(|n| {
        let patches = Patches::new(cube(n, 1.0));
        let found = moved(&patches, n, motion, time);
        let near = |vertex: usize, x: [f64; 3]| {
            let distance = expected(x);
            if distance.abs() < 0.08 { found.values[vertex] - distance } else { 0.0 }
        };
        largest(patches.tetrahedra().points(), near)
    });
    (errors, (errors[0] / errors[1]).log2())
}

#[test]
fn a_sphere_grows_and_shrinks_with_its_normal_speed() {
    for (speed, time) in [(1.0, 0.08), (-2.0, 0.03)] {
        let motion = Motion { normal_speed: Coefficient::Uniform(speed), ..Motion::REST };
        let radius = RADIUS + speed * time;
        let (errors, order) = errors(&motion, time, |x| sphere(CENTER, radius, x));
        assert!(errors[1] < 0.012 && order > 0.8, "{errors:?}, order {order}");
    }
}

#[test]
fn a_sphere_is_carried_to_its_place_to_first_order() {
    let velocity = [0.3, -0.2, 0.6];
    let motion = Motion { velocity: Coefficient::Uniform(velocity), ..Motion::REST };
    let center = [0, 1, 2].map(|d| CENTER[d] + 0.15 * velocity[d]);
    let (errors, order) = errors(&motion, 0.15, |x| sphere(center, RADIUS, x));
    assert!(errors[1] < 0.025 && order > 0.8, "{errors:?}, order {order}");
}

#[test]
fn a_sphere_shrinks_by_its_curvature_as_it_should() {
    let motion = Motion { curvature: Coefficient::Uniform(0.5), ..Motion::REST };
    let time = 0.006;
    let radius = (RADIUS * RADIUS - 4.0 * 0.5 * time).sqrt();
    let (errors, order) = errors(&motion, time, |x| sphere(CENTER, radius, x));
    assert!(radius < 0.23 && errors[1] < 0.012 && order > 0.8, "{errors:?}, order {order}");
}

#[test]
fn a_normal_speed_against_the_curvature_holds_a_sphere() {
    let patches = Patches::new(cube(12, 1.0));
    let motion = Motion {
        normal_speed: Coefficient::Uniform(2.0 / RADIUS),
        curvature: Coefficient::Uniform(1.0),
        ..Motion::REST
    };
    let found = moved(&patches, 12, &motion, 0.005);
    // Either alone would move it by 0.04.
    let near = |vertex: usize, x: [f64; 3]| {
        let distance = sphere(CENTER, RADIUS, x);
        if distance.abs() < 0.08 { found.values[vertex] - distance } else { 0.0 }
    };
    let error = largest(patches.tetrahedra().points(), near);
    assert!(error < 0.016, "{error}");
}

#[test]
fn a_sphere_may_vanish() {
    let patches = Patches::new(cube(8, 1.0));
    let motion = Motion { normal_speed: Coefficient::Uniform(-1.0), ..Motion::REST };
    let found = moved(&patches, 8, &motion, 2.0 * RADIUS);
    assert!(found.values.iter().all(|value| *value == 5.0 / 8.0));
}

#[test]
fn coefficients_may_come_by_tetrahedron_and_by_vertex() {
    let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(8, 0.2, false)).unwrap());
    let (n_cells, n_points) =
        (patches.tetrahedra().cells().len(), patches.tetrahedra().points().len());
    let [velocities, speeds, betas] = [n_cells, n_points, n_cells];
    let (velocities, speeds) = (vec![[0.5, 1.0, 0.0]; velocities], vec![-0.3; speeds]);
    let betas = vec![0.1; betas];

    let uniform = Motion {
        velocity: Coefficient::Uniform([0.5, 1.0, 0.0]),
        normal_speed: Coefficient::Uniform(-0.3),
        curvature: Coefficient::Uniform(0.1),
    };
    let fields = Motion {
        velocity: Coefficient::Cells(&velocities),
        normal_speed: Coefficient::Vertices(&speeds),
        curvature: Coefficient::Cells(&betas),
    };
    let [a, b] = [uniform, fields].map(|motion| moved(&patches, 8, &motion, 0.02).values);
    assert!(largest(patches.tetrahedra().points(), |vertex, _| a[vertex] - b[vertex]) < 1e-12);

    // Only what lies to the right of the middle is carried away.
    let right = |x: &[f64; 3]| if x[0] > 0.5 { [1.0, 0.0, 0.0] } else { [0.0; 3] };
    let to_the_right: Vec<[f64; 3]> = patches.tetrahedra().points().iter().map(right).collect();
    let motion = Motion { velocity: Coefficient::Vertices(&to_the_right), ..Motion::REST };
    let found = moved(&patches, 8, &motion, 0.1).values;
    let at = |place: [f64; 3]| {
        let points = patches.tetrahedra().points();
        let distance = |v: &usize| sphere(place, 0.0, points[*v]);
        let nearest = (0..n_points).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        found[nearest] - sphere(CENTER, RADIUS, points[nearest])
    };
    assert!(at([0.25, 0.5, 0.5]).abs() < 0.02, "{}", at([0.25, 0.5, 0.5]));
    assert!((at([0.75, 0.5, 0.5]) + 0.1).abs() < 0.03, "{}", at([0.75, 0.5, 0.5]));
}

#[test]
fn an_evolution_has_the_same_bits_on_any_number_of_threads() {
    let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(8, 0.2, false)).unwrap());
    let motion = Motion {
        velocity: Coefficient::Uniform([0.5, 1.0, 0.0]),
        normal_speed: Coefficient::Uniform(0.2),
        curvature: Coefficient::Uniform(0.1),
    };
    let results = [1, 6].map(|n_threads| {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| moved(&patches, 8, &motion, 0.04))
    });
    assert!(results[0].n_steps > 10 && results[0].n_distances > 1);
    assert_eq!(results[0], results[1]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let patches = Patches::new(cube(8, 1.0));
    let points = patches.tetrahedra().points();
    let start: Vec<f64> = points.iter().map(|&x| sphere(CENTER, RADIUS, x)).collect();
    let refused = |motion: &Motion, steps: Steps| {
        evolve(&patches, &start, motion, &steps).unwrap_err().to_string()
    };

    let steps = Steps { time: 1.0, band: 0.3, most: 10 };
    let fast = Motion { velocity: Coefficient::Uniform([1.0, 0.0, 0.0]), ..Motion::REST };
    let message = refused(&fast, steps);
    assert!(message.contains("steps are needed and 10 allowed"), "{message}");
    let message = refused(&fast, Steps { time: 0.0, ..steps });
    assert_eq!(message, "the time is 0; it must be positive and finite");
    let backwards = Motion { curvature: Coefficient::Uniform(-1.0), ..Motion::REST };
    assert_eq!(
        refused(&backwards, steps),
        "a factor of the curvature is -1; it must not be negative"
    );
    let short = Motion { normal_speed: Coefficient::Vertices(&[1.0]), ..Motion::REST };
    assert_eq!(
        refused(&short, steps),
        "1 normal speeds for 729; use the values of these tetrahedra"
    );

    // Nothing moves: one long step.
    let rest = evolve(&patches, &start, &Motion::REST, &steps).unwrap();
    assert_eq!((rest.n_steps, rest.n_distances), (1, 2));
}

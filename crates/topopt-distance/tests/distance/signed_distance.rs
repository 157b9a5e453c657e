//! Signed distances to the zero set of a field.

use rayon::ThreadPoolBuilder;
use topopt_distance::{DistanceError, Patches, SignedDistance, Tetrahedra, signed_distance};
use topopt_testing::{distorted_cube, mapped_cube};

use crate::cubes::{cube, largest, sphere};

const CENTER: [f64; 3] = [0.5, 0.45, 0.4];
const RADIUS: f64 = 0.23;

/// A field with the zero set of a sphere, of very uneven slope.
fn distorted(x: [f64; 3]) -> f64 {
    sphere(CENTER, RADIUS, x) * (1.2 + (9.0 * x[0]).sin()) * (1.0 + 5.0 * x[1])
}

fn at_points(patches: &Patches, field: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    patches.tetrahedra().points().iter().map(|&x| field(x)).collect()
}

#[test]
fn the_distance_to_a_distorted_sphere_is_of_first_order_and_keeps_its_sign() {
    let errors = [12, 24].map(|n| {
        let patches = Patches::new(Tetrahedra::of_mesh(&mapped_cube(n, |x| x)).unwrap());
        let values = at_points(&patches, distorted);
        let found = signed_distance(&patches, &values, 0.3).unwrap();
        assert!(values.iter().zip(&found.values).all(|(a, b)| (*a < 0.0) == (*b < 0.0)));

        let expected = |x| f64::clamp(sphere(CENTER, RADIUS, x), -0.3, 0.3);
        largest(patches.tetrahedra().points(), |vertex, x| found.values[vertex] - expected(x))
    });
    let order = (errors[0] / errors[1]).log2();
    // The largest error of all vertices, in the middle of the sphere or at the end of the band.
    assert!(errors[0] < 0.4 / 12.0 && order > 0.7, "{errors:?}, order {order}");
}

/// How far the zero set of the distorted field moves in a cube of `n`^3 cells: the largest and the
/// mean distance at its crossings of edges, as a share of the width of a cell.
fn moved(n: usize) -> [f64; 2] {
    let patches = Patches::new(cube(n, 1.0));
    let values = at_points(&patches, distorted);
    let found = signed_distance(&patches, &values, 0.1).unwrap().values;

    let (mut most, mut sum, mut count) = (0.0f64, 0.0, 0.0);
    for corners in patches.tetrahedra().cells() {
        for edge in [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]] {
            let [a, b] = edge.map(|corner| corners[corner] as usize);
            if values[a] * values[b] < 0.0 {
                let share = values[a] / (values[a] - values[b]);
                let distance = (found[a] + share * (found[b] - found[a])).abs() * n as f64;
                most = most.max(distance);
                sum += distance;
                count += 1.0;
            }
        }
    }
    [most, sum / count]
}

#[test]
fn the_zero_set_moves_by_a_small_share_of_an_element_which_falls_with_its_size() {
    let [coarse, fine] = [16, 32].map(moved);
    assert!(coarse[0] < 0.25 && coarse[1] < 0.04, "{coarse:?}");
    assert!(fine[0] < 0.65 * coarse[0] && fine[1] < 0.6 * coarse[1], "{coarse:?}, {fine:?}");
}

#[test]
fn a_plane_has_its_exact_distance_and_twice_is_as_once() {
    let mesh = distorted_cube(8, 0.2, true);
    let patches = Patches::new(Tetrahedra::of_mesh(&mesh).unwrap());
    let plane = |x: [f64; 3]| (2.0 * x[0] + x[1] - 2.0 * x[2] - 0.4) / 3.0;
    let near = |values: &[f64]| {
        largest(patches.tetrahedra().points(), |vertex, x| {
            // The plane ends at the boundary of the cube: where its nearest point is inside.
            let foot = [0, 1, 2].map(|d| x[d] - plane(x) * [2.0, 1.0, -2.0][d] / 3.0);
            let is_inside = plane(x).abs() < 0.25 && foot.iter().all(|v| (0.3..0.7).contains(v));
            if is_inside { values[vertex] - plane(x) } else { 0.0 }
        })
    };
    let once = signed_distance(&patches, &at_points(&patches, |x| 7.0 * plane(x)), 1.0).unwrap();
    let twice = signed_distance(&patches, &once.values, 1.0).unwrap();
    assert!(near(&once.values) < 1e-14 && near(&twice.values) < 1e-14);
}

#[test]
fn values_beyond_the_band_are_its_width_and_cost_nothing() {
    let patches = Patches::new(Tetrahedra::of_mesh(&mapped_cube(20, |x| x)).unwrap());
    let values = at_points(&patches, distorted);
    let [near, far] = [0.1, f64::INFINITY].map(|band| signed_distance(&patches, &values, band));
    let (near, far) = (near.unwrap(), far.unwrap());
    for (near, far) in near.values.iter().zip(&far.values) {
        assert!((near - far.clamp(-0.1, 0.1)).abs() < 1e-15);
    }
    assert!(3 * near.local_solves < far.local_solves);

    let nothing = signed_distance(&patches, &vec![2.0; values.len()], 0.1).unwrap();
    let expected =
        SignedDistance { values: vec![0.1; values.len()], n_triangles: 0, local_solves: 0 };
    assert_eq!(nothing, expected);
}

#[test]
fn distances_have_the_same_bits_on_any_number_of_threads() {
    let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(12, 0.3, false)).unwrap());
    let values = at_points(&patches, distorted);
    let results = [1, 5].map(|n_threads| {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| signed_distance(&patches, &values, 0.3).unwrap())
    });
    assert!(results[0].n_triangles > 500);
    assert_eq!(results[0], results[1]);
}

#[test]
fn bad_values_and_bands_are_refused() {
    let patches = Patches::new(cube(1, 1.0));
    let refused = |values: &[f64], band| signed_distance(&patches, values, band).unwrap_err();
    let length = DistanceError::Length { what: "values", found: 3, expected: 8 };
    assert_eq!(refused(&[1.0; 3], 1.0), length);
    let message = refused(&[1.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0).to_string();
    assert_eq!(message, "the value of vertex 1 is NaN; give a finite number");
    for (band, name) in [(0.0, "0"), (f64::NAN, "NaN")] {
        let message = refused(&[1.0; 8], band).to_string();
        assert_eq!(message, format!("the band is {name}; it must be positive and finite"));
    }
}

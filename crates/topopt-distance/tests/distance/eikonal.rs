//! The eikonal equation: exact solutions, orders of convergence, and patches against the reference.

use rayon::ThreadPoolBuilder;
use topopt_distance::{DistanceError, Patches, Speed, Tensor, Tetrahedra, arrival, reference};
use topopt_mesh::HexMesh;
use topopt_testing::fronts::speeds;
use topopt_testing::{distorted_cube, hexagon, mapped_cube, mixed_cut, wheel};

use crate::cubes::{cube, mean_error};

const SPHERE: Tensor = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
/// The tensor of sqrt(x^2 + 4 y^2 + 9 z^2), whose inverse has the diagonal 1, 4, 9.
const ELLIPSOID: Tensor = [1.0, 1.0 / 4.0, 1.0 / 9.0, 0.0, 0.0, 0.0];

/// sqrt(x . A^-1 x) for a diagonal A.
fn length(tensor: &Tensor, x: [f64; 3]) -> f64 {
    (0..3).map(|d| x[d] * x[d] / tensor[d]).sum::<f64>().sqrt()
}

/// The mean error of the distance from {length = 40} in the cube of 256^3, in `n`^3 cells. The
/// values at the corners of the tetrahedra that the source cuts are given.
fn error(n: usize, tensor: Tensor) -> f64 {
    let tetrahedra = cube(n, 256.0);
    let expected = |x: [f64; 3]| (length(&tensor, x) - 40.0).abs();
    let mut sources = Vec::new();
    for corners in tetrahedra.cells() {
        let inside = |&vertex: &u32| length(&tensor, tetrahedra.points()[vertex as usize]) < 40.0;
        if corners.iter().any(inside) && !corners.iter().all(inside) {
            sources.extend(corners.map(|v| (v, expected(tetrahedra.points()[v as usize]))));
        }
    }
    let patches = Patches::new(tetrahedra);
    let found = arrival(&patches, &Speed::UniformTensor(tensor), &sources).unwrap();
    mean_error(patches.tetrahedra(), &found.times, expected)
}

#[test]
fn the_distance_from_a_surface_is_of_first_order() {
    for (tensor, coarse) in [(SPHERE, 2.3), (ELLIPSOID, 9.0)] {
        let errors = [16, 32].map(|n| error(n, tensor));
        let order = (errors[0] / errors[1]).log2();
        assert!(errors[0] < coarse && order > 0.7 && order < 1.1, "{errors:?}, order {order}");
    }
}

#[test]
#[ignore = "two million vertices; run it in release"]
fn the_order_approaches_one_up_to_129_vertices_per_side() {
    for tensor in [SPHERE, ELLIPSOID] {
        let errors = [16, 32, 64, 128].map(|n| error(n, tensor));
        let orders = [0, 1, 2].map(|i: usize| (errors[i] / errors[i + 1]).log2());
        println!("{errors:?} {orders:?}");
        assert!(orders[2] > 0.9 && orders[2] < 1.2, "{errors:?}, orders {orders:?}");
    }
}

#[test]
fn a_plane_source_gives_the_exact_distance() {
    let mesh = mapped_cube(9, |x| x);
    let patches = Patches::new(Tetrahedra::of_mesh(&mesh).unwrap());
    let on_face = |&v: &u32| mesh.coordinates()[v as usize][2] == 0.0;
    let sources: Vec<(u32, f64)> =
        (0..mesh.n_nodes() as u32).filter(on_face).map(|v| (v, 0.0)).collect();
    let found = arrival(&patches, &Speed::Uniform(4.0), &sources).unwrap();
    for (time, x) in found.times.iter().zip(patches.tetrahedra().points()) {
        assert!((time - x[2] / 4.0).abs() < 1e-15, "{time} at {x:?}");
    }
}

#[test]
fn a_point_source_gives_its_distance_to_a_few_percent_and_better_on_finer_meshes() {
    let errors = [8, 16].map(|n| {
        let patches = Patches::new(Tetrahedra::of_mesh(&distorted_cube(n, 0.2, false)).unwrap());
        let found = arrival(&patches, &Speed::Uniform(1.0), &[(0, 0.0)]).unwrap();
        let start = patches.tetrahedra().points()[0];
        let distance = |x: [f64; 3]| length(&SPHERE, [0, 1, 2].map(|d| x[d] - start[d]));
        // Never too early: every time is that of a path.
        for (time, x) in found.times.iter().zip(patches.tetrahedra().points()) {
            assert!(*time >= distance(*x) - 1e-12);
        }
        mean_error(patches.tetrahedra(), &found.times, distance)
    });
    assert!(errors[0] < 0.06 && errors[1] < 0.7 * errors[0], "{errors:?}");
}

fn assert_is_that_of_the_reference(mesh: &HexMesh, tetrahedra: Tetrahedra) {
    let (cells, tensors) = speeds(tetrahedra.cells().len());
    let n_points = tetrahedra.points().len() as u32;
    let patches = Patches::new(tetrahedra);
    let oblique = [1.0, 2.0, 0.5, 0.3, -0.2, 0.6];
    let (one, two) = (vec![(0, -0.3)], vec![(n_points / 2, 0.1), (n_points - 1, 0.0)]);
    for (speed, sources) in [
        (Speed::Uniform(1.0), &two),
        (Speed::UniformTensor(oblique), &one),
        (Speed::Cells(&cells), &one),
        (Speed::Tensors(&tensors), &two),
    ] {
        let found = arrival(&patches, &speed, sources).unwrap();
        let expected = reference::arrival(patches.tetrahedra(), &speed, sources).unwrap();
        for (found, expected) in found.times.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-13, "{found} for {expected}");
        }
    }
    assert!(patches.n_copies() > mesh.n_nodes());
}

#[test]
fn patches_agree_with_one_queue_of_vertices() {
    for mesh in [distorted_cube(8, 0.3, true), hexagon(5), wheel(4), mixed_cut()] {
        assert_is_that_of_the_reference(&mesh, Tetrahedra::of_mesh(&mesh).unwrap());
    }
}

#[test]
fn a_tensor_of_all_tetrahedra_is_that_of_each_and_a_squared_speed() {
    let tetrahedra = Tetrahedra::of_mesh(&distorted_cube(6, 0.3, true)).unwrap();
    let n_cells = tetrahedra.cells().len();
    let patches = Patches::new(tetrahedra);
    let solve = |speed: Speed| arrival(&patches, &speed, &[(9, 0.0)]).unwrap().times;

    let oblique = [1.0, 2.0, 0.5, 0.3, -0.2, 0.6];
    let round = [9.0, 9.0, 9.0, 0.0, 0.0, 0.0];
    for (a, b) in [
        (solve(Speed::UniformTensor(oblique)), solve(Speed::Tensors(&vec![oblique; n_cells]))),
        (solve(Speed::UniformTensor(round)), solve(Speed::Uniform(3.0))),
        (solve(Speed::Cells(&vec![3.0; n_cells])), solve(Speed::Uniform(3.0))),
    ] {
        let difference = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-14, "{difference}");
    }
}

#[test]
fn what_is_not_connected_is_not_reached() {
    let one = cube(3, 1.0);
    let n = one.points().len() as u32;
    let shifted = one.points().iter().map(|x| [x[0] + 2.0, x[1], x[2]]);
    let points = one.points().iter().copied().chain(shifted).collect();
    let second = one.cells().iter().map(|cell| cell.map(|v| v + n));
    let cells = one.cells().iter().copied().chain(second).collect();
    let patches = Patches::new(Tetrahedra::new(points, cells).unwrap());

    let found = arrival(&patches, &Speed::Uniform(1.0), &[(5, 0.0)]).unwrap();
    assert!(found.times[..n as usize].iter().all(|time| time.is_finite()));
    assert!(found.times[n as usize..].iter().all(|time| *time == f64::INFINITY));
    let order = found.order();
    assert_eq!((order[0], order[n as usize], order.len()), (5, n, 2 * n as usize));
    assert!(order.windows(2).all(|v| found.times[v[0] as usize] <= found.times[v[1] as usize]));
}

#[test]
fn results_have_the_same_bits_on_any_number_of_threads() {
    let tetrahedra = Tetrahedra::of_mesh(&distorted_cube(12, 0.3, true)).unwrap();
    let results = [1, 2, 7].map(|n_threads| {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let patches = Patches::new(tetrahedra.clone());
            arrival(&patches, &Speed::Uniform(1.0), &[(700, 0.0)]).unwrap()
        })
    });
    assert!(results[0].rounds > 10);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn few_local_solves_are_spent() {
    // Three along an edge, two from an edge and one from a face for each tetrahedron; there are six
    // tetrahedra for each vertex, and more work where fronts of patches meet.
    let patches = Patches::new(Tetrahedra::of_mesh(&mapped_cube(16, |x| x)).unwrap());
    let found = arrival(&patches, &Speed::Uniform(1.0), &[(0, 0.0)]).unwrap();
    let per_cell = found.local_solves as f64 / patches.tetrahedra().cells().len() as f64;
    assert!(per_cell > 6.0 && per_cell < 9.0, "{per_cell} per tetrahedron");
}

#[test]
fn given_values_stay_and_flat_tetrahedra_do_no_harm() {
    let points =
        vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let cells = vec![[0, 1, 2, 3], [0, 1, 2, 4]];
    let patches = Patches::new(Tetrahedra::new(points, cells).unwrap());
    let sources = [(0, 0.0), (1, 5.0), (0, 1.0)];
    let found = arrival(&patches, &Speed::Uniform(1.0), &sources).unwrap();
    assert_eq!(found.times, [0.0, 5.0, 1.0, 2.0f64.sqrt(), 1.0]);
}

#[test]
fn times_that_swallow_the_size_of_the_mesh_come_to_an_end() {
    let patches = Patches::new(cube(3, 1.0));
    let found = arrival(&patches, &Speed::Uniform(1.0), &[(0, 1e20)]).unwrap();
    assert!(found.times.iter().all(|time| *time == 1e20 || *time == f64::INFINITY));
    assert_eq!(found.times[0], 1e20);

    let cells = vec![[0, 1, 2, 3], [1, 2, 3, 4]];
    let patches = Patches::new(Tetrahedra::new(vec![[0.5; 3]; 5], cells).unwrap());
    let found = arrival(&patches, &Speed::Uniform(1.0), &[(0, 0.0)]).unwrap();
    assert_eq!(found.times, [0.0; 5]);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let vertex = DistanceError::Vertex { vertex: 4, n_points: 4 };
    assert_eq!(Tetrahedra::new(points.clone(), vec![[0, 1, 2, 4]]), Err(vertex.clone()));

    let patches = Patches::new(Tetrahedra::new(points, vec![[0, 1, 2, 3]]).unwrap());
    let solve = |speed, sources: &[(u32, f64)]| arrival(&patches, &speed, sources).unwrap_err();
    assert_eq!(solve(Speed::Uniform(1.0), &[(4, 0.0)]), vertex);
    let message = solve(Speed::Uniform(1.0), &[(0, 0.0), (1, f64::NAN)]).to_string();
    assert_eq!(message, "the value of source 1 is NaN; give a finite number");
    let message = solve(Speed::Cells(&[0.0]), &[(0, 0.0)]).to_string();
    assert!(message.starts_with("the speed of tetrahedron 0 is [0.0]"), "{message}");
    let indefinite = [[1.0, 1.0, 1.0, 2.0, 0.0, 0.0]];
    let message = solve(Speed::Tensors(&indefinite), &[(0, 0.0)]).to_string();
    assert!(message.contains("a tensor definite"), "{message}");
    let message = solve(Speed::Cells(&[]), &[(0, 0.0)]).to_string();
    assert_eq!(message, "0 speeds for 1; use the values of these tetrahedra");
}

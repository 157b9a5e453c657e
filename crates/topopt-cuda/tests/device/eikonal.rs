//! The eikonal equation on the device, against the reference of the CPU.

use topopt_cuda::Real;
use topopt_cuda::distance::{Eikonal, EikonalError, Schedule};
use topopt_distance::{DistanceError, Speed, Tetrahedra, reference};
use topopt_mesh::HexMesh;
use topopt_testing::fronts::speeds;
use topopt_testing::{distorted_cube, hexagon, mapped_cube, mixed_cut, wheel};

use crate::device;

/// The largest error of times in the precision `R`, relative to the latest.
fn error<R: Real>(
    tetrahedra: &Tetrahedra,
    speed: &Speed,
    sources: &[(u32, f64)],
    schedule: Schedule,
) -> f64 {
    let Some(device) = device() else { return 0.0 };
    let eikonal = Eikonal::<R>::new(&device, tetrahedra.clone(), speed).unwrap();
    let found = eikonal.with_schedule(schedule).arrival(sources).unwrap();
    let expected = reference::arrival(tetrahedra, speed, sources).unwrap();

    let finite = expected.iter().copied().filter(|time| time.is_finite());
    let latest = finite.fold(0.0, f64::max);
    let pairs = found.times.iter().zip(&expected).filter(|(found, expected)| found != expected);
    pairs.map(|(found, expected)| (found - expected).abs() / latest).fold(0.0, f64::max)
}

fn assert_is_that_of_the_reference(mesh: &HexMesh) {
    let tetrahedra = Tetrahedra::of_mesh(mesh).unwrap();
    let (cells, tensors) = speeds(tetrahedra.cells().len());
    let n_points = tetrahedra.points().len() as u32;
    let oblique = [1.0, 2.0, 0.5, 0.3, -0.2, 0.6];
    let (one, two) = (vec![(0, -0.3)], vec![(n_points / 2, 0.1), (n_points - 1, 0.0)]);
    for (speed, sources) in [
        (Speed::Uniform(1.0), &two),
        (Speed::UniformTensor(oblique), &one),
        (Speed::Cells(&cells), &one),
        (Speed::Tensors(&tensors), &two),
    ] {
        let (double, single) = (
            error::<f64>(&tetrahedra, &speed, sources, Schedule::default()),
            error::<f32>(&tetrahedra, &speed, sources, Schedule::default()),
        );
        assert!(double < 1e-12 && single < 1e-5, "{double} {single}");
    }
}

#[test]
fn it_arrives_as_on_the_cpu() {
    for mesh in [distorted_cube(5, 0.3, true), hexagon(3), wheel(3), mixed_cut()] {
        assert_is_that_of_the_reference(&mesh);
    }
}

/// Windows smaller than an edge, a sweep at a time, and all at once.
#[test]
fn no_schedule_changes_the_times() {
    let tetrahedra = Tetrahedra::of_mesh(&distorted_cube(5, 0.3, true)).unwrap();
    for (sweeps, window) in [(1, 0.0), (1, 100.0), (3, 0.5), (100, f64::INFINITY)] {
        let schedule = Schedule { sweeps, window };
        let error = error::<f64>(&tetrahedra, &Speed::Uniform(2.0), &[(17, 0.2)], schedule);
        assert!(error < 1e-12, "{schedule:?}: {error}");
    }
}

#[test]
fn what_is_not_connected_is_not_reached() {
    let Some(device) = device() else { return };
    let one = Tetrahedra::of_mesh(&mapped_cube(3, |x| x)).unwrap();
    let n = one.points().len() as u32;
    let shifted = one.points().iter().map(|x| [x[0] + 2.0, x[1], x[2]]);
    // The last point is in no tetrahedron.
    let points = one.points().iter().copied().chain(shifted).chain([[0.5; 3]]).collect();
    let second = one.cells().iter().map(|cell| cell.map(|v| v + n));
    let cells = one.cells().iter().copied().chain(second).collect();
    let tetrahedra = Tetrahedra::new(points, cells).unwrap();
    let mut eikonal = Eikonal::<f32>::new(&device, tetrahedra, &Speed::Uniform(1.0)).unwrap();

    // A second front knows nothing of the first.
    let [mut here, mut there] =
        [0, n].map(|source| eikonal.arrival(&[(source, 0.0)]).unwrap().times);
    assert_eq!((here.pop(), there.pop()), (Some(f64::INFINITY), Some(f64::INFINITY)));
    let (reached, not) = here.split_at(n as usize);
    assert!(reached.iter().all(|time| *time < 2.0) && not.iter().all(|time| time.is_infinite()));
    let (not, reached_there) = there.split_at(n as usize);
    assert!(not.iter().all(|time| time.is_infinite()));
    // The shifted points are rounded.
    assert!(reached.iter().zip(reached_there).all(|(a, b)| (a - b).abs() < 1e-6));
}

/// An order of its own for threads and blocks is what `TOPOPT_EMULATOR_ORDER=reverse` gives.
#[test]
fn results_have_the_same_bits_in_every_order_of_threads() {
    let Some(device) = device() else { return };
    let tetrahedra = Tetrahedra::of_mesh(&distorted_cube(8, 0.3, true)).unwrap();
    let mut eikonal = Eikonal::<f32>::new(&device, tetrahedra, &Speed::Uniform(1.0)).unwrap();
    assert!(eikonal.patches().len() > 6);
    let found = eikonal.arrival(&[(3, 0.1), (700, 0.0)]).unwrap();
    assert_eq!(found, eikonal.arrival(&[(3, 0.1), (700, 0.0)]).unwrap());
    // FNV-1a of the bits: those of the emulated driver, which contracts no products.
    let hash = |hash: u64, time: &f64| (hash ^ time.to_bits()).wrapping_mul(0x0100_0000_01b3);
    let found =
        (found.times.iter().fold(0xcbf2_9ce4_8422_2325, hash), found.local_solves, found.rounds);
    println!("{found:?}");
}

#[test]
fn a_front_that_ends_has_arrived_before_and_not_far_beyond() {
    let Some(device) = device() else { return };
    let tetrahedra = Tetrahedra::of_mesh(&distorted_cube(8, 0.3, true)).unwrap();
    let mut eikonal = Eikonal::<f64>::new(&device, tetrahedra, &Speed::Uniform(1.0)).unwrap();
    let whole = eikonal.arrival(&[(0, 0.5)]).unwrap();
    let part = eikonal.arrival_until(&[(0, 0.5)], 0.9).unwrap();
    for (whole, part) in whole.times.iter().zip(&part.times) {
        assert!(part == whole || *whole > 0.9 && part > whole, "{part} for {whole}");
    }
    assert!(part.times.iter().any(|time| time.is_infinite()));
    assert!(part.local_solves < whole.local_solves / 4);
}

#[test]
fn given_values_stay_and_flat_tetrahedra_do_no_harm() {
    let Some(device) = device() else { return };
    let points =
        vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let tetrahedra = Tetrahedra::new(points, vec![[0, 1, 2, 3], [0, 1, 2, 4]]).unwrap();
    let mut eikonal = Eikonal::<f64>::new(&device, tetrahedra, &Speed::Uniform(1.0)).unwrap();
    let found = eikonal.arrival(&[(0, 0.0), (1, 5.0), (0, 1.0)]).unwrap();
    assert_eq!(found.times, [0.0, 5.0, 1.0, 2.0f64.sqrt(), 1.0]);

    assert!(eikonal.arrival(&[]).unwrap().times.iter().all(|time| *time == f64::INFINITY));
    let error = eikonal.arrival(&[(5, 0.0)]).unwrap_err();
    assert_eq!(error, EikonalError::Input(DistanceError::Vertex { vertex: 5, n_points: 5 }));
}

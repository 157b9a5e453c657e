//! Values at which points are open to the outside, against plain steps on the host.

use topopt_cuda::{Cuda, Real};
use topopt_linalg::{Backend, Gather, Space};
use topopt_testing::{Noise, assert_close};

use crate::device;

const SIDE: usize = 14;
const N: usize = SIDE * SIDE * SIDE;
const FREE: u32 = u32::MAX;

/// Neighbors of the points of a grid in a mixed order: one side is open, and what lies beside two
/// points that know only each other.
fn neighbors() -> Vec<[u32; 6]> {
    let mixed = |place: usize| (place * 1117 % N) as u32;
    let mut all = vec![[0; 6]; N];
    for place in 0..N {
        let at = [place % SIDE, place / SIDE % SIDE, place / SIDE / SIDE];
        let own = mixed(place);
        for axis in 0..3 {
            let step = SIDE.pow(axis as u32);
            let outside = if axis == 0 { FREE } else { own };
            let before = if at[axis] > 0 { mixed(place - step) } else { outside };
            let behind = if at[axis] + 1 < SIDE { mixed(place + step) } else { own };
            all[own as usize][2 * axis] = before;
            all[own as usize][2 * axis + 1] = behind;
        }
    }
    let [a, b] = [N - 1, N - 2].map(mixed);
    let is_cut = |other: &&mut u32| [a, b].contains(*other);
    all.iter_mut().flatten().filter(is_cut).for_each(|other| *other = FREE);
    all[a as usize] = [b; 6];
    all[b as usize] = [a; 6];
    all
}

/// The point that each one has its value of: the first rim of its lake.
fn rims(neighbors: &[[u32; 6]], x: &[f64]) -> Vec<usize> {
    let heights: Vec<f64> = x.iter().map(|x| (x * 1e9).round_ties_even()).collect();
    let behind = |e: usize| neighbors[e].iter().filter(|&&e| e != FREE).map(|&e| e as usize);
    let mut levels = vec![f64::INFINITY; N];
    let mut is_moving = true;
    while is_moving {
        let level = |e: usize| match neighbors[e].contains(&FREE) {
            true => heights[e],
            false => {
                behind(e).map(|other| levels[other]).fold(f64::INFINITY, f64::min).max(heights[e])
            }
        };
        let next: Vec<f64> = (0..N).map(level).collect();
        is_moving = next != levels;
        levels = next;
    }

    let is_rim = |e: usize| heights[e] == levels[e] || levels[e].is_infinite();
    let mut rims: Vec<usize> = (0..N).map(|e| if is_rim(e) { e } else { usize::MAX }).collect();
    is_moving = true;
    while is_moving {
        let of_lake = |e: usize| {
            let others = behind(e).filter(|&other| levels[other] == levels[e]);
            others.map(|other| rims[other]).min().unwrap_or(usize::MAX)
        };
        let next: Vec<usize> = (0..N).map(|e| if is_rim(e) { e } else { of_lake(e) }).collect();
        is_moving = next != rims;
        rims = next;
    }
    rims
}

fn assert_floods<R: Real>(tolerance: f64) {
    let Some(device) = device() else { return };
    let backend = Cuda::<R>::new(&device).unwrap();
    let (neighbors, space) = (neighbors(), Space::elements(N));
    let mut flood = backend.flood(&neighbors).unwrap().unwrap();
    // Each design begins with the ways of the one before; the third has rims of equal heights, and
    // the last is the second again.
    for (seed, steps) in [(3, 1e6), (4, 1e6), (5, 4.0), (4, 1e6)] {
        let x =
            Noise(seed).vector(N).into_iter().map(|v| ((0.5 + 0.5 * v) * steps).round() / steps);
        let x: Vec<f64> = x.map(|x| R::from_f64(x).to_f64()).collect();
        let of = rims(&neighbors, &x);
        let expected: Vec<f64> = of.iter().map(|&rim| x[rim]).collect();
        let dp = Noise(9).vector(N);
        let mut gradient = vec![0.0; N];
        of.iter().zip(&dp).for_each(|(&rim, d)| gradient[rim] += d);

        let on_device = backend.upload(&x, space).unwrap();
        let (mut p, mut dx) = (backend.zeros(space).unwrap(), backend.zeros(space).unwrap());
        flood.forward(&backend, &on_device, &mut p);
        flood.backward(&backend, &backend.upload(&dp, space).unwrap(), &mut dx);
        assert_eq!(backend.download(&p).unwrap(), expected);
        assert_close(&backend.download(&dx).unwrap(), &gradient, tolerance, "derivatives");
        let raised = expected.iter().zip(&x).filter(|(p, x)| p > x).count();
        assert!(raised > N / 10 && raised < N * 9 / 10, "{raised}");
    }
}

#[test]
fn points_are_open_at_the_values_of_their_rims() {
    assert_floods::<f64>(1e-12);
    assert_floods::<f32>(1e-5);
}

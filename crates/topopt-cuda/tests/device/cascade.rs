//! Values that follow from those of levels before, against a plain loop on the host.

use topopt_cuda::{Cuda, Real};
use topopt_linalg::{Backend, Gather, Levels, Sample, Space};
use topopt_testing::{Noise, assert_close};

use crate::device;

const N: usize = 3000;
const STANDING: usize = 200;
const OF_LEVEL: usize = 280;
/// Values within this of each other are equal.
const EQUAL: f64 = 1e-9;

/// Lists of points in a mixed order; the first ones stand.
struct Lists {
    order: Vec<u32>,
    ends: Vec<usize>,
    starts: Vec<usize>,
    samples: Vec<Sample>,
}

impl Lists {
    /// Up to nine samples of each point; some points have none, and some weights are zero.
    fn new() -> Self {
        let mixed = |place: usize| (place * 1117 % N) as u32;
        let order: Vec<u32> = (STANDING..N).map(mixed).collect();
        let inner = (1..).map(|level| level * OF_LEVEL).take_while(|end| *end < order.len());
        let ends = inner.chain([order.len()]).collect();
        let noise = Noise(7).vector(41 * N);
        let (mut starts, mut samples, mut next) = (vec![0], Vec::new(), noise.iter());
        let mut draw = |n: usize| ((next.next().unwrap() + 1.0) / 2.0 * n as f64) as usize % n;
        for k in 0..order.len() {
            let before = STANDING + k / OF_LEVEL * OF_LEVEL;
            for _ in 0..draw(10) {
                let points = std::array::from_fn(|_| mixed(draw(before)));
                let parts: [f64; 4] = std::array::from_fn(|i| if i > 2 { 0.0 } else { 1.0 });
                samples.push(Sample { points, weights: parts.map(|part| part / 3.0) });
            }
            starts.push(samples.len());
        }
        Self { order, ends, starts, samples }
    }

    fn levels(&self, fills: bool) -> Levels<'_> {
        let Self { order, ends, starts, samples } = self;
        Levels { n_points: N, order, ends, starts, samples, fills }
    }

    /// p, and the sample of each place; none where it has its own value.
    fn forward(&self, x: &[f64], fills: bool) -> (Vec<f64>, Vec<Option<Option<usize>>>) {
        let mut p = x.to_vec();
        let mut chosen = Vec::new();
        for (k, &point) in self.order.iter().enumerate() {
            let of_sample = |s: usize| -> f64 {
                let Sample { points, weights } = &self.samples[s];
                points.iter().zip(weights).map(|(&q, w)| w * p[q as usize]).sum()
            };
            let own = x[point as usize];
            let all = self.starts[k]..self.starts[k + 1];
            let most = all.clone().map(of_sample).fold(0.0, f64::max);
            let value = if fills { own.max(most) } else { own.min(most) };
            let first = all.clone().find(|&s| most - of_sample(s) <= EQUAL);
            chosen.push(((own - value).abs() > EQUAL).then_some(first));
            p[point as usize] = value;
        }
        (p, chosen)
    }

    fn backward(&self, chosen: &[Option<Option<usize>>], dp: &[f64]) -> Vec<f64> {
        let mut dx = dp.to_vec();
        for (k, chosen) in chosen.iter().enumerate().rev() {
            let Some(sample) = chosen else { continue };
            let own = std::mem::take(&mut dx[self.order[k] as usize]);
            let Some(sample) = sample else { continue };
            let Sample { points, weights } = &self.samples[*sample];
            points.iter().zip(weights).for_each(|(&q, w)| dx[q as usize] += w * own);
        }
        dx
    }
}

fn assert_cascades<R: Real>(tolerance: f64) {
    let Some(device) = device() else { return };
    let backend = Cuda::<R>::new(&device).unwrap();
    let (lists, space) = (Lists::new(), Space::elements(N));
    for fills in [false, true] {
        let mut cascade = backend.cascade(&lists.levels(fills)).unwrap().unwrap();
        // The second design replaces what the first has chosen.
        for seed in [3, 4] {
            let x: Vec<f64> = Noise(seed).vector(N).iter().map(|v| 0.5 + 0.5 * v).collect();
            let x: Vec<f64> = x.iter().map(|&x| R::from_f64(x).to_f64()).collect();
            let dp = Noise(9).vector(N);
            let (expected, chosen) = lists.forward(&x, fills);
            let gradient = lists.backward(&chosen, &dp);

            let on_device = backend.upload(&x, space).unwrap();
            let (mut p, mut dx) = (backend.zeros(space).unwrap(), backend.zeros(space).unwrap());
            cascade.forward(&backend, &on_device, &mut p);
            cascade.backward(&backend, &backend.upload(&dp, space).unwrap(), &mut dx);
            assert_close(&backend.download(&p).unwrap(), &expected, tolerance, "values");
            assert_close(&backend.download(&dx).unwrap(), &gradient, tolerance, "derivatives");
            let changed = chosen.iter().filter(|chosen| chosen.is_some()).count();
            assert!(changed > N / 10 && changed < N * 9 / 10, "{changed}");
        }
    }
}

#[test]
fn values_follow_from_levels_before_as_on_the_host() {
    assert_cascades::<f64>(1e-13);
    assert_cascades::<f32>(1e-5);
}

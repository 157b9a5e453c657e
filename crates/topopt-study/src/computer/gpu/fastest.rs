//! The fastest strategy on a GPU, measured.

use std::sync::Arc;

use topopt_cuda::{Cuda, DeviceKernel, ProblemOnDevice, Strategy};
use topopt_fem::{Discretization, ElementOperator};
use topopt_linalg::{Backend, BackendError};

/// Bytes of the copy that measures the bandwidth of a GPU's memory.
const COPY: usize = 1 << 28;
/// Largest ratio of the bandwidths of a GPU's caches and memory.
const CACHE: f64 = 3.0;

/// Measures the fastest of `candidates`, which are not empty; also returns a note on the choice.
pub(super) fn fastest<K: DeviceKernel<N>, const N: usize>(
    backend: &Cuda<f64>,
    mesh: &Arc<ProblemOnDevice<K, N>>,
    problem: &Discretization<K, N>,
    candidates: Vec<Strategy>,
) -> Result<(Strategy, String), BackendError> {
    let device = backend.device();
    let bandwidth = device.copy_bandwidth(COPY.min(device.memory()?.0 / 4), 5)?;
    let reading = |strategy: Strategy| strategy.bytes(problem) as f64 / (CACHE * bandwidth);
    let Measured { times, slower } = measure(candidates, reading, |strategy| {
        application_seconds(backend, strategy.build(mesh, problem)?.as_ref())
    })?;

    let measured: Vec<_> = times
        .iter()
        .map(|(s, strategy)| format!("{} {:.3} ms", strategy.name(), 1e3 * s))
        .collect();

    let best = times[0].1;
    let mut note = format!("strategy {}, the fastest of {}", best.name(), measured.join(", "));
    if !slower.is_empty() {
        let names: Vec<_> = slower.iter().map(|strategy| strategy.name()).collect();
        note += &format!("; {} would need longer just to read what they store", names.join(", "));
    }
    Ok((best, note))
}

/// Candidates with measured times, and those left out.
#[derive(Debug, PartialEq)]
struct Measured<C> {
    /// Seconds, the fastest first.
    times: Vec<(f64, C)>,
    /// Candidates not measured: by `least` they need more time than the fastest.
    slower: Vec<C>,
}

/// Measures `seconds` of the candidates, who needs the `least` first.
fn measure<C: Copy, E>(
    mut candidates: Vec<C>,
    least: impl Fn(C) -> f64,
    mut seconds: impl FnMut(C) -> Result<f64, E>,
) -> Result<Measured<C>, E> {
    candidates.sort_by(|&a, &b| least(a).total_cmp(&least(b)));
    let (mut times, mut slower) = (Vec::<(f64, C)>::new(), Vec::new());
    for candidate in candidates {
        if times.first().is_some_and(|(best, _)| least(candidate) > *best) {
            slower.push(candidate);
            continue;
        }
        times.push((seconds(candidate)?, candidate));
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(Measured { times, slower })
}

/// Seconds of one application: the median of five after two that do not count.
fn application_seconds(
    backend: &Cuda<f64>,
    operator: &dyn ElementOperator<Cuda<f64>>,
) -> Result<f64, BackendError> {
    let mut x = backend.zeros(operator.space())?;
    backend.fill(1.0, &mut x);
    let mut y = backend.zeros(operator.space())?;
    backend.device().median_seconds(2, 5, || operator.apply(&x, &mut y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_the_fastest_is_not_measured() {
        let (least, seconds) = ([3.0, 0.1, 2.0, 0.5], [3.5, 2.5, 2.2, 4.0]);
        let mut asked = Vec::new();
        let measured = measure(
            vec![0, 1, 2, 3],
            |c| least[c],
            |c| {
                asked.push(c);
                Ok::<_, ()>(seconds[c])
            },
        );
        let times = vec![(2.2, 2), (2.5, 1), (4.0, 3)];
        assert_eq!(measured, Ok(Measured { times, slower: vec![0] }));
        assert_eq!(asked, [1, 3, 2]);
        assert_eq!(measure(vec![0], |_| 1.0, |_| Err::<f64, _>("broken")), Err("broken"));
    }
}

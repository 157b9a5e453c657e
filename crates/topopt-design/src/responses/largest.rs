//! The largest length or value of a state at a set of nodes, approximated by a p-norm.

use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{Moment, StateFunction};

/// A set of nodes whose states come to the host.
struct AtNodes {
    nodes: Vec<u32>,
    /// Whether a component is free, at those of the nodes, `[nodes][n]`.
    is_free: Vec<bool>,
    space: Space,
}

impl AtNodes {
    fn new(problem: &dyn ProblemView, nodes: Vec<u32>) -> Self {
        let space = problem.unknowns();
        let is_free =
            |&node: &u32| (0..space.unknowns).map(move |i| !problem.is_held(node as usize, i));
        Self { is_free: nodes.iter().flat_map(is_free).collect(), nodes, space }
    }

    /// u of the nodes, `[nodes][n]`.
    fn values<B: Pointwise>(&self, at: &Moment<B>) -> Result<Vec<f64>, BackendError> {
        let u = at.backend.download(at.state)?;
        let n = self.space.unknowns;
        let of = |&node: &u32| u[n * node as usize..][..n].iter().copied();
        at.backend.decide(if at.backend.has_values() {
            self.nodes.iter().flat_map(of).collect()
        } else {
            Vec::new()
        })
    }

    /// Writes the `slopes` by u of the nodes, `[nodes][n]`, to `out`, 0 at held components and elsewhere.
    fn write<B: Pointwise>(
        &self,
        backend: &B,
        slopes: &[f64],
        out: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let n = self.space.unknowns;
        let mut all = vec![0.0; if backend.has_values() { self.space.len() } else { 0 }];
        if backend.has_values() {
            for (k, slope) in slopes.iter().enumerate().filter(|(k, _)| self.is_free[*k]) {
                all[n * self.nodes[k / n] as usize + k % n] = *slope;
            }
        }
        *out = backend.upload(&all, self.space)?;
        Ok(())
    }
}

/// (sum_n |u_n|^p)^(1/p) over a set of nodes: at least the largest |u_n|, and at most its
/// n^(1/p)-fold. States come to the host for it.
pub struct StateNorm {
    nodes: AtNodes,
    exponent: f64,
}

impl StateNorm {
    /// Builds the norm over `nodes` with p = `exponent` > 1.
    pub fn new(problem: &dyn ProblemView, nodes: Vec<u32>, exponent: f64) -> Self {
        Self { nodes: AtNodes::new(problem, nodes), exponent }
    }

    /// u and |u_n| of the nodes.
    fn lengths<B: Pointwise>(&self, at: &Moment<B>) -> Result<[Vec<f64>; 2], BackendError> {
        let u = self.nodes.values(at)?;
        let lengths = lengths(&u, self.nodes.space.unknowns);
        Ok([u, lengths])
    }
}

impl<B: Pointwise> StateFunction<B> for StateNorm {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        let [_, lengths] = self.lengths(at)?;
        Ok(norm(&lengths, self.exponent))
    }

    /// dg/du_n = (|u_n| / g)^(p-1) u_n / |u_n|
    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        let [u, lengths] = self.lengths(at)?;
        let by_length = slopes(&lengths, self.exponent);
        let slope = |(k, u): (usize, &f64)| {
            let n = k / self.nodes.space.unknowns;
            if lengths[n] > 0.0 { by_length[n] * (u / lengths[n]) } else { 0.0 }
        };
        let slopes: Vec<f64> = u.iter().enumerate().map(slope).collect();
        self.nodes.write(at.backend, &slopes, out)
    }
}

/// r + (sum_n (u_n - r)^p)^(1/p) over a set of nodes with one unknown each: at least the largest
/// u_n, whatever its sign, and the same function wherever 0 is. r is a given value, the coldest
/// temperature that is held say, or the least u_n where that is below it, as beside a sink.
pub struct LargestState {
    nodes: AtNodes,
    exponent: f64,
    zero: f64,
}

impl LargestState {
    /// Builds the function over `nodes` with p = `exponent` > 1, counted from `zero`.
    pub fn new(problem: &dyn ProblemView, nodes: Vec<u32>, exponent: f64, zero: f64) -> Self {
        Self { nodes: AtNodes::new(problem, nodes), exponent, zero }
    }

    /// r, and u_n - r.
    fn rises(&self, u: &[f64]) -> (f64, Vec<f64>) {
        let least = u.iter().copied().fold(self.zero, f64::min);
        (least, u.iter().map(|u| u - least).collect())
    }

    /// dg/du_n: (u_n - r)^(p-1) / (g - r)^(p-1), and dg/dr besides where r is a u_n.
    fn slopes(&self, u: &[f64]) -> Vec<f64> {
        let (least, rises) = self.rises(u);
        let mut slopes = slopes(&rises, self.exponent);
        let by_least = 1.0 - slopes.iter().sum::<f64>();
        let coldest = u.iter().position(|u| *u == least).filter(|_| least < self.zero);
        coldest.into_iter().for_each(|n| slopes[n] += by_least);
        slopes
    }
}

impl<B: Pointwise> StateFunction<B> for LargestState {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        let (least, rises) = self.rises(&self.nodes.values(at)?);
        Ok(least + norm(&rises, self.exponent))
    }

    fn zero(&self) -> f64 {
        self.zero
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        let slopes = self.slopes(&self.nodes.values(at)?);
        self.nodes.write(at.backend, &slopes, out)
    }
}

/// The p-norm of `lengths`.
fn norm(lengths: &[f64], p: f64) -> f64 {
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    // Powers of shares of the largest neither vanish nor overflow.
    let sum = |l: f64| lengths.iter().map(|length| (length / l).powf(p)).sum::<f64>();
    if largest > 0.0 { largest * sum(largest).powf(1.0 / p) } else { 0.0 }
}

/// Derivatives of [`norm`] by the lengths; 0 where all lengths vanish.
fn slopes(lengths: &[f64], p: f64) -> Vec<f64> {
    let norm = norm(lengths, p);
    let slope = |length: &f64| if norm > 0.0 { (length / norm).powf(p - 1.0) } else { 0.0 };
    lengths.iter().map(slope).collect()
}

/// |u_n| of every node.
fn lengths(u: &[f64], components: usize) -> Vec<f64> {
    u.chunks(components).map(|u| u.iter().copied().fold(0.0, f64::hypot)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_norm_bounds_the_largest_length_and_does_not_overflow() {
        for scale in [1.0, 1e-200, 1e200] {
            let u: Vec<f64> = [0.3, 0.4, 1.2, 1.6, 0.6, -0.8, -1.2, 1.6].map(|u| scale * u).into();
            let found = norm(&lengths(&u, 2), 30.0) / scale;
            assert!((found / 2.0 / 2f64.powf(1.0 / 30.0) - 1.0).abs() < 1e-9, "{found}");
            let slopes = slopes(&lengths(&u, 2), 200.0);
            assert!((slopes[1] - 0.5f64.powf(199.0 / 200.0)).abs() < 1e-9, "{slopes:?}");
        }
        assert_eq!(norm(&[0.0, 0.0], 30.0), 0.0);
        assert_eq!(lengths(&[3.0, 4.0, 0.0, 1.0, 2.0, 2.0], 3), [5.0, 3.0]);
    }

    /// A largest value counted from `zero`, of nodes that need no problem.
    fn largest(zero: f64, exponent: f64) -> LargestState {
        let nodes = AtNodes { nodes: Vec::new(), is_free: Vec::new(), space: Space::elements(0) };
        LargestState { nodes, exponent, zero }
    }

    fn value(of: &LargestState, u: &[f64]) -> f64 {
        let (least, rises) = of.rises(u);
        least + norm(&rises, of.exponent)
    }

    #[test]
    fn a_largest_value_has_a_sign_and_its_slopes_agree_with_differences() {
        for exponent in [2.0, 30.0, 200.0] {
            let of = largest(-50.0, exponent);
            // Above the zero, on both sides of it, and all below it.
            for u in [[-49.0, -45.0, -45.3], [-60.0, -45.0, -49.0], [-80.0, -77.0, -61.0]] {
                let most = u.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (found, slopes) = (value(&of, &u), of.slopes(&u));
                assert!(found >= most && found < most + 20.0, "{found} {most}");

                let moved = |n: usize, h: f64| {
                    let mut u = u;
                    u[n] += h;
                    value(&of, &u)
                };
                for n in 0..3 {
                    let difference = (moved(n, 1e-5) - moved(n, -1e-5)) / 2e-5;
                    assert!((difference - slopes[n]).abs() < 1e-7, "{exponent} {u:?} {n}");
                }
            }

            // Nothing to count from but themselves.
            assert_eq!(value(&of, &[-70.0; 4]), -70.0);
            assert_eq!(of.slopes(&[-70.0; 4]), [1.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn a_largest_value_is_the_same_wherever_zero_is() {
        let u = [3.0, 17.5, -4.0, 11.25];
        let slopes = largest(1.0, 30.0).slopes(&u);
        let (there, moved) = (largest(1025.0, 30.0), u.map(|u| u + 1024.0));
        assert_eq!(there.slopes(&moved), slopes);
        assert!((value(&there, &moved) - 1024.0 - value(&largest(1.0, 30.0), &u)).abs() < 1e-9);
    }
}

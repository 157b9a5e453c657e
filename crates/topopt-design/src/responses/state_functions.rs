//! Functions of a state at nodes: a mean, a p-norm, the power of the loads.

use topopt_fem::Statement;
use topopt_linalg::{Backend, BackendError, Pointwise, Space};

use crate::{Moment, StateFunction};

/// l . u: the mean of a component over a set of nodes, with the share of each node in the entries of
/// l. Of a mechanism it is the output.
pub struct StateMean<B: Backend> {
    /// l, `[n_nodes][n]`, and l without its entries at held components.
    weights: B::Vector,
    slope: B::Vector,
}

impl<B: Backend> StateMean<B> {
    /// With l = `weights`, `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        problem: &dyn Statement,
        mut weights: Vec<f64>,
    ) -> Result<Self, BackendError> {
        let total = backend.upload(&weights, problem.unknowns())?;
        problem.clear_held(&mut weights);
        Ok(Self { weights: total, slope: backend.upload(&weights, problem.unknowns())? })
    }
}

impl<B: Pointwise> StateFunction<B> for StateMean<B> {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        at.backend.value(&at.backend.dot(&self.weights, at.state))
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        at.backend.copy(&self.slope, out);
        Ok(())
    }
}

/// f . u, the power of the loads: of heat, heat times temperature.
#[derive(Debug, Clone, Copy)]
pub struct LoadPower;

impl<B: Pointwise> StateFunction<B> for LoadPower {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        at.backend.value(&at.backend.dot(at.loads, at.state))
    }

    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        at.backend.copy(at.loads, out);
        Ok(())
    }
}

/// (sum_n |u_n|^p)^(1/p) over a set of nodes: at least the largest |u_n|, and at most its
/// n^(1/p)-fold. States come to the host for it.
pub struct StateNorm {
    nodes: Vec<u32>,
    exponent: f64,
    /// Whether a component is free, at those of the nodes, `[nodes][n]`.
    is_free: Vec<bool>,
    space: Space,
}

impl StateNorm {
    /// Of `nodes`, with p = `exponent` > 1.
    pub fn new(problem: &dyn Statement, nodes: Vec<u32>, exponent: f64) -> Self {
        let space = problem.unknowns();
        let is_free =
            |&node: &u32| (0..space.unknowns).map(move |i| !problem.is_held(node as usize, i));
        let is_free = nodes.iter().flat_map(is_free).collect();
        Self { is_free, nodes, exponent, space }
    }

    /// u of the nodes, `[nodes][n]`.
    fn values<B: Pointwise>(&self, at: &Moment<B>) -> Result<Vec<f64>, BackendError> {
        let u = at.backend.download(at.state)?;
        let n = self.components();
        let of = |&node: &u32| u[n * node as usize..][..n].iter().copied();
        at.backend.decide(match at.backend.has_values() {
            true => self.nodes.iter().flat_map(of).collect(),
            false => Vec::new(),
        })
    }

    /// Unknowns of a node.
    fn components(&self) -> usize {
        self.space.unknowns
    }
}

/// The p-norm of `lengths`.
fn norm(lengths: &[f64], p: f64) -> f64 {
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    // Powers of shares of the largest neither vanish nor overflow.
    let sum = |l: f64| lengths.iter().map(|length| (length / l).powf(p)).sum::<f64>();
    if largest > 0.0 { largest * sum(largest).powf(1.0 / p) } else { 0.0 }
}

/// |u_n| of every node.
fn lengths(u: &[f64], components: usize) -> Vec<f64> {
    u.chunks(components).map(|u| u.iter().map(|u| u * u).sum::<f64>().sqrt()).collect()
}

impl<B: Pointwise> StateFunction<B> for StateNorm {
    fn value(&mut self, at: &Moment<B>) -> Result<f64, BackendError> {
        Ok(norm(&lengths(&self.values(at)?, self.components()), self.exponent))
    }

    /// dg/du_n = (|u_n| / g)^(p-1) u_n / |u_n|
    fn slope(&mut self, at: &Moment<B>, out: &mut B::Vector) -> Result<(), BackendError> {
        let (u, n, p) = (self.values(at)?, self.components(), self.exponent);
        let lengths = lengths(&u, n);
        let norm = norm(&lengths, p);
        let has_values = at.backend.has_values();
        let mut slope = vec![0.0; if has_values { self.space.len() } else { 0 }];
        for (k, (node, length)) in self.nodes.iter().zip(&lengths).enumerate() {
            let factor = if *length > 0.0 { (length / norm).powf(p - 1.0) / length } else { 0.0 };
            for i in (0..n).filter(|i| has_values && self.is_free[n * k + i]) {
                slope[n * *node as usize + i] = factor * u[n * k + i];
            }
        }
        *out = at.backend.upload(&slope, self.space)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_norm_bounds_the_largest_length_and_does_not_overflow() {
        for scale in [1.0, 1e-200, 1e200] {
            let lengths: Vec<f64> = [0.5, 2.0, 1.0, 2.0].map(|l| scale * l).into();
            let found = norm(&lengths, 30.0) / scale;
            assert!((found / 2.0 / 2f64.powf(1.0 / 30.0) - 1.0).abs() < 1e-9, "{found}");
        }
        assert_eq!(norm(&[0.0, 0.0], 30.0), 0.0);
        assert_eq!(lengths(&[3.0, 4.0, 0.0, 1.0, 2.0, 2.0], 3), [5.0, 3.0]);
    }
}

//! Displacements of sets of nodes, by an adjoint state.

use topopt_fem::{ElementKernel, Problem};
use topopt_linalg::{Backend, BackendError, Monitor, Pointwise, Space};

use crate::{Dependence, Evaluated, Response, SolveError};

/// l . u in a load case: the mean of a component over a set of nodes, with the share of each node
/// in the entries of l. Of a mechanism it is the output.
pub struct MeanDisplacement<B: Backend> {
    name: String,
    case: usize,
    /// l, `[n_nodes][n]`, and l without its entries at held components.
    weights: B::Vector,
    load: B::Vector,
    /// u, or the adjoint state.
    state: B::Vector,
}

impl<B: Backend> MeanDisplacement<B> {
    /// In load case `case`, with l = `weights`, `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        backend: &B,
        problem: &Problem<K, N>,
        name: String,
        case: usize,
        mut weights: Vec<f64>,
    ) -> Result<Self, BackendError> {
        let nodes = problem.space();
        let total = backend.upload(&weights, nodes)?;
        problem.constraints().clear(&mut weights);
        Ok(Self {
            name,
            case,
            weights: total,
            load: backend.upload(&weights, nodes)?,
            state: backend.zeros(nodes)?,
        })
    }
}

impl<B: Pointwise + Sync> Response<B> for MeanDisplacement<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        at.equation.total_state(self.case, &mut self.state);
        at.backend.value(&at.backend.dot(&self.weights, &self.state))
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let Self { name, case, load, state, .. } = self;
        at.equation.solve_adjoint(name, load, state, monitor)?;
        at.backend.fill(0.0, gradient);
        Ok(at.equation.add_adjoint_gradient(*case, state, at.density, gradient)?)
    }
}

/// (sum_n |u_n|^p)^(1/p) over a set of nodes in a load case: at least their largest displacement,
/// and at most its n^(1/p)-fold. States come to the host for it.
pub struct LargestDisplacement<B: Backend> {
    name: String,
    case: usize,
    nodes: Vec<u32>,
    exponent: f64,
    /// Whether a component is free, at those of the nodes, `[nodes][n]`.
    is_free: Vec<bool>,
    space: Space,
    /// u, or the adjoint state, `[n_nodes][n]`.
    state: B::Vector,
}

impl<B: Backend> LargestDisplacement<B> {
    /// Of `nodes` in load case `case`, with p = `exponent` > 1.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        backend: &B,
        problem: &Problem<K, N>,
        name: String,
        case: usize,
        (nodes, exponent): (Vec<u32>, f64),
    ) -> Result<Self, BackendError> {
        let held = problem.constraints();
        let is_free = |&node: &u32| (0..N).map(move |i| !held.is_fixed(node as usize, i));
        Ok(Self {
            name,
            case,
            is_free: nodes.iter().flat_map(is_free).collect(),
            nodes,
            exponent,
            space: problem.space(),
            state: backend.zeros(problem.space())?,
        })
    }
}

impl<B: Pointwise + Sync> LargestDisplacement<B> {
    /// u of the nodes, `[nodes][n]`.
    fn displacements(&mut self, at: &Evaluated<B>) -> Result<Vec<f64>, BackendError> {
        at.equation.total_state(self.case, &mut self.state);
        let u = at.backend.download(&self.state)?;
        let n = self.components();
        let of = |&node: &u32| u[n * node as usize..][..n].iter().copied();
        Ok(self.nodes.iter().flat_map(of).collect())
    }

    /// Unknowns of a node.
    fn components(&self) -> usize {
        self.is_free.len() / self.nodes.len()
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

impl<B: Pointwise + Sync> Response<B> for LargestDisplacement<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        let u = self.displacements(at)?;
        Ok(norm(&lengths(&u, self.components()), self.exponent))
    }

    /// dg/du_n = (|u_n| / g)^(p-1) u_n / |u_n|
    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let (u, n, p) = (self.displacements(at)?, self.components(), self.exponent);
        let lengths = lengths(&u, n);
        let norm = norm(&lengths, p);
        let mut load = vec![0.0; self.space.len()];
        for (k, (node, length)) in self.nodes.iter().zip(&lengths).enumerate() {
            let slope = if *length > 0.0 { (length / norm).powf(p - 1.0) / length } else { 0.0 };
            for i in (0..n).filter(|i| self.is_free[n * k + i]) {
                load[n * *node as usize + i] = slope * u[n * k + i];
            }
        }

        let load = at.backend.upload(&load, self.space)?;
        at.equation.solve_adjoint(&self.name, &load, &mut self.state, monitor)?;
        at.backend.fill(0.0, gradient);
        Ok(at.equation.add_adjoint_gradient(self.case, &self.state, at.density, gradient)?)
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

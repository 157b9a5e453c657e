//! The reference: plain loops over elements, K_e computed in every application, slow and clear. The
//! oracle of every other operator; no user reaches it.

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::set_coefficients;
use super::stored::{element_values, free_values, product, work};
use crate::{Discretization, ElementKernel, ElementMatrix, ElementOperator, ElementVector};

/// The plain operator.
#[derive(Debug)]
pub struct Reference<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    /// Coefficients, `[n_elements]` per term.
    coefficients: Vec<Vec<f64>>,
}

impl<'a, K: ElementKernel<N>, const N: usize> Reference<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let coefficients = vec![vec![0.0; problem.mesh().n_elements()]; K::TERMS];
        Self { problem, coefficients }
    }

    fn matrix(&self, term: usize, e: usize) -> ElementMatrix<N> {
        self.problem.kernel().matrix(term, &self.problem.elements().corners(e))
    }

    fn element_diagonal(&self, term: usize, e: usize) -> ElementVector<N> {
        let (ke, hex) = (self.matrix(term, e), &self.problem.mesh().hexes()[e]);
        let same_node = |a: usize| (0..8).filter(move |&b| hex[b] == hex[a]);
        let entry = |a: usize, i: usize| same_node(a).map(|b| ke[a][i][b][i]).sum();
        std::array::from_fn(|a| std::array::from_fn(|i| entry(a, i)))
    }

    /// Adds f(term, e) to the nodes of every element, then sets held components to `held(dof)`.
    fn assemble(
        &self,
        y: &mut [f64],
        f: impl Fn(usize, usize) -> ElementVector<N>,
        held: impl Fn(usize) -> f64,
    ) {
        y.fill(0.0);
        for (term, coefficients) in self.coefficients.iter().enumerate() {
            for (e, hex) in self.problem.mesh().hexes().iter().enumerate() {
                let f = f(term, e);
                for (a, &node) in hex.iter().enumerate() {
                    for i in 0..N {
                        y[N * node as usize + i] += coefficients[e] * f[a][i];
                    }
                }
            }
        }
        for dof in 0..y.len() {
            if self.problem.constraints().is_fixed(dof / N, dof % N) {
                y[dof] = held(dof);
            }
        }
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Reference<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<N>().0;
        let f = |term, e| product(&self.matrix(term, e), &free_values(self.problem, e, field));
        self.assemble(y, f, |dof| x[dof]);
    }

    fn cost(&self) -> Cost {
        Cost::default()
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for Reference<'_, K, N> {
    fn strategy(&self) -> &'static str {
        "reference"
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        set_coefficients(&mut self.coefficients, terms);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        self.assemble(out, |term, e| self.element_diagonal(term, e), |_| 1.0);
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        let (v, u) = (v.as_chunks::<N>().0, u.as_chunks::<N>().0);
        for (e, out) in out.iter_mut().enumerate() {
            let values = |field| element_values(self.problem.mesh(), e, field);
            *out = work(&self.matrix(term, e), &values(v), &values(u));
        }
    }
}

//! The reference: plain loops over elements, K_e computed in every application, slow and clear. The
//! oracle of every other operator; no user reaches it.

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::set_coefficients;
use super::stored::{element_values, free_values, product, work};
use crate::element_matrices::ElementMatrices;
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

    fn diagonal_of<const E: usize>(&self, term: usize, e: usize) -> ElementVector<N, E>
    where
        K: ElementMatrices<N, E>,
    {
        let (ke, nodes) = (self.matrix(term, e), self.problem.mesh().element(e));
        let same_node = |a: usize| (0..E).filter(move |&b| nodes[b] == nodes[a]);
        let entry = |a: usize, i: usize| same_node(a).map(|b| ke[a][i][b][i]).sum();
        std::array::from_fn(|a| std::array::from_fn(|i| entry(a, i)))
    }

    fn forces<const E: usize>(&self, term: usize, e: usize, x: &[[f64; N]]) -> ElementVector<N, E>
    where
        K: ElementMatrices<N, E>,
    {
        product(&self.matrix(term, e), &free_values(self.problem, e, x))
    }

    fn work<const E: usize>(&self, term: usize, e: usize, [v, u]: [&[[f64; N]]; 2]) -> f64
    where
        K: ElementMatrices<N, E>,
    {
        let values = |field| element_values(self.problem.mesh(), e, field);
        work(&self.matrix(term, e), &values(v), &values(u))
    }

    fn matrix<const E: usize>(&self, term: usize, e: usize) -> ElementMatrix<N, E>
    where
        K: ElementMatrices<N, E>,
    {
        self.problem.kernel().element_matrix(term, &self.problem.elements(), e)
    }

    fn are_tetrahedra(&self) -> bool {
        self.problem.elements().are_tetrahedra()
    }

    /// Adds f(term, e) to the nodes of every element, then sets held components to `held(dof)`.
    fn assemble<const E: usize>(
        &self,
        y: &mut [f64],
        f: impl Fn(usize, usize) -> ElementVector<N, E>,
        held: impl Fn(usize) -> f64,
    ) {
        y.fill(0.0);
        for (term, coefficients) in self.coefficients.iter().enumerate() {
            for (e, nodes) in self.problem.mesh().elements().enumerate() {
                let f = f(term, e);
                for (a, &node) in nodes.iter().enumerate() {
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
        match self.are_tetrahedra() {
            true => self.assemble(y, |term, e| self.forces::<10>(term, e, field), |dof| x[dof]),
            false => self.assemble(y, |term, e| self.forces::<8>(term, e, field), |dof| x[dof]),
        }
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
        match self.are_tetrahedra() {
            true => self.assemble(out, |term, e| self.diagonal_of::<10>(term, e), |_| 1.0),
            false => self.assemble(out, |term, e| self.diagonal_of::<8>(term, e), |_| 1.0),
        }
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        let fields = [v, u].map(|field| field.as_chunks::<N>().0);
        for (e, out) in out.iter_mut().enumerate() {
            *out = match self.are_tetrahedra() {
                true => self.work::<10>(term, e, fields),
                false => self.work::<8>(term, e, fields),
            };
        }
    }
}

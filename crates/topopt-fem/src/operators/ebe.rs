//! `ebe`: element by element with stored K_e [Ratnakar2022, Alg. 2].

use std::sync::Arc;

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::diagonal;
use super::set_coefficients;
use super::stored::{self, Stored};
use crate::patches::{Patch, Patches};
use crate::{Discretization, ElementKernel, ElementOperator};

/// The element-by-element operator; patches take the place of the thesis' atomics.
#[derive(Debug)]
pub struct Ebe<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    patches: Arc<Patches>,
    matrices: Stored<N>,
    /// Coefficients, `[n_elements]` per term.
    coefficients: Vec<Vec<f64>>,
}

impl<'a, K: ElementKernel<N>, const N: usize> Ebe<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let coefficients = vec![vec![0.0; problem.mesh().n_elements()]; K::TERMS];
        let matrices = stored::element_matrices(problem);
        Self { problem, patches: problem.patches(), matrices, coefficients }
    }

    fn add_forces(&self, patch: &Patch, field: &[[f64; N]], sums: &mut [[f64; N]]) {
        for (e, hex) in patch.elements.clone().zip(patch.locals::<8>()) {
            let u = stored::free_values(self.problem, e, field);
            for (matrices, coefficients) in self.matrices.iter().zip(&self.coefficients) {
                let f = stored::product(&matrices[e], &u);
                for (f, &node) in f.iter().zip(hex) {
                    for i in 0..N {
                        sums[node as usize][i] += coefficients[e] * f[i];
                    }
                }
            }
        }
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Ebe<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<N>().0;
        let constraints = self.problem.constraints();
        let add = |_: &mut (), patch: &Patch, sums: &mut [[f64; N]]| {
            self.add_forces(patch, field, sums);
        };
        self.patches.scatter(y, add, |node, sum| constraints.choose(node, field[node], sum));
    }

    fn cost(&self) -> Cost {
        let mesh = self.problem.mesh();
        let (elements, nodes) = (mesh.n_elements() as f64, mesh.n_nodes() as f64);
        let (entries, values) = ((64 * N * N) as f64, 8.0 * N as f64);
        let (terms, copies) = (K::TERMS as f64, self.patches.copies_per_node());
        Cost {
            bytes_read: elements * (terms * (entries * 8.0 + 8.0) + 48.0)
                + nodes * (values + (values + 4.0) * copies),
            bytes_written: nodes * (values + values * copies),
            flops: elements * terms * (2.0 * entries + 2.0 * values),
        }
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for Ebe<'_, K, N> {
    fn strategy(&self) -> &'static str {
        "ebe"
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        set_coefficients(&mut self.coefficients, terms);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        let coefficients: Vec<_> = self.coefficients.iter().collect();
        diagonal::by_patches(self.problem, &self.patches, &coefficients, out);
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        stored::works(self.problem, &self.matrices[term], [v, u], out);
    }
}

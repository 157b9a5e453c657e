//! `nbn`: node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].

use rayon::prelude::*;
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::set_coefficients;
use super::stored::{self, Stored};
use crate::{Discretization, ElementKernel, ElementOperator};

/// The node-by-node operator: each node gathers the rows of K_e of the elements around it.
#[derive(Debug)]
pub struct Nbn<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    adjacency: NodeToElements,
    matrices: Stored<N>,
    /// Coefficients, `[n_elements]` per term.
    coefficients: Vec<Vec<f64>>,
}

impl<'a, K: ElementKernel<N>, const N: usize> Nbn<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let coefficients = vec![vec![0.0; problem.mesh().n_elements()]; K::TERMS];
        let adjacency = NodeToElements::new(problem.mesh());
        Self { problem, adjacency, matrices: stored::element_matrices(problem), coefficients }
    }

    /// Writes `sum(node)` to the free components of every node, `held(node)` to the held ones.
    fn each_node(
        &self,
        y: &mut [f64],
        held: impl Fn(usize) -> [f64; N] + Sync,
        sum: impl Fn(usize) -> [f64; N] + Sync,
    ) {
        let constraints = self.problem.constraints();
        y.as_chunks_mut::<N>()
            .0
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(node, y)| *y = constraints.choose(node, held(node), sum(node)));
    }

    fn force(&self, node: usize, field: &[[f64; N]]) -> [f64; N] {
        let mut total = [0.0; N];
        for (e, a) in self.adjacency.of(node) {
            let e = e as usize;
            let u = stored::free_values(self.problem, e, field);
            for (matrices, coefficients) in self.matrices.iter().zip(&self.coefficients) {
                for (total, row) in total.iter_mut().zip(&matrices[e][a as usize]) {
                    *total += coefficients[e] * stored::dot(row, &u);
                }
            }
        }
        total
    }

    fn diagonal_at(&self, node: usize) -> [f64; N] {
        let mut total = [0.0; N];
        for (e, a) in self.adjacency.of(node) {
            let (e, a) = (e as usize, a as usize);
            let hex = &self.problem.mesh().hexes()[e];
            for b in (0..8).filter(|&b| hex[b] as usize == node) {
                for (matrices, coefficients) in self.matrices.iter().zip(&self.coefficients) {
                    for i in 0..N {
                        total[i] += coefficients[e] * matrices[e][a][i][b][i];
                    }
                }
            }
        }
        total
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Nbn<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<N>().0;
        self.each_node(y, |node| field[node], |node| self.force(node, field));
    }

    fn cost(&self) -> Cost {
        let mesh = self.problem.mesh();
        let (elements, nodes) = (mesh.n_elements() as f64, mesh.n_nodes() as f64);
        let (entries, values) = ((64 * N * N) as f64, 8.0 * N as f64);
        let terms = K::TERMS as f64;
        Cost {
            bytes_read: elements * (terms * (entries * 8.0 + 8.0) + 32.0 + 40.0)
                + nodes * (values + 8.0),
            bytes_written: nodes * values,
            flops: elements * terms * (2.0 * entries + 2.0 * values),
        }
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for Nbn<'_, K, N> {
    fn strategy(&self) -> &'static str {
        "nbn"
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        set_coefficients(&mut self.coefficients, terms);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        self.each_node(out, |_| [1.0; N], |node| self.diagonal_at(node));
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        stored::works(self.problem, &self.matrices[term], [v, u], out);
    }
}

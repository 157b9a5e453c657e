//! `nbn`: node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].

use rayon::prelude::*;
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::stored::{self, Stored};
use crate::{DIM, ElementOperator, Problem};

/// The node-by-node operator.
#[derive(Debug)]
pub struct Nbn<'a> {
    problem: &'a Problem,
    adjacency: NodeToElements,
    stiffness: Stored,
    moduli: Vec<f64>,
}

impl<'a> Nbn<'a> {
    /// The operator of `problem` with all moduli zero.
    pub fn new(problem: &'a Problem) -> Self {
        let moduli = vec![0.0; problem.mesh().n_elements()];
        let adjacency = NodeToElements::new(problem.mesh());
        Self { problem, adjacency, stiffness: stored::element_stiffnesses(problem), moduli }
    }

    /// Writes sum(node) for every node, keeping `held(node)` at held components.
    fn each_node(
        &self,
        y: &mut [f64],
        held: impl Fn(usize) -> [f64; DIM] + Sync,
        sum: impl Fn(usize) -> [f64; DIM] + Sync,
    ) {
        let supports = self.problem.supports();
        y.as_chunks_mut::<DIM>()
            .0
            .par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(node, y)| *y = supports.choose(node, held(node), sum(node)));
    }
}

impl LinearOperator<Cpu> for Nbn<'_> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<DIM>().0;
        let sum = |node| {
            let mut total = [0.0; DIM];
            for (e, a) in self.adjacency.of(node) {
                let e = e as usize;
                let u = stored::element_displacements(self.problem, e, field);
                for i in 0..DIM {
                    let row = &self.stiffness[e][DIM * a as usize + i];
                    total[i] += self.moduli[e] * stored::dot(row, &u);
                }
            }
            total
        };
        self.each_node(y, |node| field[node], sum);
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) = (self.moduli.len() as f64, self.problem.n_dofs() as f64 / 3.0);
        Cost {
            bytes_read: elements * (576.0 * 8.0 + 8.0 + 32.0 + 40.0) + nodes * (24.0 + 8.0),
            bytes_written: nodes * 24.0,
            flops: elements * (2.0 * 576.0 + 48.0),
        }
    }
}

impl ElementOperator<Cpu> for Nbn<'_> {
    fn strategy(&self) -> &'static str {
        "nbn"
    }

    fn set_moduli(&mut self, moduli: &Vec<f64>) {
        self.moduli.copy_from_slice(moduli);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        let sum = |node| {
            let mut total = [0.0; DIM];
            for (e, a) in self.adjacency.of(node) {
                let (e, a) = (e as usize, a as usize);
                let hex = &self.problem.mesh().hexes()[e];
                for b in (0..8).filter(|&b| hex[b] as usize == node) {
                    for i in 0..DIM {
                        total[i] += self.moduli[e] * self.stiffness[e][DIM * a + i][DIM * b + i];
                    }
                }
            }
            total
        };
        self.each_node(out, |_| [1.0; DIM], sum);
    }

    fn element_energies(&self, u: &Vec<f64>, out: &mut Vec<f64>) {
        stored::energies(self.problem, &self.stiffness, u, out);
    }
}

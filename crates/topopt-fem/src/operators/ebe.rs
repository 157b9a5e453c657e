//! `ebe`: element by element with stored K_e [Ratnakar2022, Alg. 2].

use std::sync::Arc;

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::diagonal;
use super::stored::{self, Stored};
use crate::patches::{Patch, Patches};
use crate::{DIM, ElementOperator, Problem};

/// The element-by-element operator; patches take the place of the thesis' atomics.
#[derive(Debug)]
pub struct Ebe<'a> {
    problem: &'a Problem,
    patches: Arc<Patches>,
    stiffness: Stored,
    moduli: Vec<f64>,
}

impl<'a> Ebe<'a> {
    /// The operator of `problem` with all moduli zero.
    pub fn new(problem: &'a Problem) -> Self {
        let moduli = vec![0.0; problem.mesh().n_elements()];
        let stiffness = stored::element_stiffnesses(problem);
        Self { problem, patches: problem.patches(), stiffness, moduli }
    }
}

impl LinearOperator<Cpu> for Ebe<'_> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<DIM>().0;
        let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; DIM]]| {
            for (e, hex) in patch.elements.clone().zip(&patch.hexes) {
                let u = stored::element_displacements(self.problem, e, field);
                let f = stored::product(&self.stiffness[e], &u);
                for (a, &node) in hex.iter().enumerate() {
                    for i in 0..DIM {
                        sums[node as usize][i] += self.moduli[e] * f[DIM * a + i];
                    }
                }
            }
        };
        let supports = self.problem.supports();
        self.patches.scatter(y, work, |node, sum| supports.choose(node, field[node], sum));
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) = (self.moduli.len() as f64, self.problem.n_dofs() as f64 / 3.0);
        let copies = self.patches.copies_per_node();
        Cost {
            bytes_read: elements * (576.0 * 8.0 + 8.0 + 48.0) + nodes * (24.0 + 28.0 * copies),
            bytes_written: nodes * (24.0 + 24.0 * copies),
            flops: elements * (2.0 * 576.0 + 48.0),
        }
    }
}

impl ElementOperator<Cpu> for Ebe<'_> {
    fn strategy(&self) -> &'static str {
        "ebe"
    }

    fn set_moduli(&mut self, moduli: &Vec<f64>) {
        self.moduli.copy_from_slice(moduli);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        diagonal::by_patches(self.problem, &self.patches, &self.moduli, out);
    }

    fn element_energies(&self, u: &Vec<f64>, out: &mut Vec<f64>) {
        stored::energies(self.problem, &self.stiffness, u, out);
    }
}

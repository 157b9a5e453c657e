//! The reference: plain loops over elements, K_e computed anew, slow and clear. The oracle of
//! every other operator; no user reaches it.

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::stored::{element_displacements, element_values, energy, product};
use crate::stiffness::{ELEMENT_DOFS, element_stiffness};
use crate::{DIM, ElementOperator, Problem};

/// The plain operator.
#[derive(Debug)]
pub struct Reference<'a> {
    problem: &'a Problem,
    moduli: Vec<f64>,
}

impl<'a> Reference<'a> {
    /// The operator of `problem` with all moduli zero.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem, moduli: vec![0.0; problem.mesh().n_elements()] }
    }

    fn stiffness(&self, e: usize) -> [[f64; ELEMENT_DOFS]; ELEMENT_DOFS] {
        element_stiffness(&self.problem.mesh().element_coordinates(e), self.problem.material())
    }

    /// Adds f(e) to the nodes of every element, then sets held components to `held(dof)`.
    fn assemble(
        &self,
        y: &mut [f64],
        f: impl Fn(usize) -> [f64; ELEMENT_DOFS],
        held: impl Fn(usize) -> f64,
    ) {
        y.fill(0.0);
        for (e, hex) in self.problem.mesh().hexes().iter().enumerate() {
            let f = f(e);
            for (a, &node) in hex.iter().enumerate() {
                for i in 0..DIM {
                    y[DIM * node as usize + i] += self.moduli[e] * f[DIM * a + i];
                }
            }
        }
        for dof in 0..y.len() {
            if self.problem.supports().is_fixed(dof / DIM, dof % DIM) {
                y[dof] = held(dof);
            }
        }
    }
}

impl LinearOperator<Cpu> for Reference<'_> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<DIM>().0;
        let f = |e| product(&self.stiffness(e), &element_displacements(self.problem, e, field));
        self.assemble(y, f, |dof| x[dof]);
    }

    fn cost(&self) -> Cost {
        Cost::default()
    }
}

impl ElementOperator<Cpu> for Reference<'_> {
    fn strategy(&self) -> &'static str {
        "reference"
    }

    fn set_moduli(&mut self, moduli: &Vec<f64>) {
        self.moduli.copy_from_slice(moduli);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        let f = |e| {
            let (ke, hex) = (self.stiffness(e), &self.problem.mesh().hexes()[e]);
            let same_node = |i: usize| (0..8).filter(move |&b| hex[b] == hex[i / DIM]);
            std::array::from_fn(|i| same_node(i).map(|b| ke[i][DIM * b + i % DIM]).sum())
        };
        self.assemble(out, f, |_| 1.0);
    }

    fn element_energies(&self, u: &Vec<f64>, out: &mut Vec<f64>) {
        let field = u.as_chunks::<DIM>().0;
        for (e, out) in out.iter_mut().enumerate() {
            *out = energy(&self.stiffness(e), &element_values(self.problem.mesh(), e, field));
        }
    }
}

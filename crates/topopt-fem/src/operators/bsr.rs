//! `bsr`: the assembled matrix of N x N blocks in compressed rows.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rayon::prelude::*;
use topopt_linalg::{BlockCsr, Cost, Cpu, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::assembly::{RowElements, pattern};
use super::mf;
use crate::patches::Patches;
use crate::{Discretization, ElementKernel, ElementOperator};

/// The assembled operator.
#[derive(Debug)]
pub struct Bsr<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    patches: Arc<Patches>,
    elements: RowElements,
    matrix: Matrix<N>,
}

/// The matrix, which a preconditioner may read as well.
#[derive(Debug)]
struct Matrix<const N: usize>(Arc<RwLock<BlockCsr<N>>>);

impl<'a, K: ElementKernel<N>, const N: usize> Bsr<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let adjacency = NodeToElements::new(problem.mesh());
        let matrix = BlockCsr::zeros(pattern(problem.mesh(), &adjacency));
        let mut operator = Self {
            problem,
            patches: problem.patches(),
            elements: RowElements::new(problem.mesh(), &adjacency),
            matrix: Matrix(Arc::new(RwLock::new(matrix))),
        };
        operator.set_coefficients(&[]);
        operator
    }
}

impl<const N: usize> Matrix<N> {
    fn read(&self) -> RwLockReadGuard<'_, BlockCsr<N>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<const N: usize> LinearOperator<Cpu> for Matrix<N> {
    fn space(&self) -> Space {
        Space::nodes(self.read().pattern().n_rows(), N)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.read().apply(x, y);
    }

    fn cost(&self) -> Cost {
        self.read().cost()
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Bsr<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.matrix.apply(x, y);
    }

    fn cost(&self) -> Cost {
        self.matrix.cost()
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for Bsr<'_, K, N> {
    fn strategy(&self) -> &'static str {
        "bsr"
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        let Self { problem, elements, matrix, .. } = self;
        let (kernel, constraints) = (problem.kernel(), problem.constraints());
        let mut matrix = matrix.0.write().unwrap_or_else(PoisonError::into_inner);
        elements.assemble(kernel, &problem.elements(), constraints, terms, &mut matrix);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        let matrix = self.matrix.read();
        let out = out.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(1024);
        out.enumerate().for_each(|(row, out)| {
            let block = matrix.diagonal_block(row);
            *out = std::array::from_fn(|i| block[i][i]);
        });
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        mf::works_by_patches(self.problem, &self.patches, term, [v, u], out);
    }

    fn assembled(&self) -> Option<Box<dyn LinearOperator<Cpu>>> {
        Some(Box::new(Matrix(self.matrix.0.clone())))
    }
}

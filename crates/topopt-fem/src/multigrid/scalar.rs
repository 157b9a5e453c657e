//! Multigrid for one unknown a node, by the same aggregates with a constant each, on the CPU.

use topopt_linalg::{
    BlockCsr, BlockPattern, Cpu, Hierarchy, InverseDiagonal, LinearOperator, SmootherKind, Transfer,
};

use super::coarse::BlockLevels;
use super::{Aggregates, DIRECT};
use crate::DIM;

/// The hierarchy of an assembled matrix with one unknown a node, whose smooth fields are constant
/// about a node.
pub(crate) struct ScalarAggregation {
    levels: BlockLevels<'static, 1>,
}

impl ScalarAggregation {
    /// The structure for matrices of `pattern`, with nodes at `positions`; the matrix is zero.
    pub fn new(positions: &[[f64; DIM]], pattern: BlockPattern) -> Self {
        let mut aggregates = vec![Aggregates::greedy(positions, &pattern)];
        let mut patterns = vec![pattern];
        loop {
            let (finest, last) = (&patterns[patterns.len() - 1], &aggregates[aggregates.len() - 1]);
            let (before, now) = (finest.n_rows(), last.len());
            patterns.push(last.graph(finest));
            if now <= DIRECT || now == before {
                break;
            }
            aggregates.push(Aggregates::greedy(last.centers(), &patterns[patterns.len() - 1]));
        }
        Self { levels: BlockLevels::new(patterns, aggregates, SmootherKind::Chebyshev, &[]) }
    }

    /// Recomputes all numbers, those of the finest matrix by `fill`.
    pub fn update(&mut self, fill: impl FnOnce(&mut BlockCsr<1>)) {
        self.levels.update(fill);
    }
}

impl Hierarchy<Cpu> for ScalarAggregation {
    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        self.levels.operator(level)
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        self.levels.inverse_diagonal(level)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        self.levels.transfer(level)
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.levels.solve_last(b, x);
    }
}

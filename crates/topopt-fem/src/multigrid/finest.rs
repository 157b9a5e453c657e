//! Smoother of the finest level: diagonal blocks of its operator, or patches of its matrix.

use topopt_linalg::{BlockDiagonal, PatchMatrix, SmootherKind};
use topopt_mesh::NodeToElements;

use super::Aggregates;
use crate::operators::assembly::{self, RowElements};
use crate::{Discretization, ElementKernel};

/// Data of the finest level, by kind of smoother.
pub(super) enum Finest<const N: usize> {
    /// The inverse diagonal of an operator of any kind.
    Operator(BlockDiagonal<N>),
    /// The assembled matrix in patches of whole aggregates.
    Matrix(Box<Assembled<N>>),
}

/// A matrix and how it is assembled.
pub(super) struct Assembled<const N: usize> {
    elements: RowElements,
    pub level: PatchMatrix<N>,
}

impl<const N: usize> Finest<N> {
    /// Zeros for `problem` with nodes in `aggregates`.
    pub fn new<K: ElementKernel<N>>(
        problem: &Discretization<K, N>,
        smoother: SmootherKind,
        aggregates: &Aggregates,
    ) -> Self {
        if smoother == SmootherKind::Chebyshev {
            return Self::Operator(BlockDiagonal::zeros(problem.space()));
        }
        let adjacency = NodeToElements::new(problem.mesh());
        let pattern = assembly::pattern(problem.mesh(), &adjacency);
        let groups = Some(aggregates.members());
        Self::Matrix(Box::new(Assembled {
            elements: RowElements::new(problem.mesh(), &adjacency),
            level: PatchMatrix::zeros(pattern, problem.space(), groups),
        }))
    }

    /// The inverse diagonal.
    pub fn inverse_diagonal(&self) -> &BlockDiagonal<N> {
        match self {
            Self::Operator(diagonal) => diagonal,
            Self::Matrix(matrix) => &matrix.level.inverse_diagonal,
        }
    }

    /// Inverse diagonal, mutable, to be filled.
    pub fn inverse_diagonal_mut(&mut self) -> &mut BlockDiagonal<N> {
        match self {
            Self::Operator(diagonal) => diagonal,
            Self::Matrix(matrix) => &mut matrix.level.inverse_diagonal,
        }
    }
}

impl<const N: usize> Assembled<N> {
    /// Sums up the matrix of `problem` with its springs for `coefficients`, `[n_elements]` by term.
    pub fn assemble<K: ElementKernel<N>>(
        &mut self,
        problem: &Discretization<K, N>,
        coefficients: &[&Vec<f64>],
    ) {
        let Self { elements, level } = self;
        let (kernel, constraints) = (problem.kernel(), problem.constraints());
        let matrix = &mut level.matrix;
        elements.assemble(kernel, &problem.elements(), constraints, coefficients, matrix);
        if let Some(springs) = constraints.springs() {
            matrix.add_diagonal(springs.as_chunks().0);
        }
    }

    /// Bytes that it takes beside an inverse diagonal: of a row 27 blocks, where they stand and
    /// which patch they belong to, and what a step makes and the smoother works on.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        let of_patches = (27 * 8 + 8 * N * (2 + 4) + 24) * n_nodes;
        of_patches + assembly::bytes::<N>(n_nodes, n_elements)
    }
}

//! Host part of a multigrid on the device: the structure.

use topopt_fem::{Aggregation, Discretization, ElementKernel, Sharing};
use topopt_linalg::{Backend, BackendError, SmootherKind};

/// Most unknowns of the level that is solved directly, at least and at most: more than on the CPU,
/// as a level costs more than a product with its inverse.
const DIRECT: [usize; 2] = [600, 2600];

/// Rows from which a product reads half of the blocks and adds to rows in no fixed order: the caches
/// of a GPU hold the blocks of fewer.
const LEAST_HALVED: usize = 10_000;

/// Structure and smoother for [`Multigrid`](super::Multigrid), made on the host while the device may work.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) structure: Aggregation,
    /// Smoother of the finest level.
    pub(super) smoother: SmootherKind,
    /// Rows of a level from which its products read the blocks above the diagonal alone.
    pub(super) least_halved: usize,
}

impl Prepared {
    /// Hierarchy that is still to be built, for `problem`.
    pub fn new<K: ElementKernel<N>, const N: usize>(problem: &Discretization<K, N>) -> Self {
        Self::with_structure(Aggregation::new(problem, direct(problem.n_dofs())))
    }

    /// Hierarchy with a given structure.
    pub fn with_structure(structure: Aggregation) -> Self {
        let smoother = SmootherKind::Chebyshev;
        Self { structure, smoother, least_halved: LEAST_HALVED }
    }

    /// Sets the smoother of the finest level.
    pub fn smoothed_by(self, smoother: SmootherKind) -> Self {
        Self { smoother, ..self }
    }

    /// Sets the rows of a level from which its products read the blocks above the diagonal alone, where
    /// sums need no fixed order.
    pub fn halved_from(self, least_halved: usize) -> Self {
        Self { least_halved, ..self }
    }
}

/// Most unknowns of the last level for `n_dofs` on the finest. The inverse of that level, whose
/// cost grows with the cube of their number, then takes a tenth of a solve.
pub(super) fn direct(n_dofs: usize) -> usize {
    let [least, most] = DIRECT;
    (15 * (n_dofs as f64).cbrt() as usize).clamp(least, most)
}

/// The structure of a hierarchy on the device for `problem`, which is that of a part, with the other ranks.
///
/// # Errors
/// [`BackendError`] if another rank has failed.
pub fn structure_of_part<'a, B: Backend, K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    others: &dyn Sharing<'a, B>,
) -> Result<Aggregation, BackendError> {
    structure(problem, problem.void(), Some(others))
}

/// The structure of a hierarchy on the device around the elements `void` of `problem`, which is
/// that of a part where there are other ranks.
pub(super) fn structure<'a, B: Backend, K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    void: &[u32],
    others: Option<&dyn Sharing<'a, B>>,
) -> Result<Aggregation, BackendError> {
    let Some(others) = others else {
        return Ok(Aggregation::around(problem, void, direct(problem.n_dofs())));
    };
    let mut n_dofs = [(N * others.part().n_own_nodes) as f64];
    others.communicator().sum(&mut n_dofs);
    Aggregation::on_part(problem, others, void, direct(n_dofs[0] as usize))
}

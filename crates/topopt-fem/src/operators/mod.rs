//! K(E) u on the CPU, by strategy.

mod diagonal;
mod ebe;
mod mf;
mod nbn;
mod nodal_blocks;
mod reference;
mod stored;
mod trilinear;

use topopt_linalg::Cpu;

pub(crate) use diagonal::inverse_blocks_by_patches;
pub(crate) use nodal_blocks::{load_coefficients, load_coordinates};
pub(crate) use trilinear::{
    DETERMINANT_SCALE, Derivatives, GRADIENT_SCALE, LaneGroup, Matrix, NODE, at_point, cofactors,
    derivatives, derivatives_transposed, from_group, slots, times, to_group,
};

pub use crate::lanes::{Lanes, MAX_LANES};
pub use ebe::Ebe;
pub use mf::Mf;
pub use nbn::Nbn;
pub use nodal_blocks::Gradients;
pub use reference::Reference;
pub use trilinear::Nodal;

use crate::{Discretization, ElementKernel, ElementOperator};

/// How K u is computed on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Matrix-free: nothing stored, geometry from the coordinates, sum-factorized.
    Mf,
    /// Element by element with stored K_e [Ratnakar2022, Alg. 2].
    Ebe,
    /// Node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].
    Nbn,
}

impl Strategy {
    /// All strategies; the first is what `auto` means on the CPU.
    pub const ALL: [Strategy; 3] = [Strategy::Mf, Strategy::Ebe, Strategy::Nbn];

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Mf => "mf",
            Strategy::Ebe => "ebe",
            Strategy::Nbn => "nbn",
        }
    }

    /// Bytes that the operator of `problem` stores, beside the mesh and the vectors.
    pub fn bytes<K: ElementKernel<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let coefficients = 8 * K::TERMS * n_elements;
        // Patches hold 16 bytes per element and some 1.6 copies per node of its values and a number.
        let copies = (16 * (4 + 8 * N)).div_ceil(10);
        let patches = 16 * n_elements + (8 + copies) * n_nodes;
        let adjacency = 40 * n_elements + 8 * n_nodes;
        coefficients
            + match self {
                Strategy::Mf => patches,
                Strategy::Ebe => stored::bytes::<K, N>(n_elements) + patches,
                Strategy::Nbn => stored::bytes::<K, N>(n_elements) + adjacency,
            }
    }

    /// The operator of `problem` with all coefficients zero.
    pub fn build<K: ElementKernel<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> Box<dyn ElementOperator<Cpu> + '_> {
        match self {
            Strategy::Mf => Box::new(Mf::new(problem)),
            Strategy::Ebe => Box::new(Ebe::new(problem)),
            Strategy::Nbn => Box::new(Nbn::new(problem)),
        }
    }
}

/// Replaces the fields of all terms.
fn set_coefficients(own: &mut [Vec<f64>], terms: &[&Vec<f64>]) {
    debug_assert_eq!(own.len(), terms.len());
    own.iter_mut().zip(terms).for_each(|(own, term)| own.copy_from_slice(term));
}

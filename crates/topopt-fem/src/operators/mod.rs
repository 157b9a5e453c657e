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
pub(crate) use nodal_blocks::{Gradients, load_coordinates, load_lame};
pub(crate) use trilinear::{LaneGroup, element_forces, from_group, to_group};

pub use ebe::Ebe;
pub use mf::Mf;
pub use nbn::Nbn;
pub use reference::Reference;

use crate::{ElementOperator, Problem};

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

    /// Bytes that the operator stores for a mesh of that size, beside the mesh and the vectors.
    pub fn bytes(self, n_nodes: usize, n_elements: usize) -> usize {
        let moduli = 8 * n_elements;
        // Patches hold 16 bytes an element and some 1.6 copies a node of 28 bytes.
        let patches = 16 * n_elements + 53 * n_nodes;
        let adjacency = 40 * n_elements + 8 * n_nodes;
        moduli
            + match self {
                Strategy::Mf => patches,
                Strategy::Ebe => stored::bytes(n_elements) + patches,
                Strategy::Nbn => stored::bytes(n_elements) + adjacency,
            }
    }

    /// The operator of `problem` with all moduli zero.
    pub fn build(self, problem: &Problem) -> Box<dyn ElementOperator<Cpu> + '_> {
        match self {
            Strategy::Mf => Box::new(Mf::new(problem)),
            Strategy::Ebe => Box::new(Ebe::new(problem)),
            Strategy::Nbn => Box::new(Nbn::new(problem)),
        }
    }
}

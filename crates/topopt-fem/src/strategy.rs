//! The operators of the CPU by name.

use topopt_linalg::Cpu;
use topopt_mesh::cells::Shape;

use crate::operators::{Bsr, Ebe, Mf, Nbn, assembly, stored};
use crate::with_capacity::{OverHexahedra, OverTetrahedra};
use crate::with_films::WithFilms;
use crate::{Discretization, ElementKernel, ElementOperator, Elements, FilmRows};

/// An operator of the processor.
pub type CpuOperator<'a> = Box<dyn ElementOperator<Cpu> + 'a>;

/// How K u is computed on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Matrix-free: nothing stored, geometry from the coordinates, sum-factorized.
    Mf,
    /// Element by element with stored K_e [Ratnakar2022, Alg. 2].
    Ebe,
    /// Node by node with stored K_e and the reverse connectivity [Ratnakar2022, Alg. 3].
    Nbn,
    /// The assembled matrix of N x N blocks.
    Bsr,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Strategy; 4] = [Strategy::Mf, Strategy::Ebe, Strategy::Nbn, Strategy::Bsr];

    /// The strategies that compute these elements; the first is the one that stores least.
    pub fn of(elements: &Elements) -> &'static [Self] {
        match elements.mesh().shape() {
            Shape::Tetrahedron => &[Self::Mf],
            _ => &Self::ALL,
        }
    }

    /// The fastest one with N unknowns per node, which `auto` means on the CPU: with one of them a
    /// row of the assembled matrix takes less to read than its elements take to compute. It is not
    /// measured in a run, so that a run has the same bits every time.
    pub const fn fastest<const N: usize>() -> Self {
        if N == 1 { Strategy::Bsr } else { Strategy::Mf }
    }

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Mf => "mf",
            Strategy::Ebe => "ebe",
            Strategy::Nbn => "nbn",
            Strategy::Bsr => "bsr",
        }
    }

    /// Bytes that the operator of `problem` stores, beside the mesh and the vectors.
    pub fn bytes<K: ElementKernel<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> usize {
        let (n_nodes, n_elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let coefficients = 8 * K::TERMS * n_elements;
        // Patches: 16 bytes per element and, per node, some 1.6 copies of its values and number.
        let copies = (16 * (4 + 8 * N)).div_ceil(10);
        let patches = 16 * n_elements + (8 + copies) * n_nodes;
        let adjacency = 40 * n_elements + 8 * n_nodes;
        let films = FilmRows::bytes(problem.constraints().films().len());
        let consistent = match (problem.is_capacity_consistent(), problem.mesh().shape()) {
            (false, _) => 0,
            (true, Shape::Tetrahedron) => OverTetrahedra::bytes(problem),
            (true, _) => OverHexahedra::bytes(problem),
        };
        coefficients
            + films
            + consistent
            + match self {
                Strategy::Mf => patches,
                Strategy::Ebe => stored::bytes::<K, N>(n_elements) + patches,
                Strategy::Nbn => stored::bytes::<K, N>(n_elements) + adjacency,
                Strategy::Bsr => assembly::bytes::<N>(n_nodes, n_elements) + patches,
            }
    }

    /// Builds the operator of any kernel, with its films and all coefficients zero, compiled where it
    /// is called; one of those [of](Strategy::of) its elements.
    pub fn of_kernel<K: ElementKernel<N>, const N: usize>(
        self,
        problem: &Discretization<K, N>,
    ) -> CpuOperator<'_> {
        let of_elements: CpuOperator<'_> = match self {
            Strategy::Mf => Box::new(Mf::new(problem)),
            Strategy::Ebe => Box::new(Ebe::new(problem)),
            Strategy::Nbn => Box::new(Nbn::new(problem)),
            Strategy::Bsr => Box::new(Bsr::new(problem)),
        };
        let with_capacity = match (problem.is_capacity_consistent(), problem.mesh().shape()) {
            (false, _) => of_elements,
            (true, Shape::Tetrahedron) => Box::new(OverTetrahedra::new(problem, of_elements)),
            (true, _) => Box::new(OverHexahedra::new(problem, of_elements)),
        };
        match problem.film_rows() {
            Some(rows) => Box::new(WithFilms::new(with_capacity, rows)),
            None => with_capacity,
        }
    }
}

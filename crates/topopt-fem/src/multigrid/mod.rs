//! Multigrid for elasticity by plain aggregation with rigid-body modes, on the CPU.
//!
//! Nodes are grouped into aggregates by the mesh alone, once. The prolongation of an aggregate is
//! its six rigid motions; rigid motions carry no energy, so only elements that touch several
//! aggregates or a support make coarse stiffness. It is recomputed whenever the moduli change.
//! Coarser levels aggregate the aggregates, again with six rigid motions each.

mod aggregates;
mod bounds;
mod coarse;
mod fine;
mod galerkin;
mod joints;
mod node_graph;
mod scalar;
mod structure;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use topopt_linalg::{
    BackendError, BlockDiagonal, Cpu, Cycle, CycleKind, Hierarchy, InverseDiagonal, LinearOperator,
    Preconditioner, Transfer,
};
use topopt_mesh::vector::difference;

use crate::operators::{Mf, inverse_blocks_by_patches};
use crate::{DIM, ElementOperator, ElementPreconditioner, Level, Problem, WithSprings};
use coarse::BlockLevels;
use fine::FineTransfer;
use galerkin::RowGroups;

pub use aggregates::Aggregates;
pub use bounds::element_bounds;
pub use joints::{Joints, Supported};
pub(crate) use scalar::ScalarAggregation;
pub use structure::Aggregation;

/// Rigid-body modes of an aggregate.
pub const MODES: usize = 6;
/// Iterations that take as long as a structure, on two cores: 0.4 s at 90 thousand elements.
const STRUCTURE_COST: usize = 8;
/// Most unknowns of the level that is solved directly, on the CPU.
const DIRECT: usize = 600;

/// `multigrid`: a cycle over rigid-body aggregation.
pub struct Multigrid<'a> {
    problem: &'a Problem,
    cycle: Cycle<Cpu, RigidAggregation<'a>>,
    levels: Vec<Level>,
}

/// The hierarchy; level 0 is the matrix-free operator, the others are block matrices.
pub struct RigidAggregation<'a> {
    problem: &'a Problem,
    operator: WithSprings<'a, Cpu, Mf<'a>>,
    inverse_diagonal: BlockDiagonal<DIM>,
    transfer: FineTransfer<'a>,
    row_groups: RowGroups,
    /// See [`element_bounds`]: by them the smoother's blocks are raised, so that no eigenvalue exceeds 1.
    bounds: Vec<f32>,
    /// Levels 1 and on.
    coarse: BlockLevels<MODES>,
}

impl<'a> Multigrid<'a> {
    /// The structure for `problem`, with cycles of that kind; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(problem: &'a Problem, kind: CycleKind) -> Result<Self, BackendError> {
        let structure = Aggregation::new(problem, DIRECT);
        let levels = structure.levels();
        let hierarchy = RigidAggregation::new(problem, structure)?;
        Ok(Self { problem, cycle: Cycle::new(&Cpu, kind, hierarchy)?, levels })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &RigidAggregation<'a> {
        self.cycle.hierarchy()
    }

    /// Bytes that a hierarchy takes at most, for a mesh of that size.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        // A node: its work vectors (96), diagonal blocks and the copies that they are summed from
        // (125), its place (40), and what the setup needs for a while (53). An element: its modulus, its
        // entry in some 1.1 groups of rows, and its share of an aggregate of some 30 nodes with up to
        // 27 neighbors (320), of which there are fewer near the surface, where nodes have fewer elements.
        314 * n_nodes + 349 * n_elements
    }
}

impl<'a> RigidAggregation<'a> {
    fn new(problem: &'a Problem, structure: Aggregation) -> Result<Self, BackendError> {
        let Aggregation { nodes, coarser, straddling, patterns, .. } = structure;
        Ok(Self {
            problem,
            operator: WithSprings::new(&Cpu, problem, Box::new(Mf::new(problem)))?,
            inverse_diagonal: BlockDiagonal::zeros(problem.space()),
            transfer: FineTransfer { problem, aggregates: nodes },
            row_groups: RowGroups::new(problem, &straddling),
            bounds: element_bounds(problem.mesh(), problem.material()),
            coarse: BlockLevels::new(patterns, coarser),
        })
    }

    /// Takes another structure of the same problem; needs an update before use.
    fn restructure(&mut self, structure: Aggregation) {
        let Aggregation { nodes, coarser, straddling, patterns, .. } = structure;
        self.transfer = FineTransfer { problem: self.problem, aggregates: nodes };
        self.row_groups = RowGroups::new(self.problem, &straddling);
        self.coarse = BlockLevels::new(patterns, coarser);
    }

    /// Recomputes all numbers for `moduli`.
    fn update(&mut self, moduli: &Vec<f64>) {
        let Self { problem, operator, inverse_diagonal, transfer, row_groups, bounds, coarse } =
            self;
        operator.set_moduli(moduli);

        // The blocks that bound those of K, see `bounds`.
        let raised: Vec<f64> =
            moduli.par_iter().zip(&*bounds).map(|(e, &bound)| e * f64::from(bound)).collect();
        let patches = operator.elements().patches();
        inverse_blocks_by_patches(problem, patches, &raised, inverse_diagonal);

        coarse.update(|matrix| galerkin::galerkin(transfer, row_groups, moduli, matrix));
    }
}

impl Hierarchy<Cpu> for RigidAggregation<'_> {
    fn n_levels(&self) -> usize {
        1 + self.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cpu> {
        match level {
            0 => &self.operator,
            _ => self.coarse.matrix(level - 1),
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cpu> {
        match level {
            0 => &self.inverse_diagonal,
            _ => self.coarse.inverse_diagonal(level - 1),
        }
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cpu> {
        match level {
            0 => &self.transfer,
            _ => self.coarse.transfer(level - 1),
        }
    }

    fn solve_last(&self, b: &Vec<f64>, x: &mut Vec<f64>) {
        self.coarse.solve_last(b, x);
    }
}

impl Preconditioner<Cpu> for Multigrid<'_> {
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.cycle.apply(backend, r, z);
    }

    fn strengthen(&self) -> bool {
        self.cycle.strengthen()
    }
}

impl ElementPreconditioner<Cpu> for Multigrid<'_> {
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn structure_cost(&self) -> Option<usize> {
        Some(STRUCTURE_COST)
    }

    fn restructure(&mut self, backend: &Cpu, void: &[u32]) -> Result<(), BackendError> {
        let structure = Aggregation::around(self.problem, void, DIRECT);
        self.levels = structure.levels();
        self.cycle.rebuild(backend, |hierarchy| {
            hierarchy.restructure(structure);
            Ok(())
        })
    }

    fn update(
        &mut self,
        backend: &Cpu,
        _: &dyn ElementOperator<Cpu>,
        moduli: &Vec<f64>,
    ) -> Result<(), BackendError> {
        self.cycle.reset_strength();
        self.cycle.update(backend, |hierarchy| hierarchy.update(moduli));
        Ok(())
    }
}

/// The displacement at offset `r` of the rigid motion (translation, rotation): t + w x r.
fn rigid_displacement(motion: &[f64; MODES], r: [f64; DIM]) -> [f64; DIM] {
    let [tx, ty, tz, wx, wy, wz] = *motion;
    [tx + wy * r[2] - wz * r[1], ty + wz * r[0] - wx * r[2], tz + wx * r[1] - wy * r[0]]
}

/// The transpose: a force at offset `r` as (force, moment).
fn rigid_force(f: [f64; DIM], r: [f64; DIM]) -> [f64; MODES] {
    [
        f[0],
        f[1],
        f[2],
        r[1] * f[2] - r[2] * f[1],
        r[2] * f[0] - r[0] * f[2],
        r[0] * f[1] - r[1] * f[0],
    ]
}

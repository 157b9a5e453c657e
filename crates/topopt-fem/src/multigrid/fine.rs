//! Between the nodes and the first level of aggregates.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, Cpu, Transfer};

use super::{Aggregates, MODES, rigid_displacement, rigid_force};
use crate::operators::{LaneGroup, Lanes, MAX_LANES, element_forces, from_group, to_group};
use crate::{DIM, Problem};

/// The prolongation: aggregate and offset of every node; zero at held components.
pub(super) struct FineTransfer<'a> {
    pub problem: &'a Problem,
    pub aggregates: Aggregates,
}

impl FineTransfer<'_> {
    /// block += P^T S P of one aggregate, for springs S, \[n_nodes\]\[3\].
    fn add_springs(
        &self,
        springs: &[[f64; DIM]],
        aggregate: usize,
        block: &mut [[f64; MODES]; MODES],
    ) {
        let members = self.aggregates.members()[aggregate].iter().map(|&node| node as usize);
        let offsets = self.aggregates.offsets();
        for node in members.filter(|&node| springs[node] != [0.0; DIM]) {
            for mode in 0..MODES {
                let mut motion = [0.0; MODES];
                motion[mode] = 1.0;
                let u = rigid_displacement(&motion, offsets[node]);
                let force = std::array::from_fn(|i| springs[node][i] * u[i]);
                let total = rigid_force(force, offsets[node]);
                (0..MODES).for_each(|i| block[mode][i] += total[i]);
            }
        }
    }
}

impl Transfer<Cpu> for FineTransfer<'_> {
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let fine = fine.as_chunks::<DIM>().0;
        let supports = self.problem.supports();
        let sum = |(coarse, members): (&mut [f64; MODES], &Vec<u32>)| {
            *coarse = [0.0; MODES];
            for &node in members {
                let node = node as usize;
                let force = supports.free_part(node, fine[node]);
                let force = rigid_force(force, self.aggregates.offsets()[node]);
                (0..MODES).for_each(|i| coarse[i] += force[i]);
            }
        };
        let coarse = coarse.as_chunks_mut::<MODES>().0.par_iter_mut().with_min_len(64);
        coarse.zip(self.aggregates.members()).for_each(sum);
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<MODES>().0;
        let supports = self.problem.supports();
        let add = |(node, fine): (usize, &mut [f64; DIM])| {
            let motion = &coarse[self.aggregates.of()[node] as usize];
            let u = supports
                .free_part(node, rigid_displacement(motion, self.aggregates.offsets()[node]));
            (0..DIM).for_each(|i| fine[i] += u[i]);
        };
        fine.as_chunks_mut::<DIM>().0.par_iter_mut().with_min_len(4096).enumerate().for_each(add);
    }
}

/// coarse = P^T (K + S) P for moduli `moduli` and springs S, a row an aggregate: row l is
/// ((K + S) P_l)^T P, to which the elements `straddling[l]` and the springs of its nodes contribute.
pub(super) fn galerkin(
    transfer: &FineTransfer,
    straddling: &[Vec<u32>],
    moduli: &[f64],
    coarse: &mut BlockCsr<MODES>,
) {
    let arch = Arch::new();
    let springs = transfer.problem.supports().springs();
    coarse.fill_rows(|row, columns, blocks| {
        let elements = &straddling[row];
        arch.dispatch(Row { transfer, moduli, row, elements, columns, blocks });
        if let Some(springs) = springs {
            let place = columns.binary_search(&(row as u32)).unwrap_or_default();
            transfer.add_springs(springs.as_chunks().0, row, &mut blocks[place]);
        }
    });
}

/// One block row of the coarse matrix.
struct Row<'a> {
    transfer: &'a FineTransfer<'a>,
    moduli: &'a [f64],
    row: usize,
    elements: &'a [u32],
    columns: &'a [u32],
    blocks: &'a mut [[[f64; MODES]; MODES]],
}

impl WithSimd for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let problem = self.transfer.problem;
        let mesh = problem.mesh();
        let lame = problem.material().unit_lame();
        for elements in self.elements.chunks(S::F64_LANES) {
            let mut x: LaneGroup = [[0.0; MAX_LANES]; 24];
            let mut moduli = [0.0; MAX_LANES];
            for lane in 0..S::F64_LANES {
                // Lanes without an element repeat the last one, with modulus 0.
                let e = elements[lane.min(elements.len() - 1)] as usize;
                moduli[lane] = if lane < elements.len() { self.moduli[e] } else { 0.0 };
                let nodes = mesh.hexes()[e];
                for a in 0..8 {
                    let position = mesh.coordinates()[nodes[a] as usize];
                    for i in 0..DIM {
                        x[DIM * a + i][lane] = position[i];
                    }
                }
            }
            let x = from_group(simd, &x);
            let moduli = Lanes::load(simd, &moduli);
            for mode in 0..MODES {
                let mut u: LaneGroup = [[0.0; MAX_LANES]; 24];
                for (lane, &e) in elements.iter().enumerate() {
                    self.mode_of(mode, e as usize, lane, &mut u);
                }
                let mut forces: LaneGroup = [[0.0; MAX_LANES]; 24];
                let f = element_forces(simd, &x, &from_group(simd, &u), moduli, lame);
                to_group(&f, &mut forces);
                for (lane, &e) in elements.iter().enumerate() {
                    let force = |a: usize| std::array::from_fn(|i| forces[DIM * a + i][lane]);
                    add_forces(self.transfer, self.columns, mode, e, force, self.blocks);
                }
            }
        }
    }
}

impl Row<'_> {
    /// The displacements of element `e` when the aggregate of this row moves in `mode`.
    fn mode_of(&self, mode: usize, e: usize, lane: usize, u: &mut LaneGroup) {
        let mut motion = [0.0; MODES];
        motion[mode] = 1.0;
        let FineTransfer { problem, aggregates } = self.transfer;
        for (a, &node) in problem.mesh().hexes()[e].iter().enumerate() {
            let node = node as usize;
            if aggregates.of()[node] as usize == self.row {
                let value = rigid_displacement(&motion, aggregates.offsets()[node]);
                let value = problem.supports().free_part(node, value);
                (0..DIM).for_each(|i| u[DIM * a + i][lane] = value[i]);
            }
        }
    }
}

/// Adds the forces of one element to row `mode` of the blocks of the aggregates that they act on;
/// `force(a)` is that at local node a.
fn add_forces(
    transfer: &FineTransfer,
    columns: &[u32],
    mode: usize,
    e: u32,
    force: impl Fn(usize) -> [f64; DIM],
    blocks: &mut [[[f64; MODES]; MODES]],
) {
    let FineTransfer { problem, aggregates } = transfer;
    for (a, &node) in problem.mesh().hexes()[e as usize].iter().enumerate() {
        let node = node as usize;
        let place = columns.binary_search(&aggregates.of()[node]).unwrap_or_default();
        let force = problem.supports().free_part(node, force(a));
        let total = rigid_force(force, aggregates.offsets()[node]);
        (0..MODES).for_each(|i| blocks[place][mode][i] += total[i]);
    }
}

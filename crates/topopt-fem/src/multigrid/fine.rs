//! Between the nodes and the first level of aggregates.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_linalg::{BlockCsr, BlockPattern, Cpu, Transfer};

use super::aggregates::Aggregates;
use super::{MODES, difference, rigid_displacement, rigid_force};
use crate::operators::{LaneGroup, Lanes, MAX_LANES, element_forces, from_group, to_group};
use crate::patches::{Patch, Patches};
use crate::stiffness::element_diagonal_blocks;
use crate::{DIM, Problem};

/// The prolongation: aggregate and offset of every node; zero at held components.
pub(super) struct FineTransfer<'a> {
    problem: &'a Problem,
    of: Vec<u32>,
    offsets: Vec<[f64; DIM]>,
    members: Vec<Vec<u32>>,
}

impl<'a> FineTransfer<'a> {
    pub fn new(problem: &'a Problem, aggregates: &Aggregates) -> Self {
        let centre = |node: usize| aggregates.centres[aggregates.of[node] as usize];
        let coordinates = problem.mesh().coordinates();
        let offsets = coordinates.iter().enumerate().map(|(n, &x)| difference(x, centre(n)));
        let mut members = vec![Vec::new(); aggregates.centres.len()];
        for (node, &aggregate) in aggregates.of.iter().enumerate() {
            members[aggregate as usize].push(node as u32);
        }
        Self { problem, offsets: offsets.collect(), members, of: aggregates.of.clone() }
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
                let force = rigid_force(force, self.offsets[node]);
                (0..MODES).for_each(|i| coarse[i] += force[i]);
            }
        };
        let coarse = coarse.as_chunks_mut::<MODES>().0.par_iter_mut().with_min_len(64);
        coarse.zip(&self.members).for_each(sum);
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<MODES>().0;
        let supports = self.problem.supports();
        let add = |(node, fine): (usize, &mut [f64; DIM])| {
            let motion = &coarse[self.of[node] as usize];
            let u = supports.free_part(node, rigid_displacement(motion, self.offsets[node]));
            (0..DIM).for_each(|i| fine[i] += u[i]);
        };
        fine.as_chunks_mut::<DIM>().0.par_iter_mut().with_min_len(4096).enumerate().for_each(add);
    }
}

/// The elements that make coarse stiffness: those that touch several aggregates or a support.
pub(super) struct Straddling {
    /// Of every aggregate, the elements that touch it.
    elements: Vec<Vec<u32>>,
    arch: Arch,
}

impl Straddling {
    pub fn new(problem: &Problem, aggregates: &Aggregates) -> Self {
        let supports = problem.supports();
        let mut elements = vec![Vec::new(); aggregates.centres.len()];
        for (e, hex) in problem.mesh().hexes().iter().enumerate() {
            let mut touched = hex.map(|node| aggregates.of[node as usize]);
            touched.sort_unstable();
            let is_held = |node: u32| (0..DIM).any(|i| supports.is_fixed(node as usize, i));
            if touched[0] != touched[7] || hex.iter().any(|&node| is_held(node)) {
                for (k, &aggregate) in touched.iter().enumerate() {
                    if k == 0 || touched[k - 1] != aggregate {
                        elements[aggregate as usize].push(e as u32);
                    }
                }
            }
        }
        Self { elements, arch: Arch::new() }
    }

    /// Where the blocks of the coarse matrix stand.
    pub fn pattern(&self, problem: &Problem, aggregates: &Aggregates) -> BlockPattern {
        let hexes = problem.mesh().hexes();
        let row = |(row, elements): (usize, &Vec<u32>)| {
            let nodes = elements.iter().flat_map(|&e| hexes[e as usize]);
            let mut columns: Vec<u32> = nodes.map(|n| aggregates.of[n as usize]).collect();
            columns.push(row as u32);
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        BlockPattern::new(self.elements.par_iter().enumerate().map(row).collect())
    }

    /// coarse = P^T K P for moduli `moduli`, a row an aggregate: row l is (K P_l)^T P.
    pub fn fill(
        &self,
        problem: &Problem,
        transfer: &FineTransfer,
        moduli: &[f64],
        coarse: &mut BlockCsr<MODES>,
    ) {
        coarse.fill_rows(|row, columns, blocks| {
            let elements = &self.elements[row];
            self.arch.dispatch(Row { problem, transfer, moduli, row, elements, columns, blocks });
        });
    }
}

/// One block row of the coarse matrix.
struct Row<'a> {
    problem: &'a Problem,
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
        let mesh = self.problem.mesh();
        let lame = self.problem.material().unit_lame();
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
                    add_forces(
                        self.transfer,
                        self.problem,
                        self.columns,
                        mode,
                        e as usize,
                        lane,
                        &forces,
                        self.blocks,
                    );
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
        for (a, &node) in self.problem.mesh().hexes()[e].iter().enumerate() {
            let node = node as usize;
            if self.transfer.of[node] as usize == self.row {
                let value = rigid_displacement(&motion, self.transfer.offsets[node]);
                let value = self.problem.supports().free_part(node, value);
                (0..DIM).for_each(|i| u[DIM * a + i][lane] = value[i]);
            }
        }
    }
}

/// Adds the forces of one element to row `mode` of the blocks of the aggregates that they act on.
#[allow(clippy::too_many_arguments)] // the pieces of a row, borrowed apart
fn add_forces(
    transfer: &FineTransfer,
    problem: &Problem,
    columns: &[u32],
    mode: usize,
    e: usize,
    lane: usize,
    forces: &LaneGroup,
    blocks: &mut [[[f64; MODES]; MODES]],
) {
    for (a, &node) in problem.mesh().hexes()[e].iter().enumerate() {
        let node = node as usize;
        let place = columns.binary_search(&transfer.of[node]).unwrap_or_default();
        let force = std::array::from_fn(|i| forces[DIM * a + i][lane]);
        let force = problem.supports().free_part(node, force);
        let total = rigid_force(force, transfer.offsets[node]);
        (0..MODES).for_each(|i| blocks[place][mode][i] += total[i]);
    }
}

/// The 3x3 diagonal blocks of K, with the identity at held components, \[n_nodes\].
pub(super) fn diagonal_blocks(
    problem: &Problem,
    patches: &Patches,
    moduli: &[f64],
) -> Vec<[[f64; DIM]; DIM]> {
    // Symmetric blocks as (xx, yy, zz, xy, yz, zx).
    let mut sums = vec![0.0; 6 * problem.mesh().n_nodes()];
    let work = |_: &mut (), patch: &Patch, sums: &mut [[f64; 6]]| {
        for (e, hex) in patch.elements.clone().zip(&patch.hexes) {
            let x = problem.mesh().element_coordinates(e);
            let blocks = element_diagonal_blocks(&x, problem.material());
            for (a, &node) in hex.iter().enumerate() {
                (0..6).for_each(|i| sums[node as usize][i] += moduli[e] * blocks[a][i]);
            }
        }
    };
    patches.scatter(&mut sums, work, |_, sum| sum);
    let block = |(node, s): (usize, &[f64; 6])| {
        let mut block = [[s[0], s[3], s[5]], [s[3], s[1], s[4]], [s[5], s[4], s[2]]];
        for i in (0..DIM).filter(|&i| problem.supports().is_fixed(node, i)) {
            (0..DIM).for_each(|j| (block[i][j], block[j][i]) = (0.0, 0.0));
            block[i][i] = 1.0;
        }
        block
    };
    sums.as_chunks::<6>().0.iter().enumerate().map(block).collect()
}

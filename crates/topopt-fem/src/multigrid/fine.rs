//! The prolongation between the nodes and the first level of aggregates.

use rayon::prelude::*;
use topopt_linalg::{Cpu, Transfer};

use super::{Aggregates, MODES, rigid_displacement, rigid_force};
use crate::{DIM, Problem};

/// The prolongation: aggregate and offset of every node; zero at held components.
pub(super) struct FineTransfer<'a> {
    pub problem: &'a Problem,
    pub aggregates: Aggregates,
}

impl FineTransfer<'_> {
    /// block += P^T S P of one aggregate, for springs S, \[n_nodes\]\[3\].
    pub fn add_springs(
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

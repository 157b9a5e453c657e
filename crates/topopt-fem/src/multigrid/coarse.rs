//! Between levels of aggregates: rigid motions of aggregates of aggregates.

use rayon::prelude::*;
use topopt_linalg::{BlockCsr, Cpu, Transfer};

use super::{Aggregates, MODES, rigid_displacement, rigid_force};

/// The transfer between a level of aggregates and the next.
pub(super) struct CoarseTransfer {
    pub aggregates: Aggregates,
}

impl CoarseTransfer {
    /// The motion of child `child` when its parent moves by `motion`.
    fn child_motion(&self, child: usize, motion: &[f64; MODES]) -> [f64; MODES] {
        let [x, y, z] = rigid_displacement(motion, self.aggregates.offsets()[child]);
        [x, y, z, motion[3], motion[4], motion[5]]
    }

    /// The transpose: force and moment on a child as force and moment on its parent.
    fn parent_force(&self, child: usize, force: &[f64; MODES]) -> [f64; MODES] {
        let mut total =
            rigid_force([force[0], force[1], force[2]], self.aggregates.offsets()[child]);
        (3..MODES).for_each(|i| total[i] += force[i]);
        total
    }
}

impl Transfer<Cpu> for CoarseTransfer {
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let fine = fine.as_chunks::<MODES>().0;
        let sum = |(coarse, members): (&mut [f64; MODES], &Vec<u32>)| {
            *coarse = [0.0; MODES];
            for &child in members {
                let force = self.parent_force(child as usize, &fine[child as usize]);
                (0..MODES).for_each(|i| coarse[i] += force[i]);
            }
        };
        let coarse = coarse.as_chunks_mut::<MODES>().0.par_iter_mut().with_min_len(256);
        coarse.zip(self.aggregates.members()).for_each(sum);
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<MODES>().0;
        let add = |(child, fine): (usize, &mut [f64; MODES])| {
            let motion = self.child_motion(child, &coarse[self.aggregates.of()[child] as usize]);
            (0..MODES).for_each(|i| fine[i] += motion[i]);
        };
        fine.as_chunks_mut::<MODES>().0.par_iter_mut().with_min_len(256).enumerate().for_each(add);
    }
}

/// coarse = P^T A P.
pub(super) fn galerkin(
    a: &BlockCsr<MODES>,
    transfer: &CoarseTransfer,
    coarse: &mut BlockCsr<MODES>,
) {
    coarse.fill_rows(|row, columns, blocks| {
        for &child in &transfer.aggregates.members()[row] {
            let child = child as usize;
            for (&other, block) in a.pattern().row(child).iter().zip(a.row(child)) {
                let column = transfer.aggregates.of()[other as usize];
                let place = columns.binary_search(&column).unwrap_or_default();
                add_product(transfer, child, block, other as usize, &mut blocks[place]);
            }
        }
    });
}

/// target += P_i^T A_ij P_j, mode by mode of the parent of j.
fn add_product(
    transfer: &CoarseTransfer,
    i: usize,
    block: &[[f64; MODES]; MODES],
    j: usize,
    target: &mut [[f64; MODES]; MODES],
) {
    for mode in 0..MODES {
        let mut unit = [0.0; MODES];
        unit[mode] = 1.0;
        let motion = transfer.child_motion(j, &unit);
        let force: [f64; MODES] =
            std::array::from_fn(|r| (0..MODES).map(|c| block[r][c] * motion[c]).sum());
        let total = transfer.parent_force(i, &force);
        (0..MODES).for_each(|r| target[r][mode] += total[r]);
    }
}

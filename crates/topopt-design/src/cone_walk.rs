//! The cone-weighted sum by walking a cell list, for several elements at a time.
//!
//! Consecutive points of a row of cells are a group, one a lane, and each point near the group is
//! added to the sums of all lanes, with weight 0 where it is too far. So every element has its
//! neighbors in the order of the cells, whatever the lanes: as if it were alone.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use topopt_mesh::CellList;

/// Most lanes of any machine.
const MAX_LANES: usize = 8;

/// y_e = sum_i max(0, radius - |c_e - c_i|) x_i for points c in `cells`.
pub(crate) fn apply(cells: &CellList, radius: f64, x: &[f64], y: &mut [f64]) {
    let arch = Arch::new();
    let values: Vec<f64> = cells.ids().par_iter().map(|&id| x[id as usize]).collect();
    let mut sums = vec![0.0; values.len()];
    let mut rows = Vec::with_capacity(cells.n_rows());
    let mut rest = sums.as_mut_slice();
    for row in 0..cells.n_rows() {
        let points = cells.row(row);
        let (mine, others) = rest.split_at_mut(points.len());
        rows.push((points, mine));
        rest = others;
    }
    let values = values.as_slice();
    rows.into_par_iter().for_each(|(points, sums)| {
        arch.dispatch(Row { cells, radius, values, points, sums });
    });
    for (&id, sum) in cells.ids().iter().zip(&sums) {
        y[id as usize] = *sum;
    }
}

/// The sums of the points of a row of cells.
struct Row<'a> {
    cells: &'a CellList,
    radius: f64,
    /// Values to sum, cell by cell.
    values: &'a [f64],
    points: Range<usize>,
    sums: &'a mut [f64],
}

impl WithSimd for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { cells, radius, values, points, sums } = self;
        let (zero, radius) = (simd.splat_f64s(0.0), simd.splat_f64s(radius));

        let groups = cells.points()[points].chunks(S::F64_LANES);
        for (group, sums) in groups.zip(sums.chunks_mut(S::F64_LANES)) {
            // Lanes without a point repeat the last one.
            let mut lanes = [[0.0; MAX_LANES]; 3];
            let (mut low, mut high) = (group[0], group[0]);
            for lane in 0..S::F64_LANES {
                let point = &group[lane.min(group.len() - 1)];
                for i in 0..3 {
                    lanes[i][lane] = point[i];
                    low[i] = low[i].min(point[i]);
                    high[i] = high[i].max(point[i]);
                }
            }
            let [px, py, pz] = [0, 1, 2].map(|i| S::as_simd_f64s(&lanes[i]).0[0]);

            let mut total = zero;
            for run in cells.runs_near(low, high) {
                for (point, &value) in cells.points()[run.clone()].iter().zip(&values[run]) {
                    // In the order of a plain sum and not fused, for the same bits.
                    let dx = simd.sub_f64s(simd.splat_f64s(point[0]), px);
                    let dy = simd.sub_f64s(simd.splat_f64s(point[1]), py);
                    let dz = simd.sub_f64s(simd.splat_f64s(point[2]), pz);
                    let square = simd.add_f64s(simd.mul_f64s(dx, dx), simd.mul_f64s(dy, dy));
                    let square = simd.add_f64s(square, simd.mul_f64s(dz, dz));
                    let weight = simd.sub_f64s(radius, simd.sqrt_f64s(square));
                    let weight = simd.max_f64s(weight, zero);
                    let value = simd.splat_f64s(value);
                    total = simd.add_f64s(total, simd.mul_f64s(weight, value));
                }
            }

            // The last group may have fewer points than there are lanes.
            let mut found = [0.0; MAX_LANES];
            S::as_mut_simd_f64s(&mut found).0[0] = total;
            sums.copy_from_slice(&found[..sums.len()]);
        }
    }
}

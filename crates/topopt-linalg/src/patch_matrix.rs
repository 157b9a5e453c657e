//! A matrix of N x N blocks with its inverse block diagonal, perhaps in patches, on the CPU.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::{
    BlockCsr, BlockDiagonal, BlockPattern, Cpu, Growth, PatchRelaxation, PatchStep, Patches,
    Residue, Space, inner_factors,
};

/// The matrix of a level of a hierarchy.
pub struct PatchMatrix<const N: usize> {
    /// A.
    pub matrix: BlockCsr<N>,
    /// D^-1.
    pub inverse_diagonal: BlockDiagonal<N>,
    /// Patches of the rows, and what a step makes of each, patch by patch: r and d.
    patches: Option<(Patches, Mutex<Made<N>>)>,
}

/// Residuals and steps in the order of the patches, `[n_rows][N]` each.
struct Made<const N: usize> {
    r: Vec<[f64; N]>,
    d: Vec<[f64; N]>,
}

/// Work arrays of one patch.
#[derive(Default)]
struct Local<const N: usize> {
    /// The blocks of A_I, row after row, as `Patches::inside` lists them.
    blocks: Vec<[[f64; N]; N]>,
    r: Vec<[f64; N]>,
    rest: Vec<[f64; N]>,
    d: Vec<[f64; N]>,
    z: Vec<[f64; N]>,
}

impl<const N: usize> PatchMatrix<N> {
    /// Zeros in `pattern` with a diagonal of `space`, in patches of `groups` of rows if there are any.
    pub fn zeros(pattern: BlockPattern, space: Space, groups: Option<&[Vec<u32>]>) -> Self {
        let patches = groups.map(|groups| {
            let zeros = || vec![[0.0; N]; pattern.n_rows()];
            let made = Mutex::new(Made { r: zeros(), d: zeros() });
            (Patches::of_groups(&pattern, N, groups), made)
        });
        let inverse_diagonal = BlockDiagonal::zeros(space);
        Self { matrix: BlockCsr::zeros(pattern), inverse_diagonal, patches }
    }

    /// The matrix as what relaxes by patches, if it is in patches.
    pub fn relaxation(&self) -> Option<&dyn PatchRelaxation<Cpu>> {
        self.patches.is_some().then_some(self as _)
    }

    /// Reads the blocks of A_I of a patch.
    fn load(&self, patches: &Patches, own: &Range<usize>, blocks: &mut Vec<[[f64; N]; N]>) {
        blocks.clear();
        let places = patches.inside(own).iter();
        blocks.extend(places.map(|&[block, _]| self.matrix.blocks()[block as usize]));
    }

    /// r in a patch, whose blocks have been read, from the residual that is `left` and x `now`.
    fn read_residual(
        &self,
        patches: &Patches,
        own: &Range<usize>,
        residue: &Residue<Vec<f64>>,
        [left, now]: [&[[f64; N]]; 2],
        local: &mut Local<N>,
    ) {
        let Local { blocks, r, d, .. } = local;
        let rows = &patches.order()[own.clone()];
        let before = match residue {
            Residue::OfZero { b } | Residue::Of { b } => b.as_chunks::<N>().0,
            Residue::Left => left,
        };

        r.clear();
        r.extend(rows.iter().map(|&row| before[row as usize]));
        if let Residue::Of { .. } = residue {
            d.clear();
            d.extend(rows.iter().map(|&row| now[row as usize]));
            subtract_inside(patches, own, blocks, d, r);
            for (place, r) in own.clone().zip(r) {
                self.subtract_blocks(patches.outside(place), now, r);
            }
        }
    }

    /// z = M^-1 r in a patch, whose blocks have been read; D^-1 A grows by 1 / `scale`.
    fn invert_patch(
        &self,
        patches: &Patches,
        own: &Range<usize>,
        scale: f64,
        local: &mut Local<N>,
    ) {
        let Local { blocks, r, rest, d, z } = local;
        rest.clone_from(r);
        z.clear();
        z.resize(r.len(), [0.0; N]);
        d.clone_from(z);

        let rows = &patches.order()[own.clone()];
        for (k, [alpha, beta]) in inner_factors().into_iter().enumerate() {
            if k > 0 {
                subtract_inside(patches, own, blocks, d, rest);
            }
            for (((rest, d), z), &row) in rest.iter().zip(&mut *d).zip(&mut *z).zip(rows) {
                let step = self.inverse_diagonal.product(row as usize, rest);
                for c in 0..N {
                    d[c] = alpha * scale * step[c] + beta * d[c];
                    z[c] += d[c];
                }
            }
        }
    }

    /// y = y - the blocks at `places` times x.
    fn subtract_blocks(&self, places: &[u32], x: &[[f64; N]], y: &mut [f64; N]) {
        for &block in places {
            let column = self.matrix.pattern().columns()[block as usize];
            subtract(&self.matrix.blocks()[block as usize], &x[column as usize], y);
        }
    }

    /// Calls `work` for every patch with the places of its rows and their slices of r and d.
    fn by_patches(
        &self,
        patches: &Patches,
        made: &mut Made<N>,
        work: impl Fn(&mut Local<N>, Range<usize>, &mut [[f64; N]], &mut [[f64; N]]) + Sync,
    ) {
        let (mut r, mut d) = (made.r.as_mut_slice(), made.d.as_mut_slice());
        let mut all = Vec::with_capacity(patches.len());
        for patch in patches.starts().windows(2) {
            let (of_r, of_d);
            (of_r, r) = r.split_at_mut((patch[1] - patch[0]) as usize);
            (of_d, d) = d.split_at_mut((patch[1] - patch[0]) as usize);
            all.push((patch[0] as usize..patch[1] as usize, of_r, of_d));
        }
        let patches = all.into_par_iter().with_min_len(8);
        patches.for_each_init(Local::default, |local, (own, r, d)| work(local, own, r, d));
    }
}

/// y = y - A_I x in a patch with the `blocks` of A_I.
fn subtract_inside<const N: usize>(
    patches: &Patches,
    own: &Range<usize>,
    blocks: &[[[f64; N]; N]],
    x: &[[f64; N]],
    y: &mut [[f64; N]],
) {
    let (mut blocks, mut columns) = (blocks, patches.inside(own));
    for (place, y) in own.clone().zip(y) {
        let (of_row, columns_of_row);
        (of_row, blocks) = blocks.split_at(patches.n_inside(place));
        (columns_of_row, columns) = columns.split_at(of_row.len());
        for (block, &[_, column]) in of_row.iter().zip(columns_of_row) {
            subtract(block, &x[column as usize], y);
        }
    }
}

/// y = y - block x.
#[inline(always)]
fn subtract<const N: usize>(block: &[[f64; N]; N], x: &[f64; N], y: &mut [f64; N]) {
    for i in 0..N {
        y[i] -= (0..N).map(|j| block[i][j] * x[j]).sum::<f64>();
    }
}

fn inverse_growth(growth: &Growth<f64>) -> f64 {
    (growth.start / growth.result).sqrt()
}

impl<const N: usize> PatchRelaxation<Cpu> for PatchMatrix<N> {
    fn invert(&self, growth: &Growth<f64>, r: &Vec<f64>, z: &mut Vec<f64>) {
        let Some((patches, made)) = &self.patches else { return };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        let r = r.as_chunks::<N>().0;
        self.by_patches(patches, &mut made, |local, own, _, out| {
            self.load(patches, &own, &mut local.blocks);
            local.r.clear();
            local.r.extend(patches.order()[own.clone()].iter().map(|&row| r[row as usize]));
            self.invert_patch(patches, &own, inverse_growth(growth), local);
            out.copy_from_slice(&local.z);
        });
        let z = z.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(4096);
        z.zip(patches.places()).for_each(|(z, &place)| *z = made.d[place as usize]);
    }

    fn relax(&self, step: &PatchStep<Cpu>, r: &mut Vec<f64>, d: &mut Vec<f64>, x: &mut Vec<f64>) {
        let Some((patches, made)) = &self.patches else { return };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        let PatchStep { residue, factors: [alpha, beta], inner, outer, stays } = step;
        let (alpha, beta) = (alpha * inverse_growth(outer), *beta);
        let [r, d, x] = [r, d, x].map(|v| v.as_chunks_mut::<N>().0);

        let (left, last, now) = (&*r, &*d, &*x);
        self.by_patches(patches, &mut made, |local, own, of_r, of_d| {
            let rows = &patches.order()[own.clone()];
            self.load(patches, &own, &mut local.blocks);
            self.read_residual(patches, &own, residue, [left, now], local);
            self.invert_patch(patches, &own, inverse_growth(inner), local);

            for ((d, z), &row) in of_d.iter_mut().zip(&local.z).zip(rows) {
                let before = if beta == 0.0 { [0.0; N] } else { last[row as usize] };
                *d = std::array::from_fn(|c| alpha * z[c] + beta * before[c]);
            }
            if *stays {
                of_r.copy_from_slice(&local.r);
                subtract_inside(patches, &own, &local.blocks, of_d, of_r);
            }
        });

        let from_zero = matches!(residue, Residue::OfZero { .. });
        let rows = d.par_iter_mut().zip(x).zip(patches.places()).with_min_len(4096);
        rows.for_each(|((d, x), &place)| {
            *d = made.d[place as usize];
            (0..N).for_each(|c| x[c] = if from_zero { d[c] } else { x[c] + d[c] });
        });

        if *stays {
            let rows = r.par_iter_mut().zip(patches.places()).with_min_len(256);
            rows.for_each(|(r, &place)| {
                *r = made.r[place as usize];
                self.subtract_blocks(patches.outside(place as usize), d, r);
            });
        }
    }
}

#[cfg(test)]
mod tests;

//! Orthonormal modes of aggregates \[VanekMandelBrezina1996\].
//!
//! Rigid motions of an aggregate whose points are few or in a line depend on each other. As
//! unknowns of a level they would make blocks that are singular but for rounding, which their
//! inverses take for softness. Modes that depend on others are left out, exactly.

use rayon::prelude::*;

use crate::DIM;

/// Share of a mode that has to be left when those before it are taken out of it.
const LEAST: f64 = 1e-6;

/// The modes Q of aggregates, such that Q R are their motions.
pub(super) struct Orthonormal<const B: usize, const M: usize> {
    /// Modes at every point.
    pub tentative: Vec<[[f64; M]; B]>,
    /// R of every aggregate: amplitudes of the modes, zero of those left out, for each motion.
    pub factors: Vec<[[f64; M]; M]>,
}

impl<const B: usize, const M: usize> Orthonormal<B, M> {
    /// Orthonormalizes the motions of `groups`, which cover the points, by point and group.
    pub fn of(groups: &[Vec<u32>], motions: impl Fn(usize, usize) -> [[f64; M]; B] + Sync) -> Self {
        let rows = |(number, group): (usize, &Vec<u32>)| -> Vec<[f64; M]> {
            group.iter().flat_map(|&point| motions(point as usize, number)).collect()
        };
        let of_groups: Vec<_> =
            groups.par_iter().enumerate().map(rows).map(orthonormalized).collect();

        let n_points = groups.iter().map(Vec::len).sum();
        let mut tentative = vec![[[0.0; M]; B]; n_points];
        for (group, (rows, _)) in groups.iter().zip(&of_groups) {
            for (&point, rows) in group.iter().zip(rows.as_chunks().0) {
                tentative[point as usize] = *rows;
            }
        }
        Self { tentative, factors: of_groups.into_iter().map(|(_, factor)| factor).collect() }
    }
}

/// Makes the columns of `rows` orthonormal, or zero where they depend on those before them, with
/// their factor R.
fn orthonormalized<const M: usize>(mut rows: Vec<[f64; M]>) -> (Vec<[f64; M]>, [[f64; M]; M]) {
    let product = |rows: &[[f64; M]], l: usize, m: usize| -> f64 {
        rows.iter().map(|row| row[l] * row[m]).sum()
    };
    // Translations and rotations have units of their own.
    let norms: [f64; M] = std::array::from_fn(|m| product(&rows, m, m).sqrt());
    let largest = |m: usize| norms.chunks(DIM).nth(m / DIM).unwrap_or_default();
    let size = |m: usize| largest(m).iter().copied().fold(0.0, f64::max);

    let mut factor = [[0.0; M]; M];
    for m in 0..M {
        for l in 0..m {
            factor[l][m] = product(&rows, l, m);
            rows.iter_mut().for_each(|row| row[m] -= factor[l][m] * row[l]);
        }
        let norm = product(&rows, m, m).sqrt();
        let is_new = norm > LEAST * size(m);
        let inverse = if is_new { norm.recip() } else { 0.0 };
        factor[m][m] = if is_new { norm } else { 0.0 };
        rows.iter_mut().for_each(|row| row[m] *= inverse);
    }
    (rows, factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multigrid::NodalModes;

    /// Rigid motions of points about the origin.
    fn motions(points: &[[f64; DIM]]) -> Orthonormal<DIM, 6> {
        let group: Vec<u32> = (0..points.len() as u32).collect();
        Orthonormal::of(&[group], |point, _| {
            let column = |m: usize| {
                let unit: [f64; 6] = std::array::from_fn(|k| f64::from(u8::from(k == m)));
                unit.at_node(points[point])
            };
            let columns: [[f64; DIM]; 6] = std::array::from_fn(column);
            std::array::from_fn(|i| std::array::from_fn(|m| columns[m][i]))
        })
    }

    #[test]
    fn modes_are_orthonormal_and_those_in_a_line_have_one_less() {
        let line = [[-0.3, 0.7, 0.2], [0.0; 3], [0.3, -0.7, -0.2]];
        let bent = [line[0], line[1], [0.3, -0.7, 0.1]];
        for (points, n_modes) in [(&line[..1], 3), (&line[..2], 5), (&line[..], 5), (&bent[..], 6)]
        {
            let Orthonormal { tentative, factors } = motions(points);
            let rows = tentative.as_flattened();
            for (l, m) in (0..36).map(|k| (k / 6, k % 6)) {
                let product: f64 = rows.iter().map(|row| row[l] * row[m]).sum();
                let is_mode = factors[0][m][m] > 0.0;
                let expected = f64::from(u8::from(l == m && is_mode));
                assert!((product - expected).abs() < 1e-12, "{l} {m}: {product}");
            }
            assert_eq!((0..6).filter(|&m| factors[0][m][m] > 0.0).count(), n_modes);

            // Q R is a rotation about x.
            for (rows, x) in tentative.iter().zip(points) {
                let moved = rows.map(|row| (0..6).map(|l| row[l] * factors[0][l][3]).sum::<f64>());
                let expected = [0.0, -x[2], x[1]];
                assert!((0..3).all(|i| (moved[i] - expected[i]).abs() < 1e-12), "{moved:?}");
            }
        }
    }
}

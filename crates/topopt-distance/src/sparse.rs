//! A sparse symmetric matrix and conjugate gradients [HestenesStiefel1952].

use rayon::prelude::*;

/// Entries of a sum that one thread adds up, so that sums do not depend on their number.
const CHUNK: usize = 4096;

/// Rows of columns and entries.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    /// First entry of each row, and the end of the last, `[n_rows + 1]`.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    entries: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Matrix {
    /// The matrix of `n` rows, `row(i)` with columns and entries in any order; entries of the same
    /// column are added in theirs.
    pub fn new(n: usize, row: impl Fn(usize) -> Vec<(u32, f64)> + Sync) -> Self {
        let rows = (0..n).into_par_iter().map(|i| merged(row(i)));
        let rows: Vec<Vec<(u32, f64)>> = rows.collect();

        let mut matrix = Self { offsets: vec![0], ..Self::default() };
        for (i, row) in rows.into_iter().enumerate() {
            let on_diagonal = row.iter().find(|(column, _)| *column as usize == i);
            matrix.diagonal.push(on_diagonal.map_or(0.0, |(_, entry)| *entry));
            matrix.columns.extend(row.iter().map(|(column, _)| column));
            matrix.entries.extend(row.iter().map(|(_, entry)| entry));
            matrix.offsets.push(matrix.columns.len());
        }
        matrix
    }

    /// Solves A x = b to a relative residual of `tolerance`, preconditioned by the diagonal.
    /// The solution and the number of iterations; none if there are more than `most`, or if the
    /// matrix is not positive definite.
    pub fn solve(&self, b: &[f64], tolerance: f64, most: usize) -> Option<(Vec<f64>, usize)> {
        let mut x = vec![0.0; b.len()];
        let mut r = b.to_vec();
        let enough = tolerance * tolerance * product(b, b);
        if enough == 0.0 {
            return Some((x, 0));
        }

        let mut p: Vec<f64> = r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect();
        let mut z = p.clone();
        let mut q = vec![0.0; b.len()];
        let mut r_z = product(&r, &z);
        for iteration in 1..=most {
            self.apply(&p, &mut q);
            let alpha = r_z / product(&p, &q);
            if !alpha.is_finite() || alpha < 0.0 {
                return None;
            }

            x.par_iter_mut().zip(&p).with_min_len(CHUNK).for_each(|(x, p)| *x += alpha * p);
            r.par_iter_mut().zip(&q).with_min_len(CHUNK).for_each(|(r, q)| *r -= alpha * q);
            if product(&r, &r) <= enough {
                return Some((x, iteration));
            }

            let scaled = z.par_iter_mut().zip(&r).zip(&self.diagonal).with_min_len(CHUNK);
            scaled.for_each(|((z, r), d)| *z = r / d);
            let previous = std::mem::replace(&mut r_z, product(&r, &z));
            let beta = r_z / previous;
            p.par_iter_mut().zip(&z).with_min_len(CHUNK).for_each(|(p, z)| *p = z + beta * *p);
        }
        None
    }

    /// y = A x.
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(i, y)| {
            let row = self.offsets[i]..self.offsets[i + 1];
            let terms = self.columns[row.clone()].iter().zip(&self.entries[row]);
            *y = terms.map(|(&column, entry)| entry * x[column as usize]).sum();
        });
    }
}

/// a . b.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let of_chunk = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum();
    let sums: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(of_chunk).collect();
    sums.iter().sum()
}

/// Adds `terms` of the same column, in their order.
fn merged(mut terms: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    terms.sort_by_key(|term| term.0);
    let mut merged: Vec<(u32, f64)> = Vec::with_capacity(terms.len() / 4);
    for (column, entry) in terms {
        match merged.last_mut().filter(|last| last.0 == column) {
            Some(last) => last.1 += entry,
            None => merged.push((column, entry)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_whose_terms_come_in_pieces() {
        // The second differences of 1, 4, 9, .. are 2; the ends are held.
        let n = 50;
        let row = |i: usize| {
            let neighbors = [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)];
            let springs = neighbors.into_iter().flatten().map(|j| (j as u32, -1.0));
            springs.chain([(i as u32, 1.5), (i as u32, 0.5)]).collect()
        };
        let squares: Vec<f64> = (1..=n).map(|i| (i * i) as f64).collect();
        let mut b = vec![-2.0; n];
        b[n - 1] += ((n + 1) * (n + 1)) as f64;

        let (x, iterations) = Matrix::new(n, row).solve(&b, 1e-12, 2 * n).unwrap();
        assert!(x.iter().zip(&squares).all(|(x, square)| (x - square).abs() < 1e-8));
        assert!(iterations <= n + 1);
        assert!(Matrix::new(n, row).solve(&b, 1e-12, 10).is_none());
        let indefinite = |i: usize| vec![(i as u32, 1.0), (1 - i as u32, 2.0)];
        assert!(Matrix::new(2, indefinite).solve(&[1.0, -1.0], 1e-12, 10).is_none());
    }
}

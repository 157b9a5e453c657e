//! Steps by patches against dense formulas.

use nalgebra::{DMatrix, DVector};

use super::*;
use crate::{Backend, LinearOperator};

const SIDE: usize = 6;
const ROWS: usize = SIDE * SIDE * SIDE;

/// Random numbers in [-0.5, 0.5).
fn number(i: usize, k: usize) -> f64 {
    ((7 * i + 13 * k + 1) as f64 * 0.754_877_666_246_692_8).fract() - 0.5
}

/// A positive definite matrix on the points of a cubic grid, which couples them along its lines, of springs
/// B B^T between points and to the ground; in patches of scattered and of neighboring points.
fn level<const N: usize>() -> PatchMatrix<N> {
    let at = |i: usize| [i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE];
    let beside = |i: usize, j: usize| {
        let (a, b) = (at(i), at(j));
        (0..3).map(|k| a[k].abs_diff(b[k])).sum::<usize>() == 1
    };
    let near = |i: usize| (0..ROWS).filter(move |&j| i == j || beside(i, j));
    let rows = (0..ROWS).map(|i| near(i).map(|j| j as u32).collect()).collect();
    let groups: Vec<Vec<u32>> = (0..ROWS as u32)
        .map(|i| (5 * i) % ROWS as u32)
        .collect::<Vec<_>>()
        .chunks(27)
        .map(<[u32]>::to_vec)
        .collect();
    let space = Space::level(ROWS, N);
    let mut level = PatchMatrix::zeros(BlockPattern::new(rows), space, Some(&groups));

    let spring = |i: usize, j: usize, r: usize, c: usize| {
        let pair = i.min(j) * ROWS + i.max(j);
        let size = 10f64.powi((pair % 3) as i32 - 1);
        size * (0..N).map(|k| number(pair, N * r + k) * number(pair, N * c + k)).sum::<f64>()
    };
    level.matrix.fill_rows(|i, columns, blocks| {
        let own = columns.binary_search(&(i as u32)).unwrap();
        for (place, &j) in columns.iter().enumerate() {
            for (r, c) in (0..N * N).map(|k| (k / N, k % N)) {
                let value = spring(i, j as usize, r, c);
                blocks[own][r][c] += value;
                if place != own {
                    blocks[place][r][c] -= value;
                }
            }
        }
    });
    let PatchMatrix { matrix, inverse_diagonal, .. } = &mut level;
    matrix.add_diagonal(&[[0.1; N]; ROWS]);
    inverse_diagonal.set_pseudo_inverses(|row| matrix.diagonal_block(row));
    level
}

fn growth(value: f64) -> Growth<f64> {
    Growth { result: value * value, start: 1.0 }
}

fn vector(seed: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| number(i, seed)).collect()
}

/// M^-1 by eigenvalues: with D^-1/2 A_I D^-1/2 = Q t Q^T it is D^-1/2 Q (1 - e(t)) / t Q^T D^-1/2,
/// e the Chebyshev polynomial over [1.1 growth / 8, 1.1 growth] that is 1 at 0.
fn dense_inverse<const N: usize>(level: &PatchMatrix<N>, growth: f64) -> DMatrix<f64> {
    let (patches, _) = level.patches.as_ref().unwrap();
    let mut patch_of = vec![0; ROWS];
    for (patch, own) in patches.starts().windows(2).enumerate() {
        let rows = &patches.order()[own[0] as usize..own[1] as usize];
        assert!(rows.len() <= Patches::most_rows(N));
        rows.iter().for_each(|&row| patch_of[row as usize] = patch);
    }
    let inside = |i: usize, j: usize| f64::from(patch_of[i / N] == patch_of[j / N]);
    let a = level.matrix.to_dense();
    let n = a.nrows();
    let a_i = DMatrix::from_fn(n, n, |i, j| a[(i, j)] * inside(i, j));
    let mut d = DMatrix::from_fn(n, n, |i, j| if i / N == j / N { a[(i, j)] } else { 0.0 });
    let of_d = std::mem::replace(&mut d, DMatrix::zeros(0, 0)).symmetric_eigen();
    let roots = of_d.eigenvalues.map(|v| v.powf(-0.5));
    let root = &of_d.eigenvectors * DMatrix::from_diagonal(&roots) * of_d.eigenvectors.transpose();

    let t = (&root * a_i * &root).symmetric_eigen();
    let (low, high) = (1.1 * growth / 8.0, 1.1 * growth);
    let third = |x: f64| 4.0 * x * x * x - 3.0 * x;
    let at = |t: f64| (0.5 * (high + low) - t) / (0.5 * (high - low));
    let inverted = t.eigenvalues.map(|t| (1.0 - third(at(t)) / third(at(0.0))) / t);
    let half = root * t.eigenvectors;
    &half * DMatrix::from_diagonal(&inverted) * half.transpose()
}

fn check<const N: usize>() {
    let level = level::<N>();
    let (n, inner, outer) = (N * ROWS, 1.9, 1.4);
    let (a, inverse) = (level.matrix.to_dense(), dense_inverse(&level, inner));
    let size = inverse.amax();
    let (inner, outer) = (&growth(inner), &growth(outer));

    // M^-1, whose eigenvalues are not negative.
    let mut z = vec![0.0; n];
    for seed in 0..3 {
        let r = vector(seed, n);
        level.invert(inner, &r, &mut z);
        let expected = &inverse * DVector::from_column_slice(&r);
        assert!(z.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12 * size));
    }
    assert!(inverse.symmetric_eigenvalues().min() > 0.0);

    // Two steps from zero and the residual, then one more from there.
    let b = vector(4, n);
    let (alphas, beta) = ([0.9, 1.3], 0.2);
    let [mut r, mut d, mut x] = [7, 8, 9].map(|seed| vector(seed, n)); // nothing of these is read
    let step = |residue, factors, stays| PatchStep { residue, factors, inner, outer, stays };
    level.relax(&step(Residue::OfZero { b: &b }, [alphas[0], 0.0], true), &mut r, &mut d, &mut x);
    level.relax(&step(Residue::Left, [alphas[1], beta], true), &mut r, &mut d, &mut x);
    let dense_b = DVector::from_column_slice(&b);
    let first = alphas[0] / 1.4 * &inverse * &dense_b;
    let second = alphas[1] / 1.4 * &inverse * (&dense_b - &a * &first) + beta * &first;
    let expected = &first + &second;
    let left = &dense_b - &a * &expected;
    let close = |found: &[f64], expected: &DVector<f64>| {
        let size = expected.amax();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11 * size));
    };
    close(&x, &expected);
    close(&d, &second);
    close(&r, &left);

    level.relax(&step(Residue::Of { b: &b }, [0.7, 0.0], false), &mut r, &mut d, &mut x);
    close(&x, &(expected + 0.7 / 1.4 * inverse * left));
}

#[test]
fn steps_are_those_of_dense_formulas() {
    check::<1>();
    check::<3>();
}

#[test]
fn m_is_symmetric_and_its_bits_do_not_depend_on_the_number_of_threads() {
    let level = level::<3>();
    let inverted = |r: &Vec<f64>| {
        let mut z = vec![0.0; r.len()];
        level.invert(&growth(1.9), r, &mut z);
        z
    };
    let [r, s] = [1, 2].map(|seed| vector(seed, 3 * ROWS));
    let (mr, ms) = (inverted(&r), inverted(&s));
    let (a, b) = (Cpu.dot(&mr, &s), Cpu.dot(&ms, &r));
    assert!((a - b).abs() < 1e-13 * Cpu.dot(&mr, &r), "{a} {b}");

    let (inner, outer) = (&growth(1.9), &growth(1.4));
    let (residue, factors) = (Residue::Of { b: &r }, [0.8, 0.0]);
    let step = PatchStep { residue, factors, inner, outer, stays: true };
    let [one, two, again] = [1, 2, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [mut left, mut d, mut x] = [3, 4, 5].map(|seed| vector(seed, 3 * ROWS));
        pool.install(|| level.relax(&step, &mut left, &mut d, &mut x));
        [left, d, x]
    });
    assert_eq!(one, two);
    assert_eq!(two, again);
}

/// x = 0 for b = 0, from any start: what is smoothed away does not come back.
#[test]
fn damped_steps_shrink_the_error_in_energy() {
    let level = level::<1>();
    let inverse = dense_inverse(&level, 2.0);
    let a = level.matrix.to_dense();
    let root = inverse.clone().cholesky().unwrap().l();
    let largest = (root.transpose() * &a * root).symmetric_eigenvalues().max();
    let (inner, outer) = (growth(2.0), growth(largest));

    let energy = |x: &Vec<f64>| {
        let mut ax = vec![0.0; x.len()];
        level.matrix.apply(x, &mut ax);
        Cpu.dot(x, &ax)
    };
    let b = vec![0.0; ROWS];
    let [mut r, mut d, mut x] = [1, 2, 3].map(|seed| vector(seed, ROWS));

    for _ in 0..5 {
        let before = energy(&x);
        let residue = Residue::Of { b: &b };
        let factors = [1.4, 0.0];
        let step = PatchStep { residue, factors, inner: &inner, outer: &outer, stays: false };
        level.relax(&step, &mut r, &mut d, &mut x);
        assert!(energy(&x) < before);
    }
}

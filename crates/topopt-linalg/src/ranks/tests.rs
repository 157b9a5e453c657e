//! Vectors that ranks share, against one rank.

use std::sync::Arc;

use super::*;
use crate::{Communicator, Cpu, Csr, Gather, Halo, Neighbor, Share, Threads};

const SPACES: [Space; 3] = Space::SHARED;

/// Shares of ten and of seven points, these in no order and none with the second rank.
fn shares() -> Shares {
    let order: Arc<[u32]> = [3, 0, 6, 5, 1, 2, 4].into();
    Shares::new(Share::in_order(vec![4, 1, 5]), Share::by(vec![3, 0, 4], order))
}

/// Returns the result of `work` on three ranks; all ranks must agree.
fn on_three<T: Send + PartialEq + std::fmt::Debug>(
    work: impl Fn(&Ranks<Cpu, &Threads>) -> Result<T, BackendError> + Sync,
) -> T {
    let mut found = Threads::run(3, |rank| work(&Ranks::new(Cpu, rank, shares()))).unwrap();
    assert!(found.iter().all(|of_rank| *of_rank == found[0]));
    found.remove(0)
}

fn values(space: Space, seed: f64) -> Vec<f64> {
    (0..space.len()).map(|i| (i as f64 + seed).sin()).collect()
}

#[test]
fn values_on_the_host_are_those_of_all_ranks() {
    for space in SPACES.into_iter().chain([Space::level(5, 2)]) {
        let x = values(space, 0.3);
        let back = on_three(|ranks| {
            let uploaded = ranks.upload(&x, space)?;
            let mut copy = ranks.zeros(space)?;
            ranks.copy(&uploaded, &mut copy);
            assert_eq!(
                ranks.download(&copy)?.is_empty(),
                space.layout != Layout::Level && ranks.communicator().rank() > 0
            );
            ranks.decide(ranks.download(&copy)?)
        });
        assert_eq!(back, x);
    }
}

#[test]
fn sums_are_over_all_ranks_except_where_each_has_everything() {
    for space in SPACES.into_iter().chain([Space::level(5, 2)]) {
        let (x, y) = (values(space, 0.3), values(space, 1.7));
        let bounds = [vec![-0.4; space.len()], vec![0.5; space.len()]];
        let found = on_three(|ranks| {
            let [x, y] = [ranks.upload(&x, space)?, ranks.upload(&y, space)?];
            let [low, high] = [ranks.upload(&bounds[0], space)?, ranks.upload(&bounds[1], space)?];
            let [mut z, mut u, mut r] =
                [ranks.zeros(space)?, ranks.zeros(space)?, ranks.zeros(space)?];
            let [mut yz, mut rr] = [ranks.scalar(), ranks.scalar()];
            ranks.multiply_dot(&x, &y, &mut z, &mut yz);
            ranks.cg_step([&1.0, &2.0], &x, &y, &mut u, &mut r, &mut rr);
            let within = ranks.dot_scaled_within(2.0, &x, [&low, &high], &y);
            Ok([ranks.dot(&x, &y), yz, rr, within, ranks.max_difference(&x, &y)])
        });

        let [mut z, mut u, mut r] = [x.clone(), x.clone(), vec![0.0; space.len()]];
        let (mut yz, mut rr) = (0.0, 0.0);
        Cpu.multiply_dot(&x, &y, &mut z, &mut yz);
        Cpu.cg_step([&1.0, &2.0], &x, &y, &mut u, &mut r, &mut rr);
        let within = Cpu.dot_scaled_within(2.0, &x, [&bounds[0], &bounds[1]], &y);
        let expected = [Cpu.dot(&x, &y), yz, rr, within, Cpu.max_difference(&x, &y)];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{space:?}: {found} is not {expected}");
        }
    }
}

#[test]
fn moving_asymptotes_are_those_of_one_rank() {
    let space = SPACES[0];
    let vectors = [0.1, 0.9, 2.3].map(|seed| values(space, seed));
    let bounds = [vec![-2.0; 10], vec![2.0; 10]];
    let rules = AsymptoteRules { initial: 0.5, shrink: 0.7, grow: 1.2, move_limit: 0.3 };

    /// Sums and the design that makes them.
    fn minimum<B: MovingAsymptotes>(
        backend: &B,
        rules: &AsymptoteRules,
        vectors: &[Vec<f64>; 3],
        bounds: &[Vec<f64>; 2],
    ) -> Result<(Vec<f64>, Vec<f64>), BackendError> {
        let up = |values: &Vec<f64>| backend.upload(values, SPACES[0]);
        let (x, [f, g]) = (up(&vectors[0])?, [up(&vectors[1])?, up(&vectors[2])?]);
        let [low, high] = [up(&bounds[0])?, up(&bounds[1])?];
        let [mut l, mut u] = [up(&bounds[0])?, up(&bounds[1])?];
        let [mut least, mut most] = [up(&bounds[0])?, up(&bounds[1])?];
        let limits = [&mut least, &mut most];
        backend.move_asymptotes(rules, &x, None, [&low, &high], [&mut l, &mut u], limits);

        let approximation = Approximation {
            design: &x,
            bounds: [&low, &high],
            asymptotes: [&l, &u],
            limits: [&least, &most],
            functions: vec![(&f, 1.0, 0.1), (&g, 0.5, 0.2)],
        };

        let mut next = backend.zeros(SPACES[0])?;
        let weights = [1.0, 0.7];
        let sums = backend.minimize_approximation(&approximation, &weights, Some(&mut next))?;
        let all = [&sums.changes[..], &sums.coupling, &[sums.distance]].concat();
        Ok((all, backend.decide(backend.download(&next)?)?))
    }

    let (sums, design) = on_three(|ranks| minimum(ranks, &rules, &vectors, &bounds));
    let (expected, alone) = minimum(&Cpu, &rules, &vectors, &bounds).unwrap();
    assert_eq!(design, alone);
    assert_eq!(sums.len(), expected.len());
    assert!(
        sums.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14),
        "{sums:?} {expected:?}"
    );
}

#[test]
fn maps_between_spaces_are_those_of_one_rank() {
    let [points, variables, _] = SPACES;
    // A row for each of ten points, with none to three of five variables.
    let lengths = (0..10).map(|e| e % 4);
    let starts = std::iter::once(0).chain(lengths.scan(0, |end, n| {
        *end += n;
        Some(*end)
    }));
    let starts: Vec<usize> = starts.collect();
    let columns: Vec<u32> = (0..starts[10] as u32).map(|k| k * 7 % 5).collect();
    let weights = (0..starts[10]).map(|k| (k as f64).cos()).collect();
    let rows = Csr { starts, columns, values: weights };
    let maps = [(&rows, [variables, points]), (&rows.transposed(5), [points, variables])];

    for (rows, [from, to]) in maps {
        let x = values(from, 0.3);
        let found = on_three(|ranks| {
            let none = Csr { starts: vec![0], columns: Vec::new(), values: Vec::new() };
            let mut map = ranks.map(if ranks.has_values() { rows } else { &none }, [from, to])?;
            let mut y = ranks.zeros(to)?;
            ranks.gather(&mut map, &ranks.upload(&x, from)?, &mut y);
            ranks.decide(ranks.download(&y)?)
        });
        let mut alone = vec![0.0; to.len()];
        rows.apply(&x, &mut alone);
        assert_eq!(found, alone);
    }
}

#[test]
fn a_part_is_made_of_own_entries_and_ghosts() {
    // A line of 2, 3 and 1 points; a part has the points beside the own ones as well.
    let whole: Vec<f64> = (0..12).map(f64::from).collect();
    let counts = [2, 3, 1];
    let parts = Threads::run(3, |rank| {
        let me = rank.rank();
        let first: usize = counts[..me].iter().sum();
        let before = usize::from(me > 0);
        let mut neighbors = Vec::new();
        if me > 0 {
            neighbors.push(Neighbor { rank: me - 1, sent: vec![0], received: vec![0] });
        }
        if me < 2 {
            let (last, after) = (counts[me] as u32 - 1, (before + counts[me]) as u32);
            neighbors.push(Neighbor { rank: me + 1, sent: vec![last], received: vec![after] });
        }
        let n_points = before + counts[me] + usize::from(me < 2);
        let halo = Halo { own: before..before + counts[me], n_points, neighbors };
        assert_eq!(halo.n_own(), counts[me]);

        let lists = rank.lists(&Cpu, &halo, 2)?;
        let own = whole[2 * first..2 * (first + counts[me])].to_vec();
        let (mut part, mut back) = (vec![f64::NAN; 2 * n_points], vec![0.0; own.len()]);
        rank.expand(&Cpu, &lists, &own, &mut part);
        rank.contract(&Cpu, &lists, &part, &mut back);
        assert_eq!(back, own);
        Ok::<_, BackendError>(part)
    });
    assert_eq!(parts.unwrap(), [&whole[..6], &whole[2..12], &whole[8..12]].map(<[f64]>::to_vec));
}

#[test]
fn a_failed_rank_is_reported_by_the_next_value() {
    let failure = Threads::run(3, |rank| {
        let ranks = Ranks::new(Cpu, rank, shares());
        let x = ranks.upload(&[1.0; 10], SPACES[0])?;
        if rank.rank() == 1 {
            let [device, operation] = ["gpu 1", "launch"].map(String::from);
            return Err(BackendError { device, operation, message: "out of memory".into() });
        }
        let error = ranks.value(&ranks.dot(&x, &x)).unwrap_err();
        assert!(error.message.contains("rank 1: gpu 1: launch failed: out of memory"), "{error}");
        Err::<(), _>(error)
    });
    assert_eq!(failure.unwrap_err().rank, 1);
}

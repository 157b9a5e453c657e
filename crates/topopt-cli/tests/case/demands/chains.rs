//! Chains of three demands and more: derivatives of the density by differences.

use super::{Block, Demand, FILTER, Tried, all_of, model, tried};

/// Whether demands go together, by their numbers.
struct Pairs {
    n: usize,
    is_legal: Vec<bool>,
}

impl Pairs {
    /// Pairs of `all` demands on a block.
    fn of(block: &Block, all: &[Demand]) -> Self {
        let n = all.len();
        let is_legal = |k: usize| {
            let [i, j] = [k / n, k % n];
            i < j && model(block, &[&all[i], &all[j]], FILTER).is_ok()
        };
        Self { n, is_legal: (0..n * n).map(is_legal).collect() }
    }

    /// Chains of one more demand, whose demands all go together in pairs.
    fn longer(&self, chains: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut longer = Vec::new();
        for chain in chains {
            let is_beside = |next: &usize| chain.iter().all(|i| self.is_legal[i * self.n + next]);
            let beside = (0..self.n).filter(is_beside);
            longer.extend(beside.map(|next| [&chain[..], &[next]].concat()));
        }
        longer
    }
}

/// Chains are legal where all shorter ones in them are, and not always then. Triples are tried on
/// the distorted block and on one of the others in turn, longer chains on one of all.
#[test]
fn derivatives_of_all_legal_chains_are_differences() {
    let blocks = Block::all();
    let demands = blocks.each_ref().map(all_of);
    let pairs = Pairs::of(&blocks[0], &demands[0]);
    let mut found = Tried::default();
    let mut is_tried = |chain: &[usize], at: usize| {
        let all: Vec<&Demand> = chain.iter().map(|&i| &demands[at][i]).collect();
        tried(&blocks[at], &all, &mut found)
    };

    let mut chains: Vec<Vec<usize>> = (0..pairs.n).map(|i| vec![i]).collect();
    chains = pairs.longer(&chains);
    while !chains.is_empty() {
        let is_legal = |(number, chain): &(usize, Vec<usize>)| match chain.len() {
            3 => is_tried(chain, 0) | is_tried(chain, 1 + number % 3),
            _ => is_tried(chain, number % 4),
        };
        let longer = pairs.longer(&chains).into_iter().enumerate();
        chains = longer.filter(is_legal).map(|(_, chain)| chain).collect();
    }

    assert!(found.1.is_empty(), "{:#?}", found.1);
    for kinds in [
        &["symmetry", "overhang", "member_size"][..],
        &["cyclic", "casting", "member_size"],
        &["symmetry", "overhang", "open_voids", "member_size"],
        &["cyclic", "symmetry", "casting", "open_voids", "member_size"],
    ] {
        let kinds: Vec<String> = kinds.iter().map(|&kind| kind.into()).collect();
        assert!(found.0.contains(&kinds), "{kinds:?}: {:?}", found.0);
    }
}

//! Groups of patches that get a layer of hexahedra of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::draft::{Draft, edge, hex_edges};
use crate::features::Features;

/// Sets of patches joined by pairs, by the smallest of each.
pub(crate) struct Joined(Vec<u32>);

impl Joined {
    /// Nothing joined of `n` patches.
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    /// Returns the smallest patch of the set of `patch`.
    pub fn root(&self, mut patch: u32) -> u32 {
        while self.0[patch as usize] != patch {
            patch = self.0[patch as usize];
        }
        patch
    }

    /// Joins the sets of two patches.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// Returns the sets, each ascending.
    pub fn sets(&self) -> Vec<Vec<u32>> {
        let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        (0..self.0.len() as u32)
            .for_each(|patch| sets.entry(self.root(patch)).or_default().push(patch));
        sets.into_values().collect()
    }
}

/// Groups of patches that need a layer: those joined by flat and concave curves, where a hexahedron
/// has two faces on one of them, an edge of a curve has a number of hexahedra that does not suit
/// its angle, or a face of the neighbor turns by a half circle at a curve.
pub(crate) fn groups_to_pad(features: &Features, draft: &Draft) -> Vec<Vec<u32>> {
    let mut joined = Joined::new(features.patches.len());
    for chain in features.chains.iter().filter(|chain| chain.is_flat_or_concave()) {
        joined.join(chain.sides[0], chain.sides[1]);
    }

    let mut rough = BTreeSet::new();
    let quad_at = draft.quad_at();
    for (q, quad) in draft.quads.iter().enumerate() {
        for (a, b) in quad.edges() {
            let other = quad_at[&(b, a)] as usize;
            if draft.chain(a, b).is_none() && draft.quads[other].hex == draft.quads[q].hex {
                rough.insert(joined.root(quad.patch));
            }
        }
    }
    for (patch, chain) in draft.zigzags() {
        rough.insert(joined.root(features.chains[chain as usize].other_side(patch)));
    }

    // A wrong count is mended by a layer on either side.
    let counts = hexes_around(draft);
    for (edge, &c) in &draft.curves {
        let chain = &features.chains[c as usize];
        let (count, ideal) = (counts[edge], chain.ideal());
        let sides = chain.sides.map(|patch| joined.root(patch));
        let is_wrong = count < ideal || (ideal == 1 && count > 1);
        if is_wrong && sides.iter().all(|side| !rough.contains(side)) {
            rough.extend(sides);
        }
    }
    joined.sets().into_iter().filter(|set| rough.contains(&joined.root(set[0]))).collect()
}

/// Number of hexahedra around each edge of a curve.
fn hexes_around(draft: &Draft) -> HashMap<(u32, u32), usize> {
    let mut counts: HashMap<(u32, u32), usize> = draft.curves.keys().map(|&e| (e, 0)).collect();
    let mut is_on_curve = vec![false; draft.points.len()];
    for &(a, b) in draft.curves.keys() {
        (is_on_curve[a as usize], is_on_curve[b as usize]) = (true, true);
    }
    for hex in &draft.hexes {
        if hex.iter().filter(|&&v| is_on_curve[v as usize]).count() < 2 {
            continue;
        }
        for (a, b) in hex_edges(hex) {
            if let Some(count) = counts.get_mut(&edge(a, b)) {
                *count += 1;
            }
        }
    }
    counts
}

//! Groups of patches that get a layer of hexahedra of their own.

use std::collections::{BTreeSet, HashMap};

use crate::chain::{Chain, Wedge};
use crate::draft::{Draft, hex_edges};
use crate::features::Features;
use crate::joined::Joined;

/// Groups of patches that need a layer: joined ones, where a hexahedron has two faces on one of
/// them, an edge of a curve has a number of hexahedra that does not suit its angle, or a face of
/// the neighbor turns by a half circle at a curve.
pub(crate) fn groups_to_pad(features: &Features, draft: &Draft) -> Vec<Vec<u32>> {
    let joined = joined(features);
    let mut rough = BTreeSet::new();
    let quad_at = draft.quad_at();
    for (q, quad) in draft.quads.iter().enumerate() {
        for (a, b) in quad.edges() {
            let other = quad_at[&(b, a, draft.body(quad))] as usize;
            if draft.chain(a, b).is_none() && draft.quads[other].hex == draft.quads[q].hex {
                rough.insert(joined.root(quad.patch));
            }
        }
    }
    for (patch, chain) in draft.zigzags() {
        let body = features.sides[patch as usize].body;
        let wedge = features.chains[chain as usize].wedge_of(body);
        rough.extend(wedge.map(|wedge| joined.root(wedge.other_side(patch))));
    }

    // A wrong count is mended by a layer on either side.
    let counts = hexes_around(draft);
    let wedges = draft.curves.iter().flat_map(|(&(a, b), &chain)| {
        features.chains[chain as usize].wedges.iter().map(move |wedge| ((a, b, wedge.body), wedge))
    });
    for (edge, wedge) in wedges {
        let count = counts.get(&edge).copied().unwrap_or_default();
        let ideal = wedge.ideal();
        let sides = wedge.sides.map(|patch| joined.root(patch));
        let is_wrong = count < ideal || (ideal == 1 && count > 1);
        if is_wrong && sides.iter().all(|side| !rough.contains(side)) {
            rough.extend(sides);
        }
    }
    joined.sets().into_iter().filter(|set| rough.contains(&joined.root(set[0]))).collect()
}

/// Patches joined by flat and concave curves, and such that a layer that comes to the surface of
/// one body between two comes to that of the other in the same place.
fn joined(features: &Features) -> Joined {
    let joined = joined_by(features, |chain| outer_sides(features, chain));
    let is_double = |patch: u32| {
        let twin = features.sides[patch as usize].twin;
        twin.is_some_and(|twin| joined.root(twin) == joined.root(patch))
    };
    // A layer lies on one side of a patch: there it goes around each body by itself.
    match (0..features.patches.len() as u32).any(is_double) {
        true => joined_by(features, |_| None),
        false => joined,
    }
}

/// Patches joined by flat and concave curves, and at curves of several bodies: those `across` the
/// patch between two bodies, or else those of each body.
fn joined_by(features: &Features, across: impl Fn(&Chain) -> Option<[u32; 2]>) -> Joined {
    let mut joined = Joined::new(features.patches.len());
    for chain in &features.chains {
        let across = across(chain);
        if let Some([a, b]) = across {
            joined.join(a, b);
        }
        let is_closed = chain.wedges.len() > 1 && across.is_none();
        for wedge in &chain.wedges {
            if is_closed || wedge.is_flat_or_concave() {
                joined.join(wedge.sides[0], wedge.sides[1]);
            }
        }
    }
    joined
}

/// Outer patches of two bodies at the end of the patch between them, where a layer under both
/// crosses it.
fn outer_sides(features: &Features, chain: &Chain) -> Option<[u32; 2]> {
    let [a, b] = &chain.wedges[..] else { return None };
    let is_convex = ![a, b].iter().any(|wedge| wedge.is_flat_or_concave());
    if is_convex { Some([outer_side(features, a)?, outer_side(features, b)?]) } else { None }
}

/// The one patch of a wedge that lies on the outside.
fn outer_side(features: &Features, wedge: &Wedge) -> Option<u32> {
    let is_outer = |patch: u32| features.sides[patch as usize].twin.is_none();
    match wedge.sides.map(is_outer) {
        [true, false] => Some(wedge.sides[0]),
        [false, true] => Some(wedge.sides[1]),
        _ => None,
    }
}

/// Number of hexahedra of each body around each edge of a curve.
fn hexes_around(draft: &Draft) -> HashMap<(u32, u32, u32), usize> {
    let mut counts: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut is_on_curve = vec![false; draft.points.len()];
    for &(a, b) in draft.curves.keys() {
        (is_on_curve[a as usize], is_on_curve[b as usize]) = (true, true);
    }
    for (hex, &body) in draft.hexes.iter().zip(&draft.bodies) {
        if hex.iter().filter(|&&v| is_on_curve[v as usize]).count() < 2 {
            continue;
        }
        for (a, b) in hex_edges(hex) {
            if draft.curves.contains_key(&(a, b)) {
                *counts.entry((a, b, body)).or_default() += 1;
            }
        }
    }
    counts
}

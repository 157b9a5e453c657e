//! A layer of hexahedra laid on a group of patches; it leaves through the neighbors.

use std::collections::{BTreeMap, BTreeSet};

use crate::draft::{Draft, Quad, edge};

/// Lays a layer on the quads of `patches`. The copies of their nodes lie where these lie.
pub(crate) fn pad(draft: &mut Draft, patches: &[u32]) {
    let covered: Vec<bool> = draft.quads.iter().map(|quad| patches.contains(&quad.patch)).collect();
    let quad_at = draft.quad_at();
    let on_group = draft.quads.iter().zip(&covered).filter(|(_, is)| **is);
    let mut copies: BTreeMap<u32, u32> =
        on_group.flat_map(|(quad, _)| quad.nodes.map(|v| (v, 0))).collect();
    for (&node, copy) in &mut copies {
        *copy = draft.points.len() as u32;
        draft.points.push(draft.points[node as usize]);
    }

    let copy = |v: u32| copies[&v];
    let (mut hexes, mut quads) = (Vec::new(), Vec::new());
    let (mut gone, mut curves) = (BTreeSet::new(), BTreeMap::new());
    for (q, quad) in draft.quads.iter().enumerate().filter(|(q, _)| covered[*q]) {
        let hex = (draft.hexes.len() + hexes.len()) as u32;
        let [a, b, c, d] = quad.nodes;
        hexes.push([a, b, c, d, copy(a), copy(b), copy(c), copy(d)]);
        quads.push(Quad { nodes: quad.nodes.map(copy), hex, patch: quad.patch });
        for (a, b) in draft.quads[q].edges() {
            if let Some(chain) = draft.chain(a, b) {
                gone.insert(edge(a, b));
                curves.insert(edge(copy(a), copy(b)), chain);
            }
            let other = quad_at[&(b, a)] as usize;
            if !covered[other] {
                let patch = draft.quads[other].patch;
                quads.push(Quad { nodes: [a, b, copy(b), copy(a)], hex, patch });
            }
        }
    }

    draft.curves.retain(|edge, _| !gone.contains(edge));
    extend_curves(draft, curves, &copies);
    let corners = std::mem::take(&mut draft.corners).into_iter();
    draft.corners =
        corners.map(|(v, corner)| (copies.get(&v).copied().unwrap_or(v), corner)).collect();
    draft.add_layer(hexes);
    let mut is_kept = covered.iter().map(|is| !is);
    draft.quads.retain(|_| is_kept.next().expect("a flag of each quad"));
    draft.quads.extend(quads);
}

/// Adds curves on the copies. One that leaves the group continues to the copy of its last node.
fn extend_curves(
    draft: &mut Draft,
    mut on_copies: BTreeMap<(u32, u32), u32>,
    copies: &BTreeMap<u32, u32>,
) {
    for (&(a, b), &chain) in &draft.curves {
        for v in [a, b] {
            if let Some(&copy) = copies.get(&v) {
                on_copies.insert(edge(v, copy), chain);
            }
        }
    }
    draft.curves.extend(on_copies);
}

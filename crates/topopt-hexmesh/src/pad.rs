//! A layer of hexahedra laid on a group of patches; it leaves through the neighbors.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::hexahedron::EDGES;

use crate::draft::{Draft, Quad, edge};

/// Lays a layer on the quads of `patches`, on one side at most of each between two bodies. The
/// copies of their nodes lie where these lie. Bodies without a patch of the group at a node that
/// has a copy take the copy.
pub(crate) fn pad(draft: &mut Draft, patches: &[u32]) {
    let covered: Vec<bool> = draft.quads.iter().map(|quad| patches.contains(&quad.patch)).collect();
    let quad_at = draft.quad_at();
    let on_group = || draft.quads.iter().zip(&covered).filter(|(_, is)| **is);
    let mut copies: BTreeMap<u32, u32> =
        on_group().flat_map(|(quad, _)| quad.nodes.map(|v| (v, 0))).collect();
    let of_body = |(quad, _): (&Quad, _)| quad.nodes.map(|v| (v, draft.body(quad)));
    let inner: BTreeSet<(u32, u32)> = on_group().flat_map(of_body).collect();
    for (&node, copy) in &mut copies {
        *copy = draft.points.len() as u32;
        draft.points.push(draft.points[node as usize]);
    }

    let copy = |v: u32| copies[&v];
    let (mut hexes, mut quads) = (Vec::new(), Vec::new());
    let (mut gone, mut curves) = (BTreeSet::new(), BTreeMap::new());
    for quad in draft.quads.iter().zip(&covered).filter(|(_, is)| **is).map(|(quad, _)| quad) {
        let (hex, body) = ((draft.hexes.len() + hexes.len()) as u32, draft.body(quad));
        let [a, b, c, d] = quad.nodes;
        hexes.push(([a, b, c, d, copy(a), copy(b), copy(c), copy(d)], body));
        quads.push(Quad { nodes: quad.nodes.map(copy), hex, patch: quad.patch });
        for (a, b) in quad.edges() {
            if let Some(chain) = draft.chain(a, b) {
                gone.insert(edge(a, b));
                curves.insert(edge(copy(a), copy(b)), chain);
            }
            let other = quad_at[&(b, a, body)] as usize;
            if !covered[other] {
                let patch = draft.quads[other].patch;
                quads.push(Quad { nodes: [a, b, copy(b), copy(a)], hex, patch });
            }
        }
    }

    draft.curves.retain(|edge, _| !gone.contains(edge));
    move_others(draft, &inner, &copies, &covered);
    extend_curves(draft, curves, &copies);
    let corners = std::mem::take(&mut draft.corners).into_iter();
    draft.corners =
        corners.map(|(v, corner)| (copies.get(&v).copied().unwrap_or(v), corner)).collect();
    draft.add_layer(hexes);
    let mut is_kept = covered.iter().map(|is| !is);
    draft.quads.retain(|_| is_kept.next().expect("a flag of each quad"));
    draft.quads.extend(quads);
}

/// Moves the hexahedra, quads and curves of bodies beyond the layer to the copies: at each node of
/// those that are not among the pairs `inner` of node and body.
fn move_others(
    draft: &mut Draft,
    inner: &BTreeSet<(u32, u32)>,
    copies: &BTreeMap<u32, u32>,
    covered: &[bool],
) {
    let at = |v: u32, body: u32| match copies.get(&v) {
        Some(&copy) if !inner.contains(&(v, body)) => copy,
        _ => v,
    };
    // Edges before, and whether a hexahedron keeps them as they are.
    let (mut kept, mut moved) = (BTreeSet::new(), BTreeMap::new());
    for (hex, &body) in draft.hexes.iter_mut().zip(&draft.bodies) {
        if !hex.iter().any(|v| copies.contains_key(v)) {
            continue;
        }
        let old = std::mem::replace(hex, hex.map(|v| at(v, body)));
        for [i, j] in EDGES {
            let (before, after) = (edge(old[i], old[j]), edge(hex[i], hex[j]));
            if before == after {
                kept.insert(before);
            } else {
                moved.insert(before, after);
            }
        }
    }
    for (quad, _) in draft.quads.iter_mut().zip(covered).filter(|(_, is)| !**is) {
        let body = draft.bodies[quad.hex as usize];
        quad.nodes = quad.nodes.map(|v| at(v, body));
    }
    let place = |edge: (u32, u32)| match moved.get(&edge) {
        Some(&after) if !kept.contains(&edge) => after,
        _ => edge,
    };
    let curves = std::mem::take(&mut draft.curves);
    draft.curves = curves.into_iter().map(|(edge, chain)| (place(edge), chain)).collect();
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

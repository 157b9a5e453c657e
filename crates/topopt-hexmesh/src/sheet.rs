//! A layer of hexahedra between some hexahedra and all others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use topopt_mesh::hexahedron::FACES;

use crate::chain::Wedge;
use crate::draft::{Draft, Quad, edge, hex_edges};
use crate::features::Features;
use crate::joined::Joined;

/// Parts of the groups in `padded`, each under the faces of one side: patches joined by convex
/// curves, unless a flat or a concave curve lies between any two of them.
pub(crate) fn clusters(features: &Features, padded: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let group = |patch: u32| padded.iter().position(|group| group.contains(&patch));
    let wedges = features.chains.iter().flat_map(|chain| &chain.wedges);
    let (concave, convex): (Vec<&Wedge>, Vec<&Wedge>) =
        wedges.partition(|wedge| wedge.is_flat_or_concave());
    let apart: BTreeSet<[u32; 2]> =
        concave.iter().flat_map(|wedge| [wedge.sides, [wedge.sides[1], wedge.sides[0]]]).collect();

    let mut joined = Joined::new(features.patches.len());
    for [a, b] in convex.iter().map(|wedge| wedge.sides) {
        if a == b || group(a).is_none() || group(a) != group(b) {
            continue;
        }
        let set = |patch: u32| {
            let own = joined.sets().into_iter().find(|set| set.contains(&patch));
            own.unwrap_or_default()
        };
        let (left, right) = (set(a), set(b));
        if !left.iter().any(|&x| right.iter().any(|&y| apart.contains(&[x, y]))) {
            joined.join(a, b);
        }
    }
    joined.sets()
}

/// Puts a layer between the hexahedra under the quads of `patches` and all others.
pub(crate) fn insert(draft: &mut Draft, patches: &[u32]) {
    let mut is_inner = vec![false; draft.hexes.len()];
    for quad in draft.quads.iter().filter(|quad| patches.contains(&quad.patch)) {
        is_inner[quad.hex as usize] = true;
    }
    let walls = walls(draft, &is_inner);
    if walls.is_empty() {
        return;
    }
    let nodes = walls.iter().flat_map(|(nodes, _)| nodes);
    let mut copies: BTreeMap<u32, u32> = nodes.map(|&v| (v, 0)).collect();
    for (&node, copy) in &mut copies {
        *copy = draft.points.len() as u32;
        draft.points.push(draft.points[node as usize]);
    }
    let copy = |v: u32| copies.get(&v).copied().unwrap_or(v);

    let first = draft.hexes.len() as u32;
    let rims = rims(draft, &walls, &is_inner, first, &copies);
    split_curves(draft, &is_inner, &copies);
    for quad in draft.quads.iter_mut().filter(|quad| is_inner[quad.hex as usize]) {
        quad.nodes = quad.nodes.map(copy);
    }
    draft.quads.extend(rims);
    for (hex, _) in draft.hexes.iter_mut().zip(&is_inner).filter(|(_, is_inner)| **is_inner) {
        *hex = hex.map(copy);
    }
    let of_wall =
        |&([a, b, c, d], body): &Wall| ([copy(a), copy(b), copy(c), copy(d), a, b, c, d], body);
    draft.add_layer(walls.iter().map(of_wall).collect());
}

/// Nodes of a face between two hexahedra of a body, and the body.
type Wall = ([u32; 4], u32);

/// Faces between the inner hexahedra and the others of each body, outward from the inner ones.
fn walls(draft: &Draft, is_inner: &[bool]) -> Vec<Wall> {
    let mut faces = Vec::new();
    let mut is_near = vec![false; draft.points.len()];
    for (hex, _) in draft.hexes.iter().zip(is_inner).filter(|(_, is_inner)| **is_inner) {
        hex.iter().for_each(|&v| is_near[v as usize] = true);
    }
    for ((hex, &is_inner), &body) in draft.hexes.iter().zip(is_inner).zip(&draft.bodies) {
        for nodes in FACES.map(|face| face.map(|a| hex[a])) {
            if nodes.iter().all(|&v| is_near[v as usize]) {
                let mut key = nodes;
                key.sort_unstable();
                // Inner faces come first in a pair.
                faces.push((key, !is_inner, (nodes, body)));
            }
        }
    }
    faces.sort_unstable();
    let pairs = faces.chunk_by(|a, b| a.0 == b.0).filter(|pair| pair.len() == 2);
    let is_wall = |pair: &&[(_, bool, Wall)]| pair[0].1 != pair[1].1 && pair[0].2.1 == pair[1].2.1;
    pairs.filter(is_wall).map(|pair| pair[0].2).collect()
}

/// Quads where the layer comes to the surface, on the patches of the inner side.
fn rims(
    draft: &Draft,
    walls: &[Wall],
    is_inner: &[bool],
    first: u32,
    copies: &BTreeMap<u32, u32>,
) -> Vec<Quad> {
    let mut around: BTreeMap<((u32, u32), u32), Vec<u32>> = BTreeMap::new();
    for ((wall, body), number) in walls.iter().zip(first..) {
        for k in 0..4 {
            let key = (edge(wall[k], wall[(k + 1) % 4]), *body);
            around.entry(key).or_default().push(number);
        }
    }
    let mut inner_quads = HashMap::new();
    for quad in draft.quads.iter().filter(|quad| is_inner[quad.hex as usize]) {
        for (a, b) in quad.edges() {
            let key = (edge(a, b), draft.body(quad));
            inner_quads.entry(key).or_insert(((a, b), quad.patch));
        }
    }
    let free = around.into_iter().filter(|(_, walls)| walls.len() == 1);
    let rim = |(key, walls): (((u32, u32), u32), Vec<u32>)| {
        let &((a, b), patch) = inner_quads.get(&key)?;
        Some(Quad { nodes: [a, b, copies[&b], copies[&a]], hex: walls[0], patch })
    };
    free.filter_map(rim).collect()
}

/// Moves the edges of curves that only inner hexahedra have, and joins them to what stays.
fn split_curves(draft: &mut Draft, is_inner: &[bool], copies: &BTreeMap<u32, u32>) {
    let (mut inner, mut outer) = (BTreeSet::new(), BTreeSet::new());
    for (hex, &is_inner) in draft.hexes.iter().zip(is_inner) {
        if hex.iter().any(|v| copies.contains_key(v)) {
            let set = if is_inner { &mut inner } else { &mut outer };
            set.extend(hex_edges(hex));
        }
    }
    let copy = |v: u32| copies.get(&v).copied().unwrap_or(v);
    let mut curves = BTreeMap::new();
    for (&(a, b), &chain) in &draft.curves {
        let moves = inner.contains(&(a, b)) && !outer.contains(&(a, b));
        if !moves {
            curves.insert((a, b), chain);
            continue;
        }
        curves.insert(edge(copy(a), copy(b)), chain);
        for v in [a, b].into_iter().filter(|v| copies.contains_key(v)) {
            curves.insert(edge(v, copy(v)), chain);
        }
    }
    draft.curves = curves;
}

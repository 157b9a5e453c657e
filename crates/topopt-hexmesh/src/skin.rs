//! The graph of nodes and edges of the skin, and shortest paths in it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::chain::Sheets;
use crate::draft::Draft;
use crate::surface::Vec3;

/// Nodes of the skin, numbered by themselves, and their neighbors.
pub(crate) struct Skin {
    /// Node of the mesh, `[n]`, ascending.
    pub nodes: Vec<u32>,
    /// Places, `[n]`.
    pub points: Vec<Vec3>,
    /// Neighbors along edges, ascending, `[n]`.
    pub neighbors: Vec<Vec<u32>>,
    /// Kind of each node, a number in `kinds`, `[n]`.
    pub kind_of: Vec<u32>,
    /// Kind of the edge to each neighbor, `[n][n_neighbors]`.
    pub edge_kinds: Vec<Vec<u32>>,
    /// Sheets at nodes and edges of each kind.
    pub kinds: Vec<Sheets>,
}

impl Skin {
    /// Collects the skins of the bodies of `draft`.
    pub fn of(draft: &Draft) -> Self {
        let mut nodes: Vec<u32> = draft.quads.iter().flat_map(|quad| quad.nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |node: u32| nodes.binary_search(&node).expect("a node of the skin") as u32;
        let mut edges = Vec::with_capacity(8 * draft.quads.len());
        for (quad, sheet) in draft.quads.iter().zip(draft.sheets()) {
            for (a, b) in quad.edges().map(|(a, b)| (number(a), number(b))) {
                edges.extend([(a, b, sheet), (b, a, sheet)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();

        let mut skin = Self {
            points: nodes.iter().map(|&node| draft.points[node as usize]).collect(),
            neighbors: vec![Vec::new(); nodes.len()],
            kind_of: vec![0; nodes.len()],
            edge_kinds: vec![Vec::new(); nodes.len()],
            kinds: Vec::new(),
            nodes,
        };
        for around in edges.chunk_by(|a, b| a.0 == b.0) {
            let v = around[0].0 as usize;
            skin.kind_of[v] = skin.kind(around.iter().map(|edge| edge.2).collect());
            for along in around.chunk_by(|a, b| a.1 == b.1) {
                let kind = skin.kind(along.iter().map(|edge| edge.2).collect());
                skin.neighbors[v].push(along[0].1);
                skin.edge_kinds[v].push(kind);
            }
        }
        skin
    }

    /// Number of a kind, which is added if it is new.
    pub fn kind(&mut self, mut sheets: Sheets) -> u32 {
        sheets.sort_unstable();
        sheets.dedup();
        let known = self.kinds.iter().position(|kind| *kind == sheets);
        let number = known.unwrap_or_else(|| {
            self.kinds.push(sheets);
            self.kinds.len() - 1
        });
        number as u32
    }

    /// Number of edges of a kind at node `v`.
    pub fn count(&self, v: u32, kind: u32) -> usize {
        self.edge_kinds[v as usize].iter().filter(|own| **own == kind).count()
    }

    /// Whether borders of bodies meet along edges of a kind, and not one sheet alone.
    pub fn is_junction(&self, kind: u32) -> bool {
        self.kinds[kind as usize].len() > 1
    }
}

/// Length of a path so far, ordered by it, then by node.
#[derive(PartialEq)]
struct Reached(f64, u32);

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Finds the path from `start` to `end` along edges of `kind` of least price [Dijkstra1959]: an
/// edge costs the mean of `along` at its ends, and `entry` of the node that it enters, where a path
/// may not enter if none.
pub(crate) fn shortest_path(
    skin: &Skin,
    [start, end]: [u32; 2],
    kind: u32,
    mut along: impl FnMut(u32) -> f64,
    entry: impl Fn(u32) -> Option<f64>,
) -> Option<Vec<u32>> {
    let mut best: HashMap<u32, (f64, u32)> = HashMap::from([(start, (0.0, start))]);
    let mut front = BinaryHeap::from([Reverse(Reached(0.0, start))]);
    while let Some(Reverse(Reached(length, node))) = front.pop() {
        if node == end {
            let mut path = vec![end];
            while path[path.len() - 1] != start {
                path.push(best[&path[path.len() - 1]].1);
            }
            path.reverse();
            return Some(path);
        }
        if length > best[&node].0 {
            continue;
        }
        let edges = skin.neighbors[node as usize].iter().zip(&skin.edge_kinds[node as usize]);
        for &next in edges.filter(|(_, own)| **own == kind).map(|(next, _)| next) {
            let Some(price) = (if next == end { Some(0.0) } else { entry(next) }) else {
                continue;
            };
            let total = length + 0.5 * (along(node) + along(next)) + price;
            if best.get(&next).is_none_or(|known| total < known.0) {
                best.insert(next, (total, node));
                front.push(Reverse(Reached(total, next)));
            }
        }
    }
    None
}

//! The graph of nodes and edges of the skin, and shortest paths in it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

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
}

impl Skin {
    /// Collects the skin of `draft`.
    pub fn of(draft: &Draft) -> Self {
        let mut nodes: Vec<u32> = draft.quads.iter().flat_map(|quad| quad.nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |node: u32| nodes.binary_search(&node).expect("a node of the skin") as u32;
        let mut neighbors = vec![Vec::new(); nodes.len()];
        for (a, b) in draft.quads.iter().flat_map(|quad| quad.edges()) {
            neighbors[number(a) as usize].push(number(b));
        }
        neighbors.iter_mut().for_each(|list| list.sort_unstable());
        let points = nodes.iter().map(|&node| draft.points[node as usize]).collect();
        Self { nodes, points, neighbors }
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

/// Finds the path from `start` to `end` of least price [Dijkstra1959]: an edge costs the mean of
/// `along` at its ends, and `entry` of the node that it enters, where a path may not enter if none.
pub(crate) fn shortest_path(
    skin: &Skin,
    [start, end]: [u32; 2],
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
        for &next in &skin.neighbors[node as usize] {
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

//! Hexahedra divided in three where nodes are marked, with transitions that conform.

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::hexahedron::{EDGES, FACES};

use crate::draft::{Draft, OFFSETS, Quad, edge, interpolated};
use crate::surface::Vec3;
use crate::templates::{EDGE, Place, Templates, is_transition};

/// Axis of each edge of a hexahedron.
const AXES: [usize; 12] = [0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2, 2];

/// New node. On an edge, by the near end and the far one; in a face, by the corner near to it, the
/// neighbors of that and the corner across; inside, by the hexahedron and the place.
type Key = [u32; 4];

/// No node of a [`Key`], and the mark of one inside.
const NONE: u32 = u32::MAX;
const INSIDE: u32 = u32::MAX - 1;

/// Divides the hexahedra of `draft` at the nodes that are `marked`, after these have been completed
/// to sets with a pattern. New nodes lie where the hexahedra map them, not on faces of the part.
/// Returns whether each node is of a transition, too.
pub(crate) fn refined(draft: &Draft, mut marked: Vec<bool>) -> (Draft, Vec<bool>) {
    let templates = Templates::new();
    complete(&templates, &draft.hexes, &mut marked);

    let mut nodes = Nodes { points: draft.points.clone(), known: HashMap::new() };
    let mut of_transition = vec![false; draft.points.len()];
    let mut fine = Draft {
        size: draft.size,
        usual: draft.usual,
        levels: draft.levels + 1,
        ..Draft::default()
    };
    let mut first = Vec::with_capacity(draft.hexes.len());
    for (e, hex) in draft.hexes.iter().enumerate() {
        first.push(fine.hexes.len() as u32);
        let marks = marks(hex, &marked);
        let is_new = is_transition(marks);
        for pattern in templates.pattern(marks) {
            let own = pattern.map(|place| nodes.at(e, hex, place));
            of_transition.resize(nodes.points.len(), false);
            own.iter().filter(|_| is_new).for_each(|&v| of_transition[v as usize] = true);
            fine.hexes.push(own);
            fine.bodies.push(draft.bodies[e]);
            fine.sizes.push(edges(pattern, &draft.sizes[e]));
        }
    }

    for quad in &draft.quads {
        let parent = &draft.hexes[quad.hex as usize];
        let pattern = templates.pattern(marks(parent, &marked));
        fine.quads.extend(on_face(quad, parent, pattern, &fine.hexes, first[quad.hex as usize]));
    }
    fine.curves = curves(draft, &marked, &nodes);
    fine.corners = draft.corners.clone();
    fine.points = nodes.points;
    (fine, of_transition)
}

/// Counts the hexahedra that [`refined`] makes.
pub(crate) fn count_refined(draft: &Draft, mut marked: Vec<bool>) -> usize {
    let templates = Templates::new();
    complete(&templates, &draft.hexes, &mut marked);
    draft.hexes.iter().map(|hex| templates.pattern(marks(hex, &marked)).len()).sum()
}

/// Marks more nodes until those of each hexahedron have a pattern.
fn complete(templates: &Templates, hexes: &[[u32; 8]], marked: &mut [bool]) {
    loop {
        let mut is_done = true;
        for hex in hexes {
            let own = marks(hex, marked);
            let all = templates.completed(own);
            for a in (0..8).filter(|a| (all & !own) >> a & 1 == 1) {
                marked[hex[a] as usize] = true;
                is_done = false;
            }
        }
        if is_done {
            return;
        }
    }
}

/// Marks of the nodes of a hexahedron, one bit for each.
fn marks(hex: &[u32; 8], marked: &[bool]) -> u8 {
    (0..8).fold(0, |bits, a| bits | u8::from(marked[hex[a] as usize]) << a)
}

/// Nodes of the mesh, and the new ones that neighbors share.
struct Nodes {
    points: Vec<Vec3>,
    known: HashMap<Key, u32>,
}

impl Nodes {
    /// Node at a place in a hexahedron with a number.
    fn at(&mut self, e: usize, hex: &[u32; 8], place: Place) -> u32 {
        let near = place.map(|x| usize::from(2 * x > EDGE));
        let inner: Vec<usize> = (0..3).filter(|&k| !place[k].is_multiple_of(EDGE)).collect();
        let corner = |flips: &[usize]| {
            let mut at = near;
            flips.iter().for_each(|&k| at[k] = 1 - at[k]);
            hex[number(at)]
        };
        let key = match inner[..] {
            [] => return corner(&[]),
            [k] => edge_key(corner(&[]), corner(&[k])),
            [k, l] => {
                let (a, b) = edge(corner(&[k]), corner(&[l]));
                [corner(&[]), a, b, corner(&[k, l])]
            }
            _ => [e as u32, u32::from_be_bytes([0, place[0], place[1], place[2]]), NONE, INSIDE],
        };
        if let Some(&node) = self.known.get(&key) {
            return node;
        }
        let node = self.add(hex, place);
        self.known.insert(key, node);
        node
    }

    fn add(&mut self, hex: &[u32; 8], place: Place) -> u32 {
        let corners = hex.map(|v| self.points[v as usize]);
        let x = interpolated(&corners, place.map(|x| f64::from(x) / f64::from(EDGE)));
        self.points.push(x);
        self.points.len() as u32 - 1
    }
}

/// Number of the corner of a hexahedron at an offset.
fn number(offset: [usize; 3]) -> usize {
    OFFSETS.iter().position(|own| *own == offset).unwrap_or_default()
}

fn edge_key(near: u32, far: u32) -> Key {
    [near, far, NONE, NONE]
}

/// Lengths that the edges of a hexahedron of a pattern should have along its three axes, in one
/// with edges of the lengths `sizes`.
fn edges(pattern: &[Place; 8], sizes: &[f64; 3]) -> [f64; 3] {
    let length = |[a, b]: [usize; 2]| {
        let along = |k: usize| f64::from(pattern[b][k]) - f64::from(pattern[a][k]);
        Vec3::from_fn(|k, _| along(k) * sizes[k] / f64::from(EDGE)).norm()
    };
    let mut means = [0.0; 3];
    EDGES.iter().zip(AXES).for_each(|(&ends, axis)| means[axis] += length(ends) / 4.0);
    means
}

/// Faces into which a face of the skin is divided: those of the `pattern` in its hexahedron
/// `parent`, whose hexahedra `hexes` have numbers from `first` on.
fn on_face(
    quad: &Quad,
    parent: &[u32; 8],
    pattern: &[[Place; 8]],
    hexes: &[[u32; 8]],
    first: u32,
) -> Vec<Quad> {
    let is_own = |face: &[usize; 4]| face.iter().all(|&a| quad.nodes.contains(&parent[a]));
    let local = FACES.iter().position(is_own).unwrap_or_default();
    let (axis, side) = (local / 2, EDGE * (local % 2) as u8);
    let mut quads = Vec::new();
    for (hex, places) in (first..).zip(pattern) {
        let lies = |face: &&[usize; 4]| face.iter().all(|&a| places[a][axis] == side);
        let nodes = |face: &[usize; 4]| face.map(|a| hexes[hex as usize][a]);
        quads.extend(FACES.iter().filter(lies).map(|face| Quad {
            nodes: nodes(face),
            hex,
            ..*quad
        }));
    }
    quads
}

/// Curves along the parts of their edges.
fn curves(draft: &Draft, marked: &[bool], nodes: &Nodes) -> BTreeMap<(u32, u32), u32> {
    let mut curves = BTreeMap::new();
    for (&(a, b), &chain) in &draft.curves {
        let near = |a: u32, b: u32| match marked[a as usize] {
            true => nodes.known.get(&edge_key(a, b)).copied(),
            false => None,
        };
        let all = [Some(a), near(a, b), near(b, a), Some(b)];
        let way: Vec<u32> = all.into_iter().flatten().collect();
        curves.extend(way.windows(2).map(|ends| (edge(ends[0], ends[1]), chain)));
    }
    curves
}

#[cfg(test)]
mod tests {
    use topopt_mesh::hexahedron::volume;
    use topopt_mesh::quality::scaled_jacobian;

    use super::*;
    use crate::grid::Grid;

    /// Block of `n` unit cells along each axis, all in one body, or in two along x.
    fn block(n: usize, bodies: usize) -> Draft {
        let planes: Vec<f64> = (0..n + 3).map(|i| i as f64 - 1.0).collect();
        let grid = Grid { planes: std::array::from_fn(|_| planes.clone()) };
        let region = |cell: usize| {
            let center = grid.center(cell);
            let is_in = center.iter().all(|x| (0.0..n as f64).contains(x));
            u8::from(is_in) + u8::from(is_in && bodies == 2 && center[0] > n as f64 / 2.0)
        };
        let n_cells = (n + 2).pow(3);
        let regions: Vec<_> = (0..n_cells).map(|cell| region(cell).into()).collect();
        Draft::of_cells(&grid, &regions, [1.0; 2])
    }

    #[test]
    fn refined_blocks_conform_and_keep_volume_and_bodies_with_any_marks() {
        for (bodies, seed) in [(1, 1), (1, 5), (2, 3), (2, 7)] {
            let coarse = block(5, bodies);
            let is_marked = |v: usize| ((v * 2_654_435_761) >> 3) % 97 < seed;
            let marked: Vec<bool> = (0..coarse.points.len()).map(is_marked).collect();
            let count = count_refined(&coarse, marked.clone());
            let (fine, of_transition) = refined(&coarse, marked);
            assert!(fine.is_conforming(), "{bodies} {seed}");
            assert!(fine.hexes.len() > coarse.hexes.len());
            assert_eq!(fine.hexes.len(), count);
            assert_eq!(of_transition.len(), fine.points.len());
            let corners = |hex: &[u32; 8]| hex.map(|v| <[f64; 3]>::from(fine.points[v as usize]));
            let mut volumes = [0.0; 2];
            for (hex, &body) in fine.hexes.iter().zip(&fine.bodies) {
                assert!(scaled_jacobian(&corners(hex)) > 0.25);
                volumes[body as usize] += volume(&corners(hex));
            }
            let [first, second] = if bodies == 2 { [75.0, 50.0] } else { [125.0, 0.0] };
            assert!(
                (volumes[0] - first).abs() < 1e-9 && (volumes[1] - second).abs() < 1e-9,
                "{volumes:?}"
            );
        }
    }
}

//! Patterns that divide hexahedra in three along each edge between marked nodes, and conform.
//!
//! A hexahedron is divided by the marks of its eight nodes: at one node into 4, at the ends of one
//! edge into 11, at those of a face into 22, at all of them into 27 [Schneiders1996]. The pattern
//! on a face follows from the marks of its own nodes and has their symmetry, so that neighbors
//! agree on it.

use crate::draft::OFFSETS;

/// Place in a hexahedron in sixths of its edges.
pub(crate) type Place = [u8; 3];

/// Length of an edge in the unit of a [`Place`].
pub(crate) const EDGE: u8 = 6;

/// Marks of all eight nodes.
const ALL: u8 = u8::MAX;
/// Places between which the strip from three segments to one is divided: those of four
/// quadrilaterals, along the strip and across it by the row, see [`strip`].
const STRIP: [[[u8; 2]; 4]; 4] = [
    [[0, 0], [2, 0], [2, 1], [0, 2]],
    [[2, 0], [4, 0], [4, 1], [2, 1]],
    [[4, 0], [6, 0], [6, 2], [4, 1]],
    [[2, 1], [4, 1], [6, 2], [0, 2]],
];

/// Patterns by the marks of the nodes, one bit for each.
pub(crate) struct Templates {
    /// Nodes of the hexahedra of each pattern, `[256][n]`; none where the marks have no pattern.
    patterns: Vec<Vec<[Place; 8]>>,
    /// Least marks with a pattern that contain each set of marks, `[256]`.
    completed: Vec<u8>,
}

impl Templates {
    /// Turns the five basic patterns to all marks that they fit.
    pub fn new() -> Self {
        let basic = [(0, vec![brick([0; 3], [EDGE; 3])]), (1, node()), (3, edge()), (15, face())];
        let mut patterns = vec![Vec::new(); 256];
        for (marks, hexes) in basic.into_iter().chain([(ALL, layers(3))]) {
            for turn in turns() {
                let own = turned_marks(marks, &turn);
                if patterns[own as usize].is_empty() {
                    let of_hex = |hex: &[Place; 8]| right_handed(hex.map(&turn));
                    patterns[own as usize] = hexes.iter().map(of_hex).collect();
                }
            }
        }
        let mut known: Vec<u8> =
            (0..=ALL).filter(|&marks| !patterns[marks as usize].is_empty()).collect();
        known.sort_by_key(|marks| marks.count_ones());
        let least = |marks: u8| known.iter().copied().find(|own| own & marks == marks);
        let completed = (0..=ALL).map(|marks| least(marks).unwrap_or(ALL)).collect();
        Self { patterns, completed }
    }

    /// Nodes of the hexahedra for completed marks.
    pub fn pattern(&self, marks: u8) -> &[[Place; 8]] {
        &self.patterns[marks as usize]
    }

    /// Least marks with a pattern that contain `marks`.
    pub fn completed(&self, marks: u8) -> u8 {
        self.completed[marks as usize]
    }
}

/// Whether marks divide a hexahedron by other than bricks.
pub(crate) fn is_transition(marks: u8) -> bool {
    marks != 0 && marks != ALL
}

/// Hexahedron between two opposite corners.
fn brick(low: Place, high: Place) -> [Place; 8] {
    let ends = [low, high];
    OFFSETS.map(|offset| [0, 1, 2].map(|k| ends[offset[k]][k]))
}

/// Layers of nine cubes from the bottom.
fn layers(count: u8) -> Vec<[Place; 8]> {
    let at = |i: u8| [2 * (i % 3), 2 * (i / 3 % 3), 2 * (i / 9)];
    (0..9 * count).map(|i| brick(at(i), at(i).map(|x| x + 2))).collect()
}

/// Pattern at node 0: a cube there, and a frustum from each inner face of it to the face across.
fn node() -> Vec<[Place; 8]> {
    let cube = brick([0; 3], [2; 3]);
    [cube].into_iter().chain((0..3).map(frustum)).collect()
}

/// Frustum from the face of the cube at node 0 across an axis.
fn frustum(axis: usize) -> [Place; 8] {
    OFFSETS.map(|offset| {
        let wide = if offset[axis] == 0 { 2 } else { EDGE };
        [0, 1, 2].map(|k| if k == axis { wide } else { wide * offset[k] as u8 })
    })
}

/// Pattern at the edge of nodes 0 and 1: three cubes along it, and a strip on either side of these
/// that ends in the diagonal between both.
fn edge() -> Vec<[Place; 8]> {
    let cube = |i: u8| brick([2 * i, 0, 0], [2 * i + 2, 2, 2]);
    let row = |row: u8| 2 + 2 * row;
    let along_y = strip(|[x, r], far| [x, row(r), if far { row(r) } else { 0 }]);
    let along_z = strip(|[x, r], far| [x, if far { row(r) } else { 0 }, row(r)]);
    (0..3).map(cube).chain(along_y).chain(along_z).collect()
}

/// Pattern at the face of nodes 0 to 3: nine cubes, three strips along y that rise to the upper
/// edges outside and stay below the middle, and a hexahedron on these.
fn face() -> Vec<[Place; 8]> {
    let mut hexes = layers(1);
    for i in 0..3 {
        let height = |x: u8, row: u8| match x {
            0 | EDGE => 2 + 2 * row,
            _ => 2 + row,
        };
        hexes.extend(strip(|[y, row], far| {
            let x = 2 * i + 2 * u8::from(far);
            [x, y, height(x, row)]
        }));
    }
    let lid = OFFSETS.map(|[x, y, z]| {
        let [x, y] = [x, y].map(|side| EDGE * side as u8);
        if z == 1 { [x, y, EDGE] } else { [if x == 0 { 2 } else { 4 }, y, 4] }
    });
    hexes.push(lid);
    hexes
}

/// Hexahedra between the near and the far side of a strip, whose places come from those of
/// [`STRIP`] and the side.
fn strip(place: impl Fn([u8; 2], bool) -> Place) -> Vec<[Place; 8]> {
    let of_quad = |[a, b, c, d]: [[u8; 2]; 4]| {
        let side = |far: bool| [a, b, c, d].map(|x| place(x, far));
        let ([a, b, c, d], [e, f, g, h]) = (side(false), side(true));
        right_handed([a, b, c, d, e, f, g, h])
    };
    STRIP.map(of_quad).to_vec()
}

/// The hexahedron with its halves exchanged, if it is left-handed.
fn right_handed(hex: [Place; 8]) -> [Place; 8] {
    let center =
        |nodes: [usize; 4], k: usize| -> i32 { nodes.iter().map(|&a| i32::from(hex[a][k])).sum() };
    let between = |low, high| [0, 1, 2].map(|k| center(high, k) - center(low, k));
    let [u, v, w] = [
        between([0, 3, 7, 4], [1, 2, 6, 5]),
        between([0, 1, 5, 4], [3, 2, 6, 7]),
        between([0, 1, 2, 3], [4, 5, 6, 7]),
    ];
    let volume = u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0]);
    let [a, b, c, d, e, f, g, h] = hex;
    if volume > 0 { hex } else { [e, f, g, h, a, b, c, d] }
}

/// The 48 ways in which a cube falls on itself.
fn turns() -> impl Iterator<Item = impl Fn(Place) -> Place> {
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    (0..48).map(move |turn: usize| {
        move |place: Place| {
            [0, 1, 2].map(|k| {
                let x = place[orders[turn / 8][k]];
                if turn >> k & 1 == 1 { EDGE - x } else { x }
            })
        }
    })
}

fn turned_marks(marks: u8, turn: &impl Fn(Place) -> Place) -> u8 {
    let corner = |a: usize| turn(OFFSETS[a].map(|side| EDGE * side as u8));
    let number = |a: usize| (0..8).find(|&b| OFFSETS[b].map(|side| EDGE * side as u8) == corner(a));
    let of_marked = (0..8).filter(|a| marks >> a & 1 == 1).filter_map(number);
    of_marked.fold(0, |marks, b| marks | 1 << b)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use topopt_mesh::hexahedron::{FACES, determinant, gauss_points, jacobian, volume};
    use topopt_mesh::quality::scaled_jacobian;

    use super::*;

    fn corners(hex: &[Place; 8]) -> [[f64; 3]; 8] {
        hex.map(|place| place.map(|x| f64::from(x) / f64::from(EDGE)))
    }

    /// Quadrilaterals on a face, each by its places in their order along the face.
    fn on_face(hexes: &[[Place; 8]], local: usize) -> BTreeSet<[Place; 4]> {
        let side = EDGE * (local % 2) as u8;
        let quads = hexes.iter().flat_map(|hex| FACES.map(|face| face.map(|a| hex[a])));
        let lies = |quad: &[Place; 4]| quad.iter().all(|place| place[local / 2] == side);
        quads.filter(lies).map(sorted).collect()
    }

    fn sorted(mut quad: [Place; 4]) -> [Place; 4] {
        quad.sort_unstable();
        quad
    }

    #[test]
    fn patterns_fill_the_cube_with_valid_hexahedra() {
        let templates = Templates::new();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for marks in 0..=ALL {
            let hexes = templates.pattern(marks);
            *counts.entry(hexes.len()).or_default() += 1;
            let total: f64 = hexes.iter().map(|hex| volume(&corners(hex))).sum();
            assert!(hexes.is_empty() || (total - 1.0).abs() < 1e-12, "{marks:08b}: {total}");
            for x in hexes.iter().map(corners) {
                assert!(scaled_jacobian(&x) > 0.25, "{marks:08b}: {}", scaled_jacobian(&x));
                assert!(gauss_points().iter().all(|&xi| determinant(&jacobian(&x, xi)) > 0.0));
            }
        }
        let found: Vec<_> = counts.into_iter().filter(|(n, _)| *n > 0).collect();
        assert_eq!(found, [(1, 1), (4, 8), (11, 12), (22, 6), (27, 1)]);
    }

    #[test]
    fn faces_of_patterns_follow_from_their_own_marks_and_close_the_inside() {
        let templates = Templates::new();
        for local in 0..6 {
            let own = FACES[local].iter().fold(0, |bits, a| bits | 1 << a);
            let mut known: BTreeMap<u8, BTreeSet<[Place; 4]>> = BTreeMap::new();
            for marks in (0..=ALL).filter(|&marks| !templates.pattern(marks).is_empty()) {
                let quads = on_face(templates.pattern(marks), local);
                let first = known.entry(marks & own).or_insert_with(|| quads.clone());
                assert_eq!(*first, quads, "{marks:08b}, face {local}");
            }
            // None, a node, an edge and all of a face.
            let counts: BTreeSet<(u32, usize)> =
                known.iter().map(|(marks, quads)| (marks.count_ones(), quads.len())).collect();
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 3), (2, 7), (4, 9)]);
        }
        for marks in 0..=ALL {
            let hexes = templates.pattern(marks);
            let mut sides: BTreeMap<[Place; 4], usize> = BTreeMap::new();
            for quad in hexes.iter().flat_map(|hex| FACES.map(|face| face.map(|a| hex[a]))) {
                *sides.entry(sorted(quad)).or_default() += 1;
            }
            let outside: usize = (0..6).map(|local| on_face(hexes, local).len()).sum();
            assert_eq!(sides.values().filter(|n| **n == 1).count(), outside, "{marks:08b}");
            assert!(sides.values().all(|n| *n <= 2), "{marks:08b}");
        }
    }

    #[test]
    fn faces_across_a_mirror_have_mirrored_patterns() {
        let templates = Templates::new();
        for marks in (0..=ALL).filter(|&marks| !templates.pattern(marks).is_empty()) {
            // Marks of the neighbor that shares the face at x = 1 with the same nodes there.
            let across = [1, 2, 5, 6].iter().zip([0, 3, 4, 7]);
            let own = across.fold(0, |bits, (&a, b)| bits | (marks >> a & 1) << b);
            let at_low = |quad: &[Place; 4]| sorted(quad.map(|[_, y, z]| [0, y, z]));
            let shared: BTreeSet<_> =
                on_face(templates.pattern(marks), 1).iter().map(at_low).collect();
            let neighbor = templates.completed(own);
            assert_eq!(neighbor, own, "marks of a face have a pattern on their own");
            assert_eq!(on_face(templates.pattern(neighbor), 0), shared, "{marks:08b}");
        }
    }

    #[test]
    fn marks_are_completed_to_the_least_that_have_a_pattern() {
        let templates = Templates::new();
        let completed = [0b101, 0b111, 0b1100_0000, 0b100_0001, 0b1_0001, 0b11_0100];
        let expected = [0b1111, 0b1111, 0b1100_0000, ALL, 0b1_0001, ALL];
        assert_eq!(completed.map(|marks| templates.completed(marks)), expected);
    }
}

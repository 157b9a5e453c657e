//! Chords: chains of hexahedra through opposite faces \[Murdoch1997\], one through every element.

use rayon::prelude::*;

use crate::HexMesh;
use crate::counting_sort::grouped;
use crate::hexahedron::{EDGES, FACES, neighbor};
use crate::rotation::{ROTATIONS, Rotation};
use crate::surface::{NO_NEIGHBOR, face_neighbors};

/// The elements of a mesh in chords: every element stands in one, next to its neighbors through
/// two opposite faces. Rotated, all elements of a chord have their first axis along it and their
/// local nodes on the same four lines, and so have, where the mesh allows it, those of chords that
/// lie side by side.
pub(crate) struct Chords {
    /// Chords of each range of consecutive elements.
    ranges: Vec<InRange>,
    /// Row of [`ROTATIONS`] of every element of the mesh.
    rotations: Vec<u8>,
}

/// The chords of a range of elements.
#[derive(Default)]
struct InRange {
    /// Chord after chord.
    elements: Vec<u32>,
    /// Start of each chord in `elements`, `[n_chords]`.
    starts: Vec<usize>,
}

/// Most elements of a range. Chords end where it ends, after about its edge if it is a cube: 64
/// elements. With 8 million elements, a product of the matrix-free operator takes 3 % longer than
/// with chords of 200, and 5 % in single precision.
const RANGE: usize = 1 << 18;

/// Elements of the part of a mesh that is taken as a sample.
const PART: usize = 4096;

/// In `rotations`: the element is in no chord yet.
const FREE: u8 = u8::MAX;

impl Chords {
    /// Directions are carried from element to element through shared faces, breadth first. They
    /// begin with that in which the first element has the longest chord. Where they disagree,
    /// around an irregular line of the mesh, the chord that comes later ends. All threads search at
    /// a time, each in a range of consecutive elements that its chords do not leave.
    ///
    /// `mesh`: of elements along a space-filling curve, so that ranges are compact. `seeds`: all
    /// elements, in the order in which they may begin.
    pub fn of(mesh: &HexMesh, seeds: &[u32]) -> Self {
        Self::in_ranges(mesh, seeds, RANGE)
    }

    /// Finds the chords of `mesh` in ranges of at most `most` elements; see [`Chords::of`].
    fn in_ranges(mesh: &HexMesh, seeds: &[u32], most: usize) -> Self {
        let n_ranges = mesh.n_elements().div_ceil(most);
        let size = mesh.n_elements().div_ceil(n_ranges);
        let neighbors = face_neighbors(mesh);
        let mut rotations = vec![FREE; mesh.n_elements()];

        let range_of: Vec<u32> = seeds.par_iter().map(|&seed| seed / size as u32).collect();
        let seeds = grouped(&range_of, n_ranges, |i| seeds[i]).values;
        let ranges = rotations.par_chunks_mut(size).zip(seeds.par_chunks(size)).enumerate();
        let chords = ranges.map(|(range, (rotations, seeds))| {
            let first = (range * size) as u32;
            Search { mesh, neighbors: &neighbors, first, rotations }.chords(seeds)
        });
        Self { ranges: chords.collect(), rotations }
    }

    /// Mean length of the chords of `mesh`, whose elements come along a space-filling curve: of
    /// those in eight parts of it, which they do not leave.
    pub fn mean_length(mesh: &HexMesh) -> f64 {
        let n = mesh.n_elements();
        let size = n.min(PART);
        let parts = (n / size).min(8);
        let n_chords = |part: usize| {
            let first = part * (n - size) / (parts - 1).max(1);
            let seeds: Vec<u32> = (0..size as u32).collect();
            Self::of(&mesh.part(first..first + size), &seeds).iter().count()
        };
        (parts * size) as f64 / (0..parts).into_par_iter().map(n_chords).sum::<usize>() as f64
    }

    /// The chords: elements from end to end.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges.iter().flat_map(|InRange { elements, starts }| {
            let ends = starts[1..].iter().copied().chain([elements.len()]);
            starts.iter().zip(ends).map(|(&start, end)| &elements[start..end])
        })
    }

    /// The nodes of a chord, edge by edge along it: a local node number runs along consecutive
    /// nodes, so that neighboring threads of a GPU read neighboring numbers. Each comes once for
    /// every element that has it.
    pub fn nodes<'a>(&'a self, mesh: &'a HexMesh, chord: &'a [u32]) -> impl Iterator<Item = u32> {
        let node = |e: u32, a: usize| {
            let rotation = ROTATIONS[self.rotations[e as usize] as usize];
            mesh.hexes()[e as usize][rotation.nodes[a] as usize]
        };
        let edges = EDGES.into_iter().filter(|&[a, b]| neighbor(a, 0) == b);
        edges.flat_map(move |edge| chord.iter().flat_map(move |&e| edge.map(|a| node(e, a))))
    }

    /// Row of [`ROTATIONS`] of every element of the mesh.
    pub fn rotations(&self) -> &[u8] {
        &self.rotations
    }
}

/// The search in a range of elements.
struct Search<'a> {
    mesh: &'a HexMesh,
    /// Face neighbors of every element of the whole mesh, `[n_elements][6]`.
    neighbors: &'a [[u32; 6]],
    /// First element of the range.
    first: u32,
    /// Row of [`ROTATIONS`] of every element of the range; [`FREE`] in no chord yet.
    rotations: &'a mut [u8],
}

impl Search<'_> {
    /// All chords of the range, which may begin at `seeds`.
    fn chords(mut self, seeds: &[u32]) -> InRange {
        let mut elements = Vec::with_capacity(seeds.len());
        let mut starts = Vec::new();
        let mut spread = 0;

        for &seed in seeds {
            if self.is_free(seed) {
                starts.push(elements.len());
                self.claim(seed, self.along_the_longest(seed), &mut elements);
            }
            // `elements` is its own queue: `spread` counts those whose neighbors have been visited.
            while spread < elements.len() {
                // Sides 0 and 1 lead along the chord, which was claimed as a whole.
                for side in 2..6 {
                    if let Some((other, rotation)) = self.free_beyond(elements[spread], side) {
                        starts.push(elements.len());
                        self.claim(other, rotation, &mut elements);
                    }
                }
                spread += 1;
            }
        }
        InRange { elements, starts }
    }

    /// Whether `element` is in the range, and in no chord yet.
    fn is_free(&self, element: u32) -> bool {
        self.rotations.get(element.wrapping_sub(self.first) as usize) == Some(&FREE)
    }

    /// The rotation of an element of the range.
    fn rotation(&mut self, element: u32) -> &mut u8 {
        &mut self.rotations[(element - self.first) as usize]
    }

    /// Appends the chord of free elements through `element`, which gets `rotation`.
    fn claim(&mut self, element: u32, rotation: u8, elements: &mut Vec<u32>) {
        let start = elements.len();
        *self.rotation(element) = rotation;
        for face in [0, 1] {
            let mut last = element;
            while let Some((next, rotation)) = self.free_beyond(last, face) {
                *self.rotation(next) = rotation;
                elements.push(next);
                last = next;
            }
            if face == 0 {
                elements[start..].reverse();
                elements.push(element);
            }
        }
    }

    /// The element beyond a local face of `element`, rotated, if it is free; and the rotation that
    /// makes its local numbers continue those of `element`.
    fn free_beyond(&self, element: u32, face: usize) -> Option<(u32, u8)> {
        let rotation = self.rotations[(element - self.first) as usize];
        let Rotation { nodes, faces } = &ROTATIONS[rotation as usize];
        let other = self.neighbors[element as usize][faces[face] as usize];
        if other == NO_NEIGHBOR || !self.is_free(other) {
            return None;
        }
        let (hex, beyond) =
            (self.mesh.hexes()[element as usize], self.mesh.hexes()[other as usize]);

        // All four nodes, except for triangles of wedges that have another node twice.
        let shared = FACES[face].map(|a| (neighbor(a, face / 2), hex[nodes[a] as usize]));
        let agrees = |rotation: u8, (a, node): &(usize, u32)| {
            beyond[ROTATIONS[rotation as usize].nodes[*a] as usize] == *node
        };
        let n_agreeing =
            |rotation: &u8| shared.iter().filter(|node| agrees(*rotation, node)).count();
        let is_perfect = |rotation: &u8| shared.iter().all(|node| agrees(*rotation, node));

        let rotations = 0..ROTATIONS.len() as u8;
        let perfect = rotations.clone().rev().find(is_perfect);
        let rotation = perfect.or_else(|| rotations.max_by_key(n_agreeing));
        rotation.map(|rotation| (other, rotation))
    }

    /// The rotation of `element` in which its chord is the longest.
    fn along_the_longest(&self, element: u32) -> u8 {
        let length = |rotation: &u8| {
            let [back, front, ..] = ROTATIONS[*rotation as usize].faces;
            let (ahead, is_ring) = self.n_beyond(element, front as usize);
            if is_ring { ahead } else { ahead + self.n_beyond(element, back as usize).0 }
        };
        (0..3).max_by_key(length).unwrap_or(0)
    }

    /// Number of elements in line behind `face` of `element`, and whether they lead back to it.
    fn n_beyond(&self, element: u32, mut face: usize) -> (usize, bool) {
        let (mut last, mut count) = (element, 0);
        while count < self.neighbors.len() {
            let next = self.neighbors[last as usize][face];
            if next == NO_NEIGHBOR || next == last || next == element {
                return (count, next == element && count > 0);
            }
            let back = self.neighbors[next as usize].iter().position(|&other| other == last);
            let Some(back) = back else { break };
            (last, face, count) = (next, back ^ 1, count + 1);
        }
        (count, false)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::generate::{Benchmark, Resolution};
    use crate::hexahedron::{NODES, of_wedge};
    use crate::{Renumbering, Sets};

    fn in_order(mesh: &HexMesh) -> Chords {
        Chords::of(mesh, &(0..mesh.n_elements() as u32).collect::<Vec<_>>())
    }

    /// Chords of `mesh`; every element is in one of them.
    fn chords(mesh: &HexMesh) -> Vec<Vec<u32>> {
        let chords: Vec<Vec<u32>> = in_order(mesh).iter().map(<[u32]>::to_vec).collect();
        let mut all = chords.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..mesh.n_elements() as u32));
        chords
    }

    /// Pairs of consecutive elements of chords, and those of them that have all four lines in
    /// common.
    fn pairs(mesh: &HexMesh) -> (usize, usize) {
        let chords = in_order(mesh);
        let node = |e: u32, a: usize| {
            let rotation = ROTATIONS[chords.rotations()[e as usize] as usize];
            mesh.hexes()[e as usize][rotation.nodes[a] as usize]
        };
        let goes_on = |pair: &&[u32]| {
            let lines = [[0, 1], [3, 2], [4, 5], [7, 6]];
            lines.iter().all(|&[a, b]| node(pair[0], b) == node(pair[1], a))
        };
        let pairs = || chords.iter().flat_map(|chord| chord.windows(2));
        (pairs().count(), pairs().filter(goes_on).count())
    }

    /// `n` sectors of a ring of square section, or of a disc of wedges if `inner` is 0, in layers.
    fn ring(n: usize, inner: f64, layers: usize) -> HexMesh {
        let point = |i: usize, radius: f64, z: usize| {
            let (sin, cos) = (TAU * (i % n) as f64 / n as f64).sin_cos();
            [radius * cos, radius * sin, z as f64]
        };
        let mut coordinates = Vec::new();
        let mut hexes = Vec::new();

        let in_layer = if inner > 0.0 { 2 * n } else { n + 1 };
        for z in 0..=layers {
            coordinates.extend((0..n).map(|i| point(i, inner + 1.0, z)));
            coordinates.extend((n..in_layer).map(|i| point(i, inner, z)));
        }

        for z in 0..layers {
            for i in 0..n {
                let next = (i + 1) % n;
                let corners =
                    if inner > 0.0 { vec![i, next, n + next, n + i] } else { vec![i, next, n] };
                let place =
                    |layer: usize| corners.iter().map(move |c| (layer * in_layer + c) as u32);
                let nodes: Vec<u32> = place(z).chain(place(z + 1)).collect();
                hexes.push(match nodes[..] {
                    [a, b, c, d, e, f] => of_wedge([a, b, c, d, e, f]),
                    _ => std::array::from_fn(|a| nodes[a]),
                });
            }
        }

        HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
    }

    #[test]
    fn those_of_a_box_are_its_longest_rows() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap(); // 10 x 5 x 5
        let mesh = Renumbering::shuffled(&mesh, 2).apply(&mesh);
        let chords = chords(&mesh);
        assert_eq!(chords.len(), 25);
        for chord in &chords {
            let y_and_z = |e: u32| mesh.centers()[e as usize][1..].to_vec();
            assert!(chord.len() == 10 && chord.iter().all(|&e| y_and_z(e) == y_and_z(chord[0])));
        }
        assert_eq!(pairs(&mesh), (225, 225));
    }

    #[test]
    fn a_ring_is_cut_once() {
        for (layers, n_chords) in [(1, 1), (2, 2)] {
            let mesh = ring(12, 2.0, layers);
            assert_eq!(chords(&mesh).len(), n_chords);
            assert_eq!(pairs(&mesh), (11 * n_chords, 11 * n_chords));
        }
    }

    #[test]
    fn they_run_through_the_triangles_of_wedges() {
        let mesh = ring(7, 0.0, 9);
        assert!(chords(&mesh).iter().all(|chord| chord.len() == 9));
        assert_eq!(pairs(&mesh), (56, 56));
        // Another node twice in one layer: the chords are the same, but not all lines continue.
        let mut hexes = mesh.hexes().to_vec();
        for hex in &mut hexes[7..14] {
            let [a, b, c, _, d, e, f, _] = *hex;
            *hex = of_wedge([b, c, a, e, f, d]);
        }
        let mesh = HexMesh::new(mesh.coordinates().to_vec(), hexes, Sets::default()).unwrap();
        assert!(chords(&mesh).iter().all(|chord| chord.len() == 9));
        assert_eq!(pairs(&mesh), (56, 42));
    }

    #[test]
    fn irregular_lines_break_few_chords() {
        for benchmark in [Benchmark::Michell, Benchmark::ConnectingRod] {
            let mesh = benchmark.generate(Resolution::Elements(4000)).unwrap();
            for seed in 0..3 {
                let mesh = Renumbering::shuffled(&mesh, seed).apply(&mesh);
                assert!(16 * chords(&mesh).len() < mesh.n_elements());
                let (all, going_on) = pairs(&mesh);
                assert_eq!(all, going_on);
            }
        }
    }

    #[test]
    fn ranges_are_searched_by_themselves_on_any_number_of_threads() {
        let mesh = Benchmark::ConnectingRod.generate(Resolution::Elements(4000)).unwrap();
        let seeds: Vec<u32> = (0..mesh.n_elements() as u32).rev().collect();
        let search = |n_threads: usize, most: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let chords = pool.install(|| Chords::in_ranges(&mesh, &seeds, most));
            (chords.iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), chords.rotations)
        };

        let (chords, rotations) = search(1, 500);
        assert_eq!(search(3, 500), (chords.clone(), rotations));
        let size = mesh.n_elements().div_ceil(mesh.n_elements().div_ceil(500)) as u32;
        assert!(chords.iter().all(|chord| chord.iter().all(|e| e / size == chord[0] / size)));
        let mut all = chords.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..mesh.n_elements() as u32));
        assert_eq!(search(1, 4000 * 2), search(1, mesh.n_elements()));
    }

    /// Three elements on one face, as no mesher should make them.
    #[test]
    fn faces_of_three_elements_end_the_search() {
        let beyond = |scale: f64| {
            [1, 2, 6, 5].map(|a: usize| [NODES[a][0] + scale, NODES[a][1], NODES[a][2]])
        };
        let coordinates = [&NODES[..], &beyond(1.0), &beyond(2.0)].concat();
        let over = |b: u32| [1, b, b + 1, 2, 5, b + 3, b + 2, 6];
        let hexes = vec![[0, 1, 2, 3, 4, 5, 6, 7], over(8), over(12)];
        let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
        assert!(chords(&mesh).len() <= 2);
    }
}

//! Needles and caps among facets, as a surface has that was cut from a mesh. They bound no
//! tetrahedra that can be computed with, and go where the surface stays in its place.

use std::collections::HashSet;

use topopt_mesh::vector::{cross, difference, dot, length};

/// Edges shorter than this share of the middle one may go.
const SHORT: f64 = 0.2;

/// Largest move of the surface, as a share of the short edge.
const OFF: f64 = 0.25;

/// The smallest cosine between the normals of a facet before and after.
const TURN: f64 = 0.8;

/// Passes over all facets, at most.
const MOST: usize = 12;

/// Removes short edges and flips those across flat triangles, where the closed surface keeps its
/// topology and moves by less than a twentieth of its middle edge. `shells` go with the `triangles`.
pub(super) fn remove(vertices: &[[f64; 3]], triangles: &mut Vec<[u32; 3]>, shells: &mut Vec<u32>) {
    let mut surface = Changing::of(vertices, triangles);
    let short = SHORT * surface.middle_edge();
    for _ in 0..MOST {
        if surface.collapse(short) + surface.flip(short) == 0 {
            break;
        }
    }
    let mut is_left = surface.is_left.iter();
    shells.retain(|_| is_left.next() == Some(&true));
    let left = surface.triangles.iter().zip(&surface.is_left);
    *triangles = left.filter(|(_, left)| **left).map(|(triangle, _)| *triangle).collect();
}

/// A closed surface while it changes.
struct Changing<'a> {
    vertices: &'a [[f64; 3]],
    triangles: Vec<[u32; 3]>,
    is_left: Vec<bool>,
    /// Triangles that have had a vertex, `[n_vertices]`; those left out are ignored.
    at: Vec<Vec<u32>>,
}

impl<'a> Changing<'a> {
    fn of(vertices: &'a [[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let mut at = vec![Vec::new(); vertices.len()];
        for (t, triangle) in (0..).zip(triangles) {
            triangle.iter().for_each(|&vertex| at[vertex as usize].push(t));
        }
        let is_left = vec![true; triangles.len()];
        Self { vertices, triangles: triangles.to_vec(), is_left, at }
    }

    fn x(&self, vertex: u32) -> [f64; 3] {
        self.vertices[vertex as usize]
    }

    fn length(&self, [a, b]: [u32; 2]) -> f64 {
        length(difference(self.x(a), self.x(b)))
    }

    /// Median length of the edges.
    fn middle_edge(&self) -> f64 {
        let edges = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
        let mut lengths: Vec<f64> =
            self.triangles.iter().flat_map(edges).map(|edge| self.length(edge)).collect();
        let middle = lengths.len() / 2;
        *lengths.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// The triangles that are left at a vertex.
    fn star(&self, vertex: u32) -> Vec<u32> {
        let is_here =
            |t: &u32| self.is_left[*t as usize] && self.triangles[*t as usize].contains(&vertex);
        self.at[vertex as usize].iter().copied().filter(is_here).collect()
    }

    /// Merges the ends of short edges, the shortest first, each vertex once; how many were merged.
    fn collapse(&mut self, short: f64) -> usize {
        let left = self.triangles.iter().zip(&self.is_left).filter(|(_, left)| **left);
        let edges = left.flat_map(|(&[a, b, c], _)| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<(f64, [u32; 2])> = edges
            .filter(|[a, b]| a < b)
            .map(|edge| (self.length(edge), edge))
            .filter(|(length, _)| *length < short)
            .collect();
        edges.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));

        let mut touched = HashSet::new();
        let mut merged = 0;
        for (_, [a, b]) in edges {
            if touched.contains(&a) || touched.contains(&b) {
                continue;
            }
            for [gone, kept] in [[a, b], [b, a]] {
                if self.may_merge(gone, kept, short) {
                    touched.extend(self.ring(gone));
                    self.merge(gone, kept);
                    merged += 1;
                    break;
                }
            }
        }
        merged
    }

    /// The other vertices of the triangles at a vertex, each once.
    fn ring(&self, vertex: u32) -> Vec<u32> {
        let star = self.star(vertex);
        let mut ring: Vec<u32> = star.iter().flat_map(|&t| self.triangles[t as usize]).collect();
        ring.sort_unstable();
        ring.dedup();
        ring.retain(|&other| other != vertex);
        ring
    }

    /// Whether the surface without the vertex `gone` has the same topology and place.
    fn may_merge(&self, gone: u32, kept: u32, short: f64) -> bool {
        let (star, ring) = (self.star(gone), self.ring(gone));
        let of_kept = self.ring(kept);
        let common = ring.iter().filter(|vertex| of_kept.contains(vertex)).count();
        // A closed disk of triangles around `gone`, which shares two vertices with that of `kept`.
        if star.len() != ring.len() || common != 2 || ring.len() < 4 {
            return false;
        }
        let star: Vec<[u32; 3]> = star.iter().map(|&t| self.triangles[t as usize]).collect();
        let outwards = self.sum_of_normals(&star);
        star.iter().filter(|old| !old.contains(&kept)).all(|&old| {
            let new = old.map(|vertex| if vertex == gone { kept } else { vertex });
            self.may_become(&[old], new, outwards, gone, short)
        })
    }

    fn sum_of_normals(&self, triangles: &[[u32; 3]]) -> [f64; 3] {
        let normals = triangles.iter().map(|triangle| self.normal(*triangle));
        normals.fold([0.0; 3], |sum, normal| [0, 1, 2].map(|i| sum[i] + normal[i]))
    }

    /// Whether a triangle `new` may stand where `old` ones did: `vertex` lies near its plane, it
    /// faces where they faced, and as the surface there does, `outwards`. Needles face anywhere.
    fn may_become(
        &self,
        old: &[[u32; 3]],
        new: [u32; 3],
        outwards: [f64; 3],
        vertex: u32,
        short: f64,
    ) -> bool {
        let normal = self.normal(new);
        let size = length(normal);
        let offset = dot(difference(self.x(vertex), self.x(new[0])), normal).abs();
        let faces = |old: &[u32; 3]| {
            let is_needle = self.height(old) < OFF * short;
            let old = self.normal(*old);
            is_needle || dot(old, normal) >= TURN * length(old) * size
        };
        let is_needle = self.height(&new) < OFF * short;
        let is_turned = !is_needle && dot(outwards, normal) <= 0.0;
        size > 0.0 && offset <= OFF * short * size && !is_turned && old.iter().any(faces)
    }

    /// The smallest height of a triangle.
    fn height(&self, triangle: &[u32; 3]) -> f64 {
        let [a, b, _] = self.longest_first(*triangle);
        length(self.normal(*triangle)) / self.length([a, b])
    }

    /// Twice the area vector.
    fn normal(&self, triangle: [u32; 3]) -> [f64; 3] {
        let [a, b, c] = triangle.map(|vertex| self.x(vertex));
        cross(difference(b, a), difference(c, a))
    }

    fn merge(&mut self, gone: u32, kept: u32) {
        for t in self.star(gone) {
            let triangle = &mut self.triangles[t as usize];
            if triangle.contains(&kept) {
                self.is_left[t as usize] = false;
                continue;
            }
            *triangle = triangle.map(|vertex| if vertex == gone { kept } else { vertex });
            self.at[kept as usize].push(t);
        }
    }

    /// Flips the longest edges of flat triangles without a short one; how many.
    fn flip(&mut self, short: f64) -> usize {
        let mut flipped = 0;
        for t in 0..self.triangles.len() {
            if self.is_left[t] {
                flipped += usize::from(self.flip_longest(t as u32, short));
            }
        }
        flipped
    }

    fn flip_longest(&mut self, t: u32, short: f64) -> bool {
        let triangle = self.triangles[t as usize];
        let [a, b, c] = self.longest_first(triangle);
        if self.height(&triangle) >= short {
            return false;
        }
        // a, b is the longest edge; d is opposite in the other triangle.
        let others: Vec<u32> = self
            .star(a)
            .into_iter()
            .filter(|&other| other != t && self.triangles[other as usize].contains(&b))
            .collect();
        let [other] = others[..] else { return false };
        let across = self.triangles[other as usize];
        let Some(d) = across.into_iter().find(|&vertex| vertex != a && vertex != b) else {
            return false;
        };
        if d == c || self.ring(c).contains(&d) {
            return false;
        }

        let old = [triangle, across];
        let new = [[c, a, d], [d, b, c]];
        let least = |pair: &[[u32; 3]; 2]| self.height(&pair[0]).min(self.height(&pair[1]));
        let outwards = self.sum_of_normals(&old);
        let fits = self.may_become(&old, new[0], outwards, b, short)
            && self.may_become(&old, new[1], outwards, a, short);
        if !fits || least(&new) <= least(&old) {
            return false;
        }
        self.triangles[t as usize] = new[0];
        self.triangles[other as usize] = new[1];
        self.at[d as usize].push(t);
        self.at[c as usize].push(other);
        true
    }

    /// The triangle from its longest edge on, in its own direction.
    fn longest_first(&self, [a, b, c]: [u32; 3]) -> [u32; 3] {
        let turns = [[a, b, c], [b, c, a], [c, a, b]];
        let by_length = |one: &&[u32; 3], other: &&[u32; 3]| {
            self.length([one[0], one[1]]).total_cmp(&self.length([other[0], other[1]]))
        };
        turns.iter().max_by(by_length).copied().unwrap_or([a, b, c])
    }
}

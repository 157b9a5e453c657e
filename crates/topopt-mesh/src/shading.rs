//! `Shading`: vertices for drawing a surface, split at sharp edges, with a normal each.

use rayon::prelude::*;

use crate::vector::{cross, difference, dot, length};

/// A surface to be drawn. Where faces meet in a sharp edge, each side has vertices of its own.
#[derive(Debug)]
pub struct Shading {
    /// Vertex of the surface behind each vertex, `[n]`.
    pub sources: Vec<u32>,
    /// Outward unit normals, `[n][3]`: means, weighted by area, of the triangles at the vertex.
    pub normals: Vec<[f32; 3]>,
    /// Vertices of the triangles, `[n_triangles][3]`, in the order of the surface.
    pub triangles: Vec<[u32; 3]>,
}

/// Cosine of 30 degrees, the angle between the normals of two triangles beyond which their edge is
/// sharp.
const SHARP: f64 = 0.866;

impl Shading {
    /// Splits the vertices of a surface. A vertex keeps together the triangles around it that can
    /// be reached from one another across edges of two triangles that are not sharp.
    ///
    /// `vertices` `[n_vertices][3]`; `triangles` `[n_triangles][3]`, at most `u32::MAX / 3`.
    pub fn of(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
            cross(difference(b, a), difference(c, a))
        };
        let areas: Vec<[f64; 3]> = triangles.par_iter().map(area).collect();

        let (offsets, corners) = corners_by_vertex(vertices.len(), triangles);
        let firsts = (0..vertices.len()).into_par_iter().step_by(CHUNK);
        let fans = firsts.map(|first| {
            let mut fans = Fans::default();
            let ranges = offsets[first..].windows(2).take(CHUNK).zip(first as u32..);
            ranges.for_each(|(range, vertex)| {
                fans.add(vertex, &corners[range[0]..range[1]], triangles, &areas);
            });
            fans
        });
        let fans: Vec<Fans> = fans.collect();

        let mut shading =
            Self { sources: vec![], normals: vec![], triangles: vec![[0; 3]; triangles.len()] };
        let mut corners = corners.into_iter();
        for Fans { sources, normals, numbers } in fans {
            let first = shading.sources.len() as u32;
            for (number, corner) in numbers.into_iter().zip(&mut corners) {
                let [triangle, local] = split(corner);
                shading.triangles[triangle][local] = first + number;
            }
            shading.sources.extend(sources);
            shading.normals.extend(normals);
        }
        shading
    }
}

/// Vertices of the surface whose new ones one task makes.
const CHUNK: usize = 4096;

/// Vertices that replace some of the surface, with the triangles around each.
#[derive(Default)]
struct Fans {
    sources: Vec<u32>,
    normals: Vec<[f32; 3]>,
    /// Vertices at the corners around those of the surface, corner by corner.
    numbers: Vec<u32>,
}

impl Fans {
    /// Adds the vertices that replace a `vertex` of the surface at the `corners` around it.
    fn add(&mut self, vertex: u32, corners: &[u32], triangles: &[[u32; 3]], areas: &[[f64; 3]]) {
        let groups = groups(corners, triangles, areas);
        let (first, own) = (self.sources.len(), self.numbers.len());
        let mut sums: Vec<[f64; 3]> = vec![];
        for (place, &corner) in corners.iter().enumerate() {
            if groups[place] == place {
                self.numbers.push((first + sums.len()) as u32);
                sums.push([0.0; 3]);
            } else {
                self.numbers.push(self.numbers[own + groups[place]]);
            }
            let (number, [triangle, _]) = (self.numbers[own + place], split(corner));
            let sum = &mut sums[number as usize - first];
            (0..3).for_each(|i| sum[i] += areas[triangle][i]);
        }
        self.sources.extend(sums.iter().map(|_| vertex));
        self.normals.extend(sums.into_iter().map(unit));
    }
}

/// Corners around every vertex, numbered `3 * triangle + local`, in rising order: those of vertex v
/// are `corners[offsets[v]..offsets[v + 1]]`.
fn corners_by_vertex(n_vertices: usize, triangles: &[[u32; 3]]) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0; n_vertices + 1];
    triangles.as_flattened().iter().for_each(|&vertex| offsets[vertex as usize + 1] += 1);
    for vertex in 0..n_vertices {
        offsets[vertex + 1] += offsets[vertex];
    }

    let mut next = offsets.clone();
    let mut corners = vec![0; 3 * triangles.len()];
    for (corner, &vertex) in (0..).zip(triangles.as_flattened()) {
        corners[next[vertex as usize]] = corner;
        next[vertex as usize] += 1;
    }
    (offsets, corners)
}

/// Triangle and local number of a corner.
fn split(corner: u32) -> [usize; 2] {
    [corner as usize / 3, corner as usize % 3]
}

/// Groups the `corners` around a vertex by the sharp edges between them: for each corner the place
/// of the first one in its group.
fn groups(corners: &[u32], triangles: &[[u32; 3]], areas: &[[f64; 3]]) -> Vec<usize> {
    // The edges at the vertex by their other ends; the triangles of an edge come one after another.
    let mut edges = Vec::with_capacity(2 * corners.len());
    for (place, &corner) in corners.iter().enumerate() {
        let [triangle, local] = split(corner);
        edges.extend([1, 2].map(|i| (triangles[triangle][(local + i) % 3], place)));
    }
    edges.sort_unstable();

    // Union-find trees, in which each place leads to an earlier one.
    let mut leaders: Vec<usize> = (0..corners.len()).collect();
    for edge in edges.chunk_by(|a, b| a.0 == b.0) {
        let &[(_, a), (_, b)] = edge else { continue };
        let [normal, other] = [a, b].map(|place| areas[split(corners[place])[0]]);
        if dot(normal, other) > SHARP * length(normal) * length(other) {
            let [a, b] = [a, b].map(|place| first(&mut leaders, place));
            leaders[a.max(b)] = a.min(b);
        }
    }
    (0..leaders.len()).for_each(|place| leaders[place] = leaders[leaders[place]]);
    leaders
}

/// Returns the root of `place` in the union-find `leaders`, and halves the path to it.
fn first(leaders: &mut [usize], mut place: usize) -> usize {
    while leaders[place] != place {
        leaders[place] = leaders[leaders[place]];
        place = leaders[place];
    }
    place
}

/// Normalizes `a`. A triangle without area has no direction and gets the one upwards, since a
/// drawing needs unit vectors.
fn unit(a: [f64; 3]) -> [f32; 3] {
    let length = length(a);
    if length > 0.0 { a.map(|x| (x / length) as f32) } else { [0.0, 0.0, 1.0] }
}

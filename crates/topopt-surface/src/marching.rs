//! The level surface of a field by marching tetrahedra, in parallel and the same on any number of
//! threads.

use manifold_rust::edge_op::cleanup_topology;
use manifold_rust::impl_mesh::ManifoldImpl;
use manifold_rust::linalg::{IVec3, Vec3};
use manifold_rust::sort::{morton_code, sort_verts};
use rayon::prelude::*;

use crate::centered::{Centered, STEPS};
use crate::{TriangleSurface, half_edges};

/// The surface of {`value` > 0} in a box from `low` to `high`, which closes it, by marching
/// tetrahedra on a body-centered lattice of about the `spacing`: closed and free of crossings.
///
/// Crossings of edges are found by linear interpolation. Points of the lattice that are much nearer
/// to one than their neighbors move there, which avoids slivers \[LabelleShewchuk2007\].
pub(crate) fn level_surface(
    value: impl Fn([f64; 3]) -> f64 + Sync,
    bounds: [[f64; 3]; 2],
    spacing: f64,
) -> TriangleSurface {
    let lattice = Centered::of(value, bounds, spacing);
    let corners = Corners::of(&lattice);
    let triangles = corners.order.par_iter().flat_map_iter(|&point| corners.around(point as usize));
    let triangles: Vec<IVec3> = triangles.collect();

    // Where the surface touches itself, its vertices are doubled.
    let mut body = ManifoldImpl::new();
    let places = corners.places.par_iter();
    body.vert_pos = places.map(|&[x, y, z]| Vec3 { x, y, z }).collect();
    half_edges::create(&mut body, &triangles);
    cleanup_topology(&mut body);
    body.remove_unreferenced_verts();
    sorted(body)
}

/// The surface of a body, whose vertices and triangles run along a curve that fills its box.
fn sorted(mut body: ManifoldImpl) -> TriangleSurface {
    body.calculate_bbox();
    sort_verts(&mut body);
    let half_edges =
        body.halfedge.par_chunks_exact(3).filter(|sides| sides[0].paired_halfedge >= 0);
    let triangles = half_edges.map(|sides| [0, 1, 2].map(|i| sides[i].start_vert as u32));
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let place = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| body.vert_pos[vertex as usize]);
        morton_code((a + b + c) / 3.0, &body.bbox)
    };
    let mut keyed: Vec<(u32, [u32; 3])> = triangles.par_iter().map(|t| (place(t), *t)).collect();
    keyed.par_sort_by_key(|(place, _)| *place);

    let vertices = body.vert_pos.par_iter().map(|&Vec3 { x, y, z }| [x, y, z]).collect();
    TriangleSurface::new(vertices, keyed.into_par_iter().map(|(_, triangle)| triangle).collect())
}

/// A point of the lattice beside which the surface crosses edges.
struct Point {
    index: usize,
    /// The place on the surface to which the point has moved, if so: its only vertex.
    moved: Option<[f64; 3]>,
}

const NONE: u32 = u32::MAX;

/// Largest move of a point along an axis, as a share of the spacing, and the ratio of values beyond
/// which it is that small.
const MOVED: f64 = 0.25;
const RATIO: f64 = 1.0 / MOVED - 1.0;

/// Most pairs of opposite neighbors beyond the surface for which a point moves: with more it is in
/// the middle of a sheet.
const MOST_OPPOSED: usize = 3;

impl Centered {
    /// The points beside the surface, in their order.
    fn near(&self) -> Vec<Point> {
        let [nx, ny, nz] = self.counts;
        // Layers in which all neighbors are points of the lattice.
        let planes = (1..nx - 1).into_par_iter();
        let rows = planes.flat_map_iter(|x| (1..ny - 1).map(move |y| (x * ny + y) * nz + 1));
        let points = rows.flat_map_iter(|first| 2 * first..2 * (first + nz - 2));
        points.filter_map(|index| Point::near(self, index)).collect()
    }

    /// The order of `points` in the table of the library: where the surface touches itself, it
    /// depends on the order of triangles which of them are neighbors.
    fn order(&self, points: &[Point]) -> Vec<u32> {
        let most = self.key(self.counts.map(|n| n - 1), 1);
        let mut size = (2 * most).min((10.0 * (most as f64).sqrt()) as u64).max(1);
        // A table that is more than half full is given up for a larger one.
        while 2 * points.len() as u64 > size.next_power_of_two() {
            let tried = &points[..=size.next_power_of_two() as usize / 2];
            let last = tried.iter().rev().find_map(|point| point.moved);
            let ratio = last.map_or(f64::INFINITY, |place| {
                let place = self.within(place);
                let cube = [0, 1, 2].map(|i| ((place[i] - self.low[i]) / self.spacing[i]) as usize);
                most as f64 / self.key(cube, 1) as f64
            });
            size = if ratio > 1000.0 { 2 * size } else { (size as f64 * ratio) as u64 };
        }

        let mut table = vec![NONE; size.next_power_of_two() as usize];
        for (number, point) in (0..).zip(points) {
            let key = self.key(self.cube(point.index).map(|n| n - 1), point.index as u64 % 2);
            let mut slot = hash(key) as usize % table.len();
            while table[slot] != NONE {
                slot = (slot + 1) % table.len();
            }
            table[slot] = number;
        }
        table.into_iter().filter(|number| *number != NONE).collect()
    }

    /// Number of a point in the library.
    fn key(&self, cube: [usize; 3], center: u64) -> u64 {
        let [_, y, z] = self.counts.map(|n| n.next_power_of_two().ilog2());
        let cube = cube.map(|n| n as u64);
        center | cube[2] << 1 | cube[1] << (1 + z) | cube[0] << (1 + z + y)
    }
}

/// Vertices of the surface, by points of the lattice.
struct Corners<'a> {
    lattice: &'a Centered,
    points: Vec<Point>,
    /// Number of each of the lattice's points in `points`, or `NONE`.
    numbers: Vec<u32>,
    /// The points in the order of their triangles.
    order: Vec<u32>,
    /// Vertices on the edges from each point by the [`STEPS`], `NONE` without, `[n_points]`.
    edges: Vec<[u32; STEPS.len()]>,
    /// Vertices, `[n_vertices][3]`.
    places: Vec<[f64; 3]>,
}

impl<'a> Corners<'a> {
    fn of(lattice: &'a Centered) -> Self {
        let points = lattice.near();
        let mut numbers = vec![NONE; lattice.values.len()];
        (0..).zip(&points).for_each(|(number, point)| numbers[point.index] = number);
        let order = lattice.order(&points);
        let mut corners = Self { lattice, points, numbers, order, edges: vec![], places: vec![] };

        let moved = corners.points.iter().filter_map(|point| point.moved);
        let mut places: Vec<[f64; 3]> = moved.collect();
        let mut firsts = vec![0; corners.points.len()];
        let with_moved = corners.points.iter().zip(&mut firsts);
        let with_moved = with_moved.filter(|(point, _)| point.moved.is_some());
        (0..).zip(with_moved).for_each(|(vertex, (_, first))| *first = vertex);
        let unmoved = |number: &&u32| corners.points[**number as usize].moved.is_none();
        let unmoved: Vec<u32> = corners.order.iter().filter(unmoved).copied().collect();
        let on_edges = |&number: &u32| corners.on_edges(&corners.points[number as usize]);
        let counts: Vec<usize> = unmoved.par_iter().map(|point| on_edges(point).count()).collect();
        let mut next = places.len();
        for (number, count) in unmoved.iter().zip(counts) {
            firsts[*number as usize] = next;
            next += count;
        }
        places.par_extend(unmoved.par_iter().flat_map_iter(on_edges));
        places.par_iter_mut().for_each(|place| *place = lattice.within(*place));
        let edges = corners.points.par_iter().map(|point| corners.edges(point, &firsts));
        (corners.edges, corners.places) = (edges.collect(), places);
        corners
    }

    /// The point with this index, if the surface moved it.
    fn moved(&self, index: usize) -> Option<usize> {
        let number = self.numbers[index] as usize;
        self.points.get(number).is_some_and(|point| point.moved.is_some()).then_some(number)
    }

    /// Vertices on the edges of a point that has not moved, to others that have not.
    fn on_edges(&self, point: &Point) -> impl Iterator<Item = [f64; 3]> {
        let index = point.index;
        let ends = self.lattice.beyond(index).filter(|(_, end)| self.moved(*end).is_none());
        ends.map(move |(_, end)| self.lattice.crossing(index, end))
    }

    /// Vertices on the edges of a point, where the vertices of points begin with `firsts`.
    fn edges(&self, point: &Point, firsts: &[usize]) -> [u32; STEPS.len()] {
        let (mut edges, own) = ([NONE; STEPS.len()], self.numbers[point.index] as usize);
        let mut next = firsts[own];
        for (step, end) in self.lattice.beyond(point.index) {
            let vertex = match (point.moved, self.moved(end)) {
                (Some(_), _) => firsts[own],
                (None, Some(end)) => firsts[end],
                (None, None) => {
                    next += 1;
                    next - 1
                }
            };
            edges[step] = vertex as u32;
        }
        edges
    }

    /// Triangles in the six tetrahedra around the edge of a point's first step.
    fn around(&self, number: usize) -> Vec<IVec3> {
        let lattice = self.lattice;
        let (index, own) = (self.points[number].index, &self.edges[number]);
        let lead = lattice.neighbor(index, 0, 1);
        let strides = [1, 2, 3].map(|step| lattice.neighbor(index, step, 1) - index);
        let edges_of = |index: usize| match self.numbers[index] {
            NONE => [NONE; STEPS.len()],
            number => self.edges[number as usize],
        };
        let is_inside = lattice.is_inside(index);
        let is_beside = |step: usize| is_inside == (own[step] == NONE);

        let mut triangles = Vec::new();
        let (mut last, mut third) = (edges_of(index + strides[0]), is_beside(1));
        for i in 0..3 {
            let [next, before] = [(i + 1) % 3, (i + 2) % 3];
            let beside = edges_of(lead - strides[before]);
            let fourth = is_beside(before + 4);
            let edges = [
                own[0],
                own[i + 1],
                beside[next + 4],
                beside[before + 1],
                last[i + 4],
                own[before + 4],
            ];
            in_tetrahedron([is_beside(0), is_inside, third, fourth], edges, &mut triangles);

            last = edges_of(index + strides[next]);
            third = is_beside(next + 1);
            let edges = [own[0], edges[5], beside[i + 4], last[next + 4], edges[3], own[next + 1]];
            in_tetrahedron([is_beside(0), is_inside, fourth, third], edges, &mut triangles);
        }
        triangles
    }
}

impl Point {
    /// The point with this number if the surface is there, or crosses an edge from it.
    fn near(lattice: &Centered, index: usize) -> Option<Self> {
        let (value, is_inside) = (lattice.values[index], lattice.is_inside(index));
        let (mut crosses, mut n_opposed) = (false, 0);
        let mut nearest: Option<(usize, f64)> = None;
        for step in 0..STEPS.len() {
            let [ahead, behind] = [1, -1].map(|sign| lattice.neighbor(index, step, sign));
            let is_beyond = [ahead, behind].map(|other| lattice.is_inside(other) != is_inside);
            crosses |= is_beyond[0];
            n_opposed += usize::from(is_beyond == [true; 2]);
            let other = if is_beyond[0] { ahead } else { behind };
            let size = lattice.values[other].abs();
            let is_nearer = size > RATIO * value.abs() && nearest.is_none_or(|it| size > it.1);
            if is_beyond.contains(&true) && is_nearer {
                nearest = Some((other, size));
            }
        }

        let place = lattice.place(index);
        let moved = nearest.filter(|_| n_opposed <= MOST_OPPOSED).and_then(|(other, _)| {
            let to = lattice.crossing(index, other);
            (0..3).all(|i| (to[i] - place[i]).abs() < MOVED * lattice.spacing[i]).then_some(to)
        });
        let is_near = crosses || moved.is_some();
        is_near.then_some(Self { index, moved })
    }
}

/// Hash of a key: the last steps of the generator SplitMix64.
fn hash(key: u64) -> u64 {
    let x = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Adds the triangles of a tetrahedron whose corners are inside or not, with these vertices on its
/// edges: none that have shrunk to an edge.
fn in_tetrahedron(is_inside: [bool; 4], edges: [u32; 6], triangles: &mut Vec<IVec3>) {
    let number: usize = (0..4).map(|corner| usize::from(is_inside[corner]) << corner).sum();
    for corners in CUTS[number] {
        let [a, b, c] = corners.map(|edge| edges[edge] as i32);
        if a != b && b != c && c != a {
            triangles.push(IVec3 { x: a, y: b, z: c });
        }
    }
}

/// Edges of a tetrahedron by the triangles that cut it, by the corners inside.
const CUTS: [&[[usize; 3]]; 16] = [
    &[],
    &[[0, 3, 4]],
    &[[0, 1, 5]],
    &[[1, 5, 3], [3, 4, 1]],
    &[[1, 4, 2]],
    &[[1, 0, 3], [3, 2, 1]],
    &[[2, 5, 0], [0, 4, 2]],
    &[[5, 3, 2]],
    &[[2, 3, 5]],
    &[[0, 5, 2], [2, 4, 0]],
    &[[3, 0, 1], [1, 2, 3]],
    &[[2, 4, 1]],
    &[[3, 5, 1], [1, 4, 3]],
    &[[5, 1, 0]],
    &[[4, 3, 0]],
    &[],
];

#[cfg(test)]
mod tests {
    use manifold_rust::manifold::Manifold;
    use manifold_rust::sdf::level_set;
    use manifold_rust::types::Box;

    use super::*;
    use crate::body::surface;

    /// Balls that nearly touch each other, a plate that runs out of the box, and a sheet so thin that
    /// its sides touch each other.
    fn bodies(x: [f64; 3]) -> f64 {
        let ball = |c: [f64; 3]| 1.0 - (0..3).map(|i| (x[i] - c[i]).powi(2)).sum::<f64>().sqrt();
        let plate = 0.21 - (x[2] + 1.4).abs();
        let sheet = 0.05 - (x[1] + 0.2 * x[0] - 0.5).abs();
        ball([0.0; 3]).max(ball([1.37, 1.37, 0.1])).max(plate).max(sheet)
    }

    #[test]
    fn surfaces_are_those_of_the_library() {
        let bounds = [[-1.9, -2.0, -2.1], [2.9, 3.0, 2.5]];
        for spacing in [0.31, 0.17, 0.11] {
            let found = level_surface(bodies, bounds, spacing);
            let [low, high] = bounds.map(|[x, y, z]| Vec3 { x, y, z });
            let value = |x: Vec3| bodies([x.x, x.y, x.z]);
            let known = level_set(value, Box::from_points(low, high), spacing, 0.0, 0.0);

            assert_eq!(found.triangles.len(), known.num_tri());
            let known = surface(&Manifold::from_impl(known));
            assert_eq!(found.triangles, known.triangles);
            let off = found.vertices.as_flattened().iter().zip(known.vertices.as_flattened());
            assert!(off.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-15);
            assert!(found.triangles.len() > 1000);
        }
    }

    #[test]
    fn nothing_has_no_surface() {
        let found = level_surface(|_| -1.0, [[0.0; 3], [1.0; 3]], 0.2);
        assert_eq!(found, TriangleSurface::default());
    }
}

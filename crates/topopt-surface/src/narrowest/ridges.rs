//! Vertices between opposite walls.

use topopt_mesh::surface::NO_NEIGHBOR;
use topopt_mesh::vector::{difference, dot, length};
use topopt_mesh::{Face, tetrahedra};

use super::depths::{CORNER, Depths};

/// Cosine of the angle, 120 degrees, from which on two ways are opposite.
const OPPOSITE: f64 = -0.5;

/// The vertices inside, or outside, from which no neighbor lies deeper by much, or one on either
/// side does: those of necks. The least deep come first, and none is of an element that is
/// `ignored`.
pub(super) fn ridges(depths: &Depths, inside: bool, ignored: &[bool]) -> Vec<u32> {
    let (points, n) = (&depths.points, depths.points.len());
    let rise = |a: u32, b: u32| depths.of_vertex[b as usize] - depths.of_vertex[a as usize];
    let way = |a: u32, b: u32| difference(points[b as usize], points[a as usize]);

    let mut steepest = vec![(CORNER, u32::MAX); n];
    each_pair(depths, inside, |a, b| {
        let slope = rise(a, b) / length(way(a, b));
        for (from, to, slope) in [(a, b, slope), (b, a, -slope)] {
            if slope > steepest[from as usize].0 {
                steepest[from as usize] = (slope, to);
            }
        }
    });

    let mut is_ridge: Vec<bool> = (0..n as u32)
        .map(|v| depths.is_inside(v) == inside && steepest[v as usize].1 == u32::MAX)
        .collect();
    each_pair(depths, inside, |a, b| {
        for (from, to) in [(a, b), (b, a)] {
            let (_, up) = steepest[from as usize];
            if up != u32::MAX && rise(from, to) >= 0.0 {
                let [to_up, to_other] = [way(from, up), way(from, to)];
                let limit = OPPOSITE * length(to_up) * length(to_other);
                is_ridge[from as usize] |= dot(to_up, to_other) <= limit;
            }
        }
    });

    for element in (0..depths.mesh.n_elements()).filter(|&element| ignored[element]) {
        is_ridge[depths.center(element as u32) as usize] = false;
        depths.mesh.element(element).iter().for_each(|&node| is_ridge[node as usize] = false);
    }
    let mut ridges: Vec<u32> = (0..n as u32).filter(|&vertex| is_ridge[vertex as usize]).collect();
    let depth = |vertex: &u32| depths.of_vertex[*vertex as usize];
    ridges.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
    ridges
}

/// Visits the edges of the tetrahedra inside, or outside, some of them several times, and the pairs
/// of neighboring elements by their centers.
fn each_pair(depths: &Depths, inside: bool, mut visit: impl FnMut(u32, u32)) {
    let mesh = depths.mesh;
    let is_there = |vertex: u32| depths.is_inside(vertex) == inside;
    for element in 0..mesh.n_elements() {
        for [center, a, b, c] in tetrahedra::of_element(mesh, element) {
            let edges = [(center, a), (center, b), (center, c), (a, b), (b, c), (c, a)];
            let here = edges.into_iter().filter(|(a, b)| is_there(*a) && is_there(*b));
            here.for_each(|(a, b)| visit(a, b));
        }
        for (local, &other) in (0..mesh.n_faces()).zip(&depths.neighbors[element]) {
            let element = element as u32;
            let face = Face { element, local }.nodes(mesh);
            if other != NO_NEIGHBOR && element < other && face.into_iter().all(is_there) {
                visit(depths.center(element), depths.center(other));
            }
        }
    }
}

//! Bodies grown by a distance on all sides.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use manifold_rust::linalg::Vec3;
use manifold_rust::manifold::Manifold;
use rayon::prelude::*;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;
use crate::body::surface;

/// Segments of a circle around the balls that round edges and corners: these lie up to 0.5 % of
/// the distance too near, faces not at all.
const SEGMENTS: u32 = 64;

/// Lengths that the facets of a body are merged within, as shares of the distance: the next one
/// where more facets are left than grow at once.
const MERGED: [f64; 3] = [5e-3, 2e-2, 5e-2];
const MANY_FACETS: usize = 1000;

/// Merged facets of a body that is not convex, at most: they take up to 0.02 s each.
pub const MOST_FACETS: usize = 5000;

/// Depth to which a facet grows into its body, as a share of the distance.
const INWARDS: f64 = 0.5;

/// Volume by which the hull of a convex body is larger, at most, as a share of its own.
const CONVEX: f64 = 1e-4;

/// The body and all within a `distance` of it.
///
/// # Errors
/// The number of facets, if a body is not convex and has more than [`MOST_FACETS`].
pub(crate) fn grown(body: &Manifold, distance: f64) -> Result<Manifold, usize> {
    if distance <= 0.0 {
        return Ok(body.clone());
    }
    // Several screws are not convex, but each of them may be. A cavity belongs to its body.
    let shells = body.decompose();
    let has_cavities = shells.iter().any(|shell| surface(shell).volume() < 0.0);
    let bodies = if has_cavities { vec![body.clone()] } else { shells };
    let grown: Result<Vec<_>, _> = bodies.iter().map(|it| one_grown(it, distance)).collect();
    grown.map(joined)
}

fn one_grown(body: &Manifold, distance: f64) -> Result<Manifold, usize> {
    if is_convex(body) {
        let shape = surface(&body.convex_hull());
        return Ok(Manifold::hull(&moved(&shape, distance).concat()));
    }

    // Of a body that is not convex each facet grows alone.
    let merged = |share: f64| surface(&body.simplify(share * distance));
    let mut shape = merged(MERGED[0]);
    for share in &MERGED[1..] {
        if shape.triangles.len() > MANY_FACETS {
            shape = merged(*share);
        }
    }
    if shape.triangles.len() > MOST_FACETS {
        return Err(shape.triangles.len());
    }
    let moved = moved(&shape, distance);
    let of_facet = |triangle: &[u32; 3]| {
        let around = triangle.iter().flat_map(|&vertex| moved[vertex as usize].iter().copied());
        let inside = inside(&shape, triangle, INWARDS * distance);
        Manifold::hull(&inside.into_iter().chain(around).collect::<Vec<_>>())
    };
    let mut bodies: Vec<Manifold> = shape.triangles.par_iter().map(of_facet).collect();
    bodies.push(body.clone());
    Ok(joined(bodies))
}

/// Corners of a triangle so deep in its body, which leave no gaps of rounding in the union.
fn inside(shape: &TriangleSurface, triangle: &[u32; 3], depth: f64) -> [Vec3; 3] {
    let normal = normal(shape, triangle).unwrap_or_default();
    triangle.map(|vertex| {
        let x = shape.vertices[vertex as usize];
        vector([0, 1, 2].map(|i| x[i] - depth * normal[i]))
    })
}

/// Whether a body is convex to rounding, as in the single precision of STL files.
fn is_convex(body: &Manifold) -> bool {
    body.convex_hull().volume() <= (1.0 + CONVEX) * body.volume()
}

/// The union of bodies, by pairs: the same on any number of threads.
pub(crate) fn joined(mut bodies: Vec<Manifold>) -> Manifold {
    let pair = |bodies: &[Manifold]| match bodies {
        [one, other] => one.union(other),
        _ => bodies[0].clone(),
    };
    while bodies.len() > 1 {
        bodies = bodies.par_chunks(2).map(pair).collect();
    }
    bodies.pop().unwrap_or_default()
}

/// Points at the `distance` of each vertex, `[n_vertices]`: along the normals around it, between
/// those of neighbors, and in the cone that all of them span.
fn moved(shape: &TriangleSurface, distance: f64) -> Vec<Vec<Vec3>> {
    let ball = surface(&Manifold::sphere(1.0, SEGMENTS as i32)).vertices;
    let ball: Vec<[f64; 3]> = ball.into_iter().map(|n| n.map(|x| x / length(n))).collect();
    let mut directions = vec![Vec::new(); shape.vertices.len()];
    let mut edges = vec![Vec::new(); shape.vertices.len()];
    let mut normals = BTreeMap::new();
    for triangle in &shape.triangles {
        let Some(normal) = normal(shape, triangle) else { continue };
        for i in 0..3 {
            let [a, b] = [triangle[i], triangle[(i + 1) % 3]];
            directions[a as usize].push(normal);
            let ends = [a, b].map(|vertex| shape.vertices[vertex as usize]);
            edges[a as usize].push(difference(ends[1], ends[0]));
            normals.insert((a, b), normal);
        }
    }
    for (&(a, b), &normal) in &normals {
        if let Some(&other) = normals.get(&(b, a)).filter(|_| a < b) {
            let between = between(normal, other);
            directions[a as usize].extend(&between);
            directions[b as usize].extend(&between);
        }
    }

    let all = directions.into_par_iter().zip(edges).zip(&shape.vertices);
    all.map(|((mut own, edges), x)| {
        own.extend(beyond(&edges, &ball));
        let step = |n: [f64; 3]| vector([0, 1, 2].map(|i| x[i] + distance * n[i]));
        own.into_iter().map(step).collect()
    })
    .collect()
}

/// Directions of the `ball` that lead away from all `edges` of a vertex.
fn beyond(edges: &[[f64; 3]], ball: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let is_beyond = |n: &&[f64; 3]| edges.iter().all(|edge| dot(**n, *edge) <= 0.0);
    ball.iter().filter(is_beyond).copied().collect()
}

/// Directions between two, on the shorter arc.
fn between(one: [f64; 3], other: [f64; 3]) -> Vec<[f64; 3]> {
    let angle = length(cross(one, other)).atan2(dot(one, other));
    let n = (angle / (TAU / f64::from(SEGMENTS))).ceil();
    let at = |i: u32| {
        let [a, b] = [n - f64::from(i), f64::from(i)].map(|share| (share / n * angle).sin());
        [0, 1, 2].map(|k| (a * one[k] + b * other[k]) / angle.sin())
    };
    (1..n as u32).map(at).filter(|x| x.iter().all(|x| x.is_finite())).collect()
}

/// The outward normal of a triangle, if it has one.
fn normal(shape: &TriangleSurface, triangle: &[u32; 3]) -> Option<[f64; 3]> {
    let [a, b, c] = triangle.map(|vertex| shape.vertices[vertex as usize]);
    let normal = cross(difference(b, a), difference(c, a));
    let size = length(normal);
    (size > 0.0).then(|| normal.map(|n| n / size))
}

pub(crate) fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3 { x, y, z }
}

//! Bodies between closed surfaces of triangles.

use std::f64::consts::TAU;

/// Vertices, and triangles counter-clockwise from outside.
pub type Body = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// Corners of a regular polygon of `n` sides in a circle, counter-clockwise.
pub fn circle([x, y]: [f64; 2], radius: f64, n: usize) -> Vec<[f64; 2]> {
    let corner = |i: usize| {
        let (sin, cos) = (TAU * i as f64 / n as f64).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    (0..n).map(corner).collect()
}

/// The prism from `low` to `high` over an `outline` whose first corner sees all others.
pub fn prism(outline: &[[f64; 2]], [low, high]: [f64; 2]) -> Body {
    let n = outline.len() as u32;
    let level = |z: f64| outline.iter().map(move |&[x, y]| [x, y, z]);
    let mut triangles = Vec::new();
    for i in 0..n {
        let next = (i + 1) % n;
        triangles.extend([[i, next, n + next], [i, n + next, n + i]]);
        if i > 0 && next > 0 {
            triangles.extend([[0, next, i], [n, n + i, n + next]]);
        }
    }
    (level(low).chain(level(high)).collect(), triangles)
}

/// The tube from `low` to `high` between polygons of `n` sides in two circles.
pub fn tube(center: [f64; 2], [inner, outer]: [f64; 2], [low, high]: [f64; 2], n: usize) -> Body {
    let rings = [(outer, low), (outer, high), (inner, high), (inner, low)];
    let ring = |(radius, z): (f64, f64)| {
        circle(center, radius, n).into_iter().map(move |[x, y]| [x, y, z])
    };
    let n = n as u32;
    let side = |ring: u32, i: u32| {
        let [a, b] = [ring * n, (ring + 1) % 4 * n];
        let next = (i + 1) % n;
        [[a + i, a + next, b + next], [a + i, b + next, b + i]]
    };
    let triangles = (0..4).flat_map(|ring| (0..n).flat_map(move |i| side(ring, i)));
    (rings.into_iter().flat_map(ring).collect(), triangles.collect())
}

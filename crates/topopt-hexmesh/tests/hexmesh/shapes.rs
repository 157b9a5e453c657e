//! Surfaces of simple bodies.

use std::f64::consts::TAU;

use topopt_hexmesh::Surface;

type Points = Vec<[f64; 3]>;
type Triangles = Vec<[u32; 3]>;

/// Prism over a polygon that is star-shaped from its first point, with `ring` points
/// counter-clockwise: the bottom is face 0, the top 1, and sides have the number that `side` gives
/// them.
pub fn prism(
    ring: &[[f64; 2]],
    height: f64,
    side: impl Fn(usize) -> u32,
) -> (Points, Triangles, Vec<u32>) {
    let n = ring.len() as u32;
    let at = |z: f64| ring.iter().map(move |&[x, y]| [x, y, z]);
    let points = at(0.0).chain(at(height)).collect();
    let (mut triangles, mut faces) = (Vec::new(), Vec::new());
    for i in 1..n - 1 {
        triangles.extend([[0, i + 1, i], [n, n + i, n + i + 1]]);
        faces.extend([0, 1]);
    }
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.extend([[i, j, n + j], [i, n + j, n + i]]);
        faces.extend([side(i as usize); 2]);
    }
    (points, triangles, faces)
}

/// Box from the origin.
pub fn brick([a, b, c]: [f64; 3]) -> (Points, Triangles, Vec<u32>) {
    prism(&[[0.0, 0.0], [a, 0.0], [a, b], [0.0, b]], c, |i| 2 + i as u32)
}

/// L-shaped prism, whose inner corner is the first point of its ring.
pub fn angle() -> Surface {
    let ring = [[3.0, 3.0], [3.0, 10.0], [0.0, 10.0], [0.0, 0.0], [10.0, 0.0], [10.0, 3.0]];
    let (points, triangles, faces) = prism(&ring, 5.0, |i| 2 + i as u32);
    Surface::new(points, triangles, faces).unwrap()
}

/// Cylinder of radius 1 and height 2; its wall is face 2.
pub fn cylinder() -> Surface {
    let point = |i: u32| [(TAU * f64::from(i) / 120.0).cos(), (TAU * f64::from(i) / 120.0).sin()];
    let ring: Vec<[f64; 2]> = (0..120).map(point).collect();
    let (points, triangles, faces) = prism(&ring, 2.0, |_| 2);
    Surface::new(points, triangles, faces).unwrap()
}

/// Unit sphere of one face: an octahedron, halved four times.
pub fn sphere() -> (Points, Triangles) {
    let mut points: Points = Vec::new();
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    axes.iter().for_each(|&a| points.extend([a, a.map(|x: f64| -x)]));
    let mut triangles: Triangles = Vec::new();
    for (x, y, z) in [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4)] {
        triangles.extend([[x, y, z], [y, x, 5]]);
    }
    for _ in 0..4 {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32, points: &mut Points| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let sum: [f64; 3] =
                    [0, 1, 2].map(|k| points[a as usize][k] + points[b as usize][k]);
                let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
                points.push(sum.map(|x| x / length));
                points.len() as u32 - 1
            })
        };
        let mut halved = Vec::new();
        for &[a, b, c] in &triangles {
            let [p, q, r] = [(a, b), (b, c), (c, a)].map(|(a, b)| middle(a, b, &mut points));
            halved.extend([[a, p, r], [p, b, q], [r, q, c], [p, q, r]]);
        }
        triangles = halved;
    }
    (points, triangles)
}

/// Bodies of unit cubes: `body` gives that of each cube of `n`, if any. Faces have numbers by their
/// planes and the bodies on their sides. Points, triangles, face numbers, and the bodies behind and
/// before each triangle.
pub fn cubes(
    n: [usize; 3],
    body: impl Fn([usize; 3]) -> Option<u32>,
) -> (Points, Triangles, Vec<u32>, Vec<[Option<u32>; 2]>) {
    let at = |[x, y, z]: [usize; 3]| ((x * (n[1] + 1) + y) * (n[2] + 1) + z) as u32;
    let planes = (0..=n[0]).flat_map(|x| (0..=n[1]).map(move |y| (x, y)));
    let points = planes.flat_map(|(x, y)| (0..=n[2]).map(move |z| [x, y, z].map(|c| c as f64)));
    let (mut triangles, mut numbers, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: Vec<(usize, usize, [Option<u32>; 2])> = Vec::new();
    for axis in 0..3 {
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let places = (0..=n[axis]).flat_map(|i| (0..n[u]).map(move |j| (i, j)));
        for (i, j, k) in places.flat_map(|(i, j)| (0..n[v]).map(move |k| (i, j, k))) {
            let cube = |i: usize| {
                let mut cube = [0; 3];
                (cube[axis], cube[u], cube[v]) = (i, j, k);
                cube
            };
            let behind = (i > 0).then(|| body(cube(i - 1))).flatten();
            let before = (i < n[axis]).then(|| body(cube(i))).flatten();
            if behind == before {
                continue;
            }
            let key = (axis, i, [behind, before]);
            let number = known.iter().position(|other| *other == key).unwrap_or(known.len());
            if number == known.len() {
                known.push(key);
            }
            let corner = |du: usize, dv: usize| {
                let mut place = cube(i);
                place[u] += du;
                place[v] += dv;
                at(place)
            };
            let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
            numbers.extend([number as u32; 2]);
            sides.extend([[behind, before]; 2]);
        }
    }
    (points.collect(), triangles, numbers, sides)
}

/// Points turned by 17 degrees about z, then by 31 about x.
pub fn turned(points: Points) -> Points {
    let ([c, s], [d, t]) =
        ([17_f64, 17.0].map(f64::to_radians), [31_f64, 31.0].map(f64::to_radians));
    let ([c, s], [d, t]) = ([c.cos(), s.sin()], [d.cos(), t.sin()]);
    let turn = |[x, y, z]: [f64; 3]| {
        let (x, y) = (c * x - s * y, s * x + c * y);
        [x, d * y - t * z, t * y + d * z]
    };
    points.into_iter().map(turn).collect()
}

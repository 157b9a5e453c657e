//! The tetrahedron of ten nodes: shape functions, integration points, and the Jacobian of its map.
//!
//! Nodes stand in the order of VTK's quadratic tetrahedron: four vertices, then the middles of the
//! edges 01, 12, 20, 03, 13, 23, as [`Shape::edges`] has them. Points are given by the barycentric
//! coordinates of the vertices.

use crate::cells::Shape;
use crate::hexahedron::determinant;
use crate::vector::{difference, dot};

/// Number of nodes.
pub const N_NODES: usize = 10;

/// Coordinates of the nodes, `[10][3]`.
pub type TetrahedronNodes = [[f64; 3]; N_NODES];

/// Barycentric coordinate of an integration point at its own vertex, (5 + 3 sqrt 5) / 20; at the
/// others it is [`OTHER`].
pub const OWN: f64 = 0.585_410_196_624_968_5;

/// Barycentric coordinate of an integration point at the other vertices, (5 - sqrt 5) / 20.
pub const OTHER: f64 = 0.138_196_601_125_010_5;

/// The four points of the rule of degree 2, one near each vertex; each has a quarter of the volume.
pub const POINTS: [[f64; 4]; 4] = [
    [OWN, OTHER, OTHER, OTHER],
    [OTHER, OWN, OTHER, OTHER],
    [OTHER, OTHER, OWN, OTHER],
    [OTHER, OTHER, OTHER, OWN],
];

/// The 14 points of a rule of degree 5 by the coordinates of vertices 1, 2 and 3, with their
/// weights, which add up to a sixth \[Walkington2000\].
pub fn fine_rule() -> [([f64; 3], f64); 14] {
    /// Coordinates of all vertices but one.
    const AT_VERTICES: [(f64, f64); 2] = [
        (0.092_735_250_310_891_23, 0.012_248_840_519_393_66),
        (0.310_885_919_263_300_6, 0.018_781_320_953_002_64),
    ];
    /// Coordinates of two vertices; those of the others add up to the rest of 1/2 each.
    const ON_EDGES: (f64, f64) = (0.045_503_704_125_649_65, 0.007_091_003_462_846_91);

    std::array::from_fn(|i| match i {
        0..8 => {
            let (other, weight) = AT_VERTICES[i / 4];
            let share = |a| if a == i % 4 { 1.0 - 3.0 * other } else { other };
            ([1, 2, 3].map(share), weight)
        }
        _ => {
            let (near, weight) = ON_EDGES;
            let ends = Shape::Tetrahedron.edges()[i - 8];
            let share = |a| if ends.contains(&a) { 0.5 - near } else { near };
            ([1, 2, 3].map(share), weight)
        }
    })
}

/// Barycentric coordinates of the center.
pub const CENTER: [f64; 4] = [0.25; 4];

/// All four barycentric coordinates of a point, from those of vertices 1, 2 and 3.
pub fn with_first([b, c, d]: [f64; 3]) -> [f64; 4] {
    [1.0 - b - c - d, b, c, d]
}

/// Nodes in the middles of the edges between two vertices, `[4][4]`; the vertex itself on the
/// diagonal.
pub const BETWEEN: [[usize; 4]; 4] = [[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]];

/// Nodes of the four faces, counter-clockwise seen from outside: three vertices, then the middles
/// after each of them. Order of the faces as of [`Shape::faces`].
pub const FACES: [[usize; 6]; 4] =
    [[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [2, 0, 3, 6, 7, 9]];

/// Values of the ten shape functions at a point.
pub fn shape_functions(at: [f64; 4]) -> [f64; N_NODES] {
    let mut values = [0.0; N_NODES];
    for a in 0..4 {
        values[a] = at[a] * (2.0 * at[a] - 1.0);
    }
    for (value, &[a, b]) in values[4..].iter_mut().zip(Shape::Tetrahedron.edges()) {
        *value = 4.0 * at[a] * at[b];
    }
    values
}

/// Derivatives of the ten shape functions by the coordinates of vertices 1, 2 and 3 at a point,
/// that of vertex 0 being 1 minus the others.
pub fn shape_gradients(at: [f64; 4]) -> [[f64; 3]; N_NODES] {
    // Of each barycentric coordinate.
    let own = |a: usize| -> [f64; 3] {
        std::array::from_fn(|i| if a == 0 { -1.0 } else { f64::from(u8::from(a == i + 1)) })
    };
    let mut gradients = [[0.0; 3]; N_NODES];
    for a in 0..4 {
        gradients[a] = own(a).map(|g| (4.0 * at[a] - 1.0) * g);
    }
    for (gradient, &[a, b]) in gradients[4..].iter_mut().zip(Shape::Tetrahedron.edges()) {
        *gradient = std::array::from_fn(|i| 4.0 * (at[b] * own(a)[i] + at[a] * own(b)[i]));
    }
    gradients
}

/// The Jacobian `J[i][j]` of the coordinates by those of vertex j + 1 at a point of the tetrahedron
/// with nodes at `x`; its determinant is six times the volume of a straight one.
pub fn jacobian(x: &TetrahedronNodes, at: [f64; 4]) -> [[f64; 3]; 3] {
    let gradients = shape_gradients(at);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..N_NODES).map(|a| x[a][i] * gradients[a][j]).sum())
    })
}

/// The point of the tetrahedron with nodes at `x`.
pub fn map(x: &TetrahedronNodes, at: [f64; 4]) -> [f64; 3] {
    let shape = shape_functions(at);
    std::array::from_fn(|i| (0..N_NODES).map(|a| shape[a] * x[a][i]).sum())
}

/// The smallest determinant of the Jacobian at the integration points.
pub fn least_determinant(x: &TetrahedronNodes) -> f64 {
    let determinants = POINTS.map(|point| determinant(&jacobian(x, point)));
    determinants.into_iter().fold(f64::INFINITY, f64::min)
}

/// Volume by the integration points: exact where the edges are straight.
pub fn volume(x: &TetrahedronNodes) -> f64 {
    POINTS.map(|point| determinant(&jacobian(x, point))).into_iter().sum::<f64>() / 24.0
}

/// Mean of the vertices.
pub fn center(x: &TetrahedronNodes) -> [f64; 3] {
    std::array::from_fn(|i| 0.25 * (x[0][i] + x[1][i] + x[2][i] + x[3][i]))
}

/// Barycentric coordinates of a `point` in the tetrahedron with straight edges between the vertices
/// of that with nodes at `x`; negative ones outside.
pub fn barycentric(x: &TetrahedronNodes, point: [f64; 3]) -> [f64; 4] {
    let edges = [1, 2, 3].map(|a| difference(x[a], x[0]));
    let to = difference(point, x[0]);
    let six_volumes = determinant(&edges);
    let share = |i: usize| {
        let mut edges = edges;
        edges[i] = to;
        determinant(&edges) / six_volumes
    };
    with_first([share(0), share(1), share(2)])
}

/// Whether all nodes on edges are in their middles, to rounding.
pub fn is_straight(x: &TetrahedronNodes) -> bool {
    Shape::Tetrahedron.edges().iter().zip(&x[4..]).all(|(&[a, b], &middle)| {
        let off = difference(middle, midpoint(x[a], x[b]));
        let edge = difference(x[b], x[a]);
        dot(off, off) <= ROUNDING * ROUNDING * dot(edge, edge)
    })
}

/// Share of its edge that a node may be off the middle of a straight one.
const ROUNDING: f64 = 1e-13;

/// The point in the middle.
pub fn midpoint(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| 0.5 * (a[i] + b[i]))
}

/// Nodes of the tetrahedron with straight edges between four vertices.
pub fn straight(vertices: [[f64; 3]; 4]) -> TetrahedronNodes {
    let mut x = [[0.0; 3]; N_NODES];
    x[..4].copy_from_slice(&vertices);
    for (middle, &[a, b]) in (4..).zip(Shape::Tetrahedron.edges()) {
        x[middle] = midpoint(vertices[a], vertices[b]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTICES: [[f64; 3]; 4] =
        [[0.0, 0.1, 0.0], [2.0, 0.0, 0.3], [0.1, 1.5, 0.2], [0.4, 0.3, 1.2]];

    fn curved() -> TetrahedronNodes {
        let mut x = straight(VERTICES);
        x[4] = [1.0, -0.1, 0.3];
        x[9][1] += 0.2;
        x
    }

    #[test]
    fn shape_functions_interpolate_and_gradients_match_differences() {
        let mut places: Vec<[f64; 4]> =
            (0..4).map(|a| std::array::from_fn(|b| f64::from(u8::from(a == b)))).collect();
        places.extend(
            Shape::Tetrahedron
                .edges()
                .iter()
                .map(|&[a, b]| std::array::from_fn(|c| if c == a || c == b { 0.5 } else { 0.0 })),
        );
        for (a, &place) in places.iter().enumerate() {
            for (b, value) in shape_functions(place).into_iter().enumerate() {
                assert_eq!(value, f64::from(u8::from(a == b)), "{a} {b}");
            }
        }

        let (at, h) = ([0.4, 0.3, 0.2, 0.1], 1e-6);
        for j in 0..3 {
            let shifted = |h: f64| {
                let mut at = at;
                (at[0], at[j + 1]) = (at[0] - h, at[j + 1] + h);
                shape_functions(at)
            };
            let (plus, minus) = (shifted(h), shifted(-h));
            for a in 0..N_NODES {
                let difference = (plus[a] - minus[a]) / (2.0 * h);
                assert!((difference - shape_gradients(at)[a][j]).abs() < 1e-9);
            }
        }
    }

    /// The integral of a monomial of the coordinates over the reference tetrahedron is
    /// p! q! r! / (p + q + r + 3)!.
    #[test]
    fn the_fine_rule_is_of_degree_five() {
        let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
        for [p, q, r] in (0..216).map(|k| [k % 6, k / 6 % 6, k / 36]) {
            let value =
                |([x, y, z], weight): ([f64; 3], f64)| weight * x.powi(p) * y.powi(q) * z.powi(r);
            let found: f64 = fine_rule().map(value).into_iter().sum();
            let exact = factorial(p) * factorial(q) * factorial(r) / factorial(p + q + r + 3);
            let off = (found / exact - 1.0).abs();
            assert_eq!(off < 1e-12, p + q + r <= 5, "{p} {q} {r}: {off}");
        }
    }

    #[test]
    fn tables_agree_with_those_of_the_shape() {
        for (face, corners) in FACES.iter().zip(Shape::Tetrahedron.faces()) {
            assert_eq!(&face[..3], *corners);
            for i in 0..3 {
                assert_eq!(face[3 + i], BETWEEN[face[i]][face[(i + 1) % 3]]);
            }
        }
        for (middle, &[a, b]) in (4..).zip(Shape::Tetrahedron.edges()) {
            assert_eq!([BETWEEN[a][b], BETWEEN[b][a]], [middle, middle]);
        }
    }

    /// V = 1/3 of the flux of x through the faces, each by a fine midpoint rule.
    #[test]
    fn volume_by_divergence_theorem() {
        let x = curved();
        let (n, mut flux) = (80, 0.0);
        for [a, b, c, ..] in FACES {
            let at = |s: f64, t: f64| {
                let mut at = [0.0; 4];
                (at[a], at[b], at[c]) = (1.0 - s - t, s, t);
                map(&x, at)
            };

            for k in 0..n * n {
                let (i, j) = (k % n, k / n);
                let halves = if i + j + 1 < n { &[1.0 / 3.0, 2.0 / 3.0][..] } else { &[1.0 / 3.0] };

                for &third in halves.iter().filter(|_| i + j < n) {
                    let (h, s, t) =
                        (1e-5, (i as f64 + third) / n as f64, (j as f64 + third) / n as f64);
                    let along =
                        |from: [f64; 3], to: [f64; 3]| difference(to, from).map(|v| v / (2.0 * h));
                    let (ds, dt) =
                        (along(at(s - h, t), at(s + h, t)), along(at(s, t - h), at(s, t + h)));
                    flux += determinant(&[at(s, t), ds, dt]) / (2 * n * n) as f64;
                }
            }
        }
        assert!((flux / 3.0 / volume(&x) - 1.0).abs() < 2e-4, "{} {}", flux / 3.0, volume(&x));

        let straight = straight(VERTICES);
        let six = determinant(&[1, 2, 3].map(|a| difference(VERTICES[a], VERTICES[0])));
        assert!((volume(&straight) - six / 6.0).abs() < 1e-15);
        assert!(is_straight(&straight) && !is_straight(&x));
    }
}

//! The trilinear hexahedron: reference coordinates, faces, and the Jacobian of its map.
//!
//! Reference coordinates (xi, eta, zeta) run over [-1, 1]^3.

use rayon::prelude::*;

pub use crate::trilinear::{jacobian, map, volume};

/// Reference coordinates of the eight nodes, in the order of the VTK hexahedron.
pub const NODES: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// Local nodes of the six faces; seen from outside the element they run counter-clockwise.
/// Order of the faces: -x, +x, -y, +y, -z, +z of the reference element.
pub const FACES: [[usize; 4]; 6] =
    [[0, 4, 7, 3], [1, 2, 6, 5], [0, 1, 5, 4], [3, 7, 6, 2], [0, 3, 2, 1], [4, 5, 6, 7]];

/// Local nodes of the twelve edges.
pub const EDGES: [[usize; 2]; 12] = [
    [0, 1],
    [1, 2],
    [3, 2],
    [0, 3],
    [4, 5],
    [5, 6],
    [7, 6],
    [4, 7],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

/// The local nodes of the wedge that `hex` is, if one of its faces is collapsed to an edge: two of
/// that face's opposite edges join a node with itself, and all other nodes are distinct. Three
/// nodes of a triangle, counter-clockwise seen from outside the other one, reversed; then their
/// neighbors in the other triangle, as in Gmsh's prism and Abaqus' C3D6.
///
/// Such a degenerate hexahedron has the shape functions of the linear wedge, and a positive
/// Jacobian at the Gauss points [Hughes2000, 3.6].
pub fn wedge(hex: &[u32; 8]) -> Option<[usize; 6]> {
    if distinct(hex).count() != 6 {
        return None;
    }
    (0..FACES.len()).zip(FACES).find_map(|(number, [p, q, r, s])| {
        let across = |a: usize| neighbor(a, number / 2);
        [[p, q, r, s], [q, r, s, p]]
            .into_iter()
            .find(|&[p, q, r, s]| hex[p] == hex[q] && hex[r] == hex[s])
            .map(|[p, q, r, s]| [p, across(q), across(p), s, across(r), across(s)])
    })
}

/// The hexahedron that is the wedge of `nodes`, in the order of [`wedge`].
pub fn of_wedge<T: Copy>([a, b, c, d, e, f]: [T; 6]) -> [T; 8] {
    [a, b, c, c, d, e, f, f]
}

/// The local nodes of the pyramid that `hex` is, if one of its faces is collapsed to a point and
/// all other nodes are distinct: the four nodes of the opposite face, counter-clockwise seen from
/// the point, then that.
///
/// Such a degenerate hexahedron has the shape functions of the linear pyramid, which are rational,
/// and a positive Jacobian at the Gauss points [Hughes2000, 3.6].
pub fn pyramid(hex: &[u32; 8]) -> Option<[usize; 5]> {
    let (base, apex) = collapsed_face(hex)?;
    let [p, q, r, s] = base;
    (distinct(hex).count() == 5).then_some([p, q, r, s, apex])
}

/// The hexahedron that is the pyramid over `base`, counter-clockwise seen from the `apex`.
pub fn of_pyramid<T: Copy>([p, q, r, s]: [T; 4], apex: T) -> [T; 8] {
    [p, q, r, s, apex, apex, apex, apex]
}

/// The hexahedron that is the linear tetrahedron of four vertices of positive orientation: its
/// shape functions are the barycentric coordinates, and its Jacobian is positive at the Gauss points.
pub fn of_tetrahedron<T: Copy>([a, b, c, d]: [T; 4]) -> [T; 8] {
    [a, b, c, c, d, d, d, d]
}

/// The vertices of the tetrahedron that `hex` is, if it is [one](of_tetrahedron).
pub fn tetrahedron(hex: &[u32; 8]) -> Option<[u32; 4]> {
    let [a, b, c, _, d, ..] = *hex;
    (*hex == of_tetrahedron([a, b, c, d])).then_some([a, b, c, d])
}

/// If a face of `hex` is collapsed to a point: the local nodes of the opposite face,
/// counter-clockwise seen from that point, and one of the collapsed face.
pub(crate) fn collapsed_face(hex: &[u32; 8]) -> Option<([usize; 4], usize)> {
    let number = FACES.iter().position(|face| face.iter().all(|&a| hex[a] == hex[face[0]]))?;
    let [p, q, r, s] = FACES[number].map(|a| neighbor(a, number / 2));
    // As the neighbors of a face that is counter-clockwise from outside, and so from there.
    Some(([p, q, r, s], FACES[number][0]))
}

/// Whether a node may stand twice in `hex` as it does: in a [wedge] or a [pyramid].
pub fn is_degenerate(hex: &[u32; 8]) -> bool {
    has_twice(hex) && (wedge(hex).is_some() || pyramid(hex).is_some())
}

/// Whether a node stands twice in `hex`: all are compared at once.
#[inline]
pub fn has_twice(hex: &[u32; 8]) -> bool {
    let again =
        |shift: usize| (0..8).fold(false, |again, a| again | (hex[a] == hex[(a + shift) % 8]));
    (1..=4).fold(false, |any, shift| any | again(shift))
}

/// The entries of `nodes`, each once.
pub fn distinct<T: Copy + PartialEq>(nodes: &[T]) -> impl Iterator<Item = T> + '_ {
    (0..nodes.len()).filter(|i| !nodes[..*i].contains(&nodes[*i])).map(|i| nodes[i])
}

/// Mean of the corners `x` of an element or a face; corners in the same place count once, so that
/// it is that of the wedge or triangle.
pub fn center(x: &[[f64; 3]]) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for corner in distinct(x) {
        (0..3).for_each(|i| sum[i] += corner[i]);
        count += 1.0;
    }
    sum.map(|sum| sum / count)
}

/// The edges at every node, along xi, eta and zeta: numbers of [`EDGES`], which all run upwards.
pub(crate) const EDGES_AT: [[usize; 3]; 8] = {
    let mut edges = [[0; 3]; 8];
    let mut edge = 0;
    while edge < EDGES.len() {
        let [low, high] = EDGES[edge];
        let mut axis = 0;
        while neighbor(low, axis) != high {
            axis += 1;
        }
        (edges[low][axis], edges[high][axis]) = (edge, edge);
        edge += 1;
    }
    edges
};

/// The local node at the other end of the edge from `a` along `axis`.
pub(crate) const fn neighbor(a: usize, axis: usize) -> usize {
    // Between the order of VTK and that of a grid, x first, either way.
    let grid = a ^ (a >> 1 & 1) ^ 1 << axis;
    grid ^ (grid >> 1 & 1)
}

/// Abscissa of the two-point Gauss rule, 1/sqrt(3); both weights are 1.
pub const GAUSS: f64 = 0.577_350_269_189_625_8;

/// The eight points of the 2x2x2 Gauss rule; every weight is 1.
pub fn gauss_points() -> [[f64; 3]; 8] {
    NODES.map(|node| node.map(|xi| xi * GAUSS))
}

/// Values of the eight shape functions N_a at `xi`.
pub fn shape_functions(xi: [f64; 3]) -> [f64; 8] {
    NODES.map(|n| 0.125 * (1.0 + n[0] * xi[0]) * (1.0 + n[1] * xi[1]) * (1.0 + n[2] * xi[2]))
}

/// Gradients dN_a/dxi_j at `xi`, as `[node][direction]`.
pub fn shape_gradients(xi: [f64; 3]) -> [[f64; 3]; 8] {
    NODES.map(|n| {
        let [a, b, c] = [1.0 + n[0] * xi[0], 1.0 + n[1] * xi[1], 1.0 + n[2] * xi[2]];
        [0.125 * n[0] * b * c, 0.125 * n[1] * a * c, 0.125 * n[2] * a * b]
    })
}

/// Determinant of a 3x3 matrix.
pub fn determinant(m: &[[f64; 3]; 3]) -> f64 {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}

/// Inverse of a 3x3 matrix with determinant `det`, which must not be zero.
pub fn inverse(m: &[[f64; 3]; 3], det: f64) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            // Cofactor of m[j][i], by cyclic indices.
            let (r, c) = ([(j + 1) % 3, (j + 2) % 3], [(i + 1) % 3, (i + 2) % 3]);
            (m[r[0]][c[0]] * m[r[1]][c[1]] - m[r[0]][c[1]] * m[r[1]][c[0]]) / det
        })
    })
}

/// The distinct nodes of `elements`, increasing, and the elements by their numbers among these.
pub fn with_own_nodes<const E: usize>(elements: &[[u32; E]]) -> (Vec<u32>, Vec<[u32; E]>) {
    let mut nodes = elements.as_flattened().to_vec();
    nodes.par_sort_unstable();
    nodes.dedup();
    let own = |node: u32| nodes.binary_search(&node).unwrap_or_default() as u32;
    let elements = elements.par_iter().with_min_len(4096).map(|nodes| nodes.map(own)).collect();
    (nodes, elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEWED: [[f64; 3]; 8] = [
        [0.0, 0.1, 0.0],
        [1.1, 0.0, 0.1],
        [1.0, 1.2, 0.0],
        [0.0, 1.0, -0.1],
        [0.1, 0.0, 1.0],
        [1.0, 0.1, 1.1],
        [1.2, 1.0, 1.3],
        [-0.1, 1.1, 1.0],
    ];

    #[test]
    fn shape_functions_interpolate_and_gradients_match_differences() {
        for (a, &node) in NODES.iter().enumerate() {
            for (b, value) in shape_functions(node).into_iter().enumerate() {
                assert_eq!(value, if a == b { 1.0 } else { 0.0 });
            }
        }
        let (xi, h) = ([0.3, -0.2, 0.7], 1e-6);
        for j in 0..3 {
            let mut shifted = [xi, xi];
            shifted[0][j] += h;
            shifted[1][j] -= h;
            let [plus, minus] = shifted.map(shape_functions);
            for a in 0..8 {
                let difference = (plus[a] - minus[a]) / (2.0 * h);
                assert!((difference - shape_gradients(xi)[a][j]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn inverse_times_matrix_is_identity() {
        let j = jacobian(&SKEWED, [0.2, 0.5, -0.4]);
        let inv = inverse(&j, determinant(&j));
        for i in 0..3 {
            for k in 0..3 {
                let entry: f64 = (0..3).map(|m| inv[i][m] * j[m][k]).sum();
                assert!((entry - if i == k { 1.0 } else { 0.0 }).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn volume_by_divergence_theorem() {
        // V = 1/3 sum over faces of the flux of x; each bilinear face by a fine midpoint rule.
        let n = 64;
        let mut flux = 0.0;
        for face in FACES {
            let corner = face.map(|a| SKEWED[a]);
            for i in 0..n {
                for k in 0..n {
                    let (s, t) = ((i as f64 + 0.5) / n as f64, (k as f64 + 0.5) / n as f64);
                    let blend = |w: [f64; 4]| -> [f64; 3] {
                        std::array::from_fn(|d| (0..4).map(|c| w[c] * corner[c][d]).sum())
                    };
                    let x = blend([(1. - s) * (1. - t), s * (1. - t), s * t, (1. - s) * t]);
                    let ds = blend([t - 1., 1. - t, t, -t]);
                    let dt = blend([s - 1., -s, s, 1. - s]);
                    flux += determinant(&[x, ds, dt]) / (n * n) as f64;
                }
            }
        }
        assert!((flux / 3.0 - volume(&SKEWED)).abs() < 1e-4 * volume(&SKEWED));
    }
}

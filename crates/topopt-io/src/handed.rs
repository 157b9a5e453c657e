//! Cells whose corners are in the order of their mirror image.

use topopt_mesh::cells::{Cells, Shape};
use topopt_mesh::vector::{cross, difference, dot};

/// Brings the nodes of a left-handed cell into the order of a right-handed one, the corners and
/// then the nodes in the middles of its edges, if it has any; whether it did. A cell that would be
/// inverted either way stays as it is.
pub(crate) fn right_handed(shape: Shape, nodes: &mut [u32], places: &[[f64; 3]]) -> bool {
    if volume(shape, nodes, places) >= 0.0 {
        return false;
    }
    let mirrored = mirrored(shape, nodes);
    let mut cells = Cells::default();
    let (corners, middles) = mirrored.split_at(shape.n_corners());
    cells.push(shape, corners, middles);
    let is_right = cells.get(0).scaled_jacobian(places) > 0.0;
    if is_right {
        nodes.copy_from_slice(&mirrored);
    }
    is_right
}

/// A number of the sign of the volume, by the base and what stands over it.
fn volume(shape: Shape, nodes: &[u32], places: &[[f64; 3]]) -> f64 {
    let x = |a: usize| places[nodes[a] as usize];
    let mean = |nodes: std::ops::Range<usize>| {
        let count = nodes.len() as f64;
        nodes.fold([0.0; 3], |sum, a| [0, 1, 2].map(|i| sum[i] + x(a)[i] / count))
    };
    let n_base = if matches!(shape, Shape::Tetrahedron | Shape::Wedge) { 3 } else { 4 };
    let normal = match n_base {
        3 => cross(difference(x(1), x(0)), difference(x(2), x(0))),
        _ => cross(difference(x(2), x(0)), difference(x(3), x(1))),
    };
    dot(normal, difference(mean(n_base..shape.n_corners()), mean(0..n_base)))
}

/// The nodes by the corners of the mirror image.
fn mirrored(shape: Shape, nodes: &[u32]) -> Vec<u32> {
    let order: &[usize] = match shape {
        Shape::Tetrahedron => &[0, 2, 1, 3],
        Shape::Pyramid => &[0, 3, 2, 1, 4],
        Shape::Wedge => &[0, 2, 1, 3, 5, 4],
        Shape::Hexahedron => &[0, 3, 2, 1, 4, 7, 6, 5],
    };
    let (corners, middles) = nodes.split_at(shape.n_corners());
    let mut mirrored: Vec<u32> = order.iter().map(|&a| corners[a]).collect();
    if middles.is_empty() {
        return mirrored;
    }
    for &[a, b] in shape.edges() {
        let edge = [order[a], order[b]];
        let is_edge = |other: &[usize; 2]| *other == edge || *other == [edge[1], edge[0]];
        let found = shape.edges().iter().position(is_edge);
        mirrored.extend(found.map(|at| middles[at]));
    }
    mirrored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirror_images_are_turned_back_with_their_middles() {
        let cube = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
        let top = cube.map(|[x, y, _]| [x, y, 1.0]);
        let places = [cube, top].concat();
        for (shape, right) in [
            (Shape::Hexahedron, vec![0, 1, 2, 3, 4, 5, 6, 7]),
            (Shape::Wedge, vec![0, 1, 2, 4, 5, 6]),
            (Shape::Pyramid, vec![0, 1, 2, 3, 6]),
            (Shape::Tetrahedron, vec![0, 1, 2, 6]),
        ] {
            // Middles that are named by their edges.
            let middle = |nodes: &[u32], [a, b]: [usize; 2]| {
                100 + 10 * nodes[a].min(nodes[b]) + nodes[a].max(nodes[b])
            };
            let with_middles = |corners: &[u32]| -> Vec<u32> {
                let middles = shape.edges().iter().map(|edge| middle(corners, *edge));
                corners.iter().copied().chain(middles).collect()
            };

            let mut places = places.clone();
            places.resize(200, [0.5; 3]);
            let right = with_middles(&right);
            let mut nodes = right.clone();
            assert!(!right_handed(shape, &mut nodes, &places));

            let left = mirrored(shape, &right);
            assert_eq!(left, with_middles(&left[..shape.n_corners()]), "{shape:?}");
            let mut nodes = left.clone();
            assert!(right_handed(shape, &mut nodes, &places), "{shape:?}");
            assert_eq!(nodes, right);
        }
    }
}

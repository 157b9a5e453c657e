//! Shapes of the solid cells that mesh files hold, with their corners, edges and faces.

use std::sync::LazyLock;

/// Shape of a solid cell, whatever its order. Corners are numbered as those of VTK's linear cells,
/// which Gmsh, Abaqus, Ansys and Nastran number so as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// Four corners: a triangle, counter-clockwise seen from the fourth.
    Tetrahedron,
    /// Five corners: a quadrilateral, counter-clockwise seen from the fifth.
    Pyramid,
    /// Six corners: a triangle, counter-clockwise seen from the other one, and that.
    Wedge,
    /// Eight corners: a quadrilateral, counter-clockwise seen from the other one, and that.
    Hexahedron,
}

/// A corner where three edges meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    /// The corners b, c and d at the other ends of the edges; from here they are right-handed.
    pub to: [usize; 3],
    /// The edges to b, c and d.
    pub edges: [usize; 3],
    /// The faces between the edges to b and c, b and d, c and d.
    pub faces: [usize; 3],
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 4] = [Self::Tetrahedron, Self::Pyramid, Self::Wedge, Self::Hexahedron];

    /// Number of corners.
    pub fn n_corners(self) -> usize {
        match self {
            Self::Tetrahedron => 4,
            Self::Pyramid => 5,
            Self::Wedge => 6,
            Self::Hexahedron => 8,
        }
    }

    /// The edges by their corners, in the order in which VTK's quadratic cells number the nodes in
    /// their middles.
    pub fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Tetrahedron => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
            Self::Pyramid => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
            Self::Wedge => {
                &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]]
            }
            Self::Hexahedron => &[
                [0, 1],
                [1, 2],
                [2, 3],
                [3, 0],
                [4, 5],
                [5, 6],
                [6, 7],
                [7, 4],
                [0, 4],
                [1, 5],
                [2, 6],
                [3, 7],
            ],
        }
    }

    /// The faces by their corners, counter-clockwise seen from outside. The sides of a pyramid
    /// stand in the order of the edges of its base, which comes first.
    pub fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]],
            Self::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
            Self::Wedge => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            Self::Hexahedron => &[
                &[0, 4, 7, 3],
                &[1, 2, 6, 5],
                &[0, 1, 5, 4],
                &[3, 7, 6, 2],
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
            ],
        }
    }

    /// The shape in words, plural.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Tetrahedron => "tetrahedra",
            Self::Pyramid => "pyramids",
            Self::Wedge => "wedges",
            Self::Hexahedron => "hexahedra",
        }
    }

    /// The corners at which three edges meet: all, except the apex of a pyramid.
    pub(super) fn corners(self) -> &'static [Corner] {
        static CORNERS: LazyLock<[Vec<Corner>; 4]> = LazyLock::new(|| Shape::ALL.map(corners_of));
        &CORNERS[self as usize]
    }
}

/// The other ends of the edges at each corner of three edges, right-handed.
fn ends(shape: Shape) -> &'static [[usize; 3]] {
    match shape {
        Shape::Tetrahedron => &[[1, 2, 3], [2, 0, 3], [0, 1, 3], [0, 2, 1]],
        Shape::Pyramid => &[[1, 3, 4], [2, 0, 4], [3, 1, 4], [0, 2, 4]],
        Shape::Wedge => &[[1, 2, 3], [2, 0, 4], [0, 1, 5], [5, 4, 0], [3, 5, 1], [4, 3, 2]],
        Shape::Hexahedron => &[
            [1, 3, 4],
            [2, 0, 5],
            [3, 1, 6],
            [0, 2, 7],
            [7, 5, 0],
            [4, 6, 1],
            [5, 7, 2],
            [6, 4, 3],
        ],
    }
}

fn corners_of(shape: Shape) -> Vec<Corner> {
    let edge = |a: usize, b: usize| {
        shape.edges().iter().position(|edge| *edge == [a, b] || *edge == [b, a])
    };
    let face = |corners: [usize; 3]| {
        shape.faces().iter().position(|face| corners.iter().all(|corner| face.contains(corner)))
    };
    let corner = |(a, &[b, c, d]): (usize, &[usize; 3])| Corner {
        to: [b, c, d],
        edges: [b, c, d].map(|end| edge(a, end).unwrap_or_default()),
        faces: [[a, b, c], [a, b, d], [a, c, d]].map(|three| face(three).unwrap_or_default()),
    };
    ends(shape).iter().enumerate().map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hexahedron;
    use crate::vector::difference;

    /// Corners of a straight cell.
    fn place(shape: Shape) -> Vec<[f64; 3]> {
        let base = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
        let above = |x: &[f64; 3]| [x[0], x[1], 1.0];
        match shape {
            Shape::Tetrahedron => vec![base[0], base[1], base[3], [0., 0., 1.]],
            Shape::Pyramid => [&base[..], &[[0.5, 0.5, 1.0]]].concat(),
            Shape::Wedge => {
                let base = [base[0], base[1], base[3]];
                base.iter().copied().chain(base.iter().map(above)).collect()
            }
            Shape::Hexahedron => base.iter().copied().chain(base.iter().map(above)).collect(),
        }
    }

    /// Number of faces around which a corner follows another.
    fn runs(shape: Shape, from: usize, to: usize) -> usize {
        let follows = |face: &&&[usize]| {
            (0..face.len()).any(|i| [face[i], face[(i + 1) % face.len()]] == [from, to])
        };
        shape.faces().iter().filter(follows).count()
    }

    #[test]
    fn tables_agree_with_each_other() {
        for shape in Shape::ALL {
            let x = place(shape);
            assert_eq!(x.len(), shape.n_corners());
            // Euler's formula, and every edge in two faces, once in each direction.
            assert_eq!(shape.n_corners() + shape.faces().len(), shape.edges().len() + 2);
            for &[a, b] in shape.edges() {
                assert_eq!([runs(shape, a, b), runs(shape, b, a)], [1, 1], "{shape:?} {a} {b}");
            }

            // Normals point away from the center; corners are right-handed.
            let center = hexahedron::center(&x);
            for face in shape.faces() {
                let [a, b, c] = [face[0], face[1], face[2]].map(|i| x[i]);
                let spat = [difference(b, a), difference(c, a), difference(a, center)];
                assert!(hexahedron::determinant(&spat) > 0.0, "{shape:?} {face:?}");
            }
            for (a, corner) in shape.corners().iter().enumerate() {
                let spat = corner.to.map(|b| difference(x[b], x[a]));
                assert!(hexahedron::determinant(&spat) > 0.0, "{shape:?} {a}");
                let ends = |edge: usize| shape.edges()[edge];
                assert!((0..3).all(|i| {
                    ends(corner.edges[i]).contains(&a)
                        && ends(corner.edges[i]).contains(&corner.to[i])
                }));
            }
        }
    }
}

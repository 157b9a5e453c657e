//! Element types of Gmsh by number: shape and number of nodes.

use topopt_mesh::cells::{NO_NODE, Shape as Solid};

/// Shape of an element, whatever its order. The corner nodes always come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Point,
    Line,
    Triangle,
    Quadrilateral,
    Solid(Solid),
}

/// The nodes in the middles of edges, in the order of [`Solid::edges`], among the `nodes` of a
/// solid element of second order in the order of Gmsh; none of another order.
pub(super) fn middles(solid: Solid, nodes: &[u32]) -> Vec<u32> {
    let (edges, counts): (&[[usize; 2]], _) = match solid {
        Solid::Tetrahedron => (&TETRAHEDRON, [10, 10]),
        Solid::Pyramid => (&PYRAMID, [13, 14]),
        Solid::Wedge => (&PRISM, [15, 18]),
        Solid::Hexahedron => (&HEXAHEDRON, [20, 27]),
    };
    if !counts.contains(&nodes.len()) {
        return Vec::new();
    }
    let place = |&[a, b]: &[usize; 2]| {
        let found = edges.iter().position(|edge| *edge == [a.min(b), a.max(b)]);
        found.map_or(NO_NODE, |at| nodes[solid.n_corners() + at])
    };
    solid.edges().iter().map(place).collect()
}

// Edges in the order in which Gmsh numbers the nodes in their middles (reference manual, "Node
// ordering").
const TETRAHEDRON: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3]];
const PYRAMID: [[usize; 2]; 8] = [[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]];
const PRISM: [[usize; 2]; 9] =
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [3, 5], [4, 5]];
const HEXAHEDRON: [[usize; 2]; 12] = [
    [0, 1],
    [0, 3],
    [0, 4],
    [1, 2],
    [1, 5],
    [2, 3],
    [2, 6],
    [3, 7],
    [4, 5],
    [4, 7],
    [5, 6],
    [6, 7],
];

/// Shape and number of nodes of Gmsh's element type `number`, or `None` for the exotic ones
/// (polygons, cut elements, complete prisms and pyramids of high order).
pub(super) fn shape_of(number: i64) -> Option<(Shape, usize)> {
    let row = TYPES.iter().find(|(first, ..)| *first == number)?;
    Some((row.1, row.2))
}

/// (type, shape, nodes), from the table of the Gmsh reference manual, "MSH file format".
const TYPES: [(i64, Shape, usize); 60] = [
    (1, Shape::Line, 2),
    (2, Shape::Triangle, 3),
    (3, Shape::Quadrilateral, 4),
    (4, Shape::Solid(Solid::Tetrahedron), 4),
    (5, Shape::Solid(Solid::Hexahedron), 8),
    (6, Shape::Solid(Solid::Wedge), 6),
    (7, Shape::Solid(Solid::Pyramid), 5),
    (8, Shape::Line, 3),
    (9, Shape::Triangle, 6),
    (10, Shape::Quadrilateral, 9),
    (11, Shape::Solid(Solid::Tetrahedron), 10),
    (12, Shape::Solid(Solid::Hexahedron), 27),
    (13, Shape::Solid(Solid::Wedge), 18),
    (14, Shape::Solid(Solid::Pyramid), 14),
    (15, Shape::Point, 1),
    (16, Shape::Quadrilateral, 8),
    (17, Shape::Solid(Solid::Hexahedron), 20),
    (18, Shape::Solid(Solid::Wedge), 15),
    (19, Shape::Solid(Solid::Pyramid), 13),
    (20, Shape::Triangle, 9),
    (21, Shape::Triangle, 10),
    (22, Shape::Triangle, 12),
    (23, Shape::Triangle, 15),
    (24, Shape::Triangle, 15),
    (25, Shape::Triangle, 21),
    (26, Shape::Line, 4),
    (27, Shape::Line, 5),
    (28, Shape::Line, 6),
    (29, Shape::Solid(Solid::Tetrahedron), 20),
    (30, Shape::Solid(Solid::Tetrahedron), 35),
    (31, Shape::Solid(Solid::Tetrahedron), 56),
    (32, Shape::Solid(Solid::Tetrahedron), 22),
    (33, Shape::Solid(Solid::Tetrahedron), 28),
    (36, Shape::Quadrilateral, 16),
    (37, Shape::Quadrilateral, 25),
    (38, Shape::Quadrilateral, 36),
    (39, Shape::Quadrilateral, 12),
    (40, Shape::Quadrilateral, 16),
    (41, Shape::Quadrilateral, 20),
    (42, Shape::Triangle, 28),
    (43, Shape::Triangle, 36),
    (44, Shape::Triangle, 45),
    (45, Shape::Triangle, 55),
    (46, Shape::Triangle, 66),
    (47, Shape::Quadrilateral, 49),
    (48, Shape::Quadrilateral, 64),
    (49, Shape::Quadrilateral, 81),
    (50, Shape::Quadrilateral, 100),
    (51, Shape::Quadrilateral, 121),
    (62, Shape::Line, 7),
    (63, Shape::Line, 8),
    (64, Shape::Line, 9),
    (65, Shape::Line, 10),
    (66, Shape::Line, 11),
    (92, Shape::Solid(Solid::Hexahedron), 64),
    (93, Shape::Solid(Solid::Hexahedron), 125),
    (94, Shape::Solid(Solid::Hexahedron), 216),
    (99, Shape::Solid(Solid::Hexahedron), 32),
    (100, Shape::Solid(Solid::Hexahedron), 44),
    (118, Shape::Solid(Solid::Pyramid), 30),
];

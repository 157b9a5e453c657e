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

/// Picks the nodes in the middles of edges, in the order of [`Solid::edges`], from the `nodes` of a
/// solid element of second order in the order of Gmsh; empty for other orders.
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

/// Brings the ten nodes of a tetrahedron, in the order of [`Solid::edges`], into the order of Gmsh.
pub(super) fn in_order_of_gmsh(nodes: &mut [u32]) {
    let given = nodes.to_vec();
    for (edge, ends) in TETRAHEDRON.iter().enumerate() {
        let is_same = |[a, b]: &[usize; 2]| [*a.min(b), *a.max(b)] == *ends;
        let place = Solid::Tetrahedron.edges().iter().position(is_same);
        nodes[4 + edge] = given[4 + place.unwrap_or(edge)];
    }
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
    TYPES.iter().find_map(|(shape, types)| {
        let found = types.as_chunks().0.iter().find(|[first, _]| *first == number)?;
        Some((*shape, found[1] as usize))
    })
}

/// Element types by shape, as pairs of type and number of nodes, from the table of the Gmsh
/// reference manual, "MSH file format".
const TYPES: [(Shape, &[i64]); 8] = [
    (Shape::Point, &[15, 1]),
    (Shape::Line, &[1, 2, 8, 3, 26, 4, 27, 5, 28, 6, 62, 7, 63, 8, 64, 9, 65, 10, 66, 11]),
    (
        Shape::Triangle,
        &[
            2, 3, 9, 6, 20, 9, 21, 10, 22, 12, 23, 15, 24, 15, 25, 21, 42, 28, 43, 36, 44, 45, 45,
            55, 46, 66,
        ],
    ),
    (
        Shape::Quadrilateral,
        &[
            3, 4, 10, 9, 16, 8, 36, 16, 37, 25, 38, 36, 39, 12, 40, 16, 41, 20, 47, 49, 48, 64, 49,
            81, 50, 100, 51, 121,
        ],
    ),
    (Shape::Solid(Solid::Tetrahedron), &[4, 4, 11, 10, 29, 20, 30, 35, 31, 56, 32, 22, 33, 28]),
    (Shape::Solid(Solid::Pyramid), &[7, 5, 14, 14, 19, 13, 118, 30]),
    (Shape::Solid(Solid::Wedge), &[6, 6, 13, 18, 18, 15]),
    (
        Shape::Solid(Solid::Hexahedron),
        &[5, 8, 12, 27, 17, 20, 92, 64, 93, 125, 94, 216, 99, 32, 100, 44],
    ),
];

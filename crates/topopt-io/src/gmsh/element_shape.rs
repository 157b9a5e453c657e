//! Element types of Gmsh by number: shape and number of nodes.

/// Shape of an element, whatever its order. The corner nodes always come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Point,
    Line,
    Triangle,
    Quadrilateral,
    Tetrahedron,
    Hexahedron,
    Prism,
    Pyramid,
}

impl Shape {
    /// The shape in words, plural.
    pub fn plural(self) -> &'static str {
        match self {
            Shape::Point => "points",
            Shape::Line => "lines",
            Shape::Triangle => "triangles",
            Shape::Quadrilateral => "quadrilaterals",
            Shape::Tetrahedron => "tetrahedra",
            Shape::Hexahedron => "hexahedra",
            Shape::Prism => "prisms",
            Shape::Pyramid => "pyramids",
        }
    }
}

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
    (4, Shape::Tetrahedron, 4),
    (5, Shape::Hexahedron, 8),
    (6, Shape::Prism, 6),
    (7, Shape::Pyramid, 5),
    (8, Shape::Line, 3),
    (9, Shape::Triangle, 6),
    (10, Shape::Quadrilateral, 9),
    (11, Shape::Tetrahedron, 10),
    (12, Shape::Hexahedron, 27),
    (13, Shape::Prism, 18),
    (14, Shape::Pyramid, 14),
    (15, Shape::Point, 1),
    (16, Shape::Quadrilateral, 8),
    (17, Shape::Hexahedron, 20),
    (18, Shape::Prism, 15),
    (19, Shape::Pyramid, 13),
    (20, Shape::Triangle, 9),
    (21, Shape::Triangle, 10),
    (22, Shape::Triangle, 12),
    (23, Shape::Triangle, 15),
    (24, Shape::Triangle, 15),
    (25, Shape::Triangle, 21),
    (26, Shape::Line, 4),
    (27, Shape::Line, 5),
    (28, Shape::Line, 6),
    (29, Shape::Tetrahedron, 20),
    (30, Shape::Tetrahedron, 35),
    (31, Shape::Tetrahedron, 56),
    (32, Shape::Tetrahedron, 22),
    (33, Shape::Tetrahedron, 28),
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
    (92, Shape::Hexahedron, 64),
    (93, Shape::Hexahedron, 125),
    (94, Shape::Hexahedron, 216),
    (99, Shape::Hexahedron, 32),
    (100, Shape::Hexahedron, 44),
    (118, Shape::Pyramid, 30),
];

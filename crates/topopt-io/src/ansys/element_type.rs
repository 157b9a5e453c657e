//! Element types of Ansys by number: which are solids, and their shapes.

use topopt_mesh::cells::{NO_NODE, Shape};
use topopt_mesh::hexahedron::{of_pyramid, of_wedge};

use super::archive::ElementType;

/// Role of an element type in the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Bricks of 8 or 20 nodes, and what they degenerate to.
    Brick,
    /// Tetrahedra of 4 or 10 nodes.
    Tetrahedron,
    /// Left out: no part of the elastic body.
    Skipped,
}

/// Bricks of Ansys' element library, of any physics: a mesh is a mesh.
const BRICKS: [u32; 38] = [
    5, 45, 46, 62, 64, 65, 69, 70, 73, 89, 90, 95, 96, 97, 107, 117, 122, 128, 147, 164, 185, 186,
    190, 191, 215, 216, 226, 231, 236, 239, 278, 279, 280, 287, 294, 295, 296, 297,
];

/// Tetrahedra of the element library.
const TETRAHEDRA: [u32; 19] =
    [72, 87, 92, 98, 119, 123, 127, 148, 168, 187, 217, 227, 232, 237, 240, 285, 291, 292, 293];

/// Solids that conduct heat alone.
const THERMAL: [u32; 6] = [70, 87, 90, 278, 279, 291];

/// Solids with unknowns of several physics, or of another than elasticity and heat.
const OF_OTHER_PHYSICS: [u32; 21] = [
    5, 62, 69, 96, 97, 98, 117, 119, 122, 123, 127, 128, 215, 216, 217, 226, 227, 231, 232, 236,
    237,
];

/// Whether a solid conducts heat and has no displacements.
pub(super) fn is_thermal(number: u32) -> bool {
    THERMAL.contains(&number)
}

/// Whether a solid has unknowns of several physics, or of another than elasticity and heat.
pub(super) fn is_of_other_physics(number: u32) -> bool {
    OF_OTHER_PHYSICS.contains(&number)
}

/// Whether elements of a type that is no solid have no stiffness and no mass: they are a mesh
/// alone, or carry loads, which are lost by themselves.
pub(super) fn is_idle(number: u32) -> bool {
    matches!(number, MESH | 19 | 22 | 151..=156 | 201)
}

/// COMBIN14, a spring.
pub(super) const SPRING: u32 = 14;

/// MESH200, a mesh alone; its first key option is its shape.
pub(super) const MESH: u32 = 200;

/// The role of an element type.
pub(super) fn role(kind: &ElementType) -> Role {
    match (kind.number, kind.keys[0]) {
        (MESH, 8 | 9) => Role::Tetrahedron,
        (MESH, 10 | 11) => Role::Brick,
        (number, _) if BRICKS.contains(&number) => Role::Brick,
        (number, _) if TETRAHEDRA.contains(&number) => Role::Tetrahedron,
        _ => Role::Skipped,
    }
}

/// The shape of an element of a solid type by its number of nodes, and how many of them are in the
/// middles of edges; none if no element of the type has so many.
///
/// Nodes in the middles may be left out from the last one on.
pub(super) fn shape(role: Role, n_nodes: usize) -> Option<Shape> {
    match (role, n_nodes) {
        (Role::Tetrahedron, 4..=10) | (Role::Brick, 4 | 10) => Some(Shape::Tetrahedron),
        (Role::Brick, 5 | 13) => Some(Shape::Pyramid),
        (Role::Brick, 6 | 15) => Some(Shape::Wedge),
        (Role::Brick, 8..=20) => Some(Shape::Hexahedron),
        _ => None,
    }
}

/// The nodes in the middles of the edges of an element of this shape, one for each edge, or none if
/// it has none of them. A node 0 is left out. `position` of a node among all.
pub(super) fn middles(shape: Shape, nodes: &[u32], position: impl Fn(u32) -> u32) -> Vec<u32> {
    let given = &nodes[shape.n_corners()..];
    if given.iter().all(|node| *node == 0) {
        return Vec::new();
    }
    let node = |at: usize| given.get(at).copied().filter(|node| *node != 0);
    (0..shape.edges().len()).map(|at| node(at).map_or(NO_NODE, &position)).collect()
}

/// Corners of the faces of a brick and of a tetrahedron by their numbers from 1 (Ansys Element
/// Reference, SOLID185 and SOLID187).
const BRICK_FACES: [[usize; 4]; 6] =
    [[1, 0, 3, 2], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [4, 5, 6, 7]];
const TETRAHEDRON_FACES: [[usize; 3]; 4] = [[1, 0, 2], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

/// The corners of face `number`, from 1, of an element; corners that fall together in a degenerate
/// brick stand twice. None if it has no such face.
pub(super) fn face(role: Role, nodes: &[u32], number: u32) -> Option<Vec<u32>> {
    let shape = shape(role, nodes.len())?;
    let number = number.checked_sub(1)? as usize;
    if role == Role::Tetrahedron {
        return Some(TETRAHEDRON_FACES.get(number)?.iter().map(|&a| nodes[a]).collect());
    }
    let n = |a: usize| nodes[a];
    let brick = match shape {
        Shape::Tetrahedron => of_pyramid([n(0), n(1), n(2), n(2)], n(3)),
        Shape::Pyramid => of_pyramid([n(0), n(1), n(2), n(3)], n(4)),
        Shape::Wedge => of_wedge([n(0), n(1), n(2), n(3), n(4), n(5)]),
        Shape::Hexahedron => std::array::from_fn(n),
    };
    Some(BRICK_FACES.get(number)?.iter().map(|&a| brick[a]).collect())
}

/// `SOLID185` for 185; `ELEMENT184` for types without a known family.
pub(super) fn name(number: u32) -> String {
    let family = match number {
        MESH => "MESH",
        number if BRICKS.contains(&number) || TETRAHEDRA.contains(&number) => "SOLID",
        SPRING => "COMBIN",
        21 => "MASS",
        19 | 22 | 151..=156 => "SURF",
        169 | 170 => "TARGE",
        171..=178 => "CONTA",
        28 | 41 | 43 | 63 | 131 | 132 | 157 | 181 | 208 | 209 | 281 => "SHELL",
        3 | 4 | 188 | 189 => "BEAM",
        1 | 8 | 10 | 180 => "LINK",
        16 | 288 | 289 => "PIPE",
        42 | 82 | 182 | 183 => "PLANE",
        179 => "PRETS",
        184 => "MPC",
        _ => "ELEMENT",
    };
    format!("{family}{number}")
}

/// The number of `185`, `SOLID185` or `solid185`.
pub(super) fn number(text: &str) -> Option<u32> {
    text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role_of(number: u32, first_key: u32) -> Role {
        role(&ElementType { number, keys: [first_key, 0, 0] })
    }

    #[test]
    fn types_by_number_and_name() {
        assert_eq!(number("185"), Some(185));
        assert_eq!(number("SOLID186"), Some(186));
        assert_eq!(number("MESH"), None);
        assert_eq!(role_of(185, 0), Role::Brick);
        assert_eq!(role_of(174, 0), Role::Skipped);
        assert_eq!(role_of(187, 0), Role::Tetrahedron);
        assert_eq!(
            [8, 11, 6].map(|key| role_of(200, key)),
            [Role::Tetrahedron, Role::Brick, Role::Skipped]
        );
        assert_eq!(name(187), "SOLID187");
        assert_eq!(name(181), "SHELL181");
    }

    #[test]
    fn faces_are_those_of_the_brick_that_degenerates() {
        let bricks = [
            ([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8].to_vec()),
            ([1, 2, 3, 3, 5, 6, 7, 7], vec![1, 2, 3, 5, 6, 7]),
            ([1, 2, 3, 4, 5, 5, 5, 5], vec![1, 2, 3, 4, 5]),
            ([1, 2, 3, 3, 5, 5, 5, 5], vec![1, 2, 3, 5]),
        ];

        for (brick, short) in bricks {
            // With the middles of edges: of second order.
            let edges = match short.len() {
                8 => 12,
                6 => 9,
                5 => 8,
                _ => 6,
            };
            let second = [&short[..], &vec![9; edges]].concat();
            for number in 0..8 {
                let expected = face(Role::Brick, &brick, number);
                assert_eq!(expected.is_some(), (1..=6).contains(&number));
                assert_eq!(face(Role::Brick, &short, number), expected, "{short:?} {number}");
                assert_eq!(face(Role::Brick, &second, number), expected, "{second:?} {number}");
            }
        }

        // Nodes in the middles may be left out from the last one on.
        for n_nodes in 4..=10 {
            let faces = (1..=4).map(|i| {
                face(Role::Tetrahedron, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..n_nodes], i).unwrap()
            });
            assert_eq!(faces.collect::<Vec<_>>(), [[2, 1, 3], [1, 2, 4], [2, 3, 4], [3, 1, 4]]);
        }
    }

    #[test]
    fn shapes_by_numbers_of_nodes() {
        assert_eq!(shape(Role::Brick, 20), Some(Shape::Hexahedron));
        assert_eq!(shape(Role::Brick, 10), Some(Shape::Tetrahedron));
        assert_eq!(shape(Role::Tetrahedron, 8), Some(Shape::Tetrahedron));
        assert_eq!(shape(Role::Tetrahedron, 11), None);
        let tetrahedron = [1, 2, 3, 4, 12, 23, 0, 14];
        let middles = middles(Shape::Tetrahedron, &tetrahedron, |node| node);
        assert_eq!(middles, [12, 23, NO_NODE, 14, NO_NODE, NO_NODE]);
    }
}

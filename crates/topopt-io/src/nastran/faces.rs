//! The face that PLOAD4 names by grids.

use topopt_mesh::cells::Shape;

/// The corners of the face of an element with these `corners` that `[G1, G3 or G4]` name, each
/// once; 0 is a blank. None if they name no face, or several.
///
/// MSC Nastran Quick Reference Guide, PLOAD4: G1 and G3 are opposite corners of a quadrilateral; G1
/// alone is of the triangle of a CPENTA; G4 is the corner of a CTETRA that is not of the face; G1 and
/// G3 on an edge of the base of a CPYRAM name the triangle there.
pub(super) fn face(shape: Shape, corners: &[u64], [a, b]: [u64; 2]) -> Option<Vec<u64>> {
    let faces = || shape.faces().iter().map(|face| face.iter().map(|&i| corners[i]).collect());
    let is_opposite =
        |face: &Vec<u64>| face.len() == 4 && (0..4).any(|i| face[i] == a && face[(i + 2) % 4] == b);
    let is_named = |face: &Vec<u64>| {
        let has = |node| face.contains(&node);
        match (shape, b) {
            (Shape::Tetrahedron, _) => has(a) && corners.contains(&b) && !has(b),
            (Shape::Wedge, 0) => face.len() == 3 && has(a),
            _ => face.len() == 3 && has(a) && has(b) && a != b,
        }
    };

    let mut named: Vec<Vec<u64>> = faces().filter(is_opposite).collect();
    if named.is_empty() {
        named = faces().filter(is_named).collect();
    }
    let [face] = named.as_mut_slice() else { return None };
    let mut once = Vec::with_capacity(4);
    for node in face {
        if !once.contains(node) {
            once.push(*node);
        }
    }
    (once.len() > 2).then_some(once)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: Shape, grids: [u64; 2]) -> Option<Vec<u64>> {
        let corners: Vec<u64> = (1..=shape.n_corners() as u64).collect();
        face(shape, &corners, grids).map(|mut face| {
            face.sort_unstable();
            face
        })
    }

    #[test]
    fn quadrilaterals_by_opposite_corners() {
        for (grids, expected) in [
            ([1, 3], [1, 2, 3, 4]),
            ([8, 6], [5, 6, 7, 8]),
            ([5, 2], [1, 2, 5, 6]),
            ([2, 7], [2, 3, 6, 7]),
            ([3, 8], [3, 4, 7, 8]),
            ([4, 5], [1, 4, 5, 8]),
        ] {
            assert_eq!(of(Shape::Hexahedron, grids), Some(expected.to_vec()));
            assert_eq!(of(Shape::Hexahedron, [grids[1], grids[0]]), Some(expected.to_vec()));
        }
        for grids in [[1, 2], [1, 7], [1, 1], [1, 0], [0, 0], [1, 9]] {
            assert_eq!(of(Shape::Hexahedron, grids), None, "{grids:?}");
        }
        assert_eq!(of(Shape::Wedge, [1, 5]), Some(vec![1, 2, 4, 5]));
        assert_eq!(of(Shape::Pyramid, [2, 4]), Some(vec![1, 2, 3, 4]));
    }

    #[test]
    fn triangles() {
        assert_eq!(of(Shape::Tetrahedron, [1, 4]), Some(vec![1, 2, 3]));
        assert_eq!(of(Shape::Tetrahedron, [4, 1]), Some(vec![2, 3, 4]));
        for grids in [[1, 1], [1, 0], [1, 9], [9, 1]] {
            assert_eq!(of(Shape::Tetrahedron, grids), None, "{grids:?}");
        }
        assert_eq!(of(Shape::Wedge, [2, 0]), Some(vec![1, 2, 3]));
        assert_eq!(of(Shape::Wedge, [5, 6]), Some(vec![4, 5, 6]));
        assert_eq!(of(Shape::Wedge, [1, 4]), None);
        assert_eq!(of(Shape::Pyramid, [3, 4]), Some(vec![3, 4, 5]));
        // An edge to the apex is of two triangles.
        assert_eq!(of(Shape::Pyramid, [1, 5]), None);
        assert_eq!(of(Shape::Pyramid, [1, 0]), None);
    }

    #[test]
    fn corners_that_stand_twice() {
        // A wedge written as a brick: the face 5, 6, 7, 7 is a triangle.
        let corners = [1, 2, 3, 3, 5, 6, 7, 7];
        assert_eq!(face(Shape::Hexahedron, &corners, [5, 7]), Some(vec![5, 6, 7]));
        // The face that became an edge is none.
        assert_eq!(face(Shape::Hexahedron, &corners, [3, 7]), None);
    }
}

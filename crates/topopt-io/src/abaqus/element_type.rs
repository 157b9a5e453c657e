//! Element types of Abaqus and CalculiX by name.

use topopt_mesh::cells::Shape;

/// Use that the reader makes of an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementType {
    /// A solid with its number of nodes: corners first, then those in the middles of edges.
    Solid(Shape, usize),
    /// A solid that cannot be used.
    OtherSolid,
    /// Shells, beams, masses, springs: not part of the mesh.
    NoSolid,
}

impl ElementType {
    /// The type called `name`, in capitals. The letters before `3D` distinguish stress, heat
    /// transfer, acoustic and coupled elements, whose meshes are the same.
    pub fn of(name: &str) -> Self {
        let families = ["C3D", "DC3D", "DCC3D", "AC3D", "Q3D", "EC3D", "EMC3D", "F3D"];
        let rest = families.iter().find_map(|family| name.strip_prefix(family));
        if let Some(rest) = rest {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            return match &rest[..digits] {
                "4" => Self::Solid(Shape::Tetrahedron, 4),
                "5" => Self::Solid(Shape::Pyramid, 5),
                "6" => Self::Solid(Shape::Wedge, 6),
                "8" => Self::Solid(Shape::Hexahedron, 8),
                "10" => Self::Solid(Shape::Tetrahedron, 10),
                "13" => Self::Solid(Shape::Pyramid, 13),
                "15" => Self::Solid(Shape::Wedge, 15),
                "20" => Self::Solid(Shape::Hexahedron, 20),
                "27" => Self::Solid(Shape::Hexahedron, 27),
                _ => Self::OtherSolid,
            };
        }

        // Continuum shells have the nodes of solids.
        match name {
            "SC6R" | "SC6RT" => return Self::Solid(Shape::Wedge, 6),
            "SC8R" | "SC8RT" | "CSS8" => return Self::Solid(Shape::Hexahedron, 8),
            _ => {}
        }

        // Cohesive and cylindrical elements.
        let solids = ["COH3D", "CCL"];
        if solids.iter().any(|solid| name.starts_with(solid)) {
            Self::OtherSolid
        } else {
            Self::NoSolid
        }
    }
}

/// The corners of face `number`, from 1, of a shape: S1 to S6 of a *SURFACE (Abaqus Analysis User's
/// Guide, "Three-dimensional solid element library"). None if the shape has fewer faces.
pub(super) fn face(shape: Shape, number: usize) -> Option<&'static [usize]> {
    let faces: &[&[usize]] = match shape {
        Shape::Tetrahedron => &[&[0, 1, 2], &[0, 3, 1], &[1, 3, 2], &[2, 3, 0]],
        Shape::Pyramid => &[&[0, 1, 2, 3], &[0, 4, 1], &[1, 4, 2], &[2, 4, 3], &[3, 4, 0]],
        Shape::Wedge => &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]],
        Shape::Hexahedron => &[
            &[0, 1, 2, 3],
            &[4, 7, 6, 5],
            &[0, 4, 5, 1],
            &[1, 5, 6, 2],
            &[2, 6, 7, 3],
            &[3, 7, 4, 0],
        ],
    };
    faces.get(number.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_those_of_the_shapes() {
        for shape in Shape::ALL {
            let sorted = |face: &[usize]| {
                let mut face = face.to_vec();
                face.sort_unstable();
                face
            };
            let mut own: Vec<_> = (1..=6).filter_map(|n| face(shape, n)).map(sorted).collect();
            let mut known: Vec<_> = shape.faces().iter().map(|face| sorted(face)).collect();
            own.sort();
            known.sort();
            assert_eq!(own, known);
        }
    }

    #[test]
    fn types_by_their_names() {
        use Shape::{Hexahedron, Tetrahedron, Wedge};
        for (name, expected) in [
            ("C3D8", ElementType::Solid(Hexahedron, 8)),
            ("C3D8R", ElementType::Solid(Hexahedron, 8)),
            ("C3D8I", ElementType::Solid(Hexahedron, 8)),
            ("C3D20R", ElementType::Solid(Hexahedron, 20)),
            ("C3D27RH", ElementType::Solid(Hexahedron, 27)),
            ("C3D4", ElementType::Solid(Tetrahedron, 4)),
            ("C3D10M", ElementType::Solid(Tetrahedron, 10)),
            ("C3D15V", ElementType::Solid(Wedge, 15)),
            ("DC3D8", ElementType::Solid(Hexahedron, 8)),
            ("SC8R", ElementType::Solid(Hexahedron, 8)),
            ("C3D80", ElementType::OtherSolid),
            ("COH3D8", ElementType::OtherSolid),
            ("S4R", ElementType::NoSolid),
            ("CPS4", ElementType::NoSolid),
            ("MASS", ElementType::NoSolid),
        ] {
            assert_eq!(ElementType::of(name), expected, "{name}");
        }
    }
}

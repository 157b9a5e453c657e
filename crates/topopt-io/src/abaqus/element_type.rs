//! Element types of Abaqus and CalculiX by name.

/// What the reader does with an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementType {
    /// A hexahedron with so many nodes, the eight corners first.
    Hexahedron(usize),
    /// Another solid element, which cannot be used.
    OtherSolid,
    /// Shells, beams, masses, springs: not part of the mesh.
    NoSolid,
}

impl ElementType {
    /// The type called `name`, in capitals.
    pub fn of(name: &str) -> Self {
        if let Some(rest) = name.strip_prefix("C3D") {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            return match &rest[..digits] {
                "8" => Self::Hexahedron(8),
                "20" => Self::Hexahedron(20),
                "27" => Self::Hexahedron(27),
                _ => Self::OtherSolid,
            };
        }
        // Heat transfer, acoustics, coupled fields, flow, continuum shells, cohesive elements,
        // cylindrical elements.
        let solids =
            ["DC3D", "DCC3D", "AC3D", "Q3D", "EC3D", "F3D", "SC6", "SC8", "CSS8", "COH3D", "CCL"];
        if solids.iter().any(|solid| name.starts_with(solid)) {
            Self::OtherSolid
        } else {
            Self::NoSolid
        }
    }
}

/// For every face S1 to S6 of a hexahedron its row in [`topopt_mesh::hexahedron::FACES`].
///
/// Abaqus numbers the nodes of C3D8 like VTK, and the faces, by nodes from 1: 1-2-3-4, 5-8-7-6,
/// 1-5-6-2, 2-6-7-3, 3-7-8-4, 4-8-5-1 (Abaqus Analysis User's Guide, "Three-dimensional solid
/// element library").
pub(super) const FACES: [u8; 6] = [4, 5, 2, 1, 3, 0];

#[cfg(test)]
mod tests {
    use topopt_mesh::hexahedron;

    use super::*;

    #[test]
    fn faces_are_those_of_the_manual() {
        let manual =
            [[1, 2, 3, 4], [5, 8, 7, 6], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 8, 4], [4, 8, 5, 1]];
        for (face, nodes) in FACES.into_iter().zip(manual) {
            let mut own = hexahedron::FACES[face as usize].map(|a| a + 1);
            let mut nodes: [usize; 4] = nodes;
            own.sort_unstable();
            nodes.sort_unstable();
            assert_eq!(own, nodes);
        }
    }

    #[test]
    fn types_by_their_names() {
        for (name, expected) in [
            ("C3D8", ElementType::Hexahedron(8)),
            ("C3D8R", ElementType::Hexahedron(8)),
            ("C3D8I", ElementType::Hexahedron(8)),
            ("C3D20R", ElementType::Hexahedron(20)),
            ("C3D27RH", ElementType::Hexahedron(27)),
            ("C3D4", ElementType::OtherSolid),
            ("C3D10M", ElementType::OtherSolid),
            ("C3D80", ElementType::OtherSolid),
            ("SC8R", ElementType::OtherSolid),
            ("DC3D8", ElementType::OtherSolid),
            ("S4R", ElementType::NoSolid),
            ("CPS4", ElementType::NoSolid),
            ("MASS", ElementType::NoSolid),
        ] {
            assert_eq!(ElementType::of(name), expected, "{name}");
        }
    }
}

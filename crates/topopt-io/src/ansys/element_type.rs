//! Element types of Ansys by number: what to do with them.

use topopt_mesh::hexahedron;

/// What an element type is to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A brick of eight nodes.
    Brick,
    /// A brick of twenty nodes, the corners first.
    QuadraticBrick,
    /// Left out: no part of the elastic body.
    Skipped,
    /// Part of the structure and no hexahedron: what it is, plural, and what to do.
    Refused(&'static str, &'static str),
}

const MESH_HEXES: &str = "Mesh the volumes with bricks: MSHAPE,0,3D and MSHKEY,1, or VSWEEP; in \
                          Workbench by sweep or MultiZone";
const UNSELECT: &str = "Unselect them (ESEL,U,TYPE) before CDWRITE if the part does not need them";

/// The role of element type `number`, from the element library of Ansys Mechanical APDL.
pub(super) fn role(number: u32) -> Role {
    match number {
        45 | 185 => Role::Brick,
        95 | 186 => Role::QuadraticBrick,
        72 | 87 | 92 | 98 | 123 | 187 | 285 | 291 => Role::Refused("tetrahedra", MESH_HEXES),
        // MASS21, mesh facets, surface effects, contact and target surfaces.
        21 | 200 | 19 | 22 | 151..=156 | 169..=178 => Role::Skipped,
        _ => Role::Refused("not known as bricks", UNSELECT),
    }
}

/// `SOLID185` for 185; `ELEMENT184` for types without a role.
pub(super) fn name(number: u32) -> String {
    let family = match number {
        45 | 72 | 87 | 92 | 95 | 98 | 123 | 185..=187 | 285 | 291 => "SOLID",
        21 => "MASS",
        200 => "MESH",
        19 | 22 | 151..=156 => "SURF",
        169 | 170 => "TARGE",
        171..=178 => "CONTA",
        181 | 281 => "SHELL",
        188 | 189 => "BEAM",
        184 => "MPC",
        _ => "ELEMENT",
    };
    format!("{family}{number}")
}

/// The number of `185`, `SOLID185` or `solid185`.
pub(super) fn number(text: &str) -> Option<u32> {
    text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

/// The shape of a degenerate brick by its corners I to P; `None` if they are distinct or those of a
/// wedge.
pub(super) fn degenerate(corners: &[u32; 8]) -> Option<&'static str> {
    match hexahedron::distinct(corners).count() {
        8 => None,
        6 if hexahedron::wedge(corners).is_some() => None,
        5 => Some("pyramids"),
        4 => Some("tetrahedra"),
        _ => Some("of other shapes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_number_and_name() {
        assert_eq!(number("185"), Some(185));
        assert_eq!(number("SOLID186"), Some(186));
        assert_eq!(number("MESH"), None);
        assert_eq!(role(185), Role::Brick);
        assert_eq!(role(174), Role::Skipped);
        assert!(matches!(role(187), Role::Refused("tetrahedra", _)));
        assert!(matches!(role(181), Role::Refused(..)));
        assert_eq!(name(187), "SOLID187");
    }

    #[test]
    fn degenerate_bricks() {
        assert_eq!(degenerate(&[1, 2, 3, 4, 5, 6, 7, 8]), None);
        assert_eq!(degenerate(&[1, 2, 3, 3, 5, 6, 7, 7]), None);
        assert_eq!(degenerate(&[1, 2, 2, 4, 5, 6, 7, 7]), Some("of other shapes"));
        assert_eq!(degenerate(&[1, 2, 3, 4, 5, 5, 5, 5]), Some("pyramids"));
        assert_eq!(degenerate(&[1, 2, 3, 3, 5, 5, 5, 5]), Some("tetrahedra"));
    }
}

//! The 24 rotations of the hexahedron: orders of its local nodes that keep the Jacobian positive.

use crate::hexahedron::neighbor;

/// A rotation of the reference hexahedron, as new local numbers over old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    /// Old local node of every new one.
    pub nodes: [u8; 8],
    /// Old local face of every new one.
    pub faces: [u8; 6],
}

/// All rotations, that which changes nothing first.
pub(crate) const ROTATIONS: [Rotation; 24] = {
    let mut all = [Rotation { nodes: [0; 8], faces: [0; 6] }; 24];
    let mut i = 0;
    while i < all.len() {
        all[i] = rotation(i / 3, i % 3);
        i += 1;
    }
    all
};

/// The rotation that makes `corner` node 0 and the old axis `first` the new first one.
const fn rotation(corner: usize, first: usize) -> Rotation {
    // Whether each axis is turned around; then a cyclic order of the axes is a mirror image where
    // an odd number of them are, and the other order is the rotation.
    let turned = [corner % 4 == 1 || corner % 4 == 2, corner & 2 != 0, corner >= 4];
    let step = if turned[0] ^ turned[1] ^ turned[2] { 2 } else { 1 };
    let axes = [first, (first + step) % 3, (first + 2 * step) % 3];

    let (mut nodes, mut faces) = ([0; 8], [0; 6]);
    let mut a = 0;
    while a < 8 {
        let mut old = corner;
        let offset = [a % 4 == 1 || a % 4 == 2, a & 2 != 0, a >= 4];
        let mut i = 0;
        while i < 3 {
            if offset[i] {
                old = neighbor(old, axes[i]);
            }
            i += 1;
        }
        nodes[a] = old as u8;
        a += 1;
    }

    let mut f = 0;
    while f < 6 {
        let axis = axes[f / 2];
        faces[f] = (2 * axis + ((f % 2) ^ turned[axis] as usize)) as u8;
        f += 1;
    }

    Rotation { nodes, faces }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::hexahedron::{FACES, NODES, determinant, jacobian};

    #[test]
    fn they_are_all_different_keep_orientation_and_carry_faces_along() {
        assert_eq!(ROTATIONS[0].nodes, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(ROTATIONS.map(|r| r.nodes).into_iter().collect::<HashSet<_>>().len(), 24);
        for Rotation { nodes, faces } in ROTATIONS {
            let x = nodes.map(|a| NODES[a as usize]);
            for xi in [[0.0; 3], [0.5, -0.2, 0.9]] {
                assert!((determinant(&jacobian(&x, xi)) - 1.0).abs() < 1e-14);
            }
            for (new, old) in FACES.into_iter().zip(faces) {
                let mut carried = new.map(|a| usize::from(nodes[a]));
                let mut face = FACES[old as usize];
                carried.sort_unstable();
                face.sort_unstable();
                assert_eq!(carried, face);
            }
        }
    }
}

//! Coordinate systems of nodes.

use super::archive::{Archive, Held};
use crate::directions::{axis_along, composed};

/// The directions of the axes that a node is turned to by the angles THXY, THYZ and THZX, in
/// degrees: about z, about the resulting x axis, and about the y axis that results from both.
fn axes([xy, yz, zx]: [f64; 3]) -> [[f64; 3]; 3] {
    let [(s1, c1), (s2, c2), (s3, c3)] = [xy, yz, zx].map(|angle| angle.to_radians().sin_cos());
    [
        [c1 * c3 - s1 * s2 * s3, s1 * c3 + c1 * s2 * s3, -c2 * s3],
        [-s1 * c2, c1 * c2, s2],
        [c1 * s3 + s1 * s2 * c3, s1 * s3 - c1 * s2 * c3, c2 * c3],
    ]
}

/// A force at a node in the global system; none if the node is turned by unknown angles.
pub(super) fn force(archive: &Archive, node: u32, force: [f64; 3]) -> Option<[f64; 3]> {
    let Some(angles) = archive.rotated_nodes.get(&node) else { return Some(force) };
    Some(composed(&axes((*angles)?), force))
}

/// The displacements given at a node, by global directions; none if they are along no axes.
pub(super) fn held(
    archive: &Archive,
    node: u32,
    held: [Option<Held>; 3],
) -> Option<[Option<Held>; 3]> {
    let is_all = held.iter().all(|held| held.is_some_and(|held| held.value == 0.0));
    let Some(angles) = archive.rotated_nodes.get(&node).filter(|_| !is_all) else {
        return Some(held);
    };
    let axes = axes((*angles)?);
    let mut global = [None; 3];
    for (direction, given) in axes.iter().zip(held) {
        let Some(given) = given else { continue };
        let axis = axis_along(*direction)?;
        let value = given.value * direction[axis].signum() + 0.0;
        global[axis] = Some(Held { value, by_all: false });
    }
    Some(global)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_about_axes_that_turn() {
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-15);
        // About z: x becomes y.
        let [x, y, z] = axes([90.0, 0.0, 0.0]);
        assert!(near(x, [0.0, 1.0, 0.0]) && near(y, [-1.0, 0.0, 0.0]) && near(z, [0.0, 0.0, 1.0]));
        // Then about the new x, which is y: the new y, which was -x, becomes z.
        let [x, y, z] = axes([90.0, 90.0, 0.0]);
        assert!(near(x, [0.0, 1.0, 0.0]) && near(y, [0.0, 0.0, 1.0]) && near(z, [1.0, 0.0, 0.0]));
        // About y: z becomes x.
        let [x, _, z] = axes([0.0, 0.0, 90.0]);
        assert!(near(x, [0.0, 0.0, -1.0]) && near(z, [1.0, 0.0, 0.0]));
    }
}

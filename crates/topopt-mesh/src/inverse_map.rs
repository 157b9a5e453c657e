//! Local coordinates of a point in a trilinear hexahedron.

use crate::BoundingBox;
use crate::hexahedron;
use crate::trilinear::Trilinear;

/// Distance by which a point may lie outside of the reference cube, in reference coordinates.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// The reference coordinates at which the trilinear map of the element with node coordinates `x`
/// reaches `point`, if it does, within 1e-6.
pub fn local_coordinates(x: &[[f64; 3]; 8], point: [f64; 3]) -> Option<[f64; 3]> {
    // The map relative to the point: its root is wanted.
    let map = Trilinear::of(&x.map(|node| std::array::from_fn(|i| node[i] - point[i])));
    let straight = straightened(&map);
    if straight.as_ref().is_some_and(is_far) {
        return None;
    }
    match root(&map, [0.0; 3]) {
        Some(xi) if is_inside(xi) => Some(xi),
        Some(_) if is_regular(&map) => None,
        // Of a long thin element the boxes around its parts hold far more than these.
        _ => root_in(straight.as_ref().unwrap_or(&map), [-1.0; 3], 2.0, 4),
    }
}

/// The map times the inverse of its Jacobian at the center: the identity, a constant, and what
/// bends it. It has the same roots.
fn straightened(map: &Trilinear) -> Option<Trilinear> {
    let jacobian = map.jacobian([0.0; 3]);
    let determinant = hexahedron::determinant(&jacobian);
    (determinant != 0.0).then(|| map.then(&hexahedron::inverse(&jacobian, determinant)))
}

/// Whether a root inside is ruled out for a [`straightened`] map.
fn is_far(map: &Trilinear) -> bool {
    let (center, bend) = (map.center(), map.bend());
    (0..3).any(|i| center[i].abs() > (1.0 + 4.0 * TOLERANCE) * (1.0 + bend[i]))
}

/// Whether the map turns over at no corner.
fn is_regular(map: &Trilinear) -> bool {
    hexahedron::NODES.into_iter().all(|corner| map.determinant(corner) > 0.0)
}

/// A root in the cube of edge `edge` at `corner` of the reference cube, by Newton's method from the
/// center and bisection down to `depth` levels. The image of a cube lies within the box of the
/// images of its corners, which settles most cubes at once.
fn root_in(map: &Trilinear, corner: [f64; 3], edge: f64, depth: usize) -> Option<[f64; 3]> {
    let at = |node: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| corner[i] + 0.5 * edge * (1.0 + node[i]))
    };
    let bounds = BoundingBox::of(hexahedron::NODES.map(|node| map.at(at(node))));
    let margin = TOLERANCE * bounds.extent().iter().fold(0.0, |a: f64, &b| a.max(b)) / edge;
    if (0..3).any(|i| bounds.min[i] > margin || bounds.max[i] < -margin) {
        return None;
    }
    let found = root(map, at([0.0; 3])).filter(|&xi| is_inside(xi));
    if found.is_some() || depth == 0 {
        return found;
    }
    hexahedron::NODES.iter().find_map(|&octant| {
        let corner = std::array::from_fn(|i| corner[i] + 0.25 * edge * (1.0 + octant[i]));
        root_in(map, corner, 0.5 * edge, depth - 1)
    })
}

/// A root of the map by Newton's method from `xi`, or `None` if it does not converge.
fn root(map: &Trilinear, mut xi: [f64; 3]) -> Option<[f64; 3]> {
    for _ in 0..12 {
        let residual = map.at(xi);
        let jacobian = map.jacobian(xi);

        let determinant = hexahedron::determinant(&jacobian);
        if determinant == 0.0 {
            return None;
        }

        let inverse = hexahedron::inverse(&jacobian, determinant);
        let mut largest = 0.0f64;
        for i in 0..3 {
            let step: f64 = (0..3).map(|j| inverse[i][j] * residual[j]).sum();
            xi[i] -= step;
            largest = largest.max(step.abs());
        }

        // Newton's method converges quadratically: less than `TOLERANCE` is left after such a step.
        if largest < 1e-9 {
            return Some(xi);
        }
        // The reference cube ends at 1: so far from it the method diverges. NaN ends here as well.
        if !xi.iter().all(|v| v.abs() < 100.0) {
            return None;
        }
    }
    None
}

fn is_inside(xi: [f64; 3]) -> bool {
    xi.iter().all(|v| v.abs() <= 1.0 + TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_folded_at_a_corner_is_found_wherever_its_map_reaches() {
        let mut x = hexahedron::NODES;
        x[6] = [-0.4, -0.4, -0.2];
        assert!(!is_regular(&Trilinear::of(&x)), "the map turns over at a corner");
        for step in 0..1000 {
            let xi = [step % 10, step / 10 % 10, step / 100].map(|v| f64::from(v) / 4.5 - 1.0);
            let point = hexahedron::map(&x, xi);
            let found = local_coordinates(&x, point).expect("it is reached");
            let again = hexahedron::map(&x, found);
            assert!((0..3).all(|i| (again[i] - point[i]).abs() < 1e-8), "{xi:?} {found:?}");
        }
        assert_eq!(local_coordinates(&x, [0.9; 3]), None);
    }
}

//! Nearest places on triangles and on segments, by trees of boxes.

use rstar::{AABB, PointDistance, RTree, RTreeObject};

use crate::surface::Vec3;

/// Triangles, or segments, among which the nearest to a place is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Nearest<const N: usize>(RTree<Simplex<N>>);

/// Foot of a place on the nearest triangle or segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foot {
    /// The foot.
    pub point: Vec3,
    /// Number of the triangle or segment.
    pub index: usize,
}

#[derive(Debug, Clone)]
struct Simplex<const N: usize> {
    corners: [Vec3; N],
    index: usize,
}

impl<const N: usize> Nearest<N> {
    /// Sorts simplices, given by their numbers and corners.
    pub fn new(simplices: impl Iterator<Item = (usize, [Vec3; N])>) -> Self {
        let simplices = simplices.map(|(index, corners)| Simplex { corners, index });
        Self(RTree::bulk_load(simplices.collect()))
    }

    /// Returns the foot of `x`.
    ///
    /// # Panics
    /// If there are no simplices.
    pub fn foot(&self, x: &Vec3) -> Foot {
        let found = self.0.nearest_neighbor((*x).into()).expect("a simplex at least");
        Foot { point: found.foot(x), index: found.index }
    }
}

impl<const N: usize> Simplex<N> {
    fn foot(&self, x: &Vec3) -> Vec3 {
        match self.corners[..] {
            [a, b] => foot_on_segment(x, a, b),
            [a, b, c] => foot_on_triangle(x, a, b, c),
            _ => self.corners[0],
        }
    }
}

impl<const N: usize> RTreeObject for Simplex<N> {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        let first = [self.corners[0]; 2];
        let [low, high] = self.corners.iter().fold(first, |[l, h], x| [l.inf(x), h.sup(x)]);
        AABB::from_corners(low.into(), high.into())
    }
}

impl<const N: usize> PointDistance for Simplex<N> {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let x = Vec3::from(*point);
        (self.foot(&x) - x).norm_squared()
    }
}

fn foot_on_segment(x: &Vec3, a: Vec3, b: Vec3) -> Vec3 {
    let edge = b - a;
    let square = edge.norm_squared();
    let share = if square > 0.0 { ((x - a).dot(&edge) / square).clamp(0.0, 1.0) } else { 0.0 };
    a + edge * share
}

/// Foot on a triangle, by the region of the plane that `x` projects to [Ericson2005, 5.1.5].
fn foot_on_triangle(x: &Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (ab, ac) = (b - a, c - a);
    let along = |corner: Vec3| ((x - corner).dot(&ab), (x - corner).dot(&ac));
    let ((d1, d2), (d3, d4), (d5, d6)) = (along(a), along(b), along(c));

    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return foot_on_segment(x, a, b);
    }
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return foot_on_segment(x, a, c);
    }
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return foot_on_segment(x, b, c);
    }
    let sum = va + vb + vc;
    if sum == 0.0 { a } else { a + ab * (vb / sum) + ac * (vc / sum) }
}

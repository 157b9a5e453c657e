//! The turn of the grid to the planes of a part, and the planes themselves.

use std::collections::BTreeMap;

use nalgebra::Matrix3;

use crate::surface::{Surface, Vec3};

/// Cosine between normals above which they are those of one plane.
pub(crate) const SAME: f64 = 1.0 - 1e-9;
/// Largest cosine between normals that are orthogonal.
const ORTHOGONAL: f64 = 1e-5;

/// Planar face.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanarFace {
    /// Unit normal.
    pub normal: Vec3,
    /// A point of it.
    pub point: Vec3,
    /// Area.
    pub area: f64,
    /// Body that it bounds.
    pub body: u32,
    /// Smallest and largest coordinates.
    bounds: [Vec3; 2],
}

impl PlanarFace {
    /// Whether another face, which is parallel, lies across this one.
    pub fn faces(&self, other: &Self) -> bool {
        let shift = self.normal * (self.point - other.point).dot(&self.normal);
        let [low, high] = other.bounds.map(|x| x + shift);
        let overlap = |k: usize| self.bounds[1][k].min(high[k]) - self.bounds[0][k].max(low[k]);
        // A face across an axis has no extent along it.
        (0..3).all(|k| self.normal[k].abs() > SAME || overlap(k) > 0.0)
    }
}

/// Finds the planar faces of `surface`.
pub(crate) fn planar_faces(surface: &Surface) -> Vec<PlanarFace> {
    let mut faces: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (t, key) in surface.faces.iter().zip(&surface.bodies).enumerate() {
        faces.entry((*key.0, *key.1)).or_default().push(t);
    }
    faces.values().filter_map(|own| planar(surface, own)).collect()
}

/// The plane of a face of the triangles `own`, if it is flat.
fn planar(surface: &Surface, own: &[usize]) -> Option<PlanarFace> {
    let sum: Vec3 = own.iter().map(|&t| surface.normals[t] * surface.areas[t]).sum();
    let normal = sum.try_normalize(0.0)?;
    let is_along = |n: Vec3| n.dot(&normal) > SAME || n == Vec3::zeros();
    let area = own.iter().map(|&t| surface.areas[t]).sum();
    let point = surface.corners(own[0])[0];
    let is_flat = own.iter().all(|&t| is_along(surface.normals[t]));
    let bounds = own.iter().flat_map(|&t| surface.corners(t)).fold([point; 2], grown);
    let body = surface.bodies[own[0]];
    is_flat.then_some(PlanarFace { normal, point, area, body, bounds })
}

/// Bounds that hold `x` besides.
pub(crate) fn grown([low, high]: [Vec3; 2], x: Vec3) -> [Vec3; 2] {
    [low.inf(&x), high.sup(&x)]
}

/// Axes of the grid, as columns: normals of the largest planes that are orthogonal, in the order
/// and with the signs nearest to those of space; exactly the unit matrix where they agree with it.
pub(crate) fn axes(surface: &Surface) -> Matrix3<f64> {
    let faces = planar_faces(surface);
    let parallel = |n: Vec3| {
        let same = faces.iter().filter(|face| face.normal.dot(&n).abs() > SAME);
        same.map(|face| face.area).sum::<f64>()
    };
    let largest = |normals: Vec<Vec3>| {
        normals.into_iter().map(|n| (parallel(n), n)).reduce(|a, b| if b.0 > a.0 { b } else { a })
    };
    let Some((_, first)) = largest(faces.iter().map(|face| face.normal).collect()) else {
        return Matrix3::identity();
    };
    let orthogonal = faces.iter().map(|face| face.normal);
    let orthogonal = orthogonal.filter(|n| n.dot(&first).abs() < ORTHOGONAL).collect();
    // Without a second plane: the axis of space that is the most orthogonal to the first.
    let other = Vec3::ith(first.iamin(), 1.0);
    let second = largest(orthogonal).map_or(other, |(_, n)| n);
    let second = (second - first * first.dot(&second)).normalize();
    let turned = nearest_order([first, second, first.cross(&second)]);
    if (turned - Matrix3::identity()).amax() < 1e-12 { Matrix3::identity() } else { turned }
}

/// Columns `axes` in the order and with the signs that come nearest to the unit matrix.
fn nearest_order(axes: [Vec3; 3]) -> Matrix3<f64> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let signed = |k: usize, axis: Vec3| if axis[k] < 0.0 { -axis } else { axis };
    let of =
        |order: [usize; 3]| Matrix3::from_columns(&[0, 1, 2].map(|k| signed(k, axes[order[k]])));
    let best = orders.map(of).into_iter().reduce(|a, b| if b.trace() > a.trace() { b } else { a });
    let mut best = best.expect("six orders");
    if best.determinant() < 0.0 {
        best.column_mut(2).neg_mut();
    }
    best
}

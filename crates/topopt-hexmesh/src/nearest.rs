//! Nearest places on triangles and on segments.

use nalgebra::Vector3;
use topopt_mesh::triangles::Triangles;

/// Triangles, or segments, among which the nearest to a place is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Nearest {
    triangles: Triangles,
    numbers: Vec<usize>,
}

/// Foot of a place on the nearest triangle or segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foot {
    /// The foot.
    pub point: Vector3<f64>,
    /// Number of the triangle or segment.
    pub index: usize,
}

impl Nearest {
    /// Sorts triangles, given by their numbers and corners; those of a segment are its ends, the
    /// second one twice.
    pub fn new(triangles: impl Iterator<Item = (usize, [Vector3<f64>; 3])>) -> Self {
        let (numbers, corners): (Vec<usize>, Vec<_>) = triangles.unzip();
        let corners = corners.into_iter().map(|corners| corners.map(<[f64; 3]>::from));
        Self { triangles: Triangles::new(corners), numbers }
    }

    /// Corner of the first triangle.
    pub fn first(&self) -> Vector3<f64> {
        self.triangles.first().map_or_else(Vector3::zeros, |[x, ..]| x.into())
    }

    /// Returns the foot of `x`.
    ///
    /// # Panics
    /// If there is nothing to stand on.
    pub fn foot(&self, x: &Vector3<f64>) -> Foot {
        self.nearest(x).expect("a triangle at least")
    }

    /// Returns the foot of `x`, if there is something to stand on.
    pub fn nearest(&self, x: &Vector3<f64>) -> Option<Foot> {
        let (place, point) = self.triangles.nearest_of((*x).into())?;
        Some(Foot { point: point.into(), index: self.numbers[place] })
    }
}

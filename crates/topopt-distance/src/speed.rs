//! The speed of a front, and the travel times along edges that result from it.

use rayon::prelude::*;
use topopt_mesh::vector::dot;

use crate::{DistanceError, Tetrahedra};

/// A symmetric tensor by its components xx, yy, zz, yz, zx, xy.
pub type Tensor = [f64; 6];

/// Speed of a front with the arrival time phi: sqrt(grad(phi) . A grad(phi)) = 1.
///
/// A is the tensor of squared speeds: v^2 times the unit tensor for a speed v in all directions.
/// Traveling along an edge e takes sqrt(e . A^-1 e). With speed 1 the time is the distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed<'a> {
    /// Uniform speed in all tetrahedra and directions.
    Uniform(f64),
    /// Isotropic speed per tetrahedron, `[n_cells]`.
    Cells(&'a [f64]),
    /// Uniform tensor A.
    UniformTensor(Tensor),
    /// Tensor A per tetrahedron, `[n_cells]`.
    Tensors(&'a [Tensor]),
}

impl Speed<'_> {
    /// Checks that each tetrahedron has a positive speed.
    pub(crate) fn check(&self, tetrahedra: &Tetrahedra) -> Result<(), DistanceError> {
        let expected = tetrahedra.cells().len();
        let found = match self {
            Self::Cells(speeds) => speeds.len(),
            Self::Tensors(tensors) => tensors.len(),
            Self::Uniform(_) | Self::UniformTensor(_) => expected,
        };
        if found != expected {
            return Err(DistanceError::Length { what: "speeds", found, expected });
        }

        let positive = |speed: &f64| *speed > 0.0 && speed.is_finite();
        let (cell, speed) = match self {
            Self::Uniform(speed) => ((!positive(speed)).then_some(0), vec![*speed]),
            Self::Cells(speeds) => {
                let cell = speeds.iter().position(|speed| !positive(speed));
                (cell, cell.map(|cell| vec![speeds[cell]]).unwrap_or_default())
            }
            Self::UniformTensor(tensor) => {
                (inverse(tensor).is_none().then_some(0), tensor.to_vec())
            }
            Self::Tensors(tensors) => {
                let cell = tensors.iter().position(|tensor| inverse(tensor).is_none());
                (cell, cell.map(|cell| tensors[cell].to_vec()).unwrap_or_default())
            }
        };
        cell.map_or(Ok(()), |cell| Err(DistanceError::Speed { cell, speed }))
    }
}

/// Data of the inner products a . A^-1 b per tetrahedron.
#[derive(Debug, Clone, PartialEq)]
pub enum Products {
    /// F^T with F . F^T = A^-1: inner products of vectors mapped by this matrix.
    Mapped([[f64; 3]; 3]),
    /// 1 / v^2 per tetrahedron, a factor of the inner product.
    Isotropic(Vec<f64>),
    /// A^-1 per tetrahedron.
    Anisotropic(Vec<Tensor>),
}

impl Products {
    /// Prepares the inner products of a checked speed, for the tetrahedra in the given `order`.
    pub(crate) fn new(speed: &Speed, order: &[u32]) -> Self {
        match speed {
            Speed::Uniform(speed) => {
                let scale = 1.0 / speed;
                Self::Mapped([[scale, 0.0, 0.0], [0.0, scale, 0.0], [0.0, 0.0, scale]])
            }
            Speed::UniformTensor(tensor) => {
                Self::Mapped(transposed_factor(&inverse(tensor).unwrap_or_default()))
            }
            Speed::Cells(speeds) => Self::Isotropic(
                order.par_iter().map(|&cell| speeds[cell as usize].powi(-2)).collect(),
            ),
            Speed::Tensors(tensors) => {
                let inverse = |&cell: &u32| inverse(&tensors[cell as usize]).unwrap_or_default();
                Self::Anisotropic(order.par_iter().map(inverse).collect())
            }
        }
    }

    /// Calls `user` with the metric of these products.
    pub(crate) fn with_metric<U: WithMetric>(&self, user: U) -> U::Output {
        match self {
            Self::Mapped(map) => user.with(&Mapped(*map)),
            Self::Isotropic(squares) => user.with(&Isotropic(squares)),
            Self::Anisotropic(inverses) => user.with(&Anisotropic(inverses)),
        }
    }
}

/// Metric of travel times: the inner product a . A^-1 b of vectors in a tetrahedron.
///
/// Edges join mapped points, so that a uniform speed costs nothing per edge.
pub(crate) trait Metric: Sync {
    /// Maps a point to the space of the edges.
    fn place(&self, point: [f64; 3]) -> [f64; 3];

    /// a . A^-1 b in `cell`.
    fn product(&self, cell: usize, a: [f64; 3], b: [f64; 3]) -> f64;
}

/// Metric of a uniform speed: distances between points mapped by F^T, where F . F^T = A^-1.
pub(crate) struct Mapped([[f64; 3]; 3]);

impl Metric for Mapped {
    fn place(&self, point: [f64; 3]) -> [f64; 3] {
        self.0.map(|row| dot(row, point))
    }

    #[inline]
    fn product(&self, _: usize, a: [f64; 3], b: [f64; 3]) -> f64 {
        dot(a, b)
    }
}

/// Metric of one speed per tetrahedron, equal in all directions, as 1 / v^2.
pub(crate) struct Isotropic<'a>(&'a [f64]);

impl Metric for Isotropic<'_> {
    fn place(&self, point: [f64; 3]) -> [f64; 3] {
        point
    }

    #[inline]
    fn product(&self, cell: usize, a: [f64; 3], b: [f64; 3]) -> f64 {
        self.0[cell] * dot(a, b)
    }
}

/// Metric of one tensor per tetrahedron, as A^-1.
pub(crate) struct Anisotropic<'a>(&'a [Tensor]);

impl Metric for Anisotropic<'_> {
    fn place(&self, point: [f64; 3]) -> [f64; 3] {
        point
    }

    #[inline]
    fn product(&self, cell: usize, a: [f64; 3], b: [f64; 3]) -> f64 {
        let [xx, yy, zz, yz, zx, xy] = self.0[cell];
        let rows = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        dot(a, rows.map(|row| dot(row, b)))
    }
}

/// Computation that is generic in the type of the metric.
pub(crate) trait WithMetric {
    /// Result of the computation.
    type Output;

    /// Runs the computation with `metric`.
    fn with(self, metric: &impl Metric) -> Self::Output;
}

/// Calls `user` with the metric of a checked speed, for the tetrahedra in the given `order`.
pub(crate) fn with_metric<U: WithMetric>(speed: &Speed, order: &[u32], user: U) -> U::Output {
    Products::new(speed, order).with_metric(user)
}

/// The inverse of a tensor; none if it is not positive definite.
fn inverse(&[xx, yy, zz, yz, zx, xy]: &Tensor) -> Option<Tensor> {
    let adjugate = [
        yy * zz - yz * yz,
        xx * zz - zx * zx,
        xx * yy - xy * xy,
        zx * xy - xx * yz,
        xy * yz - zx * yy,
        yz * zx - xy * zz,
    ];
    let determinant = xx * adjugate[0] + xy * adjugate[5] + zx * adjugate[4];
    let minors = [xx, adjugate[2], determinant];
    minors.iter().all(|m| *m > 0.0 && m.is_finite()).then(|| adjugate.map(|c| c / determinant))
}

/// The upper factor F^T of the Cholesky factorization F . F^T.
fn transposed_factor(&[xx, yy, zz, yz, zx, xy]: &Tensor) -> [[f64; 3]; 3] {
    let f00 = xx.sqrt();
    let (f10, f20) = (xy / f00, zx / f00);
    let f11 = (yy - f10 * f10).sqrt();
    let f21 = (yz - f20 * f10) / f11;
    let f22 = (zz - f20 * f20 - f21 * f21).sqrt();
    [[f00, f10, f20], [0.0, f11, f21], [0.0, 0.0, f22]]
}

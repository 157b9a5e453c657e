//! Quadratic fields through the integration points of patches of tetrahedra, as superconvergent
//! patches of elements of second order have them [ZienkiewiczZhu1992].

use nalgebra::{SMatrix, Vector3};

/// Monomials up to second order.
const N: usize = 10;

/// A value of weight w at a point.
pub(super) struct Sample<const C: usize> {
    pub at: Vector3<f64>,
    pub weight: f64,
    pub value: [f64; C],
}

/// A quadratic field.
#[derive(Debug, Clone)]
pub(super) struct PatchField<const C: usize> {
    center: Vector3<f64>,
    radius: f64,
    coefficients: [[f64; C]; N],
}

/// Share of the largest eigenvalue below which samples do not say how much of a shape there is.
/// Patches on edges of a part, of few elements, have such shapes.
const UNKNOWN: f64 = 0.01;

impl<const C: usize> PatchField<C> {
    /// The field that is nearest to the samples: linear as far as that goes, so that linear fields
    /// are exact in every patch, and then quadratic where the samples determine it.
    pub fn through(samples: &[Sample<C>]) -> Self {
        let weight: f64 = samples.iter().map(|sample| sample.weight).sum();
        let center = samples.iter().map(|sample| sample.weight * sample.at).sum::<Vector3<f64>>();
        let center = center / weight;
        let arms = samples.iter().map(|sample| (sample.at - center).norm());
        let radius = arms.fold(f64::MIN_POSITIVE, f64::max);
        let mut field = Self { center, radius, coefficients: [[0.0; C]; N] };
        field.approach(samples, 4, 1e-12);
        field.approach(samples, N, UNKNOWN);
        field
    }

    /// The value at `x`.
    pub fn at(&self, x: Vector3<f64>) -> [f64; C] {
        let monomials = self.monomials(x);
        std::array::from_fn(|i| (0..N).map(|k| monomials[k] * self.coefficients[k][i]).sum())
    }

    fn monomials(&self, x: Vector3<f64>) -> [f64; N] {
        let [x, y, z] = ((x - self.center) / self.radius).into();
        [1.0, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x]
    }

    /// Adds what the first `n` monomials take of the differences to the samples, by least squares,
    /// without shapes whose eigenvalue is below a share of the largest.
    fn approach(&mut self, samples: &[Sample<C>], n: usize, least: f64) {
        let mut gram = SMatrix::<f64, N, N>::zeros();
        let mut rest = [[0.0; C]; N];
        for sample in samples {
            let (monomials, own) = (self.monomials(sample.at), self.at(sample.at));
            for k in 0..n {
                let weighted = sample.weight * monomials[k];
                (0..n).for_each(|l| gram[(k, l)] += weighted * monomials[l]);
                (0..C).for_each(|i| rest[k][i] += weighted * (sample.value[i] - own[i]));
            }
        }

        // With ones on the diagonal.
        let scale: [f64; N] = std::array::from_fn(|k| match gram[(k, k)] {
            size if size > 0.0 => size.sqrt().recip(),
            _ => 0.0,
        });
        let scaled = SMatrix::<f64, N, N>::from_fn(|k, l| scale[k] * gram[(k, l)] * scale[l]);
        let eigen = scaled.symmetric_eigen();
        let bound = least * eigen.eigenvalues.max();
        for (&value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if value <= bound {
                continue;
            }
            for i in 0..C {
                let along: f64 = (0..n).map(|k| vector[k] * scale[k] * rest[k][i]).sum();
                let share = along / value;
                (0..n).for_each(|k| self.coefficients[k][i] += share * scale[k] * vector[k]);
            }
        }
    }
}

//! Chebyshev smoothing of D^-1 A over the upper part of its spectrum.

use crate::{Backend, BackendError, Growth, InverseDiagonal, LinearOperator, Residual, Space};

/// Largest eigenvalue over the least one of the interval that is smoothed, where an estimate gives
/// the largest one.
const RATIO: f64 = 8.0;
/// The ratio where a bound gives the largest one, which is not reached: on the finest level of
/// hexahedra. Against `RATIO` up to 4 % fewer iterations there, and up to 1 % more where elements are
/// cut from tetrahedra; with 5 it is 7 and 3 %.
const RATIO_OF_BOUND: f64 = 6.0;
/// The power method's eigenvalue is raised by this, as it comes from below.
const MARGIN: f64 = 1.1;

/// Steps that find what lies beyond an estimate: a share of 1e-8 that is a fifth beyond it grows to
/// the size of all others.
const STEPS_BEYOND: usize = 8;

/// Scalar products of the vectors of a level.
pub type Dot<'d, B> =
    &'d dyn Fn(&<B as Backend>::Vector, &<B as Backend>::Vector, &mut <B as Backend>::Scalar);

/// A smoother of given degree with its work vectors.
pub struct Chebyshev<B: Backend> {
    degree: usize,
    /// Ratio of the ends of the interval that is smoothed.
    ratio: f64,
    /// Start vector of the power method, if the largest eigenvalue has to be estimated.
    start: Option<B::Vector>,
    /// Work vector for the search beyond that.
    beyond: Option<B::Vector>,
    growth: Growth<B::Scalar>,
    r: B::Vector,
    d: B::Vector,
    z: B::Vector,
}

/// Prior knowledge of the largest eigenvalue of D^-1 A.
pub enum Spectrum<V> {
    /// Upper bound of the eigenvalue.
    Bounded(f64),
    /// Nothing.
    Estimated {
        /// Any vector that has a share of the largest eigenvector.
        start: V,
        /// Work vector, where single eigenvalues may lie beyond those that the power method finds.
        beyond: Option<V>,
    },
}

impl<B: Backend> Chebyshev<B> {
    /// For operators of `space`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        space: Space,
        degree: usize,
        spectrum: Spectrum<B::Vector>,
    ) -> Result<Self, BackendError> {
        let zeros = || backend.zeros(space);
        let (r, d, z) = (zeros()?, zeros()?, zeros()?);
        let mut growth = Growth { result: backend.scalar(), start: backend.scalar() };
        let (ratio, start, beyond) = match spectrum {
            Spectrum::Estimated { start, beyond } => (RATIO, Some(start), beyond),
            Spectrum::Bounded(bound) => {
                let values =
                    [bound / MARGIN, 1.0].map(|value| backend.upload(&[value], Space::level(1, 1)));
                let [result, start] = values;
                let (result, start) = (result?, start?);
                backend.dot_into(&result, &result, &mut growth.result);
                backend.dot_into(&start, &start, &mut growth.start);
                (RATIO_OF_BOUND, None, None)
            }
        };
        Ok(Self { degree, ratio, start, beyond, growth, r, d, z })
    }

    /// Estimates the largest eigenvalue of D^-1 A, where no bound is known, by `steps` of the power
    /// method with scalar products `dot`, from A alone: what was estimated before does not matter.
    pub fn update(
        &mut self,
        backend: &B,
        a: &dyn LinearOperator<B>,
        inverse_diagonal: &dyn InverseDiagonal<B>,
        steps: usize,
        dot: Dot<B>,
    ) {
        let Self { start, growth, r, d, z, .. } = self;
        let Some(start) = start else { return };
        backend.copy(start, z);
        // A few steps grow a vector by less than any precision holds, so only the last is measured.
        for _ in 0..steps {
            std::mem::swap(z, d);
            a.apply(d, r);
            inverse_diagonal.apply(r, z);
        }
        dot(z, z, &mut growth.result);
        dot(d, d, &mut growth.start);
        self.search_beyond(backend, a, inverse_diagonal, dot);
    }

    /// Estimates it again where it may lie beyond. In z as the power method left it, a single
    /// eigenvector of a million may still be too small to be seen. But over the spectrum that was
    /// estimated, the smoother's polynomial p(D^-1 A) is small, and beyond it grows with its
    /// degree.
    fn search_beyond(
        &mut self,
        backend: &B,
        a: &dyn LinearOperator<B>,
        inverse_diagonal: &dyn InverseDiagonal<B>,
        dot: Dot<B>,
    ) {
        let Self { beyond, growth, r, d, z, .. } = self;
        let Some(x) = beyond else { return };
        // The residual of A x = A z is A (z - x) = A p z.
        a.apply(z, d);
        backend.copy(d, z);
        for (step, factors) in factors(STEPS_BEYOND, RATIO).enumerate() {
            let residual = match step {
                0 => Residual::OfZero { b: &*z },
                _ => Residual::After { ad: &*z },
            };
            inverse_diagonal.smooth(residual, factors, growth, r, d, x);
            a.apply(d, z);
        }
        backend.axpby(-1.0, z, 1.0, r);

        inverse_diagonal.apply(r, d);
        a.apply(d, r);
        inverse_diagonal.apply(r, z);
        dot(z, z, &mut growth.result);
        dot(d, d, &mut growth.start);
    }

    /// Estimate or bound of the largest eigenvalue of D^-1 A.
    pub(crate) fn growth(&self) -> &Growth<B::Scalar> {
        &self.growth
    }

    /// Sets the degree, at least 1.
    pub fn set_degree(&mut self, degree: usize) {
        self.degree = degree;
    }

    /// Improves x towards A x = b. With `from_zero`, x is taken as zero whatever it holds, which
    /// saves an application of A.
    pub fn smooth(
        &mut self,
        a: &dyn LinearOperator<B>,
        inverse_diagonal: &dyn InverseDiagonal<B>,
        b: &B::Vector,
        x: &mut B::Vector,
        from_zero: bool,
    ) {
        let Self { growth, r, d, z, .. } = self;
        let first = if from_zero {
            Residual::OfZero { b }
        } else {
            a.apply(x, z);
            Residual::Of { b, ax: z }
        };
        let mut factors = factors(self.degree, self.ratio);
        let of_first = factors.next().unwrap_or_default();
        inverse_diagonal.smooth(first, of_first, growth, r, d, x);
        for factors in factors {
            a.apply(d, z);
            inverse_diagonal.smooth(Residual::After { ad: z }, factors, growth, r, d, x);
        }
    }
}

/// Factors alpha and beta of the `degree` steps d = alpha D^-1 r + beta d of the Chebyshev polynomial over
/// [largest eigenvalue / `ratio`, largest eigenvalue], in units of the estimate of that.
pub(crate) fn factors(degree: usize, ratio: f64) -> impl Iterator<Item = [f64; 2]> {
    let (low, high) = (MARGIN / ratio, MARGIN);
    let (middle, half) = (0.5 * (high + low), 0.5 * (high - low));
    let mut rho = half / middle;
    let further = (1..degree).map(move |_| {
        let next = 1.0 / (2.0 * middle / half - rho);
        let factors = [2.0 * next / half, next * rho];
        rho = next;
        factors
    });
    std::iter::once([1.0 / middle, 0.0]).chain(further)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockDiagonal, Cpu};

    /// Estimate for a diagonal matrix with eigenvalues up to 1 and a single one of 1.4.
    fn estimate(is_sought: bool) -> f64 {
        let space = Space::level(200_000, 1);
        let [mut a, mut identity] = [(); 2].map(|()| BlockDiagonal::<1>::zeros(space));
        let values = (1..=space.points).map(|i| i as f64 / space.points as f64);
        a.packed_mut().iter_mut().zip(values).for_each(|(entry, value)| *entry = value);
        a.packed_mut()[777] = 1.4;
        identity.packed_mut().fill(1.0);

        let beyond = is_sought.then(|| vec![0.0; space.points]);
        let start = vec![1.0; space.points];
        let spectrum = Spectrum::Estimated { start, beyond };
        let mut smoother = Chebyshev::new(&Cpu, space, 2, spectrum).unwrap();
        smoother.update(&Cpu, &a, &identity, 10, &|x, y, out| Cpu.dot_into(x, y, out));
        (smoother.growth().result / smoother.growth().start).sqrt()
    }

    #[test]
    fn a_single_eigenvalue_beyond_all_others_is_found() {
        assert!(estimate(false) < 1.1);
        let found = estimate(true);
        assert!((found - 1.4).abs() < 1e-6, "{found}");
    }
}

//! Sums over the density: the mass, and the volume of a part of the design.

use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use crate::{Dependence, Evaluated, Response, SolveError};

/// sum_e w_e x̄_e: the mass with the mass of every element as its weight, the share of a region
/// that material fills with its share of the region's volume.
pub struct WeightedDensity<B: Pointwise> {
    name: String,
    /// w, `[n_elements]`.
    weights: B::Vector,
}

impl<B: Pointwise> WeightedDensity<B> {
    /// The response with `weights`, `[n_elements]`, not negative; ranks after the first pass none.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        name: String,
        n_elements: usize,
        weights: &[f64],
    ) -> Result<Self, BackendError> {
        let weights = backend.upload(weights, Space::elements(n_elements))?;
        Ok(Self { name, weights })
    }
}

impl<B: Pointwise> Response<B> for WeightedDensity<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::Linear
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        at.backend.value(&at.backend.dot(&self.weights, at.density))
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        _: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        at.backend.copy(&self.weights, gradient);
        Ok(())
    }
}

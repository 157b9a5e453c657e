//! What keeps designs free of checkerboards and their features from shrinking with the mesh.

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Backend, Pointwise};

use crate::{DesignTransform, PhysicalDensity, SensitivityFilter};

/// The filter of a design loop.
pub enum Filter<'a, B: Backend> {
    /// None: the design variables are the densities.
    None,
    /// The design variables are the densities, the sensitivities are filtered.
    Sensitivity(SensitivityFilter<'a, B>),
    /// The densities are made from the design variables, the sensitivities follow by the chain
    /// rule.
    Density(PhysicalDensity<'a, B>),
}

impl<'a, B: Pointwise> Filter<'a, B> {
    /// The map from design variables to densities, where they differ.
    pub fn transform(&mut self) -> Option<&mut dyn DesignTransform<B>> {
        match self {
            Filter::Density(transform) => Some(transform),
            Filter::None | Filter::Sensitivity(_) => None,
        }
    }

    /// From sensitivities by the densities to those that the optimizer takes; `scratch` is
    /// overwritten.
    pub(crate) fn sensitivities(
        &mut self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &mut B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        match self {
            Filter::None => {}
            Filter::Sensitivity(filter) => {
                filter.apply(backend, density, sensitivities, scratch)?;
            }
            Filter::Density(transform) => {
                transform.backward(backend, sensitivities, scratch)?;
                std::mem::swap(sensitivities, scratch);
            }
        }
        Ok(())
    }

    /// Takes another operator H.
    pub(crate) fn set_weights(
        &mut self,
        backend: &B,
        weights: Box<dyn Averaging<B> + 'a>,
    ) -> Result<(), AveragingError> {
        match self {
            Filter::None => {}
            Filter::Sensitivity(filter) => filter.set_weights(backend, weights)?,
            Filter::Density(transform) => transform.set_weights(weights)?,
        }
        Ok(())
    }

    /// Takes another sharpness of the projection, if there is one.
    pub(crate) fn set_sharpness(&mut self, sharpness: f64) {
        if let Filter::Density(transform) = self {
            transform.set_sharpness(sharpness);
        }
    }
}

//! The operator H of a filter, for the radius in force.

use topopt_fem::Averaging;
use topopt_linalg::{Backend, BackendError};

use crate::Settings;

/// Makes the operator H for a radius.
pub type WeightsOf<'a, B> =
    Box<dyn Fn(f64) -> Result<Box<dyn Averaging<B> + 'a>, BackendError> + 'a>;

/// The operator H, a weighted sum over neighbors, of dimension `n_elements`. It is made again when
/// a stage changes the radius.
pub struct Weights<'a, B: Backend> {
    operator: Box<dyn Averaging<B> + 'a>,
    source: Option<Source<'a, B>>,
}

/// The radius in force, and what makes H for another one.
struct Source<'a, B: Backend> {
    radius: f64,
    weights_of: WeightsOf<'a, B>,
}

impl<'a, B: Backend> Weights<'a, B> {
    /// H for `radius` (length), and for other radii as stages begin.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(radius: f64, weights_of: WeightsOf<'a, B>) -> Result<Self, BackendError> {
        let operator = weights_of(radius)?;
        Ok(Self { operator, source: Some(Source { radius, weights_of }) })
    }

    /// The operator H, whatever the stage.
    pub fn fixed(operator: Box<dyn Averaging<B> + 'a>) -> Self {
        Self { operator, source: None }
    }

    /// Takes the radius in `settings`, and returns whether H has changed.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub(crate) fn enter(&mut self, settings: &Settings) -> Result<bool, BackendError> {
        match (&mut self.source, settings.filter_radius) {
            (Some(source), Some(radius)) if radius != source.radius => {
                source.radius = radius;
                self.operator = (source.weights_of)(radius)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The operator H in force.
    pub(crate) fn operator(&self) -> &(dyn Averaging<B> + 'a) {
        self.operator.as_ref()
    }
}

//! Quantities that a design is judged by.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::responses::{Compliance, SensitivityFilter, Volume};
use crate::{DesignSpace, Measures, SolveError, StateEquation};

/// A function of the physical density and of the states, with its gradient.
pub trait Response<B: Pointwise> {
    /// Name, such as `compliance`.
    fn name(&self) -> &str;

    /// What it depends on.
    fn dependence(&self) -> Dependence;

    /// Its value.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError>;

    /// Writes its gradient by the physical density, `[n_elements]`, to `gradient`, whose content is
    /// undefined before. Adjoint solves are those of [`Evaluated::equation`], which takes `monitor`.
    ///
    /// # Errors
    /// [`SolveError`] if the device or an adjoint solve fails.
    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError>;
}

/// What a response depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// The physical density alone, and linearly without a constant: it is its gradient times the density.
    Linear,
    /// The physical density alone.
    Density,
    /// The states as well.
    States,
}

/// An evaluated design, as responses see it.
pub struct Evaluated<'e, 'a, B: Pointwise> {
    /// Where vectors live.
    pub backend: &'e B,
    /// The physical density, `[n_elements]`.
    pub density: &'e B::Vector,
    /// Measures of the density, with the volumes of the design elements.
    pub measures: &'e Measures<B>,
    /// The state equation with the states of this design, for responses that depend on them.
    pub equation: &'e mut StateEquation<'a, B>,
    /// A vector to overwrite, `[n_elements]`.
    pub scratch: &'e mut B::Vector,
}

/// What is minimized: a response, or a compliance with filtered sensitivities.
pub struct Objective<'a, B: Pointwise> {
    pub(crate) response: Box<dyn Response<B> + 'a>,
    pub(crate) filter: Option<SensitivityFilter<'a, B>>,
}

impl<'a, B: Pointwise + 'a> Objective<'a, B> {
    /// A response with its own gradient.
    pub fn new(response: Box<dyn Response<B> + 'a>) -> Self {
        Self { response, filter: None }
    }

    /// The compliance with sensitivities that a filter smooths.
    pub fn filtered(compliance: Compliance, filter: SensitivityFilter<'a, B>) -> Self
    where
        B: Sync,
    {
        Self { response: Box::new(compliance), filter: Some(filter) }
    }
}

/// A response that may not exceed a limit.
pub struct Constraint<'a, B: Pointwise> {
    pub(crate) response: Box<dyn Response<B> + 'a>,
    pub(crate) limit: f64,
}

impl<'a, B: Pointwise + 'a> Constraint<'a, B> {
    /// `response` <= `limit`.
    pub fn new(response: Box<dyn Response<B> + 'a>, limit: f64) -> Self {
        Self { response, limit }
    }

    /// The volume that `space` allows.
    pub fn volume(space: &DesignSpace) -> Self {
        Self::new(Box::new(Volume), space.volume())
    }
}

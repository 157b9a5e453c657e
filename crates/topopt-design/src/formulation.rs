//! Formulation of a topology optimization problem.

use topopt_linalg::Pointwise;

use crate::{Chain, DesignSpace, Response, SensitivityFilter, Volume};

/// Optimization problem: minimize or maximize an objective under constraints.
pub struct Formulation<'a, B: Pointwise> {
    /// Set of the designs that are allowed.
    pub space: &'a DesignSpace,
    /// Transform from design variables to the physical density.
    pub transform: Chain<'a, B>,
    /// Function to minimize or maximize.
    pub objective: Objective<'a, B>,
    /// Responses with limits.
    pub constraints: Vec<Constraint<'a, B>>,
}

/// Objective: a response, one with filtered sensitivities, or the largest of several responses.
pub struct Objective<'a, B: Pointwise> {
    /// Responses with their weights; of several the largest is minimized.
    pub(crate) responses: Vec<(Box<dyn Response<B> + 'a>, f64)>,
    /// -1 for what is maximized, else 1.
    pub(crate) sign: f64,
    pub(crate) filter: Option<SensitivityFilter<'a, B>>,
}

impl<'a, B: Pointwise + 'a> Objective<'a, B> {
    /// A response with its own gradient.
    pub fn new(response: Box<dyn Response<B> + 'a>) -> Self {
        Self::worst(vec![(response, 1.0)])
    }

    /// The worst of several responses times their weights, > 0: the largest is minimized, or the
    /// smallest maximized, by one bound for all \[OlhoffTaylor1983\].
    pub fn worst(responses: Vec<(Box<dyn Response<B> + 'a>, f64)>) -> Self {
        Self { responses, sign: 1.0, filter: None }
    }

    /// A response with sensitivities that a filter smooths. Only for the compliance is that known
    /// to lead to good designs; for mechanisms it is found in the literature.
    pub fn filtered(response: Box<dyn Response<B> + 'a>, filter: SensitivityFilter<'a, B>) -> Self {
        Self { filter: Some(filter), ..Self::new(response) }
    }

    /// An objective to maximize.
    #[must_use]
    pub fn maximized(self) -> Self {
        Self { sign: -1.0, ..self }
    }
}

impl<B: Pointwise> Objective<'_, B> {
    /// How many of the functions share one bound: all responses, if there are several.
    pub(crate) fn n_sharing(&self) -> usize {
        if self.responses.len() > 1 { self.responses.len() } else { 0 }
    }
}

/// A response that must keep a limit.
pub struct Constraint<'a, B: Pointwise> {
    pub(crate) response: Box<dyn Response<B> + 'a>,
    /// -1 where the limit is the smallest value, else 1.
    pub(crate) sign: f64,
    pub(crate) limit: f64,
}

impl<'a, B: Pointwise + 'a> Constraint<'a, B> {
    /// `response` <= `limit`.
    pub fn new(response: Box<dyn Response<B> + 'a>, limit: f64) -> Self {
        Self { response, sign: 1.0, limit }
    }

    /// `response` >= `limit`.
    pub fn at_least(response: Box<dyn Response<B> + 'a>, limit: f64) -> Self {
        Self { response, sign: -1.0, limit }
    }

    /// Limits the volume to the share `fraction` of the design elements of `space`.
    pub fn volume(space: &DesignSpace, fraction: f64) -> Self {
        Self::new(Box::new(Volume), fraction * space.design_volume())
    }
}

//! What a topology optimization is asked for.

use topopt_linalg::Pointwise;

use crate::{Chain, Compliance, DesignSpace, Response, SensitivityFilter, Volume};

/// What is asked for: minimize an objective under constraints.
pub struct Formulation<'a, B: Pointwise> {
    /// Which designs are allowed.
    pub space: &'a DesignSpace,
    /// From design variables to the physical density.
    pub transform: Chain<'a, B>,
    /// What is minimized.
    pub objective: Objective<'a, B>,
    /// What may not exceed limits.
    pub constraints: Vec<Constraint<'a, B>>,
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

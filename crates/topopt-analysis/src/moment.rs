//! `Moment`: a state with its loads at one time of a history.

use topopt_linalg::Pointwise;

/// A state with its loads at one time of a history; a steady state is a history of one.
#[derive(Clone, Copy)]
pub struct Moment<'m, B: Pointwise> {
    /// Backend of the vectors.
    pub backend: &'m B,
    /// The state, held values included, `[n_nodes][n]`.
    pub state: &'m B::Vector,
    /// The loads, 0 at held components, `[n_nodes][n]`.
    pub loads: &'m B::Vector,
    /// Weight of the state in the mean over time; 1 for a steady state.
    pub share: f64,
    /// Whether the state is the initial one.
    pub is_first: bool,
    /// Whether the state is the last one.
    pub is_last: bool,
}

impl<'m, B: Pointwise> Moment<'m, B> {
    /// A steady `state` under `loads`.
    pub fn steady(backend: &'m B, state: &'m B::Vector, loads: &'m B::Vector) -> Self {
        Self { backend, state, loads, share: 1.0, is_first: true, is_last: true }
    }
}

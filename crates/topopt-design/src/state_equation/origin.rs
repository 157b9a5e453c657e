//! A state that others are counted from.

use topopt_linalg::Pointwise;

/// A uniform state that others are counted from, such as that of the coldest temperature that is held.
pub(super) struct Origin<B: Pointwise> {
    /// Value at free components, 0 at held ones, `[n_nodes][n]`.
    pub state: B::Vector,
    /// Room for a residual, `[n_nodes][n]`.
    pub residual: B::Vector,
}

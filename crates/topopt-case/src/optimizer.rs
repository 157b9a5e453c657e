//! The optimizer that a case asks for.

use topopt_design::{Anderson, Mma, OptimalityCriteria, Optimizer, Simpl};
use topopt_linalg::{BackendError, MovingAsymptotes};

use crate::config::{self, Method};

/// The optimizer of `n` design variables.
///
/// # Errors
/// [`BackendError`] if the device has no room.
pub fn build<'b, B: MovingAsymptotes + 'b>(
    settings: &config::Optimizer,
    backend: &B,
    n: usize,
) -> Result<Box<dyn Optimizer<B> + 'b>, BackendError> {
    let &config::Optimizer { method, move_limit, damping, .. } = settings;
    Ok(match method {
        Method::Oc => Box::new(OptimalityCriteria::new(backend, n, move_limit, damping)?),
        Method::OcAnderson => Box::new(Anderson::new(backend, n, move_limit, damping)?),
        Method::Mma => Box::new(Mma::new(backend, n, move_limit)?),
        Method::Gcmma => Box::new(Mma::new(backend, n, move_limit)?.globally_convergent()),
        Method::Simpl => Box::new(Simpl::new(backend, n)?),
    })
}

/// Vectors of one entry per element that a method holds more than optimality criteria do, which are
/// counted with the loop.
pub fn further_element_vectors(method: Method) -> usize {
    let held = match method {
        Method::Oc => OptimalityCriteria::ELEMENT_VECTORS,
        Method::OcAnderson => Anderson::ELEMENT_VECTORS,
        Method::Mma | Method::Gcmma => Mma::ELEMENT_VECTORS,
        Method::Simpl => Simpl::ELEMENT_VECTORS,
    };
    held - OptimalityCriteria::ELEMENT_VECTORS
}

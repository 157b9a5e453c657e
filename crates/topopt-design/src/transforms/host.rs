//! A transform that a caller computes by itself, from values on the host.

use std::sync::Arc;

use topopt_analysis::{HostMap, Pullback};
use topopt_linalg::{Backend, Space};

use crate::{DesignTransform, Transformed};

/// $y = T(x)$ from densities to densities, `[n_elements]` each, by a map of the caller's.
pub struct HostTransform {
    elements: Space,
    map: Arc<dyn HostMap>,
    /// Way back at the x of the last forward.
    pullback: Option<Pullback>,
}

impl HostTransform {
    /// The transform of `n` elements by `map`.
    pub fn new(n: usize, map: Arc<dyn HostMap>) -> Self {
        Self { elements: Space::elements(n), map, pullback: None }
    }
}

impl<B: Backend> DesignTransform<B> for HostTransform {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        // A backend that counts memory has no values to give away.
        if !backend.has_values() {
            backend.copy(x, y);
            return Ok(());
        }
        let (values, pullback) = self.map.evaluate(&backend.download(x)?)?;
        backend.copy(&backend.upload(&values, self.elements)?, y);
        self.pullback = Some(pullback);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        match &self.pullback {
            Some(pullback) => {
                let slope = pullback(&backend.download(dy)?)?;
                backend.copy(&backend.upload(&slope, self.elements)?, dx);
            }
            None => backend.copy(dy, dx),
        }
        Ok(())
    }
}

/// Computes `map` of the values of a vector into another one of the same `space`, on the host; a
/// rank without values has none.
pub(super) fn on_host<B: Backend>(
    backend: &B,
    space: Space,
    from: &B::Vector,
    to: &mut B::Vector,
    map: impl FnOnce(Vec<f64>) -> Vec<f64>,
) -> Transformed {
    let given = backend.download(from)?;
    let values = if backend.has_values() { map(given) } else { Vec::new() };
    backend.copy(&backend.upload(&values, space)?, to);
    Ok(())
}

//! The density that is left of a design when it is printed, or cast.

use std::sync::Arc;

use topopt_linalg::{Pointwise, Space};

use crate::{DesignTransform, Supports, Transformed};

/// The least p of some [`Supports`] in each element. It is computed on the host, whatever the
/// backend: from layer to layer there is little to do at a time.
pub struct Swept {
    sweeps: Vec<Arc<Supports>>,
    elements: Space,
    /// Samples that elements have their densities of, by sweep, at the last forward.
    chosen: Vec<Vec<u32>>,
    /// Sweep with the least density, `[n_elements]`.
    least: Vec<u8>,
}

impl Swept {
    /// The transform of `n` elements; of several ranks the first one has the supports.
    pub fn new(sweeps: Vec<Arc<Supports>>, n: usize) -> Self {
        let (chosen, least) = (Vec::new(), Vec::new());
        Self { sweeps, elements: Space::elements(n), chosen, least }
    }

    /// Computes the least density of all sweeps of `x`, `[n_elements]`.
    pub fn values(&mut self, x: &[f64]) -> Vec<f64> {
        let mut all = vec![f64::INFINITY; x.len()];
        self.least = vec![0; x.len()];
        self.chosen.clear();
        for (sweep, supports) in (0..).zip(&self.sweeps) {
            let (swept, chosen) = supports.swept(x);
            for ((value, least), swept) in all.iter_mut().zip(&mut self.least).zip(swept) {
                if swept < *value {
                    (*value, *least) = (swept, sweep);
                }
            }
            self.chosen.push(chosen);
        }
        all
    }

    /// Takes derivatives back to the x of the last [`Swept::values`].
    fn gradient(&self, by_values: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; by_values.len()];
        for ((sweep, supports), chosen) in (0..).zip(&self.sweeps).zip(&self.chosen) {
            let own = by_values.iter().zip(&self.least);
            let own = own.map(|(by_value, least)| if *least == sweep { *by_value } else { 0.0 });
            let of_sweep = supports.swept_backward(chosen, own.collect());
            gradient.iter_mut().zip(of_sweep).for_each(|(sum, part)| *sum += part);
        }
        gradient
    }
}

impl<B: Pointwise> DesignTransform<B> for Swept {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        let density = backend.download(x)?;
        let values = if backend.has_values() { self.values(&density) } else { Vec::new() };
        backend.copy(&backend.upload(&values, self.elements)?, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        let by_values = backend.download(dy)?;
        let gradient = if backend.has_values() { self.gradient(&by_values) } else { Vec::new() };
        backend.copy(&backend.upload(&gradient, self.elements)?, dx);
        Ok(())
    }
}

//! The density whose voids are open to the outside.

use std::sync::Arc;

use topopt_linalg::{Pointwise, Space};

use super::host::on_host;
use crate::{DesignTransform, Openings, Transformed};

/// Densities at which elements are open to the outside, computed on the host, whatever the backend:
/// one follows from the next.
pub struct Opened {
    openings: Arc<Openings>,
    elements: Space,
    /// Elements that others have their densities of, at the last forward.
    bottleneck: Vec<u32>,
}

impl Opened {
    /// The transform of `n` elements; of several ranks the first one has the `openings`.
    pub fn new(openings: Arc<Openings>, n: usize) -> Self {
        Self { openings, elements: Space::elements(n), bottleneck: Vec::new() }
    }

    fn values(&mut self, x: &[f64]) -> Vec<f64> {
        let (values, bottleneck) = self.openings.flooded(x);
        self.bottleneck = bottleneck;
        values
    }

    /// Takes derivatives back to the x of the last [`Opened::values`].
    fn gradient(&self, by_values: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; by_values.len()];
        for (&e, by_value) in self.bottleneck.iter().zip(by_values) {
            gradient[e as usize] += by_value;
        }
        gradient
    }
}

impl<B: Pointwise> DesignTransform<B> for Opened {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        on_host(backend, self.elements, x, y, |density| self.values(&density))
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        on_host(backend, self.elements, dy, dx, |by_values| self.gradient(&by_values))
    }
}

#[cfg(test)]
mod tests {
    use topopt_testing::{distorted_cube, distorted_tetrahedra};

    use super::*;

    #[test]
    fn derivatives_of_open_densities_are_differences() {
        for mesh in [distorted_cube(8, 0.3, true), distorted_tetrahedra(5, 0.25, true)] {
            let n = mesh.n_elements();
            let openings = Openings::new(&mesh, &vec![false; mesh.n_nodes()]).unwrap();
            let mut opened = Opened::new(Arc::new(openings), n);
            let x: Vec<f64> = (0..n).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect();
            let cotangent: Vec<f64> = (0..n).map(|e| (e as f64 * 0.9).cos() + 0.3).collect();
            let direction: Vec<f64> = (0..n).map(|e| (e as f64 * 2.3).sin()).collect();
            let filled = opened.values(&x);
            assert!(filled.iter().zip(&x).filter(|(p, x)| p > x).count() > n / 10);
            let gradient = opened.gradient(&cotangent);

            let moved = |step: f64| -> Vec<f64> {
                x.iter().zip(&direction).map(|(x, d)| x + step * d).collect()
            };
            let mut value = |step: f64| {
                opened.values(&moved(step)).iter().zip(&cotangent).map(|(p, c)| p * c).sum::<f64>()
            };
            let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
            let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            assert!(
                (difference - expected).abs() < 1e-6 * expected.abs(),
                "{difference}, {expected}"
            );
        }
    }
}

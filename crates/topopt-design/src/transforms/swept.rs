//! The density that is left of a design when it is printed, cast or milled.

use std::sync::Arc;

use topopt_linalg::{Pointwise, Space};

use super::host::on_host;
use crate::supports::EQUAL;
use crate::{DesignTransform, Supports, Transformed};

/// The least p of some [`Supports`] in each element. It is computed on the host, whatever the
/// backend: from layer to layer there is little to do at a time.
pub struct Swept {
    sweeps: Vec<Arc<Supports>>,
    elements: Space,
    /// Samples that elements have their densities of, by sweep, at the last forward.
    chosen: Vec<Vec<u32>>,
    /// Elements that others have their densities of where a tool has no room, by sweep.
    held: Vec<Vec<u32>>,
    /// Sweep with the least density, `[n_elements]`.
    least: Vec<u8>,
}

impl Swept {
    /// The transform of `n` elements; of several ranks the first one has the supports.
    pub fn new(sweeps: Vec<Arc<Supports>>, n: usize) -> Self {
        let (chosen, held, least) = (Vec::new(), Vec::new(), Vec::new());
        Self { sweeps, elements: Space::elements(n), chosen, held, least }
    }

    /// Computes the least density of all sweeps of `x`, `[n_elements]`.
    pub fn values(&mut self, x: &[f64]) -> Vec<f64> {
        let mut all = vec![f64::INFINITY; x.len()];
        self.least = vec![0; x.len()];
        self.chosen.clear();
        self.held.clear();
        for (sweep, supports) in (0..).zip(&self.sweeps) {
            let (swept, chosen) = supports.swept(x);
            let (swept, held) = supports.with_room(swept);
            for ((value, least), swept) in all.iter_mut().zip(&mut self.least).zip(swept) {
                // Of equal densities the first sweep takes the derivatives.
                if swept < *value - EQUAL {
                    *least = sweep;
                }
                *value = value.min(swept);
            }
            self.chosen.push(chosen);
            self.held.push(held);
        }
        all
    }

    /// Takes derivatives back to the x of the last [`Swept::values`].
    fn gradient(&self, by_values: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; by_values.len()];
        let picked = self.chosen.iter().zip(&self.held);
        for ((sweep, supports), (chosen, held)) in (0..).zip(&self.sweeps).zip(picked) {
            let own = by_values.iter().zip(&self.least);
            let own = own.map(|(by_value, least)| if *least == sweep { *by_value } else { 0.0 });
            let by_swept = supports.with_room_backward(held, own.collect());
            let of_sweep = supports.swept_backward(chosen, by_swept);
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
        on_host(backend, self.elements, x, y, |density| self.values(&density))
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        on_host(backend, self.elements, dy, dx, |by_values| self.gradient(&by_values))
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::HexMesh;
    use topopt_testing::{distorted_cube, distorted_tetrahedra};

    use super::*;
    use crate::OverhangCone;

    /// Tools from three directions, of which none lies along the mesh, and one has no diameter.
    fn milled(mesh: &HexMesh) -> Swept {
        let free = vec![false; mesh.n_elements()];
        let shade = |out: [f64; 3]| {
            let cone = OverhangCone::axis(out.map(|x| -x));
            Supports::new(mesh, &cone, &free).filling()
        };
        let [first, second, third] = [[0.36, 0.48, 0.8], [-0.6, 0.0, 0.8], [0.0, -1.0, 0.0]];
        let sweeps = vec![
            shade(first).with_tool(mesh, first, 0.35),
            shade(second),
            shade(third).with_tool(mesh, third, 0.3),
        ];
        Swept::new(sweeps.into_iter().map(Arc::new).collect(), mesh.n_elements())
    }

    #[test]
    fn derivatives_of_milled_densities_are_differences() {
        for mesh in [distorted_cube(8, 0.3, true), distorted_tetrahedra(5, 0.25, true)] {
            let n = mesh.n_elements();
            let mut swept = milled(&mesh);
            let x: Vec<f64> = (0..n).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect();
            let cotangent: Vec<f64> = (0..n).map(|e| (e as f64 * 0.9).cos() + 0.3).collect();
            let direction: Vec<f64> = (0..n).map(|e| (e as f64 * 2.3).sin()).collect();
            let values = swept.values(&x);
            assert!(values.iter().zip(&x).all(|(value, x)| *value > x - 1e-15));
            let gradient = swept.gradient(&cotangent);
            for sweep in 0..3 {
                assert!(swept.least.iter().filter(|least| **least == sweep).count() > n / 20);
            }

            let mut value = |step: f64| {
                let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
                swept.values(&moved).iter().zip(&cotangent).map(|(p, c)| p * c).sum::<f64>()
            };
            let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
            let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            assert!(
                (difference - expected).abs() < 1e-6 * expected.abs(),
                "{difference}, {expected}"
            );
            // Densities that are shifted as one stay so.
            let sums = [&gradient, &cotangent].map(|list| list.iter().sum::<f64>());
            assert!((sums[0] - sums[1]).abs() < 1e-10, "{sums:?}");
        }
    }
}

//! The density that is left of a design when it is printed, cast or milled.

use std::sync::Arc;

use topopt_linalg::{BackendError, Cascade, Pointwise, Space};

use super::host::on_host;
use crate::supports::EQUAL;
use crate::{DesignSpace, DesignTransform, Openings, Supports, Transformed};

/// The density p of one of the [`Supports`] without a tool, or of [`Openings`], on the backend.
pub struct Cascaded<B: Pointwise> {
    elements: Space,
    cascade: Box<dyn Cascade<B>>,
}

impl<B: Pointwise> Cascaded<B> {
    /// The transform by the supports of `space`; none if it has several sweeps, a tool, or the host
    /// computes them.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn by_supports(backend: &B, space: &DesignSpace) -> Result<Option<Self>, BackendError> {
        let Some(levels) = space.levels() else { return Ok(None) };
        let elements = Space::elements(space.n_elements());
        Ok(backend.cascade(&levels)?.map(|cascade| Self { elements, cascade }))
    }

    /// The transform of `n` elements by `openings`; none if the host computes them.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn by_openings(
        backend: &B,
        openings: &Openings,
        n: usize,
    ) -> Result<Option<Self>, BackendError> {
        let flood = backend.flood(openings.neighbors())?;
        Ok(flood.map(|cascade| Self { elements: Space::elements(n), cascade }))
    }
}

impl<B: Pointwise> DesignTransform<B> for Cascaded<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        self.cascade.forward(backend, x, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        self.cascade.backward(backend, dy, dx);
        Ok(())
    }
}

/// The least p of some [`Supports`] in each element, computed on the host, whatever the backend.
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
    use topopt_mesh::vector::dot;
    use topopt_testing::{distorted_cube, distorted_tetrahedra};

    use super::*;
    use crate::OverhangCone;

    /// Tools from three directions, of which none lies along the mesh, and one has no diameter.
    fn milled(mesh: &HexMesh) -> Swept {
        let free = vec![false; mesh.n_elements()];
        let shade = |out: [f64; 3]| {
            let cone = OverhangCone::axis(out.map(|x| -x), 0.0);
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

    /// Molds with a draft that open to two sides, which meet where the density has it, or in a
    /// plane through the middle.
    fn cast(mesh: &HexMesh, is_parted: bool) -> Swept {
        let out = [0.36, 0.48, 0.8];
        let below: Vec<bool> = mesh.centers().iter().map(|c| dot(*c, out) < 0.82).collect();
        let above: Vec<bool> = below.iter().map(|below| !below).collect();
        let side = |sign: f64, other: &[bool]| {
            let free = vec![false; other.len()];
            let cone = OverhangCone::axis(out.map(|x| -sign * x), 0.1);
            Supports::new(mesh, &cone, if is_parted { other } else { &free }).filling()
        };
        let sides = [side(1.0, &below), side(-1.0, &above)];
        let sides = match is_parted {
            true => sides.into_iter().reduce(Supports::joined).into_iter().collect(),
            false => sides.to_vec(),
        };
        Swept::new(sides.into_iter().map(Arc::new).collect(), mesh.n_elements())
    }

    fn wavy(n: usize) -> Vec<f64> {
        (0..n).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect()
    }

    /// Asserts that derivatives are differences, and that each sweep has some of the densities.
    fn has_derivatives(mut swept: Swept, n_sweeps: usize) {
        let n = swept.elements.len();
        let x = wavy(n);
        let cotangent: Vec<f64> = (0..n).map(|e| (e as f64 * 0.9).cos() + 0.3).collect();
        let direction: Vec<f64> = (0..n).map(|e| (e as f64 * 2.3).sin()).collect();
        let values = swept.values(&x);
        assert!(values.iter().zip(&x).all(|(value, x)| *value > x - 1e-15));
        let gradient = swept.gradient(&cotangent);
        for sweep in 0..n_sweeps {
            let count = swept.least.iter().filter(|least| **least as usize == sweep).count();
            assert!(count > n / 20, "{count} of sweep {sweep}");
        }

        let mut value = |step: f64| {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            swept.values(&moved).iter().zip(&cotangent).map(|(p, c)| p * c).sum::<f64>()
        };
        let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
        let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        assert!((difference - expected).abs() < 1e-6 * expected.abs(), "{difference}, {expected}");
        // Densities that are shifted as one stay so.
        let sums = [&gradient, &cotangent].map(|list| list.iter().sum::<f64>());
        assert!((sums[0] - sums[1]).abs() < 1e-10, "{sums:?}");
    }

    fn meshes() -> [HexMesh; 2] {
        [distorted_cube(8, 0.3, true), distorted_tetrahedra(5, 0.25, true)]
    }

    #[test]
    fn derivatives_of_milled_and_cast_densities_are_differences() {
        for mesh in meshes() {
            has_derivatives(milled(&mesh), 3);
            has_derivatives(cast(&mesh, false), 2);
            has_derivatives(cast(&mesh, true), 1);
        }
    }

    /// Each side of the plane is filled from its own end.
    #[test]
    fn a_mold_that_parts_in_a_plane_fills_towards_it() {
        let mesh = distorted_cube(8, 0.0, false);
        let centers = mesh.centers();
        let height: Vec<f64> = centers.iter().map(|c| c[2]).collect();
        let stand = |is_above: bool| -> Vec<bool> {
            height.iter().map(|z| (*z > 0.5) == is_above).collect()
        };
        let side = |sign: f64| {
            let cone = OverhangCone::axis([0.0, 0.0, -sign], 0.0);
            Supports::new(&mesh, &cone, &stand(sign < 0.0)).filling()
        };
        let x = wavy(512);
        let (p, _) = side(1.0).joined(side(-1.0)).swept(&x);
        for e in 0..512 {
            let fills = |&other: &usize| {
                let is_column = (0..2).all(|i| (centers[other][i] - centers[e][i]).abs() < 1e-6);
                let farther = (height[other] - height[e]) * (height[e] - 0.5).signum();
                is_column && farther > -1e-6
            };
            let most = (0..512).filter(fills).map(|other| x[other]).fold(0.0, f64::max);
            assert_eq!(p[e], most);
        }
    }
}

//! `LocalVolume`: the largest share of a ball that material fills.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Monitor, Pointwise};

use crate::{
    DensityFilter, Dependence, DesignSpace, DesignTransform, Evaluated, Response, SolveError,
    Weights, share_in_plate, whole_sum,
};

/// Norm of the local means of the density, (sum w_e m_e^p)^(1/p) with the shares w of the elements
/// in the design volume and p = 16 \[WuAageWestermannSigmund2018\]: with its limit no member
/// is thicker than a width.
///
/// A mean is that of a cone, and the outside of the part counts as void: members on its faces are
/// no thicker than the others.
pub struct LocalVolume<'a, B: Pointwise> {
    mean: DensityFilter<'a, B>,
    /// w, `[n_elements]`
    shares: B::Vector,
    /// m, `[n_elements]`
    means: B::Vector,
}

/// Power of the norm: with 48 members of a cantilever were thicker than they may be.
const POWER: f64 = 16.0;

/// Radius of the cone as a multiple of the largest width. A cone within the width is full of
/// members a little thicker and much thicker alike, and a larger one takes rods for thin plates.
const RADIUS: f64 = 0.75;

/// Share of the design volume that may lie in the middle of members of the largest width; where
/// more does, they come out thinner.
const MIDDLE: f64 = 0.01;

/// Share of the volume under a cone from which on a place lies in the interior of the part: sums
/// over elements differ from it by a twentieth.
const INTERIOR: f64 = 0.95;

impl<'a, B: Pointwise> LocalVolume<'a, B> {
    /// Radius of the cone for members of at most that `width`.
    pub fn radius(width: f64) -> f64 {
        RADIUS * width
    }

    /// Limit of the response, whatever the width: the mean in the middle of a plate of the largest
    /// width, in the middle of all members.
    pub fn limit() -> f64 {
        share_in_plate(1.0 / RADIUS) * MIDDLE.powf(1.0 / POWER)
    }

    /// The response of designs of `space`, with the `weights` of a cone of the `radius`.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or the weights fail.
    pub fn new(
        backend: &B,
        weights: Weights<'a, B>,
        radius: f64,
        space: &DesignSpace,
    ) -> Result<Self, AveragingError> {
        let mean = DensityFilter::new(backend, weights, &space.volumes)?;
        // Ranks after the first have no volumes.
        let least_sums = vec![INTERIOR * whole_sum(radius); space.volumes.len()];
        let mean = mean.within_void(backend, &least_sums)?;
        let elements = mean.inputs();
        let total = space.design_volume();
        let shares: Vec<f64> = space.design_volumes().iter().map(|v| v / total).collect();
        let shares = backend.upload(&shares, elements)?;
        Ok(Self { mean, shares, means: backend.zeros(elements)? })
    }

    /// Finds the means of `density`, and their norm.
    fn norm(
        &mut self,
        backend: &B,
        density: &B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<f64, AveragingError> {
        self.mean.forward(backend, density, &mut self.means)?;
        backend.power(1.0, &self.means, POWER, scratch);
        let sum = backend.value(&backend.dot(&self.shares, scratch))?;
        Ok(sum.powf(1.0 / POWER))
    }
}

impl<B: Pointwise> Response<B> for LocalVolume<'_, B> {
    fn name(&self) -> &str {
        "local volume"
    }

    fn dependence(&self) -> Dependence {
        Dependence::Density
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        self.norm(at.backend, at.density, at.scratch).map_err(of_device)
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        _: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let (backend, scratch) = (at.backend, &mut *at.scratch);
        let norm = self.norm(backend, at.density, scratch)?;

        // By m_e it is w_e (m_e / norm)^(p - 1).
        backend.axpby(0.0, at.density, 1.0 / norm, &mut self.means);
        backend.power(1.0, &self.means, POWER - 1.0, scratch);
        backend.multiply(&self.shares, scratch, &mut self.means);
        Ok(self.mean.backward(backend, &self.means, gradient)?)
    }
}

/// Error of the device in the place of one of an averaging: a cone solves no equation.
fn of_device(error: AveragingError) -> BackendError {
    match error {
        AveragingError::Backend(error) => error,
        AveragingError::NotSolved(_) => BackendError {
            device: "filter".into(),
            operation: "local volume".into(),
            message: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;
    use topopt_mesh::generate::block;
    use topopt_mesh::{HexMesh, Sets};

    use super::*;
    use crate::Cone;

    /// Largest width in elements.
    const WIDTH: f64 = 8.0;

    /// Norm of the design of a plate in a part of 40 elements.
    fn norm(thickness: usize) -> f64 {
        let (coordinates, hexes) = block([40, 20, 20], |at| at.map(|i| i as f64));
        let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
        let space = DesignSpace::new(1e-3, 0.5, mesh.volumes(), Vec::new(), Vec::new());

        let radius = LocalVolume::<Cpu>::radius(WIDTH);
        let cone = Cone::new(mesh.centers(), radius, usize::MAX);
        let weights = Weights::fixed(Box::new(cone));
        let mut response = LocalVolume::new(&Cpu, weights, radius, &space).unwrap();
        let is_in = |x: &[f64; 3]| (12..12 + thickness).contains(&(x[0] as usize));
        let density = mesh.centers().iter().map(|x| if is_in(x) { 1.0 } else { 1e-3 }).collect();
        response.norm(&Cpu, &density, &mut vec![0.0; space.n_elements()]).unwrap()
    }

    #[test]
    fn plates_thicker_than_the_width_exceed_the_limit() {
        let limit = LocalVolume::<Cpu>::limit();
        let [thin, thick, bulk] = [5, 9, 16].map(|thickness| norm(thickness) / limit);
        assert!(thin < 1.0 && thick > 1.0 && bulk > thick + 0.02, "{thin} {thick} {bulk}");
    }
}

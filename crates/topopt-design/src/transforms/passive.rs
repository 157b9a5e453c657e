//! `Passive`: fixed densities of passive elements, as a transform of the design.

use rayon::prelude::*;
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{DesignSpace, DesignTransform, Transformed};

/// Clamps the densities, y = min(max(x, floor), ceiling); in passive elements both bounds are the
/// fixed density.
pub struct Passive<B: Pointwise> {
    elements: Space,
    /// Lower and upper bound of the density, `[n_elements]` each; equal in passive elements.
    bounds: [B::Vector; 2],
    /// 1 where the bounds differ, 0 in passive elements, `[n_elements]`.
    mask: B::Vector,
}

impl<B: Pointwise> Passive<B> {
    /// The transform for the bounds and passive elements of the variables of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: &DesignSpace) -> Result<Self, BackendError> {
        Self::within(backend, space, space.bounds())
    }

    /// The transform within a chain, before densities follow from each other: 1 in solid elements, 0
    /// in void ones, and no change in others, `free` ones among them.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn within_chain(
        backend: &B,
        space: &DesignSpace,
        free: &[u32],
    ) -> Result<Self, BackendError> {
        let of_bound = |bound: f64| {
            let mut values = space.with_passive(bound, 0.0);
            free.iter().for_each(|&e| values[e as usize] = bound);
            values
        };
        Self::within(backend, space, [f64::NEG_INFINITY, f64::INFINITY].map(of_bound))
    }

    /// The transform at the end of a chain: elements that rest on others are as dense as those
    /// make them.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn at_last(backend: &B, space: &DesignSpace) -> Result<Self, BackendError> {
        let [mut floor, ceiling] = space.bounds();
        space.resting().iter().for_each(|&e| floor[e as usize] = space.density_min);
        Self::within(backend, space, [floor, ceiling])
    }

    fn within(
        backend: &B,
        space: &DesignSpace,
        bounds: [Vec<f64>; 2],
    ) -> Result<Self, BackendError> {
        let elements = Space::elements(space.n_elements());
        let upload = |values: &[f64]| backend.upload(values, elements);
        let [floor, ceiling] = &bounds;
        let is_free = floor.par_iter().zip(ceiling).map(|(floor, ceiling)| floor < ceiling);
        let mask: Vec<f64> = is_free.map(f64::from).collect();
        Ok(Self { elements, bounds: [upload(floor)?, upload(ceiling)?], mask: upload(&mask)? })
    }
}

impl<B: Pointwise> DesignTransform<B> for Passive<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        let [floor, ceiling] = &self.bounds;
        backend.scale_within(1.0, x, [floor, ceiling], y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.multiply(dy, &self.mask, dx);
        Ok(())
    }
}

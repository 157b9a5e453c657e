//! Void elements, empty before others rest on them.

use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{DesignSpace, DesignTransform, Transformed};

/// Density 0 in void elements, so that nothing rests on what the filter brings there.
pub struct Emptied<B: Pointwise> {
    elements: Space,
    /// 0 in void elements, 1 in others, `[n_elements]`.
    mask: B::Vector,
}

impl<B: Pointwise> Emptied<B> {
    /// The transform for the void elements of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: &DesignSpace) -> Result<Self, BackendError> {
        let elements = Space::elements(space.n_elements());
        let mut mask = vec![1.0; space.volumes.len()];
        space.void.iter().for_each(|&element| mask[element as usize] = 0.0);
        Ok(Self { elements, mask: backend.upload(&mask, elements)? })
    }
}

impl<B: Pointwise> DesignTransform<B> for Emptied<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        backend.multiply(x, &self.mask, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.multiply(dy, &self.mask, dx);
        Ok(())
    }
}

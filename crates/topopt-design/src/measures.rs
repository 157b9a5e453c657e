//! Volume fraction and grey level of a design.

use topopt_linalg::{Backend, BackendError, Space};

use crate::DesignSpace;

/// Measures of the physical density over the design elements.
pub struct Measures<B: Backend> {
    /// v_e of design elements, 0 of others, `[n_elements]`.
    volumes: B::Vector,
    /// Sum of these.
    design_volume: f64,
}

impl<B: Backend> Measures<B> {
    /// Uploads the volumes of the design elements of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: &DesignSpace) -> Result<Self, BackendError> {
        let elements = Space::elements(space.n_elements());
        Ok(Self {
            volumes: backend.upload(&space.design_volumes(), elements)?,
            design_volume: space.design_volume(),
        })
    }

    /// Volumes of the design elements, 0 of others, `[n_elements]`.
    pub fn volumes(&self) -> &B::Vector {
        &self.volumes
    }

    /// Volume that material takes in the design elements.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn volume(&self, backend: &B, density: &B::Vector) -> Result<f64, BackendError> {
        backend.value(&backend.dot(&self.volumes, density))
    }

    /// Share of the design elements' volume that material takes.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn volume_fraction(&self, backend: &B, density: &B::Vector) -> Result<f64, BackendError> {
        Ok(self.volume(backend, density)? / self.design_volume)
    }

    /// The measure of non-discreteness \[Sigmund2007\], sum 4 rho (1 - rho) v / sum v over design
    /// elements: 0 where all are solid or empty, 1 where all are half full. `scratch`,
    /// `[n_elements]`, is overwritten.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn grey_level(
        &self,
        backend: &B,
        density: &B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<f64, BackendError> {
        backend.multiply(&self.volumes, density, scratch);
        let squares = backend.value(&backend.dot(scratch, density))?; // sum v rho^2
        Ok(4.0 * (self.volume_fraction(backend, density)? - squares / self.design_volume))
    }
}

//! Volume fraction and grey level of a design.

use topopt_linalg::{Backend, BackendError, Pointwise, Space};

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

/// Measures of a density that says which of several materials an element is of, with the vectors
/// that they are made with, `[n_elements]` each.
pub(crate) struct MaterialMeasures<B: Backend> {
    /// Densities of one material alone, by increasing mass, each in all elements.
    levels: Vec<(f64, B::Vector)>,
    within: B::Vector,
    weighted: B::Vector,
}

impl<B: Pointwise> MaterialMeasures<B> {
    /// Measures for the candidates of `space`; none where it has none.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: &DesignSpace) -> Result<Option<Self>, BackendError> {
        if space.candidates().is_empty() {
            return Ok(None);
        }
        let elements = Space::elements(space.n_elements());
        let level = |mass| {
            let mut level = backend.zeros(elements)?;
            backend.fill(mass, &mut level);
            Ok((mass, level))
        };
        Ok(Some(Self {
            levels: space.candidates().masses().map(level).collect::<Result<_, BackendError>>()?,
            within: backend.zeros(elements)?,
            weighted: backend.zeros(elements)?,
        }))
    }

    /// Share of the design elements' volume that is filled, and the grey level of
    /// [`Measures::grey_level`] with the shares of each two neighboring materials for rho.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn filled_and_grey(
        &mut self,
        backend: &B,
        measures: &Measures<B>,
        density: &B::Vector,
    ) -> Result<[f64; 2], BackendError> {
        let Self { levels, within, weighted } = self;
        let volume = measures.design_volume;
        let (mut filled, mut grey) = (0.0, 0.0);
        for (k, pair) in levels.windows(2).enumerate() {
            let [(a, lower), (b, upper)] = pair else { continue };
            backend.scale_within(1.0, density, [lower, upper], within);
            backend.multiply(&measures.volumes, within, weighted);
            let squares = backend.value(&backend.dot(within, weighted))? / volume;
            let mean = backend.value(&backend.dot(&measures.volumes, within))? / volume;
            grey += 4.0 * ((a + b) * mean - a * b - squares) / (b - a).powi(2);
            if k == 0 {
                filled = mean / b;
            }
        }
        Ok([filled, grey])
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;
    use crate::{Candidate, Candidates};

    #[test]
    fn elements_between_two_materials_are_grey_and_those_of_any_are_filled() {
        let volumes = vec![1.0, 2.0, 1.0, 1.0, 3.0];
        let space = DesignSpace::new(0.01, 0.4, volumes, vec![], vec![4]);
        let candidates = Candidates::new(vec![Candidate { mass: 0.4, stiffness: 0.3 }]);
        let space = space.with_candidates(candidates);
        let measures = Measures::new(&Cpu, &space).unwrap();
        let mut own = MaterialMeasures::new(&Cpu, &space).unwrap().unwrap();
        let mut at =
            |density: [f64; 5]| own.filled_and_grey(&Cpu, &measures, &density.to_vec()).unwrap();
        let close = |found: [f64; 2], exact: [f64; 2]| {
            found.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 1e-14)
        };
        assert!(close(at([1.0, 0.4, 0.0, 0.4, 0.5]), [0.8, 0.0]));
        assert!(close(at([0.7, 0.4, 0.0, 0.1, 0.5]), [0.65, (1.0 + 0.75) / 5.0]));
    }
}

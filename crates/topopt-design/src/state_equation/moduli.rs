//! Moduli of the elements by their densities.

use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Pointwise};

use crate::candidates::Ladder;
use crate::{Candidates, Interpolation, Settings};

/// Moduli by a law, which candidate materials bend, times factors of placed materials.
pub(super) struct Moduli<B: Pointwise> {
    law: Interpolation,
    ladder: Option<Ladder<B>>,
    /// Factors where elements are of several materials, `[n_elements]`.
    factors: Option<B::Vector>,
}

impl<B: Pointwise> Moduli<B> {
    pub fn new(
        backend: &B,
        problem: &dyn ProblemView,
        law: Interpolation,
    ) -> Result<Self, BackendError> {
        let factors = problem.stiffness();
        let factors = factors.map(|factors| backend.upload(factors, problem.elements()));
        Ok(Self { law, ladder: None, factors: factors.transpose()? })
    }

    /// Lets elements be of `candidates`, too, if there are any.
    pub fn with_candidates(
        &mut self,
        backend: &B,
        problem: &dyn ProblemView,
        candidates: &Candidates,
    ) -> Result<(), BackendError> {
        let ladder = || Ladder::new(backend, problem.elements(), candidates.clone());
        self.ladder = (!candidates.is_empty()).then(ladder).transpose()?;
        Ok(())
    }

    /// Takes the penalty in `settings`.
    pub fn enter(&mut self, settings: &Settings) {
        self.law.penalty = settings.penalty.unwrap_or(self.law.penalty);
    }

    /// Writes the moduli of a `density` to `moduli`. `scratch` is overwritten.
    pub fn find(
        &mut self,
        backend: &B,
        density: &B::Vector,
        scratch: &mut B::Vector,
        moduli: &mut B::Vector,
    ) {
        self.law.moduli(backend, density, scratch, moduli);
        if let Some(ladder) = &mut self.ladder {
            ladder.stiffen(backend, &self.law, scratch, moduli);
        }
        self.scale(backend, scratch, moduli);
    }

    /// Writes -dE_e/drho_e times element `energies` at unit modulus at a `density` to
    /// `sensitivities`. `scratch` is overwritten.
    pub fn sensitivities(
        &mut self,
        backend: &B,
        (density, energies): (&B::Vector, &B::Vector),
        scratch: &mut B::Vector,
        sensitivities: &mut B::Vector,
    ) {
        self.law.sensitivities(backend, density, energies, scratch, sensitivities);
        if let Some(ladder) = &mut self.ladder {
            ladder.scale_sensitivities(backend, (&self.law, density), scratch, sensitivities);
        }
        self.scale(backend, scratch, sensitivities);
    }

    /// Multiplies `values` by the factors, if there are any. `scratch` is overwritten.
    fn scale(&self, backend: &B, scratch: &mut B::Vector, values: &mut B::Vector) {
        if let Some(factors) = &self.factors {
            backend.multiply(factors, values, scratch);
            backend.copy(scratch, values);
        }
    }
}

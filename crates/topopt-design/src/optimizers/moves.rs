//! Move limits per design variable, which adapt to how the variable has changed.

use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{Memory, Subproblem};

/// Move limits m of design variables and the last changes of these.
pub(super) struct Moves<B: Pointwise> {
    variables: Space,
    /// m, `[n_inputs]`.
    limits: B::Vector,
    /// Changes of the last update and of the one before it.
    changes: [B::Vector; 2],
    bounds: [B::Vector; 2],
    scratch: [B::Vector; 2],
}

/// Factors of m where the last two changes have opposite signs, and where they have the same.
const SHRINK: f64 = 0.6;
const GROW: f64 = 1.15;
/// Smallest move limit.
const LEAST_MOVE: f64 = 0.002;
/// Density below which a variable counts as this much, so that it comes back from 0.
const LEAST_DENSITY: f64 = 0.01;
/// Share of the largest entry of a gradient that is added to all: where both gradients vanish, away
/// from any surface, their quotient is that of the largest entries.
const LEAST_GRADIENT: f64 = 1e-9;
/// Factor that takes products of two changes of 1e-9 and more beyond 1: those of smaller ones are
/// of rounding, which is another one on other ranks.
const STEEP: f64 = 1e18;

/// Names of what a checkpoint holds.
const LIMITS: &str = "oc_moves";
const CHANGES: [&str; 2] = ["oc_last_change", "oc_change_before"];

impl<B: Pointwise> Moves<B> {
    pub fn new(backend: &B, variables: Space) -> Result<Self, BackendError> {
        let vector = || backend.zeros(variables);
        let pair = || Ok::<_, BackendError>([vector()?, vector()?]);
        let mut limits = vector()?;
        backend.fill(1.0, &mut limits);
        Ok(Self { variables, limits, changes: pair()?, bounds: pair()?, scratch: pair()? })
    }

    /// m, `[n_inputs]`.
    pub fn limits(&self) -> &B::Vector {
        &self.limits
    }

    /// Adapts m to the last two changes, within 0.002 and `largest`.
    pub fn adapt(&mut self, backend: &B, largest: f64) {
        let Self { limits, changes: [last, before], bounds, scratch: [product, side], .. } = self;
        let [lower, upper] = bounds;
        backend.multiply(last, before, product);
        backend.fill(0.0, lower);
        backend.fill(1.0, upper);
        for (steep, factor) in [(STEEP, GROW), (-STEEP, SHRINK)] {
            // 1 where the product has that sign, else 0.
            backend.scale_within(steep, product, [lower, upper], side);
            backend.multiply(limits, side, before);
            backend.axpby(factor - 1.0, before, 1.0, limits);
        }

        backend.fill(LEAST_MOVE.min(largest), lower);
        backend.fill(largest, upper);
        backend.scale_within(1.0, limits, [lower, upper], side);
        std::mem::swap(limits, side);
        self.changes.swap(0, 1);
    }

    /// Writes x (-dC / dV)^eta, with the least densities and gradients, to `candidate`.
    pub fn set_candidate(
        &mut self,
        problem: &Subproblem<B>,
        damping: f64,
        candidate: &mut B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Subproblem { backend, design, objective, constraints, bounds, .. } = *problem;
        let [lower, quotient] = &mut self.bounds;
        let [fall, rise] = &mut self.scratch;
        backend.fill(0.0, lower);
        for (sign, gradient, part) in
            [(-1.0, &objective.gradient, &mut *fall), (1.0, &constraints[0].gradient, &mut *rise)]
        {
            backend.positive_part(sign, gradient, part);
            let largest = backend.value(&backend.max_difference(part, lower))?;
            backend.fill((LEAST_GRADIENT * largest).max(f64::MIN_POSITIVE), scratch);
            backend.axpby(1.0, scratch, 1.0, part);
        }
        backend.divide(fall, rise, quotient);
        backend.power(1.0, quotient, damping, scratch);

        backend.fill(LEAST_DENSITY, lower);
        backend.scale_within(1.0, design, [lower, bounds[1]], quotient);
        backend.multiply(quotient, scratch, candidate);
        Ok(())
    }

    /// Keeps the change from `design` to `next`.
    pub fn keep(&mut self, backend: &B, design: &B::Vector, next: &B::Vector) {
        backend.copy(next, &mut self.changes[0]);
        backend.axpby(-1.0, design, 1.0, &mut self.changes[0]);
    }

    pub fn memory(&self) -> impl Iterator<Item = (&'static str, &B::Vector)> {
        CHANGES.into_iter().zip(&self.changes).chain([(LIMITS, &self.limits)])
    }

    pub fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        let vectors = CHANGES.into_iter().zip(&mut self.changes);
        for (name, vector) in vectors.chain([(LIMITS, &mut self.limits)]) {
            if let Some(values) = memory.vector(name) {
                *vector = backend.upload(values, self.variables)?;
            }
        }
        Ok(())
    }
}

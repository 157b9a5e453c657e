//! Steps of conjugate gradients in the precision of the cycle, between residuals in double
//! precision.

use std::sync::{Mutex, PoisonError};

use topopt_linalg::{
    Backend, BackendError, Correction, Hierarchy, LowerPrecision, Monitor, Pcg, PcgOutcome,
    Preconditioner, Space, System,
};

use super::convert::Convert;
use super::recorded::{RecordedCycle, Repeated};
use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// What the steps of solves need in precision `R`.
pub(super) struct Steps<R: Real> {
    vectors: Mutex<Vectors<R>>,
    /// The cycle from the residual of `Vectors::pcg` to its image.
    cycle: Mutex<Repeated>,
}

struct Vectors<R: Real> {
    convert: Convert<R>,
    pcg: Pcg<Cuda<R>>,
    residual: DeviceVector<R>,
    correction: DeviceVector<R>,
}

impl<R: Real> Steps<R> {
    /// Vectors for operators of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &Cuda<R>, space: Space) -> Result<Self, BackendError> {
        let vectors = Vectors {
            convert: Convert::load(backend.device())?,
            pcg: Pcg::new(backend, space)?,
            residual: backend.zeros(space)?,
            correction: backend.zeros(space)?,
        };
        // Nobody exchanges anything in a solve on one device.
        Ok(Self { vectors: Mutex::new(vectors), cycle: Mutex::new(Repeated::new(true)) })
    }

    /// Bytes for a space of that many unknowns.
    pub fn bytes(unknowns: usize) -> usize {
        6 * size_of::<R>() * unknowns
    }

    /// Drops the recording of the cycle, which has changed.
    pub fn forget(&self) {
        self.cycle.lock().unwrap_or_else(PoisonError::into_inner).forget();
    }
}

impl<R: Real, H: Hierarchy<Cuda<R>>> LowerPrecision<Cuda<f64>> for RecordedCycle<'_, R, H> {
    fn correct(
        &self,
        r: &DeviceVector<f64>,
        e: &mut DeviceVector<f64>,
        task: Correction,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let steps = self.steps.as_ref().expect("only a cycle that takes steps is asked for them");
        let mut vectors = steps.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let Vectors { convert, pcg, residual, correction } = &mut *vectors;

        convert.narrow(&r.values, &mut residual.values);
        let (a, m) = (self.cycle.hierarchy().operator(0), &InSteps { whole: self, steps });
        let system = System { backend: self.backend, a, m, f: residual };
        let outcome = pcg.correct(&system, correction, task, monitor)?;
        convert.widen(&correction.values, &mut e.values);
        Ok(outcome)
    }
}

/// The cycle as the preconditioner of steps in its own precision: always from one vector to
/// another, so that its recording serves all solves.
struct InSteps<'s, 'a, R: Real, H: Hierarchy<Cuda<R>>> {
    whole: &'s RecordedCycle<'a, R, H>,
    steps: &'s Steps<R>,
}

impl<R: Real, H: Hierarchy<Cuda<R>>> Preconditioner<Cuda<R>> for InSteps<'_, '_, R, H> {
    fn name(&self) -> &'static str {
        self.whole.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.whole.cycle.is_linear()
    }

    fn check_interval(&self, backend: &Cuda<R>) -> usize {
        self.whole.cycle.check_interval(backend)
    }

    fn apply(&self, backend: &Cuda<R>, r: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        let mut cycle = self.steps.cycle.lock().unwrap_or_else(PoisonError::into_inner);
        cycle.repeat(backend, &mut || self.whole.cycle.apply(backend, r, z));
    }

    fn strengthen(&self) -> bool {
        self.whole.forget_if(self.whole.cycle.strengthen())
    }

    fn give_way(&self) -> bool {
        self.whole.forget_if(self.whole.cycle.give_way())
    }
}

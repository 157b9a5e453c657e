//! Cycles, recorded once and replayed: as preconditioners, and for steps in their precision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use topopt_linalg::{
    Backend, BackendError, Correction, Cycle, CycleKind, Hierarchy, LowerPrecision, Monitor,
    PcgOutcome, Preconditioner, System,
};

use super::convert::Convert;
use super::repeated::Repeated;
use super::steps::{Steps, Vectors};
use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// A cycle in precision `R` as a preconditioner in double precision, which is recorded.
pub(super) struct RecordedCycle<'a, R: Real, H: Hierarchy<Cuda<R>>> {
    pub backend: &'a Cuda<R>,
    pub cycle: Cycle<Cuda<R>, H>,
    state: Mutex<State<R>>,
    /// Steps of solves in precision `R`, if they are taken there.
    pub(super) steps: Option<Steps<R>>,
}

/// Vectors and recording of an application, in precision `R`.
struct State<R> {
    convert: Convert<R>,
    residual: DeviceVector<R>,
    image: DeviceVector<R>,
    /// The cycle from one to the other, with the present strength.
    once: Repeated,
}

impl<'a, R: Real, H: Hierarchy<Cuda<R>>> RecordedCycle<'a, R, H> {
    /// Cycles of that kind over `hierarchy`; they are recorded if they can be.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &'a Cuda<R>,
        kind: CycleKind,
        hierarchy: H,
        is_recorded: bool,
    ) -> Result<Self, BackendError> {
        let space = hierarchy.operator(0).space();
        let (residual, image) = (backend.zeros(space)?, backend.zeros(space)?);
        let (convert, once) = (Convert::load(backend.device())?, Repeated::new(is_recorded));
        let state = Mutex::new(State { convert, residual, image, once });
        Ok(Self { backend, cycle: Cycle::new(backend, kind, hierarchy)?, state, steps: None })
    }

    /// Makes solves take their steps in precision `R`, if that is less than double; returns whether
    /// it is.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for their vectors.
    pub fn take_steps(&mut self) -> Result<bool, BackendError> {
        let is_less = size_of::<R>() < size_of::<f64>();
        if is_less {
            let space = self.cycle.hierarchy().operator(0).space();
            self.steps = Some(Steps::new(self.backend, space)?);
        }
        Ok(is_less)
    }

    /// Drops the recording: steps and the smoothers' degrees are part of it, numbers are not.
    pub fn forget(&self) {
        self.state().once.forget();
        if let Some(steps) = &self.steps {
            steps.forget();
        }
    }

    /// Makes the cycle what it was at first.
    pub fn reset_strength(&self) {
        self.forget_if(self.cycle.reset_strength());
    }

    pub(super) fn forget_if(&self, is_changed: bool) -> bool {
        if is_changed {
            self.forget();
        }
        is_changed
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Real, H: Hierarchy<Cuda<R>>> Preconditioner<Cuda<f64>> for RecordedCycle<'_, R, H> {
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn check_interval(&self, _: &Cuda<f64>) -> usize {
        self.cycle.check_interval(self.backend)
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        let State { convert, residual, image, once } = &mut *self.state();
        convert.narrow(&r.values, &mut residual.values);
        once.repeat(self.backend, &mut || self.cycle.apply(self.backend, residual, image));
        convert.widen(&image.values, &mut z.values);
    }

    fn lower_precision(&self) -> Option<&dyn LowerPrecision<Cuda<f64>>> {
        self.steps.is_some().then_some(self)
    }

    fn strengthen(&self) -> bool {
        self.forget_if(self.cycle.strengthen())
    }

    fn give_way(&self) -> bool {
        self.forget_if(self.cycle.give_way())
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
        let mut vectors = steps.vectors();
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
        let mut cycle = self.steps.cycle();
        cycle.repeat(backend, &mut || self.whole.cycle.apply(backend, r, z));
    }

    fn strengthen(&self) -> bool {
        self.whole.forget_if(self.whole.cycle.strengthen())
    }

    fn give_way(&self) -> bool {
        self.whole.forget_if(self.whole.cycle.give_way())
    }
}

/// Passes on what preconditioners do to the [`RecordedCycle`] in the member `recorded`.
macro_rules! by_recorded {
    () => {
        fn name(&self) -> &'static str {
            self.recorded.name()
        }

        fn is_linear(&self) -> bool {
            self.recorded.is_linear()
        }

        fn check_interval(&self, backend: &Cuda<f64>) -> usize {
            self.recorded.check_interval(backend)
        }

        fn apply(&self, backend: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
            self.recorded.apply(backend, r, z);
        }

        fn lower_precision(&self) -> Option<&dyn topopt_linalg::LowerPrecision<Cuda<f64>>> {
            self.recorded.lower_precision()
        }

        fn strengthen(&self) -> bool {
            self.recorded.strengthen()
        }

        fn give_way(&self) -> bool {
            self.recorded.give_way()
        }
    };
}
pub(super) use by_recorded;

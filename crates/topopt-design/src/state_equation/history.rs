//! Storage of the states of a design in time.
//!
//! The steps go in segments of about sqrt(N) of all N. Each begins from its first state as if there
//! had been no step before, so that it can be computed again, to the same bits. Only these first
//! states are kept: the way back in time computes a segment again before it steps back through it,
//! which takes 2 sqrt(N) states in place of N.

use topopt_fem::{AdjointSteps, ElementOperator, Statement, StepLoads, ThetaScheme, Timeline};
use topopt_linalg::{BackendError, Pointwise};

use crate::Moment;

/// Hears of the states of a history in their order.
pub(crate) type Observe<'o, B> = dyn FnMut(&Moment<B>) -> Result<(), BackendError> + 'o;

/// Writes the derivative of a response by a state alone.
pub(super) type Slope<'s, B> = dyn FnMut(&Moment<B>, &mut <B as topopt_linalg::Backend>::Vector) -> Result<(), BackendError>
    + 's;

/// K without held nodes and springs, and an operator for C of the same kind where that is no diagonal
/// matrix.
pub type Bare<'a, B> = (Box<dyn ElementOperator<B> + 'a>, Option<Box<dyn ElementOperator<B> + 'a>>);

/// Parts of a state equation in time beyond those of a steady state.
pub(super) struct History<'a, B: Pointwise> {
    pub timeline: &'a Timeline,
    /// K without held nodes and springs; the means to find C.
    pub free: Box<dyn ElementOperator<B> + 'a>,
    /// C of the trial without held nodes, where it is no diagonal matrix.
    pub storage: Option<Box<dyn ElementOperator<B> + 'a>>,
    pub scheme: ThetaScheme<B>,
    pub adjoint: AdjointSteps<B>,
    pub acting: StepLoads<'a, B>,
    /// Steps of a segment.
    stride: usize,
    /// Length of the steps that the operator has its coefficients for; 0 if it has none.
    pub dt: f64,
    /// The first states of the segments, of the design evaluated last and of the trial.
    pub kept: Vec<B::Vector>,
    pub trial_kept: Vec<B::Vector>,
    /// The states of a segment, its first one included.
    pub segment: Vec<B::Vector>,
    /// Whether the operator is that of the trial, else of the design evaluated last.
    pub is_of_trial: bool,
    /// Capacities of solid elements, those of the trial, and zeros, `[n_elements]`.
    pub solid: B::Vector,
    pub capacities: B::Vector,
    pub zeros: B::Vector,
    /// The mean over time of loads times states.
    pub compliance: f64,
}

impl<'a, B: Pointwise> History<'a, B> {
    /// The history of `problem` by `timeline`, before its first step.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        timeline: &'a Timeline,
        (free, storage): Bare<'a, B>,
        problem: &dyn Statement,
    ) -> Result<Self, BackendError> {
        let (nodes, elements) = (problem.unknowns(), problem.elements());
        let mut is_free = vec![1.0; if backend.has_values() { nodes.len() } else { 0 }];
        problem.clear_held(&mut is_free);
        let capacity = vec![0.0; is_free.len()];

        let (n, initial) = (timeline.n_steps(), &timeline.initial);
        let stride = stride(n);
        let states =
            |count: usize| (0..count).map(|_| backend.zeros(nodes)).collect::<Result<Vec<_>, _>>();
        let first = backend.upload(initial, nodes)?;
        let mut all = [states(n.div_ceil(stride))?, states(n.div_ceil(stride))?];
        all.iter_mut().for_each(|kept| backend.copy(&first, &mut kept[0]));
        let [kept, trial_kept] = all;

        Ok(Self {
            timeline,
            scheme: ThetaScheme::new(
                backend,
                nodes,
                timeline.theta,
                [&capacity, &is_free, initial],
            )?,
            adjoint: AdjointSteps::new(backend, nodes, timeline.theta)?,
            acting: StepLoads::new(backend, timeline, problem)?,
            free,
            storage,
            stride,
            dt: 0.0,
            kept,
            trial_kept,
            segment: states(stride + 1)?,
            is_of_trial: true,
            solid: backend.upload(&timeline.capacities, elements)?,
            capacities: backend.zeros(elements)?,
            zeros: backend.zeros(elements)?,
            compliance: f64::NAN,
        })
    }

    /// The steps of segment `k`, from 1.
    pub fn steps(&self, k: usize) -> std::ops::RangeInclusive<usize> {
        let first = k * self.stride + 1;
        first..=(first + self.stride - 1).min(self.timeline.n_steps())
    }
}

/// Steps of a segment of `n` steps.
pub(super) fn stride(n: usize) -> usize {
    (n as f64).sqrt().ceil() as usize
}

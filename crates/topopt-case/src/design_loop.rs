//! The design loop that a case asks for, on any backend.

use topopt_design::{
    Anderson, DesignError, DesignTransform, Mma, OptimalityCriteria, Optimization, Optimizer,
    Sequence, Simpl, StateEquation, StopRules, WeightsOf, start,
};
use topopt_fem::CornerMaps;
use topopt_linalg::{BackendError, MovingAsymptotes, Space};

use crate::config::{self, Config, Method, PhysicsKind};
use crate::physics::Physics;
use crate::subject::Subject;
use crate::{formulation, interpolation};

/// Parts of a design loop that depend on where it is computed.
pub struct Parts<'a, B: MovingAsymptotes> {
    /// Operator and preconditioner of the equation.
    pub solver: topopt_design::Solver<'a, B>,
    /// Operator and preconditioner of the equation of the thicker design, where that is solved as
    /// well.
    pub thicker: Option<topopt_design::Solver<'a, B>>,
    /// Operators without held nodes, where the case is in time.
    pub bare: Option<topopt_design::Bare<'a, B>>,
    /// Makes the operator of the filter for a radius.
    pub weights_of: WeightsOf<'a, B>,
    /// Maps between elements and corners, where a projection has a half width.
    pub corners: Option<Box<dyn CornerMaps<B> + 'a>>,
}

/// Builds the design loop of a case, which ends by `stop` and starts from `densities`, or where
/// there are none from a uniform design.
///
/// # Errors
/// [`DesignError`] if the device has no room, or the filter fails.
pub fn of<'a, B: MovingAsymptotes + Sync, K: Physics<N>, const N: usize>(
    config: &Config,
    subject: Subject<'a, K, N>,
    backend: &'a B,
    Parts { solver, thicker, bare, weights_of, corners }: Parts<'a, B>,
    stop: StopRules,
    densities: Option<&[f64]>,
) -> Result<Optimization<'a, B>, DesignError> {
    let (task, problem) = (subject.task, subject.problem);
    let mut equation = steady(config, subject, backend, solver)?;
    let thicker = thicker.map(|solver| steady(config, subject, backend, solver)).transpose()?;
    if let (Some(timeline), Some(bare)) = (&task.timeline, bare) {
        equation = equation.in_time(timeline, bare, problem)?;
    }

    let mut formulation = formulation::of(subject, backend, weights_of, corners)?;
    let transform = &mut formulation.transform;
    let start = match densities {
        Some(densities) => start::scaled(backend, densities, &task.space, transform)?,
        None => start::uniform(backend, &task.space, transform)?,
    };

    let variables = transform.inputs();
    let optimizer = |method| optimizer(&config.optimizer, method, backend, variables);
    let optimizers = config.methods().into_iter().map(optimizer).collect::<Result<_, _>>()?;
    let optimizer = Box::new(Sequence::new(optimizers));
    let optimization = Optimization::new(equation, formulation, optimizer, stop, &start)?;
    let optimization = match thicker {
        Some(thicker) => optimization.with_thicker(thicker),
        None => optimization,
    };
    Ok(optimization.with_stages(task.stages.clone()))
}

/// The state equation of steady states, with the forces of the caller.
fn steady<'a, B: MovingAsymptotes + Sync, K: Physics<N>, const N: usize>(
    config: &Config,
    Subject { task, problem, .. }: Subject<'a, K, N>,
    backend: &'a B,
    solver: topopt_design::Solver<'a, B>,
) -> Result<StateEquation<'a, B>, DesignError> {
    let law = interpolation::of(config, K::coefficient(config));
    let early = config.solver.early_tolerance();
    // A tolerance of the user's is kept.
    let enough = if config.has_own_tolerance() { 0.0 } else { early };
    let mut equation = StateEquation::new(backend, problem, law, solver)?
        .loosened(early, enough)
        .with_candidates(problem, task.space.candidates())?;
    for (case, forces) in &task.own.forces {
        equation.add_own_forces(*case, forces.clone())?;
    }
    match task.timeline.is_none() && config.physics.kind == PhysicsKind::Heat {
        true => Ok(equation.counted_from(problem, config.coldest())?),
        false => Ok(equation),
    }
}

/// Makes the optimizer of a `method`.
fn optimizer<'a, B: MovingAsymptotes + 'a>(
    &config::Optimizer { move_limit, damping, .. }: &config::Optimizer,
    method: Method,
    backend: &B,
    variables: Space,
) -> Result<Box<dyn Optimizer<B> + 'a>, BackendError> {
    let criteria = || OptimalityCriteria::new(backend, variables, move_limit, damping);
    Ok(match method {
        Method::Oc => Box::new(criteria()?),
        Method::OcAdaptive => Box::new(criteria()?.adaptive(backend, variables)?),
        Method::OcAnderson => Box::new(Anderson::new(backend, variables, move_limit, damping)?),
        Method::Mma => Box::new(Mma::new(backend, variables, move_limit)?),
        Method::Gcmma => Box::new(Mma::new(backend, variables, move_limit)?.globally_convergent()),
        Method::Simpl => Box::new(Simpl::new(backend, variables)?),
    })
}

/// Takes the stop rules from the settings of an optimizer.
pub fn stop_rules(settings: &config::Optimizer) -> StopRules {
    StopRules {
        max_iterations: settings.max_iterations,
        change: settings.change_tolerance,
        relative_objective: settings.compliance_tolerance,
        absolute_objective: settings.absolute_compliance_tolerance,
        kkt_residual: settings.kkt_tolerance,
    }
}

//! Formulation of a case: objective, constraints, and the way from design variables to the density.

use topopt_design::{
    CaseCompliance, Chain, Compliance, Constraint, DensityFilter, Formulation, LargestState,
    LoadPower, Objective, OfHistory, OfState, Projection, Response, SensitivityFilter,
    StateFunction, StateMean, StateNorm, WeightedDensity, Weights, WeightsOf, physical_density,
};
use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Pointwise};

use crate::config;
use crate::filter_plan::FilterPlan;
use crate::model::on_all_nodes;
use crate::physics::Physics;
use crate::posed::{Form, PosedConstraint, PosedResponse};
use crate::subject::Subject;

/// Builds objective, constraints and filter of a case; `weights_of` makes the operator of the
/// filter for a radius.
///
/// # Errors
/// [`AveragingError`] if the device has no room, or the filter fails.
pub fn of<'a, B: Pointwise + Sync, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
    backend: &'a B,
    weights_of: WeightsOf<'a, B>,
) -> Result<Formulation<'a, B>, AveragingError> {
    let space = &subject.task.space;
    let n = space.n_elements();
    let mut formulation = Formulation {
        objective: objective(subject, backend)?,
        constraints: constraints(subject, backend)?,
        ..unfiltered(subject)
    };

    match &subject.task.filter {
        FilterPlan::None => {}
        FilterPlan::Sensitivity { radius, by_volume, .. } => {
            let equal = vec![1.0; space.volumes.len()];
            let volumes = if *by_volume { &space.volumes } else { &equal };
            let weights = Weights::new(*radius, weights_of)?;
            let filter = SensitivityFilter::new(backend, weights, volumes, space.density_min)?;
            formulation.objective = Objective::filtered(Box::new(Compliance), filter);
        }
        FilterPlan::Density { radius, projection, .. } => {
            let weights = Weights::new(*radius, weights_of)?;
            let filter = DensityFilter::new(backend, weights, &space.volumes)?;
            let projection = projection.as_ref().map(|projection| {
                let &config::Projection { sharpness, threshold } = projection;
                Projection::new(backend, n, space.density_min, threshold, sharpness)
            });
            let projection = projection.transpose()?;
            formulation.transform = physical_density(backend, filter, projection, space)?;
        }
    }
    Ok(formulation)
}

/// The compliance of the density itself, of which all may be solid.
pub fn unfiltered<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
) -> Formulation<'a, B> {
    let space = &subject.task.space;
    Formulation {
        space,
        transform: Chain::identity(space.n_elements()),
        objective: Objective::new(Box::new(Compliance)),
        constraints: vec![Constraint::volume(space, 1.0)],
    }
}

fn objective<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Objective<'a, B>, BackendError> {
    let posed = &subject.task.posed;
    let weighted = |posed: &PosedResponse| Ok((response(posed, subject, backend)?, posed.weight));
    let objective = match &posed.objective[..] {
        [only] => Objective::new(response(only, subject, backend)?),
        several => Objective::worst(several.iter().map(weighted).collect::<Result<_, _>>()?),
    };
    Ok(if posed.is_maximized { objective.maximized() } else { objective })
}

fn constraints<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Vec<Constraint<'a, B>>, BackendError> {
    let constraint = |posed: &PosedConstraint| {
        // The volume by its own response meets its limit to rounding.
        if matches!(posed.response.form, Form::Volume) && posed.is_upper {
            return Ok(Constraint::volume(&subject.task.space, posed.limit));
        }
        let response = response(&posed.response, subject, backend)?;
        Ok(match posed.is_upper {
            true => Constraint::new(response, posed.limit),
            false => Constraint::at_least(response, posed.limit),
        })
    };
    subject.task.posed.constraints.iter().map(constraint).collect()
}

fn response<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    PosedResponse { label, form, when, zero, .. }: &PosedResponse,
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Box<dyn Response<B> + 'a>, BackendError> {
    let (name, problem) = (label.clone(), subject.problem);
    if let Some(weights) = subject.density_weights(form) {
        let n = problem.elements().points;
        return Ok(Box::new(WeightedDensity::new(backend, name, n, &weights)?));
    }
    let of_state = state_function((form, *zero), subject, backend)?;
    Ok(match (of_state, form, when) {
        (Some((_, function)), _, Some(when)) => Box::new(OfHistory::new(name, *when, function)),
        (Some((case, function)), _, None) => {
            Box::new(OfState::new(backend, problem.unknowns(), (name, case), function)?)
        }
        (None, _, Some(when)) => {
            let power: Box<dyn StateFunction<B> + 'a> = Box::new(LoadPower);
            Box::new(OfHistory::new(name, *when, power))
        }
        (None, Form::CaseCompliance(case), None) => Box::new(CaseCompliance { name, case: *case }),
        (None, ..) => Box::new(Compliance),
    })
}

/// A load case and a function of its state.
pub(crate) type CaseFunction<'a, B> = (usize, Box<dyn StateFunction<B> + 'a>);

/// The function of a state that a response of nodes is, with its load case, and `zero` as that of the
/// response; none for other responses.
pub fn state_function<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    (form, zero): (&Form, f64),
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Option<CaseFunction<'a, B>>, BackendError> {
    let problem = subject.problem;
    Ok(match form {
        Form::MeanDisplacement { case, weights } => {
            let components = |w: &[f64; 3]| std::array::from_fn::<f64, N, _>(|i| w[i]);
            let weights: Vec<_> = weights.iter().map(|(node, w)| (*node, components(w))).collect();
            let n = if backend.has_values() { problem.unknowns().points } else { 0 };
            let weights = on_all_nodes(n, &weights).into_flattened();
            Some((*case, Box::new(StateMean::new(backend, problem, weights)?.counted_from(zero))))
        }
        // One unknown per node has a sign, several have a length.
        Form::LargestDisplacement { case, nodes, exponent } if N == 1 => {
            Some((*case, Box::new(LargestState::new(problem, nodes.clone(), *exponent, zero))))
        }
        Form::LargestDisplacement { case, nodes, exponent } => {
            Some((*case, Box::new(StateNorm::new(problem, nodes.clone(), *exponent))))
        }
        _ => None,
    })
}

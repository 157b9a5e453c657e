//! Formulation of a case: objective, constraints, and the way from design variables to the density.

use topopt_design::{
    CaseCompliance, Compliance, Constraint, DensityFilter, Formulation, HostResponse,
    HostTransform, LoadPower, LocalVolume, Objective, OfHistory, OfState, OfThicker, Projection,
    Response, SensitivityFilter, StateFunction, Subpixel, WeightedDensity, Weights, WeightsOf,
    physical_density, radius_before, variable_density,
};
use topopt_fem::{AveragingError, CornerMaps};
use topopt_linalg::{BackendError, Pointwise};

use crate::config;
use crate::filter_plan::FilterPlan;
use crate::physics::Physics;
use crate::responses::form::Measure;
use crate::responses::posed::{PosedConstraint, PosedResponse};
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
    corners: Option<Box<dyn CornerMaps<B> + 'a>>,
) -> Result<Formulation<'a, B>, AveragingError> {
    let space = &subject.task.space;
    let mut formulation = Formulation {
        space,
        transform: variable_density(backend, space)?,
        objective: objective(subject, backend)?,
        constraints: constraints(subject, backend)?,
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
            if let Some(radius) = subject.task.filter.local_radius() {
                let weights = Weights::fixed(weights_of(radius)?);
                let response = LocalVolume::new(backend, weights, radius, space)?;
                let limit = LocalVolume::<B>::limit();
                formulation.constraints.push(Constraint::new(Box::new(response), limit));
            }
            let weights_of = match &corners {
                Some(_) => before_corners(subject.task.element_width, weights_of),
                None => weights_of,
            };
            let weights = Weights::new(*radius, weights_of)?;
            let filter = DensityFilter::new(backend, weights, &space.volumes)?;
            let asked = projection.as_ref();
            let projection = asked.map(|asked| projection_of(asked, subject, backend, corners));
            let projection = projection.transpose()?;
            let n = space.n_elements();
            let own = subject.task.own.transform.clone().map(|map| HostTransform::new(n, map));
            formulation.transform = physical_density(backend, filter, projection, own, space)?;
        }
    }
    Ok(formulation)
}

/// Makes the operator of a filter whose density goes on to the corners, which blurs by itself.
fn before_corners<'a, B: Pointwise + 'a>(
    width: f64,
    weights_of: WeightsOf<'a, B>,
) -> WeightsOf<'a, B> {
    Box::new(move |radius| weights_of(radius_before(radius, width)))
}

/// The projection that is `asked` for, with that of stages with a half width where there are maps
/// between elements and `corners`.
fn projection_of<'a, B: Pointwise, K: Physics<N>, const N: usize>(
    &config::Projection { sharpness, threshold }: &config::Projection,
    subject: Subject<'a, K, N>,
    backend: &B,
    corners: Option<Box<dyn CornerMaps<B> + 'a>>,
) -> Result<Projection<'a, B>, BackendError> {
    let space = &subject.task.space;
    let n = space.n_elements();
    let projection = Projection::new(backend, n, space.density_min, threshold, sharpness)?
        .with_candidates(backend, space.candidates())?;
    Ok(match corners {
        Some(maps) => {
            let sizes = [subject.problem.unknowns().points, n];
            projection.with_subpixel(Subpixel::new(backend, maps, &space.volumes, sizes)?)
        }
        None => projection,
    })
}

fn objective<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Objective<'a, B>, BackendError> {
    let posed = &subject.task.posed;
    let mut responses = Vec::new();
    for posed in &posed.objective {
        responses.push((response(posed, subject, backend)?, posed.weight));
        responses.extend(of_thicker(posed, subject, backend)?.map(|it| (it, posed.weight)));
    }
    let objective = match responses.len() {
        1 => Objective::new(responses.remove(0).0),
        _ => Objective::worst(responses),
    };
    Ok(if posed.is_maximized { objective.maximized() } else { objective })
}

/// The response of the thicker design, where that is solved as well and may be the worse one.
fn of_thicker<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    posed: &PosedResponse,
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Option<Box<dyn Response<B> + 'a>>, BackendError> {
    if !subject.task.space.solves_both() || !posed.form.posed().has_sign() {
        return Ok(None);
    }
    Ok(Some(Box::new(OfThicker(response(posed, subject, backend)?))))
}

fn constraints<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Vec<Constraint<'a, B>>, BackendError> {
    let limited = |posed: &PosedConstraint, response| match posed.is_upper {
        true => Constraint::new(response, posed.limit),
        false => Constraint::at_least(response, posed.limit),
    };
    let constraint = |posed: &PosedConstraint| {
        // The volume by its own response meets its limit to rounding.
        if posed.is_upper && posed.response.form.posed().is_share() {
            return Ok(Constraint::volume(&subject.task.space, posed.limit));
        }
        Ok(limited(posed, response(&posed.response, subject, backend)?))
    };
    let posed = &subject.task.posed.constraints;
    let mut constraints = posed.iter().map(constraint).collect::<Result<Vec<_>, _>>()?;
    // These come last, as the limits that are stated have their numbers.
    for posed in posed {
        let response = of_thicker(&posed.response, subject, backend)?;
        constraints.extend(response.map(|response| limited(posed, response)));
    }
    Ok(constraints)
}

fn response<'a, B: Pointwise + Sync + 'a, K: Physics<N>, const N: usize>(
    PosedResponse { label, form, when, zero, .. }: &PosedResponse,
    subject: Subject<'a, K, N>,
    backend: &B,
) -> Result<Box<dyn Response<B> + 'a>, BackendError> {
    let (name, part) = (label.clone(), subject.part());
    let of_densities = |weights: Vec<f64>| {
        WeightedDensity::new(backend, label.clone(), part.problem.elements().points, &weights)
    };

    Ok(match (form.measure(part, backend, *zero)?, when) {
        (Measure::Volume, _) => Box::new(of_densities(part.volume_shares())?),
        (Measure::Densities(weights), _) => Box::new(of_densities(weights)?),
        (Measure::State(_, function), Some(when)) => {
            Box::new(OfHistory::new(name, *when, function))
        }
        (Measure::State(case, function), None) => {
            Box::new(OfState::new(backend, part.problem.unknowns(), (name, case), function)?)
        }
        (Measure::Host(function), _) => {
            let n_cases = subject.problem.cases().len();
            let nodes = part.problem.unknowns();
            Box::new(HostResponse::new(backend, nodes, (name, n_cases), function)?)
        }
        (Measure::Compliance(_), Some(when)) => {
            let power: Box<dyn StateFunction<B> + 'a> = Box::new(LoadPower);
            Box::new(OfHistory::new(name, *when, power))
        }
        (Measure::Compliance(Some(case)), None) => Box::new(CaseCompliance { name, case }),
        (Measure::Compliance(None), None) => Box::new(Compliance),
    })
}

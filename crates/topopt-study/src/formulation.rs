//! What a case asks for: objective, constraints, and the way from design variables to the density.

use topopt_design::{
    Chain, Compliance, Constraint, DensityFilter, Formulation, Objective, Projection,
    SensitivityFilter, Weights, WeightsOf, physical_density,
};
use topopt_fem::AveragingError;
use topopt_linalg::Pointwise;

use crate::config;
use crate::filter_plan::FilterPlan;
use crate::model::Model;

/// The compliance under a volume constraint, with the filter of the model, whose operator for a
/// radius `weights_of` makes.
///
/// # Errors
/// [`AveragingError`] if the device has no room, or the filter fails.
pub(crate) fn of<'a, B: Pointwise + Sync>(
    model: &'a Model,
    backend: &'a B,
    weights_of: WeightsOf<'a, B>,
) -> Result<Formulation<'a, B>, AveragingError> {
    let space = &model.space;
    let n = space.volumes.len();
    let mut formulation = unfiltered(model);

    match &model.filter {
        FilterPlan::None => {}
        FilterPlan::Sensitivity { radius, by_volume, .. } => {
            let equal = vec![1.0; n];
            let volumes = if *by_volume { &space.volumes } else { &equal };
            let weights = Weights::new(*radius, weights_of)?;
            let filter = SensitivityFilter::new(backend, weights, volumes)?;
            formulation.objective = Objective::filtered(Compliance, filter);
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

/// The compliance of the density itself under a volume constraint.
pub(crate) fn unfiltered<'a, B: Pointwise + Sync + 'a>(model: &'a Model) -> Formulation<'a, B> {
    let space = &model.space;
    Formulation {
        space,
        transform: Chain::identity(space.volumes.len()),
        objective: Objective::new(Box::new(Compliance)),
        constraints: vec![Constraint::volume(space)],
    }
}

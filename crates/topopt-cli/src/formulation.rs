//! What a case asks for: objective, constraints, and the way from design variables to the density.

use topopt_design::{
    Chain, Compliance, Constraint, DensityFilter, Formulation, Objective, Projection,
    SensitivityFilter, Weights, WeightsOf, physical_density,
};
use topopt_linalg::{Backend, BackendError};

use crate::config::{self, Config, FilterKind};
use crate::structure::Structure;

/// The compliance under a volume constraint, with the filter of the case, whose operator for a radius
/// `weights_of` makes.
///
/// # Errors
/// [`BackendError`] if the device has no room.
pub(crate) fn of<'a, B: Backend + Sync>(
    config: &Config,
    structure: &'a Structure,
    backend: &'a B,
    weights_of: WeightsOf<'a, B>,
) -> Result<Formulation<'a, B>, BackendError> {
    let Structure { filter_radius, space, .. } = structure;
    let mut formulation = Formulation {
        space,
        transform: Chain::identity(space.volumes.len()),
        objective: Objective::new(Box::new(Compliance)),
        constraints: vec![Constraint::volume(space)],
    };
    let Some(radius) = *filter_radius else { return Ok(formulation) };

    let weights = Weights::new(radius, weights_of)?;
    match config.filter.get_ref().kind {
        FilterKind::Density => {
            formulation.transform = density_transform(config, structure, backend, weights)?;
        }
        kind => {
            let equal = vec![1.0; space.volumes.len()];
            let is_weighted = kind == FilterKind::Sensitivity;
            let volumes = if is_weighted { &space.volumes } else { &equal };
            let filter = SensitivityFilter::new(backend, weights, volumes)?;
            formulation.objective = Objective::filtered(Compliance, filter);
        }
    }
    Ok(formulation)
}

/// The density filter, and the projection of the case.
fn density_transform<'a, B: Backend + 'a>(
    config: &Config,
    structure: &Structure,
    backend: &B,
    weights: Weights<'a, B>,
) -> Result<Chain<'a, B>, BackendError> {
    let space = &structure.space;
    let filter = DensityFilter::new(backend, weights, &space.volumes)?;
    let projection = config.projection.as_ref().map(|projection| {
        let &config::Projection { sharpness, threshold } = projection;
        Projection::new(backend, space.volumes.len(), space.density_min, threshold, sharpness)
    });
    physical_density(backend, filter, projection.transpose()?, space)
}

//! The transforms that a chain is made of, a file each.

mod density_filter;
mod passive;
mod projection;
mod subpixel;
mod tied;

use topopt_linalg::{BackendError, Pointwise};

use crate::{Chain, DesignSpace, DesignTransform};

pub use density_filter::DensityFilter;
pub use passive::Passive;
pub use projection::Projection;
pub use subpixel::{Subpixel, radius_before};
pub use tied::Tied;

/// The links of a chain, in order.
type Links<'a, B> = Vec<Box<dyn DesignTransform<B> + 'a>>;

/// The tie of the elements of `space` that share variables, if there are any.
fn ties<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Links<'a, B>, BackendError> {
    let Some(variable_of) = space.variable_of() else { return Ok(Vec::new()) };
    let (n_variables, n_elements) = (space.n_variables(), space.n_elements());
    let tied = Tied::new(backend, variable_of.to_vec(), n_variables, n_elements)?;
    Ok(vec![Box::new(tied)])
}

/// The density that the design variables of `space` are: those of the elements themselves, or of
/// elements that share some.
///
/// # Errors
/// [`BackendError`] if the device has no room.
pub fn variable_density<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Chain<'a, B>, BackendError> {
    let mut links = ties(backend, space)?;
    if links.is_empty() {
        return Ok(Chain::identity(space.n_elements()));
    }
    // A passive element may share its variable with one that is designed.
    links.push(Box::new(Passive::new(backend, space)?));
    Chain::new(backend, space.n_elements(), links)
}

/// The physical density by a density filter, a projection if there is one, and the passive elements
/// of `space`, whose density is fixed whatever their neighbors are.
///
/// # Errors
/// [`BackendError`] if the device has no room.
pub fn physical_density<'a, B: Pointwise + 'a>(
    backend: &B,
    filter: DensityFilter<'a, B>,
    projection: Option<Projection<'a, B>>,
    space: &DesignSpace,
) -> Result<Chain<'a, B>, BackendError> {
    let mut links = ties(backend, space)?;
    links.push(Box::new(filter));
    if let Some(projection) = projection {
        links.push(Box::new(projection));
    }
    links.push(Box::new(Passive::new(backend, space)?));
    Chain::new(backend, space.n_elements(), links)
}

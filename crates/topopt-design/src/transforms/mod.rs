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
    let mut links: Vec<Box<dyn DesignTransform<B> + 'a>> = vec![Box::new(filter)];
    if let Some(projection) = projection {
        links.push(Box::new(projection));
    }
    links.push(Box::new(Passive::new(backend, space)?));
    Chain::new(backend, space.n_elements(), links)
}

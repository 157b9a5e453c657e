//! The transforms that a chain is made of, a file each.

mod density_filter;
mod evened;
mod host;
mod opened;
mod passive;
mod projection;
mod stamped;
mod subpixel;
mod swept;
mod tied;

use topopt_linalg::{BackendError, Pointwise};

use crate::{Chain, DesignSpace, DesignTransform};

pub use density_filter::DensityFilter;
pub use evened::Evened;
pub use host::HostTransform;
pub use opened::Opened;
pub use passive::Passive;
pub use projection::Projection;
pub use stamped::Stamped;
pub use subpixel::{Subpixel, radius_before};
pub use swept::{Cascaded, Swept};
pub use tied::Tied;

/// The links of a chain, in order.
type Links<'a, B> = Vec<Box<dyn DesignTransform<B> + 'a>>;

/// The tie of the elements of `space` that share variables, if there are any.
fn ties<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Links<'a, B>, BackendError> {
    let Some(shares) = space.shares() else { return Ok(Vec::new()) };
    let sizes = [space.n_variables(), space.n_elements()];
    let tied = Tied::new(backend, shares, space.design_volumes(), sizes)?;
    Ok(vec![Box::new(tied)])
}

/// The means over the elements of `space` that share variables, if there are any.
fn evened<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Links<'a, B>, BackendError> {
    let Some(shares) = space.shares() else { return Ok(Vec::new()) };
    let sizes = [space.n_variables(), space.n_elements()];
    let evened = Evened::new(backend, shares, &space.volumes, sizes)?;
    Ok(vec![Box::new(evened)])
}

/// The sweeps of `space` if there are any: solid elements hold up what is above them, and void ones
/// nothing.
fn swept<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Links<'a, B>, BackendError> {
    if space.sweeps().is_empty() {
        return Ok(Vec::new());
    }
    let sweep: Box<dyn DesignTransform<B>> = match Cascaded::by_supports(backend, space)? {
        Some(cascaded) => Box::new(cascaded),
        None => Box::new(Swept::new(space.sweeps().to_vec(), space.n_elements())),
    };
    Ok(vec![Box::new(Passive::within_chain(backend, space, &[])?), sweep])
}

/// The ways to the outside of `space`, if there are any: through void elements, and not through
/// solid ones.
fn opened<'a, B: Pointwise + 'a>(
    backend: &B,
    space: &DesignSpace,
) -> Result<Links<'a, B>, BackendError> {
    let Some(openings) = space.openings() else { return Ok(Vec::new()) };
    let n = space.n_elements();
    let flood: Box<dyn DesignTransform<B>> = match Cascaded::by_openings(backend, openings, n)? {
        Some(cascaded) => Box::new(cascaded),
        None => Box::new(Opened::new(openings.clone(), n)),
    };
    Ok(vec![Box::new(Passive::within_chain(backend, space, space.resting())?), flood])
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

/// The physical density by a density filter, a projection and a map of the caller's if there are
/// any, and the passive elements of `space`, whose density is fixed whatever their neighbors are.
///
/// # Errors
/// [`BackendError`] if the device has no room.
pub fn physical_density<'a, B: Pointwise + 'a>(
    backend: &B,
    filter: DensityFilter<'a, B>,
    projection: Option<Projection<'a, B>>,
    own: Option<HostTransform>,
    space: &DesignSpace,
) -> Result<Chain<'a, B>, BackendError> {
    let mut links = ties(backend, space)?;
    let filter = match space.sizes() {
        Some(_) => filter.within_void(backend, space.least_sums())?,
        None => filter,
    };
    links.push(Box::new(filter));

    links.extend(evened(backend, space)?);
    links.extend(swept(backend, space)?);
    links.extend(opened(backend, space)?);

    if let Some(projection) = projection {
        links.push(Box::new(projection.with_sizes(space.sizes())));
    }
    if let Some(sheet) = space.sheet() {
        links.push(Box::new(Stamped::new(sheet.clone(), space)));
    }
    if space.is_evened_at_last() {
        links.extend(evened(backend, space)?);
    }
    if let Some(own) = own {
        links.push(Box::new(own));
    }
    links.push(Box::new(Passive::at_last(backend, space)?));
    Chain::new(backend, space.n_elements(), links)
}

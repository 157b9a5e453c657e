//! Supports of the elements of a part that is printed, or cast.

mod cone;
mod delaunay;
mod sweep;
#[cfg(test)]
mod tests;

pub use cone::{OverhangCone, standing};
pub use sweep::Supports;

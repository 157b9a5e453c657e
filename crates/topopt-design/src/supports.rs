//! Supports of the elements of a part that is printed, cast or milled.

mod blocks;
mod cone;
mod lists;
mod sheet;
mod sweep;
#[cfg(test)]
mod tests;
mod tool;

pub use cone::{OverhangCone, standing};
pub(crate) use sheet::Chosen;
pub use sheet::Sheet;
pub use sweep::Supports;
pub(crate) use tool::EQUAL;

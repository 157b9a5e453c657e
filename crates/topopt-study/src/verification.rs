//! The proof of a design: made solid and void by a threshold, solved again, and measured.

mod built;
mod carried;
mod compared;
mod elastic;
mod heat;
mod limits;
mod measures;
mod moved;
mod proof;
mod remeshed;
mod request;
mod shape;
mod springs;
mod transferred;
mod verified;

pub use built::Built;
pub use compared::Compared;
pub use elastic::LargestElastic;
pub use heat::{HighestTemperature, LargestTemperature};
pub use limits::{Limits, VerifiedLimit, VerifiedObjective};
pub use measures::{Width, sorted_shares};
pub(crate) use proof::of;
pub use proof::{Optimized, Verification};
pub use remeshed::Remeshed;
pub use request::Request;
pub use verified::Verified;

//! The proof of a design: made solid and void by a threshold, solved again, and measured.

mod built;
mod carried;
mod compared;
mod elastic;
mod limits;
mod measures;
mod moved;
mod request;
mod shape;
mod springs;
mod thermal;

pub use built::Built;
pub use compared::Compared;
pub use elastic::Verification;
pub use limits::{Limits, VerifiedLimit, VerifiedObjective};
pub use measures::{Width, sorted_shares};
pub use request::Request;
pub use thermal::{LargestTemperature, ThermalVerification};

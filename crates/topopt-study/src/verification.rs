//! The proof of a design: made solid and void by a threshold, solved again, and measured.

mod built;
mod carried;
mod compared;
mod elastic;
mod measures;
mod request;
mod shape;
mod thermal;

pub use built::Built;
pub use compared::Compared;
pub use elastic::Verification;
pub use measures::{Width, sorted_shares};
pub use request::Request;
pub use thermal::{LargestTemperature, ThermalVerification};

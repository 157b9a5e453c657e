//! Numbers of the command line: each option says which it takes, whatever else is given.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// Reads a number that `is_allowed`; `wanted` says which are.
fn number<T: FromStr>(
    text: &str,
    wanted: &str,
    is_allowed: impl Fn(&T) -> bool,
) -> Result<T, String> {
    text.trim().parse().ok().filter(is_allowed).ok_or_else(|| format!("give {wanted}"))
}

/// Reads a density; whether a design has it is known later.
pub(crate) fn density(text: &str) -> Result<f64, String> {
    let wanted = "a density between the least and the largest of the design, such as 0.5";
    number(text, wanted, |density: &f64| density.is_finite())
}

/// Reads a density above that of nothing.
pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    number(text, "a density above 0 and up to 1", |&density| density > 0.0 && density <= 1.0)
}

/// Reads a share of triangles.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let wanted = "a share of the triangles between 0 and 1, such as 0.1";
    number(text, wanted, |&share| share > 0.0 && share < 1.0)
}

/// Reads a length that may be 0.
pub(crate) fn length(text: &str) -> Result<f64, String> {
    let wanted = "a length in the unit of the mesh, such as 0.5, or 0";
    number(text, wanted, |length: &f64| *length >= 0.0 && length.is_finite())
}

/// Reads the width of elements.
pub(crate) fn width(text: &str) -> Result<f64, String> {
    let wanted = "a length above 0, in the unit of the geometry, such as 0.5";
    number(text, wanted, |length: &f64| *length > 0.0 && length.is_finite())
}

/// Reads a number of elements.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    number(text, "a whole number of elements, at least 1, such as 50000", |&n| n > 0)
}

/// Reads the size of a benchmark.
pub(crate) fn size(text: &str) -> Result<u8, String> {
    number(text, "a whole number from 1 to 5", |n| (1..=5).contains(n))
}

/// Reads a number of elements across walls.
pub(crate) fn layers(text: &str) -> Result<u32, String> {
    number(text, "a whole number from 1 to 100", |n| (1..=100).contains(n))
}

/// Reads a number of ranks.
pub(crate) fn ranks(text: &str) -> Result<NonZeroUsize, String> {
    number(text, "a whole number of ranks, at least 1", |_| true)
}

/// Reads a set and the speed in it.
pub(crate) fn speed(text: &str) -> Result<(String, f64), String> {
    let wanted = "an element set and a speed above 0, such as rings=0.5";
    let (set, speed) = text.rsplit_once('=').ok_or_else(|| format!("give {wanted}"))?;
    let speed = number(speed, wanted, |speed: &f64| *speed > 0.0 && speed.is_finite())?;
    Ok((set.trim().to_owned(), speed))
}

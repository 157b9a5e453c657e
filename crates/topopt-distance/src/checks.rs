//! Checks of what is given.

use crate::{DistanceError, Tetrahedra};

/// Whether all sources are vertices with finite values.
pub(crate) fn check_sources(
    tetrahedra: &Tetrahedra,
    sources: &[(u32, f64)],
) -> Result<(), DistanceError> {
    let n_points = tetrahedra.points().len();
    for (index, &(vertex, value)) in sources.iter().enumerate() {
        if vertex as usize >= n_points {
            return Err(DistanceError::Vertex { vertex, n_points });
        }
        if !value.is_finite() {
            return Err(DistanceError::NotFinite { what: "the value of source", index, value });
        }
    }
    Ok(())
}

/// Whether there is a finite value for each vertex.
pub(crate) fn check_values(
    tetrahedra: &Tetrahedra,
    what: &'static str,
    values: &[f64],
) -> Result<(), DistanceError> {
    let expected = tetrahedra.points().len();
    if values.len() != expected {
        return Err(DistanceError::Length { what, found: values.len(), expected });
    }
    check_finite("the value of vertex", values)
}

/// Whether all values are finite.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), DistanceError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(DistanceError::NotFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Whether a number is positive and finite.
pub(crate) fn check_positive(what: &'static str, value: f64) -> Result<(), DistanceError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(DistanceError::NotPositive { what, value })
    }
}

//! Checks of what is given.

use rayon::prelude::*;

use crate::{DistanceError, Tetrahedra};

/// The sources of a front, ascending by vertex, each once with the smaller of its values.
///
/// # Errors
/// [`DistanceError`] for a source that is not a vertex or has no finite value.
pub fn checked_sources(
    tetrahedra: &Tetrahedra,
    sources: &[(u32, f64)],
) -> Result<Vec<(u32, f64)>, DistanceError> {
    check_sources(tetrahedra, sources)?;
    let mut sources = sources.to_vec();
    sources.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    sources.dedup_by_key(|source| source.0);
    Ok(sources)
}

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

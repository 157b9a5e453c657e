//! Signed distances to the zero set of a field, in a band around it.

use rayon::prelude::*;

use crate::DistanceError;
use crate::arrival::arrival_until;
use crate::checks::{check_positive, check_values};
use crate::patches::Patches;
use crate::speed::Speed;
use crate::zero_set::ZeroSet;

/// Distances to the zero set of a field, with its sign.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedDistance {
    /// The distance at each vertex, `[n_points]`; plus or minus the width of the band beyond it.
    pub values: Vec<f64>,
    /// Triangles of the zero set; if none, all values are those beyond the band.
    pub n_triangles: usize,
    /// Local solves, counted as in an [`Arrival`](crate::Arrival).
    pub local_solves: u64,
}

/// The signed distance to the zero set of `values`, `[n_points]`, up to `band` on both sides, which
/// may be infinite.
///
/// At the vertices of the tetrahedra that the zero set cuts, and of those next to them, it is
/// exactly the distance to the nearest of its triangles, in a straight line, which may cross a gap
/// of the mesh. From there the eikonal equation is solved outwards, on both sides at once, which is
/// first order in the size of the tetrahedra; patches beyond the band are not touched. Signs stay
/// as they are, and zero is positive.
///
/// # Errors
/// [`DistanceError`] for values that are too many, too few or not finite, and for a band that is
/// not positive.
pub fn signed_distance(
    patches: &Patches,
    values: &[f64],
    band: f64,
) -> Result<SignedDistance, DistanceError> {
    check_values(patches.tetrahedra(), "values", values)?;
    if band != f64::INFINITY {
        check_positive("the band", band)?;
    }

    let zero_set = ZeroSet::new(patches, values);
    let sources = zero_set.distances(patches.tetrahedra().points());
    let found = arrival_until(patches, &Speed::Uniform(1.0), &sources, band)?;

    let signed = |(&value, distance): (&f64, f64)| {
        if value < 0.0 { -distance.min(band) } else { distance.min(band) }
    };
    Ok(SignedDistance {
        values: values.par_iter().zip(found.times).map(signed).collect(),
        n_triangles: zero_set.n_triangles(),
        local_solves: found.local_solves,
    })
}

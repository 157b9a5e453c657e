//! `Fold`: places of equal density, brought to one of them.

use topopt_mesh::Plane;

/// A demand that some places of a design have equal densities.
pub trait Fold: Send + Sync {
    /// Returns the one of the places of equal density that stands for all.
    fn fold(&self, place: [f64; 3]) -> [f64; 3];

    /// Planes about which the design mirrors itself.
    fn planes(&self) -> &[Plane] {
        &[]
    }

    /// Returns places with the density of `place`, from which all others follow.
    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]>;
}

/// Demands, one after the other.
pub type Folds = Vec<Box<dyn Fold>>;

/// Returns the one of the places of equal density by all `folds` that stands for `place`.
pub(super) fn folded<'a>(
    folds: impl IntoIterator<Item = &'a Box<dyn Fold>>,
    place: [f64; 3],
) -> [f64; 3] {
    folds.into_iter().fold(place, |place, fold| fold.fold(place))
}

/// Share of a period by which places before its end count as its beginning, so that rounding puts
/// none of those that repeat each other at both.
const ROUNDING: f64 = 1e-6;

/// Returns `turns` without its whole part.
pub(super) fn within_period(turns: f64) -> f64 {
    turns - (turns + ROUNDING).floor()
}

/// a + s b
pub(super) fn moved(a: [f64; 3], s: f64, b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + s * b[i])
}

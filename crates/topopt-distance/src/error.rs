//! Why input is refused.

/// Why there is no distance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistanceError {
    /// More than the numbers of this crate can name.
    #[error("{found} {what}; {most} is the most")]
    TooMany {
        /// Vertices or tetrahedra.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A tetrahedron or a source names a vertex that is not there.
    #[error("there is no vertex {vertex} among {n_points}; vertices are numbered from 0")]
    Vertex {
        /// The number.
        vertex: u32,
        /// How many vertices there are.
        n_points: usize,
    },
    /// A number that is not finite.
    #[error("{what} {index} is {value}; give a finite number")]
    NotFinite {
        /// Name of the value and its item.
        what: &'static str,
        /// Number of the item, from 0.
        index: usize,
        /// The number that it has.
        value: f64,
    },
    /// A speed that is not positive, or a tensor that is not positive definite.
    #[error("the speed of tetrahedron {cell} is {speed:?}; it must be positive, a tensor definite")]
    Speed {
        /// The first such tetrahedron; 0 where all have the same speed.
        cell: usize,
        /// Speed, or the six components of its tensor.
        speed: Vec<f64>,
    },
    /// Not a value for every vertex or tetrahedron.
    #[error("{found} {what} for {expected}; use the values of these tetrahedra")]
    Length {
        /// Name of the values.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A number that must be positive and finite.
    #[error("{what} is {value}; it must be positive and finite")]
    NotPositive {
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("{what} is {value}; it must not be negative")]
    Negative {
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// More steps than are allowed.
    #[error(
        "{needed:.0} steps are needed and {most} allowed; take a shorter time or a larger band"
    )]
    Steps {
        /// How many, if all are like the next one.
        needed: f64,
        /// How many may be made.
        most: usize,
    },
    /// The equations of a step are not solved.
    #[error("a step of length {tau} is not solved; take more steps, or look for flat elements")]
    NotSolved {
        /// Length of the step.
        tau: f64,
    },
}

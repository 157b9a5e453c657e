//! `DistanceError`: why input is refused or an evolution fails.

/// Reason for which no distance is computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DistanceError {
    /// More vertices or tetrahedra than 32-bit indices can number.
    #[error("{found} {what}; {most} is the most")]
    TooMany {
        /// `vertices` or `tetrahedra`.
        what: &'static str,
        /// Number in the input.
        found: usize,
        /// Largest number allowed.
        most: usize,
    },
    /// A tetrahedron or a source names a vertex that does not exist.
    #[error("there is no vertex {vertex} among {n_points}; vertices are numbered from 0")]
    Vertex {
        /// Index of the missing vertex.
        vertex: u32,
        /// Number of vertices.
        n_points: usize,
    },
    /// A number that is not finite.
    #[error("{what} {index} is {value}; give a finite number")]
    NotFinite {
        /// Name of the value and of its item.
        what: &'static str,
        /// Number of the item, from 0.
        index: usize,
        /// The value, infinite or NaN.
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
    /// A list with another length than the vertices or tetrahedra.
    #[error("{found} {what} for {expected}; use the values of these tetrahedra")]
    Length {
        /// Name of the values.
        what: &'static str,
        /// Length of the list.
        found: usize,
        /// Number of vertices or tetrahedra.
        expected: usize,
    },
    /// A number that must be positive and finite.
    #[error("{what} is {value}; it must be positive and finite")]
    NotPositive {
        /// Name of the parameter.
        what: &'static str,
        /// Value of the parameter.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("{what} is {value}; it must not be negative")]
    Negative {
        /// Name of the parameter.
        what: &'static str,
        /// Value of the parameter.
        value: f64,
    },
    /// More steps than are allowed.
    #[error(
        "{needed:.0} steps are needed and {most} allowed; take a shorter time or a larger band"
    )]
    Steps {
        /// Steps needed if all are as long as the next one.
        needed: f64,
        /// Largest number of steps allowed.
        most: usize,
    },
    /// The equations of an implicit step were not solved.
    #[error("a step of length {tau} is not solved; take more steps, or look for flat elements")]
    NotSolved {
        /// Length of the step.
        tau: f64,
    },
}

//! `Backend`: vectors, scalars and their arithmetic on one device.

use crate::Space;

/// A place where vectors live and arithmetic happens.
///
/// A [`Backend::Scalar`] may stay on the device: only [`Backend::value`] waits for it. Operations
/// without a `Result` may fail late on a device; the failure is then reported by the next call
/// that returns a `Result`. Vectors given to one call have the same length.
pub trait Backend {
    /// A vector of real numbers, which knows its space where that matters. How the unknowns of a
    /// point lie in it is the backend's own affair.
    type Vector: Send + Sync;
    /// A number, possibly on the device.
    type Scalar: Send;
    /// Recorded work.
    type Recording;

    /// Name for messages, such as `cpu (2 threads)`.
    fn name(&self) -> String;

    /// The zero of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it.
    fn zeros(&self, space: Space) -> Result<Self::Vector, BackendError>;

    /// A vector of `space` from host values, `[points][unknowns]`. Of several ranks, those of the first one.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the transfer fails.
    fn upload(&self, values: &[f64], space: Space) -> Result<Self::Vector, BackendError>;

    /// Host values of a vector, `[points][unknowns]`. Of several ranks the first one has them, the
    /// others get none.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer or an earlier operation failed.
    fn download(&self, x: &Self::Vector) -> Result<Vec<f64>, BackendError>;

    /// Whether the values of downloaded vectors are here: not on ranks after the first.
    fn has_values(&self) -> bool {
        true
    }

    /// Returns the values to continue with; on every rank they are those that the first rank passes.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    fn decide(&self, values: Vec<f64>) -> Result<Vec<f64>, BackendError> {
        Ok(values)
    }

    /// A scalar to be written to.
    fn scalar(&self) -> Self::Scalar;

    /// The value of a scalar; waits for it.
    ///
    /// # Errors
    /// [`BackendError`] if this or an earlier operation failed.
    fn value(&self, scalar: &Self::Scalar) -> Result<f64, BackendError>;

    /// y = x.
    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector);

    /// x_i = value.
    fn fill(&self, value: f64, x: &mut Self::Vector);

    /// y = a x + b y.
    fn axpby(&self, a: f64, x: &Self::Vector, b: f64, y: &mut Self::Vector);

    /// x . y.
    fn dot(&self, x: &Self::Vector, y: &Self::Vector) -> Self::Scalar {
        let mut out = self.scalar();
        self.dot_into(x, y, &mut out);
        out
    }

    /// x . y into `out`, which stays where it is on a device, so that recorded work finds it.
    fn dot_into(&self, x: &Self::Vector, y: &Self::Vector, out: &mut Self::Scalar);

    /// z_i = x_i y_i.
    fn multiply(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector);

    /// z_i = x_i y_i, and y . z.
    fn multiply_dot(
        &self,
        x: &Self::Vector,
        y: &Self::Vector,
        z: &mut Self::Vector,
        yz: &mut Self::Scalar,
    ) {
        self.multiply(x, y, z);
        self.dot_into(y, z, yz);
    }

    /// One step of conjugate gradients: u += alpha d, r -= alpha q, and r . r. `alpha` is
    /// numerator and denominator; 0 where the denominator is not positive, which stops a descent
    /// along a direction of no or negative energy.
    fn cg_step(
        &self,
        alpha: [&Self::Scalar; 2],
        d: &Self::Vector,
        q: &Self::Vector,
        u: &mut Self::Vector,
        r: &mut Self::Vector,
        rr: &mut Self::Scalar,
    );

    /// The next direction of conjugate gradients: d = z + sign beta d, with `beta` as `alpha` in
    /// [`Backend::cg_step`].
    fn cg_direction(
        &self,
        sign: f64,
        beta: [&Self::Scalar; 2],
        z: &Self::Vector,
        d: &mut Self::Vector,
    );

    /// Does `work`, which always does the same on the same vectors and scalars and looks at none; a
    /// device records it the first time and replays it from then on.
    fn repeat(&self, recording: &mut Option<Self::Recording>, work: &mut dyn FnMut());

    /// Number of cheap iterations that a solver should do between reads of a scalar on the host.
    fn check_interval(&self) -> usize {
        1
    }
}

/// A device that failed, in words for the user.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{device}: {operation} failed: {message}")]
pub struct BackendError {
    /// Name of the device.
    pub device: String,
    /// Name of the operation or kernel.
    pub operation: String,
    /// Message of the device, and the remedy.
    pub message: String,
}

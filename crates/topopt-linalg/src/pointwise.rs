//! Maps and sums over single entries, by which optimizers update designs.

use crate::{Gather, SmoothStep, SubpixelStep};

/// Operations on the entries of vectors that optimizers, interpolations and projections are made
/// of; solvers need [`Backend`](crate::Backend) alone.
pub trait Pointwise: Gather {
    /// z_i = x_i / y_i.
    fn divide(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector);

    /// y_i = a x_i^p.
    fn power(&self, a: f64, x: &Self::Vector, p: f64, y: &mut Self::Vector);

    /// y_i = max(0, a x_i).
    fn positive_part(&self, a: f64, x: &Self::Vector, y: &mut Self::Vector);

    /// y_i = a x_i, kept within `[lower_i, upper_i]`.
    fn scale_within(
        &self,
        a: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    );

    /// sum_i w_i y_i with y as in [`Pointwise::scale_within`], without making y.
    fn dot_scaled_within(
        &self,
        a: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        w: &Self::Vector,
    ) -> Self::Scalar;

    /// y_i = s(x_i) of a smooth step s.
    fn smooth_step(&self, step: &SmoothStep, x: &Self::Vector, y: &mut Self::Vector);

    /// y_i = y_i ds/dx(x_i) of a smooth step s.
    fn smooth_step_slope(&self, step: &SmoothStep, x: &Self::Vector, y: &mut Self::Vector);

    /// y_i = s of a subpixel step, where the field is v_i and the square of its change is
    /// `squares`_i.
    fn subpixel_step(
        &self,
        step: &SubpixelStep,
        v: &Self::Vector,
        squares: &Self::Vector,
        y: &mut Self::Vector,
    );

    /// y_i = y_i ds/dv and z_i = y_i ds/dsquare of a subpixel step, both with y_i as it was.
    fn subpixel_slopes(
        &self,
        step: &SubpixelStep,
        v: &Self::Vector,
        squares: &Self::Vector,
        y: &mut Self::Vector,
        z: &mut Self::Vector,
    );

    /// y_i = l_i + (u_i - l_i) / (1 + exp(-z_i)) for bounds l <= u, never outside of them, with z_i
    /// = x_i + `shift` kept within +-`largest`.
    fn sigmoid(
        &self,
        shift: f64,
        largest: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    );

    /// y_i = ln((x_i - l_i) / (u_i - x_i)) for l <= x <= u, kept within +-`largest`, the inverse of
    /// [`Pointwise::sigmoid`]; 0 where l_i = u_i.
    fn logit(
        &self,
        largest: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    );

    /// y_i = ln(1 + exp(x_i)), the integral of the sigmoid from 0 to 1.
    fn softplus(&self, x: &Self::Vector, y: &mut Self::Vector);

    /// max_i |x_i - y_i|.
    fn max_difference(&self, x: &Self::Vector, y: &Self::Vector) -> Self::Scalar;
}

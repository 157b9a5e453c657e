//! The functions of an optimization at a design, and how far it is from an optimum.

use topopt_linalg::{BackendError, Pointwise, Space};

use crate::optimizer::KEPT;
use crate::{Formulation, Function};

/// The functions of an optimization: what is minimized, then the constraints.
pub(crate) struct Functions<B: Pointwise> {
    /// 0 where the largest of several functions is minimized.
    pub objective: Function<B>,
    /// Functions that share a bound, then those with limits.
    pub constraints: Vec<Function<B>>,
    n_sharing: usize,
    /// The signs with which objective and limited functions are reported.
    signs: Vec<f64>,
    /// Zero from which the objective is counted, see [`crate::Response::zero`].
    zero: f64,
}

/// Largest relative fall of a value in an iteration, see [`Functions::approach`].
const FALL: f64 = 0.07;

impl<B: Pointwise> Functions<B> {
    /// The functions of design variables of the space `variables`.
    pub fn new(
        backend: &B,
        variables: Space,
        formulation: &Formulation<B>,
    ) -> Result<Self, BackendError> {
        let Formulation { objective, constraints, .. } = formulation;
        let function = |limit, share| {
            let gradient = backend.zeros(variables)?;
            Ok(Function { value: 0.0, gradient, limit, share })
        };
        let n_sharing = objective.n_sharing();
        let sharing = (0..n_sharing).map(|_| function(0.0, 1.0));
        let limited = constraints.iter().map(|c| function(c.sign * c.limit, 0.0));
        let signs = constraints.iter().map(|constraint| constraint.sign);
        Ok(Self {
            objective: function(f64::INFINITY, 0.0)?,
            constraints: sharing.chain(limited).collect::<Result<_, BackendError>>()?,
            n_sharing,
            signs: std::iter::once(objective.sign).chain(signs).collect(),
            zero: objective.responses.first().map_or(0.0, |(response, _)| response.zero()),
        })
    }

    /// Yields the functions of the responses, in their order.
    pub fn of_responses(&mut self) -> impl Iterator<Item = &mut Function<B>> {
        let alone = (self.n_sharing == 0).then_some(&mut self.objective);
        alone.into_iter().chain(&mut self.constraints)
    }

    /// Takes the `limits` of the limited responses, with their signs.
    pub fn set_limits(&mut self, limits: impl Iterator<Item = f64>) {
        let limited = self.constraints[self.n_sharing..].iter_mut();
        limited.zip(limits).for_each(|(function, limit)| function.limit = limit);
    }

    /// Lets limits that are exceeded fall by a [`FALL`] of the value at most, so that thin members
    /// have time to gather what is taken elsewhere.
    pub fn approach(&mut self) {
        for function in &mut self.constraints[self.n_sharing..] {
            let nearer = function.value - FALL * function.value.abs();
            function.limit = function.limit.max(nearer);
        }
    }

    /// Whether a value exceeds its limit by more than a thousandth.
    pub fn miss_limits(&self) -> bool {
        self.constraints[self.n_sharing..].iter().any(|function| function.excess() > KEPT)
    }

    /// Value that is minimized, counted from its zero.
    pub fn minimized(&self) -> f64 {
        let sharing = self.constraints[..self.n_sharing].iter().map(|function| function.value);
        sharing.reduce(f64::max).unwrap_or(self.objective.value)
    }

    /// The objective as the user stated it.
    pub fn objective_value(&self) -> f64 {
        self.zero + self.signs[0] * self.minimized()
    }

    /// The limited responses as the user stated them.
    pub fn limited_values(&self) -> Vec<f64> {
        let limited = self.constraints[self.n_sharing..].iter().zip(&self.signs[1..]);
        limited.map(|(function, sign)| sign * function.value).collect()
    }

    /// Whether a next design can follow from them at `design`: all numbers are finite, and the
    /// gradient of the objective does not vanish.
    pub fn are_usable(&mut self, backend: &B, design: &B::Vector) -> Result<bool, BackendError> {
        let n_objectives = self.n_sharing.max(1);
        let mut has_slope = false;
        for (k, function) in self.of_responses().enumerate() {
            // An entry that is not a number makes the sum so; x is positive.
            let sum = backend.value(&backend.dot(design, &function.gradient))?;
            if !function.value.is_finite() || !sum.is_finite() {
                return Ok(false);
            }
            has_slope |= k < n_objectives && sum != 0.0;
        }
        Ok(has_slope)
    }

    /// How far `design` is from meeting the conditions of Karush, Kuhn and Tucker with these
    /// `multipliers` of the constraints, as a share of what the objective changes by to first order
    /// between the `bounds` of the variables: what the Lagrangian could still fall by between them,
    /// and the multipliers times the distances from the limits. It is 0 at an optimum alone, and at
    /// most 1, as where no design meets a limit and its multiplier is as large as can be.
    ///
    /// The gradient of the objective is overwritten, with 0 where the largest of several functions
    /// is minimized, as it is to stay.
    pub fn kkt_residual(
        &mut self,
        backend: &B,
        (design, bounds): (&B::Vector, [&B::Vector; 2]),
        multipliers: &[f64],
    ) -> Result<f64, BackendError> {
        let value = |scalar| backend.value(&scalar);
        let largest = self.minimized();
        let Self { objective, constraints, n_sharing, .. } = self;
        let gradient = &mut objective.gradient;
        let (sharing, limited) = constraints.split_at(*n_sharing);
        let mut amiss = 0.0;
        for (function, multiplier) in sharing.iter().zip(multipliers) {
            backend.axpby(*multiplier, &function.gradient, 1.0, gradient);
            amiss += multiplier * (largest - function.value);
        }

        // All is a share of the objective's range, so that any factor of it may be taken out before
        // squares leave the range of doubles.
        let mut square = value(backend.dot(gradient, gradient))?;
        let mut unit = 1.0;
        if !square.is_normal() {
            unit = value(backend.dot(design, gradient))?.abs().max(f64::MIN_POSITIVE);
            backend.axpby(0.0, design, 1.0 / unit, gradient);
            square = value(backend.dot(gradient, gradient))?;
        }

        // Of a linear function with slopes g the extremes between the bounds are where a steep
        // multiple of g is cut off at them.
        let steep = STEEP / square.sqrt().max(f64::MIN_POSITIVE);
        let extreme =
            |sign: f64, g: &B::Vector| value(backend.dot_scaled_within(sign * steep, g, bounds, g));
        let range = extreme(1.0, gradient)? - extreme(-1.0, gradient)?;

        amiss /= unit;
        for (function, multiplier) in limited.iter().zip(&multipliers[*n_sharing..]) {
            let multiplier = multiplier / unit;
            backend.axpby(multiplier, &function.gradient, 1.0, gradient);
            amiss += (multiplier * (function.value - function.limit)).abs();
        }
        let fall = value(backend.dot(design, gradient))? - extreme(-1.0, gradient)?;
        if *n_sharing > 0 {
            backend.fill(0.0, gradient);
        }
        // What is not a number counts as 1, too.
        let residual = (fall + amiss) / range;
        Ok(if residual >= 0.0 { residual.min(1.0) } else { f64::from(residual.is_nan()) })
    }
}

/// A factor that takes slopes of a millionth of all of them together beyond any bound.
const STEEP: f64 = 1e12;

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;

    /// The residual of min c x subject to sum x <= 1, 0 <= x <= 1.
    fn residual(design: &[f64], multiplier: f64) -> f64 {
        let function = |gradient: &[f64], limit| {
            let value = gradient.iter().zip(design).map(|(g, x)| g * x).sum();
            Function { value, gradient: gradient.to_vec(), limit, share: 0.0 }
        };
        let mut functions: Functions<Cpu> = Functions {
            objective: function(&[-3.0, -1.0], f64::INFINITY),
            constraints: vec![function(&[1.0, 1.0], 1.0)],
            n_sharing: 0,
            signs: vec![1.0, 1.0],
            zero: 0.0,
        };
        let bounds = [&vec![0.0; 2], &vec![1.0; 2]];
        functions.kkt_residual(&Cpu, (&design.to_vec(), bounds), &[multiplier]).unwrap()
    }

    #[test]
    fn the_residual_vanishes_at_the_optimum_alone() {
        assert_eq!(residual(&[1.0, 0.0], 2.0), 0.0);
        // The Lagrangian falls by 1 from x = (0, 0), and by as much along either variable.
        assert_eq!(residual(&[0.0, 0.0], 2.0), (1.0 + 2.0) / 4.0);
        assert_eq!(residual(&[0.5, 0.5], 2.0), (0.5 + 0.5) / 4.0);
        assert_eq!(residual(&[1.0, 0.0], 0.5), 0.5 / 4.0);
        assert_eq!(residual(&[1.0, 0.0], f64::MAX), 1.0);
    }
}

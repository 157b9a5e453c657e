//! Entrywise operations of the method of moving asymptotes \[Svanberg1987, Svanberg2002\].

mod cpu;

use crate::{BackendError, Pointwise};

/// Convex approximations of m + 1 functions f_i around a design x, separable in the variables:
///
/// $$f_i(y) \approx f_i(x) + \sum_j p_{ij} (\tfrac{1}{U_j - y_j} - \tfrac{1}{U_j - x_j}) +
/// q_{ij} (\tfrac{1}{y_j - L_j} - \tfrac{1}{x_j - L_j}),$$
///
/// $p_{ij} = (U_j - x_j)^2 (1.001 g^+ + 0.001 g^- + \rho_i / r_j)$ and $q_{ij} = (x_j - L_j)^2
/// (0.001 g^+ + 1.001 g^- + \rho_i / r_j)$, where $g^+$ and $g^-$ are the positive and the negative
/// part of the scaled gradient, and $r_j$ is the range of $x_j$.
#[derive(Debug)]
pub struct Approximation<'a, V> {
    /// x, within its bounds and between the asymptotes.
    pub design: &'a V,
    /// Smallest and largest x.
    pub bounds: [&'a V; 2],
    /// L and U.
    pub asymptotes: [&'a V; 2],
    /// Smallest and largest y.
    pub limits: [&'a V; 2],
    /// Gradient, scale and curvature rho of each function, `[m + 1]`, the objective first.
    pub functions: Vec<(&'a V, f64, f64)>,
}

/// Sums over the variables at the design y that minimizes a weighted sum of approximations.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproximationSums {
    /// f_i(y) - f_i(x) by the approximations, `[m + 1]`.
    pub changes: Vec<f64>,
    /// How the constraints change with the weights: -d f_i / d w_k for k <= i, both from the first
    /// constraint on, `[m (m + 1) / 2]`, row by row. Variables at their limits do not move.
    pub coupling: Vec<f64>,
    /// sum_j (U_j - L_j) (y_j - x_j)^2 / ((U_j - y_j) (y_j - L_j) r_j): what the approximations
    /// change by where all rho_i grow by 1.
    pub distance: f64,
}

/// How asymptotes move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymptoteRules {
    /// Their distance from the first designs, as a share of the range.
    pub initial: f64,
    /// Factor < 1 of the distance for a variable that oscillates.
    pub shrink: f64,
    /// Factor > 1 of the distance for a variable that moves one way.
    pub grow: f64,
    /// The largest step of a variable, as a share of its range.
    pub move_limit: f64,
}

/// A backend on which the method of moving asymptotes runs.
pub trait MovingAsymptotes: Pointwise {
    /// Moves the asymptotes from those of the last design, `asymptotes`, to those of the `design`,
    /// and writes the `limits` of the next one. `before` are the two designs before, the last one
    /// first; none for the first two designs.
    fn move_asymptotes(
        &self,
        rules: &AsymptoteRules,
        design: &Self::Vector,
        before: Option<[&Self::Vector; 2]>,
        bounds: [&Self::Vector; 2],
        asymptotes: [&mut Self::Vector; 2],
        limits: [&mut Self::Vector; 2],
    );

    /// Sums at the design within the limits that minimizes the approximations with these `weights`,
    /// `[m + 1]`, all of them not negative, the first one positive. That design goes to `minimum`,
    /// if it is asked for.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn minimize_approximation(
        &self,
        approximation: &Approximation<Self::Vector>,
        weights: &[f64],
        minimum: Option<&mut Self::Vector>,
    ) -> Result<ApproximationSums, BackendError>;
}

impl AsymptoteRules {
    /// The asymptotes of a variable `x` with `bounds` and its limits, as [L, U, smallest, largest].
    /// `before` are its two values before, and `old` its asymptotes then.
    pub fn of_variable(
        &self,
        x: f64,
        before: Option<[f64; 2]>,
        [low, high]: [f64; 2],
        old: [f64; 2],
    ) -> [f64; 4] {
        let range = range([low, high]);
        let [below, above] = match before {
            None => [self.initial * range; 2],
            Some([last, first]) => {
                let moved = |step: f64| if step.abs() > REST * range { step } else { 0.0 };
                let swing = moved(x - last) * moved(last - first);
                let factor = match swing {
                    s if s > 0.0 => self.grow,
                    s if s < 0.0 => self.shrink,
                    _ => 1.0,
                };
                let kept =
                    |distance: f64| (factor * distance).clamp(NEAREST * range, FARTHEST * range);
                [kept(last - old[0]), kept(old[1] - last)]
            }
        };

        let step = self.move_limit * range;
        [
            x - below,
            x + above,
            low.max(x - (1.0 - INSIDE) * below).max(x - step),
            high.min(x + (1.0 - INSIDE) * above).min(x + step),
        ]
    }
}

/// Move of a variable, as a share of its range, up to which it rests: which way it goes is
/// rounding, another one on other ranks. Derivatives by what others hide, as under a draw, are 0.
const REST: f64 = 1e-9;
/// Distances of asymptotes from a variable, as shares of its range.
const NEAREST: f64 = 0.01;
const FARTHEST: f64 = 10.0;
/// Least distance of designs from asymptotes, as a share of the distance of the current design.
const INSIDE: f64 = 0.1;
/// Shares of the positive part of a gradient in p and in q.
pub(crate) const PARTS: [f64; 2] = [1.001, 0.001];
/// The least range of a variable, for those that may not move.
const LEAST_RANGE: f64 = 1e-5;

/// The range of a variable within its bounds.
pub(crate) fn range([low, high]: [f64; 2]) -> f64 {
    (high - low).max(LEAST_RANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Factor of the distance of asymptotes after two steps.
    fn factor([before, step]: [f64; 2]) -> f64 {
        let rules = AsymptoteRules { initial: 0.5, shrink: 0.7, grow: 1.2, move_limit: 0.3 };
        let last = 0.5 + before;
        let old = [last - 0.2, last + 0.2];
        let [lower, upper, ..] = rules.of_variable(last + step, Some([last, 0.5]), [0.0, 1.0], old);
        (upper - lower) / 0.4
    }

    /// Rounding alone chooses the way of such a variable.
    #[test]
    fn asymptotes_of_variables_that_rest_stay() {
        for (steps, expected) in [
            ([1e-3, 1e-3], 1.2),
            ([1e-3, -1e-3], 0.7),
            ([1e-16, 1e-16], 1.0),
            ([1e-12, -1e-12], 1.0),
            ([1e-3, -1e-13], 1.0),
            ([0.0, 1e-3], 1.0),
        ] {
            let found = factor(steps);
            assert!((found - expected).abs() < 1e-9, "{steps:?}: {found}");
        }
    }
}

//! The convex subproblem of moving asymptotes by its dual, in as many unknowns as it has
//! constraints.

use nalgebra::{Cholesky, DMatrix, DVector};
use topopt_linalg::ApproximationSums;

/// minimize f_0(y) + a_0 z + sum_i c v_i + d v_i^2 / 2 subject to f_i(y) <= a_i z + v_i, v_i >= 0,
/// z >= 0, with separable approximations f \[Svanberg2007\]. The v_i make it solvable where the
/// constraints are not, and z is the largest of those with an a_i.
///
/// y is eliminated in closed form for given multipliers, and these, v and z are found by a
/// primal-dual interior point method, whose Newton step needs the sums of an evaluation alone
/// \[AageLazarov2013\].
pub(super) struct Dual<'e, E> {
    /// Scaled values f_i(x) of the constraints, `[m]`.
    pub values: &'e [f64],
    /// a_i, `[m]`, not negative, and a_0, positive.
    pub shares: &'e [f64],
    pub share_cost: f64,
    /// Sums over the variables for the multipliers of all functions, `[m + 1]`; the first
    /// multiplier is 1.
    pub evaluate: &'e mut dyn FnMut(&[f64]) -> Result<ApproximationSums, E>,
}

/// c and d.
const LINEAR: f64 = 1000.0;
const QUADRATIC: f64 = 1.0;

/// The barrier falls by this factor down to its end.
const FALL: f64 = 0.1;
const END: f64 = 1e-9;
/// Most steps for each barrier, and most halvings of a step.
const STEPS: usize = 30;
const HALVINGS: usize = 12;
/// Share of the way to a bound that a step takes.
const TO_BOUND: f64 = 0.995;

/// The unknowns, all of them positive, `[m]` each.
#[derive(Clone)]
struct Point {
    multipliers: DVector<f64>,
    /// Slacks of the constraints.
    slacks: DVector<f64>,
    /// Violation of the constraints.
    excess: DVector<f64>,
    /// Multipliers of excess >= 0.
    floors: DVector<f64>,
    /// z, and the multiplier of z >= 0, `[2]`.
    largest: DVector<f64>,
}

impl<E> Dual<'_, E> {
    /// The multipliers of the constraints, `[m]`.
    pub fn solve(mut self) -> Result<Vec<f64>, E> {
        let m = self.values.len();
        if m == 0 {
            return Ok(Vec::new());
        }

        let mut point = Point {
            multipliers: DVector::from_element(m, 1.0),
            slacks: DVector::from_element(m, 1.0),
            excess: DVector::from_element(m, 1.0),
            floors: DVector::from_element(m, 0.5 * LINEAR),
            largest: DVector::from_element(2, 1.0),
        };
        let (mut sums, mut barrier) = (self.sums(&point)?, 1.0);
        while barrier >= END {
            for _ in 0..STEPS {
                let size = self.residual(&point, &sums, barrier);
                if size < 0.9 * barrier {
                    break;
                }
                let Some(step) = self.newton(&point, &sums, barrier) else { break };
                let mut share = point.to_bound(&step);
                let mut next = point.moved(&step, share);
                let mut at_next = self.sums(&next)?;
                // Where variables come to limits the equations bend, and a whole step may go too
                // far.
                for _ in 0..HALVINGS {
                    if self.residual(&next, &at_next, barrier) < size {
                        break;
                    }
                    share *= 0.5;
                    next = point.moved(&step, share);
                    at_next = self.sums(&next)?;
                }
                (point, sums) = (next, at_next);
            }
            barrier *= FALL;
        }
        Ok(point.multipliers.as_slice().to_vec())
    }

    fn sums(&mut self, point: &Point) -> Result<ApproximationSums, E> {
        (self.evaluate)(&weights(point.multipliers.iter().copied()))
    }

    /// The constraints at the minimum for the multipliers.
    fn constraint(&self, sums: &ApproximationSums, i: usize) -> f64 {
        self.values[i] + sums.changes[i + 1]
    }

    /// sum_i a_i lambda_i
    fn shared(&self, multipliers: &DVector<f64>) -> f64 {
        self.shares.iter().zip(multipliers.iter()).map(|(a, lambda)| a * lambda).sum()
    }

    /// The largest residual of the optimality conditions with a barrier.
    fn residual(&self, point: &Point, sums: &ApproximationSums, barrier: f64) -> f64 {
        let Point { multipliers, slacks, excess, floors, largest } = point;
        let of_constraints = (0..self.values.len()).map(|i| {
            let allowed = excess[i] + self.shares[i] * largest[0];
            let primal = self.constraint(sums, i) - allowed + slacks[i];
            let dual = LINEAR + QUADRATIC * excess[i] - multipliers[i] - floors[i];
            let products = [slacks[i] * multipliers[i], floors[i] * excess[i]];
            let gaps = products.map(|product| (product - barrier).abs());
            primal.abs().max(dual.abs() / LINEAR).max(gaps[0]).max(gaps[1])
        });
        let of_largest = [
            (self.share_cost - self.shared(multipliers) - largest[1]).abs(),
            (largest[0] * largest[1] - barrier).abs(),
        ];
        of_constraints.chain(of_largest).fold(0.0, f64::max)
    }

    /// The step of Newton's method, all unknowns except for the multipliers eliminated; none if the
    /// numbers allow none.
    fn newton(&self, point: &Point, sums: &ApproximationSums, barrier: f64) -> Option<Point> {
        let Point { multipliers, slacks, excess, floors, largest } = point;
        let m = self.values.len();
        let mut matrix = DMatrix::zeros(m, m);
        let mut places = sums.coupling.iter();
        for i in 0..m {
            for (k, value) in places.by_ref().take(i + 1).enumerate() {
                matrix[(i, k)] = *value;
                matrix[(k, i)] = *value;
            }
        }

        let stiff = |i: usize| QUADRATIC + floors[i] / excess[i];
        let of_excess =
            |i: usize| multipliers[i] - LINEAR - QUADRATIC * excess[i] + barrier / excess[i];
        let shares = DVector::from_column_slice(self.shares);
        let [z, of_z] = [largest[0], largest[1]];
        let of_largest = barrier / z - self.share_cost + self.shared(multipliers);
        matrix += z / of_z * &shares * shares.transpose();
        for i in 0..m {
            matrix[(i, i)] += slacks[i] / multipliers[i] + 1.0 / stiff(i);
        }
        let right = DVector::from_fn(m, |i, _| {
            let allowed = excess[i] + shares[i] * (z + z / of_z * of_largest);
            let primal = self.constraint(sums, i) - allowed + barrier / multipliers[i];
            primal - of_excess(i) / stiff(i)
        });

        let step = Cholesky::new(matrix)?.solve(&right);
        let excess_step = DVector::from_fn(m, |i, _| (step[i] + of_excess(i)) / stiff(i));
        let slack_step = DVector::from_fn(m, |i, _| {
            barrier / multipliers[i] - slacks[i] - slacks[i] / multipliers[i] * step[i]
        });
        let floor_step = DVector::from_fn(m, |i, _| {
            barrier / excess[i] - floors[i] - floors[i] / excess[i] * excess_step[i]
        });
        let z_step = z / of_z * (shares.dot(&step) + of_largest);
        let largest_step = [z_step, barrier / z - of_z - of_z / z * z_step];
        let found = Point {
            largest: DVector::from_column_slice(&largest_step),
            multipliers: step,
            slacks: slack_step,
            excess: excess_step,
            floors: floor_step,
        };
        found.parts().iter().all(|part| part.iter().all(|v| v.is_finite())).then_some(found)
    }
}

/// Weights of all functions for the multipliers of the constraints: 1 for the objective.
pub(super) fn weights(multipliers: impl IntoIterator<Item = f64>) -> Vec<f64> {
    std::iter::once(1.0).chain(multipliers).collect()
}

impl Point {
    fn parts(&self) -> [&DVector<f64>; 5] {
        [&self.multipliers, &self.slacks, &self.excess, &self.floors, &self.largest]
    }

    /// The longest share of `step` that keeps all unknowns positive; 1 at most.
    fn to_bound(&self, step: &Self) -> f64 {
        let values = self.parts().into_iter().zip(step.parts());
        let shares = values.flat_map(|(value, step)| value.iter().zip(step.iter()));
        shares
            .filter(|(_, step)| **step < 0.0)
            .fold(1.0, |share, (value, step)| share.min(-TO_BOUND * value / step))
    }

    fn moved(&self, step: &Self, share: f64) -> Self {
        Self {
            multipliers: &self.multipliers + share * &step.multipliers,
            slacks: &self.slacks + share * &step.slacks,
            excess: &self.excess + share * &step.excess,
            floors: &self.floors + share * &step.floors,
            largest: &self.largest + share * &step.largest,
        }
    }
}

//! A form moved until its distances from points are least.

use nalgebra::{SMatrix, SVector};
use topopt_mesh::vector::length;

use super::form::Form;

/// Steps of a fit, which converges in a few.
const MOST_STEPS: usize = 60;

/// Least squares of the distances from `start` on, by Levenberg and Marquardt.
pub(super) fn refined(start: Form, points: &[[f64; 3]]) -> Form {
    let mut values = Values::of(&start);
    let mut damping = 1e-3;
    let squares = |values: &Values| {
        let form = values.form();
        points.iter().map(|x| form.distance(*x).powi(2)).sum::<f64>()
    };
    let mut sum = squares(&values);
    for _ in 0..MOST_STEPS {
        let (mut normal, right) = equations(&values, points);
        (0..8).for_each(|i| normal[(i, i)] += damping * (normal[(i, i)] + 1e-9));
        let Some(step) = normal.lu().solve(&right) else { break };
        let next = values.moved(&step);
        let after = squares(&next);
        if after < sum {
            let is_last = after > sum * (1.0 - 1e-3) || after < 1e-28;
            (values, sum, damping) = (next, after, damping * 0.1);
            if is_last {
                break;
            }
        } else if damping > 1e6 {
            break;
        } else {
            damping *= 10.0;
        }
    }
    values.form()
}

/// Gauss-Newton equations of the distances in the values of the form.
fn equations(values: &Values, points: &[[f64; 3]]) -> (SMatrix<f64, 8, 8>, SVector<f64, 8>) {
    let form = values.form();
    let step = 1e-6;
    let moved = |i: usize, by: f64| {
        let mut direction = SVector::<f64, 8>::zeros();
        direction[i] = by;
        values.moved(&direction).form()
    };
    let ends: [[Form; 2]; 8] = std::array::from_fn(|i| [moved(i, step), moved(i, -step)]);
    let (mut normal, mut right) = (SMatrix::zeros(), SVector::zeros());
    for x in points {
        let row = SVector::<f64, 8>::from_fn(|i, _| {
            (ends[i][0].distance(*x) - ends[i][1].distance(*x)) / (2.0 * step)
        });
        normal += row * row.transpose();
        right -= row * form.distance(*x);
    }
    (normal, right)
}

/// A form as numbers: a point, a direction and two sizes.
#[derive(Clone, Copy)]
struct Values {
    kind: Form,
    numbers: SVector<f64, 8>,
}

impl Values {
    fn of(form: &Form) -> Self {
        let none = [0.0; 3];
        let (point, axis, sizes) = match *form {
            Form::Plane { normal, point } => (point, normal, [0.0; 2]),
            Form::Cylinder { axis, point, radius } => (point, axis, [radius, 0.0]),
            Form::Cone { axis, point, half_angle } => (point, axis, [half_angle, 0.0]),
            Form::Sphere { point, radius } => (point, none, [radius, 0.0]),
            Form::Torus { axis, point, ring, radius } => (point, axis, [radius, ring]),
            Form::Other => (none, none, [0.0; 2]),
        };
        let numbers = point.into_iter().chain(axis).chain(sizes);
        Self { kind: *form, numbers: SVector::from_iterator(numbers) }
    }

    fn moved(&self, step: &SVector<f64, 8>) -> Self {
        Self { numbers: self.numbers + step, ..*self }
    }

    fn form(&self) -> Form {
        let number = |i: usize| self.numbers[i];
        let point = [0, 1, 2].map(number);
        let direction = [3, 4, 5].map(number);
        let size = length(direction);
        let axis = direction.map(|x| x / size);
        let (radius, ring) = (number(6), number(7));
        match self.kind {
            Form::Plane { .. } => Form::Plane { normal: axis, point },
            Form::Cylinder { .. } => Form::Cylinder { axis, point, radius },
            Form::Cone { .. } => Form::Cone { axis, point, half_angle: radius },
            Form::Sphere { .. } => Form::Sphere { point, radius },
            Form::Torus { .. } => Form::Torus { axis, point, ring, radius },
            Form::Other => Form::Other,
        }
    }
}

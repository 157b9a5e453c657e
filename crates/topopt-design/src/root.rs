//! The root of a function of one variable.

/// Argument and value of a function.
pub(crate) type Point = [f64; 2];

/// Most evaluations: a bisection at least every fourth step leaves no number in between sooner.
const MOST: usize = 5000;

/// Evaluates `f`, which grows, at `start` and then further off until a value is at most `accuracy`
/// in size, the last one at the root or at +-`largest`, whichever is nearer. Until the root lies in
/// between, steps go where a straight line leads, four times as far as the step before at most; the
/// first one is `step` of the size of f there.
///
/// # Errors
/// The first error of `f`.
pub(crate) fn find_root_from<E>(
    start: f64,
    step: impl Fn(f64) -> f64,
    largest: f64,
    accuracy: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(), E> {
    let mut near = [start, f(start)?];
    let mut step = step(near[1].abs()).copysign(-near[1]);
    loop {
        if near[1].abs() <= accuracy || near[0] * step.signum() >= largest {
            return Ok(());
        }
        let x = (near[0] + step).clamp(-largest, largest);
        let far = [x, f(x)?];
        if (far[1] > 0.0) != (near[1] > 0.0) {
            let [low, high] = if step > 0.0 { [near, far] } else { [far, near] };
            return find_root(low, high, accuracy, f);
        }
        let along_line = far[1] / (near[1] - far[1]);
        let longer = if along_line > 0.0 { along_line.min(4.0) } else { 4.0 };
        (near, step) = (far, longer * step);
    }
}

/// Evaluates `f` between `low` and `high`, at which its values have different signs, until a value
/// is at most `accuracy` in size or there is no number left in between. The method is that of
/// Illinois \[DowellJarratt1971\], with a bisection where three steps have not halved the bracket.
///
/// # Errors
/// The first error of `f`.
fn find_root<E>(
    low: Point,
    high: Point,
    accuracy: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(), E> {
    let ([mut a, mut fa], [mut b, mut fb]) = (low, high);
    let mut width = b - a;
    // Which end the last step moved.
    let mut moved = None;

    for step in 1..=MOST {
        let is_slow = step % 4 == 0 && b - a > 0.5 * width;
        if step % 4 == 0 {
            width = b - a;
        }

        let secant = (b * fa - a * fb) / (fa - fb);
        let x = if is_slow || secant <= a || secant >= b { 0.5 * (a + b) } else { secant };
        if x <= a || x >= b {
            break;
        }

        let value = f(x)?;
        if value.abs() <= accuracy || value.is_nan() {
            break;
        }

        // The method of Illinois: an end that stays a second time counts half.
        let moves_low = (value > 0.0) == (fa > 0.0);
        let again = moved == Some(moves_low);
        if moves_low {
            (a, fa, fb) = (x, value, if again { 0.5 * fb } else { fb });
        } else {
            (b, fb, fa) = (x, value, if again { 0.5 * fa } else { fa });
        }
        moved = Some(moves_low);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Calls of `f` until its root in `[a, b]` is found, and the last argument.
    fn calls(a: f64, b: f64, accuracy: f64, f: impl Fn(f64) -> f64) -> (usize, f64) {
        let (mut n, mut last) = (0, f64::NAN);
        find_root([a, f(a)], [b, f(b)], accuracy, |x| {
            (n, last) = (n + 1, x);
            Ok::<_, Infallible>(f(x))
        })
        .unwrap();
        (n, last)
    }

    #[test]
    fn smooth_functions_take_few_calls_and_jumps_come_to_an_end() {
        for (f, root) in [
            (&(|x: f64| x.exp() - 2.0) as &dyn Fn(f64) -> f64, 2f64.ln()),
            (&|x: f64| x.powi(3) - 0.2, 0.2f64.cbrt()),
            (&|x: f64| (5.0 * (x - 0.3)).tanh(), 0.3),
            (&|x: f64| 0.7 - x, 0.7),
        ] {
            let (n, x) = calls(-1.0, 2.0, 1e-10, f);
            assert!((x - root).abs() < 1e-9, "{x} is not {root}");
            assert!(n <= 15, "{n} calls");
        }
        let (n, x) = calls(-1.0, 2.0, 0.0, |x| if x < 0.123 { -1.0 } else { 1000.0 });
        assert!((x - 0.123).abs() < 1e-15);
        assert!(n <= 200, "{n} calls");
    }
}

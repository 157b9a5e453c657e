//! How exact solves are in the course of a run.

/// The relative residual at which a solve stops: loose while the compliance changes much, tight
/// when it has settled. The compliance of a solve is off by about the square of the residual only,
/// but sensitivities, and with them all later designs, in proportion to it; what early iterations do
/// is not forgotten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// At first.
    pub loose: f64,
    /// In the end; throughout, if `loose` is no larger.
    pub tight: f64,
}

/// What a solve may leave of the last relative change of the compliance.
const SHARE: f64 = 0.1;

impl Accuracy {
    /// Always the same.
    pub fn fixed(tolerance: f64) -> Self {
        Self { loose: tolerance, tight: tolerance }
    }

    /// The tolerance of the solve after a design of compliance `last`, which came after one of
    /// compliance `before`.
    pub fn tolerance(self, before: Option<f64>, last: Option<f64>) -> f64 {
        let change = match (before, last) {
            (Some(before), Some(last)) => (last - before).abs() / last,
            _ => f64::INFINITY,
        };
        (SHARE * change).min(self.loose).max(self.tight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tightens_as_the_compliance_settles() {
        let accuracy = Accuracy { loose: 1e-3, tight: 1e-5 };
        assert_eq!(accuracy.tolerance(None, None), 1e-3);
        assert_eq!(accuracy.tolerance(None, Some(2.0)), 1e-3);
        assert_eq!(accuracy.tolerance(Some(4.0), Some(2.0)), 1e-3);
        let between = accuracy.tolerance(Some(2.002), Some(2.0));
        assert!((between - 1e-4).abs() < 1e-12, "{between}");
        assert_eq!(accuracy.tolerance(Some(2.0), Some(2.0)), 1e-5);
        for before in [None, Some(4.0), Some(2.0)] {
            assert_eq!(Accuracy::fixed(1e-7).tolerance(before, Some(2.0)), 1e-7);
            let reversed = Accuracy { loose: 1e-9, tight: 1e-7 };
            assert_eq!(reversed.tolerance(before, Some(2.0)), 1e-7);
        }
    }
}

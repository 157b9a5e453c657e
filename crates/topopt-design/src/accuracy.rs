//! How exact solves are in the course of a run.

/// The relative residual at which a solve stops: tight while the design is grey, then loose while
/// the compliance changes, and tight again as it settles. The compliance of a solve is off by about
/// the square of the residual only, but sensitivities, and with them the next design, in proportion
/// to it. What gathers grey material here or there decides the design in the end; where elements
/// are solid or empty, later iterations mend it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Loosest tolerance used.
    pub loose: f64,
    /// Tolerance of the first and the final solves; of all if `loose` <= `tight`.
    pub tight: f64,
}

/// Share of the last relative change of the objective that a solve may be off by.
const SHARE: f64 = 0.1;
/// Greyness up to which a design counts as decided: half that of the uniform one.
const DECIDED: f64 = 0.5;

impl Accuracy {
    /// Always the same.
    pub fn fixed(tolerance: f64) -> Self {
        Self { loose: tolerance, tight: tolerance }
    }

    /// The tolerance of the solve after a design of objective `last`, which came after one of
    /// objective `before`; tight where there are none to compare. `greyness` is its grey level as
    /// a share of that of a uniform design of the same volume.
    pub fn tolerance(self, greyness: f64, before: Option<f64>, last: Option<f64>) -> f64 {
        match (before, last) {
            (Some(before), Some(last)) if greyness <= DECIDED => {
                let change = (last - before).abs() / last.abs();
                (SHARE * change).min(self.loose).max(self.tight)
            }
            _ => self.tight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_when_decided_and_tight_as_the_objective_settles() {
        let accuracy = Accuracy { loose: 1e-3, tight: 1e-5 };
        assert_eq!(accuracy.tolerance(0.5, None, None), 1e-5);
        assert_eq!(accuracy.tolerance(0.5, None, Some(2.0)), 1e-5);
        assert_eq!(accuracy.tolerance(0.5, Some(4.0), Some(2.0)), 1e-3);
        let between = accuracy.tolerance(0.5, Some(2.002), Some(2.0));
        assert!((between - 1e-4).abs() < 1e-12, "{between}");
        assert_eq!(accuracy.tolerance(0.0, Some(2.0), Some(2.0)), 1e-5);
        // Prescribed displacements make the objective negative.
        let negative = accuracy.tolerance(0.5, Some(-2.002), Some(-2.0));
        assert_eq!(negative, between);
        assert_eq!(accuracy.tolerance(0.5, Some(-4.0), Some(-2.0)), 1e-3);
        for before in [None, Some(4.0), Some(2.0)] {
            for grey in [0.51, 1.0, f64::NAN] {
                assert_eq!(accuracy.tolerance(grey, before, Some(2.0)), 1e-5);
            }
            assert_eq!(Accuracy::fixed(1e-7).tolerance(0.2, before, Some(2.0)), 1e-7);
            let reversed = Accuracy { loose: 1e-9, tight: 1e-7 };
            assert_eq!(reversed.tolerance(0.2, before, Some(2.0)), 1e-7);
        }
    }
}

//! Operator, filter and maps that do nothing.

use topopt_linalg::{Backend, Cost, LinearOperator, Space};

use crate::{Averaging, AveragingError, Components, CornerMaps, ElementOperator};

/// Operator, filter or maps on a space that takes no memory and does nothing: for a design loop on
/// [`topopt_linalg::Counting`], which counts the vectors around them.
pub struct Idle(pub Space);

impl<B: Backend> LinearOperator<B> for Idle {
    fn space(&self) -> Space {
        self.0
    }

    fn apply(&self, _: &B::Vector, _: &mut B::Vector) {}

    fn cost(&self) -> Cost {
        Cost::default()
    }
}

impl<B: Backend> ElementOperator<B> for Idle {
    fn strategy(&self) -> &'static str {
        "idle"
    }

    fn set_coefficients(&mut self, _: &[&B::Vector]) {}

    fn diagonal(&self, _: &mut B::Vector) {}

    fn element_work(&self, _: usize, _: &B::Vector, _: &B::Vector, _: &mut B::Vector) {}
}

impl<B: Backend> Averaging<B> for Idle {
    fn space(&self) -> Space {
        self.0
    }

    fn apply(&self, _: &B::Vector, _: &mut B::Vector) -> Result<(), AveragingError> {
        Ok(())
    }
}

impl<B: Backend> CornerMaps<B> for Idle {
    fn sum(&self, _: &B::Vector, _: &mut B::Vector) {}

    fn sum_transpose(&self, _: &B::Vector, _: &mut B::Vector) {}

    fn gradient(&self, _: &B::Vector, _: &mut Components<B::Vector>) {}

    fn gradient_transpose(&self, _: &mut Components<B::Vector>, _: &mut B::Vector) {}
}

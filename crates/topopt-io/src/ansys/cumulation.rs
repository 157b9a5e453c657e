//! How values join those given before: DCUM, FCUM, SFCUM.

use super::field::real;
use super::lines::Command;

/// How a value joins the one given before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Operation {
    #[default]
    Replace,
    Add,
    Ignore,
}

/// An operation, and a factor of the value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cumulation {
    operation: Operation,
    factor: f64,
}

/// DCUM, FCUM, SFCUM.
#[derive(Default)]
pub(super) struct Cumulations {
    pub displacements: Cumulation,
    pub forces: Cumulation,
    pub surfaces: Cumulation,
}

impl Default for Cumulation {
    fn default() -> Self {
        Self { operation: Operation::Replace, factor: 1.0 }
    }
}

impl Cumulation {
    /// The operation in argument `at` and the factor behind it; none if they are not understood.
    pub fn of(command: &Command, at: usize) -> Option<Self> {
        let operation = match command.argument(at).to_ascii_uppercase().as_str() {
            "" | "REPL" => Operation::Replace,
            "ADD" => Operation::Add,
            "IGNO" => Operation::Ignore,
            _ => return None,
        };
        // A factor of 0 is 1.
        let factor = match command.argument(at + 1) {
            "" => 1.0,
            text => real(text).filter(|factor| factor.is_finite())?,
        };
        Some(Self { operation, factor: if factor == 0.0 { 1.0 } else { factor } })
    }

    /// The value with the one given before.
    pub fn joined(self, before: Option<f64>, value: f64) -> f64 {
        match (self.operation, before) {
            (Operation::Add, Some(before)) => before + self.factor * value,
            (Operation::Ignore, Some(before)) => before,
            _ => self.factor * value,
        }
    }
}

//! Reasons why one attempt at a mesh fails.

use nalgebra::Matrix3;
use topopt_mesh::numbers::place_in;

use crate::surface::Vec3;

/// Reason why one attempt fails.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    text: String,
    /// Place of it along the axes of the grid.
    at: Option<Vec3>,
}

impl Fault {
    /// Fault at a place along the axes of the grid.
    pub fn at(x: Vec3, text: &str) -> Self {
        Self { text: text.to_owned(), at: Some(x) }
    }

    /// The fault at another place.
    pub fn moved(self, place: impl Fn(&Vec3) -> Vec3) -> Self {
        Self { at: self.at.as_ref().map(place), ..self }
    }

    /// Message with the place along the axes of a part of this `size` (length).
    pub fn message(&self, turn: &Matrix3<f64>, size: f64) -> String {
        match self.at {
            Some(x) => format!("{} at {}", self.text, place_in((turn * x).into(), size)),
            None => self.text.clone(),
        }
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self { text, at: None }
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), at: None }
    }
}

//! Forces, accelerations and displacements of a load case, in the user's node numbers.

use serde::Serialize;
use topopt_fem::{BodyForce, DIM, TemperatureChange};

/// Forces and prescribed displacements that act together; for heat, heat flows and temperatures.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseLoads<const N: usize = DIM> {
    /// Name of the load case.
    pub name: String,
    /// Weight of the load case in the compliance.
    pub weight: f64,
    /// Loaded nodes, sorted, with their forces.
    pub forces: Vec<(u32, [f64; N])>,
    /// Acceleration of the whole part by gravity.
    pub gravity: [f64; 3],
    /// Rotations of the whole part.
    pub rotations: Vec<Rotation>,
    /// Changes of temperature of the elements, `[n_elements]`, where a load has temperatures.
    pub temperatures: Option<Vec<TemperatureChange>>,
    /// Displaced nodes, sorted, with their displacements in the directions in which they are held.
    pub displacements: Vec<(u32, [f64; N])>,
}

/// A rotation of the whole part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rotation {
    /// Radians per time, along the axis.
    pub angular_velocity: [f64; 3],
    /// A point on the axis.
    pub center: [f64; 3],
}

impl CaseLoads {
    /// Returns the force on unit mass by gravity and rotations.
    pub fn acceleration(&self) -> BodyForce {
        let turning = self
            .rotations
            .iter()
            .map(|rotation| BodyForce::centrifugal(rotation.angular_velocity, rotation.center));
        turning.fold(self.gravity.into(), |sum: BodyForce, force| sum.plus(&force))
    }
}

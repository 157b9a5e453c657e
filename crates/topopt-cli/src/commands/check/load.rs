//! A load case as `topopt check` reports it.

use serde::Serialize;
use topopt_case::case_loads::{CaseLoads, Rotation};
use topopt_case::config::{Config, number};
use topopt_case::model::Model;
use topopt_fem::{LoadCase, TemperatureChange};
use topopt_mesh::numbers::{shown, without_rounding};

/// A load case.
#[derive(Debug, Serialize)]
pub(super) struct Load {
    pub case: String,
    pub weight: f64,
    pub loaded_nodes: usize,
    pub sum_of_forces: [f64; 3],
    /// Sum of the moments that are given as such.
    pub sum_of_moments: [f64; 3],
    /// Weight by gravity per volume of solid material; with several materials on average.
    pub weight_per_volume: [f64; 3],
    /// Rotations of the whole part.
    pub rotations: Vec<Rotation>,
    pub displaced_nodes: usize,
    /// The least and the most that the temperature of elements changes, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_change: Option<[f64; 2]>,
}

impl Load {
    /// `density` is the mean mass per volume of solid material.
    pub fn of(case: &LoadCase, load: &CaseLoads, config: &Config, density: f64) -> Self {
        let forces = case.forces.as_chunks::<3>().0;
        let displaced = case.prescribed.as_ref().map(|u| u.as_chunks::<3>().0);
        let here = config.loads.iter().filter(|load| load.case == case.name);
        let moments: Vec<[f64; 3]> = here.filter_map(|load| load.moment()).collect();
        let size = forces.as_flattened().iter().map(|f| f.abs()).sum();
        Self {
            case: case.name.clone(),
            weight: case.weight,
            loaded_nodes: count(forces),
            sum_of_forces: without_rounding(sum(forces), size),
            sum_of_moments: sum(&moments),
            weight_per_volume: load.gravity.map(|g| density * g),
            rotations: load.rotations.clone(),
            displaced_nodes: displaced.map_or(0, count),
            temperature_change: load.temperatures.as_deref().map(extent),
        }
    }

    pub fn text(&self) -> String {
        let [x, y, z] = self.sum_of_forces.map(shown);
        let mut parts = Vec::new();
        if self.loaded_nodes > 0 {
            parts.push(format!("{}, forces add up to ({x}, {y}, {z})", nodes(self.loaded_nodes)));
        }
        if self.sum_of_moments != [0.0; 3] {
            let [x, y, z] = self.sum_of_moments.map(shown);
            parts.push(format!("moments add up to ({x}, {y}, {z})"));
        }
        if self.weight_per_volume != [0.0; 3] {
            let [x, y, z] = self.weight_per_volume.map(shown);
            parts.push(format!("gravity of ({x}, {y}, {z}) per volume"));
        }
        for Rotation { angular_velocity, center } in &self.rotations {
            let ([wx, wy, wz], [x, y, z]) = (angular_velocity.map(shown), center.map(shown));
            parts.push(format!("rotation at ({wx}, {wy}, {wz}) about ({x}, {y}, {z})"));
        }
        if self.displaced_nodes > 0 {
            parts.push(format!("{} displaced", nodes(self.displaced_nodes)));
        }
        if let Some([least, most]) = self.temperature_change {
            parts.push(format!("temperatures change by {} to {}", shown(least), shown(most)));
        }
        format!("{}: {}, weight {}", self.case, parts.join(", "), shown(self.weight))
    }
}

/// Mass per volume of solid material, on average over the part.
pub(super) fn mean_density(config: &Config, model: &Model) -> f64 {
    let density = number(config.material.mass_density.as_ref()).unwrap_or(1.0);
    let Some(factors) = &model.problem.factors().mass else { return density };
    let volumes = &model.space.volumes;
    let mass: f64 = factors.iter().zip(volumes).map(|(factor, v)| factor * v).sum();
    density * mass / volumes.iter().sum::<f64>()
}

/// The least and the most of mean changes.
fn extent(changes: &[TemperatureChange]) -> [f64; 2] {
    let means = || changes.iter().map(|change| change.mean);
    [means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max)]
}

/// Number of vectors that are not zero.
pub(super) fn count(vectors: &[[f64; 3]]) -> usize {
    vectors.iter().filter(|vector| **vector != [0.0; 3]).count()
}

pub(super) fn sum(vectors: &[[f64; 3]]) -> [f64; 3] {
    // That of none is -0.0.
    std::array::from_fn(|i| vectors.iter().map(|vector| vector[i]).sum::<f64>() + 0.0)
}

pub(super) fn nodes(n: usize) -> String {
    if n == 1 { "1 node".into() } else { format!("{n} nodes") }
}

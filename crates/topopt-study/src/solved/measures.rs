//! Numbers of a solved structure, with their places.

use serde::{Deserialize, Serialize};
use topopt_case::config::Config;
use topopt_case::materials;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::tags::Tags;
use topopt_fem::{DIM, Elasticity};
use topopt_mesh::quality::LEAST_OF_STRESSES;

use super::part::Solved;

/// A displacement and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Displacement {
    /// Magnitude (length).
    pub value: f64,
    /// Components along x, y and z.
    pub components: [f64; 3],
    /// Number of the node.
    pub node: u64,
    /// Coordinates of the node.
    pub at: [f64; 3],
    /// Load case.
    pub load_case: String,
}

/// The stress of von Mises in a load case, or the largest of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stress {
    /// 95th percentile by volume of the solid material.
    pub percentile_95: f64,
    /// 99th percentile by volume of the solid material.
    pub percentile_99: f64,
    /// Largest value at an element center.
    pub maximum: f64,
    /// Number of its element.
    pub element: u64,
    /// Center of its element.
    pub at: [f64; 3],
    /// Load case of the largest.
    pub load_case: String,
}

impl Solved<'_, Elasticity, DIM> {
    /// The largest displacement in load case `case`, of the nodes that carry.
    pub fn displacement(&self, case: usize) -> Displacement {
        let square = |u: &[f64; 3]| u.iter().map(|u| u * u).sum::<f64>();
        let u = self.states.states[case].as_chunks::<3>().0;
        let carried = (0..u.len()).filter(|&node| self.part.filling.is_carrying_node[node]);
        let squares = carried.map(|node| (square(&u[node]), node));
        let (square, node) = squares.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        let (number, at) = self.part.node(node);
        Displacement {
            value: square.sqrt(),
            components: u[node],
            node: number,
            at,
            load_case: self.part.model.problem.load_cases()[case].name.clone(),
        }
    }

    /// Summarizes the stresses `von_mises`, `[n_elements]`; each belongs to the load case that
    /// `case_of` gives for its element.
    pub fn stress(&self, von_mises: &[f64], case_of: impl Fn(usize) -> usize) -> Stress {
        let volumes = &self.part.filling.material;
        let mut order: Vec<usize> = (0..volumes.len()).filter(|&e| self.counts(e)).collect();
        order.sort_by(|&a, &b| von_mises[a].total_cmp(&von_mises[b]));
        let total: f64 = order.iter().map(|&e| volumes[e]).sum();

        // The least stress that the given share of the volume does not exceed.
        let percentile = |share: f64| {
            let mut volume = 0.0;
            let mut below = order.iter().skip_while(|&&e| {
                volume += volumes[e];
                volume < share * total * (1.0 - 1e-12)
            });
            below.next().map_or(0.0, |&e| von_mises[e])
        };

        let worst = order.last().copied().unwrap_or_default();
        let (element, at) = self.place(worst as u32);
        Stress {
            percentile_95: percentile(0.95),
            percentile_99: percentile(0.99),
            maximum: von_mises[worst],
            element,
            at,
            load_case: self.part.model.problem.load_cases()[case_of(worst)].name.clone(),
        }
    }

    /// Returns a note on elements whose stresses are left out, if there are any.
    pub fn note_on_stresses(&self) -> Option<String> {
        let volumes = self.part.filling.material.iter();
        let left_out = volumes.zip(&self.found.has_stress).filter(|(v, has)| **v > 0.0 && !**has);
        let count = left_out.count();
        (count > 0).then(|| {
            format!(
                "{count} elements of a scaled Jacobian below {LEAST_OF_STRESSES} are left out of the \
                 largest stresses and their percentiles: what is found in them says nothing of the part"
            )
        })
    }

    /// Whether the stress of an element of the problem counts.
    pub(super) fn counts(&self, element: usize) -> bool {
        self.part.filling.material[element] > 0.0 && self.found.has_stress[element]
    }

    /// Number and center of an element of the problem.
    pub(super) fn place(&self, element: u32) -> (u64, [f64; 3]) {
        let center = self.part.model.problem.mesh().center(element as usize);
        let original = self.part.model.renumbering.original_elements()[element as usize];
        (Tags::element(self.part.given.tags.as_ref(), original), center)
    }
}

/// Sums the mass of the shares of material per element, `[n_elements]` in the order of the problem;
/// none unless all materials have a mass density.
pub(crate) fn mass<K: Physics<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    shares: &[f64],
) -> Option<f64> {
    let has_mass = model.materials.iter().all(|material| material.mass_density.is_some());
    let factors = model.problem.factors().mass.as_ref();
    let solid = shares.iter().zip(&model.space.volumes).enumerate();
    let masses = solid.map(|(e, (share, v))| factors.map_or(1.0, |f| f[e]) * share * v);
    has_mass.then(|| materials::reference_density(config) * masses.sum::<f64>())
}

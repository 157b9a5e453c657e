//! `Filling`: the material in the elements of a structure.

use topopt_design::Interpolation;
use topopt_linalg::Cpu;
use topopt_mesh::HexMesh;

use topopt_case::model::Model;
use topopt_case::physics::Physics;

/// Material in the elements of a structure, in the order of the problem.
pub struct Filling {
    /// Densities: of a solid element's weight it is that share, `[n_elements]`.
    pub density: Vec<f64>,
    /// Law from density to the share of the solid's stiffness.
    pub interpolation: Interpolation,
    /// The smallest share of the stiffness that there may be.
    pub contrast: f64,
    /// Young's moduli that take strains to stresses, `[n_elements]` (force per area).
    pub stress_moduli: Vec<f64>,
    /// Volume of material whose stress counts, `[n_elements]`.
    pub material: Vec<f64>,
    /// Whether the displacement of a node counts, `[n_nodes]`.
    pub is_carrying_node: Vec<bool>,
}

/// Whether a node is one of an element that is not as good as void, `[n_nodes]`.
pub(crate) fn carrying_nodes(mesh: &HexMesh, density: &[f64]) -> Vec<bool> {
    let least = least_carrying(density);
    let mut carries = vec![false; mesh.n_nodes()];
    for (nodes, _) in mesh.elements().zip(density).filter(|(_, rho)| **rho >= least) {
        nodes.iter().for_each(|&node| carries[node as usize] = true);
    }
    carries
}

/// The least density of elements that are not as good as void.
fn least_carrying(density: &[f64]) -> f64 {
    VOID * density.iter().copied().fold(0.0, f64::max)
}

/// Share of the largest density below which what is found in an element means nothing.
const VOID: f64 = 0.1;

impl Filling {
    /// Whether an element has material and is not as good as void, `[n_elements]`.
    pub fn carrying_elements(&self) -> Vec<bool> {
        let least = least_carrying(&self.density);
        let elements = self.density.iter().zip(&self.material);
        elements.map(|(density, material)| *density >= least && *material > 0.0).collect()
    }

    /// Young's moduli of the solve, `[n_elements]` (force per area).
    pub fn moduli<K: Physics<N>, const N: usize>(&self, model: &Model<K, N>) -> Vec<f64> {
        let unit = Interpolation { youngs_modulus: 1.0, ..self.interpolation };
        let n = self.density.len();
        let (mut scratch, mut shares) = (vec![0.0; n], vec![0.0; n]);
        unit.moduli(&Cpu, &self.density, &mut scratch, &mut shares);
        model.solid_moduli().iter().zip(shares).map(|(modulus, share)| modulus * share).collect()
    }

    /// Factors of the mass of the solve, `[n_elements]`.
    pub fn masses(&self, model: &Model) -> Vec<f64> {
        match &model.problem.factors().mass {
            Some(factors) => factors.iter().zip(&self.density).map(|(f, s)| f * s).collect(),
            None => self.density.clone(),
        }
    }
}

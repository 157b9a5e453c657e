//! Stresses at the nodes, and the error of the mesh that they show.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_fem::stress::{Deformed, Stress, von_mises};
use topopt_fem::stress_error::Solution;
use topopt_fem::{DIM, Elasticity, internal_forces, restrained_energies, thermal_forces};

use super::part::{Part, Solved};
use super::singular::{Places, at_edges};
use super::solve::States;

/// Stresses at the nodes of a part whose elements are solid or void, in the order of the problem.
pub struct Nodal {
    /// Every load case.
    pub cases: Vec<NodalCase>,
    /// The support at whose edge a node lies, see [`at_edges`].
    pub(super) edges: Vec<Option<u32>>,
}

/// Stresses at the nodes in a load case.
pub struct NodalCase {
    /// Stresses, `[n_nodes]` (force per area): where materials meet, that with the largest stress
    /// of von Mises; 0 where nothing carries.
    pub stresses: Vec<Stress>,
    /// Parts of each element in the estimated error, `[n_elements]`: they add up to
    /// [`Self::error`].
    pub errors: Vec<f64>,
    /// Estimated share of the energy that the mesh misses.
    pub error: f64,
}

/// The largest stresses of von Mises at nodes in a load case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodalPeaks {
    /// The largest away from places where stresses grow with every refinement of the mesh; none
    /// where no node is away from them.
    #[serde(flatten)]
    pub away: Option<NodalPeak>,
    /// Larger ones near such places, the largest first.
    pub left_out: Vec<LeftOut>,
}

/// A stress of von Mises at a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NodalPeak {
    /// Von Mises stress (force per area).
    pub maximum: f64,
    /// Number of the node.
    pub node: u64,
    /// Coordinates of the node.
    pub at: [f64; 3],
}

/// The largest stress near a place where it grows with every refinement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The support, springs or load with the name of its set, such as `support wall`.
    pub place: String,
    /// The stress.
    #[serde(flatten)]
    pub peak: NodalPeak,
}

/// Estimated error of the mesh in a load case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeshError {
    /// Share of the energy that is missing.
    pub energy_share: f64,
    /// Whether displacements are prescribed, so that the energy is missing in no displacements, and
    /// forces are too large.
    pub is_prescribed: bool,
}

impl MeshError {
    /// The error in words, such as `displacements are about 3 % too small`.
    pub fn words(self) -> String {
        let (what, how) =
            if self.is_prescribed { ("forces", "large") } else { ("displacements", "small") };
        match 100.0 * self.energy_share {
            percent if percent < 0.1 => format!("{what} are less than 0.1 % too {how}"),
            percent if percent < 10.0 => format!("{what} are about {percent:.1} % too {how}"),
            percent => format!("{what} are about {percent:.0} % too {how}"),
        }
    }
}

impl Nodal {
    /// The stresses of `states`; `has_stress`: whether those of an element mean something,
    /// `[n_elements]`. None where densities between are no material with a stress of its own.
    pub fn of(part: &Part<Elasticity, DIM>, states: &States, has_stress: &[bool]) -> Option<Self> {
        let (filling, solid) = (&part.filling, part.model.solid_moduli());
        let counts = filling.carrying_elements().into_iter().zip(has_stress);
        let counts: Vec<bool> =
            counts.map(|(carries, has_stress)| carries && *has_stress).collect();
        let mut moduli = filling.stress_moduli.iter().zip(&solid).zip(&counts);
        let is_solid = |((modulus, solid), counts): ((&f64, &f64), &bool)| {
            !counts || (modulus / solid - 1.0).abs() < ROUNDING
        };
        if !moduli.all(is_solid) {
            return None;
        }

        let materials = materials(part, &counts);
        let case = |k| NodalCase::of(part, states, &materials, k);
        let cases = (0..states.states.len()).map(case).collect();
        Some(Self { cases, edges: at_edges(part, &counts) })
    }
}

/// The material of each element that `counts`, `[n_elements]`: stresses jump between materials.
fn materials(part: &Part<Elasticity, DIM>, counts: &[bool]) -> Vec<Option<u32>> {
    let new_element = part.model.renumbering.new_elements();
    let mut materials: Vec<Option<u32>> = counts.iter().map(|counts| counts.then_some(0)).collect();
    for (material, elements) in (1..).zip(&part.given.materials) {
        for element in elements.iter().map(|&e| new_element[e as usize] as usize) {
            materials[element] = counts[element].then_some(material);
        }
    }
    materials
}

/// Share by which a modulus may miss that of the solid.
const ROUNDING: f64 = 1e-9;

impl NodalCase {
    fn of(
        part: &Part<Elasticity, DIM>,
        states: &States,
        materials: &[Option<u32>],
        case: usize,
    ) -> Self {
        let (problem, u) = (&part.model.problem, &states.states[case]);
        let (kernel, mesh) = (problem.kernel(), problem.mesh());
        let (elements, moduli) = (problem.elements(), &part.filling.stress_moduli);
        let deformed = Deformed { u, thermal: problem.load_cases()[case].thermal.as_ref() };
        let solution = Solution { kernel, elements, moduli, deformed };
        let found = solution.nodal_stresses(materials.to_vec());

        let mut stresses = vec![[0.0; 6]; mesh.n_nodes()];
        for (&node, stress) in found.nodes.iter().zip(&found.values) {
            let other = &mut stresses[node as usize];
            if von_mises(stress) > von_mises(other) {
                *other = *stress;
            }
        }

        // Of an element that is filled in part only that part has energy.
        let moduli = part.filling.moduli(part.model);
        let errors = solution.errors(&found);
        let shares = moduli.iter().zip(&part.filling.stress_moduli);
        let of_element = |(error, (own, solid)): (f64, (&f64, &f64))| {
            if error > 0.0 { error * own / solid } else { 0.0 }
        };
        let errors: Vec<f64> = errors.into_iter().zip(shares).map(of_element).collect();
        let error: f64 = errors.iter().sum();
        let whole = energy(part, states, &moduli, case) + error;
        let share = |error: f64| if error > 0.0 { error / whole } else { 0.0 };
        Self { stresses, errors: errors.into_iter().map(share).collect(), error: share(error) }
    }

    /// Stresses of von Mises, `[n_nodes]` (force per area).
    pub fn von_mises(&self) -> Vec<f64> {
        self.stresses.par_iter().map(von_mises).collect()
    }
}

/// Twice the energy of a load case (force times length): the compliance, unless displacements are
/// prescribed or elements expand.
fn energy(part: &Part<Elasticity, DIM>, states: &States, moduli: &[f64], case: usize) -> f64 {
    let problem = &part.model.problem;
    let given = &problem.load_cases()[case];
    if given.prescribed.is_none() && given.thermal.is_none() {
        return states.compliances[case];
    }
    let work = |forces: &[[f64; DIM]]| -> f64 {
        forces.as_flattened().iter().zip(&states.states[case]).map(|(force, u)| force * u).sum()
    };
    let everywhere = vec![true; problem.mesh().n_nodes()];
    let resisted = work(&internal_forces(problem, moduli, &states.states[case], &everywhere));
    let Some(strains) = &given.thermal else { return resisted };
    let held: f64 =
        restrained_energies(problem, strains).iter().zip(moduli).map(|(w, e)| w * e).sum();
    let energy = resisted - 2.0 * work(&thermal_forces(problem, moduli, strains)) + held;
    // What a free part has is rounding, and no share of it says anything.
    energy.max(ROUNDING * held)
}

impl Solved<'_, Elasticity, DIM> {
    /// The largest stresses at nodes in load case `case`, if there are some at nodes.
    pub(super) fn nodal_peaks(&self, case: usize) -> Option<NodalPeaks> {
        let nodal = self.found.nodal.as_ref()?;
        let places = Places::of(self, case, &nodal.edges);
        let mut largest: Vec<Option<(f64, usize)>> = vec![None; places.names.len() + 1];
        for (node, value) in nodal.cases[case].von_mises().into_iter().enumerate() {
            let place = places.of_node[node].map_or(places.names.len(), |place| place as usize);
            let is_larger = |(other, _): (f64, usize)| value > other;
            if value > 0.0 && largest[place].is_none_or(is_larger) {
                largest[place] = Some((value, node));
            }
        }

        let peak = |(maximum, node): (f64, usize)| {
            let (node, at) = self.part.node(node);
            NodalPeak { maximum, node, at }
        };
        let away = largest.pop().flatten().map(peak);
        let named = places.names.into_iter().zip(largest);
        let named = named.filter_map(|(place, found)| Some(LeftOut { place, peak: peak(found?) }));
        let least = away.map_or(0.0, |away| (1.0 + ROUNDING) * away.maximum);
        let mut left_out: Vec<_> = named.filter(|left| left.peak.maximum > least).collect();
        left_out.sort_by(|a, b| b.peak.maximum.total_cmp(&a.peak.maximum));
        Some(NodalPeaks { away, left_out })
    }

    /// The estimated error of the mesh in load case `case`, where there are stresses at nodes.
    pub(super) fn mesh_error(&self, case: usize) -> Option<MeshError> {
        let energy_share = self.found.nodal.as_ref()?.cases[case].error;
        let is_prescribed = self.part.model.problem.load_cases()[case].prescribed.is_some();
        Some(MeshError { energy_share, is_prescribed })
    }

    /// The warning that the mesh is too coarse, if the estimate says so.
    pub(super) fn warning_of_error(&self) -> Option<String> {
        let cases = self.part.model.problem.load_cases();
        let errors =
            cases.iter().enumerate().filter_map(|(k, case)| Some((self.mesh_error(k)?, case)));
        let (worst, case) = errors.max_by(|a, b| a.0.energy_share.total_cmp(&b.0.energy_share))?;
        let cases =
            if cases.len() > 1 { format!("load case `{}`: ", case.name) } else { String::new() };
        (worst.energy_share > MUCH).then(|| {
            format!(
                "{cases}the mesh is too coarse: by the estimate {}; use smaller elements, first where \
                 the array `energy_error` is large",
                worst.words()
            )
        })
    }
}

/// Share of the energy from which on the error of the mesh is a warning.
const MUCH: f64 = 0.1;

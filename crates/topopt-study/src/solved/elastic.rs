//! Stresses, forces and displacements of an elastic part.

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::model::on_all_nodes;
use topopt_fem::stress::{self, Deformed};
use topopt_fem::{DIM, Elasticity};
use topopt_mesh::quality::{LEAST_OF_STRESSES, Quality};

use super::fields::{Field, Fields};
use super::gauss_points::GaussPoints;
use super::nodal::Nodal;
use super::part::{Measured, Part, Solved};
use super::restraints::Restraint;
use super::solve::States;
use super::solved_case::SolvedCase;
use crate::design_file::{DISPLACEMENT, FORCE};
use crate::solved_file::VON_MISES;

/// Name of the forces of gravity and rotation in the first load case.
const BODY_FORCE: &str = "body_force";
/// Name of the inertia forces of a free part in the first load case.
const INERTIA_FORCE: &str = "inertia_force";
/// Name of its reactions.
const REACTION: &str = "reaction";
/// Name of its stresses (xx, yy, zz, xy, yz, zx), as VTK orders them.
const STRESS: &str = "stress";

/// Name of the changes of temperature in the first load case.
const TEMPERATURE_CHANGE: &str = "temperature_change";

/// Name of its stresses at nodes.
const NODAL_STRESS: &str = "nodal_stress";
/// Name of its stresses of von Mises at nodes.
const NODAL_VON_MISES: &str = "nodal_von_mises";
/// Name of its principal stresses at nodes, the largest first.
const NODAL_PRINCIPAL: &str = "nodal_principal_stress";
/// Name of the parts of elements in its estimated error.
const ENERGY_ERROR: &str = "energy_error";

/// Stresses of von Mises at the centers of the elements, 0 where nothing carries, in the order of
/// the problem.
pub struct Stresses {
    /// Values per load case, `[n_elements]` each.
    pub von_mises: Vec<Vec<f64>>,
    /// The largest of all load cases, `[n_elements]`.
    pub largest: Vec<f64>,
    /// Load case in which it is the largest.
    pub worst_case: Vec<usize>,
    /// Whether the stresses of an element mean something, `[n_elements]`: not those of a nearly
    /// flat one, unless all are.
    pub has_stress: Vec<bool>,
    /// Stresses at the nodes; none of densities between solid and void.
    pub nodal: Option<Nodal>,
}

impl Measured<DIM> for Elasticity {
    type Case = SolvedCase;
    type Found = Stresses;

    fn restraints(config: &Config, case: &Case) -> Vec<Restraint> {
        Restraint::all(config, case)
    }

    fn found(part: &Part<Self, DIM>, states: &States) -> Stresses {
        let n = part.filling.density.len();
        let (mut largest, mut worst_case) = (vec![0.0; n], vec![0; n]);
        let mut all = Vec::new();
        for (case, u) in states.states.iter().enumerate() {
            let von_mises: Vec<f64> =
                part.stresses(case, u).iter().map(stress::von_mises).collect();
            for (e, &value) in von_mises.iter().enumerate() {
                if value > largest[e] {
                    (largest[e], worst_case[e]) = (value, case);
                }
            }
            all.push(von_mises);
        }

        let jacobians = Quality::of(part.model.problem.mesh()).scaled_jacobian;
        let mut has_stress: Vec<bool> = jacobians.iter().map(|j| *j >= LEAST_OF_STRESSES).collect();
        if !has_stress.contains(&true) {
            has_stress.fill(true);
        }
        let nodal = Nodal::of(part, states, &has_stress);
        Stresses { von_mises: all, largest, worst_case, has_stress, nodal }
    }

    fn case(solved: &Solved<Self, DIM>, k: usize, in_detail: bool) -> SolvedCase {
        let given = &solved.part.model.problem.load_cases()[k];
        let points = in_detail.then(|| GaussPoints::of(solved, k));
        let at_points = points
            .as_ref()
            .map(|points| solved.safety(k, |_, element| points.largest(element as usize)));
        SolvedCase {
            name: given.name.clone(),
            weight: given.weight,
            compliance: solved.states.compliances[k],
            largest_displacement: solved.displacement(k),
            von_mises: solved.stress(&solved.found.von_mises[k], |_| k),
            nodal_von_mises: solved.nodal_peaks(k),
            mesh_error: solved.mesh_error(k),
            safety_factors: solved.safety_at_centers(k),
            balance: solved.balance(k),
            gauss_points: points.as_ref().map(GaussPoints::peak),
            gauss_point_safety_factors: at_points.unwrap_or_default(),
        }
    }

    /// Forces at held nodes too, reactions and stresses.
    fn fields(solved: &Solved<Self, DIM>) -> Fields {
        let (model, renumbering) = (solved.part.model, &solved.part.model.renumbering);
        let mut fields = Fields::default();
        for (k, u) in solved.states.states.iter().enumerate() {
            let nodal = |what, values: &[[f64; 3]]| {
                Field::new(model, (what, k), renumbering.nodes_to_original(values))
            };
            let forces = on_all_nodes(model.mesh.n_nodes(), &solved.part.given.loads[k].forces);
            fields.points.push(nodal(DISPLACEMENT, u.as_chunks().0));
            fields.points.push(Field::new(model, (FORCE, k), forces));
            fields.points.extend(solved.body_forces(k).map(|forces| nodal(BODY_FORCE, &forces)));
            let inertia = solved.inertia_forces(k);
            fields.points.extend(inertia.map(|forces| nodal(INERTIA_FORCE, &forces)));
            fields.points.push(nodal(REACTION, &solved.reactions(k)));

            let von_mises = renumbering.elements_to_original(&solved.found.von_mises[k]);
            let von_mises = von_mises.into_iter().map(|stress| [stress]).collect();
            let stresses = renumbering.elements_to_original(&solved.part.stresses(k, u));
            let changes = solved.part.given.loads[k].temperatures.iter();
            let changes = changes.map(|all| all.iter().map(|change| [change.mean]).collect());
            fields.cells.extend(changes.map(|all| Field::new(model, (TEMPERATURE_CHANGE, k), all)));
            fields.cells.push(Field::new(model, (VON_MISES, k), von_mises));
            fields.cells.push(Field::new(model, (STRESS, k), stresses));
            fields.extend(solved.nodal_fields(k));
        }
        fields
    }

    fn warning(solved: &Solved<Self, DIM>) -> Option<String> {
        solved.warning_of_error()
    }

    fn note(solved: &Solved<Self, DIM>) -> Option<String> {
        solved.note_on_stresses()
    }
}

impl Solved<'_, Elasticity, DIM> {
    /// Fields of the stresses at the nodes in load case `case`, and of the estimated error.
    pub(crate) fn nodal_fields(&self, case: usize) -> Fields {
        let Some(nodal) = self.found.nodal.as_ref().map(|nodal| &nodal.cases[case]) else {
            return Fields::default();
        };
        let (model, renumbering) = (self.part.model, &self.part.model.renumbering);
        let stresses = renumbering.nodes_to_original(&nodal.stresses);
        let von_mises = stresses.iter().map(|stress| [stress::von_mises(stress)]).collect();
        let principal = stresses.iter().map(stress::principal).collect();
        let errors = renumbering.elements_to_original(&nodal.errors);
        let errors = errors.into_iter().map(|error| [error]).collect();
        Fields {
            points: vec![
                Field::new(model, (NODAL_VON_MISES, case), von_mises),
                Field::new(model, (NODAL_PRINCIPAL, case), principal),
                Field::new(model, (NODAL_STRESS, case), stresses),
            ],
            cells: vec![Field::new(model, (ENERGY_ERROR, case), errors)],
        }
    }
}

impl Part<'_, Elasticity, DIM> {
    /// The stresses of displacements `u` in load case `case` at the centers of the elements,
    /// `[n_elements]`, in the order of the problem (force per area).
    fn stresses(&self, case: usize, u: &[f64]) -> Vec<stress::Stress> {
        let problem = &self.model.problem;
        let deformed = Deformed { u, thermal: problem.load_cases()[case].thermal.as_ref() };
        let (kernel, elements) = (problem.kernel(), problem.elements());
        let (moduli, center) = (&self.filling.stress_moduli, problem.mesh().reference_center());
        stress::stresses(kernel, elements, moduli, deformed, center)
    }
}

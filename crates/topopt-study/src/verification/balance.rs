//! What acts on the verified part from outside: applied forces, and the reactions to them.

use serde::Serialize;
use topopt_fem::{internal_forces, nodal_body_forces};

use super::restraints::{Hold, RestraintKind};
use super::subject::Subject;
use crate::case::CaseLoads;

/// The forces on the part in a load case (force). With prescribed displacements the reactions are
/// what moves the part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Balance {
    /// Sum of all loads that were not left out, gravity and centrifugal forces included.
    pub applied: [f64; 3],
    /// What each entry of `[[supports]]` and of `[[springs]]` exerts on the part, in the order of the
    /// case file.
    pub reactions: Vec<Reaction>,
    /// Sum of all of these: zero, except for what the solver leaves.
    pub sum: [f64; 3],
}

/// The force that a support or the springs of a set exert on the part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reaction {
    /// Whether it is a support or springs.
    pub kind: RestraintKind,
    /// Name of the set.
    pub set: String,
    /// The force, without that at components of nodes which an earlier support holds.
    pub force: [f64; 3],
}

impl Subject<'_> {
    /// The forces in load case `case`: of a held component K u - f, of a spring of stiffness k it is
    /// -k u. On the host, whatever the device of the solve was.
    pub(super) fn balance(&self, case: usize) -> Balance {
        let (problem, u) = (&self.model.problem, &self.solution.displacements[case]);
        let held = problem.supports();
        let is_held: Vec<bool> = (0..held.n_nodes()).map(|node| held.is_held(node)).collect();
        let internal = internal_forces(problem, &self.moduli(), u, &is_held);
        let applied = self.applied(case);
        let new_node = self.model.renumbering.new_nodes();

        let reaction = |hold: &Hold| {
            let mut force = [0.0; 3];
            match hold {
                Hold::Components(components) => {
                    for &(node, i) in components {
                        let node = new_node[node as usize] as usize;
                        force[i] += internal[node][i] - applied[node][i];
                    }
                }
                Hold::Stiffness(nodes) => {
                    for &(node, stiffness) in nodes {
                        let node = new_node[node as usize] as usize;
                        // Where a support holds, springs carry nothing.
                        let free = held.free_part(node, stiffness);
                        (0..3).for_each(|i| force[i] -= free[i] * u[3 * node + i]);
                    }
                }
            }
            force
        };

        let reactions = self.restraints.iter().map(|restraint| Reaction {
            kind: restraint.kind,
            set: restraint.set.clone(),
            force: reaction(&restraint.hold),
        });
        let (applied, reactions) = (total(applied.iter()), reactions.collect::<Vec<_>>());
        let all = [&applied].into_iter().chain(reactions.iter().map(|reaction| &reaction.force));
        Balance { applied, sum: total(all), reactions }
    }

    /// Nodal forces in load case `case`, at held components too, `[n_nodes][3]`.
    fn applied(&self, case: usize) -> Vec<[f64; 3]> {
        let (problem, CaseLoads { forces, .. }) = (&self.model.problem, &self.loads[case]);
        let body_force = &problem.load_cases()[case].body_force;
        let mut all = match body_force.is_zero() {
            true => vec![[0.0; 3]; problem.mesh().n_nodes()],
            false => nodal_body_forces(problem.mesh(), Some(&self.masses()), body_force),
        };

        let new_node = self.model.renumbering.new_nodes();
        for &(node, force) in forces {
            let node = new_node[node as usize] as usize;
            if self.carried.is_carrying_node[node] {
                (0..3).for_each(|i| all[node][i] += force[i]);
            }
        }
        all
    }

    /// Young's moduli as they were solved with, `[n_elements]`.
    fn moduli(&self) -> Vec<f64> {
        let shares = self.shares();
        self.model.solid_moduli().iter().zip(shares).map(|(modulus, s)| modulus * s).collect()
    }

    /// Factors of the mass as they were solved with, `[n_elements]`.
    fn masses(&self) -> Vec<f64> {
        match &self.model.problem.factors().mass {
            Some(factors) => factors.iter().zip(self.shares()).map(|(f, s)| f * s).collect(),
            None => self.shares().collect(),
        }
    }

    /// The densities of the solve.
    fn shares(&self) -> impl Iterator<Item = f64> {
        self.design.stiffness(&self.carried)
    }
}

fn total<'a>(forces: impl Iterator<Item = &'a [f64; 3]>) -> [f64; 3] {
    forces.fold([0.0; 3], |sum, force| std::array::from_fn(|i| sum[i] + force[i]))
}

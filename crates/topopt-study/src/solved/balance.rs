//! Forces on a structure from outside: applied loads, and the reactions to them.

use serde::{Deserialize, Serialize};
use topopt_fem::{DIM, Elasticity, internal_forces, nodal_body_forces, thermal_forces};
use topopt_mesh::numbers::without_rounding;
use topopt_mesh::vector::{cross, length};

use super::part::{Part, Solved};
use super::restraints::{Hold, RestraintKind};

/// The forces on the part in a load case (force), and their moments about the origin of the
/// coordinates (force times length). With prescribed displacements the reactions are what moves the
/// part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Sum of all loads that were not left out, gravity and centrifugal forces included.
    pub applied: [f64; 3],
    /// Sum of their moments.
    pub applied_moment: [f64; 3],
    /// Reactions of each entry of `[[supports]]` and of `[[springs]]` on the part, in the order of
    /// the case file.
    pub reactions: Vec<Reaction>,
    /// Inertia of a free part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Sum of all of these: zero, except for what the solver leaves.
    pub sum: [f64; 3],
    /// Sum of all moments: zero as well.
    pub sum_moment: [f64; 3],
}

/// Acceleration of a free part, and the inertia that balances its loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inertia {
    /// Mass of the part.
    pub mass: f64,
    /// Place of its center of mass.
    pub center_of_mass: [f64; 3],
    /// Acceleration of that place (length per time squared).
    pub acceleration: [f64; 3],
    /// Angular acceleration (radians per time squared).
    pub angular_acceleration: [f64; 3],
    /// Sum of the inertia forces.
    pub force: [f64; 3],
    /// Sum of their moments about the origin.
    pub moment: [f64; 3],
}

/// Force and moment that a support or the springs of a set exert on the part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reaction {
    /// Whether it is a support or springs.
    pub kind: RestraintKind,
    /// Name of the set.
    pub set: String,
    /// The force, without that at components of nodes which an earlier support holds.
    pub force: [f64; 3],
    /// Moment of the force about the origin of the coordinates.
    pub moment: [f64; 3],
}

/// Most times that moments of inertia turn a part more easily than a mass at its ends would.
const SLENDER: f64 = 1e3;

/// The sum of forces, and that of their moments about the origin.
#[derive(Clone, Copy, Default)]
struct Resultant {
    force: [f64; 3],
    moment: [f64; 3],
}

impl Resultant {
    fn add(&mut self, force: [f64; 3], moment: [f64; 3]) {
        for i in 0..3 {
            self.force[i] += force[i];
            self.moment[i] += moment[i];
        }
    }
}

/// Forces on nodes, in the order of the problem, `[n_nodes][3]`.
struct Forces {
    /// With which the elements resist; 0 where nothing is held.
    internal: Vec<[f64; 3]>,
    /// Forces of all loads, also at held components.
    applied: Vec<[f64; 3]>,
    /// Forces of the loads and of inertia.
    acting: Vec<[f64; 3]>,
    /// Inertia of a free part, and its nodal forces.
    inertia: Option<(Inertia, NodalForces)>,
}

/// Nodes of the problem with forces.
type NodalForces = Vec<(u32, [f64; 3])>;

impl Solved<'_, Elasticity, DIM> {
    /// The forces in load case `case`. On the host, whatever the device of the solve was.
    pub fn balance(&self, case: usize) -> Balance {
        let forces = self.forces(case);
        let reaction = |k: usize| {
            let restraint = &self.part.given.restraints[k];
            let nodes = self.exerted(&restraint.hold, &forces, case);
            let Resultant { force, moment } = self.resultant(nodes.into_iter());
            Reaction { kind: restraint.kind, set: restraint.set.clone(), force, moment }
        };
        let reactions: Vec<_> = (0..self.part.given.restraints.len()).map(reaction).collect();

        let applied = forces.applied.iter().enumerate();
        let applied = self.resultant(applied.map(|(node, &force)| (node, force)));
        let mut sum = applied;
        reactions.iter().for_each(|reaction| sum.add(reaction.force, reaction.moment));
        let inertia = forces.inertia.map(|(inertia, _)| inertia);
        inertia.iter().for_each(|inertia| sum.add(inertia.force, inertia.moment));
        Balance {
            applied: applied.force,
            applied_moment: applied.moment,
            reactions,
            inertia,
            sum: sum.force,
            sum_moment: sum.moment,
        }
    }

    /// Computes the forces of supports and springs on each node in load case `case`, `[n_nodes][3]`
    /// in the order of the problem (force).
    pub fn reactions(&self, case: usize) -> Vec<[f64; 3]> {
        let forces = self.forces(case);
        let mut all = vec![[0.0; 3]; forces.internal.len()];
        for restraint in &self.part.given.restraints {
            for (node, force) in self.exerted(&restraint.hold, &forces, case) {
                (0..3).for_each(|i| all[node][i] += force[i]);
            }
        }
        all
    }

    /// The forces that `hold` exerts on its nodes: K u - f at held components, -k u by springs of
    /// stiffness k.
    fn exerted(&self, hold: &Hold, forces: &Forces, case: usize) -> Vec<(usize, [f64; 3])> {
        let new_node = self.part.model.renumbering.new_nodes();
        match hold {
            Hold::Components(components) => {
                let of_component = |&(node, i): &(u32, usize)| {
                    let node = new_node[node as usize] as usize;
                    let mut force = [0.0; 3];
                    force[i] = forces.internal[node][i] - forces.acting[node][i];
                    (node, force)
                };
                components.iter().map(of_component).collect()
            }
            Hold::Stiffness(nodes) => {
                let u = self.states.states[case].as_chunks::<3>().0;
                let of_spring = |&(node, stiffness): &(u32, [f64; 3])| {
                    let node = new_node[node as usize] as usize;
                    // Where a support holds, springs carry nothing.
                    let free = self.part.model.problem.supports().free_part(node, stiffness);
                    (node, std::array::from_fn(|i| -free[i] * u[node][i]))
                };
                nodes.iter().map(of_spring).collect()
            }
        }
    }

    fn resultant(&self, forces: impl Iterator<Item = (usize, [f64; 3])>) -> Resultant {
        let x = self.part.model.problem.mesh().coordinates();
        forces.fold(Resultant::default(), |mut sum, (node, force)| {
            sum.add(force, cross(x[node], force));
            sum
        })
    }

    fn forces(&self, case: usize) -> Forces {
        let (problem, u) = (&self.part.model.problem, &self.states.states[case]);
        let held = problem.supports();
        let is_held: Vec<bool> = (0..held.n_nodes()).map(|node| held.is_held(node)).collect();
        let moduli = self.part.filling.moduli(self.part.model);
        let mut internal = internal_forces(problem, &moduli, u, &is_held);
        if let Some(strains) = &problem.load_cases()[case].thermal {
            let free = thermal_forces(problem, &moduli, strains);
            let held = internal.iter_mut().zip(free).zip(&is_held).filter(|(_, held)| **held);
            held.for_each(|((force, free), _)| (0..3).for_each(|i| force[i] -= free[i]));
        }
        let applied = self.applied(case);
        let inertia = self.inertia(&applied);
        let mut acting = applied.clone();
        for (node, force) in inertia.iter().flat_map(|(_, forces)| forces) {
            (0..3).for_each(|i| acting[*node as usize][i] += force[i]);
        }
        Forces { internal, applied, acting, inertia }
    }

    /// Computes the acceleration of a free part under nodal forces `applied`, and its inertia.
    fn inertia(&self, applied: &[[f64; 3]]) -> Option<(Inertia, NodalForces)> {
        let Part { model, filling, .. } = &self.part;
        let mut relief = model.problem.inertia_relief()?;
        relief.assemble(&filling.density, applied.len());
        // Of a mass density of 1.
        let acceleration = relief.acceleration(applied.as_flattened());
        let (volume, center_of_mass, about) = relief.about_center_of_mass(&acceleration);
        let forces = relief.forces(&acceleration);
        let nodes = forces.iter().map(|&(node, force)| (node as usize, force));
        let Resultant { force, moment } = self.resultant(nodes);

        let mass_density = model.mass_density;
        let size = applied.iter().map(|f| length(*f)).sum::<f64>() / (mass_density * volume);
        let extent = length(model.mesh.bounding_box().extent());
        let inertia = Inertia {
            mass: mass_density * volume,
            center_of_mass: without_rounding(center_of_mass, extent),
            acceleration: without_rounding(about.translation.map(|a| a / mass_density), size),
            angular_acceleration: without_rounding(
                about.rotation.map(|a| a / mass_density),
                SLENDER * size / extent,
            ),
            force,
            moment,
        };
        Some((inertia, forces))
    }

    /// Computes the nodal forces of inertia in load case `case`, if a part is free, `[n_nodes][3]`
    /// in the order of the problem (force).
    pub fn inertia_forces(&self, case: usize) -> Option<Vec<[f64; 3]>> {
        let (_, forces) = self.inertia(&self.applied(case))?;
        let mut all = vec![[0.0; 3]; self.part.model.mesh.n_nodes()];
        forces.into_iter().for_each(|(node, force)| all[node as usize] = force);
        Some(all)
    }

    /// Nodal forces in load case `case`, at held components too, `[n_nodes][3]`.
    fn applied(&self, case: usize) -> Vec<[f64; 3]> {
        let n = self.part.model.mesh.n_nodes();
        let mut all = self.body_forces(case).unwrap_or_else(|| vec![[0.0; 3]; n]);
        let new_node = self.part.model.renumbering.new_nodes();
        for &(node, force) in &self.part.given.loads[case].forces {
            let node = new_node[node as usize] as usize;
            (0..3).for_each(|i| all[node][i] += force[i]);
        }
        all
    }

    /// Computes the nodal forces of gravity and rotation in load case `case`, if it has any,
    /// `[n_nodes][3]` in the order of the problem (force).
    pub fn body_forces(&self, case: usize) -> Option<Vec<[f64; 3]>> {
        let problem = &self.part.model.problem;
        let body_force = &problem.load_cases()[case].body_force;
        (!body_force.is_zero()).then(|| {
            let masses = self.part.filling.masses(self.part.model);
            nodal_body_forces(problem.mesh(), Some(&masses), body_force)
        })
    }
}

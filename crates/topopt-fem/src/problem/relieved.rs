//! Structures whose free part is balanced by its inertia.

use topopt_mesh::Components;

use super::{Problem, ProblemError, Relieved, check_springs};
use crate::{Discretization, ElementKernel, ElementVectors, InertiaRelief, LoadCase};

impl<K: ElementKernel<N>, const N: usize> Problem<K, N> {
    /// Builds a structure whose free part, if there is one, is balanced by its inertia, see
    /// [`InertiaRelief`]; its mass is uniform until [`Problem::with_factors`]. `anchors` are nodes
    /// that will have material.
    ///
    /// # Errors
    /// [`ProblemError`], also for several free parts.
    pub fn relieved(
        discretization: Discretization<K, N>,
        load_cases: Vec<LoadCase<N>>,
        anchors: &[u32],
    ) -> Result<Self, ProblemError> {
        check_springs(discretization.constraints())?;
        let (mesh, held) = (discretization.mesh(), discretization.constraints());
        let mut parts: Vec<_> =
            Components::of(mesh).nodes_by_component().into_iter().enumerate().collect();
        let n_parts = parts.len();
        let kernel = discretization.kernel();
        parts.retain(|(_, nodes)| !kernel.free_motions(held, mesh, nodes).is_empty());
        if parts.len() > 1 {
            let free = parts.into_iter().map(|(part, _)| part).collect();
            return Err(ProblemError::FreeParts { free, parts: n_parts });
        }
        let part = parts.pop().and_then(|(_, nodes)| kernel.free_part(held, mesh, nodes, anchors));
        let Some(part) = part else { return Self::of(discretization, load_cases) };
        let problem = Self::evolving(discretization, load_cases)?;
        problem.check_loaded()?;
        let relief = Relieved { held: problem.constraints().clone(), part };
        let discretization = problem.discretization.pinned(relief.part.pins());
        Ok(Self { discretization, relief: Some(relief), ..problem })
    }

    /// The inertia of the free part, if there is one, before a design is assembled.
    pub fn inertia_relief(&self) -> Option<InertiaRelief> {
        let relief = self.relief.as_ref()?;
        let mass = self.factors.mass.as_deref();
        Some(InertiaRelief::new(&relief.part, self.mesh(), mass, &relief.held))
    }

    /// Checks that no load case accelerates a free part without deforming it, if all is solid.
    ///
    /// # Errors
    /// [`ProblemError::FreeFall`].
    pub fn check_deformed(&self) -> Result<(), ProblemError> {
        let Some(mut relief) = self.inertia_relief() else { return Ok(()) };
        let solid = vec![1.0; self.mesh().n_elements()];
        relief.assemble(&solid, self.mesh().n_nodes());
        for case in &self.load_cases {
            if case.thermal.is_some() || case.prescribed.is_some() {
                continue;
            }
            let mut forces = case.forces.clone();
            ElementVectors::of_body_force(self, &case.body_force).add(&solid, &mut forces);
            let size = norm(&forces);
            relief.subtract_inertia(&relief.acceleration(&forces), &mut forces);
            if norm(&forces) <= BALANCED * size {
                return Err(ProblemError::FreeFall { name: case.name.clone() });
            }
        }
        Ok(())
    }
}

/// Share of the loads below which what inertia leaves of them is rounding.
const BALANCED: f64 = 1e-9;

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

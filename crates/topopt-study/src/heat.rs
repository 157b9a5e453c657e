//! Heat in a part: temperatures, their balance, and steps in time.

mod balance;
mod found;
mod march;
mod probes;
mod restart;
mod rows;
mod steps;
mod transient;

use topopt_case::physics::Physics;
use topopt_fem::Diffusion;

use crate::analysis::{Analysis, Analyzed, Request};
use crate::failure::Failure;
use crate::solved::{Conditions, Field, Fields, Measured, Part, Solved, States};
pub use found::{Extreme, HeatBalance, HeatCase, SupportHeat};

impl Measured<1> for Diffusion {
    type Case = HeatCase;
    type Found = ();

    fn found(_: &Part<Self, 1>, _: &States) {}

    fn case(solved: &Solved<Self, 1>, k: usize, _: bool) -> HeatCase {
        let Solved { part, states, .. } = solved;
        part.found(k, &states.states[k], Some(states.compliances[k]), None)
    }

    fn fields(solved: &Solved<Self, 1>) -> Fields {
        solved.part.fields(&solved.states.states)
    }
}

impl Analyzed<1> for Diffusion {
    fn in_time(
        part: &Part<Self, 1>,
        request: &Request,
        conditions: Conditions,
    ) -> Result<Option<Analysis<HeatCase>>, Failure> {
        let in_time = part.config.transient.as_ref().zip(part.model.timeline.as_ref());
        in_time.map(|in_time| part.in_time(in_time, request, conditions)).transpose()
    }
}

impl Part<'_, Diffusion, 1> {
    /// Collects temperatures at nodes, in the order of the problem, and heat fluxes at the centers
    /// of elements.
    pub(crate) fn fields(&self, temperatures: &[impl AsRef<[f64]>]) -> Fields {
        let (model, renumbering) = (self.model, &self.model.renumbering);
        let conductivities = self.filling.moduli(model);
        let mut fields = Fields::default();
        for (k, temperature) in temperatures.iter().map(AsRef::as_ref).enumerate() {
            let at_nodes = renumbering.nodes_to_original(temperature);
            let at_nodes = at_nodes.into_iter().map(|value| [value]).collect();
            fields.points.push(Field::new(model, (Diffusion::NAMES.state, k), at_nodes));
            let flux = Diffusion::flux(&model.problem, &conductivities, temperature);
            fields.cells.extend(flux.map(|(name, flux)| {
                Field::new(model, (name, k), renumbering.elements_to_original(&flux))
            }));
        }
        fields
    }
}

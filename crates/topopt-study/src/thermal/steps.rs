//! The time steps of a part: when they are, and what acts then.

use super::fields::Fields;
use super::part::Part;
use super::probes::Located;
use crate::config::Transient;
use crate::failure::Failure;
use crate::finding::InputError;
use crate::physics::heat::{InTime as Acting, Varying, capacities};
use crate::solved::Conditions;

/// The time steps, for any computer.
pub(super) struct Steps<'a> {
    pub part: &'a Part<'a>,
    pub keys: &'a Transient,
    /// The ends of all steps.
    pub times: Vec<f64>,
    pub conditions: Conditions<'a>,
    /// By volume, `[n_elements]`, as the problem numbers them.
    pub capacities: Vec<f64>,
    pub probes: Vec<Located>,
    pub fields: Fields<'a>,
    acting: Acting,
    new_node: Vec<u32>,
}

impl<'a> Steps<'a> {
    /// Those of `part`.
    ///
    /// # Errors
    /// A material without capacity, a probe outside of the part.
    pub fn of(
        part: &'a Part<'a>,
        keys: &'a Transient,
        conditions: Conditions<'a>,
    ) -> Result<Self, Failure> {
        let own = capacities(part.config, part.case)?;
        let density = &part.filling.density;
        let own = part.model.renumbering.elements_from_original(&own);
        Ok(Self {
            part,
            keys,
            times: keys.times(),
            conditions,
            capacities: own.iter().zip(density).map(|(c, rho)| c * rho).collect(),
            acting: Acting::of(&part.lookup()),
            probes: part.located(keys).map_err(InputError::from)?,
            fields: Fields::of(part),
            new_node: part.model.renumbering.new_nodes(),
        })
    }

    pub fn n_nodes(&self) -> usize {
        self.new_node.len()
    }

    /// The end of `step`; 0 is the beginning.
    pub fn time(&self, step: usize) -> f64 {
        step.checked_sub(1).map_or(0.0, |k| self.times[k])
    }

    /// The next step after `step` with a checkpoint, or the last of all.
    pub fn next_checkpoint(&self, step: usize) -> usize {
        let every = self.part.config.output.checkpoint_every.filter(|every| *every > 0);
        let next = every.map_or(usize::MAX, |every| (step / every + 1).saturating_mul(every));
        next.min(self.times.len())
    }

    /// Temperatures at the beginning, held ones included, `[n_nodes]`.
    pub fn initial(&self) -> Vec<f64> {
        let held = self.held([0.0; 2], [1.0, 0.0]);
        let constraints = self.part.model.problem.constraints();
        let initial = |(n, held)| if constraints.is_held(n) { held } else { self.keys.initial };
        held.into_iter().enumerate().map(initial).collect()
    }

    /// Heat flows of loads and ambients.
    pub fn source(&self, times: [f64; 2], shares: [f64; 2]) -> Vec<f64> {
        let mut source = self.nodal(&self.acting.loads, times, shares);
        let ambient = self.nodal(&self.acting.ambient, times, shares);
        source.iter_mut().zip(ambient).for_each(|(source, ambient)| *source += ambient);
        source
    }

    /// Nodal values by the factors at the start and the end of a step, in shares of them.
    fn nodal(&self, acting: &[Varying], times: [f64; 2], shares: [f64; 2]) -> Vec<f64> {
        let mut nodal = vec![0.0; self.new_node.len()];
        for acting in acting {
            let factor = acting.shared_factor(times, shares);
            for (node, value) in &acting.values {
                nodal[self.new_node[*node as usize] as usize] += factor * value;
            }
        }
        nodal
    }

    /// Held temperatures: those of the last support that holds a node.
    pub fn held(&self, times: [f64; 2], shares: [f64; 2]) -> Vec<f64> {
        let mut nodal = vec![0.0; self.new_node.len()];
        for acting in &self.acting.held {
            let factor = acting.shared_factor(times, shares);
            for (node, value) in &acting.values {
                nodal[self.new_node[*node as usize] as usize] = factor * value;
            }
        }
        nodal
    }
}

//! Heat in time, by the theta scheme.

use super::balance::Stored;
use super::fields::Fields;
use super::found::{InTime, ThermalAnalysis};
use super::part::Part;
use super::rows::Located;
use crate::analysis::{Request, made_ready};
use crate::config::Transient;
use crate::failure::Failure;
use crate::finding::InputError;
use crate::physics::heat::{InTime as Acting, Varying, capacities};
use crate::result_files::ANALYSIS_FIELDS;
use crate::solved::{Conditions, Means};

/// The time steps, for any computer.
pub(super) struct Steps<'a> {
    pub part: &'a Part<'a>,
    pub keys: &'a Transient,
    pub conditions: Conditions<'a>,
    /// By volume, `[n_elements]`, as the problem numbers them.
    pub capacities: Vec<f64>,
    pub probes: Vec<Located>,
    pub fields: Fields<'a>,
    acting: Acting,
    new_node: Vec<u32>,
}

/// What the steps gave, in the order of the problem.
pub(super) struct Went {
    pub state: Vec<f64>,
    /// Heat stored per time at nodes in the last step, and the temperatures in its middle.
    pub rates: Vec<f64>,
    pub middle: Vec<f64>,
    pub middle_time: f64,
    pub in_time: InTime,
    pub means: Means,
    pub pcg_iterations: usize,
    pub pcg_residual: f64,
    pub seconds: f64,
}

impl Part<'_> {
    /// Steps in time, and their files.
    pub(super) fn in_time(
        &self,
        keys: &Transient,
        request: &Request,
        conditions: Conditions,
    ) -> Result<ThermalAnalysis, Failure> {
        let own = capacities(self.config, self.case)?;
        let density = &self.filling.density;
        let own = self.model.renumbering.elements_from_original(&own);
        let steps = Steps {
            part: self,
            keys,
            conditions,
            capacities: own.iter().zip(density).map(|(c, rho)| c * rho).collect(),
            acting: Acting::of(&self.lookup()),
            probes: self.located(keys).map_err(InputError::from)?,
            fields: Fields::of(self),
            new_node: self.model.renumbering.new_nodes(),
        };

        let directory = self.config.output_directory();
        let _lock = made_ready(self.config, request, &directory).map_err(InputError::from)?;
        self.write_case()?;
        let went = conditions.place.visit(&steps)?;
        steps.fields.write(&directory.join(ANALYSIS_FIELDS), &[&went.state])?;

        let stored = Stored { rates: &went.rates, time: went.middle_time };
        let mut found = self.found(0, &went.middle, None, Some(stored));
        found.coldest = self.extreme(&went.state, f64::lt);
        found.hottest = self.extreme(&went.state, f64::gt);
        Ok(ThermalAnalysis {
            load_cases: vec![found],
            transient: Some(went.in_time),
            strategy: went.means.strategy,
            preconditioner: went.means.preconditioner,
            pcg_iterations: went.pcg_iterations,
            pcg_residual: went.pcg_residual,
            seconds: went.seconds,
            ..self.unsolved(conditions.place)
        })
    }
}

impl Steps<'_> {
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

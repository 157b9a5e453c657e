//! Heat balance and extreme temperatures of a part.

use topopt_case::lookup::Lookup;
use topopt_case::physics::heat::{Acting, InTime};
use topopt_fem::{Diffusion, add_film_flows, internal_forces};

use super::found::{Extreme, HeatBalance, HeatCase, SupportHeat};
use crate::solved::Part;

/// Heat stored per time at nodes, in the order of the problem, at a time.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'s> {
    pub rates: &'s [f64],
    pub time: f64,
}

impl Part<'_, Diffusion, 1> {
    /// Computes extremes and heat balance of the `temperature` in load case `case`, in the order of
    /// the problem.
    pub(crate) fn found(
        &self,
        case: usize,
        temperature: &[f64],
        compliance: Option<f64>,
        stored: Option<Stored>,
    ) -> HeatCase {
        HeatCase {
            name: self.model.problem.load_cases()[case].name.clone(),
            compliance,
            coldest: self.extreme(temperature, f64::lt),
            hottest: self.extreme(temperature, f64::gt),
            heat: Some(self.balance(case, temperature, stored)),
            into_nodes: None,
        }
    }

    /// The temperature of a node with material that is `before` all others.
    pub(super) fn extreme(&self, temperature: &[f64], before: fn(&f64, &f64) -> bool) -> Extreme {
        let counts = |n: &usize| self.filling.is_carrying_node[*n];
        let nodes = (0..temperature.len()).filter(counts);
        let first = |a: usize, b: usize| {
            if before(&temperature[b], &temperature[a]) { b } else { a }
        };
        let node = nodes.reduce(first).unwrap_or_default();
        let (number, at) = self.node(node);
        Extreme { temperature: temperature[node], node: Some(number), at }
    }

    fn balance(&self, case: usize, temperature: &[f64], stored: Option<Stored>) -> HeatBalance {
        let (lookup, problem) = (self.lookup(), &self.model.problem);
        let acting = InTime::of(&lookup);

        let name = &problem.load_cases()[case].name;
        let time = stored.map_or(0.0, |stored| stored.time);
        let entries = self.config.loads.iter().zip(&acting.loads);
        let of_case = entries.filter(|(load, _)| load.case == *name).map(|(_, acting)| acting);
        let mut flows: Vec<&Acting> = of_case.collect();
        let loads: f64 = flows.iter().map(|acting| acting.total(time)).sum();
        let ambient: f64 = acting.ambient.iter().map(|acting| acting.total(time)).sum();

        // Films at held nodes are no part of the operator, as what they take is given there.
        let new_node = self.model.renumbering.new_nodes();
        let films = self.given.springs.iter();
        let films =
            films.map(|(node, [film])| film * temperature[new_node[*node as usize] as usize]);
        let convection = ambient - films.sum::<f64>();

        flows.extend(&acting.ambient);
        let supports = self.supports(&lookup, &flows, temperature, stored);
        let total: f64 = supports.iter().map(|support| support.heat).sum();
        let stored = stored.map_or(0.0, |stored| stored.rates.iter().sum());
        let sum = loads + convection + total - stored;
        HeatBalance { loads, convection, supports, stored, sum }
    }

    /// Heat through the supports: what flows into the elements around a held node, is convected or
    /// stored there, and is not brought by the `flows` that act in the load case.
    fn supports(
        &self,
        lookup: &Lookup,
        flows: &[&Acting],
        temperature: &[f64],
        stored: Option<Stored>,
    ) -> Vec<SupportHeat> {
        let problem = &self.model.problem;
        let time = stored.map_or(0.0, |stored| stored.time);
        let n_nodes = problem.mesh().n_nodes();
        let held: Vec<bool> = (0..n_nodes).map(|n| problem.constraints().is_held(n)).collect();

        let moduli = self.filling.moduli(self.model);
        let conducted = internal_forces(problem, &moduli, temperature, &held);
        let mut given: Vec<f64> = conducted.into_iter().map(|[flow]| flow).collect();
        if let Some(Stored { rates, .. }) = stored {
            given.iter_mut().zip(rates).for_each(|(given, rate)| *given += rate);
        }

        let new_node = self.model.renumbering.new_nodes();
        let place = |node: u32| new_node[node as usize] as usize;
        for (node, [film]) in &self.given.springs {
            given[place(*node)] += film * temperature[place(*node)];
        }
        add_film_flows(problem.constraints().films(), temperature, &mut given);

        for acting in flows {
            for (node, flow) in &acting.values {
                given[place(*node)] -= acting.factor(time) * flow;
            }
        }

        // A node of several supports counts for the first.
        let mut is_counted: Vec<bool> = held.iter().map(|held| !held).collect();
        let supports = self.config.supports.iter().map(|support| {
            let nodes = lookup.nodes(&support.set, support.kind, &mut Vec::new());
            let heat = nodes.into_iter().map(|node| {
                let n = place(node);
                if std::mem::replace(&mut is_counted[n], true) { 0.0 } else { given[n] }
            });
            SupportHeat { set: support.set.get_ref().clone(), heat: heat.sum() }
        });
        supports.collect()
    }
}

//! Temperatures of the part, step by step: what is given for a node replaces what it had before.

use std::collections::BTreeMap;

use topopt_mesh::SetKind;

use super::carried::Carrier;
use super::nodal::ascending;
use crate::deck::SetLoad;
use crate::read_error::Parsed;

/// Different temperatures of a step that get a node set each.
const MOST_TEMPERATURES: usize = 1000;

impl Carrier<'_> {
    /// Adds the temperatures of each step, and node sets for them, if a material expands.
    pub fn temperatures(&mut self) -> Parsed<()> {
        let deck = self.deck;
        let expands = deck.materials.iter().any(|material| !material.thermal_expansion.is_empty());
        if self.is_heat || deck.temperatures.is_empty() {
            return Ok(());
        }
        if !expands {
            self.lose_once("*TEMPERATURE: no material expands");
            return Ok(());
        }
        let reference = self.initial()?;
        let mut acting = BTreeMap::<u32, f64>::new();
        for s in 0..self.steps.len() {
            if self.steps[s].released.contains(&"TEMPERATURE") {
                acting.clear();
            }
            for (block, value, when) in &deck.temperatures {
                if when.step.unwrap_or(0) != s {
                    continue;
                }
                let factor = self.factor(when, s);
                let nodes = self.nodes.named(block)?;
                let nodes = nodes.into_iter().filter(|&node| self.part.is_used(node));
                acting.extend(nodes.map(|node| (node, factor * value)));
            }
            self.temperatures_of_step(&acting, reference, s);
        }
        Ok(())
    }

    fn temperatures_of_step(&mut self, acting: &BTreeMap<u32, f64>, reference: f64, s: usize) {
        let mut by_value = BTreeMap::<i64, (f64, Vec<u32>)>::new();
        for (&node, &value) in acting.iter().filter(|(_, value)| **value != reference) {
            by_value.entry(ascending(value)).or_insert_with(|| (value, Vec::new())).1.push(node);
        }
        if by_value.len() > MOST_TEMPERATURES {
            let n = by_value.len();
            self.lose_once(format!(
                "*TEMPERATURE of {n} different values; name a file of temperatures in their place"
            ));
            return;
        }
        let n_used = self.part.n_used();
        let kind = SetKind::Node;
        for (temperature, nodes) in by_value.into_values() {
            let name = self.in_step(s, format!("temperature_{temperature:?}"));
            let set = (nodes.len() < n_used).then_some(name);
            if let Some(name) = &set {
                self.found.sets.nodes.entry(name.clone()).or_default().extend(nodes);
            }
            self.load(s, SetLoad::Temperature { set, kind, temperature, reference });
        }
    }
}

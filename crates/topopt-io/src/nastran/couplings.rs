//! RBE2 and RBE3 as sets of nodes around a grid.

use std::collections::BTreeMap;

use super::deck::{Coupling, sort};
use super::model::Model;
use crate::found::Found;

/// The couplings of a deck, by the grid that they have in common.
pub(super) struct Couplings {
    groups: Vec<Group>,
    /// Groups by kind (rigid or not) and position of their grid.
    index: BTreeMap<(bool, u32), usize>,
}

/// Nodes that are coupled to a grid.
pub(super) struct Group {
    /// The node set.
    pub set: String,
    /// `RBE2 9`.
    pub label: String,
    /// Position of the grid.
    pub reference: u32,
    pub is_rigid: bool,
    /// Components of the nodes that are coupled.
    pub components: [bool; 6],
}

impl Couplings {
    /// Adds the node sets of the couplings that have solids.
    pub fn add(model: &Model, found: &mut Found) -> Self {
        let mut couplings = Self { groups: Vec::new(), index: BTreeMap::new() };
        for coupling in &model.deck.couplings {
            let kind = if coupling.is_rigid { "RBE2" } else { "RBE3" };
            let label = format!("{kind} {}", coupling.tag);
            let Some(reference) = model.part.node(coupling.reference) else {
                let grid = coupling.reference;
                found.lose(format!("{label}: its grid {grid} is not in the deck"));
                continue;
            };

            let members = members(model, coupling, reference, &label, found);
            if members.is_empty() {
                found.lose(format!("{label} couples no grids of solids"));
                continue;
            }
            if coupling.is_uneven || coupling.components[..3] != [true; 3] && !coupling.is_rigid {
                found.lose(format!(
                    "{label}: its grids count equally and in all directions here, by its weights \
                     and components they do not"
                ));
            }
            couplings.add_group(coupling, label, reference, members, found);
        }
        couplings.say_doubles(found);
        couplings
    }

    /// Reports means of grids that are also rigid with others as lost: loads go to the rigid ones.
    fn say_doubles(&self, found: &mut Found) {
        let means = self.groups.iter().filter(|group| !group.is_rigid);
        for group in means {
            if let Some((_, rigid)) = self.rigid(group.reference) {
                let (mean, rigid) = (&group.label, &rigid.label);
                found.lose(format!(
                    "{mean}: its grid is that of {rigid}, which gets all that acts there"
                ));
            }
        }
    }

    fn add_group(
        &mut self,
        coupling: &Coupling,
        label: String,
        reference: u32,
        members: Vec<u32>,
        found: &mut Found,
    ) {
        // Couplings of one grid are one: it moves all their nodes.
        let next = self.groups.len();
        let at = *self.index.entry((coupling.is_rigid, reference)).or_insert(next);
        if at == next {
            let set = label.to_lowercase().replace(' ', "_");
            let (is_rigid, components) = (coupling.is_rigid, coupling.components);
            self.groups.push(Group { set, label, reference, is_rigid, components });
        }
        let group = &mut self.groups[at];
        for (all, more) in group.components.iter_mut().zip(coupling.components) {
            *all &= more;
        }
        let set = found.sets.nodes.entry(group.set.clone()).or_default();
        set.extend(members);
        sort(set);
    }

    /// The nodes that a force at a grid is spread over.
    pub fn of_force(&self, position: u32) -> Option<(usize, &Group)> {
        self.rigid(position).or_else(|| self.get(false, position))
    }

    /// The nodes that move with a grid as a rigid body.
    pub fn rigid(&self, position: u32) -> Option<(usize, &Group)> {
        self.get(true, position)
    }

    /// Whether the grid moves by the mean of others.
    pub fn is_mean(&self, position: u32) -> bool {
        self.get(false, position).is_some()
    }

    /// All of them.
    pub fn all(&self) -> &[Group] {
        &self.groups
    }

    fn get(&self, is_rigid: bool, position: u32) -> Option<(usize, &Group)> {
        let at = *self.index.get(&(is_rigid, position))?;
        Some((at, &self.groups[at]))
    }
}

/// The nodes that a coupling joins to its grid, which counts too if a solid has it and it is rigid.
fn members(
    model: &Model,
    coupling: &Coupling,
    reference: u32,
    label: &str,
    found: &mut Found,
) -> Vec<u32> {
    let (mut members, missing) = coupling.grids.positions(&model.part.node_tags);
    let count = members.len() + missing;
    members.retain(|&position| model.part.is_of_solid(position));
    let left_out = count - members.len();
    if left_out > 0 && !members.is_empty() {
        found.lose(format!("{label} couples grids that no solid uses: {left_out}"));
    }
    if coupling.is_rigid && !members.is_empty() {
        members.push(reference);
        members.retain(|&position| model.part.is_of_solid(position));
    }
    members
}

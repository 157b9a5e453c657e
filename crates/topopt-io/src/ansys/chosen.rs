//! Selections of nodes and elements (NSEL, ESEL, CMSEL, ALLSEL), and numbers that a command names.

use std::collections::{BTreeSet, HashSet};

use super::archive::{Archive, Ranges};
use super::field::real;
use super::lines::Command;

/// A selection.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Chosen {
    /// Everything.
    #[default]
    All,
    /// These numbers.
    These(BTreeSet<u32>),
    /// Numbers left unknown by a command that is not understood.
    Unknown,
}

/// Selection among the nodes and elements that were read so far.
#[derive(Default)]
pub(super) struct Selected {
    /// Selections of nodes and of elements, by [`Entity`].
    chosen: [Chosen; 2],
    /// Whether coordinates are meant in another system than the global Cartesian one (CSYS).
    pub is_turned: bool,
    /// Count and numbers of the nodes and of the elements read so far.
    known: [(usize, HashSet<u32>); 2],
}

/// Nodes or elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Nodes,
    Elements,
}

impl Selected {
    /// Follows a command that selects; false if it is none.
    pub fn command(&mut self, command: &Command, archive: &mut Archive) -> bool {
        match command.name().as_str() {
            "ALLS" => self.chosen = [Chosen::All, Chosen::All],
            "NSEL" => self.select(command, Entity::Nodes, archive),
            "ESEL" => self.select(command, Entity::Elements, archive),
            "CMSE" => self.component(command, archive),
            "NSLE" => *self.of(Entity::Nodes) = Chosen::Unknown,
            "ESLN" => *self.of(Entity::Elements) = Chosen::Unknown,
            "CM" => self.name_component(command, archive),
            _ => return false,
        }
        true
    }

    /// The numbers that argument `at` names: one number, the first of a range whose end and step are
    /// the arguments `range`, a component, or `ALL` for the selection. None if it is not understood.
    pub fn named(
        &mut self,
        command: &Command,
        at: usize,
        range: Option<[usize; 2]>,
        (entity, archive): (Entity, &Archive),
    ) -> Option<Vec<u32>> {
        let argument = command.argument(at);
        if argument.eq_ignore_ascii_case("ALL") {
            return self.all(entity, archive);
        }
        if let Some(ranges) = component(archive, entity, argument) {
            let ranges = ranges.clone();
            return Some(self.within(&ranges, entity, archive));
        }

        let first = number(argument)?;
        let Some([last, step]) =
            range.map(|[last, step]| [command.argument(last), command.argument(step)])
        else {
            return Some(vec![first]);
        };
        let last = if last.is_empty() { first } else { number(last)? };
        let step = if step.is_empty() { 1 } else { number(step)?.max(1) };
        if last <= first {
            return Some(vec![first]);
        }
        let all = self.within(&vec![(first, last)], entity, archive);
        Some(all.into_iter().filter(|tag| (tag - first).is_multiple_of(step)).collect())
    }

    fn all(&mut self, entity: Entity, archive: &Archive) -> Option<Vec<u32>> {
        match self.of(entity) {
            Chosen::All => Some(self.within(&vec![(0, u32::MAX)], entity, archive)),
            Chosen::These(tags) => Some(tags.iter().copied().collect()),
            Chosen::Unknown => None,
        }
    }

    fn of(&mut self, entity: Entity) -> &mut Chosen {
        &mut self.chosen[entity as usize]
    }

    /// Whether all nodes are selected, or all elements.
    pub fn is_all(&self, entity: Entity) -> bool {
        self.chosen[entity as usize] == Chosen::All
    }

    /// The known numbers within ranges, ascending.
    fn within(&mut self, ranges: &Ranges, entity: Entity, archive: &Archive) -> Vec<u32> {
        let known = self.known(entity, archive);
        let mut found = Vec::new();
        for &(first, last) in ranges {
            if (last - first) as usize <= known.len() {
                found.extend((first..=last).filter(|tag| known.contains(tag)));
            } else {
                found.extend(known.iter().copied().filter(|tag| (first..=last).contains(tag)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The numbers of all that were read so far.
    fn known(&mut self, entity: Entity, archive: &Archive) -> &HashSet<u32> {
        let (counted, tags) = &mut self.known[entity as usize];
        match entity {
            Entity::Nodes => {
                tags.extend(&archive.node_tags[*counted..]);
                *counted = archive.node_tags.len();
            }
            Entity::Elements => {
                tags.extend(archive.elements[*counted..].iter().map(|element| element.tag));
                *counted = archive.elements.len();
            }
        }
        tags
    }

    /// `NSEL,type,item,component,first,last,step`.
    fn select(&mut self, command: &Command, entity: Entity, archive: &Archive) {
        let found = match command.argument(1).to_ascii_uppercase().as_str() {
            "ALL" => Some(Chosen::All),
            "NONE" => Some(Chosen::These(BTreeSet::new())),
            "S" | "" | "R" | "A" | "U" => self.items(command, entity, archive).map(|items| {
                let items = items.into_iter().collect();
                self.joined(command.argument(1), entity, items, archive)
            }),
            _ => None,
        };
        *self.of(entity) = found.unwrap_or(Chosen::Unknown);
    }

    /// The items that a selection names.
    fn items(&mut self, command: &Command, entity: Entity, archive: &Archive) -> Option<Vec<u32>> {
        let item = command.argument(2).to_ascii_uppercase();
        let is_within = |number_of_element: u32| -> Option<bool> {
            let first = number(command.argument(4))?;
            let last = number(command.argument(5)).unwrap_or(first);
            Some((first..=last).contains(&number_of_element))
        };

        match (entity, item.as_str()) {
            (Entity::Nodes, "NODE" | "") | (Entity::Elements, "ELEM" | "") => {
                self.named(command, 4, Some([5, 6]), (entity, archive))
            }
            (Entity::Nodes, "LOC") if !self.is_turned => on_planes(command, archive),
            (Entity::Elements, "TYPE" | "MAT" | "REAL") => {
                let mut found = Vec::new();
                for element in &archive.elements {
                    let value = match item.as_str() {
                        "TYPE" => element.kind,
                        "MAT" => element.material,
                        _ => element.real,
                    };
                    if is_within(value)? {
                        found.push(element.tag);
                    }
                }
                Some(found)
            }
            _ => None,
        }
    }

    fn component(&mut self, command: &Command, archive: &Archive) {
        let kind = command.argument(1).to_ascii_uppercase();
        if kind == "ALL" {
            self.chosen = [Chosen::All, Chosen::All];
            return;
        }
        let mut is_known = false;
        for entity in [Entity::Nodes, Entity::Elements] {
            let Some(ranges) = component(archive, entity, command.argument(2)).cloned() else {
                continue;
            };
            is_known = true;
            let items = self.within(&ranges, entity, archive).into_iter().collect();
            *self.of(entity) = self.joined(&kind, entity, items, archive);
        }
        if !is_known {
            self.chosen = [Chosen::Unknown, Chosen::Unknown];
        }
    }

    /// Returns the selection after a command of this `kind` selects `items`.
    fn joined(
        &mut self,
        kind: &str,
        entity: Entity,
        items: BTreeSet<u32>,
        archive: &Archive,
    ) -> Chosen {
        let kind = kind.to_ascii_uppercase();
        if matches!(kind.as_str(), "S" | "") {
            return Chosen::These(items);
        }
        let Some(before) = self.all(entity, archive) else { return Chosen::Unknown };
        let before: BTreeSet<u32> = before.into_iter().collect();
        match kind.as_str() {
            "R" => Chosen::These(&before & &items),
            "A" => Chosen::These(&before | &items),
            "U" => Chosen::These(&before - &items),
            _ => Chosen::Unknown,
        }
    }

    /// `CM,name,entity`: what is selected as a component.
    fn name_component(&mut self, command: &Command, archive: &mut Archive) {
        let name = crate::quote::printable(command.argument(1));
        let entity = match command.argument(2).to_ascii_uppercase().get(..4) {
            Some("NODE") => Entity::Nodes,
            Some("ELEM") => Entity::Elements,
            _ => return,
        };
        let Some(tags) = self.all(entity, archive) else { return };
        let ranges = tags.into_iter().map(|tag| (tag, tag)).collect();
        match entity {
            Entity::Nodes => archive.node_components.insert(name, ranges),
            Entity::Elements => archive.element_components.insert(name, ranges),
        };
    }
}

/// The component of a name, in capitals or not.
fn component<'a>(archive: &'a Archive, entity: Entity, name: &str) -> Option<&'a Ranges> {
    let components = match entity {
        Entity::Nodes => &archive.node_components,
        Entity::Elements => &archive.element_components,
    };
    let is_named = |(known, _): &(&String, &Ranges)| known.eq_ignore_ascii_case(name);
    components.iter().find(is_named).map(|(_, ranges)| ranges)
}

/// Nodes between two values of a coordinate; one value has the tolerance of Ansys.
fn on_planes(command: &Command, archive: &Archive) -> Option<Vec<u32>> {
    let axis =
        ["X", "Y", "Z"].iter().position(|axis| command.argument(3).eq_ignore_ascii_case(axis))?;
    let first = real(command.argument(4))?;
    let (low, high) = match command.argument(5) {
        "" => (first, first),
        last => (first, real(last)?),
    };
    let tolerance = match (low == high, low == 0.0) {
        (true, true) => 1e-6,
        (true, false) => 0.005 * low.abs(),
        (false, _) => 1e-8 * (high - low).abs(),
    };
    let is_there = |x: &[f64; 3]| (low - tolerance..=high + tolerance).contains(&x[axis]);
    let nodes = archive.node_tags.iter().zip(&archive.coordinates);
    Some(nodes.filter(|(_, x)| is_there(x)).map(|(tag, _)| *tag).collect())
}

/// A number, also as a real without a fraction, as parameters may have it.
fn number(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    real(text)
        .filter(|value| value.fract() == 0.0 && (0.0..4e9).contains(value))
        .map(|value| value as u32)
}

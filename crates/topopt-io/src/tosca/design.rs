//! The design that OPTIMIZE asks for.

use std::collections::{BTreeSet, HashSet};

use super::commands::Command;
use super::error::Fault;
use super::groups::Of;
use super::reader::Reader;
use crate::deck_design::{DeckDesign, DeckObjective};
use crate::import::ImportedMesh;
use crate::quote::excerpt;
use crate::read_error::{Located, Parsed};

/// Commands that only say how Tosca runs and what it writes.
const OF_TOSCA: [&str; 8] =
    ["OPTIONS", "DRIVER", "CONFIG", "STOP", "SMOOTH", "REPORT", "EXIT", "TEST_SHAPE"];

/// Commands of topologies, which count where others name them.
const NAMED: [&str; 10] = [
    "FEM_INPUT",
    "DV_TOPO",
    "DVCON_TOPO",
    "LINK_TOPO",
    "DRESP",
    "OBJ_FUNC",
    "CONSTRAINT",
    "GROUP_DEF",
    "CS_DEF",
    "OPT_PARAM",
];

/// Adds the optimization that `commands` describe to a model.
pub(super) fn added(commands: &[Command], imported: ImportedMesh) -> Parsed<ImportedMesh> {
    let sets = imported.mesh.sets().clone();
    let (design, designed) = (DeckDesign::default(), Vec::new());
    let said = HashSet::new();
    let mut reader = Reader { commands, imported, sets, design, designed, said };
    reader.optimization()?;
    let Reader { mut imported, sets, design, .. } = reader;
    imported.mesh = imported.mesh.with_sets(sets).map_err(crate::Fault::Mesh)?;
    imported.deck.design = Some(design);
    Ok(imported)
}

impl<'a> Reader<'a> {
    fn optimization(&mut self) -> Parsed<()> {
        let mut tasks = self.commands.iter().filter(|command| command.word == "OPTIMIZE");
        let task = tasks.next().ok_or(Fault::NoTopology)?;
        let others: Vec<&Command> = tasks.collect();
        for other in others {
            self.lose(format!("{other}: the first optimization counts"));
        }
        self.lose_unread(task);
        self.space(task)?;
        for demand in self.all_named(task, "DVCON", "DVCON_TOPO")? {
            self.demand(demand)?;
        }
        self.has_no_twice_solid();

        match self.all_named(task, "OBJ_FUNC", "OBJ_FUNC")?[..] {
            [] => self.design.objective = Some(DeckObjective::Other("no OBJ_FUNC".into())),
            [function, ..] => {
                self.lose_unread(function);
                let (objective, weights) = self.objective(function)?;
                self.design.objective = Some(objective);
                self.design.weights = weights;
            }
        }
        for constraint in self.all_named(task, "CONSTRAINT", "CONSTRAINT")? {
            self.lose_unread(constraint);
            let limit = self.limit(constraint)?;
            self.design.limits.extend(limit);
        }
        self.parameters(task)?;
        self.say_others(task);
        Ok(())
    }

    /// The commands `word` that an item of OPTIMIZE names.
    fn all_named(&self, task: &Command, key: &str, word: &str) -> Parsed<Vec<&'a Command>> {
        let names = task.all(key).flat_map(|item| &item.values);
        names.map(|name| self.named(task, word, name)).collect()
    }

    /// The design space; all other elements stay solid.
    fn space(&mut self, task: &Command) -> Parsed<()> {
        task.needed("DV", "the name of a DV_TOPO")?;
        let n = self.imported.mesh.n_elements() as u32;
        let mut designed = BTreeSet::new();
        for name in task.all("DV").flat_map(|item| &item.values) {
            let space = self.commands.iter().find(|command| command.is("DV_TOPO", name));
            let space = space.ok_or_else(|| Located::at_line(task.line, Fault::NoTopology))?;
            self.lose_unread(space);
            let groups: Vec<&String> =
                space.all("EL_GROUP").flat_map(|item| &item.values).collect();
            if groups.is_empty() {
                designed.extend(0..n);
            }
            for group in groups {
                designed.extend(self.members(Of::Elements, space, group)?);
            }
        }
        let others: Vec<u32> = (0..n).filter(|element| !designed.contains(element)).collect();
        if !others.is_empty() {
            let set = self.named_set(Of::Elements, "not_designed", others);
            self.design.solid.push(set);
        }
        self.designed = designed.into_iter().collect();
        Ok(())
    }

    /// Leaves out sets of solid elements that are in others.
    fn has_no_twice_solid(&mut self) {
        let solid = std::mem::take(&mut self.design.solid);
        let mut kept: BTreeSet<u32> = BTreeSet::new();
        for set in solid {
            let members = &self.sets.elements[&set];
            if !members.iter().all(|element| kept.contains(element)) {
                kept.extend(members);
                self.design.solid.push(set);
            }
        }
    }

    /// Radius of the filter and elements at loads, by OPT_PARAM.
    fn parameters(&mut self, task: &Command) -> Parsed<()> {
        let is_of_task = |command: &&Command| {
            let of = command.keyword("OPTIMIZE");
            command.word == "OPT_PARAM" && (of.is_empty() || of.eq_ignore_ascii_case(task.name()))
        };
        for parameters in self.commands.iter().filter(is_of_task) {
            self.lose_unread(parameters);
            let kept = parameters.keyword("AUTO_FROZEN");
            if matches!(kept.as_str(), "LOAD" | "BC") {
                self.lose(format!(
                    "AUTO_FROZEN = {kept} of {parameters}: elements at loads and supports both stay solid"
                ));
            }
            self.design.keeps_loaded |= !matches!(kept.as_str(), "" | "NO" | "OFF" | "NONE");
            let radius = parameters.number("TOPO_FILTER_RADIUS")?.filter(|radius| *radius > 0.0);
            self.design.filter_radius = radius.or(self.design.filter_radius);
        }
        Ok(())
    }

    /// Keeps the commands that nothing here reads.
    fn say_others(&mut self, task: &Command) {
        let is_other = |command: &&Command| {
            let word = command.word.as_str();
            !NAMED.contains(&word) && !OF_TOSCA.contains(&word) && word != task.word
        };
        let others: Vec<String> = self
            .commands
            .iter()
            .filter(is_other)
            .map(|other| excerpt(&other.to_string()))
            .collect();
        others.into_iter().for_each(|other| self.lose(other));
        let mut inputs = self.commands.iter().filter(|it| it.word == "FEM_INPUT");
        inputs.next().into_iter().for_each(|input| self.lose_unread(input));
        inputs.for_each(|other| self.lose(format!("{other}: the first model counts")));
        for (place, command) in self.commands.iter().enumerate() {
            let mut before = self.commands[..place].iter();
            let is_named = NAMED.contains(&command.word.as_str()) && !command.name().is_empty();
            if is_named && before.any(|other| other.is(&command.word, command.name())) {
                self.lose(format!("{command}: the first one of this name counts"));
            }
        }
    }
}

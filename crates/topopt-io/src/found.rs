//! `Found`: the sets of a solver's deck, and what is carried over and lost of it.

use std::collections::{BTreeMap, HashMap};

use crate::deck::{Deck, DeckLoad, DeckSpring, SetLoad};
use crate::file_sets::FileSets;
use crate::import::ImportedMesh;
use crate::part::Part;
use crate::read_error::Fault;
use crate::values::by_value;

/// Sets of a deck, what acts on them, and notes.
#[derive(Default)]
pub(crate) struct Found {
    pub sets: FileSets,
    pub deck: Deck,
    pub notes: Vec<String>,
}

impl Found {
    /// Keeps what is not carried over.
    pub fn lose(&mut self, what: impl Into<String>) {
        self.deck.lost.push(what.into());
    }

    /// Keeps how many of something are not carried over, if there are any.
    pub fn lose_count(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.lose(format!("{what}: {count}"));
        }
    }

    /// Adds a load to a load case.
    pub fn load(&mut self, case: &str, load: SetLoad) {
        self.deck.loads.push(DeckLoad { case: case.into(), load });
    }

    /// Sorts the loads by their load cases, in the order of these `cases`.
    pub fn order_cases<'a>(&mut self, cases: impl Iterator<Item = &'a str>) {
        let mut places = HashMap::new();
        for (place, case) in cases.enumerate() {
            places.entry(case).or_insert(place);
        }
        self.deck.loads.sort_by_key(|load| places.get(load.case.as_str()).copied());
    }

    /// `name`, or with underscores behind it until no node set is called so.
    pub fn free_name(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.sets.nodes.contains_key(&name) {
            name.push('_');
        }
        name
    }

    /// The mesh of `part` with all of this.
    pub fn import(mut self, part: Part) -> Result<ImportedMesh, Fault> {
        part.say_held_edges(&self.sets, &mut self.deck);
        Ok(ImportedMesh { deck: self.deck, ..part.into_mesh(self.sets, self.notes)? })
    }

    /// Adds a node set to which a cut adds nothing.
    pub fn add_listed(&mut self, name: &str, nodes: Vec<u32>) {
        self.sets.as_listed.insert(name.into());
        self.sets.nodes.insert(name.into(), nodes);
    }

    /// Adds the springs to the ground at nodes, by their stiffness: `word_1` and so on.
    pub fn add_springs(&mut self, word: &str, at_nodes: BTreeMap<u32, [f64; 3]>) {
        for (i, (stiffness, nodes)) in (1..).zip(by_value(at_nodes)) {
            let set = self.free_name(&format!("{word}_{i}"));
            self.add_listed(&set, nodes);
            self.deck.springs.push(DeckSpring { set, stiffness });
        }
    }

    /// Adds a node set with a force on each node, or heat in its first component: the load on it.
    pub fn by_node(
        &mut self,
        set: String,
        forces: impl IntoIterator<Item = (u32, [f64; 3])>,
    ) -> SetLoad {
        let (nodes, forces) = forces.into_iter().unzip();
        self.add_listed(&set, nodes);
        self.deck.nodal.insert(set.clone(), forces);
        SetLoad::ByNode { set }
    }
}

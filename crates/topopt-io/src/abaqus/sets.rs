//! Sets as they stand in the file, and their members.

use std::collections::HashMap;

use super::error::Fault;
use crate::read_error::{Located, Parsed};

/// Members that a data line adds to a set.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// First and last of numbers without a gap, which must all exist.
    Tags(u64, u64),
    /// First, last and step (at least 1); what does not exist is passed over.
    Range(u64, u64, u64),
    /// All of another set.
    Set(String),
}

/// Members that one keyword adds to a set.
#[derive(Debug)]
pub(super) struct Block {
    /// The set, for comparison: in capitals, with a dot before those of the part.
    pub key: String,
    /// The set, as it is written.
    pub name: String,
    /// The keyword and its line.
    pub keyword: String,
    pub line: usize,
    pub items: Vec<Item>,
    /// Whether it only serves other keywords.
    pub hidden: bool,
}

/// Appends a number to a list; if it continues the last run, the run grows.
pub(super) fn push(items: &mut Vec<Item>, tag: u64) {
    match items.last_mut() {
        Some(Item::Tags(_, last)) if last.checked_add(1) == Some(tag) => *last = tag,
        _ => items.push(Item::Tags(tag, tag)),
    }
}

/// The members of the sets of one kind, as positions in the ascending `tags` of all entities.
pub(super) struct Members<'a> {
    /// `node` or `element`.
    pub kind: &'static str,
    pub tags: &'a [u64],
    sets: HashMap<String, Vec<u32>>,
}

impl<'a> Members<'a> {
    /// Resolves the blocks one after the other: a set may name those before it.
    pub fn new(kind: &'static str, tags: &'a [u64], blocks: &[Block]) -> Parsed<Self> {
        let mut members = Self { kind, tags, sets: HashMap::new() };
        for block in blocks {
            let mut set = members.sets.get_mut(&block.key).map(std::mem::take).unwrap_or_default();
            members.add(&mut set, block)?;
            sort(&mut set);
            members.sets.insert(block.key.clone(), set);
        }
        Ok(members)
    }

    /// Ascending members of a set, if there is one of that key.
    pub fn set(&self, key: &str) -> Option<&[u32]> {
        // In the model, a set of the part may go by its own name.
        let set = self.sets.get(key).or_else(|| self.sets.get(&format!(".{key}")));
        set.map(Vec::as_slice)
    }

    /// The first member of what an item names.
    pub fn first(&self, item: &Item) -> Option<u32> {
        match item {
            &Item::Tags(first, _) | &Item::Range(first, ..) => {
                self.tags.binary_search(&first).ok().map(|at| at as u32)
            }
            Item::Set(key) => self.set(key)?.first().copied(),
        }
    }

    /// The members that `block` names, in any order.
    pub fn named(&self, block: &Block) -> Parsed<Vec<u32>> {
        let mut set = Vec::new();
        self.add(&mut set, block)?;
        Ok(set)
    }

    /// Adds what `block` names to `set`, in any order.
    fn add(&self, set: &mut Vec<u32>, block: &Block) -> Parsed<()> {
        for item in &block.items {
            match item {
                &Item::Tags(first, last) => {
                    let found = self.between(first, last);
                    if found.len() as u64 != last - first + 1 {
                        let missing = |(i, tag): &(usize, u64)| self.tags.get(*i) != Some(tag);
                        let tag = (found.start..).zip(first..last).find(missing);
                        let tag = tag.map_or(last, |(_, tag)| tag);
                        let (set, kind) = (block.name.clone(), self.kind);
                        return Err(Located::at_line(
                            block.line,
                            Fault::MissingMember { set, kind, tag },
                        ));
                    }
                    set.extend(found.map(|i| i as u32));
                }

                &Item::Range(first, last, step) => {
                    let fits = |i: &usize| (self.tags[*i] - first).is_multiple_of(step);
                    set.extend(self.between(first, last).filter(fits).map(|i| i as u32));
                }

                Item::Set(key) => {
                    let Some(other) = self.set(key) else {
                        let keyword = block.keyword.clone();
                        let name = key.trim_start_matches('.').to_owned();
                        return Err(Located::at_line(
                            block.line,
                            Fault::UnknownSet { keyword, name },
                        ));
                    };
                    set.extend_from_slice(other);
                }
            }

            // Sorting drops repetitions: sets that name each other many times stay bounded.
            if set.len() > 2 * self.tags.len() {
                sort(set);
            }
        }
        Ok(())
    }

    /// Positions of the tags from `first` to `last`.
    fn between(&self, first: u64, last: u64) -> std::ops::Range<usize> {
        let start = self.tags.partition_point(|&tag| tag < first);
        start..self.tags.partition_point(|&tag| tag <= last).max(start)
    }
}

fn sort(set: &mut Vec<u32>) {
    if !set.is_sorted_by(|a, b| a < b) {
        set.sort_unstable();
        set.dedup();
    }
}

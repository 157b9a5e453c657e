//! Sets of things that are joined by pairs.

use std::collections::BTreeMap;

/// Sets of patches, or of other numbered things, joined by pairs, by the smallest of each.
pub(crate) struct Joined(Vec<u32>);

impl Joined {
    /// Nothing joined of `n` things.
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    /// Returns the smallest thing of the set of `thing`.
    pub fn root(&self, mut thing: u32) -> u32 {
        while self.0[thing as usize] != thing {
            thing = self.0[thing as usize];
        }
        thing
    }

    /// Joins the sets of two things.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// Returns the sets, each ascending.
    pub fn sets(&self) -> Vec<Vec<u32>> {
        let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        (0..self.0.len() as u32)
            .for_each(|thing| sets.entry(self.root(thing)).or_default().push(thing));
        sets.into_values().collect()
    }
}

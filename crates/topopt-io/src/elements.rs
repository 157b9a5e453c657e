//! The elements of a file, and those that stand in it more than once.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;
use topopt_mesh::cells::{Cells, NO_NODE, Shape};

use crate::read_error::Fault;

/// The elements of a file as it gives them, by ascending tags, and which of them are the same:
/// those of the same nodes, from whichever corner they are counted. Of these the one with the
/// lowest tag is kept.
pub(crate) struct Elements {
    /// Tags of the given elements, `[n_given]`, ascending.
    tags: Vec<u64>,
    /// Given elements that are left out, ascending.
    copies: Vec<Twin>,
}

/// A given element that is left out.
struct Twin {
    given: u32,
    /// The given element that is kept in its place.
    kept: u32,
}

impl Elements {
    /// Takes the copies out of the given `cells` by `tags`, `[n_given]`, ascending.
    ///
    /// # Errors
    /// Different elements of one tag.
    pub fn once(tags: Vec<u64>, cells: &mut Cells) -> Result<Self, Fault> {
        let elements = Self { tags, copies: copies(cells) };
        let kept = elements.kept_of(elements.tags.iter().copied());
        if let Some(pair) = kept.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Fault::DuplicateElement(pair[0]));
        }
        if !elements.copies.is_empty() {
            *cells = cells.select(elements.kept_of(0..cells.len()).into_iter());
        }
        Ok(elements)
    }

    /// Tags of the given elements, ascending.
    pub fn tags(&self) -> &[u64] {
        &self.tags
    }

    /// Returns the `values`, `[n_given]`, of those given elements that are kept.
    pub fn kept_of<T>(&self, values: impl Iterator<Item = T>) -> Vec<T> {
        let mut copies = self.copies.iter().map(|copy| copy.given).peekable();
        let mut is_kept = |given: u32| copies.next_if_eq(&given).is_none();
        (0..).zip(values).filter_map(|(given, value)| is_kept(given).then_some(value)).collect()
    }

    /// The number of the cell that is kept for a given one.
    pub fn number(&self, given: u32) -> u32 {
        let kept = self.copy(given).map_or(given, |copy| copy.kept);
        kept - self.copies.partition_point(|copy| copy.given < kept) as u32
    }

    /// The given element that is kept as the cell of this number.
    pub fn given(&self, number: u32) -> u32 {
        self.copies.iter().fold(number, |given, copy| given + u32::from(copy.given <= given))
    }

    /// The tag of the cell of this number.
    pub fn tag(&self, number: u32) -> u64 {
        self.tags[self.given(number) as usize]
    }

    /// Returns the note on elements that are left out. Copies that lie in other places than those
    /// before them are not counted: a format may have to write an element once for each place it is
    /// in.
    pub fn note(&self, place: impl Fn(u32) -> u32) -> Option<String> {
        let mut known = HashSet::new();
        let is_double = |copy: &&Twin| {
            known.insert((copy.kept, place(copy.kept)));
            !known.insert((copy.kept, place(copy.given)))
        };
        let doubles: Vec<&Twin> = self.copies.iter().filter(is_double).collect();
        let first = doubles.first()?;
        let [copy, kept] = [first.given, first.kept].map(|given| self.tags[given as usize]);
        Some(format!(
            "duplicate elements were left out: {}, the first is {copy}, \
             which has the nodes of {kept}",
            doubles.len()
        ))
    }

    fn copy(&self, given: u32) -> Option<&Twin> {
        let found = self.copies.binary_search_by_key(&given, |copy| copy.given);
        found.ok().map(|at| &self.copies[at])
    }
}

/// Returns the cells that have the corners of one before them, each with the first such cell.
fn copies(cells: &Cells) -> Vec<Twin> {
    let key = |given: u32| cells.get(given as usize).key();
    let mut candidates = with_twins(cells);
    candidates.par_sort_unstable_by_key(|&given| (key(given), given));
    let mut copies = Vec::new();
    for same in candidates.chunk_by(|&a, &b| key(a) == key(b)) {
        copies.extend(same[1..].iter().map(|&given| Twin { given, kept: same[0] }));
    }
    copies.sort_unstable_by_key(|copy| copy.given);
    copies
}

/// Returns the cells whose hash another one has too: all that have the corners of another one, and
/// hardly any more.
fn with_twins(cells: &Cells) -> Vec<u32> {
    let hash = |given: usize| {
        let mut hasher = DefaultHasher::new();
        cells.get(given).key().hash(&mut hasher);
        hasher.finish()
    };
    let mut hashes: Vec<u64> = (0..cells.len()).into_par_iter().map(hash).collect();
    hashes.par_sort_unstable();
    let mut repeated: Vec<u64> =
        hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    drop(hashes);
    repeated.dedup();
    if repeated.is_empty() {
        return Vec::new();
    }
    let is_repeated = |given: &u32| repeated.binary_search(&hash(*given as usize)).is_ok();
    (0..cells.len() as u32).into_par_iter().filter(is_repeated).collect()
}

/// Refuses cells that would have to be cut.
pub(crate) fn only_bricks_and_wedges(cells: &Cells, elements: &Elements) -> Result<(), Fault> {
    let Some(first) = (0..cells.len()).find(|&cell| cells.must_be_cut(cell)) else { return Ok(()) };
    let shapes = counts(cells, &[Shape::Tetrahedron, Shape::Pyramid]);
    Err(Fault::CutRefused { shapes, element: elements.tag(first as u32) })
}

/// Returns those of the `shapes` that cells have, plural, and how many have them.
pub(crate) fn counts(cells: &Cells, shapes: &[Shape]) -> Vec<(&'static str, usize)> {
    let count = |shape| cells.shapes().iter().filter(|other| **other == shape).count();
    let all = shapes.iter().map(|&shape| (shape.plural(), count(shape)));
    all.filter(|(_, count)| *count > 0).collect()
}

/// The ends of the edge that each node is in the middle of. A node in the middles of two edges is
/// refused: an edge made straight would bend the other one.
pub(crate) fn edges_of_middles(
    cells: &Cells,
    elements: &Elements,
    tags: &[u64],
) -> Result<Vec<[u32; 2]>, Fault> {
    if cells.iter().all(|cell| cell.middles.is_empty()) {
        return Ok(Vec::new());
    }
    let mut edges = vec![[NO_NODE; 2]; tags.len()];
    for (number, cell) in (0..).zip(cells.iter()) {
        for (&[a, b], &middle) in cell.shape.edges().iter().zip(cell.middles) {
            let Some(known) = edges.get_mut(middle as usize) else { continue };
            let [a, b] = [a, b].map(|a| cell.corners[a]);
            let edge = [a.min(b), a.max(b)];
            if *known != edge && *known != [NO_NODE; 2] {
                let element = elements.tag(number);
                return Err(Fault::SharedMiddle { element, node: tags[middle as usize] });
            }
            *known = edge;
        }
    }
    Ok(edges)
}

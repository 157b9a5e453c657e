//! The elements of a file, and those that stand in it more than once.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;
use topopt_mesh::Face;
use topopt_mesh::hexahedron::{FACES, distinct};

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
    corners: [u32; 8],
}

impl Elements {
    /// Takes the copies out of the given `hexes`, `[n_given][8]` by `tags`, `[n_given]`, ascending.
    ///
    /// # Errors
    /// Different elements of one tag.
    pub fn once(tags: Vec<u64>, hexes: &mut Vec<[u32; 8]>) -> Result<Self, Fault> {
        let elements = Self { tags, copies: copies(hexes) };
        let kept = elements.kept_of(elements.tags.iter().copied());
        if let Some(pair) = kept.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Fault::DuplicateElement(pair[0]));
        }
        if !elements.copies.is_empty() {
            *hexes = elements.kept_of(hexes.iter().copied());
        }
        Ok(elements)
    }

    /// Tags of the given elements, ascending.
    pub fn tags(&self) -> &[u64] {
        &self.tags
    }

    /// Of values of the given elements, `[n_given]`, those of the elements that are kept.
    pub fn kept_of<T>(&self, values: impl Iterator<Item = T>) -> Vec<T> {
        let mut copies = self.copies.iter().map(|copy| copy.given).peekable();
        let mut is_kept = |given: u32| copies.next_if_eq(&given).is_none();
        (0..).zip(values).filter_map(|(given, value)| is_kept(given).then_some(value)).collect()
    }

    /// The number of the element that stands for a given one.
    pub fn number(&self, given: u32) -> u32 {
        let kept = self.copy(given).map_or(given, |copy| copy.kept);
        kept - self.copies.partition_point(|copy| copy.given < kept) as u32
    }

    /// The given element that is kept as the element of this number.
    pub fn given(&self, number: u32) -> u32 {
        self.copies.iter().fold(number, |given, copy| given + u32::from(copy.given <= given))
    }

    /// The face of an element that stands for one of a given element; `hexes`, `[n_kept][8]`, are
    /// those that are kept.
    pub fn face(&self, given: u32, local: u8, hexes: &[[u32; 8]]) -> Face {
        let face = Face { element: self.number(given), local };
        let Some(copy) = self.copy(given) else { return face };
        let key = Face::key(FACES[local as usize].map(|a| copy.corners[a]));
        let same = |local: &u8| Face::key(Face { local: *local, ..face }.nodes(hexes)) == key;
        (0..FACES.len() as u8).find(same).map_or(face, |local| Face { local, ..face })
    }

    /// What to say of elements that are left out. Copies that lie in other places than those before
    /// them are not counted: a format may have to write an element once for each place it is in.
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

/// Those of `hexes` that have the nodes of one before them.
fn copies(hexes: &[[u32; 8]]) -> Vec<Twin> {
    let key = |given: u32| key(&hexes[given as usize]);
    let mut candidates = with_twins(hexes);
    candidates.par_sort_unstable_by_key(|&given| (key(given), given));
    let mut copies = Vec::new();
    for same in candidates.chunk_by(|&a, &b| key(a) == key(b)) {
        let of = |&given: &u32| Twin { given, kept: same[0], corners: hexes[given as usize] };
        copies.extend(same[1..].iter().map(of));
    }
    copies.sort_unstable_by_key(|copy| copy.given);
    copies
}

/// Those of `hexes` whose hash another one has too: all that have the nodes of another one, and
/// hardly any more.
fn with_twins(hexes: &[[u32; 8]]) -> Vec<u32> {
    let hash = |hex: &[u32; 8]| {
        let mut hasher = DefaultHasher::new();
        key(hex).hash(&mut hasher);
        hasher.finish()
    };
    let mut hashes: Vec<u64> = hexes.par_iter().map(hash).collect();
    hashes.par_sort_unstable();
    let mut repeated: Vec<u64> =
        hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    drop(hashes);
    repeated.dedup();
    if repeated.is_empty() {
        return Vec::new();
    }
    let is_repeated = |given: &u32| repeated.binary_search(&hash(&hexes[*given as usize])).is_ok();
    (0..hexes.len() as u32).into_par_iter().filter(is_repeated).collect()
}

/// The same for all elements of the same nodes: increasing, each once, then [`u32::MAX`]. The nodes
/// that stand twice in a wedge depend on where its corners begin.
fn key(hex: &[u32; 8]) -> [u32; 8] {
    let mut sorted = *hex;
    sorted.sort_unstable();
    let mut key = [u32::MAX; 8];
    key.iter_mut().zip(distinct(&sorted)).for_each(|(key, node)| *key = node);
    key
}

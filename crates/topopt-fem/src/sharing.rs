//! What ranks do together within a hierarchy whose finest level each has on its part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use topopt_linalg::{
    Backend, BackendError, BlockPattern, Communicator, Cost, Exchange, Halo, LinearOperator,
    Neighbor, Space,
};
use topopt_mesh::Part;

use crate::Aggregation;
use crate::distributed::node_halo;

/// The other ranks, as a hierarchy on a part knows them. Its vectors of nodal values are of the part,
/// and ghosts have the values that they have on their ranks: what is made node by node of such vectors
/// is such a vector again, and only what elements make needs a [`Sharing::refresh`].
pub trait Sharing<B: Backend>: Send + Sync {
    /// The part.
    fn part(&self) -> &Part;

    /// The ranks.
    fn communicator(&self) -> &dyn Communicator;

    /// Writes the values of ghosts, which come from their ranks, to a nodal vector of the part.
    fn refresh(&self, x: &mut B::Vector);

    /// The same of symmetric blocks, N (N + 1) / 2 numbers per node.
    fn refresh_blocks(&self, blocks: &mut B::Vector);

    /// Lets all ranks have all of a vector of a level, of which each has the next `counts` points.
    fn share(&self, counts: &[usize], level: &mut B::Vector);

    /// Whether a device can record what it does, to be replayed.
    fn is_recorded(&self) -> bool;

    /// From how many unknowns on ranks split the work on a level whose matrix all of them have.
    fn least_split(&self) -> usize;

    /// Makes the first level below the finest one of which each rank has the values of its own rows and
    /// of those beside them: `own` ones, and `halo` among all rows.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn divide_level(
        &self,
        own: Range<usize>,
        halo: &Halo,
        modes: usize,
    ) -> Result<(), BackendError>;

    /// Writes the values beside own rows, which come from their ranks, to a vector of that level.
    fn refresh_level(&self, x: &mut B::Vector);

    /// The scalar product of vectors of that level.
    fn dot_of_level(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar);

    /// Sums a vector over all ranks.
    fn sum(&self, x: &mut B::Vector);
}

/// Unknowns of a level below which an exchange takes longer than its product.
const LEAST_SPLIT: usize = 100_000;

/// The other ranks by what crosses between them.
pub struct PartSharing<'a, B: Backend, C: Exchange<B>> {
    backend: &'a B,
    communicator: &'a C,
    part: &'a Part,
    nodes: C::Lists,
    blocks: C::Lists,
    least_split: usize,
    /// Own entries of the first level below the finest, and what is exchanged there.
    level: Mutex<Option<(Range<usize>, C::Lists)>>,
}

impl<'a, B: Backend + Sync, C: Exchange<B>> PartSharing<'a, B, C>
where
    C::Lists: 'a,
{
    /// For so many unknowns per node.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn of(
        backend: &'a B,
        communicator: &'a C,
        part: &'a Part,
        unknowns: usize,
    ) -> Result<Arc<dyn Sharing<B> + 'a>, BackendError> {
        Self::splitting(LEAST_SPLIT, backend, communicator, part, unknowns)
    }

    /// The same where products of levels with `least_split` unknowns and more are split.
    ///
    /// # Errors
    /// As [`PartSharing::of`].
    pub fn splitting(
        least_split: usize,
        backend: &'a B,
        communicator: &'a C,
        part: &'a Part,
        unknowns: usize,
    ) -> Result<Arc<dyn Sharing<B> + 'a>, BackendError> {
        let lists = |unknowns| communicator.lists(backend, &node_halo(part), unknowns);
        let (nodes, blocks) = (lists(unknowns)?, lists(unknowns * (unknowns + 1) / 2)?);
        let level = Mutex::new(None);
        Ok(Arc::new(Self { backend, communicator, part, nodes, blocks, least_split, level }))
    }
}

impl<B: Backend + Sync, C: Exchange<B>> Sharing<B> for PartSharing<'_, B, C> {
    fn part(&self) -> &Part {
        self.part
    }

    fn communicator(&self) -> &dyn Communicator {
        self.communicator
    }

    fn refresh(&self, x: &mut B::Vector) {
        self.communicator.refresh(self.backend, &self.nodes, x);
    }

    fn refresh_blocks(&self, blocks: &mut B::Vector) {
        self.communicator.refresh(self.backend, &self.blocks, blocks);
    }

    fn share(&self, counts: &[usize], level: &mut B::Vector) {
        self.communicator.share(self.backend, counts, level);
    }

    fn is_recorded(&self) -> bool {
        self.communicator.is_recorded()
    }

    fn least_split(&self) -> usize {
        self.least_split
    }

    fn divide_level(
        &self,
        own: Range<usize>,
        halo: &Halo,
        modes: usize,
    ) -> Result<(), BackendError> {
        let lists = self.communicator.lists(self.backend, &halo.of_entries(modes), 1)?;
        let entries = modes * own.start..modes * own.end;
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some((entries, lists));
        Ok(())
    }

    fn refresh_level(&self, x: &mut B::Vector) {
        let level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lists)) = &*level {
            self.communicator.refresh(self.backend, lists, x);
        }
    }

    fn dot_of_level(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar) {
        let level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((own, _)) = &*level {
            self.communicator.dot_own(self.backend, own.clone(), x, y, out);
        }
    }

    fn sum(&self, x: &mut B::Vector) {
        self.communicator.sum_vector(self.backend, x);
    }
}

/// The first level below the finest where ranks divide it: each has the values of its own rows, the next
/// `counts`, and of those beside them. Every rank has the whole matrix.
pub struct Divided<'a, B: Backend> {
    sharing: Arc<dyn Sharing<B> + 'a>,
    own: Range<usize>,
}

impl<'a, B: Backend> Divided<'a, B> {
    /// The level of the aggregates of nodes of `structure`; none where there are no other ranks, it is
    /// the last one, or too small.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        sharing: Option<&Arc<dyn Sharing<B> + 'a>>,
        structure: &Aggregation,
    ) -> Result<Option<Arc<Self>>, BackendError> {
        let (modes, pattern) = (structure.modes(), &structure.patterns[0]);
        let is_large = |sharing: &&Arc<dyn Sharing<B> + 'a>| {
            modes * pattern.n_rows() >= sharing.least_split() && !structure.coarser.is_empty()
        };
        let Some(sharing) = sharing.filter(is_large).cloned() else { return Ok(None) };
        let (own, halo) = beside(pattern, &structure.counts, sharing.communicator().rank());
        sharing.divide_level(own.clone(), &halo, modes)?;
        Ok(Some(Arc::new(Self { sharing, own })))
    }

    /// The rows of this rank.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// The members of aggregates of this level that are own rows.
    pub fn own_members(&self, members: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let own = |&row: &u32| self.own.contains(&(row as usize));
        members.iter().map(|rows| rows.iter().copied().filter(own).collect()).collect()
    }

    /// Writes the values beside own rows.
    pub fn refresh(&self, x: &mut B::Vector) {
        self.sharing.refresh_level(x);
    }

    /// out = x^T y.
    pub fn dot_into(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar) {
        self.sharing.dot_of_level(x, y, out);
    }

    /// Sums over all ranks what each makes of its own rows for the next level.
    pub fn sum(&self, of_next: &mut B::Vector) {
        self.sharing.sum(of_next);
    }
}

/// The own rows of `rank`, of which each rank has the next `counts`, and those of others that a row of a
/// symmetric `pattern` reads: all numbered among all rows.
fn beside(pattern: &BlockPattern, counts: &[usize], rank: usize) -> (Range<usize>, Halo) {
    let ends: Vec<usize> = counts
        .iter()
        .scan(0, |end, n| {
            *end += n;
            Some(*end)
        })
        .collect();
    let own = ends[rank] - counts[rank]..ends[rank];
    let mut neighbors: BTreeMap<usize, Neighbor> = BTreeMap::new();
    for row in own.clone() {
        for &column in pattern.row(row).iter().filter(|&&c| !own.contains(&(c as usize))) {
            let rank = ends.partition_point(|&end| end <= column as usize);
            let neighbor = neighbors.entry(rank).or_insert_with(|| Neighbor {
                rank,
                sent: Vec::new(),
                received: Vec::new(),
            });
            neighbor.sent.push(row as u32);
            neighbor.received.push(column);
        }
    }
    for list in neighbors.values_mut().flat_map(|n| [&mut n.sent, &mut n.received]) {
        list.sort_unstable();
        list.dedup();
    }
    let n_points = pattern.n_rows();
    (own, Halo { own: 0..n_points, n_points, neighbors: neighbors.into_values().collect() })
}

/// How ranks split the product of a matrix that all of them have: a range of rows each.
pub struct Split<'a, B: Backend> {
    sharing: Arc<dyn Sharing<B> + 'a>,
    own: Range<usize>,
    /// How many rows each has, where all need all of them.
    counts: Option<Vec<usize>>,
}

impl<'a, B: Backend> Split<'a, B> {
    /// Of vectors of `space`; none where there are no other ranks, or too few unknowns.
    pub fn new(sharing: Option<&Arc<dyn Sharing<B> + 'a>>, space: Space) -> Option<Self> {
        let sharing = sharing.filter(|sharing| space.len() >= sharing.least_split())?.clone();
        let (rank, size) = (sharing.communicator().rank(), sharing.communicator().size());
        let end = |rank: usize| space.points * rank / size;
        let counts = (0..size).map(|rank| end(rank + 1) - end(rank)).collect();
        Some(Self { sharing, own: end(rank)..end(rank + 1), counts: Some(counts) })
    }

    /// Of a level that ranks divide.
    pub fn of(level: &Divided<'a, B>) -> Self {
        Self { sharing: level.sharing.clone(), own: level.own(), counts: None }
    }

    /// The rows that this rank makes.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// Adds the rows that other ranks make to a product, as far as they are needed.
    pub fn complete(&self, y: &mut B::Vector) {
        match &self.counts {
            Some(counts) => self.sharing.share(counts, y),
            None => self.sharing.refresh_level(y),
        }
    }
}

/// An operator of a part whose products hold the values of ghosts, too.
pub struct Refreshed<'a, B, O: ?Sized> {
    /// What computes them at own nodes.
    pub operator: Box<O>,
    /// Where those of ghosts come from.
    pub sharing: Arc<dyn Sharing<B> + 'a>,
}

impl<B: Backend, O: LinearOperator<B> + ?Sized> LinearOperator<B> for Refreshed<'_, B, O> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &B::Vector, y: &mut B::Vector) {
        self.operator.apply(x, y);
        self.sharing.refresh(y);
    }

    fn cost(&self) -> Cost {
        self.operator.cost()
    }
}

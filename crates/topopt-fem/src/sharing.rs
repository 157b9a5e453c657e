//! What ranks do together within a hierarchy whose finest level each has on its part.

use std::ops::Range;
use std::sync::Arc;

use topopt_linalg::{Backend, BackendError, Communicator, Cost, Exchange, LinearOperator, Space};
use topopt_mesh::Part;

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

    /// From how many unknowns on ranks split the products of a level that all of them have.
    fn least_split(&self) -> usize;
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
        Ok(Arc::new(Self { backend, communicator, part, nodes, blocks, least_split }))
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
}

/// How ranks split the product of a matrix that all of them have: a range of rows each.
pub struct Split<'a, B: Backend> {
    sharing: Arc<dyn Sharing<B> + 'a>,
    counts: Vec<usize>,
    own: Range<usize>,
}

impl<'a, B: Backend> Split<'a, B> {
    /// Of vectors of `space`; none where there are no other ranks, or too few unknowns.
    pub fn new(sharing: Option<&Arc<dyn Sharing<B> + 'a>>, space: Space) -> Option<Self> {
        let sharing = sharing.filter(|sharing| space.len() >= sharing.least_split())?.clone();
        let (rank, size) = (sharing.communicator().rank(), sharing.communicator().size());
        let end = |rank: usize| space.points * rank / size;
        let counts = (0..size).map(|rank| end(rank + 1) - end(rank)).collect();
        Some(Self { sharing, counts, own: end(rank)..end(rank + 1) })
    }

    /// The rows that this rank makes.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// Adds the rows that other ranks make to a product.
    pub fn complete(&self, y: &mut B::Vector) {
        self.sharing.share(&self.counts, y);
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

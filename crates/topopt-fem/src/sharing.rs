//! What ranks do together within a hierarchy whose finest level each has on its part.

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
}

/// The other ranks by what crosses between them.
pub struct PartSharing<'a, B: Backend, C: Exchange<B>> {
    backend: &'a B,
    communicator: &'a C,
    part: &'a Part,
    nodes: C::Lists,
    blocks: C::Lists,
}

impl<'a, B: Backend + Sync, C: Exchange<B>> PartSharing<'a, B, C> {
    /// For so many unknowns per node.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn of(
        backend: &'a B,
        communicator: &'a C,
        part: &'a Part,
        unknowns: usize,
    ) -> Result<Arc<dyn Sharing<B> + 'a>, BackendError>
    where
        C::Lists: 'a,
    {
        let lists = |unknowns| communicator.lists(backend, &node_halo(part), unknowns);
        let (nodes, blocks) = (lists(unknowns)?, lists(unknowns * (unknowns + 1) / 2)?);
        Ok(Arc::new(Self { backend, communicator, part, nodes, blocks }))
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

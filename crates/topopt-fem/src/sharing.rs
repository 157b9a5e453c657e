//! Exchange between ranks within a hierarchy whose finest level each rank has on its part.

use std::ops::Range;
use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, Communicator, Cost, Exchange, Growth, Halo, InverseDiagonal,
    LinearOperator, Residual, Space,
};
use topopt_mesh::Part;

use crate::distributed::node_halo;
use crate::{Aggregation, SharedLevel};

/// The other ranks, as a hierarchy on a part knows them. Its vectors of nodal values are of the
/// part, and ghosts have the values that they have on their ranks: what is made node by node of
/// such vectors is such a vector again, and only what elements make needs a [`Sharing::refresh`].
pub trait Sharing<'a, B: Backend>: Send + Sync {
    /// The part.
    fn part(&self) -> &Part;

    /// The ranks.
    fn communicator(&self) -> &dyn Communicator;

    /// Writes the values of ghosts, which come from their ranks, to a nodal vector of the part.
    fn refresh(&self, x: &mut B::Vector);

    /// Writes the symmetric blocks of ghosts, N (N + 1) / 2 numbers per node.
    fn refresh_blocks(&self, blocks: &mut B::Vector);

    /// out = x^T y of nodal vectors over all ranks, where each adds what its ghosts have as well:
    /// for norms that are compared with one another.
    fn dot_into(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar);

    /// Gives every rank all of a vector of a level, whose points the ranks hold in turn, `counts` each.
    fn share(&self, counts: &[usize], level: &mut B::Vector);

    /// Whether a device can record what it does, to be replayed.
    fn is_recorded(&self) -> bool;

    /// Least number of unknowns of a level below the finest that ranks divide.
    fn least_divided(&self) -> usize;

    /// Prepares to exchange rows of a level by `halo`: so many numbers per row of its vectors, and
    /// of what else there is per row.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn divide(
        &self,
        halo: &Halo,
        numbers: [usize; 2],
    ) -> Result<Box<dyn Divided<B> + 'a>, BackendError>;
}

/// A level below the finest: each rank has its own rows, and ghosts beside them. What is made
/// row by row of its vectors is such a vector again, as on the finest level.
pub trait Divided<B: Backend>: Send + Sync {
    /// The own rows among those that are here.
    fn own(&self) -> Range<usize>;

    /// Writes the values of ghosts, which come from their ranks.
    fn refresh(&self, x: &mut B::Vector);

    /// Writes what else there is per row, for ghosts: their blocks on the diagonal.
    fn refresh_blocks(&self, blocks: &mut B::Vector);

    /// out = x^T y over all ranks.
    fn dot_into(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar);
}

/// Unknowns of a level below which an exchange takes longer than its product.
const LEAST_DIVIDED: usize = 100_000;

/// The other ranks by what crosses between them.
pub struct PartSharing<'a, B: Backend, C: Exchange<B>> {
    backend: &'a B,
    communicator: &'a C,
    part: &'a Part,
    nodes: C::Lists,
    blocks: C::Lists,
    /// Entries of a nodal vector.
    n_entries: usize,
    least_divided: usize,
}

impl<'a, B: Backend + Sync, C: Exchange<B>> PartSharing<'a, B, C>
where
    C::Lists: 'a,
{
    /// Prepares to share nodal vectors of `part`, with `unknowns` per node.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn of(
        backend: &'a B,
        communicator: &'a C,
        part: &'a Part,
        unknowns: usize,
    ) -> Result<Arc<dyn Sharing<'a, B> + 'a>, BackendError> {
        Self::dividing(LEAST_DIVIDED, backend, communicator, part, unknowns)
    }

    /// Builds a sharing that divides levels of `least_divided` unknowns and more.
    ///
    /// # Errors
    /// As [`PartSharing::of`].
    pub fn dividing(
        least_divided: usize,
        backend: &'a B,
        communicator: &'a C,
        part: &'a Part,
        unknowns: usize,
    ) -> Result<Arc<dyn Sharing<'a, B> + 'a>, BackendError> {
        let lists = |unknowns| communicator.lists(backend, &node_halo(part), unknowns);
        let (nodes, blocks) = (lists(unknowns)?, lists(unknowns * (unknowns + 1) / 2)?);
        let n_entries = unknowns * part.mesh.n_nodes();
        Ok(Arc::new(Self { backend, communicator, part, nodes, blocks, n_entries, least_divided }))
    }
}

impl<'a, B: Backend + Sync, C: Exchange<B>> Sharing<'a, B> for PartSharing<'a, B, C>
where
    C::Lists: 'a,
{
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

    fn dot_into(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar) {
        self.communicator.dot_own(self.backend, 0..self.n_entries, x, y, out);
    }

    fn share(&self, counts: &[usize], level: &mut B::Vector) {
        self.communicator.share(self.backend, counts, level);
    }

    fn is_recorded(&self) -> bool {
        self.communicator.is_recorded()
    }

    fn least_divided(&self) -> usize {
        self.least_divided
    }

    fn divide(
        &self,
        halo: &Halo,
        numbers: [usize; 2],
    ) -> Result<Box<dyn Divided<B> + 'a>, BackendError> {
        // Entries side by side, as vectors of a level have them on every backend.
        let Self { backend, communicator, .. } = *self;
        let lists = |numbers| communicator.lists(backend, &halo.of_entries(numbers), 1);
        let (values, blocks) = (lists(numbers[0])?, lists(numbers[1])?);
        let (own, unknowns) = (halo.own.clone(), numbers[0]);
        Ok(Box::new(DividedLevel { backend, communicator, own, unknowns, values, blocks }))
    }
}

/// A level that ranks divide, by what crosses between them.
struct DividedLevel<'a, B: Backend, C: Exchange<B>> {
    backend: &'a B,
    communicator: &'a C,
    own: Range<usize>,
    unknowns: usize,
    values: C::Lists,
    blocks: C::Lists,
}

impl<B: Backend + Sync, C: Exchange<B>> Divided<B> for DividedLevel<'_, B, C> {
    fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    fn refresh(&self, x: &mut B::Vector) {
        self.communicator.refresh(self.backend, &self.values, x);
    }

    fn refresh_blocks(&self, blocks: &mut B::Vector) {
        self.communicator.refresh(self.backend, &self.blocks, blocks);
    }

    fn dot_into(&self, x: &B::Vector, y: &B::Vector, out: &mut B::Scalar) {
        let entries = self.unknowns * self.own.start..self.unknowns * self.own.end;
        self.communicator.dot_own(self.backend, entries, x, y, out);
    }
}

/// How ranks share a level below the finest; each makes its own rows.
pub enum Shared<'a, B: Backend> {
    /// Each has its own rows and ghosts.
    Divided(Box<dyn Divided<B> + 'a>),
    /// Each has all rows, and makes the next `counts` of them.
    Whole {
        /// The other ranks.
        sharing: Arc<dyn Sharing<'a, B> + 'a>,
        /// Rows by rank.
        counts: Vec<usize>,
    },
}

impl<'a, B: Backend> Shared<'a, B> {
    /// The levels of `structure` that are shared, the first below the finest first, with so many
    /// numbers per row of what their smoothers have per row; none where there are no other ranks.
    /// Lower levels are whole on every rank.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn levels(
        sharing: Option<&Arc<dyn Sharing<'a, B> + 'a>>,
        structure: &Aggregation,
        of_block: usize,
    ) -> Result<Vec<Arc<Self>>, BackendError> {
        let Some(sharing) = sharing else { return Ok(Vec::new()) };
        let levels = structure.shared.iter().map(|level| {
            Ok(Arc::new(match level {
                SharedLevel::Divided(halo) => {
                    Self::Divided(sharing.divide(halo, [structure.modes(), of_block])?)
                }
                SharedLevel::Whole(counts) => {
                    Self::Whole { sharing: sharing.clone(), counts: counts.clone() }
                }
            }))
        });
        levels.collect()
    }

    /// The level, if it is shared and each rank has its own rows alone.
    pub fn divided_of(shared: Option<&Arc<Self>>) -> Option<&dyn Divided<B>> {
        match shared?.as_ref() {
            Self::Divided(level) => Some(level.as_ref()),
            Self::Whole { .. } => None,
        }
    }

    /// Returns level `level` of the hierarchy (0 is the finest), if it is in `shared` and divided.
    pub fn divided_level(shared: &[Arc<Self>], level: usize) -> Option<&dyn Divided<B>> {
        Self::divided_of(level.checked_sub(1).and_then(|level| shared.get(level)))
    }

    /// The rows that this rank makes of a product, of `n_rows` that are here.
    pub fn own_rows(shared: Option<&Arc<Self>>, n_rows: usize) -> Range<usize> {
        Self::divided_of(shared).map_or(0..n_rows, |level| level.own())
    }

    /// Adds the rows that other ranks have restricted to a vector.
    pub fn complete(&self, x: &mut B::Vector) {
        match self {
            Self::Divided(level) => level.refresh(x),
            Self::Whole { sharing, counts } => sharing.share(counts, x),
        }
    }
}

/// Operator or smoother whose products hold the values of ghosts as well, where ranks share nodes.
pub struct Refreshed<'a, B, O> {
    /// The operator, exact at own nodes only.
    pub operator: O,
    /// The other ranks, if there are any.
    pub others: Option<Arc<dyn Sharing<'a, B> + 'a>>,
}

impl<B: Backend, O: LinearOperator<B>> LinearOperator<B> for Refreshed<'_, B, O> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &B::Vector, y: &mut B::Vector) {
        self.operator.apply(x, y);
        if let Some(others) = &self.others {
            others.refresh(y);
        }
    }

    fn cost(&self) -> Cost {
        self.operator.cost()
    }
}

impl<B: Backend, I: InverseDiagonal<B>> InverseDiagonal<B> for Refreshed<'_, B, I> {
    fn smooth(
        &self,
        residual: Residual<B::Vector>,
        factors: [f64; 2],
        growth: &Growth<B::Scalar>,
        r: &mut B::Vector,
        d: &mut B::Vector,
        x: &mut B::Vector,
    ) {
        self.operator.smooth(residual, factors, growth, r, d, x);
        if let Some(others) = &self.others {
            others.refresh(d);
            others.refresh(x);
        }
    }
}

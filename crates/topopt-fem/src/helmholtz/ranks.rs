//! The equation of the filter on several ranks.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, Exchange, LinearOperator, Preconditioner, RankVector, Ranks, Space,
};
use topopt_mesh::Part;

use super::{ElementMeans, FilterEquation, Helmholtz, conductivities};
use crate::distributed::{PartVectors, Work, element_halo, node_halo};
use crate::{Distributed, DistributedPreconditioner, ElementOperator, ElementPreconditioner};

/// The equation as one rank has it, on its part.
pub struct RankEquation<'a, B: Backend, C: Exchange<B>> {
    ranks: &'a Ranks<B, C>,
    means: Box<dyn ElementMeans<B> + 'a>,
    n_elements: usize,
    operator: Distributed<'a, B, C, dyn ElementOperator<B> + 'a>,
    preconditioner: DistributedPreconditioner<'a, B, C, dyn ElementPreconditioner<B> + 'a>,
    elements: C::Lists,
    nodes: C::Lists,
    vectors: Arc<PartVectors<B>>,
}

/// Diffusion on a part without a held node, as the filter needs it.
pub struct PartOfFilter<'a, B: Backend> {
    /// A, twice: to be solved, and for the preconditioner to follow.
    pub operators: [Box<dyn ElementOperator<B> + 'a>; 2],
    /// Preconditioner of A; no solve may strengthen it, or a resumed run would differ in its bits.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// From elements to nodes and back.
    pub means: Box<dyn ElementMeans<B> + 'a>,
}

impl<'a, B, C> Helmholtz<'a, Ranks<B, C>, RankEquation<'a, B, C>>
where
    B: Backend + Sync,
    C: Exchange<B>,
{
    /// For the radius R of a cone that blurs as much, on `part` of a mesh with so many nodes and elements.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed or the device has no room.
    pub fn on_ranks(
        ranks: &'a Ranks<B, C>,
        part: &'a Part,
        filter: PartOfFilter<'a, B>,
        radius: f64,
        [n_nodes, n_elements]: [usize; 2],
    ) -> Result<Self, BackendError> {
        let (backend, communicator) = (ranks.inner(), ranks.communicator());
        let PartOfFilter { operators: [operator, followed], preconditioner, means } = filter;
        let vectors = PartVectors::new(backend, part, 1, 2)?;
        let mut operator = Distributed::new(ranks, part, operator, &vectors, n_nodes)?;
        let mut preconditioner =
            DistributedPreconditioner::new(ranks, part, preconditioner, followed, &vectors)?;

        // Own elements come first in a part.
        let own = conductivities(&part.mesh, radius)[..part.n_own_elements].to_vec();
        let conductivity = ranks.of_own(&own, Space::elements(n_elements))?;
        let mut capacity = ranks.zeros(Space::elements(n_elements))?;
        ranks.fill(1.0, &mut capacity);
        let terms = [&conductivity, &capacity];
        operator.set_coefficients(&terms);
        preconditioner.update(ranks, &operator, &terms)?;

        let equation = RankEquation {
            ranks,
            means,
            n_elements,
            operator,
            preconditioner,
            elements: communicator.lists(backend, &element_halo(part), 1)?,
            nodes: communicator.lists(backend, &node_halo(part), 1)?,
            vectors,
        };
        Self::solving(ranks, equation)
    }
}

impl<B, C> FilterEquation<Ranks<B, C>> for RankEquation<'_, B, C>
where
    B: Backend + Sync,
    C: Exchange<B>,
{
    fn operator(&self) -> &dyn LinearOperator<Ranks<B, C>> {
        &self.operator
    }

    fn preconditioner(&self) -> &dyn Preconditioner<Ranks<B, C>> {
        &self.preconditioner
    }

    fn n_elements(&self) -> usize {
        self.n_elements
    }

    /// All elements around own nodes are in the part.
    fn spread(&self, x: &RankVector<B::Vector>, source: &mut RankVector<B::Vector>) {
        let (backend, communicator) = (self.ranks.inner(), self.ranks.communicator());
        let Work { of_elements, nodal } = &mut *self.vectors.lock();
        let (of_elements, of_nodes) = (&mut of_elements[0], &mut nodal[0]);
        communicator.expand(backend, &self.elements, x.own(), of_elements);
        self.means.spread(of_elements, of_nodes);
        communicator.contract(backend, &self.nodes, of_nodes, source.own_mut());
    }

    fn average(&self, field: &RankVector<B::Vector>, y: &mut RankVector<B::Vector>) {
        let (backend, communicator) = (self.ranks.inner(), self.ranks.communicator());
        let Work { of_elements, nodal } = &mut *self.vectors.lock();
        let (of_elements, of_nodes) = (&mut of_elements[0], &mut nodal[0]);
        communicator.expand(backend, &self.nodes, field.own(), of_nodes);
        self.means.average(of_nodes, of_elements);
        communicator.contract(backend, &self.elements, of_elements, y.own_mut());
    }
}

//! The equation of the filter on several ranks.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, Cpu, CycleKind, Exchange, LinearOperator, Preconditioner, RankVector,
    Ranks, Space,
};
use topopt_mesh::Part;

use super::{CpuMeans, ElementMeans, FilterEquation, Helmholtz};
use crate::distributed::{PartVectors, Work};
use crate::{
    Diffusion, Discretization, Distributed, DistributedPreconditioner, ElementOperator,
    ElementPreconditioner, Multigrid, Sharing, Strategy,
};

/// The equation as one rank has it, on its part.
pub struct RankEquation<'a, B: Backend, C: Exchange<B>> {
    means: Box<dyn ElementMeans<B> + 'a>,
    n_elements: usize,
    operator: Distributed<'a, B, C, dyn ElementOperator<B> + 'a>,
    preconditioner: DistributedPreconditioner<'a, B, C, dyn ElementPreconditioner<B> + 'a>,
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

impl<'a> PartOfFilter<'a, Cpu> {
    /// Builds the filter's parts for `local`, its diffusion on a part, which is shared with the
    /// `others`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_cpu(
        local: &'a Discretization<Diffusion, 1>,
        others: Arc<dyn Sharing<'a, Cpu> + 'a>,
    ) -> Result<Self, BackendError> {
        let multigrid = Multigrid::<_, 1, 1>::on_part(local, CycleKind::K, others)?.steady();
        Ok(Self {
            operators: [Strategy::Bsr, Strategy::Mf].map(|strategy| strategy.build(local)),
            preconditioner: Box::new(multigrid),
            means: Box::new(CpuMeans::new(local.mesh())),
        })
    }
}

impl<'a, B, C> Helmholtz<'a, Ranks<B, C>, RankEquation<'a, B, C>>
where
    B: Backend + Sync,
    C: Exchange<B>,
{
    /// The filter on `part` of a mesh with nodes and elements in these spaces, that of
    /// [linear](Part::linear) tetrahedra if it is of tetrahedra, with its coefficients.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed or the device has no room.
    pub fn on_ranks(
        ranks: &'a Ranks<B, C>,
        part: &'a Part,
        filter: PartOfFilter<'a, B>,
        coefficients: &[Vec<f64>; 2],
        [nodes, elements]: [Space; 2],
    ) -> Result<Self, BackendError> {
        let PartOfFilter { operators: [operator, followed], preconditioner, means } = filter;
        let vectors = PartVectors::new(ranks.inner(), part, 1, 2)?;
        let mut operator = Distributed::between(ranks, part, operator, &vectors, nodes)?;
        let mut preconditioner =
            DistributedPreconditioner::new(ranks, part, preconditioner, followed, &vectors)?;

        // Own elements come first in a part.
        let own = |values: &[f64]| ranks.of_own(&values[..part.n_own_elements], elements);
        let terms = [&own(&coefficients[0])?, &own(&coefficients[1])?];
        operator.set_coefficients(&terms);
        preconditioner.update(ranks, &operator, &terms)?;

        Self::solving(
            ranks,
            RankEquation { means, n_elements: elements.points, operator, preconditioner },
        )
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

    fn means(&self) -> &dyn ElementMeans<Ranks<B, C>> {
        self
    }
}

impl<B, C> ElementMeans<Ranks<B, C>> for RankEquation<'_, B, C>
where
    B: Backend + Sync,
    C: Exchange<B>,
{
    /// All elements around own nodes are in the part.
    fn spread(&self, x: &RankVector<B::Vector>, source: &mut RankVector<B::Vector>) {
        let exchange = &self.operator.exchange;
        let Work { of_elements, nodal } = &mut *exchange.lock();
        exchange.expand_elements(x, &mut of_elements[0]);
        self.means.spread(&of_elements[0], &mut nodal[0]);
        exchange.contract_nodes(&nodal[0], source);
    }

    fn average(&self, field: &RankVector<B::Vector>, y: &mut RankVector<B::Vector>) {
        let exchange = &self.operator.exchange;
        let Work { of_elements, nodal } = &mut *exchange.lock();
        exchange.expand_nodes(field, &mut nodal[0]);
        self.means.average(&nodal[0], &mut of_elements[0]);
        exchange.contract_elements(&of_elements[0], y);
    }
}

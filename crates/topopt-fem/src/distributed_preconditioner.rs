//! Preconditioners of several ranks: each has one of its part.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, CycleKind, Exchange, Preconditioner, RankVector, Ranks,
};
use topopt_mesh::Part;

use crate::distributed::{PartExchange, PartVectors};
use crate::{ElementOperator, ElementPreconditioner, Level};

/// Preconditioner divided among ranks, one per part, on vectors that hold the values of ghosts as
/// well: blocks of nodes, or a hierarchy that [shares](crate::Sharing) what is coarse.
pub struct DistributedPreconditioner<'a, B: Backend, C: Exchange<B>, P: ?Sized> {
    part: &'a Part,
    preconditioner: Box<P>,
    /// Operator of the part that the preconditioner follows.
    operator: Box<dyn ElementOperator<B> + 'a>,
    exchange: PartExchange<'a, B, C>,
}

impl<'a, B: Backend, C: Exchange<B>, P: ElementPreconditioner<B> + ?Sized>
    DistributedPreconditioner<'a, B, C, P>
{
    /// `preconditioner` of `part`, which works on its `vectors`, and an operator for it to follow; needs an
    /// update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        ranks: &'a Ranks<B, C>,
        part: &'a Part,
        preconditioner: Box<P>,
        operator: Box<dyn ElementOperator<B> + 'a>,
        vectors: &Arc<PartVectors<B>>,
    ) -> Result<Self, BackendError> {
        let exchange = PartExchange::new(ranks, part, operator.space().unknowns, vectors)?;
        Ok(Self { part, preconditioner, operator, exchange })
    }
}

impl<B, C, P> Preconditioner<Ranks<B, C>> for DistributedPreconditioner<'_, B, C, P>
where
    B: Backend + Sync,
    C: Exchange<B>,
    P: ElementPreconditioner<B> + ?Sized,
{
    fn name(&self) -> &'static str {
        self.preconditioner.name()
    }

    fn is_linear(&self) -> bool {
        self.preconditioner.is_linear()
    }

    fn check_interval(&self, ranks: &Ranks<B, C>) -> usize {
        self.preconditioner.check_interval(ranks.inner())
    }

    fn apply(&self, _: &Ranks<B, C>, r: &RankVector<B::Vector>, z: &mut RankVector<B::Vector>) {
        let Self { preconditioner, exchange, .. } = self;
        let [residual, image] = &mut exchange.lock().nodal;
        exchange.expand_nodes(r, residual);
        preconditioner.apply(exchange.ranks.inner(), residual, image);
        exchange.contract_nodes(image, z);
    }

    fn strengthen(&self) -> bool {
        self.preconditioner.strengthen()
    }

    fn give_way(&self) -> bool {
        self.preconditioner.give_way()
    }
}

impl<B, C, P> ElementPreconditioner<Ranks<B, C>> for DistributedPreconditioner<'_, B, C, P>
where
    B: Backend + Sync,
    C: Exchange<B>,
    P: ElementPreconditioner<B> + ?Sized,
{
    fn cycle(&self) -> Option<CycleKind> {
        self.preconditioner.cycle()
    }

    fn levels(&self) -> Vec<Level> {
        self.preconditioner.levels()
    }

    fn structure_cost(&self) -> Option<usize> {
        self.preconditioner.structure_cost()
    }

    fn restructure(&mut self, _: &Ranks<B, C>, void: &[u32]) -> Result<(), BackendError> {
        let here = |(local, e): (u32, &u32)| void.binary_search(e).is_ok().then_some(local);
        let void: Vec<u32> = (0..).zip(&self.part.elements).filter_map(here).collect();
        self.preconditioner.restructure(self.exchange.ranks.inner(), &void)
    }

    fn update(
        &mut self,
        _: &Ranks<B, C>,
        _: &dyn ElementOperator<Ranks<B, C>>,
        coefficients: &[&RankVector<B::Vector>],
    ) -> Result<(), BackendError> {
        let Self { preconditioner, operator, exchange, .. } = self;
        let parts = &mut exchange.lock().of_elements;
        coefficients
            .iter()
            .zip(&mut *parts)
            .for_each(|(c, part)| exchange.expand_elements(c, part));
        let coefficients: Vec<&B::Vector> = parts.iter().collect();
        operator.set_coefficients(&coefficients);
        preconditioner.update(exchange.ranks.inner(), operator.as_ref(), &coefficients)?;
        exchange.ranks.communicator().check()
    }
}

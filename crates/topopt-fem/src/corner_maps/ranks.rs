//! The maps on several ranks: each computes the values of its own elements and nodes.

use topopt_linalg::{Backend, BackendError, Exchange, RankVector, Ranks};
use topopt_mesh::Part;

use super::{Components, CornerMaps};
use crate::DIM;
use crate::distributed::{PartExchange, PartVectors, Work};

/// The maps of a mesh in parts, by those of the part of this rank.
pub struct RankCorners<'a, B: Backend, C: Exchange<B>> {
    maps: Box<dyn CornerMaps<B> + 'a>,
    exchange: PartExchange<'a, B, C>,
}

impl<'a, B: Backend, C: Exchange<B>> RankCorners<'a, B, C> {
    /// Combines `maps` of `part` with those of the other ranks.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed or the device has no room.
    pub fn new(
        ranks: &'a Ranks<B, C>,
        part: &Part,
        maps: Box<dyn CornerMaps<B> + 'a>,
    ) -> Result<Self, BackendError> {
        let vectors = PartVectors::new(ranks.inner(), part, 1, DIM)?;
        Ok(Self { maps, exchange: PartExchange::new(ranks, part, 1, &vectors)? })
    }

    /// Calls `work` with a nodal vector and three of elements, of the part.
    fn with_parts<R>(
        &self,
        work: impl FnOnce(&mut B::Vector, &mut Components<B::Vector>) -> R,
    ) -> R {
        let Work { nodal: [nodal, _], of_elements } = &mut *self.exchange.lock();
        let components = <&mut Components<B::Vector>>::try_from(of_elements.as_mut_slice());
        work(nodal, components.expect("there is a vector per component"))
    }
}

/// All elements around own nodes are in the part, and all nodes of own elements.
impl<B, C> CornerMaps<Ranks<B, C>> for RankCorners<'_, B, C>
where
    B: Backend + Sync,
    C: Exchange<B>,
{
    fn sum(&self, x: &RankVector<B::Vector>, y: &mut RankVector<B::Vector>) {
        self.with_parts(|nodal, [elements, ..]| {
            self.exchange.expand_elements(x, elements);
            self.maps.sum(elements, nodal);
            self.exchange.contract_nodes(nodal, y);
        });
    }

    fn sum_transpose(&self, y: &RankVector<B::Vector>, x: &mut RankVector<B::Vector>) {
        self.with_parts(|nodal, [elements, ..]| {
            self.exchange.expand_nodes(y, nodal);
            self.maps.sum_transpose(nodal, elements);
            self.exchange.contract_elements(elements, x);
        });
    }

    fn gradient(&self, y: &RankVector<B::Vector>, g: &mut Components<RankVector<B::Vector>>) {
        self.with_parts(|nodal, components| {
            self.exchange.expand_nodes(y, nodal);
            self.maps.gradient(nodal, components);
            for (component, g) in components.iter().zip(g) {
                self.exchange.contract_elements(component, g);
            }
        });
    }

    fn gradient_transpose(
        &self,
        g: &mut Components<RankVector<B::Vector>>,
        y: &mut RankVector<B::Vector>,
    ) {
        self.with_parts(|nodal, components| {
            for (component, g) in components.iter_mut().zip(g) {
                self.exchange.expand_elements(g, component);
            }
            self.maps.gradient_transpose(components, nodal);
            self.exchange.contract_nodes(nodal, y);
        });
    }
}

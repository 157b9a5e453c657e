//! Operators of several ranks: each computes the rows of its own nodes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use topopt_linalg::{
    Backend, BackendError, Cost, Exchange, Halo, LinearOperator, Neighbor, RankVector, Ranks,
    Share, Shares, Space,
};
use topopt_mesh::{Neighborhood, Part, Partition};

use crate::ElementOperator;

/// Operator divided among ranks, each with the elements around its own nodes: what `operator`, of
/// its part, gives at own nodes is complete. An application takes one exchange of x and no sum over
/// ranks, so that a product is the same bits for any number of ranks where `operator` sums the
/// elements of a node one after the other.
pub struct Distributed<'a, B: Backend, C: Exchange<B>, O: ?Sized> {
    operator: Box<O>,
    space: Space,
    pub(crate) exchange: PartExchange<'a, B, C>,
}

/// Vectors of a part, ghosts included, for what works on it one after the other: the operator and
/// the preconditioner of a rank share them, as nothing stays in them.
pub struct PartVectors<B: Backend>(Mutex<Work<B>>);

pub(crate) struct Work<B: Backend> {
    pub nodal: [B::Vector; 2],
    /// Coefficients by term; the first also takes results per element.
    pub of_elements: Vec<B::Vector>,
}

impl<B: Backend> PartVectors<B> {
    /// The operator on `part`, for a number of unknowns per node and of coefficients per element.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        part: &Part,
        unknowns: usize,
        terms: usize,
    ) -> Result<Arc<Self>, BackendError> {
        let nodal = || backend.zeros(Space::nodes(part.nodes.len(), unknowns));
        let element = |_| backend.zeros(Space::elements(part.elements.len()));
        let of_elements = (0..terms).map(element).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self(Mutex::new(Work { nodal: [nodal()?, nodal()?], of_elements }))))
    }
}

/// Exchange between vectors of ranks and those of a part, ghosts included.
pub(crate) struct PartExchange<'a, B: Backend, C: Exchange<B>> {
    pub ranks: &'a Ranks<B, C>,
    nodes: C::Lists,
    elements: C::Lists,
    vectors: Arc<PartVectors<B>>,
}

impl<'a, B: Backend, C: Exchange<B>> PartExchange<'a, B, C> {
    pub fn new(
        ranks: &'a Ranks<B, C>,
        part: &Part,
        unknowns: usize,
        vectors: &Arc<PartVectors<B>>,
    ) -> Result<Self, BackendError> {
        let lists = |halo: &Halo, numbers| ranks.communicator().lists(ranks.inner(), halo, numbers);
        let nodes = lists(&node_halo(part), unknowns)?;
        let elements = lists(&element_halo(part), 1)?;
        Ok(Self { ranks, nodes, elements, vectors: vectors.clone() })
    }

    pub fn lock(&self) -> MutexGuard<'_, Work<B>> {
        self.vectors.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn expand_nodes(&self, x: &RankVector<B::Vector>, part: &mut B::Vector) {
        self.ranks.communicator().expand(self.ranks.inner(), &self.nodes, x.own(), part);
    }

    pub fn contract_nodes(&self, part: &B::Vector, y: &mut RankVector<B::Vector>) {
        self.ranks.communicator().contract(self.ranks.inner(), &self.nodes, part, y.own_mut());
    }

    pub fn expand_elements(&self, x: &RankVector<B::Vector>, part: &mut B::Vector) {
        self.ranks.communicator().expand(self.ranks.inner(), &self.elements, x.own(), part);
    }

    pub fn contract_elements(&self, part: &B::Vector, y: &mut RankVector<B::Vector>) {
        self.ranks.communicator().contract(self.ranks.inner(), &self.elements, part, y.own_mut());
    }
}

/// How a mesh in parts is shared among ranks.
pub(crate) fn shares(partition: &Partition) -> Shares {
    let elements = (0..partition.n_parts()).map(|part| partition.elements(part).len());
    let nodes = Share::by(partition.node_counts().to_vec(), partition.node_order());
    Shares::new(Share::in_order(elements.collect()), nodes)
}

/// How the nodes of a part are exchanged.
pub fn node_halo(part: &Part) -> Halo {
    halo(part, part.nodes.len(), part.n_own_nodes, |neighbor| {
        (&neighbor.sent_nodes, &neighbor.received_nodes)
    })
}

/// How the elements of a part are exchanged.
pub fn element_halo(part: &Part) -> Halo {
    halo(part, part.elements.len(), part.n_own_elements, |neighbor| {
        (&neighbor.sent_elements, &neighbor.received_elements)
    })
}

fn halo(
    part: &Part,
    n_points: usize,
    n_own: usize,
    lists: impl Fn(&Neighborhood) -> (&Vec<u32>, &Vec<u32>),
) -> Halo {
    let neighbor = |neighbor: &Neighborhood| {
        let (sent, received) = lists(neighbor);
        Neighbor { rank: neighbor.part, sent: sent.clone(), received: received.clone() }
    };
    Halo { own: 0..n_own, n_points, neighbors: part.neighbors.iter().map(neighbor).collect() }
}

impl<'a, B: Backend, C: Exchange<B>, O: ElementOperator<B> + ?Sized> Distributed<'a, B, C, O> {
    /// `operator` of `part`, which works on its `vectors`, as that of a mesh with `n_nodes` nodes in all.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        ranks: &'a Ranks<B, C>,
        part: &Part,
        operator: Box<O>,
        vectors: &Arc<PartVectors<B>>,
        n_nodes: usize,
    ) -> Result<Self, BackendError> {
        let space = Space::nodes(n_nodes, operator.space().unknowns);
        Self::between(ranks, part, operator, vectors, space)
    }

    /// `operator` of `part` as one on vectors of `space`, that of nodes or of vertices.
    ///
    /// # Errors
    /// As [`Distributed::new`].
    pub(crate) fn between(
        ranks: &'a Ranks<B, C>,
        part: &Part,
        operator: Box<O>,
        vectors: &Arc<PartVectors<B>>,
        space: Space,
    ) -> Result<Self, BackendError> {
        let exchange = PartExchange::new(ranks, part, space.unknowns, vectors)?;
        Ok(Self { operator, space, exchange })
    }
}

impl<B, C, O> LinearOperator<Ranks<B, C>> for Distributed<'_, B, C, O>
where
    B: Backend + Sync,
    C: Exchange<B>,
    O: ElementOperator<B> + ?Sized,
{
    fn space(&self) -> Space {
        self.space
    }

    fn apply(&self, x: &RankVector<B::Vector>, y: &mut RankVector<B::Vector>) {
        let [from, to] = &mut self.exchange.lock().nodal;
        self.exchange.expand_nodes(x, from);
        self.operator.apply(from, to);
        self.exchange.contract_nodes(to, y);
    }

    /// Returns the cost on this rank: the product of its part, without the exchange.
    fn cost(&self) -> Cost {
        self.operator.cost()
    }
}

impl<B, C, O> ElementOperator<Ranks<B, C>> for Distributed<'_, B, C, O>
where
    B: Backend + Sync,
    C: Exchange<B>,
    O: ElementOperator<B> + ?Sized,
{
    fn strategy(&self) -> &'static str {
        self.operator.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&RankVector<B::Vector>]) {
        let Self { operator, exchange, .. } = self;
        let coefficients = &mut exchange.lock().of_elements;
        terms
            .iter()
            .zip(&mut *coefficients)
            .for_each(|(term, c)| exchange.expand_elements(term, c));
        operator.set_coefficients(&coefficients.iter().collect::<Vec<_>>());
    }

    fn diagonal(&self, out: &mut RankVector<B::Vector>) {
        let diagonal = &mut self.exchange.lock().nodal[0];
        self.operator.diagonal(diagonal);
        self.exchange.contract_nodes(diagonal, out);
    }

    fn element_work(
        &self,
        term: usize,
        v: &RankVector<B::Vector>,
        u: &RankVector<B::Vector>,
        out: &mut RankVector<B::Vector>,
    ) {
        let Self { operator, exchange, .. } = self;
        let Work { nodal: [of_v, of_u], of_elements } = &mut *exchange.lock();
        exchange.expand_nodes(v, of_v);
        exchange.expand_nodes(u, of_u);
        operator.element_work(term, of_v, of_u, &mut of_elements[0]);
        exchange.contract_elements(&of_elements[0], out);
    }
}

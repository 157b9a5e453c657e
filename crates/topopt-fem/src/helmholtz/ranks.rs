//! The equation of the filter on several ranks on processors.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, Communicator, Cpu, CpuLists, CycleKind, Exchange, LinearOperator,
    Preconditioner, RankVector, Ranks, Space,
};
use topopt_mesh::{NodeToElements, Part};

use super::{FilterEquation, Helmholtz, conductivities, shape_means};
use crate::distributed::{element_halo, node_halo};
use crate::{
    Diffusion, Discretization, Distributed, ElementOperator, ElementPreconditioner, RankMultigrid,
    Strategy,
};

/// The equation as one rank has it: A is assembled on its part.
pub struct RankEquation<'a, C: Communicator> {
    ranks: &'a Ranks<Cpu, C>,
    part: &'a Part,
    adjacency: NodeToElements,
    /// Of the elements of the part.
    means: Vec<[f64; 8]>,
    n_elements: usize,
    operator: Distributed<'a, Cpu, C, dyn ElementOperator<Cpu> + 'a>,
    multigrid: RankMultigrid<'a, C, Diffusion, 1, 1>,
    elements: CpuLists,
    nodes: CpuLists,
    /// Values of the elements and of the nodes of the part.
    work: Mutex<[Vec<f64>; 2]>,
}

impl<'a, C: Communicator> Helmholtz<'a, Ranks<Cpu, C>, RankEquation<'a, C>> {
    /// For the radius R of a cone that blurs as much; `free` is diffusion on `part`, of which nothing
    /// is held, of a mesh with so many nodes and elements.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn on_ranks(
        ranks: &'a Ranks<Cpu, C>,
        part: &'a Part,
        free: &'a Discretization<Diffusion, 1>,
        radius: f64,
        [n_nodes, n_elements]: [usize; 2],
    ) -> Result<Self, BackendError> {
        let communicator = ranks.communicator();
        let operator = Strategy::Bsr.build(free);
        let mut operator = Distributed::new(ranks, part, operator, 2, n_nodes)?;
        // Steady: a resumed run would have other bits if one application changed the next.
        let mut multigrid = RankMultigrid::new(ranks, part, free, CycleKind::K)?.steady();

        let whole = Space::elements(n_elements);
        let (mut conductivity, mut capacity) = (ranks.zeros(whole)?, ranks.zeros(whole)?);
        let of_part = conductivities(&part.mesh, radius);
        conductivity.own_mut().copy_from_slice(&of_part[..part.n_own_elements]);
        ranks.fill(1.0, &mut capacity);
        let terms = [&conductivity, &capacity];
        operator.set_coefficients(&terms);
        multigrid.update(ranks, &operator, &terms)?;

        let equation = RankEquation {
            ranks,
            part,
            adjacency: NodeToElements::new(&part.mesh),
            means: shape_means(&part.mesh),
            n_elements,
            operator,
            multigrid,
            elements: communicator.lists(&Cpu, &element_halo(part), 1)?,
            nodes: communicator.lists(&Cpu, &node_halo(part), 1)?,
            work: Mutex::new([vec![0.0; part.elements.len()], vec![0.0; part.nodes.len()]]),
        };
        Self::solving(ranks, equation)
    }
}

impl<C: Communicator> FilterEquation<Ranks<Cpu, C>> for RankEquation<'_, C> {
    fn operator(&self) -> &dyn LinearOperator<Ranks<Cpu, C>> {
        &self.operator
    }

    fn preconditioner(&self) -> &dyn Preconditioner<Ranks<Cpu, C>> {
        &self.multigrid
    }

    fn n_elements(&self) -> usize {
        self.n_elements
    }

    fn spread(&self, x: &RankVector<Vec<f64>>, source: &mut RankVector<Vec<f64>>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let values = &mut work[0];
        self.ranks.communicator().expand(&Cpu, &self.elements, x.own(), values);
        let values = &*values;
        let gather = |(node, source): (usize, &mut f64)| {
            let elements = self.adjacency.of(node).map(|(e, a)| (e as usize, a as usize));
            *source = elements.map(|(e, a)| self.means[e][a] * values[e]).sum();
        };
        source.own_mut().par_iter_mut().with_min_len(1024).enumerate().for_each(gather);
    }

    fn average(&self, field: &RankVector<Vec<f64>>, y: &mut RankVector<Vec<f64>>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let values = &mut work[1];
        self.ranks.communicator().expand(&Cpu, &self.nodes, field.own(), values);
        let values = &*values;
        let mean = |(e, y): (usize, &mut f64)| {
            let nodes = self.part.mesh.hexes()[e].iter().zip(&self.means[e]);
            *y = nodes.map(|(&node, mean)| mean * values[node as usize]).sum();
        };
        y.own_mut().par_iter_mut().with_min_len(1024).enumerate().for_each(mean);
    }
}

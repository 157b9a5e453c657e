//! Linear elasticity: its strategies, and the kernels of its elements by their shape.

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, Elasticity, ElementOperator};
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;
use topopt_mesh::cells::Shape;

use super::adjacency::ReverseConnectivity;
use super::bsr::Bsr;
use super::ebe_sym::{self, EbeSym, EbeSymAtomic};
use super::hexahedra::Hexahedra;
use super::laws::ByLaws;
use super::mf::{ElementKernels, MatrixFree, Mf, To};
use super::nbn::Nbn;
use super::product::boxed;
use super::stored::{self, ByElements};
use super::tetrahedra::Tetrahedra;
use super::{Built, DeviceKernel, ProblemOnDevice, Strategy};
use crate::Cuda;
use crate::kernel::Shared;
use crate::kernels::{self, Part};
use crate::multigrid::{Coarsened, RigidBodies};
use crate::vector::{DeviceVector, Real};

impl MatrixFree<DIM> for Elasticity {
    type Elements<R: Real> = Elastic<R>;
}

impl Coarsened<DIM> for Elasticity {
    type Levels<R: Real> = RigidBodies<R>;
}

impl DeviceKernel<DIM> for Elasticity {
    const STRATEGIES: &'static [Strategy] = &Strategy::ALL;

    fn adds_in_order(strategy: Strategy) -> bool {
        use Strategy::{Bsr, Dbd, EbeSym, Mf, Nbn};
        matches!(strategy, Mf | Dbd | Nbn | EbeSym | Bsr)
    }

    fn by_laws(on: &Arc<ProblemOnDevice>, problem: &Discretization) -> Option<Built> {
        let laws = problem.elements().laws()?;
        Some(Mf::new(on, problem).and_then(|plain| boxed(plain, ByLaws::new(on, problem, laws)?)))
    }

    fn stored(
        strategy: Strategy,
        on: &Arc<ProblemOnDevice>,
        problem: &Discretization,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        let plain = Mf::new(on, problem)?;
        let nodes = || NodeToElements::new(problem.mesh());
        match strategy {
            Strategy::Ebe => boxed(plain, ByElements::<kernels::Ebe>::new(on)?),
            Strategy::Ebe8 => boxed(plain, ByElements::<kernels::Ebe8>::new(on)?),
            Strategy::Ebe24 => boxed(plain, ByElements::<kernels::Ebe24>::new(on)?),
            Strategy::Ebe64 => boxed(plain, ByElements::<kernels::Ebe64>::new(on)?),
            Strategy::EbeSym => boxed(plain, EbeSym::new(on, problem, &nodes())?),
            Strategy::EbeSymAtomic => boxed(plain, EbeSymAtomic::new(on)?),
            Strategy::Bsr => boxed(plain, Bsr::new(on, problem, &nodes())?),
            _ => boxed(plain, Nbn::new(on, &nodes())?),
        }
    }

    fn stored_bytes(strategy: Strategy, n_nodes: usize, n_elements: usize) -> usize {
        match strategy {
            Strategy::EbeSym => EbeSym::bytes(n_elements),
            Strategy::EbeSymAtomic => ebe_sym::bytes(n_elements),
            Strategy::Bsr => Bsr::bytes(n_nodes, n_elements),
            Strategy::Nbn => {
                stored::bytes(n_elements) + ReverseConnectivity::bytes(n_nodes, n_elements)
            }
            _ => stored::bytes(n_elements),
        }
    }
}

/// Kernels over elastic elements.
pub enum Elastic<R> {
    /// Hexahedra of eight nodes.
    Hexahedra(Hexahedra<R>),
    /// Tetrahedra of ten nodes.
    Tetrahedra(Tetrahedra<R>),
}

/// Makes one call for elements of either shape.
macro_rules! of_shape {
    ($elastic:expr, $elements:ident => $call:expr) => {
        match $elastic {
            Elastic::Hexahedra($elements) => $call,
            Elastic::Tetrahedra($elements) => $call,
        }
    };
}

impl<R: Real> ElementKernels<Elasticity, R, DIM> for Elastic<R> {
    fn new(on_device: &ProblemOnDevice, problem: &Discretization) -> Result<Self, BackendError> {
        Ok(match problem.mesh().shape() {
            Shape::Tetrahedron => Self::Tetrahedra(Tetrahedra::new(on_device, problem)?),
            _ => Self::Hexahedra(Hexahedra::new(on_device, problem)?),
        })
    }

    /// Block of the dot product of hexahedra, which is the smaller one.
    fn dot_block() -> u32 {
        Hexahedra::<R>::dot_block()
    }

    fn blocks(&self, part: Part, to_slots: bool) -> usize {
        of_shape!(self, elements => elements.blocks(part, to_slots))
    }

    fn products(
        &self,
        mf: &Mf<R>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    ) {
        of_shape!(self, elements => elements.products(mf, part, x, to, partial));
    }

    fn diagonal(
        &self,
        mf: &Mf<R>,
        part: Part,
        coefficients: &[DeviceVector<R>],
        out: &mut DeviceVector<R>,
    ) {
        of_shape!(self, elements => elements.diagonal(mf, part, coefficients, out));
    }

    fn work(
        &self,
        mf: &Mf<R>,
        term: usize,
        fields: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    ) {
        of_shape!(self, elements => elements.work(mf, term, fields, out));
    }

    fn product_cost(&self) -> [f64; 2] {
        of_shape!(self, elements => elements.product_cost())
    }
}

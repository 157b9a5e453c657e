//! `mf`: matrix-free, nothing stored; geometry from the coordinates. Elements add by atomics, or write to
//! slots, as `dbd`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Discretization, Elasticity, ElementOperator};
use topopt_linalg::{Backend, BackendError, Cost, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::ProblemOnDevice;
use super::slots::Slots;
use crate::Cuda;
use crate::assembly::{Assembled, launch};
use crate::kernel::Grid::Threads;
use crate::kernel::Shared;
use crate::kernels::{self, Part};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// The matrix-free operator of a physics on vectors of precision `R`, with all that its problem
/// couples; the rows of held unknowns are those of the identity.
pub struct Mf<R: Real, K: MatrixFree<N> = Elasticity, const N: usize = DIM> {
    problem: Arc<ProblemOnDevice<K, N>>,
    elements: K::Elements<R>,
    supports: kernels::Supports<R>,
    /// Slots of the strategy `dbd`.
    slots: Option<Slots<R>>,
    /// One per term, `[n_elements]`.
    coefficients: Vec<DeviceVector<R>>,
    /// Partial sums of a dot product, one per block of elements.
    partial: CudaSlice<f64>,
}

/// Destination of the products of elements.
pub enum To<'a, R> {
    /// Nodes, to which they are added.
    Nodes(&'a mut DeviceVector<R>),
    /// Slots, one per element and node.
    Slots(Shared<R>),
}

/// Launches one of four products: to nodes or to slots, without or with parts of x . y.
macro_rules! launch_products {
    (
        $kernels:expr, $nodes:ident | $nodes_dot:ident | $slots:ident | $slots_dot:ident,
        ($($argument:expr),*), $to:expr, $partial:expr
    ) => {
        match ($to, $partial) {
            (To::Nodes(y), None) => $kernels.$nodes($($argument,)* y),
            (To::Nodes(y), Some(partial)) => $kernels.$nodes_dot($($argument,)* y, partial),
            (To::Slots(slots), None) => $kernels.$slots($($argument,)* slots),
            (To::Slots(slots), Some(partial)) => $kernels.$slots_dot($($argument,)* slots, partial),
        }
    };
}
pub(super) use launch_products;

impl<R: Real, K: MatrixFree<N>, const N: usize> Mf<R, K, N> {
    /// The operator of `problem`, which is `on_device`, with all coefficients zero.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernels cannot be loaded.
    pub fn new(
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
    ) -> Result<Self, BackendError> {
        Self::with(on_device, problem, None)
    }

    /// Builds the strategy `dbd`: elements write their products to slots, and nodes gather them in
    /// a fixed order, which gives the same bits on any mesh.
    ///
    /// # Errors
    /// As [`Mf::new`].
    pub fn with_slots(
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
    ) -> Result<Self, BackendError> {
        let slots = Slots::new(&on_device.device, &NodeToElements::new(problem.mesh()), N)?;
        Self::with(on_device, problem, Some(slots))
    }

    /// The operator with slots if elements come by color: faster than a launch per color.
    ///
    /// # Errors
    /// As [`Mf::new`].
    pub(crate) fn in_order(
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
    ) -> Result<Self, BackendError> {
        match on_device.mesh.is_one_part() {
            true => Self::new(on_device, problem),
            false => Self::with_slots(on_device, problem),
        }
    }

    fn with(
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
        slots: Option<Slots<R>>,
    ) -> Result<Self, BackendError> {
        let ProblemOnDevice { device, mesh, .. } = &**on_device;
        let elements = K::Elements::<R>::new(on_device, problem)?;
        let blocks = match &slots {
            Some(_) => elements.blocks(mesh.all(), true),
            None => mesh.parts().map(|part| elements.blocks(part, false)).sum(),
        };
        let zeros = |_| -> Result<_, BackendError> {
            let space = Space::elements(mesh.n_elements);
            Ok(DeviceVector { space, values: device.zeros(mesh.n_elements)? })
        };
        Ok(Self {
            problem: on_device.clone(),
            elements,
            supports: kernels::Supports::load(device)?,
            slots,
            coefficients: (0..K::TERMS).map(zeros).collect::<Result<_, _>>()?,
            partial: device.zeros(blocks)?,
        })
    }

    /// Bytes of device memory of the operator without the [`ProblemOnDevice`] and without
    /// [`Mf::further_bytes`], for `n_elements` in one launch.
    pub fn bytes(n_elements: usize) -> usize {
        let block = K::Elements::<R>::dot_block() as usize;
        K::TERMS * size_of::<R>() * n_elements + 8 * n_elements.div_ceil(block)
    }

    /// Bytes of the stretches and films of `problem`.
    pub fn further_bytes(problem: &Discretization<K, N>) -> usize {
        K::Elements::<R>::further_bytes(problem)
    }

    /// Mesh, constraints and integrals.
    pub(crate) fn problem(&self) -> &ProblemOnDevice<K, N> {
        &self.problem
    }

    /// Kernels over the elements.
    pub(crate) fn elements(&self) -> &K::Elements<R> {
        &self.elements
    }

    /// Coefficients of the elements, one vector per term.
    pub(crate) fn coefficients(&self) -> &[DeviceVector<R>] {
        &self.coefficients
    }

    /// Coefficients, mutable.
    pub(crate) fn coefficients_mut(&mut self) -> &mut [DeviceVector<R>] {
        &mut self.coefficients
    }

    /// y = x at held unknowns, 0 elsewhere.
    pub(crate) fn held_part(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let (n, held) = (mesh.n_nodes, &constraints.held);
        launch!(self.supports, N, held_part1 | held_part(Threads(n), n, held, x, y));
    }

    /// Writes the sum of `add` over the parts of the mesh.
    pub(crate) fn sum_of_parts(
        &self,
        out: &mut DeviceVector<R>,
        mut add: impl FnMut(Part, &mut DeviceVector<R>),
    ) {
        let ProblemOnDevice { device, mesh, .. } = &*self.problem;
        device.record("clearing a diagonal", device.stream().memset_zeros(&mut out.values));
        mesh.parts().for_each(|part| add(part, out));
    }

    /// The diagonal for other coefficients, 1 at held unknowns.
    pub(crate) fn diagonal_for(&self, terms: &[DeviceVector<R>], out: &mut DeviceVector<R>) {
        self.sum_of_parts(out, |part, out| self.elements.diagonal(self, part, terms, out));
    }

    /// y = K x; if `with_dot`, every block of elements leaves its part of x . y.
    fn product(&self, with_dot: bool, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let partial = |begin| with_dot.then(|| Shared::from_entry(&self.partial, begin));
        if let Some(slots) = &self.slots {
            let to = To::Slots(slots.values());
            self.elements.products(self, mesh.all(), x, to, partial(0));
            return slots.gather(constraints, x, y);
        }

        self.held_part(x, y);
        let mut begin = 0;
        for part in mesh.parts() {
            self.elements.products(self, part, x, To::Nodes(y), partial(begin));
            begin += self.elements.blocks(part, false);
        }
    }
}

impl<R: Real, K: MatrixFree<N>, const N: usize> LinearOperator<Cuda<R>> for Mf<R, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.product(false, x, y);
        self.elements.complete(self, x, y);
    }

    fn apply_to_direction(
        &self,
        backend: &Cuda<R>,
        d: &DeviceVector<R>,
        q: &mut DeviceVector<R>,
        dq: &mut Scalar,
    ) {
        if self.elements.completion(self).is_some() {
            self.apply(d, q);
            return backend.dot_into(d, q, dq);
        }
        self.product(true, d, q);
        backend.sum_into(&self.partial, dq);
    }

    fn cost(&self) -> Cost {
        let mesh = &self.problem.mesh;
        let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
        let (real, unknowns) = (size_of::<R>() as f64, N as f64);
        let [flops, further] = self.elements.product_cost();
        let numbers = K::TERMS as f64 + further;
        let mut cost = Cost {
            bytes_read: elements * (0.125 + 4.0 * mesh.nodes_per_element as f64 + numbers * real)
                + nodes * (24.0 + unknowns * real),
            bytes_written: nodes * unknowns * real,
            flops: elements * flops,
        };
        if self.slots.is_some() {
            let [node, element] = Slots::<R>::traffic(N);
            cost.bytes_read += node * nodes + element * elements;
        }
        self.elements.completion(self).map_or(cost, |completion| cost.plus(&completion))
    }
}

impl<R: Real, K: MatrixFree<N>, const N: usize> ElementOperator<Cuda<R>> for Mf<R, K, N> {
    fn strategy(&self) -> &'static str {
        if self.slots.is_some() { "dbd" } else { "mf" }
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<R>]) {
        let device = &self.problem.device;
        for (own, term) in self.coefficients.iter_mut().zip(terms) {
            let copied = device.stream().memcpy_dtod(&term.values, &mut own.values);
            device.record("copying coefficients", copied);
        }
    }

    fn diagonal(&self, out: &mut DeviceVector<R>) {
        self.diagonal_for(&self.coefficients, out);
    }

    fn element_work(
        &self,
        term: usize,
        v: &DeviceVector<R>,
        u: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        self.elements.work(self, term, [v, u], out);
    }
}

/// Integrals whose products are computed element by element from the coordinates.
pub trait MatrixFree<const N: usize>: Assembled<N> {
    /// Kernels over the elements.
    type Elements<R: Real>: ElementKernels<Self, R, N>;
}

/// Kernels over the elements of a problem, in the precision `R`, with what they alone read.
pub trait ElementKernels<K: MatrixFree<N>, R: Real, const N: usize>: Sized + Send + Sync {
    /// Loads the kernels for `problem`, which is on the device.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    fn new(
        on_device: &ProblemOnDevice<K, N>,
        problem: &Discretization<K, N>,
    ) -> Result<Self, BackendError>;

    /// Threads of a block of the product that also sums up x . y.
    fn dot_block() -> u32;

    /// Bytes of what depends on more than the sizes of a mesh.
    fn further_bytes(_problem: &Discretization<K, N>) -> usize {
        0
    }

    /// Returns the blocks of the launches over a part of the elements; each block writes its part
    /// of x . y.
    fn blocks(&self, part: Part, to_slots: bool) -> usize;

    /// Adds the products of a part of the elements to nodes, or writes them to slots.
    fn products(
        &self,
        mf: &Mf<R, K, N>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    );

    /// Adds the diagonal of a part for `coefficients`, `[n_elements]` per term; 1 at held unknowns.
    fn diagonal(
        &self,
        mf: &Mf<R, K, N>,
        part: Part,
        coefficients: &[DeviceVector<R>],
        out: &mut DeviceVector<R>,
    );

    /// Writes v_e^T K_e u_e of a term at unit coefficient, `[n_elements]`.
    fn work(
        &self,
        mf: &Mf<R, K, N>,
        term: usize,
        fields: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    );

    /// Operations per element of a product, and numbers read beside the coefficients.
    fn product_cost(&self) -> [f64; 2];

    /// Adds to a product what no strategy has of the elements.
    fn complete(&self, _mf: &Mf<R, K, N>, _x: &DeviceVector<R>, _y: &mut DeviceVector<R>) {}

    /// Counted cost of what [`complete`](Self::complete) adds, if it adds anything.
    fn completion(&self, _mf: &Mf<R, K, N>) -> Option<Cost> {
        None
    }
}

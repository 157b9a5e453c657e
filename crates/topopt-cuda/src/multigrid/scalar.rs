//! Multigrid for diffusion, one unknown per node: the structure of `topopt-fem`, and all numbers and the
//! cycle on the device, by the kernels of `cuda/scalar_galerkin.cu` and `cuda/scalar_levels.cu`.

use std::sync::{Arc, Mutex};

use topopt_fem::{
    Aggregation, Diffusion, Discretization, ElementKernel, ElementOperator, ElementPreconditioner,
    Joints, Level, Supported, WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, Cycle, CycleKind, Growth, Hierarchy, InverseDiagonal, LinearOperator,
    PatchRelaxation, PatchStep, Pointwise, Preconditioner, SmootherKind, Space, Transfer,
};

use super::State;
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::fine_patches::FinePatches;
use super::galerkin::{JointLists, SupportedRows};
use super::prepared::direct;
use super::scalar_matrix::{ConstantTransfer, InverseEntries, Kernels, ScalarMatrix};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::{MeshOnDevice, MfDiffusion, Slots};
use crate::replay::Replay;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Threads that share a joint, and that make the ground of a row.
const LANES: usize = defined!("scalar_galerkin.cu", "LANES");
const WARP: usize = 32;

/// `multigrid` for diffusion: a cycle over aggregates that move by a constant in precision `R`, for
/// conjugate gradients in double precision.
pub struct ScalarMultigrid<'a, R: Real> {
    backend: &'a Cuda<R>,
    cycle: Cycle<Cuda<R>, ScalarHierarchy<'a, R>>,
    levels: Vec<Level>,
    /// An update, once it has been recorded.
    setup: Option<Replay>,
    state: Mutex<State<R>>,
}

impl<'a, R: Real> ScalarMultigrid<'a, R> {
    /// For `problem`, of whose mesh `mesh` was made; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        Self::smoothed_by(SmootherKind::Chebyshev, backend, mesh, problem, kind)
    }

    /// As [`ScalarMultigrid::new`], with that smoother on the finest level. Stretched elements are not
    /// assembled here and keep Chebyshev.
    ///
    /// # Errors
    /// As [`ScalarMultigrid::new`].
    pub fn smoothed_by(
        smoother: SmootherKind,
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let structure = Aggregation::new(problem, direct(problem.n_dofs()));
        let hierarchy = ScalarHierarchy::new(backend, mesh, problem, &structure, smoother)?;
        Ok(Self {
            backend,
            cycle: Cycle::new(backend, kind, hierarchy)?,
            levels: structure.levels(),
            setup: None,
            state: Mutex::new(State::new(backend, problem.space())?),
        })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &ScalarHierarchy<'a, R> {
        self.cycle.hierarchy()
    }

    /// Bytes that smoothing by patches takes beside [`ScalarMultigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, 1)
    }

    /// Bytes on the device, for a mesh of that size without springs whose aggregates have some 27 nodes
    /// and as many neighbors; elements by color have slots. Without [`MfDiffusion::stretch_bytes`].
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        let slots = if by_color { Slots::<R>::bytes(n_nodes, n_elements, 1) } else { 0 };
        let real = size_of::<R>();
        // A node: ten vectors, its aggregate and its place there, and an entry of the first matrix with its
        // column and half a joint. The levels below and their vectors are a tenth.
        let node = 10 * real + 8 + real + 4 + 6;
        // An element: its bound and two raised coefficients, and 2.8 joints. The last inverse is a square.
        MfDiffusion::<R>::bytes(n_nodes, n_elements)
            + node * n_nodes * 11 / 10
            + (3 * real + 12) * n_elements
            + 8 * direct(n_nodes).pow(2)
            + slots
    }
}

impl<R: Real> Preconditioner<Cuda<f64>> for ScalarMultigrid<'_, R> {
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn check_interval(&self, _: &Cuda<f64>) -> usize {
        self.cycle.check_interval(self.backend)
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.apply(self.backend, &self.cycle, r, z);
    }
}

impl<R: Real> ElementPreconditioner<Cuda<f64>> for ScalarMultigrid<'_, R> {
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.levels.clone()
    }

    fn update(
        &mut self,
        _: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        let Self { backend, cycle, setup, .. } = self;
        cycle.hierarchy_mut().set_coefficients(coefficients);
        backend.repeat(setup, &mut || cycle.update(backend, |hierarchy| hierarchy.update(backend)));
        backend.device().synchronize() // failures, and the time, are those of the setup
    }
}

/// The hierarchy on the device; level 0 is the matrix-free operator, the others are matrices in
/// compressed rows.
pub struct ScalarHierarchy<'a, R: Real> {
    mesh: Arc<MeshOnDevice>,
    galerkin: kernels::ScalarGalerkin<R>,
    convert: Convert<R>,
    fine: WithSprings<'a, Cuda<R>, MfDiffusion<R>>,
    fine_inverse: InverseEntries<R>,
    by_patches: Option<FinePatches<R>>,
    /// Of every element, see [`topopt_fem::ElementKernel::bounds`], and the coefficients times these.
    bounds: DeviceVector<R>,
    raised: [DeviceVector<R>; 2],
    /// A diagonal on the nodes, as work goes on.
    diagonal: DeviceVector<R>,
    supported: SupportedRows,
    /// From each level to the next, and what the next is made of.
    transfers: Vec<ConstantTransfer<R>>,
    joints: Vec<JointLists>,
    /// Levels 1 and on.
    coarse: Vec<ScalarMatrix<R>>,
    last_inverse: DenseInverse<R>,
}

impl<'a, R: Real> ScalarHierarchy<'a, R> {
    fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        structure: &Aggregation,
        smoother: SmootherKind,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let kernels = Kernels::load(device)?;
        let is_held = |node: u32| problem.constraints().is_held(node as usize);

        // A level after the other: the way there, what it is made of, and its matrix.
        let mut transfers = Vec::new();
        let (mut lists, mut coarse) = (Vec::new(), Vec::new());
        let mut joints = Joints::of_nodes(problem, structure);
        transfers.push(ConstantTransfer::new(&kernels, device, &structure.nodes, is_held)?);
        lists.push(JointLists::new(device, &joints)?);
        coarse.push(ScalarMatrix::zeros(&kernels, backend, &joints)?);
        for (parents, pattern) in structure.coarser.iter().zip(&structure.patterns[1..]) {
            joints = Joints::of_aggregates(&joints, parents, pattern);
            transfers.push(ConstantTransfer::new(&kernels, device, parents, |_| false)?);
            lists.push(JointLists::new(device, &joints)?);
            coarse.push(ScalarMatrix::zeros(&kernels, backend, &joints)?);
        }

        let bounds = problem.kernel().bounds(&problem.elements());
        let bounds: Vec<f64> = bounds.into_iter().map(f64::from).collect();
        let elements = Space::elements(bounds.len());
        let fine = Box::new(MfDiffusion::in_order(mesh, problem)?);
        let is_plain = problem.elements().stretches().is_none();
        let by_patches = match smoother {
            SmootherKind::Patch if is_plain => {
                Some(FinePatches::new(mesh, problem, &structure.nodes)?)
            }
            _ => None,
        };
        Ok(Self {
            by_patches,
            mesh: mesh.clone(),
            galerkin: kernels::ScalarGalerkin::load(device)?,
            convert: Convert::load(device)?,
            fine: WithSprings::new(backend, problem, fine)?,
            fine_inverse: InverseEntries::zeros(&kernels, backend, problem.space())?,
            bounds: backend.upload(&bounds, elements)?,
            raised: [backend.zeros(elements)?, backend.zeros(elements)?],
            diagonal: backend.zeros(problem.space())?,
            supported: SupportedRows::new(device, &Supported::new(problem, structure))?,
            transfers,
            joints: lists,
            last_inverse: DenseInverse::new(device, joints.row_offsets.len() - 1)?,
            coarse,
        })
    }

    /// Takes conductivities and capacities, each `[n_elements]`, for the next update.
    fn set_coefficients(&mut self, coefficients: &[&DeviceVector<f64>]) {
        let own = self.fine.elements_mut().coefficients_mut();
        for (own, given) in own.iter_mut().zip(coefficients) {
            self.convert.narrow(&given.values, &mut own.values);
        }
    }

    /// Recomputes all numbers. Neither allocates nor waits, so that it can be recorded.
    fn update(&mut self, backend: &Cuda<R>) {
        self.smooth_finest(backend);
        if let Some(patches) = &mut self.by_patches {
            let [conductivities, capacities] = self.fine.elements().coefficients();
            patches.update([conductivities, capacities], self.fine.stiffness());
        }
        self.first_matrix(backend);
        for level in 1..self.coarse.len() {
            let (done, rest) = self.coarse.split_at_mut(level);
            let (fine, coarse) = (&done[level - 1], &mut rest[0]);
            self.transfers[level].restrict(&fine.ground, &mut coarse.ground);

            let (joints, rows) = (&self.joints[level], &coarse.rows);
            self.galerkin.scalar_joints(
                Threads(LANES * joints.n),
                joints.n,
                &joints.rows,
                &joints.places,
                &joints.part_offsets,
                &joints.parts,
                &fine.entries,
                &rows.offsets,
                &rows.columns,
                &mut coarse.entries,
            );
            coarse.complete(&self.galerkin);
        }
        self.last_inverse.update(&self.coarse[self.coarse.len() - 1]);
    }

    /// The diagonal that smooths the finest level.
    fn smooth_finest(&mut self, backend: &Cuda<R>) {
        let Self { fine, bounds, raised, diagonal, fine_inverse, .. } = self;
        for (given, raised) in fine.elements().coefficients().iter().zip(&mut *raised) {
            backend.multiply(bounds, given, raised);
        }
        fine.elements().diagonal_for(raised, diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, diagonal);
        }
        backend.power(1.0, diagonal, -1.0, &mut fine_inverse.values);
    }

    /// The matrix of the first level below the finest.
    fn first_matrix(&mut self, backend: &Cuda<R>) {
        let Self { mesh, fine, diagonal, supported, galerkin, .. } = self;
        let (transfer, joints, first) = (&self.transfers[0], &self.joints[0], &mut self.coarse[0]);
        let [conductivities, _] = fine.elements().coefficients();

        // What holds nodes to the ground: capacities, springs, and held nodes around.
        fine.elements().lumped_capacities(diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, diagonal);
        }
        transfer.restrict(diagonal, &mut first.ground);
        galerkin.conduction_ground(
            Threads(WARP * supported.n),
            &*mesh,
            &transfer.of,
            fine.elements().stretches(),
            conductivities,
            supported.n,
            &supported.rows,
            &supported.offsets,
            &supported.elements,
            &mut first.ground,
        );

        galerkin.conduction_joints(
            Threads(LANES * joints.n),
            &*mesh,
            &transfer.of,
            fine.elements().stretches(),
            conductivities,
            joints.n,
            &joints.rows,
            &joints.places,
            &joints.part_offsets,
            &joints.parts,
            &first.rows.offsets,
            &first.rows.columns,
            &mut first.entries,
        );
        first.complete(galerkin);
    }
}

impl<R: Real> Hierarchy<Cuda<R>> for ScalarHierarchy<'_, R> {
    fn n_levels(&self) -> usize {
        1 + self.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.fine,
            _ => &self.coarse[level - 1],
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        match level {
            0 => &self.fine_inverse,
            _ => &self.coarse[level - 1].inverse,
        }
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0) // as on the host, whose raised diagonal it is
    }

    fn patches(&self, level: usize) -> Option<&dyn PatchRelaxation<Cuda<R>>> {
        (level == 0 && self.by_patches.is_some()).then_some(self as _)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        &self.transfers[level]
    }

    fn solve_last(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        self.last_inverse.solve(b, x);
    }
}

/// Of the finest level.
impl<R: Real> PatchRelaxation<Cuda<R>> for ScalarHierarchy<'_, R> {
    fn invert(&self, growth: &Growth<Scalar>, r: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        if let Some(patches) = &self.by_patches {
            patches.invert(&self.fine_inverse.values.values, growth, r, z);
        }
    }

    fn relax(
        &self,
        step: &PatchStep<Cuda<R>>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        if let Some(patches) = &self.by_patches {
            patches.relax(&self.fine_inverse.values.values, step, r, d, x);
        }
    }
}

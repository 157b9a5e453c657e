//! The hierarchy of diffusion on the device, by the kernels of `cuda/scalar_galerkin.cu` and
//! `cuda/scalar_levels.cu`.

use std::sync::Arc;

use topopt_fem::{
    Aggregation, Diffusion, Discretization, ElementKernel, Joints, Level, Shared, Supported,
    WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, Cost, Growth, Hierarchy, InverseDiagonal, LinearOperator,
    PatchRelaxation, PatchStep, Pointwise, SmootherKind, Space, Transfer,
};

use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::device_multigrid::DeviceHierarchy;
use super::fine_patches::FinePatches;
use super::galerkin::{JointLists, SupportedRows};
use super::prepared::structure;
use super::scalar_matrix::{ConstantTransfer, InverseEntries, Kernels, ScalarMatrix};
use super::shared_rows::{Others, SharedLevel};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::{MeshOnDevice, MfDiffusion};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Threads that share a joint, and that make the ground of a row.
const LANES: usize = defined!("scalar_galerkin.cu", "LANES");
const WARP: usize = 32;

/// Aggregates that move by a constant, with numbers of precision `R` in the cycle; level 0 is the matrix-free
/// operator, the others are matrices in compressed rows.
pub struct ScalarHierarchy<'a, R: Real> {
    /// Problem of the structure, where the structure follows designs.
    problem: Option<&'a Discretization<Diffusion, 1>>,
    mesh: Arc<MeshOnDevice>,
    galerkin: kernels::ScalarGalerkin<R>,
    convert: Convert<R>,
    fine: FineConduction<'a, R>,
    fine_inverse: InverseEntries<R>,
    by_patches: Option<FinePatches<R>>,
    /// Bounds of the elements, see [`topopt_fem::ElementKernel::bounds`], and the coefficients times these.
    bounds: DeviceVector<R>,
    raised: [DeviceVector<R>; 2],
    /// A diagonal on the nodes, as work goes on.
    diagonal: DeviceVector<R>,
    levels: Levels<'a, R>,
}

/// All below the finest level.
struct Levels<'a, R: Real> {
    supported: SupportedRows,
    /// Levels that ranks share.
    shared: Vec<SharedLevel<'a, R>>,
    /// From each level to the next, and what the next is made of.
    transfers: Vec<ConstantTransfer<'a, R>>,
    joints: Vec<JointLists>,
    /// Levels 1 and on.
    coarse: Vec<ScalarMatrix<'a, R>>,
    last_inverse: DenseInverse<R>,
}

impl<'a, R: Real> Levels<'a, R> {
    fn new(
        backend: &Cuda<R>,
        problem: &Discretization<Diffusion, 1>,
        structure: &Aggregation,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let kernels = Kernels::load(device)?;
        let is_held = |node: u32| problem.constraints().is_held(node as usize);

        // A level after the other: the way there, what it is made of, and its matrix.
        let mut transfers = Vec::new();
        let (mut lists, mut coarse) = (Vec::new(), Vec::new());
        let mut joints = Joints::of_nodes(problem, structure);
        let shared = Shared::levels(others, structure, 1)?;
        let first = shared.first().cloned();
        let nodes = &structure.nodes;
        transfers.push(ConstantTransfer::new(&kernels, device, nodes, is_held, first.clone())?);
        lists.push(JointLists::new(device, &joints)?);
        coarse.push(ScalarMatrix::zeros(&kernels, backend, &joints, first)?);
        let coarser = structure.coarser.iter().zip(&structure.patterns[1..]);
        for (level, (parents, pattern)) in (1..).zip(coarser) {
            let below = shared.get(level).cloned();
            joints = Joints::of_aggregates(&joints, parents, pattern);
            let transfer =
                ConstantTransfer::new(&kernels, device, parents, |_| false, below.clone())?;
            transfers.push(transfer);
            lists.push(JointLists::new(device, &joints)?);
            coarse.push(ScalarMatrix::zeros(&kernels, backend, &joints, below)?);
        }

        Ok(Self {
            supported: SupportedRows::new(device, &Supported::new(problem, structure))?,
            shared,
            transfers,
            joints: lists,
            coarse,
            last_inverse: DenseInverse::new(device, joints.row_offsets.len() - 1)?,
        })
    }
}

impl<'a, R: Real> ScalarHierarchy<'a, R> {
    pub(super) fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        structure: &Aggregation,
        smoother: SmootherKind,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let bounds = problem.kernel().bounds(&problem.elements());
        let bounds: Vec<f64> = bounds.into_iter().map(f64::from).collect();
        let of_elements = Space::elements(bounds.len());
        let elements = Box::new(MfDiffusion::in_order(mesh, problem)?);
        let fine = WithSprings::new(backend, problem, elements)?;
        let is_plain = problem.elements().stretches().is_none();
        let by_patches = match smoother {
            SmootherKind::Patch if is_plain => {
                Some(FinePatches::new(mesh, problem, &structure.nodes)?)
            }
            _ => None,
        };
        Ok(Self {
            problem: None,
            by_patches,
            mesh: mesh.clone(),
            galerkin: kernels::ScalarGalerkin::load(device)?,
            convert: Convert::load(device)?,
            fine: FineConduction { operator: fine, others: others.cloned() },
            fine_inverse: InverseEntries::zeros(&Kernels::load(device)?, backend, problem.space())?,
            bounds: backend.upload(&bounds, of_elements)?,
            raised: [backend.zeros(of_elements)?, backend.zeros(of_elements)?],
            diagonal: backend.zeros(problem.space())?,
            levels: Levels::new(backend, problem, structure, others)?,
        })
    }

    /// Lets the structure follow designs of `problem`, for which it was made.
    pub(super) fn follow(&mut self, problem: &'a Discretization<Diffusion, 1>) {
        self.problem = Some(problem);
    }

    /// The diagonal that smooths the finest level.
    fn smooth_finest(&mut self, backend: &Cuda<R>) {
        let Self { fine: whole, bounds, raised, diagonal, fine_inverse, .. } = self;
        let fine = &whole.operator;
        for (given, raised) in fine.elements().coefficients().iter().zip(&mut *raised) {
            backend.multiply(bounds, given, raised);
        }
        fine.elements().diagonal_for(raised, diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, diagonal);
        }
        backend.power(1.0, diagonal, -1.0, &mut fine_inverse.values);
        if let Some(others) = &whole.others {
            others.refresh_blocks(&mut fine_inverse.values);
        }
    }

    /// The matrix of the first level below the finest.
    fn first_matrix(&mut self, backend: &Cuda<R>) {
        let Self { mesh, diagonal, galerkin, levels, .. } = self;
        let Levels { supported, transfers, joints, coarse, .. } = levels;
        let fine = &self.fine.operator;
        let (transfer, joints, first) = (&transfers[0], &joints[0], &mut coarse[0]);
        let [conductivities, _] = fine.elements().coefficients();

        // What holds nodes to the ground: capacities, springs, and held nodes around.
        fine.elements().lumped_capacities(diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, diagonal);
        }
        transfer.sum(diagonal, &mut first.ground);
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

impl<R: Real> DeviceHierarchy<R> for ScalarHierarchy<'_, R> {
    fn set_coefficients(&mut self, coefficients: &[&DeviceVector<f64>]) {
        let own = self.fine.operator.elements_mut().coefficients_mut();
        for (own, given) in own.iter_mut().zip(coefficients) {
            self.convert.narrow(&given.values, &mut own.values);
        }
    }

    fn update(&mut self, backend: &Cuda<R>) {
        self.smooth_finest(backend);
        if let Some(patches) = &mut self.by_patches {
            let fine = &self.fine.operator;
            let [conductivities, capacities] = fine.elements().coefficients();
            patches.update([conductivities, capacities], fine.stiffness());
        }
        self.first_matrix(backend);
        let Self { galerkin, levels, .. } = self;
        for level in 1..levels.coarse.len() {
            let (done, rest) = levels.coarse.split_at_mut(level);
            let (fine, coarse) = (&done[level - 1], &mut rest[0]);
            levels.transfers[level].sum(&fine.ground, &mut coarse.ground);

            let (joints, rows) = (&levels.joints[level], &coarse.rows);
            galerkin.scalar_joints(
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
            coarse.complete(galerkin);
        }
        let Levels { coarse, last_inverse, .. } = levels;
        last_inverse.update(&coarse[coarse.len() - 1]);
    }

    fn follows(&self) -> bool {
        self.problem.is_some()
    }

    fn restructure(&mut self, backend: &Cuda<R>, void: &[u32]) -> Result<Vec<Level>, BackendError> {
        let Some(problem) = self.problem else { return Ok(Vec::new()) };
        let others = self.fine.others.as_ref();
        let structure = structure(problem, void, others.map(AsRef::as_ref))?;
        self.levels = Levels::new(backend, problem, &structure, others)?;
        Ok(structure.levels())
    }
}

impl<R: Real> Hierarchy<Cuda<R>> for ScalarHierarchy<'_, R> {
    fn n_levels(&self) -> usize {
        1 + self.levels.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.fine,
            _ => &self.levels.coarse[level - 1],
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        match level {
            0 => &self.fine_inverse,
            _ => &self.levels.coarse[level - 1].inverse,
        }
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0) // as on the host, whose raised diagonal it is
    }

    fn patches(&self, level: usize) -> Option<&dyn PatchRelaxation<Cuda<R>>> {
        (level == 0 && self.by_patches.is_some()).then_some(self as _)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        &self.levels.transfers[level]
    }

    fn solve_last(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        self.levels.last_inverse.solve(b, x);
    }

    fn dot_into(
        &self,
        backend: &Cuda<R>,
        level: usize,
        x: &DeviceVector<R>,
        y: &DeviceVector<R>,
        out: &mut Scalar,
    ) {
        match Shared::divided_level(&self.levels.shared, level) {
            Some(divided) => divided.dot_into(x, y, out),
            None => backend.dot_into(x, y, out),
        }
    }
}

/// The operator of the finest level, with the other ranks, if there are any.
struct FineConduction<'a, R: Real> {
    operator: WithSprings<'a, Cuda<R>, MfDiffusion<R>>,
    others: Option<Others<'a, R>>,
}

impl<R: Real> LinearOperator<Cuda<R>> for FineConduction<'_, R> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.operator.apply(x, y);
        if let Some(others) = &self.others {
            others.refresh(y);
        }
    }

    fn cost(&self) -> Cost {
        self.operator.cost()
    }
}

/// Patch smoother of the finest level.
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

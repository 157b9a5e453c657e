//! The hierarchy on the device; level 0 is the matrix-free operator, the others are block matrices.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregation, Discretization, Joints, Level, MODES, Shared, Supported};
use topopt_linalg::{
    Backend, BackendError, Cost, Growth, Hierarchy, InverseDiagonal, LinearOperator,
    PatchRelaxation, PatchStep, SmootherKind, Space, Transfer,
};

use super::block_diagonal::InverseBlocks;
use super::coarse_matrix::{CoarseMatrix, InverseBlocks6};
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::device_multigrid::DeviceHierarchy;
use super::element_bounds::element_bounds;
use super::fine_patches::FinePatches;
use super::galerkin::{Galerkin, JointLists, SupportedRows};
use super::prepared::{Prepared, structure};
use super::shared_rows::{Others, SharedLevel};
use super::transfer::{AggregateTransfer, Grouping, NodeTransfer};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::{Mf, ProblemOnDevice};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Plain aggregation with rigid-body modes, with numbers of precision `R` in the cycle.
pub struct RigidAggregation<'a, R: Real> {
    problem: &'a Discretization,
    on_device: Arc<ProblemOnDevice>,
    operator: FineOperator<'a, R>,
    inverse_blocks: InverseBlocks<R>,
    by_patches: Option<FinePatches<R>>,
    /// Springs, where patches smooth.
    springs: Option<DeviceVector<R>>,
    /// Bounds of the elements, see [`element_bounds`], and the moduli times these.
    bounds: DeviceVector<R>,
    raised: DeviceVector<R>,
    levels: Levels<'a, R>,
    galerkin: Galerkin<R>,
    convert: Convert<R>,
}

/// All below the finest level.
struct Levels<'a, R: Real> {
    nodes: Arc<Grouping>,
    transfer: NodeTransfer<'a, R>,
    /// Levels that ranks share.
    shared: Vec<SharedLevel<'a, R>>,
    joints: JointLists,
    supported: SupportedRows,
    /// Levels 1 and on, except the last.
    coarse: Vec<CoarseLevel<'a, R>>,
    last: CoarseMatrix<'a, R>,
    last_inverse: DenseInverse<R>,
}

struct CoarseLevel<'a, R: Real> {
    matrix: CoarseMatrix<'a, R>,
    inverse_diagonal: InverseBlocks6<R>,
    /// To the next level.
    transfer: AggregateTransfer<'a, R>,
    /// Joints of the next level.
    joints: JointLists,
    /// Row of every block of this level.
    rows_of_blocks: CudaSlice<u32>,
}

impl<'a, R: Real> Levels<'a, R> {
    fn new(
        backend: &Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
        structure: &Aggregation,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = &on_device.device;
        let (matrices, transfers) = (
            Arc::new(kernels::Bsr6::load(device)?),
            Arc::new(kernels::CoarseTransfer::load(device)?),
        );
        let nodes = Grouping::new(device, &structure.nodes)?;
        let mut joints = Joints::of_nodes(problem, structure);
        let first_joints = JointLists::new(device, &joints)?;
        let shared = Shared::levels(others, structure, MODES * MODES)?;
        let shared_level = |level: usize| shared.get(level - 1).cloned();
        let (mut children, mut centers) = (nodes.clone(), structure.nodes.centers());
        let mut coarse = Vec::new();
        let coarser = structure.coarser.iter().zip(&structure.patterns[1..]);
        for (level, (parents, pattern)) in (1..).zip(coarser) {
            let next = Joints::of_aggregates(&joints, parents, pattern);
            let (here, below) = (shared_level(level), shared_level(level + 1));
            let matrix =
                CoarseMatrix::zeros(&matrices, backend, &joints, &children, centers, here)?;
            let grouping = Grouping::new(device, parents)?;
            coarse.push(CoarseLevel {
                inverse_diagonal: InverseBlocks6::new(backend, &matrix)?,
                matrix,
                transfer: AggregateTransfer::new(&transfers, &children, &grouping, below),
                joints: JointLists::new(device, &next)?,
                rows_of_blocks: device.upload(&joints.rows_of_blocks())?,
            });
            (joints, children, centers) = (next, grouping, parents.centers());
        }

        let here = shared_level(1 + coarse.len());
        let last = CoarseMatrix::zeros(&matrices, backend, &joints, &children, centers, here)?;
        Ok(Self {
            transfer: NodeTransfer::new(on_device, &nodes, shared_level(1))?,
            shared,
            nodes,
            joints: first_joints,
            supported: SupportedRows::new(device, &Supported::new(problem, structure))?,
            coarse,
            last_inverse: DenseInverse::new(device, MODES * last.rows.n_rows)?,
            last,
        })
    }
}

impl<'a, R: Real> RigidAggregation<'a, R> {
    /// For `problem`, which is that of a part where there are other ranks.
    pub(super) fn new(
        backend: &Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        prepared: &Prepared,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = &on_device.device;

        let convert = Convert::load(device)?;
        let elements = Space::elements(problem.mesh().n_elements());
        let mut bounds = backend.zeros(elements)?;
        let exact = element_bounds(&on_device.mesh, problem.kernel())?;
        convert.narrow(&exact.values, &mut bounds.values);

        let by_patches = match prepared.smoother {
            SmootherKind::Chebyshev => None,
            SmootherKind::Patch => {
                Some(FinePatches::new(&on_device.mesh, problem, &prepared.structure.nodes)?)
            }
        };
        let springs = by_patches.as_ref().and(problem.constraints().springs());
        let springs =
            springs.map(|springs| backend.upload(springs, problem.space())).transpose()?;

        Ok(Self {
            problem,
            by_patches,
            springs,
            on_device: on_device.clone(),
            operator: FineOperator::new(on_device, problem, others)?,
            inverse_blocks: InverseBlocks::new(on_device)?,
            bounds,
            raised: backend.zeros(elements)?,
            levels: Levels::new(backend, on_device, problem, &prepared.structure, others)?,
            galerkin: Galerkin::load(device)?,
            convert,
        })
    }
}

impl<R: Real> DeviceHierarchy<R> for RigidAggregation<'_, R> {
    fn set_coefficients(&mut self, coefficients: &[&DeviceVector<f64>]) {
        self.convert.narrow(&coefficients[0].values, self.operator.elements.moduli_mut());
    }

    fn follows(&self) -> bool {
        true
    }

    fn restructure(&mut self, backend: &Cuda<R>, void: &[u32]) -> Result<Vec<Level>, BackendError> {
        let Self { problem, on_device, operator, .. } = self;
        let others = operator.others.as_ref();
        let structure = structure(*problem, void, others.map(AsRef::as_ref))?;
        self.levels = Levels::new(backend, on_device, problem, &structure, others)?;
        Ok(structure.levels())
    }

    fn update(&mut self, backend: &Cuda<R>) {
        let Self { on_device, operator, bounds, raised, inverse_blocks, levels, galerkin, .. } =
            self;
        let Levels { nodes, joints, supported, coarse, last, last_inverse, .. } = levels;
        let moduli = operator.elements.moduli();
        backend.multiply(bounds, moduli, raised);
        inverse_blocks.update(&raised.values);
        if let Some(others) = &operator.others {
            others.refresh_blocks(inverse_blocks.blocks_mut());
        }
        if let Some(patches) = &mut self.by_patches {
            patches.update([moduli, moduli], self.springs.as_ref());
        }

        let first = coarse.first_mut().map_or(&mut *last, |level| &mut level.matrix);
        galerkin.of_nodes(on_device, &moduli.values, nodes, (joints, supported), first);
        first.complete();
        for level in 0..coarse.len() {
            let (done, rest) = coarse.split_at_mut(level + 1);
            let CoarseLevel { matrix, inverse_diagonal, transfer, joints, rows_of_blocks } =
                &mut done[level];
            inverse_diagonal.update(matrix);
            let next = rest.first_mut().map_or(&mut *last, |next| &mut next.matrix);
            galerkin.of_aggregates(transfer, (matrix, rows_of_blocks), joints, next);
        }
        last_inverse.update(last);
    }
}

impl<R: Real> Hierarchy<Cuda<R>> for RigidAggregation<'_, R> {
    fn n_levels(&self) -> usize {
        2 + self.levels.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.operator,
            _ => {
                let Levels { coarse, last, .. } = &self.levels;
                coarse.get(level - 1).map_or(last, |level| &level.matrix)
            }
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        match level {
            0 => &self.inverse_blocks,
            _ => &self.levels.coarse[level - 1].inverse_diagonal,
        }
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0)
    }

    fn patches(&self, level: usize) -> Option<&dyn PatchRelaxation<Cuda<R>>> {
        (level == 0 && self.by_patches.is_some()).then_some(self as _)
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        match level {
            0 => &self.levels.transfer,
            _ => &self.levels.coarse[level - 1].transfer,
        }
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

/// Patch smoother of the finest level.
impl<R: Real> PatchRelaxation<Cuda<R>> for RigidAggregation<'_, R> {
    fn invert(&self, growth: &Growth<Scalar>, r: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        if let Some(patches) = &self.by_patches {
            patches.invert(self.inverse_blocks.blocks(), growth, r, z);
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
            patches.relax(self.inverse_blocks.blocks(), step, r, d, x);
        }
    }
}

/// The finest level: the elements and, where there are any, the springs and other ranks.
struct FineOperator<'a, R: Real> {
    on_device: Arc<ProblemOnDevice>,
    elements: Mf<R>,
    others: Option<Others<'a, R>>,
    supports: kernels::Supports<R>,
}

impl<'a, R: Real> FineOperator<'a, R> {
    fn new(
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let supports = kernels::Supports::load(&on_device.device)?;
        let elements = Mf::in_order(on_device, problem.mesh())?;
        Ok(Self { on_device: on_device.clone(), elements, others: others.cloned(), supports })
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for FineOperator<'_, R> {
    fn space(&self) -> Space {
        self.elements.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.elements.apply(x, y);
        let ProblemOnDevice { mesh, constraints, .. } = &*self.on_device;
        if let Some(springs) = &constraints.springs {
            self.supports.add_springs(Threads(mesh.n_nodes), mesh.n_nodes, springs, x, &mut *y);
        }
        if let Some(others) = &self.others {
            others.refresh(y);
        }
    }

    fn cost(&self) -> Cost {
        self.elements.cost()
    }
}

//! The hierarchy on the device; level 0 is the matrix-free operator, the others are block matrices.

use std::sync::Arc;

use topopt_fem::{
    Aggregation, DIM, Discretization, Elasticity, Joints, Level, Refreshed, Shared, Supported,
    WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, Growth, Hierarchy, InverseDiagonal, LinearOperator, PatchRelaxation,
    PatchStep, SmootherKind, Space, Transfer,
};

use super::aggregates::{Grouping, Points};
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::fine_patches::FinePatches;
use super::joints::{JointLists, SupportedRows};
use super::level::{CoarseMatrix, Coarsened, Fine, InverseBlocks, LevelKernels};
use super::prepared::{Prepared, structure};
use super::shared_rows::{Others, SharedLevel};
use super::transfer::LevelTransfer;
use crate::Cuda;
use crate::operators::{Mf, ProblemOnDevice};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Plain aggregation with the modes of a physics, with numbers of precision `R` in the cycle.
pub struct DeviceHierarchy<'a, R: Real, K: Coarsened<N> = Elasticity, const N: usize = DIM> {
    /// Problem of the structure, where the structure follows designs.
    problem: Option<&'a Discretization<K, N>>,
    on_device: Arc<ProblemOnDevice<K, N>>,
    kernels: Arc<K::Levels<R>>,
    fine: Refreshed<'a, Cuda<R>, Fine<'a, R, K, N>>,
    inverse: InverseBlocks<R, K, N>,
    by_patches: Option<FinePatches<R>>,
    /// Bounds of the elements, see [`topopt_fem::ElementKernel::bounds`], and the coefficients times these.
    bounds: DeviceVector<R>,
    raised: Vec<DeviceVector<R>>,
    levels: Levels<'a, R, K, N>,
    /// See [`Prepared::halved_from`].
    least_halved: usize,
    convert: Convert<R>,
}

/// All below the finest level.
struct Levels<'a, R: Real, K: Coarsened<N>, const N: usize> {
    supported: SupportedRows,
    /// Levels that ranks share.
    shared: Vec<SharedLevel<'a, R>>,
    /// From each level to the next, and what the next is made of.
    transfers: Vec<LevelTransfer<'a, R, K, N>>,
    joints: Vec<JointLists>,
    /// Levels 1 and on.
    coarse: Vec<CoarseMatrix<'a, R, K, N>>,
    last_inverse: DenseInverse<R>,
}

impl<'a, R: Real, K: Coarsened<N>, const N: usize> Levels<'a, R, K, N> {
    fn new(
        kernels: &Arc<K::Levels<R>>,
        backend: &Cuda<R>,
        on_device: &ProblemOnDevice<K, N>,
        problem: &Discretization<K, N>,
        (structure, least_halved): (&Aggregation, usize),
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let shared = Shared::levels(others, structure, K::MODES * K::MODES)?;
        let (mut transfers, mut lists, mut coarse) = (Vec::new(), Vec::new(), Vec::new());

        // A level after the other: the way there, what it is made of, and its matrix.
        let mut joints = Joints::of_nodes(problem, structure);
        let mut points = Points::Nodes(on_device.mesh.clone(), on_device.constraints.clone());
        let groups = std::iter::once(&structure.nodes).chain(&structure.coarser);
        for (level, aggregates) in groups.enumerate() {
            // A held node with one unknown has no other; of others, kernels know which are held.
            let left_out =
                |n: u32| level == 0 && N == 1 && problem.constraints().is_held(n as usize);
            let grouping = Grouping::new(device, aggregates, left_out)?;
            if level > 0 {
                joints = Joints::of_aggregates(&joints, aggregates, &structure.patterns[level]);
            }
            let here = shared.get(level).cloned();
            transfers.push(LevelTransfer::new(kernels, points, &grouping, here.clone()));
            lists.push(JointLists::new(device, &joints)?);
            let centers = aggregates.centers();
            let matrix = CoarseMatrix::zeros(
                kernels,
                backend,
                &joints,
                &grouping,
                centers,
                here,
                least_halved,
            )?;
            coarse.push(matrix);
            points = Points::Aggregates(grouping);
        }

        Ok(Self {
            supported: SupportedRows::new(device, &Supported::new(problem, structure))?,
            shared,
            transfers,
            joints: lists,
            last_inverse: DenseInverse::new(device, K::MODES * (joints.row_offsets.len() - 1))?,
            coarse,
        })
    }
}

impl<'a, R: Real, K: Coarsened<N>, const N: usize> DeviceHierarchy<'a, R, K, N> {
    /// The hierarchy for `problem`: on ranks the problem of a part.
    pub(super) fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice<K, N>>,
        problem: &Discretization<K, N>,
        prepared: &Prepared,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let Prepared { structure, smoother, least_halved } = prepared;
        // Sums in a fixed order are those of whole rows.
        let least_halved = if on_device.mesh.is_one_part() { *least_halved } else { usize::MAX };
        let made_of = (structure, least_halved);
        let space = problem.space();
        let kernels = Arc::new(K::Levels::<R>::load(backend, problem)?);
        let elements = Box::new(Mf::in_order(on_device, problem)?);
        let operator = WithSprings::new(backend, problem, elements)?;

        // Stretched elements are not assembled here.
        let is_plain = problem.elements().stretches().is_none();
        let by_patches = match smoother {
            SmootherKind::Patch if is_plain => {
                Some(FinePatches::new(&on_device.mesh, problem, &structure.nodes)?)
            }
            _ => None,
        };

        let raised = |_| backend.zeros(Space::elements(on_device.mesh.n_elements));
        Ok(Self {
            problem: None,
            by_patches,
            fine: Refreshed { operator, others: others.cloned() },
            inverse: InverseBlocks::zeros(&kernels, backend, space, N * (N + 1) / 2)?,
            bounds: K::Levels::<R>::bounds(backend, on_device, problem)?,
            raised: (0..K::TERMS).map(raised).collect::<Result<_, _>>()?,
            levels: Levels::new(&kernels, backend, on_device, problem, made_of, others)?,
            least_halved,
            convert: Convert::load(backend.device())?,
            on_device: on_device.clone(),
            kernels,
        })
    }

    /// Allows the structure to be updated for designs of `problem`, for which it was made.
    pub(super) fn follow(&mut self, problem: &'a Discretization<K, N>) {
        self.problem = Some(problem);
    }

    /// Whether its structure can follow designs.
    pub(super) fn follows(&self) -> bool {
        self.problem.is_some()
    }

    /// Takes the structure around the elements `void`, and returns its levels; needs an update before use.
    pub(super) fn restructure(
        &mut self,
        backend: &Cuda<R>,
        void: &[u32],
    ) -> Result<Vec<Level>, BackendError> {
        let Self { problem, kernels, on_device, fine, levels, least_halved, .. } = self;
        let (Some(problem), others) = (*problem, fine.others.as_ref()) else {
            return Ok(Vec::new());
        };
        let structure = structure(problem, void, others.map(AsRef::as_ref))?;
        let made_of = (&structure, *least_halved);
        *levels = Levels::new(kernels, backend, on_device, problem, made_of, others)?;
        Ok(structure.levels())
    }

    /// Takes coefficients of the elements, `[n_elements]` for each term, for the next update.
    pub(super) fn set_coefficients(&mut self, coefficients: &[&DeviceVector<f64>]) {
        let own = self.fine.operator.elements_mut().coefficients_mut();
        for (own, given) in own.iter_mut().zip(coefficients) {
            self.convert.narrow(&given.values, &mut own.values);
        }
    }

    /// Recomputes all numbers. Neither allocates nor waits, so that it can be recorded.
    pub(super) fn update(&mut self, backend: &Cuda<R>) {
        self.update_finest(backend);
        let Self { kernels, fine, levels, .. } = self;
        let Levels { supported, joints, coarse, last_inverse, .. } = levels;
        kernels.first_matrix(backend, &fine.operator, (&joints[0], supported), &mut coarse[0]);
        coarse[0].complete();
        for level in 1..coarse.len() {
            let (done, rest) = coarse.split_at_mut(level);
            kernels.next_matrix(&done[level - 1], &joints[level], &mut rest[0]);
            rest[0].complete();
        }
        let last = &coarse[coarse.len() - 1];
        last_inverse.update(|scale, dense| last.fill_dense(scale, dense));
    }

    /// The smoothers of the finest level.
    fn update_finest(&mut self, backend: &Cuda<R>) {
        let Self { kernels, fine, inverse, by_patches, bounds, raised, .. } = self;
        let coefficients = fine.operator.elements().coefficients();
        for (given, raised) in coefficients.iter().zip(&mut *raised) {
            backend.multiply(bounds, given, raised);
        }
        kernels.invert_finest(backend, &fine.operator, raised, &mut inverse.values);
        if let Some(others) = &fine.others {
            others.refresh_blocks(&mut inverse.values);
        }
        if let Some(patches) = by_patches {
            let terms = [&coefficients[0], &coefficients[K::TERMS - 1]];
            patches.update(terms, fine.operator.stiffness());
        }
    }
}

impl<R: Real, K: Coarsened<N>, const N: usize> Hierarchy<Cuda<R>> for DeviceHierarchy<'_, R, K, N> {
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
            0 => &self.inverse,
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

/// Patch smoother of the finest level.
impl<R: Real, K: Coarsened<N>, const N: usize> PatchRelaxation<Cuda<R>>
    for DeviceHierarchy<'_, R, K, N>
{
    fn invert(&self, growth: &Growth<Scalar>, r: &DeviceVector<R>, z: &mut DeviceVector<R>) {
        if let Some(patches) = &self.by_patches {
            patches.invert(&self.inverse.values.values, growth, r, z);
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
            patches.relax(&self.inverse.values.values, step, r, d, x);
        }
    }
}

//! Operators, preconditioners and filters of the part of a rank on a GPU.

use std::sync::Arc;

use topopt_case::config::{self, Config};
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory::MEGABYTE;
use topopt_case::subject::Subject;
use topopt_cuda::{
    Cone, Cuda, DeviceCorners, Mf, Multigrid, OtherRanks, Prepared, ProblemOnDevice, Real,
    Strategy, part_of_filter, structure_of_part,
};
use topopt_design::Nearby;
use topopt_fem::{
    CornerMaps, Diffusion, Discretization, ElementPreconditioner, PartOfFilter, PartSharing,
    Sharing,
};
use topopt_linalg::{BackendError, CycleKind, Exchange};
use topopt_mesh::Part;

use super::memory::is_single;
use super::on_gpu::OnGpu;
use super::opened::{OpenGpu, bare_mesh, problem_on_device};
use crate::computer::of_part::{ConeOfPart, OfPart, PartOf};
use crate::computer::parts::PartSolver;
use crate::computer::{Computer, Neighbors, Solvable, cycle};
use crate::failure::Failure;

/// The other ranks of one with a GPU.
struct Others<'a> {
    /// For cycles in single precision; none where void is too soft for it.
    in_single: Option<Arc<dyn Sharing<'a, Cuda<f32>> + 'a>>,
    /// In double precision.
    in_double: Arc<dyn Sharing<'a, Cuda<f64>> + 'a>,
}

impl<C: Exchange<Cuda<f64>> + Exchange<Cuda<f32>>> OfPart<C> for OnGpu {
    type Strategy = config::Strategy;

    fn backend_of_part(&self) -> Result<Cuda<f64>, BackendError> {
        Cuda::new(&self.opened().device)
    }

    /// `mf` where that is left to us: ranks that measured might differ.
    fn strategy_of_parts<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
        wanted: config::Strategy,
        sharing: usize,
    ) -> Result<config::Strategy, Failure> {
        if subject.task.colors.is_some() {
            let finding = Finding::new("`solver.deterministic` is not there for several GPUs");
            let remedy = "leave it out, or leave `--ranks` out";
            return Err(InputError::from(finding.remedy(remedy)).into());
        }

        let wanted = match wanted {
            config::Strategy::Auto => config::Strategy::Mf,
            wanted => wanted,
        };
        let known = self.strategies(subject);
        if known.contains(&wanted.name()) {
            let needed = self.needs(config, subject)?.memory_mb;
            self.has_room(needed.get(wanted.name()).copied().unwrap_or_default(), sharing)?;
            return Ok(wanted);
        }

        let message = format!("strategy `{}` does not compute this model on GPUs", wanted.name());
        let remedy = format!("use one of {}", known.join(", "));
        Err(InputError::from(Finding::new(message).remedy(remedy)).into())
    }

    fn solver_of_part<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        solver: &config::Solver,
        part: PartOf<'a, C, K, N>,
        strategy: config::Strategy,
        contrast: f64,
    ) -> Result<PartSolver<'a, Cuda<f64>>, BackendError> {
        let PartOf { communicator, part, local } = part;
        let gpu = self.opened();
        let mut others = None;
        if solver.is_multigrid() {
            let in_double = PartSharing::of(&gpu.backend, communicator, part, N)?;
            let in_single = match is_single(contrast) {
                true => Some(PartSharing::of(gpu.single()?, communicator, part, N)?),
                false => None,
            };
            others = Some(Others { in_single, in_double });
        }
        self::solver(gpu, solver, local, strategy, others)
    }

    fn filter_of_part<'a>(
        &'a self,
        part: PartOf<'a, C, Diffusion, 1>,
    ) -> Result<PartOfFilter<'a, Cuda<f64>>, BackendError> {
        let PartOf { communicator, part, .. } = part;
        let gpu = self.opened();
        let single = gpu.single()?;
        let others = PartSharing::of(single, communicator, part, 1)?;
        let mesh = bare_mesh(&gpu.device, &part.mesh, None)?;
        part_of_filter(single, &mesh, &part.mesh, &others)
    }

    fn cone_of_part<'a>(
        &'a self,
        nearby: Nearby,
        radius: f64,
        _budget: usize,
    ) -> Result<ConeOfPart<'a, Cuda<f64>>, BackendError> {
        let Nearby { halo, centers } = nearby.own_first();
        let cone = Cone::new(&self.opened().device, &centers, radius)?;
        let neighbors = Neighbors { mean: cone.mean_neighbors(), stored: false };
        Ok((halo, Box::new(cone), neighbors))
    }

    fn corners_of_part<'a>(
        &'a self,
        part: &'a Part,
    ) -> Result<Box<dyn CornerMaps<Cuda<f64>> + 'a>, BackendError> {
        let mesh = bare_mesh(&self.opened().device, &part.mesh, None)?;
        Ok(Box::new(DeviceCorners::new(&mesh)?))
    }
}

impl OnGpu {
    /// Whether so many megabytes are free for each of the ranks that share it.
    fn has_room(&self, needed: f64, sharing: usize) -> Result<(), Failure> {
        let free = self.opened().device.memory()?.0 as f64 / MEGABYTE / sharing as f64;
        if needed <= free {
            return Ok(());
        }
        let message = format!(
            "the part of a rank needs {needed:.0} MB on a GPU, which has {free:.0} MB free"
        );
        let remedy = "give more `--ranks` with a GPU each, use a smaller mesh, or `--device cpu`";
        Err(InputError::from(Finding::new(message).remedy(remedy)).into())
    }
}

/// Builds operator and preconditioner on the part of a rank.
fn solver<'a, K: Solvable<N>, const N: usize>(
    gpu: &'a OpenGpu,
    solver: &config::Solver,
    local: &'a Discretization<K, N>,
    strategy: config::Strategy,
    others: Option<Others<'a>>,
) -> Result<PartSolver<'a, Cuda<f64>>, BackendError> {
    let mesh = problem_on_device(&gpu.device, local, None)?;
    let named = K::STRATEGIES.iter().find(|s| s.name() == strategy.name());
    let operator = named.unwrap_or(&Strategy::Mf).build(&mesh, local)?;

    let kind = cycle(solver, local.elements().are_tetrahedra());
    let preconditioner = match others {
        Some(Others { in_single: Some(in_cycle), in_double }) => {
            let others = OtherRanks { in_cycle, in_double };
            multigrid(gpu.single()?, &mesh, local, kind, others)?
        }
        Some(Others { in_double, .. }) => {
            let others = OtherRanks { in_cycle: in_double.clone(), in_double };
            multigrid(&gpu.backend, &mesh, local, kind, others)?
        }
        None => match K::block_jacobi(solver, &mesh).transpose()? {
            Some(blocks) => blocks,
            None => return Ok(PartSolver { operator, preconditioner: None }),
        },
    };

    let followed = Box::new(Mf::<f64, K, N>::new(&mesh, local)?) as Box<_>;
    Ok(PartSolver { operator, preconditioner: Some((preconditioner, followed)) })
}

fn multigrid<'a, R: Real, K: Solvable<N>, const N: usize>(
    backend: &'a Cuda<R>,
    mesh: &Arc<ProblemOnDevice<K, N>>,
    local: &'a Discretization<K, N>,
    kind: CycleKind,
    others: OtherRanks<'a, R>,
) -> Result<Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>, BackendError> {
    let OtherRanks { in_cycle: ranks, .. } = others.clone();
    if let Some(of_tetrahedra) =
        K::multigrid_of_tetrahedra(backend, mesh, local, kind, Some(others))
    {
        return of_tetrahedra;
    }
    let prepared = Prepared::with_structure(structure_of_part(local, ranks.as_ref())?);
    let multigrid = Multigrid::on_part(backend, mesh, local, kind, &prepared, ranks)?;
    Ok(Box::new(multigrid.following(local)))
}

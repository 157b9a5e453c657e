//! `OfPart`: builds operators, preconditioners and filters of the part of a rank.

use topopt_case::config::{self, Config};
use topopt_case::subject::Subject;
use topopt_design::{Cone, Nearby};
use topopt_fem::{
    Averaging, CornerMaps, CpuCorners, Diffusion, Discretization, ElementPreconditioner,
    PartOfFilter, PartSharing, Strategy,
};
use topopt_linalg::{BackendError, Communicator, Cpu, Exchange, Halo};
use topopt_mesh::Part;

use super::cpu::checked_strategy;
use super::parts::PartSolver;
use super::{Computer, Neighbors, OnCpu, Solvable, cycle};
use crate::failure::Failure;

/// A place in which ranks compute that reach each other by `C`.
pub trait OfPart<C: Exchange<Self::Backend>>: Computer {
    /// How an operator is chosen.
    type Strategy: Copy;

    /// Creates the backend for the vectors of a rank.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn backend_of_part(&self) -> Result<Self::Backend, BackendError>;

    /// The `wanted` strategy for the part of this rank, where `sharing` ranks share the memory of
    /// this host.
    ///
    /// # Errors
    /// An input failure if it does not compute the part here, or memory is too small.
    fn strategy_of_parts<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
        wanted: config::Strategy,
        sharing: usize,
    ) -> Result<Self::Strategy, Failure>;

    /// Operator and preconditioner of a part, for moduli down to `contrast` times the largest.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room, or another rank has failed.
    fn solver_of_part<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        solver: &config::Solver,
        part: PartOf<'a, C, K, N>,
        strategy: Self::Strategy,
        contrast: f64,
    ) -> Result<PartSolver<'a, Self::Backend>, BackendError>;

    /// The equation of the Helmholtz filter on a part.
    ///
    /// # Errors
    /// As [`OfPart::solver_of_part`].
    fn filter_of_part<'a>(
        &'a self,
        part: PartOf<'a, C, Diffusion, 1>,
    ) -> Result<PartOfFilter<'a, Self::Backend>, BackendError>;

    /// The cone of the elements `nearby` and how they are exchanged; lists of neighbors take at most
    /// `budget` bytes of a host.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn cone_of_part<'a>(
        &'a self,
        nearby: Nearby,
        radius: f64,
        budget: usize,
    ) -> Result<ConeOfPart<'a, Self::Backend>, BackendError>;

    /// Maps between elements and corners of `part`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn corners_of_part<'a>(
        &'a self,
        part: &'a Part,
    ) -> Result<Box<dyn CornerMaps<Self::Backend> + 'a>, BackendError>;
}

/// Work that each of several ranks does.
pub(crate) trait OnEachRank: Sync {
    /// Prepares what the first rank has, which the others wait for, with threads of its own;
    /// [`OnEachRank::on_rank`] does that where it has not been done.
    fn prepare(&self);

    /// Runs the work as the rank of `communicator`, which computes in `place`; `sharing` ranks
    /// share a host, or its GPU where they compute on that.
    ///
    /// # Errors
    /// Those of the work.
    fn on_rank<P: OfPart<C>, C: Exchange<P::Backend>>(
        &self,
        place: P,
        communicator: C,
        sharing: usize,
    ) -> Result<(), Failure>;
}

/// An equation on a part, and who has the others.
pub struct PartOf<'a, C, K, const N: usize> {
    /// The other ranks.
    pub communicator: &'a C,
    /// The part.
    pub part: &'a Part,
    /// The equation on it.
    pub local: &'a Discretization<K, N>,
}

/// A cone, how its elements are exchanged, and what there is to say of it.
pub type ConeOfPart<'a, B> = (Halo, Box<dyn Averaging<B> + 'a>, Neighbors);

impl<C: Communicator> OfPart<C> for OnCpu {
    type Strategy = Strategy;

    fn backend_of_part(&self) -> Result<Cpu, BackendError> {
        Ok(Cpu)
    }

    fn strategy_of_parts<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
        wanted: config::Strategy,
        sharing: usize,
    ) -> Result<Strategy, Failure> {
        Ok(checked_strategy(config, subject, wanted, sharing)?)
    }

    fn solver_of_part<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        solver: &config::Solver,
        part: PartOf<'a, C, K, N>,
        strategy: Strategy,
        _contrast: f64,
    ) -> Result<PartSolver<'a, Cpu>, BackendError> {
        let PartOf { communicator, part, local } = part;
        let preconditioner: Box<dyn ElementPreconditioner<Cpu> + 'a> = match solver.preconditioner {
            config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
                let others = PartSharing::of(&Cpu, communicator, part, N)?;
                let kind = cycle(solver, local.elements().are_tetrahedra());
                K::multigrid_on_part(local, kind, others)?
            }
            config::Preconditioner::BlockJacobi => K::inverse_blocks(local),
            config::Preconditioner::Jacobi => {
                return Ok(PartSolver { operator: strategy.build(local), preconditioner: None });
            }
        };
        let followed = Strategy::Mf.build(local);
        let preconditioner = Some((preconditioner, followed));
        Ok(PartSolver { operator: strategy.build(local), preconditioner })
    }

    fn filter_of_part<'a>(
        &'a self,
        part: PartOf<'a, C, Diffusion, 1>,
    ) -> Result<PartOfFilter<'a, Cpu>, BackendError> {
        let PartOf { communicator, part, local } = part;
        let others = PartSharing::of(&Cpu, communicator, part, 1)?;
        PartOfFilter::on_cpu(local, others)
    }

    fn cone_of_part<'a>(
        &'a self,
        Nearby { halo, centers }: Nearby,
        radius: f64,
        budget: usize,
    ) -> Result<ConeOfPart<'a, Cpu>, BackendError> {
        let cone = Cone::of_rows(centers, halo.own.clone(), radius, budget);
        let neighbors = Neighbors::new(cone.mean_neighbors(), cone.storage());
        Ok((halo, Box::new(cone), neighbors))
    }

    fn corners_of_part<'a>(
        &'a self,
        part: &'a Part,
    ) -> Result<Box<dyn CornerMaps<Cpu> + 'a>, BackendError> {
        Ok(Box::new(CpuCorners::new(&part.mesh)))
    }
}

//! `OnRanks`: computation by one of several ranks, on its part of the mesh.

use std::sync::{Arc, OnceLock};

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::{Finding, InputError};
use topopt_case::subject::Subject;
use topopt_design::{Nearby, RankCone};
use topopt_distance::{Arrival, Speed, Tetrahedra};
use topopt_fem::{
    Constraints, CornerMaps, Diffusion, Discretization, Distributed, DistributedPreconditioner,
    ElementOperator, ElementPreconditioner, Helmholtz, Jacobi, PartVectors, Problem, RankCorners,
    filter_coefficients,
};
use topopt_linalg::{
    BackendError, Communicator, Exchange, Layout, Ranks, Share, Shares, SmootherKind, Space,
};
use topopt_mesh::Part;

use super::of_part::{OfPart, PartOf};
use super::parts::PartSolver;
use super::{BuiltWeights, Computer, EachOperator, Needs, Solvable, Solver, smoother};
use crate::failure::Failure;

/// Backend of ranks that compute in the place `P` and reach each other by `C`.
type RankBackend<P, C> = Ranks<<P as Computer>::Backend, C>;

/// Computer of one rank, which computes its part of a mesh by the computer `P`.
pub struct OnRanks<P: Computer, C: Exchange<P::Backend>> {
    place: P,
    ranks: RankBackend<P, C>,
    part: Part,
    /// Number of ranks that share the memory of this host.
    sharing: usize,
    /// The equation of the filter, and its part of linear tetrahedra, made when first asked for.
    filter: OnceLock<(Option<Part>, Discretization<Diffusion, 1>)>,
}

impl<P: OfPart<C>, C: Exchange<P::Backend>> OnRanks<P, C> {
    /// The rank of `communicator` in `place`, with its part of what has these `shares`; so many
    /// ranks share the memory of this host.
    ///
    /// # Errors
    /// [`BackendError`] if the place fails.
    pub fn new(
        place: P,
        communicator: C,
        (part, shares): (Part, Shares),
        sharing: usize,
    ) -> Result<Self, BackendError> {
        let shares = match part.linear() {
            None => shares,
            Some(Part { n_own_nodes, .. }) => {
                let counts = communicator.gather_all(&[n_own_nodes as f64]).concat();
                let counts = counts.into_iter().map(|count| count as usize).collect();
                shares.with_vertices(Share::in_order(counts))
            }
        };
        let ranks = Ranks::new(place.backend_of_part()?, communicator, shares);
        Ok(Self { place, ranks, part, sharing, filter: OnceLock::new() })
    }

    fn refusal(&self, operation: &str, message: &str) -> BackendError {
        BackendError {
            device: format!("rank {}", self.ranks.communicator().rank()),
            operation: operation.into(),
            message: message.into(),
        }
    }

    /// The operator of all ranks from that of the part.
    fn distributed<'a>(
        &'a self,
        operator: Box<dyn ElementOperator<P::Backend> + 'a>,
        vectors: &Arc<PartVectors<P::Backend>>,
    ) -> Result<Box<dyn ElementOperator<RankBackend<P, C>> + 'a>, BackendError> {
        let Self { ranks, part, .. } = self;
        let n_nodes = ranks.n_points(Layout::Nodes);
        Ok(Box::new(Distributed::new(ranks, part, operator, vectors, n_nodes)?))
    }

    /// The strategy of this rank. No rank takes memory before all have looked for it.
    fn strategy<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
        wanted: config::Strategy,
    ) -> Result<P::Strategy, Failure> {
        let found = self.place.strategy_of_parts(config, subject, wanted, self.sharing);
        if self.ranks.communicator().any(found.is_err()) && found.is_ok() {
            return Err(self.refusal("preparing", "another rank cannot").into());
        }
        found
    }
}

impl<P: OfPart<C>, C: Exchange<P::Backend>> Computer for OnRanks<P, C> {
    type Backend = RankBackend<P, C>;
    const UNMEASURED: config::Strategy = P::UNMEASURED;

    fn backend(&self) -> &Self::Backend {
        &self.ranks
    }

    fn communicator(&self) -> &dyn Communicator {
        self.ranks.communicator()
    }

    fn strategies<K: Solvable<N>, const N: usize>(
        &self,
        subject: Subject<K, N>,
    ) -> Vec<&'static str> {
        self.place.strategies(subject)
    }

    /// Returns the needs of the part of this rank.
    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
    ) -> Result<Needs, Failure> {
        self.place.needs(config, subject)
    }

    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        subject: Subject<'a, K, N>,
        wanted: config::Strategy,
        contrast: f64,
    ) -> Result<Solver<'a, Self::Backend>, Failure> {
        let Self { place, ranks, part, .. } = self;
        let (strategy, local) = (self.strategy(config, subject, wanted)?, subject.equation);
        if smoother(&config.solver) == SmootherKind::Patch {
            let finding = Finding::new("patches do not smooth on several ranks");
            let remedy = "set `solver.smoother` to \"chebyshev\", or leave `--ranks` out";
            return Err(InputError::from(finding.remedy(remedy)).into());
        }

        let of_part = PartOf { communicator: ranks.communicator(), part, local };
        let made = place.solver_of_part(&config.solver, of_part, strategy, contrast)?;
        let PartSolver { operator, preconditioner } = made;
        let vectors = &PartVectors::new(ranks.inner(), part, N, K::TERMS)?;
        let preconditioner: Box<dyn ElementPreconditioner<_> + 'a> = match preconditioner {
            None => Box::new(Jacobi::new(ranks, subject.problem.unknowns())?),
            Some((of_part, followed)) => {
                Box::new(DistributedPreconditioner::new(ranks, part, of_part, followed, vectors)?)
            }
        };
        Ok(Solver { operator: self.distributed(operator, vectors)?, preconditioner, note: None })
    }

    fn matrix_free<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        local: &'a Discretization<K, N>,
        _colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Self::Backend> + 'a>, BackendError> {
        let vectors = PartVectors::new(self.ranks.inner(), &self.part, N, K::TERMS)?;
        self.distributed(self.place.matrix_free(local, None)?, &vectors)
    }

    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        _: Subject<'a, K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Self::Backend>, BackendError> {
        let Self { place, ranks, part, .. } = self;
        let (communicator, n_elements) = (ranks.communicator(), ranks.n_points(Layout::Elements));

        match *plan {
            Weights::Helmholtz => {
                let (linear, local) = self.filter.get_or_init(|| {
                    let linear = part.linear();
                    let mesh = &linear.as_ref().unwrap_or(part).mesh;
                    let free = Constraints::none(mesh.n_nodes());
                    let local = Discretization::new(mesh.clone(), Diffusion::default(), free);
                    (linear, local)
                });

                let terms = filter_coefficients(&part.mesh, radius);
                let nodes = match linear {
                    Some(_) => Space::vertices(ranks.n_points(Layout::Vertices)),
                    None => Space::nodes(ranks.n_points(Layout::Nodes), 1),
                };
                let (part, spaces) =
                    (linear.as_ref().unwrap_or(part), [nodes, Space::elements(n_elements)]);
                let filter = place.filter_of_part(PartOf { communicator, part, local })?;
                Ok((Box::new(Helmholtz::on_ranks(ranks, part, filter, &terms, spaces)?), None))
            }
            Weights::Cone { budget } => {
                let mut centers = part.mesh.centers();
                centers.truncate(part.n_own_elements);
                let nearby = Nearby::new(communicator, &centers, radius)?;
                let budget = budget / communicator.size();
                let (halo, cone, neighbors) = place.cone_of_part(nearby, radius, budget)?;
                Ok((Box::new(RankCone::new(ranks, n_elements, &halo, cone)?), Some(neighbors)))
            }
        }
    }

    fn corners<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        _: Subject<'a, K, N>,
    ) -> Result<Box<dyn CornerMaps<Self::Backend> + 'a>, BackendError> {
        let Self { place, ranks, part, .. } = self;
        Ok(Box::new(RankCorners::new(ranks, part, place.corners_of_part(part)?)?))
    }

    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        _: &Problem<K, N>,
        _: Option<&[usize]>,
        _: &dyn Fn(&str) -> bool,
        _: &mut EachOperator<Self::Backend>,
    ) -> Result<(), BackendError> {
        Err(self.refusal("comparing operators", "they are compared on one rank"))
    }

    /// On every rank the whole.
    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure> {
        self.place.arrival(tetrahedra, speed, sources, end)
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError> {
        let seconds = self.place.seconds(work)?;
        self.ranks.communicator().check()?;
        Ok(seconds)
    }
}

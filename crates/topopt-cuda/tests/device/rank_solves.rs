//! Multigrid and the Helmholtz filter of virtual ranks that share a device, against those of one.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{
    Cuda, Device, MatrixFreeEquation, MeshOnDevice, Mf, Multigrid, OtherRanks, Prepared,
    ProblemOnDevice, Real, Staged, TetrahedraMultigrid, part_of_filter, structure_of_part,
};
use topopt_fem::{
    Aggregation, Averaging, Constraints, Diffusion, Discretization, Distributed, DistributedPart,
    DistributedPreconditioner, Elasticity, ElementKernel, ElementOperator, ElementPreconditioner,
    Formulation, Helmholtz, Material, PartSharing, PartVectors, Supports, WithSprings,
    filter_coefficients,
};
use topopt_linalg::{
    Backend, BackendError, CycleKind, Exchange, Pcg, PcgOptions, Ranks, Space, StopReason, System,
    Threads,
};
use topopt_mesh::{HexMesh, Part, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_cube, distorted_tetrahedra, hexagon};

use crate::device;
use crate::diffusion::with_film;
use crate::gpus::on_each_gpu;

const SIZES: [usize; 1] = [3];

/// A rank with its part of an equation.
struct Rank<C, K, const N: usize> {
    backend: Ranks<Cuda<f64>, C>,
    part: Part,
    local: Discretization<K, N>,
}

impl<C: Exchange<Cuda<f64>>, K: ElementKernel<N>, const N: usize> Rank<C, K, N> {
    /// Builds the rank of `communicator` with its part of `whole`.
    fn new(
        device: &Arc<Device>,
        communicator: C,
        whole: &Discretization<K, N>,
    ) -> Result<Self, BackendError> {
        let DistributedPart { part, equation: local, shares } = match communicator.rank() {
            0 => DistributedPart::deal(&communicator, whole),
            _ => DistributedPart::receive(&communicator, *whole.kernel())?,
        };
        let backend = Ranks::new(Cuda::new(device)?, communicator, shares);
        Ok(Self { backend, part, local })
    }
}

/// Ranks that share a device.
type Virtual<'t> = Staged<&'t Threads>;

/// Iterations of a solve for moduli that differ by 1e3, and what comes of it.
fn solve<B: Backend + Sync, K: ElementKernel<N>, const N: usize>(
    backend: &B,
    whole: &Discretization<K, N>,
    operator: Box<dyn ElementOperator<B> + '_>,
    m: &mut dyn ElementPreconditioner<B>,
) -> Result<(usize, Vec<f64>), BackendError> {
    let n = whole.mesh().n_elements();
    let mut operator = WithSprings::new(backend, whole, operator)?;
    let moduli: Vec<f64> =
        (0..n).map(|e| if (e / 7) % 3 == 0 { 1e-3 } else { 1.0 + (e % 5) as f64 / 9.0 }).collect();
    let mut terms = vec![backend.upload(&moduli, Space::elements(n))?];
    terms
        .extend((1..K::TERMS).map(|_| backend.upload(&vec![1e-3; n], Space::elements(n)).unwrap()));
    let terms: Vec<&B::Vector> = terms.iter().collect();
    operator.set_coefficients(&terms);
    m.update(backend, &operator, &terms)?;

    let mut forces = Noise(5).vector(whole.n_dofs());
    whole.constraints().clear(&mut forces);
    let f = backend.upload(&forces, whole.space())?;
    let (mut u, mut pcg) = (backend.zeros(whole.space())?, Pcg::new(backend, whole.space())?);
    let system = System { backend, a: &operator, m, f: &f };
    let options = PcgOptions { tolerance: 1e-9, max_iterations: 400 };
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
    assert_eq!(outcome.reason, StopReason::Converged);
    Ok((outcome.iterations, backend.decide(backend.download(&u)?)?))
}

/// Returns the result of `work` on `size` ranks on `device`; all ranks must agree.
fn on_ranks<K: ElementKernel<N>, T: Send + PartialEq, const N: usize>(
    device: &Arc<Device>,
    whole: &Discretization<K, N>,
    size: usize,
    work: impl Fn(&Rank<Virtual, K, N>) -> Result<T, BackendError> + Sync,
) -> T {
    let found = Threads::run(size, |thread| work(&Rank::new(device, Staged(thread), whole)?));
    let mut found = found.unwrap();
    assert!(found.iter().all(|of_rank| *of_rank == found[0]), "ranks differ");
    found.remove(0)
}

/// The solve on a rank, with the preconditioner of its part.
fn solve_on_rank<'r, C: Exchange<Cuda<f64>>, K: ElementKernel<N>, const N: usize>(
    rank: &'r Rank<C, K, N>,
    whole: &Discretization<K, N>,
    [operator, followed]: [Box<dyn ElementOperator<Cuda<f64>> + 'r>; 2],
    of_part: Box<dyn ElementPreconditioner<Cuda<f64>> + 'r>,
) -> Result<(usize, Vec<f64>), BackendError> {
    let Rank { backend, part, .. } = rank;
    let n_nodes = whole.mesh().n_nodes();
    let vectors = &PartVectors::new(backend.inner(), part, N, K::TERMS)?;
    let operator = Distributed::new(backend, part, operator, vectors, n_nodes)?;
    let mut m = DistributedPreconditioner::new(backend, part, of_part, followed, vectors)?;
    solve(backend, whole, Box::new(operator), &mut m)
}

fn meshes() -> [HexMesh; 2] {
    [distorted_cube(6, 0.2, true), hexagon(3)]
        .map(|mesh| Renumbering::on_import(&mesh).apply(&mesh))
}

/// Held at some nodes, on springs at others.
fn elastic(mesh: HexMesh, formulation: Formulation) -> Discretization<Elasticity, 3> {
    let mut supports = Supports::none(mesh.n_nodes());
    for node in (0..mesh.n_nodes()).filter(|node| node % 91 == 0) {
        (0..3).for_each(|i| supports.fix(node, i));
        (0..3).for_each(|i| supports.add_spring((node + 17) % mesh.n_nodes(), i, 0.1));
    }
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(formulation);
    Discretization::new(mesh, kernel, supports)
}

/// The solve of elasticity on a rank; several divide all coarse levels but the last.
fn elastic_on_rank<R: Real, C: Exchange<Cuda<f64>> + Exchange<Cuda<R>>>(
    rank: &Rank<C, Elasticity, 3>,
    device: &Arc<Device>,
    whole: &Discretization,
) -> Result<(usize, Vec<f64>), BackendError> {
    let Rank { backend, part, local } = rank;
    let single = Cuda::<R>::new(device)?;
    let ranks = backend.communicator();
    let least_divided = if ranks.size() > 1 { 0 } else { usize::MAX };
    let others = PartSharing::dividing(least_divided, &single, ranks, part, 3)?;
    let on_device = ProblemOnDevice::new(device, local)?;
    let structure = match ranks.size() {
        1 => structure_of_part(local, others.as_ref())?,
        _ => Aggregation::on_part(local, others.as_ref(), &[], 60)?, // more levels than one
    };
    let prepared = Prepared::with_structure(structure);
    let multigrid =
        Multigrid::on_part(&single, &on_device, local, CycleKind::K, &prepared, others)?;
    let operator = || Ok(Box::new(Mf::<f64>::new(&on_device, local)?) as Box<_>);
    solve_on_rank(rank, whole, [operator()?, operator()?], Box::new(multigrid))
}

#[test]
fn a_solve_by_nccl_is_that_of_one_rank() {
    on_each_gpu("rank_solves::a_solve_by_nccl_is_that_of_one_rank", |device, join| {
        let [mesh, _] = meshes();
        let whole = elastic(mesh, Formulation::Full);
        let (iterations, u) =
            on_ranks(device, &whole, 1, |rank| elastic_on_rank::<f32, _>(rank, device, &whole));
        let rank = Rank::new(device, join(), &whole).unwrap();
        let (found, u_there) = elastic_on_rank::<f32, _>(&rank, device, &whole).unwrap();
        assert_close(&u_there, &u, 1e-6, "displacements by NCCL");
        let most = (1.15 * iterations as f64).ceil() as usize;
        assert!(found <= most, "{found} > {most}");
    });
}

fn elastic_solves_agree<R: Real>(device: &Arc<Device>, whole: &Discretization) {
    let backend = Cuda::new(device).unwrap();
    let on_device = ProblemOnDevice::new(device, whole).unwrap();
    let (prepared, rounded) = (Prepared::new(whole), Cuda::<R>::new(device).unwrap());
    let mut multigrid =
        Multigrid::new(&rounded, &on_device, whole, CycleKind::K, &prepared).unwrap();
    let operator = Box::new(Mf::<f64>::new(&on_device, whole).unwrap());
    let alone = solve(&backend, whole, operator, &mut multigrid).unwrap();

    for size in SIZES {
        let (iterations, u) =
            on_ranks(device, whole, size, |rank| elastic_on_rank::<R, _>(rank, device, whole));
        assert_close(&u, &alone.1, 1e-6, "displacements");
        let most = (1.15 * alone.0 as f64).ceil() as usize;
        assert!(iterations <= most, "{size} ranks: {iterations} > {most}, {}", R::NAME);
    }
}

#[test]
fn multigrid_of_elasticity_takes_about_as_many_iterations() {
    let Some(device) = device() else { return };
    let [distorted, irregular] = meshes();
    elastic_solves_agree::<f32>(&device, &elastic(distorted, Formulation::Incompatible));
    elastic_solves_agree::<f64>(&device, &elastic(irregular, Formulation::Full));
}

#[test]
fn multigrid_of_tetrahedra_takes_about_as_many_iterations() {
    let Some(device) = device() else { return };
    let mesh = distorted_tetrahedra(4, 0.2, true);
    let mesh = Renumbering::on_import(&mesh).apply(&mesh);
    let whole = elastic(mesh, Formulation::Full);
    tetrahedra_agree::<f32>(&device, &whole);
    tetrahedra_agree::<f64>(&device, &whole);
}

fn tetrahedra_agree<R: Real>(device: &Arc<Device>, whole: &Discretization) {
    let backend = Cuda::new(device).unwrap();
    let (rounded, kind) = (Cuda::<R>::new(device).unwrap(), CycleKind::V);
    let on_device = ProblemOnDevice::new(device, whole).unwrap();
    let mut multigrid = TetrahedraMultigrid::new(&rounded, &on_device, whole, kind).unwrap();
    let operator = Box::new(Mf::<f64>::new(&on_device, whole).unwrap());
    let alone = solve(&backend, whole, operator, &mut multigrid).unwrap();

    for size in SIZES {
        let (iterations, u) = on_ranks(device, whole, size, |rank| {
            let Rank { backend, part, local } = rank;
            let (ranks, rounded) = (backend.communicator(), Cuda::<R>::new(device)?);
            let in_cycle = PartSharing::of(&rounded, ranks, part, 3)?;
            let in_double = PartSharing::of(backend.inner(), ranks, part, 3)?;
            let on_device = ProblemOnDevice::new(device, local)?;
            let others = Some(OtherRanks { in_cycle, in_double });
            let of_part = TetrahedraMultigrid::among(&rounded, &on_device, local, kind, others)?;
            let operator = || Ok(Box::new(Mf::<f64>::new(&on_device, local)?) as Box<_>);
            solve_on_rank(rank, whole, [operator()?, operator()?], Box::new(of_part))
        });
        assert_close(&u, &alone.1, 1e-6, "displacements");
        let most = (1.15 * alone.0 as f64).ceil() as usize;
        assert!(iterations <= most, "{size} ranks: {iterations} > {most}, {}", R::NAME);
    }
}

#[test]
fn multigrid_of_heat_takes_about_as_many_iterations() {
    let Some(device) = device() else { return };
    let backend = Cuda::new(&device).unwrap();
    let single = Cuda::<f32>::new(&device).unwrap();
    for mesh in meshes() {
        let mut held = Constraints::none(mesh.n_nodes());
        (0..mesh.n_nodes()).step_by(301).for_each(|node| held.fix(node, 0));
        (0..mesh.n_nodes()).step_by(77).for_each(|node| held.add_spring(node, 0, 0.01));
        let whole =
            with_film(&Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), held));
        let on_device = ProblemOnDevice::new(&device, &whole).unwrap();
        let prepared = Prepared::new(&whole);
        let mut multigrid =
            Multigrid::new(&single, &on_device, &whole, CycleKind::K, &prepared).unwrap();
        let operator = Box::new(Mf::<f64, _, _>::new(&on_device, &whole).unwrap());
        let alone = solve(&backend, &whole, operator, &mut multigrid).unwrap();
        for size in SIZES {
            let (iterations, u) = on_ranks(&device, &whole, size, |rank| {
                let Rank { backend, part, local } = rank;
                let others = PartSharing::dividing(0, &single, backend.communicator(), part, 1)?;
                let on_device = ProblemOnDevice::new(&device, local)?;
                let structure = Aggregation::on_part(local, others.as_ref(), &[], 6)?;
                let (kind, prepared) = (CycleKind::K, Prepared::with_structure(structure));
                let multigrid =
                    Multigrid::on_part(&single, &on_device, local, kind, &prepared, others)?;
                let operator = || Ok(Box::new(Mf::new(&on_device, local)?) as Box<_>);
                solve_on_rank(rank, &whole, [operator()?, operator()?], Box::new(multigrid))
            });
            assert_close(&u, &alone.1, 1e-6, "temperatures");
            let most = (1.15 * alone.0 as f64).ceil() as usize;
            assert!(iterations <= most, "{size} ranks: {iterations} > {most}");
        }
    }
}

#[test]
fn the_helmholtz_filter_is_that_of_one_rank() {
    let Some(device) = device() else { return };
    let backend = Cuda::new(&device).unwrap();
    let single = Cuda::<f32>::new(&device).unwrap();
    let [mesh, _] = meshes();
    let elements = Space::elements(mesh.n_elements());
    let x = Noise(3).vector(mesh.n_elements());
    let on_device = MeshOnDevice::new(&device, &mesh).unwrap();
    let equation = MatrixFreeEquation::new(
        (&backend, &single),
        &on_device,
        &mesh,
        &filter_coefficients(&mesh, 0.4),
    )
    .unwrap();
    let filter = Helmholtz::solving(&backend, equation).unwrap();
    let mut y = backend.zeros(elements).unwrap();
    filter.apply(&backend.upload(&x, elements).unwrap(), &mut y).unwrap();
    let alone = backend.download(&y).unwrap();

    let n_nodes = mesh.n_nodes();
    let spaces = [Space::nodes(n_nodes, 1), elements];
    let whole = Discretization::new(mesh, Diffusion::default(), Constraints::none(n_nodes));
    for size in SIZES {
        let found = on_ranks(&device, &whole, size, |Rank { backend, part, .. }| {
            let others = PartSharing::of(&single, backend.communicator(), part, 1)?;
            let on_device = MeshOnDevice::new(&device, &part.mesh)?;
            let of_part = part_of_filter(&single, &on_device, &part.mesh, &others)?;
            let filter = Helmholtz::on_ranks(
                backend,
                part,
                of_part,
                &filter_coefficients(&part.mesh, 0.4),
                spaces,
            )?;
            let (x, mut y) = (backend.upload(&x, elements)?, backend.zeros(elements)?);
            filter.apply(&x, &mut y).unwrap();
            backend.decide(backend.download(&y)?)
        });
        assert_close(&found, &alone, 1e-9, &format!("filtered on {size} ranks"));
    }
}

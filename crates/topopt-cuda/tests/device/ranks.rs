//! Operators of virtual ranks that share a device, against those of one.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cuda, Device, DeviceKernel, Real, Staged};
use topopt_fem::{
    Constraints, Diffusion, Discretization, Distributed, DistributedPart, Elasticity,
    ElementKernel, ElementOperator, Formulation, Material, PartVectors, Supports,
};
use topopt_linalg::{
    Backend, BackendError, Communicator, Exchange, Halo, Neighbor, Parcel, Ranks, Space, Threads,
};
use topopt_mesh::Renumbering;
use topopt_testing::{Noise, assert_close, distorted_cube};

use crate::device;
use crate::gpus::on_each_gpu;

/// Makes an operator on a device.
type Make<'m, K, const N: usize> = &'m (
        dyn Fn(
    &Cuda<f64>,
    &Discretization<K, N>,
) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError>
            + Sync
    );

/// Product, diagonal, works and a scalar product, on the host.
fn all_of<B: Backend>(
    backend: &B,
    whole: Space,
    n_elements: usize,
    operator: &mut dyn ElementOperator<B>,
    terms: usize,
) -> Result<[Vec<f64>; 4], BackendError> {
    let elements = Space::elements(n_elements);
    let coefficients: Vec<f64> = Noise(3).vector(n_elements).iter().map(|v| 1.5 + v).collect();
    let coefficients = backend.upload(&coefficients, elements)?;
    operator.set_coefficients(&vec![&coefficients; terms]);

    let [x, v] = [11, 12].map(|seed| Noise(seed).vector(whole.len()));
    let (x, v) = (backend.upload(&x, whole)?, backend.upload(&v, whole)?);
    let (mut y, mut diagonal) = (backend.zeros(whole)?, backend.zeros(whole)?);
    let mut works = backend.zeros(elements)?;
    operator.apply(&x, &mut y);
    operator.diagonal(&mut diagonal);
    operator.element_work(0, &v, &x, &mut works);
    let dot = backend.value(&backend.dot(&x, &y))?;
    let download = |vector: &B::Vector| backend.decide(backend.download(vector)?);
    Ok([download(&y)?, download(&diagonal)?, download(&works)?, vec![dot]])
}

/// Returns `all_of` the operator of `whole` on one of the ranks that `communicator` connects.
fn on_rank<C: Exchange<Cuda<f64>>, K: ElementKernel<N>, const N: usize>(
    backend: Cuda<f64>,
    communicator: C,
    whole: &Discretization<K, N>,
    make: Make<K, N>,
) -> Result<[Vec<f64>; 4], BackendError> {
    let DistributedPart { part, equation, shares } = match communicator.rank() {
        0 => DistributedPart::deal(&communicator, whole),
        _ => DistributedPart::receive(&communicator, *whole.kernel())?,
    };
    let operator = make(&backend, &equation)?;
    let ranks: Ranks<Cuda<f64>, C> = Ranks::new(backend, communicator, shares);
    let n_nodes = whole.mesh().n_nodes();
    let vectors = PartVectors::new(ranks.inner(), &part, N, K::TERMS)?;
    let mut operator = Distributed::new(&ranks, &part, operator, &vectors, n_nodes)?;
    all_of(&ranks, whole.space(), whole.mesh().n_elements(), &mut operator, K::TERMS)
}

fn agree<K: ElementKernel<N>, const N: usize>(
    name: &str,
    whole: &Discretization<K, N>,
    make: Make<K, N>,
) {
    let Some(device) = device() else { return };
    let backend = Cuda::new(&device).unwrap();
    let (space, n_elements) = (whole.space(), whole.mesh().n_elements());
    let mut operator = make(&backend, whole).unwrap();
    let alone = all_of(&backend, space, n_elements, operator.as_mut(), K::TERMS).unwrap();
    for size in [1, 2, 3, 5] {
        let found = Threads::run(size, |rank| {
            let backend = Cuda::new(&device)?;
            on_rank(backend, Staged(rank), whole, make)
        })
        .unwrap();
        assert!(found.iter().all(|of_rank| *of_rank == found[0]), "ranks differ");
        let parts = ["product", "diagonal", "works", "scalar product"];
        for ((found, alone), what) in found[0].iter().zip(&alone).zip(parts) {
            assert_close(found, alone, 1e-13, &format!("{what} of {name} on {size} ranks"));
        }
    }
}

fn elastic(formulation: Formulation) -> Discretization<Elasticity, 3> {
    let mesh = distorted_cube(5, 0.2, true);
    let mesh = Renumbering::on_import(&mesh).apply(&mesh);
    let mut supports = Supports::none(mesh.n_nodes());
    (0..mesh.n_nodes()).filter(|n| n % 9 == 0).for_each(|n| supports.fix(n, n % 3));
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(formulation);
    Discretization::new(mesh, kernel, supports)
}

#[test]
fn elastic_operators_are_those_of_one_rank() {
    for formulation in [Formulation::Full, Formulation::Incompatible] {
        let whole = elastic(formulation);
        for strategy in Strategy::ALL {
            let name = format!("{}, {formulation:?},", strategy.name());
            agree(&name, &whole, &|backend, local| {
                strategy.build(&ProblemOnDevice::new(backend.device(), local)?, local)
            });
        }
    }
}

#[test]
fn operators_of_heat_are_those_of_one_rank() {
    let mesh = elastic(Formulation::Full).mesh().clone();
    let mut constraints = Constraints::none(mesh.n_nodes());
    (0..mesh.n_nodes()).filter(|n| n % 7 == 0).for_each(|n| constraints.fix(n, 0));
    let whole = Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), constraints);
    for &strategy in Diffusion::STRATEGIES {
        agree(strategy.name(), &whole, &|backend, local| {
            strategy.build(&ProblemOnDevice::new(backend.device(), local)?, local)
        });
    }
}

#[test]
fn a_halo_crosses_in_both_precisions() {
    let Some(device) = device() else { return };
    crosses::<f64>(&device);
    crosses::<f32>(&device);
}

/// Two ranks with three points each exchange two of them.
fn crosses<R: Real>(device: &Arc<Device>) {
    let found = Threads::run(2, |thread| {
        let (rank, backend) = (thread.rank(), Cuda::<R>::new(device)?);
        let neighbor = Neighbor { rank: 1 - rank, sent: vec![2, 0], received: vec![4, 3] };
        let halo = Halo { own: 0..3, n_points: 5, neighbors: vec![neighbor] };
        let (staged, values) = (Staged(thread), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let values = values.map(|value| value + 10.0 * rank as f64);
        let lists = Exchange::<Cuda<R>>::lists(&staged, &backend, &halo, 2)?;
        let mut own = backend.upload(&values, Space::nodes(3, 2))?;
        let mut part = backend.zeros(Space::nodes(5, 2))?;
        staged.expand(&backend, &lists, &own, &mut part);
        backend.fill(0.0, &mut own);
        staged.contract(&backend, &lists, &part, &mut own);
        assert_eq!(backend.decide(backend.download(&own)?)?, values);
        backend.download(&part)
    });
    let found = found.unwrap();
    assert_eq!(found[0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 11.0, 14.0, 15.0]);
    assert_eq!(found[1], [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 0.0, 1.0, 4.0, 5.0]);
}

#[test]
fn nccl_is_the_same_from_device_to_device() {
    on_each_gpu("ranks::nccl_is_the_same_from_device_to_device", |device, join| {
        let whole = elastic(Formulation::Incompatible);
        let make: Make<Elasticity, 3> = &|backend, local| {
            Strategy::Mf.build(&ProblemOnDevice::new(backend.device(), local)?, local)
        };
        let backend = Cuda::new(device).unwrap();
        let mut operator = make(&backend, &whole).unwrap();
        let n_elements = whole.mesh().n_elements();
        let alone = all_of(&backend, whole.space(), n_elements, operator.as_mut(), 1).unwrap();

        let ranks = join();
        messages_arrive(&ranks);
        let found = on_rank(backend, ranks, &whole, make).unwrap();
        for (found, alone) in found.iter().zip(&alone) {
            assert_close(found, alone, 1e-13, "by NCCL");
        }
    });
}

/// Exchanges host values in a ring; the last rank has nothing to gather.
fn messages_arrive(ranks: &impl Communicator) {
    let (rank, size) = (ranks.rank(), ranks.size());
    let mut values = [rank as f64, 1.0];
    ranks.sum(&mut values);
    assert_eq!(values, [(size * (size - 1) / 2) as f64, size as f64]);
    let mut values = [-(rank as f64)];
    ranks.max(&mut values);
    assert_eq!(values, [0.0]);

    let [next, last] = [(rank + 1) % size, (rank + size - 1) % size];
    let parcel = |rank, sent: Vec<f64>, n| Parcel { rank, sent, received: vec![0.0; n] };
    let mut parcels = match next == last {
        true => vec![parcel(next, vec![rank as f64; 3], 3)],
        false => vec![parcel(next, vec![rank as f64; 3], 0), parcel(last, Vec::new(), 3)],
    };
    ranks.exchange(&mut parcels);
    assert_eq!(parcels.last().unwrap().received, [last as f64; 3]);

    let own = vec![rank as f64; if rank + 1 < size { 2 } else { 0 }];
    let all = ranks.gather_all(&own);
    assert!(all.iter().enumerate().all(|(r, values)| values.iter().all(|v| *v == r as f64)));
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), 2 * (size - 1));
}

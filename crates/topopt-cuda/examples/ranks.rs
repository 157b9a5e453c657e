//! Milliseconds of a product and of an iteration of conjugate gradients on one GPU and on several, which
//! reach each other by NCCL: `ranks N` for N x N x N distorted elements.

use std::time::Instant;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cuda, Device, Nccl, Probe, probe};
use topopt_fem::{
    Discretization, Distributed, Elasticity, ElementOperator, ElementPreconditioner, Jacobi,
    Material, Supports, ranks,
};
use topopt_linalg::{
    Backend, BackendError, Communicator, LinearOperator, Pcg, PcgOptions, Space, System, Threads,
};
use topopt_mesh::{Partition, Renumbering};
use topopt_testing::{Noise, distorted_cube};

const PRODUCTS: usize = 50;
const ITERATIONS: usize = 200;

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(40);
    let Probe::Found { devices, .. } = probe() else { return println!("no CUDA device") };
    let mesh = distorted_cube(n, 0.2, false);
    let mesh = Renumbering::on_import(&mesh).apply(&mesh);
    let mut supports = Supports::none(mesh.n_nodes());
    (0..mesh.n_nodes() / 100).for_each(|node| (0..3).for_each(|i| supports.fix(node, i)));
    let material = Material::new(1.0, 0.3).unwrap();
    let whole = Discretization::new(mesh, Elasticity::new(&material), supports);
    println!("{} elements", whole.mesh().n_elements());
    for size in (0..).map(|k| 1 << k).take_while(|&size| size <= devices) {
        let id = Nccl::id().unwrap();
        let partition = Partition::new(whole.mesh(), size);
        let times = Threads::run(size, |rank| {
            let device = Device::open(rank.rank()).unwrap();
            let nccl = Nccl::join(&device, rank.rank(), size, &id)?;
            measured(Cuda::new(&device)?, nccl, &partition, &whole)
        });
        let times = times.unwrap();
        println!("{size} GPUs: product {:.3} ms, iteration {:.3} ms", times[0][0], times[0][1]);
    }
}

/// Milliseconds of a product and of an iteration.
fn measured(
    backend: Cuda<f64>,
    nccl: Nccl,
    partition: &Partition,
    whole: &Discretization,
) -> Result<[f64; 2], BackendError> {
    let part = partition.part(whole.mesh(), nccl.rank());
    let local = whole.on_part(&part);
    let device = backend.device().clone();
    let operator = Strategy::Mf.build(&ProblemOnDevice::new(&device, &local)?, &local)?;
    let ranks = ranks(backend, nccl, partition);
    let mut operator = Distributed::new(&ranks, &part, operator, 1, whole.mesh().n_nodes())?;
    let n_elements = whole.mesh().n_elements();
    let ones = ranks.upload(&vec![1.0; n_elements], Space::elements(n_elements))?;
    operator.set_coefficients(&[&ones]);
    let mut jacobi = Jacobi::new(&ranks, whole.space())?;
    jacobi.update(&ranks, &operator, &[&ones])?;

    let mut load = Noise(5).vector(whole.n_dofs());
    whole.constraints().clear(&mut load);
    let f = ranks.upload(&load, whole.space())?;
    let mut u = ranks.zeros(whole.space())?;
    let synchronized = || ranks.value(&ranks.dot(&f, &f));

    operator.apply(&f, &mut u);
    synchronized()?;
    let start = Instant::now();
    (0..PRODUCTS).for_each(|_| operator.apply(&f, &mut u));
    synchronized()?;
    let product = 1e3 * start.elapsed().as_secs_f64() / PRODUCTS as f64;

    let mut pcg = Pcg::new(&ranks, whole.space())?;
    let system = System { backend: &ranks, a: &operator, m: &jacobi, f: &f };
    let options = PcgOptions { tolerance: 1e-30, max_iterations: ITERATIONS };
    let mut solve = |u: &mut _| {
        ranks.fill(0.0, u);
        pcg.solve(&system, u, options, &mut |_| std::ops::ControlFlow::Continue(()))
    };
    solve(&mut u)?;
    let start = Instant::now();
    let outcome = solve(&mut u)?;
    let iteration = 1e3 * start.elapsed().as_secs_f64() / outcome.iterations as f64;
    Ok([product, iteration])
}

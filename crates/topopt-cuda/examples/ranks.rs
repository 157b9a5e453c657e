//! Milliseconds of a product and of a cycle of multigrid on one GPU and on several, which reach
//! each other by NCCL: `ranks N` for N x N x N distorted elements. Each is measured again with
//! nothing crossing between ranks: the difference is what the exchange takes.

use std::io::{Read, Write};
use std::ops::Range;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{
    Cuda, Device, Mf, Multigrid, Nccl, Prepared, Probe, Real, probe, structure_of_part,
};
use topopt_fem::{
    Discretization, Distributed, DistributedPart, DistributedPreconditioner, Elasticity,
    ElementOperator, ElementPreconditioner, Material, PartSharing, PartVectors, Supports,
};
use topopt_linalg::{
    Backend, BackendError, Communicator, CycleKind, Exchange, Halo, LinearOperator, Parcel,
    Preconditioner, Ranks, Space,
};
use topopt_mesh::Renumbering;
use topopt_testing::{Noise, distorted_cube};

const PRODUCTS: usize = 50;
const CYCLES: usize = 20;

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    match args[..] {
        [n, rank, size, is_silent] => of_rank(n, rank, size, is_silent == 1),
        [n] => of_all(n),
        _ => of_all(40),
    }
}

/// On 1, 2, 4 GPUs and so on, each with a process.
fn of_all(n: usize) {
    let Probe::Found { devices, .. } = probe() else { return println!("no CUDA device") };
    println!("{} elements", n.pow(3));
    for size in (0..).map(|k| 1 << k).take_while(|&size| size <= devices) {
        for is_silent in [0, 1] {
            let id = Nccl::id().unwrap();
            let start = |rank| {
                let mut of_rank = Command::new(std::env::current_exe().unwrap());
                of_rank.args([n, rank, size, is_silent].map(|number| number.to_string()));
                let mut started = of_rank.stdin(Stdio::piped()).spawn().unwrap();
                started.stdin.take().unwrap().write_all(&id).unwrap();
                started
            };
            let started: Vec<_> = (0..size).map(start).collect();
            for mut of_rank in started {
                assert!(of_rank.wait().unwrap().success());
            }
        }
    }
}

fn of_rank(n: usize, rank: usize, size: usize, is_silent: bool) {
    let mut id = [0; 128];
    std::io::stdin().read_exact(&mut id).unwrap();
    let mesh = distorted_cube(n, 0.2, false);
    let mesh = Renumbering::on_import(&mesh).apply(&mesh);
    let mut supports = Supports::none(mesh.n_nodes());
    (0..mesh.n_nodes() / 100).for_each(|node| (0..3).for_each(|i| supports.fix(node, i)));
    let material = Material::new(1.0, 0.3).unwrap();
    let whole = Discretization::new(mesh, Elasticity::new(&material), supports);

    let device = Device::open(rank).unwrap();
    let nccl = Nccl::join(&device, rank, size, &id).unwrap();
    let nccl = Muted { nccl, is_silent: AtomicBool::new(false) };
    let backend = Cuda::new(&device).unwrap();
    let [product, cycle] = measured(backend, nccl, &whole, is_silent).unwrap();
    if rank == 0 {
        let how = if is_silent { ", silent" } else { "" };
        println!("{size} GPUs{how}: product {product:.3} ms, cycle {cycle:.3} ms");
    }
}

/// Milliseconds of a product and of a cycle.
fn measured(
    backend: Cuda<f64>,
    nccl: Muted,
    whole: &Discretization,
    is_silent: bool,
) -> Result<[f64; 2], BackendError> {
    let DistributedPart { part, equation: local, shares } = match nccl.rank() {
        0 => DistributedPart::deal(&nccl, whole),
        _ => DistributedPart::receive(&nccl, *whole.kernel())?,
    };
    let device = backend.device().clone();
    let single = Cuda::<f32>::new(&device)?;
    let on_device = ProblemOnDevice::new(&device, &local)?;
    let n_nodes = whole.mesh().n_nodes();
    let ranks = Ranks::new(backend, nccl, shares);
    let operator = Strategy::Mf.build(&on_device, &local)?;
    let vectors = PartVectors::new(ranks.inner(), &part, 3, 1)?;
    let mut operator = Distributed::new(&ranks, &part, operator, &vectors, n_nodes)?;
    let n_elements = whole.mesh().n_elements();
    let ones = ranks.upload(&vec![1.0; n_elements], Space::elements(n_elements))?;
    operator.set_coefficients(&[&ones]);

    let others = PartSharing::of(&single, ranks.communicator(), &part, 3)?;
    let prepared = Prepared::with_structure(structure_of_part(&local, others.as_ref())?);
    let of_part = Multigrid::on_part(&single, &on_device, &local, CycleKind::K, &prepared, others)?;
    let followed = Box::new(Mf::<f64>::new(&on_device, &local)?);
    let mut multigrid =
        DistributedPreconditioner::new(&ranks, &part, Box::new(of_part), followed, &vectors)?;
    multigrid.update(&ranks, &operator, &[&ones])?;
    ranks.communicator().is_silent.store(is_silent, Ordering::Relaxed);

    let mut load = Noise(5).vector(whole.n_dofs());
    whole.constraints().clear(&mut load);
    let f = ranks.upload(&load, whole.space())?;
    let mut u = ranks.zeros(whole.space())?;
    let synchronized = || ranks.value(&ranks.dot(&f, &f));
    let milliseconds = |times: usize, work: &mut dyn FnMut()| -> Result<f64, BackendError> {
        (0..3).for_each(|_| work()); // what is recorded is replayed from the second time on
        synchronized()?;
        let start = Instant::now();
        (0..times).for_each(|_| work());
        synchronized()?;
        Ok(1e3 * start.elapsed().as_secs_f64() / times as f64)
    };
    let product = milliseconds(PRODUCTS, &mut || operator.apply(&f, &mut u))?;
    let cycle = milliseconds(CYCLES, &mut || multigrid.apply(&ranks, &f, &mut u))?;
    Ok([product, cycle])
}

/// NCCL, and from some time on nothing that crosses: numbers are wrong then, work is the same.
struct Muted {
    nccl: Nccl,
    is_silent: AtomicBool,
}

impl Muted {
    fn speaks(&self) -> bool {
        !self.is_silent.load(Ordering::Relaxed)
    }
}

impl Communicator for Muted {
    fn rank(&self) -> usize {
        self.nccl.rank()
    }

    fn size(&self) -> usize {
        self.nccl.size()
    }

    fn sum(&self, values: &mut [f64]) {
        self.nccl.sum(values);
    }

    fn max(&self, values: &mut [f64]) {
        self.nccl.max(values);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        self.nccl.exchange(parcels);
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        self.nccl.gather(own, counts, all);
    }

    fn fail(&self, message: &str) {
        self.nccl.fail(message);
    }

    fn check(&self) -> Result<(), BackendError> {
        self.nccl.check()
    }
}

type Vector<R> = <Cuda<R> as Backend>::Vector;
type Scalar<R> = <Cuda<R> as Backend>::Scalar;

impl<R: Real> Exchange<Cuda<R>> for Muted
where
    Nccl: Exchange<Cuda<R>>,
{
    type Lists = <Nccl as Exchange<Cuda<R>>>::Lists;

    fn lists(&self, on: &Cuda<R>, halo: &Halo, n: usize) -> Result<Self::Lists, BackendError> {
        self.nccl.lists(on, halo, n)
    }

    fn place(&self, on: &Cuda<R>, lists: &Self::Lists, own: &Vector<R>, part: &mut Vector<R>) {
        self.nccl.place(on, lists, own, part);
    }

    fn refresh(&self, on: &Cuda<R>, lists: &Self::Lists, part: &mut Vector<R>) {
        if self.speaks() {
            self.nccl.refresh(on, lists, part);
        }
    }

    fn contract(&self, on: &Cuda<R>, lists: &Self::Lists, part: &Vector<R>, own: &mut Vector<R>) {
        self.nccl.contract(on, lists, part, own);
    }

    fn share(&self, on: &Cuda<R>, counts: &[usize], level: &mut Vector<R>) {
        if self.speaks() {
            self.nccl.share(on, counts, level);
        }
    }

    fn dot_own(
        &self,
        on: &Cuda<R>,
        entries: Range<usize>,
        x: &Vector<R>,
        y: &Vector<R>,
        out: &mut Scalar<R>,
    ) {
        match self.speaks() {
            true => self.nccl.dot_own(on, entries, x, y, out),
            false => on.dot_into(x, y, out),
        }
    }

    fn sum_scalar(&self, on: &Cuda<R>, scalar: &mut Scalar<R>) {
        if self.speaks() {
            self.nccl.sum_scalar(on, scalar);
        }
    }

    fn max_scalar(&self, on: &Cuda<R>, scalar: &mut Scalar<R>) {
        if self.speaks() {
            self.nccl.max_scalar(on, scalar);
        }
    }
}

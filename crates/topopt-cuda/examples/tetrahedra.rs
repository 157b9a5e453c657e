//! Multigrid of tetrahedra on one GPU: where the time of setup, cycles and solves goes.
//!
//!     cargo run --release -p topopt-cuda --example tetrahedra [N...]
//!
//! for the unit cube in 6 N^3 distorted tetrahedra each.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use topopt_cuda::{BlockJacobi, Cuda, Device, Mf, ProblemOnDevice, TetrahedraMultigrid};
use topopt_fem::tetrahedra::VertexLevels;
use topopt_fem::{
    Discretization, Elasticity, ElementOperator, ElementPreconditioner, Material, Supports,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, Pcg, PcgOptions, Preconditioner, Space, System,
};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{Noise, distorted_tetrahedra};

/// Repetitions that a time is the median of.
const REPEATS: usize = 10;
/// Elements up to which block Jacobi solves, too.
const SMALL: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let device = Device::open(0)?;
    println!("{}", device.name());
    for n in if sizes.is_empty() { vec![17, 44, 80] } else { sizes } {
        let mesh = distorted_tetrahedra(n, 0.2, true);
        measure(&device, &problem(&Renumbering::on_import(&mesh).apply(&mesh)))?;
    }
    Ok(())
}

/// `mesh` held where z is small.
fn problem(mesh: &HexMesh) -> Discretization {
    let mut supports = Supports::none(mesh.n_nodes());
    let low = mesh.coordinates().iter().enumerate().filter(|(_, x)| x[2] < 0.02);
    low.for_each(|(node, _)| (0..3).for_each(|i| supports.fix(node, i)));
    let steel = Material::new(1.0, 0.3).expect("a material");
    Discretization::new(mesh.clone(), Elasticity::new(&steel), supports)
}

/// Stiffness of void between the bars.
const VOIDS: [f64; 2] = [1e-6, 1e-9];

/// Solid bars in void, in shape of the coordinates.
fn moduli(mesh: &HexMesh, void: f64) -> Vec<f64> {
    let wave = |x: &[f64; 3]| (9.0 * x[0]).sin() + (7.0 * x[1]).cos() > 0.0 || x[2] > 0.8;
    mesh.centers().iter().map(|x| if wave(x) { 1.0 } else { void }).collect()
}

fn measure(device: &Arc<Device>, problem: &Discretization) -> Result<(), Box<dyn Error>> {
    let (mesh, clock) = (problem.mesh(), Instant::now());
    println!("{} tetrahedra, {} unknowns", mesh.n_elements(), problem.n_dofs());
    drop(VertexLevels::new::<Cpu>(problem, None)?);
    println!("  host: structure {:.3} s", clock.elapsed().as_secs_f64());

    let (backend, single) = (Cuda::<f64>::new(device)?, Cuda::<f32>::new(device)?);
    let there = ProblemOnDevice::new(device, problem)?;
    let mut operator = Mf::<f64>::new(&there, problem)?;
    let uploaded =
        |void: f64| backend.upload(&moduli(mesh, void), Space::elements(mesh.n_elements()));

    for kind in [CycleKind::V, CycleKind::K] {
        let clock = Instant::now();
        let mut m = TetrahedraMultigrid::new(&single, &there, problem, kind)?;
        println!("  {kind:?}: structure {:.3} s", clock.elapsed().as_secs_f64());
        for void in VOIDS {
            let moduli = uploaded(void)?;
            operator.set_coefficients(&[&moduli]);
            m.update(&backend, &operator, &[&moduli])?;
            let clock = Instant::now();
            m.update(&backend, &operator, &[&moduli])?;
            println!("  void {void:e}: update {:.4} s", clock.elapsed().as_secs_f64());
            if kind == CycleKind::V && void == VOIDS[0] {
                let groups = device.median_seconds(1, REPEATS, || m.update_groups(&moduli))?;
                println!("  groups: {:.3} ms", 1e3 * groups);
                parts(device, &single, &m)?;
            }
            solve(device, &backend, &operator, &m, problem)?;
        }
    }
    if mesh.n_elements() <= SMALL {
        let moduli = uploaded(VOIDS[0])?;
        operator.set_coefficients(&[&moduli]);
        let mut m = BlockJacobi::new(&there)?;
        m.update(&backend, &operator, &[&moduli])?;
        solve(device, &backend, &operator, &m, problem)?;
    }
    Ok(())
}

/// Prints the times of the parts of a cycle, level by level, in microseconds.
fn parts(
    device: &Arc<Device>,
    backend: &Cuda<f32>,
    m: &TetrahedraMultigrid<f32>,
) -> Result<(), Box<dyn Error>> {
    let hierarchy = m.hierarchy();
    for level in 0..hierarchy.n_levels() - 1 {
        let [fine, coarse] = [level, level + 1].map(|level| hierarchy.operator(level).space());
        let x = backend.upload(&Noise(3).vector(fine.len()), fine)?;
        let (mut y, mut below) = (backend.zeros(fine)?, backend.zeros(coarse)?);
        let (operator, groups) = (hierarchy.operator(level), hierarchy.inverse_diagonal(level));
        let transfer = hierarchy.transfer(level);
        let seconds = [
            device.median_seconds(2, REPEATS, || operator.apply(&x, &mut y))?,
            device.median_seconds(2, REPEATS, || groups.apply(&x, &mut y))?,
            device.median_seconds(2, REPEATS, || transfer.restrict(&x, &mut below))?,
            device.median_seconds(2, REPEATS, || transfer.prolong_add(&below, &mut y))?,
        ];
        let [product, groups, restrict, prolong] = seconds.map(|seconds| 1e6 * seconds);
        println!(
            "  level {level}, {} unknowns, us: product {product:.1}, groups {groups:.1}, \
             restriction {restrict:.1}, prolongation {prolong:.1}",
            fine.len()
        );
    }
    Ok(())
}

/// Prints iterations and seconds of a solve for a random load, and seconds of an application of
/// `m`.
fn solve(
    device: &Arc<Device>,
    backend: &Cuda<f64>,
    operator: &Mf<f64>,
    m: &dyn Preconditioner<Cuda<f64>>,
    problem: &Discretization,
) -> Result<(), Box<dyn Error>> {
    let mut f = Noise(6).vector(problem.n_dofs());
    problem.constraints().clear(&mut f);
    let (f, mut u) = (backend.upload(&f, problem.space())?, backend.zeros(problem.space())?);
    let once = device.median_seconds(2, REPEATS, || m.apply(backend, &f, &mut u))?;
    backend.fill(0.0, &mut u);
    let mut pcg = Pcg::new(backend, problem.space())?;
    let system = System { backend, a: operator, m, f: &f };
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 5000 };
    let clock = Instant::now();
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
    println!(
        "  {}: {} iterations to {:.1e}, {:.4} s, an application {:.3} ms",
        m.name(),
        outcome.iterations,
        outcome.relative_residual,
        clock.elapsed().as_secs_f64(),
        1e3 * once
    );
    Ok(())
}

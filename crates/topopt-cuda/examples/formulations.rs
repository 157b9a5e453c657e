//! Rates on one GPU of elements by full integration and by strain modes, in turns:
//!
//!     cargo run --release -p topopt-cuda --example formulations [ROWS IRREGULAR SOLVED]
//!
//! products of ROWS^3 distorted elements along rows and in clusters, and of the tetrahedra of
//! IRREGULAR^3 cubes cut into hexahedra; then a solve by multigrid of SOLVED^3 elements.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use topopt_cuda::operators::ProblemOnDevice;
use topopt_cuda::{Cuda, Device, Mf, Multigrid, Prepared, Real};
use topopt_fem::{
    Discretization, Elasticity, ElementOperator, ElementPreconditioner, Formulation, Material,
    Supports,
};
use topopt_linalg::{
    Backend, CycleKind, LinearOperator, Pcg, PcgOptions, Preconditioner, Space, System,
};
use topopt_mesh::cells::{Cells, Cut, Shape};
use topopt_mesh::{HexMesh, Renumbering, Sets};
use topopt_testing::{Noise, distorted_cube};

const FORMULATIONS: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];
/// Turns of both formulations, and products that each takes the median of.
const TURNS: usize = 3;
const REPEATS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [rows, irregular, solved] = *sizes.first_chunk().unwrap_or(&[200, 36, 128]);
    let device = Device::open(0)?;
    println!("{}", device.name());

    let mesh = distorted_cube(rows, 0.2, true);
    products(&device, "in rows", &Renumbering::along_chords(&mesh).apply(&mesh))?;
    products(&device, "in clusters", &Renumbering::in_clusters(&mesh).apply(&mesh))?;
    let mesh = cut_tetrahedra(irregular)?;
    products(&device, "irregular", &Renumbering::on_import(&mesh).apply(&mesh))?;

    let mesh = distorted_cube(solved, 0.2, true);
    solves(&device, &Renumbering::on_import(&mesh).apply(&mesh))
}

/// The tetrahedra of n^3 bent cubes, each cut into four hexahedra.
fn cut_tetrahedra(n: usize) -> Result<HexMesh, Box<dyn Error>> {
    let cubes = distorted_cube(n, 0.1, true);
    let mut cells = Cells::default();
    for hex in cubes.hexes() {
        // Along the diagonal from the first corner to the seventh.
        for [a, b] in [[1, 2], [2, 3], [3, 7], [7, 4], [4, 5], [5, 1]] {
            cells.push(Shape::Tetrahedron, &[hex[0], hex[a], hex[b], hex[6]], &[]);
        }
    }
    let cut =
        Cut::of(&cells, cubes.coordinates().to_vec()).map_err(|error| format!("{error:?}"))?;
    Ok(HexMesh::new(cut.coordinates, cut.hexes, Sets::default())?)
}

/// `mesh` held where z is small, of elements by a `formulation`.
fn problem(mesh: &HexMesh, formulation: Formulation) -> Discretization {
    let mut supports = Supports::none(mesh.n_nodes());
    let low = mesh.coordinates().iter().enumerate().filter(|(_, x)| x[2] < 0.01);
    low.for_each(|(node, _)| (0..3).for_each(|i| supports.fix(node, i)));
    let steel = Material::new(1.0, 0.3).expect("a material");
    Discretization::new(mesh.clone(), Elasticity::new(&steel).with(formulation), supports)
}

/// Solid bars in void of 1e-6, in shape of the coordinates.
fn moduli(mesh: &HexMesh) -> Vec<f64> {
    let wave = |x: &[f64; 3]| (9.0 * x[0]).sin() + (7.0 * x[1]).cos() > 0.0 || x[2] > 0.8;
    mesh.centers().iter().map(|x| if wave(x) { 1.0 } else { 1e-6 }).collect()
}

/// Prints the rates of products on `mesh`.
fn products(device: &Arc<Device>, name: &str, mesh: &HexMesh) -> Result<(), Box<dyn Error>> {
    let both = FORMULATIONS.map(|formulation| problem(mesh, formulation));
    let there = both.each_ref().map(|problem| ProblemOnDevice::new(device, problem));
    let [full, modes] = there;
    let there = [full?, modes?];
    let clusters = if there[0].is_in_clusters() { "clusters" } else { "no clusters" };
    println!("{name}: {} elements, {clusters}; G elements/s", mesh.n_elements());
    rates::<f64>(device, &there, &both)?;
    rates::<f32>(device, &there, &both)
}

/// Prints the rates in one precision, in turns, and the ratio of the best.
fn rates<R: Real>(
    device: &Arc<Device>,
    there: &[Arc<ProblemOnDevice>; 2],
    problems: &[Discretization; 2],
) -> Result<(), Box<dyn Error>> {
    let backend = Cuda::<R>::new(device)?;
    let mesh = problems[0].mesh();
    let (n, space) = (mesh.n_elements(), problems[0].space());
    let mut u = Noise(5).vector(problems[0].n_dofs());
    problems[0].constraints().clear(&mut u);
    let (u, mut y) = (backend.upload(&u, space)?, backend.zeros(space)?);
    let moduli = backend.upload(&moduli(mesh), Space::elements(n))?;
    let mut energy = backend.scalar();

    let mut best = [[0.0_f64; 2]; 2];
    for turn in 0..TURNS {
        for k in [turn % 2, 1 - turn % 2] {
            let mut operator = Mf::<R>::new(&there[k], &problems[k])?;
            operator.set_coefficients(&[&moduli]);
            let product = device.median_seconds(3, REPEATS, || operator.apply(&u, &mut y))?;
            let with_dot = device.median_seconds(3, REPEATS, || {
                operator.apply_to_direction(&backend, &u, &mut y, &mut energy);
            })?;
            for (best, seconds) in best[k].iter_mut().zip([product, with_dot]) {
                *best = best.max(1e-9 * n as f64 / seconds);
            }
        }
    }
    for (what, i) in [("product", 0), ("with dot", 1)] {
        let [full, modes] = [best[0][i], best[1][i]];
        println!("  {} {what}: full {full:.2}, modes {modes:.2}, {:.3}", R::NAME, modes / full);
    }
    Ok(())
}

/// Prints iterations and seconds of solves by multigrid, its cycle in single precision.
fn solves(device: &Arc<Device>, mesh: &HexMesh) -> Result<(), Box<dyn Error>> {
    let (backend, single) = (Cuda::<f64>::new(device)?, Cuda::<f32>::new(device)?);
    println!("multigrid, {} elements: setup ms, iterations to 1e-8, s", mesh.n_elements());
    for turn in 0..TURNS {
        for formulation in FORMULATIONS {
            let problem = problem(mesh, formulation);
            let there = ProblemOnDevice::new(device, &problem)?;
            let mut operator = Mf::<f64>::new(&there, &problem)?;
            let moduli = backend.upload(&moduli(mesh), Space::elements(mesh.n_elements()))?;
            operator.set_coefficients(&[&moduli]);

            let prepared = Prepared::new(&problem);
            let mut m = Multigrid::new(&single, &there, &problem, CycleKind::K, &prepared)?;
            m.update(&backend, &operator, &[&moduli])?;
            let setup = device.seconds(|| {
                m.update(&backend, &operator, &[&moduli]).expect("the second time as the first");
            })?;
            let (iterations, seconds) = solve(&backend, &operator, &m, &problem)?;
            println!(
                "  turn {turn}, {formulation:?}: {:.1}, {iterations}, {seconds:.3}",
                1e3 * setup
            );
        }
    }
    Ok(())
}

/// Iterations and seconds of a solve for a random load.
fn solve(
    backend: &Cuda<f64>,
    operator: &Mf<f64>,
    m: &dyn Preconditioner<Cuda<f64>>,
    problem: &Discretization,
) -> Result<(usize, f64), Box<dyn Error>> {
    let mut f = Noise(6).vector(problem.n_dofs());
    problem.constraints().clear(&mut f);
    let (f, mut u) = (backend.upload(&f, problem.space())?, backend.zeros(problem.space())?);
    let mut pcg = Pcg::new(backend, problem.space())?;
    let system = System { backend, a: operator, m, f: &f };
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 1000 };
    let clock = Instant::now();
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
    Ok((outcome.iterations, clock.elapsed().as_secs_f64()))
}

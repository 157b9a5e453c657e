//! What a design loop takes of a GPU is what is counted before it is made.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cone, Cuda, Device, Probe, probe};
use topopt_design::{
    Chain, Compliance, Constraint, DensityFilter, DesignSpace, Formulation, Interpolation, Law,
    Objective, OptimalityCriteria, Optimization, Passive, Projection, SensitivityFilter, Solver,
    StateEquation, StopRules, Weights, physical_density,
};
use topopt_fem::{Jacobi, LoadCase, Material, Problem, Supports};
use topopt_mesh::generate::{Benchmark, Resolution};

const RADIUS: f64 = 2.5;

fn problem() -> Problem {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(4000)).unwrap();
    let mut supports = Supports::none(mesh.n_nodes());
    mesh.hexes()[0].iter().for_each(|&node| (0..3).for_each(|i| supports.fix(node as usize, i)));
    let load = LoadCase::new("default", vec![1.0; 3 * mesh.n_nodes()]);
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

fn space(problem: &Problem) -> DesignSpace {
    DesignSpace::new(0.01, 0.3, problem.mesh().volumes(), vec![3], vec![5, 7])
}

/// A device that counts its memory to the byte and that nobody else uses.
fn emulated() -> Option<Arc<Device>> {
    let found = matches!(probe(), Probe::Found { .. });
    let device = found.then(|| Device::open(0).unwrap());
    device.filter(|device| device.name().starts_with("Emulated"))
}

/// Checks what is used against what is counted, for filters of the density and of sensitivities.
#[test]
fn design_loops_take_what_is_counted() {
    let Some(device) = emulated() else {
        println!("skipped: no emulated CUDA device");
        return;
    };

    let problem = problem();
    let (n, nodes) = (problem.mesh().n_elements(), problem.mesh().n_nodes());
    let space = space(&problem);
    let backend = Cuda::<f64>::new(&device).unwrap();
    let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
    let free = || device.memory().unwrap().0;

    let check = |before: usize, counted: usize| {
        let (used, rounding) = (before - free(), 256 * 32); // of up to 32 arrays
        assert!((counted..=counted + rounding).contains(&used), "{used} bytes for {counted}");
    };

    for is_density in [false, true] {
        let before = free();
        let cone = Cone::new(&device, &problem.mesh().centers(), RADIUS).unwrap();
        let extent = problem.mesh().bounding_box().extent();
        let weights = Cone::bytes(extent, RADIUS, n);
        let used = before - free();
        assert!((weights * 9 / 10..=weights + 1024).contains(&used), "{used} bytes for {weights}");

        let before = free();
        let weights = Weights::fixed(Box::new(cone));
        let (objective, transform, vectors) = filtered(&backend, weights, &space, is_density);
        check(before, 8 * n * vectors);

        let operator = Strategy::Mf.build(&mesh, &problem).unwrap();
        let preconditioner = Box::new(Jacobi::new(&backend, problem.space()).unwrap());
        let before = free();
        let solver = Solver { operator, preconditioner, tolerance: 1e-5, max_iterations: 100 };
        let constraints = vec![Constraint::volume(&space, 0.3)];
        let formulation = Formulation { space: &space, transform, objective, constraints };
        let optimization = optimization(&backend, &problem, solver, formulation);
        let element = 8 * n * Optimization::<Cuda<f64>>::element_vectors(&problem);
        check(before, element + 24 * nodes * Optimization::<Cuda<f64>>::nodal_vectors(&problem));
        drop(optimization);
    }
}

/// Objective and transform with a filter, and the vectors of one entry per element that they take.
fn filtered<'a>(
    backend: &'a Cuda<f64>,
    weights: Weights<'a, Cuda<f64>>,
    space: &'a DesignSpace,
    is_density: bool,
) -> (Objective<'a, Cuda<f64>>, Chain<'a, Cuda<f64>>, usize) {
    let n = space.volumes.len();
    if !is_density {
        let filter = SensitivityFilter::new(backend, weights, &space.volumes, 0.01).unwrap();
        let vectors = SensitivityFilter::<Cuda<f64>>::ELEMENT_VECTORS;
        return (Objective::filtered(Box::new(Compliance), filter), Chain::identity(n), vectors);
    }

    let filter = DensityFilter::new(backend, weights, &space.volumes).unwrap();
    let projection = Projection::new(backend, n, 0.01, 0.5, 2.0).unwrap();
    let chain = physical_density(backend, filter, Some(projection), space).unwrap();
    let vectors = Chain::<Cuda<f64>>::element_vectors(&[
        DensityFilter::<Cuda<f64>>::ELEMENT_VECTORS,
        Projection::<Cuda<f64>>::ELEMENT_VECTORS,
        Passive::<Cuda<f64>>::ELEMENT_VECTORS,
    ]);
    (Objective::new(Box::new(Compliance)), chain, vectors)
}

/// One iteration from the uniform start.
fn optimization<'a>(
    backend: &'a Cuda<f64>,
    problem: &'a Problem,
    solver: Solver<'a, Cuda<f64>>,
    formulation: Formulation<'a, Cuda<f64>>,
) -> Optimization<'a, Cuda<f64>> {
    let interpolation =
        Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: 1.0, void_stiffness: 0.0 };
    let equation = StateEquation::new(backend, problem, interpolation, solver).unwrap();
    let start = formulation.space.uniform();
    let criteria = Box::new(OptimalityCriteria::new(backend, start.len(), 0.2, 0.5).unwrap());
    let stop = StopRules { max_iterations: 1, ..StopRules::default() };
    Optimization::new(equation, formulation, criteria, stop, &start).unwrap()
}

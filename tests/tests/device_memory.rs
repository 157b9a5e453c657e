//! What a design loop takes of a GPU is what is counted before it is made.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cone, Cuda, Device, Probe, probe};
use topopt_design::{
    Chain, Compliance, Constraint, DensityFilter, DesignSpace, Formulation, Interpolation, Law,
    Objective, OptimalityCriteria, Optimization, Projection, SensitivityFilter, Solver,
    StateEquation, StopRules, Weights, physical_density,
};
use topopt_fem::{Idle, Jacobi, LoadCase, Material, Problem, Supports};
use topopt_linalg::{Counting, Pointwise, Space};
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
    let n = problem.mesh().n_elements();
    let space = space(&problem);
    let backend = Cuda::<f64>::new(&device).unwrap();
    let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
    let free = || device.memory().unwrap().0;

    for is_density in [false, true] {
        let before = free();
        let cone = Cone::new(&device, &problem.mesh().centers(), RADIUS).unwrap();
        let extent = problem.mesh().bounding_box().extent();
        let weights = Cone::bytes(extent, RADIUS, n);
        let used = before - free();
        assert!((weights * 9 / 10..=weights + 1024).contains(&used), "{used} bytes for {weights}");
        let weights = Weights::fixed(Box::new(cone));
        let operator = Strategy::Mf.build(&mesh, &problem).unwrap();

        let before = free();
        let preconditioner = Box::new(Jacobi::new(&backend, problem.space()).unwrap());
        let solver =
            Solver { operator, preconditioner, whole: None, tolerance: 1e-5, max_iterations: 100 };
        let optimization = optimization(&backend, &problem, solver, (&space, weights, is_density));
        let used = before - free();
        drop(optimization);

        let counted = counted(&problem, (&space, is_density));
        let rounding = 256 * 48; // of up to 48 arrays
        assert!((counted..=counted + rounding).contains(&used), "{used} bytes for {counted}");
    }
}

/// Bytes of the vectors of the loop by the backend that counts them.
fn counted(problem: &Problem, (space, is_density): (&DesignSpace, bool)) -> usize {
    let counting = Counting::default();
    let idle = Box::new(Idle(problem.space()));
    let preconditioner = Box::new(Jacobi::new(&counting, problem.space()).unwrap());
    let solver = Solver {
        operator: idle,
        preconditioner,
        whole: None,
        tolerance: 1e-5,
        max_iterations: 100,
    };
    let weights = Weights::fixed(Box::new(Idle(Space::elements(space.volumes.len()))));
    drop(optimization(&counting, problem, solver, (space, weights, is_density)));
    counting.most()
}

/// A loop of one iteration from the uniform start, with a filter of the density or of
/// sensitivities.
fn optimization<'a, B: Pointwise + Sync>(
    backend: &'a B,
    problem: &'a Problem,
    solver: Solver<'a, B>,
    (space, weights, is_density): (&'a DesignSpace, Weights<'a, B>, bool),
) -> Optimization<'a, B> {
    let (objective, transform) = filtered(backend, weights, space, is_density);
    let constraints = vec![Constraint::volume(space, 0.3)];
    let formulation = Formulation { space, transform, objective, constraints };
    let interpolation =
        Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: 1.0, void_stiffness: 0.0 };
    let equation = StateEquation::new(backend, problem, interpolation, solver).unwrap();
    let start = formulation.space.uniform();
    let criteria = Box::new(
        OptimalityCriteria::new(backend, topopt_linalg::Space::elements(start.len()), 0.2, 0.5)
            .unwrap(),
    );
    let stop = StopRules { max_iterations: 1, ..StopRules::default() };
    Optimization::new(equation, formulation, criteria, stop, &start).unwrap()
}

/// Objective and transform with a filter.
fn filtered<'a, B: Pointwise + Sync>(
    backend: &'a B,
    weights: Weights<'a, B>,
    space: &'a DesignSpace,
    is_density: bool,
) -> (Objective<'a, B>, Chain<'a, B>) {
    if !is_density {
        let filter = SensitivityFilter::new(backend, weights, &space.volumes, 0.01).unwrap();
        let identity = Chain::identity(space.volumes.len());
        return (Objective::filtered(Box::new(Compliance), filter), identity);
    }
    let filter = DensityFilter::new(backend, weights, &space.volumes).unwrap();
    let n = space.volumes.len();
    let projection = Projection::new(backend, n, 0.01, 0.5, 2.0).unwrap();
    let chain = physical_density(backend, filter, Some(projection), None, space).unwrap();
    (Objective::new(Box::new(Compliance)), chain)
}

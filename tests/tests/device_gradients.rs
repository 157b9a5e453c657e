//! Gradients of all responses on a GPU, against differences of the values there.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cone, Cuda, Device, DeviceKernel, Probe, probe};
use topopt_design::{
    CaseCompliance, Compliance, Constraint, DensityFilter, Design, DesignSpace, Formulation,
    Interpolation, IterationReport, Law, Objective, Observer, ObserverError, OfState, Optimization,
    Optimizer, Projection, Response, SolveError, Solver, StateEquation, StateMean, StateNorm,
    StopRules, Subproblem, Volume, WeightedDensity, Weights, physical_density,
};
use topopt_fem::{
    Constraints, Coupling, Diffusion, Discretization, ElementFactors, ElementKernel,
    ElementOperator, Jacobi, LoadCase, Material, Problem, Supports, TemperatureChange,
    ThermalStrains, surface_load,
};
use topopt_linalg::{Backend, Space};
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::surface::boundary_faces;

type Gpu = Cuda<f64>;

/// Uneven and distorted.
fn mesh() -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let bend = |&[x, y, z]: &[f64; 3]| {
        [0.1 * x * x + 0.2 * (0.7 * y).sin(), 1.1 * y + 0.02 * x * z, z + 0.15 * (x + y).cos()]
    };
    let coordinates = mesh.coordinates().iter().map(bend).collect();
    HexMesh::new(coordinates, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
}

/// A structure with weight in one load case, a moved support and thermal strains in the other.
fn structure() -> Problem {
    let mesh = mesh();
    let mut supports = Supports::none(mesh.n_nodes());
    let held = mesh.sets().nodes_of("fixed", &mesh).unwrap();
    held.iter().for_each(|&node| (0..3).for_each(|i| supports.fix(node as usize, i)));
    let loads = |k: f64| (0..3 * mesh.n_nodes()).map(|i| (k * i as f64).sin()).collect();
    let mut cases = [LoadCase::new("one", loads(0.3)), LoadCase::new("two", loads(0.7))];
    cases[0].body_force = [0.0, -0.05, 0.02].into();
    cases[1].prescribed = Some((0..3 * mesh.n_nodes()).map(|i| 0.1 * (i as f64).cos()).collect());
    let change = |e: usize| TemperatureChange { mean: (e % 5) as f64, gradient: [0.3, -0.1, 0.2] };
    let n = mesh.n_elements();
    let expansions = vec![[0.01, 0.01, 0.01, 0.0, 0.0, 0.0]];
    cases[1].thermal =
        Some(ThermalStrains::new(expansions, vec![0; n], (0..n).map(change).collect()));
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, cases.into()).unwrap()
}

/// Heat with sources, a film on the boundary and temperatures that are held, of two conductivities.
fn heat() -> Problem<Diffusion, 1> {
    let mesh = mesh();
    let mut held = Constraints::none(mesh.n_nodes());
    let fixed = mesh.sets().nodes_of("fixed", &mesh).unwrap();
    fixed.iter().for_each(|&node| held.fix(node as usize, 0));
    let faces = boundary_faces(&mesh);
    for (node, area) in surface_load::areas(&mesh, &faces) {
        held.add_spring(node as usize, 0, 0.1 * area);
    }
    let films = surface_load::couplings(&mesh, &faces).into_iter();
    let films = films.map(|(nodes, area)| Coupling { nodes, weight: 0.1 * area });
    let held = held.with_films(films.collect());
    let nodal = |k: f64| (0..mesh.n_nodes()).map(|i| 1.0 + (k * i as f64).sin()).collect();
    let mut cases = [LoadCase::new("one", nodal(0.3)), LoadCase::new("two", nodal(0.7))];
    cases[1].prescribed = Some(nodal(0.9));
    let factors = (0..mesh.n_elements()).map(|e| if e % 3 == 0 { 4.0 } else { 1.0 }).collect();
    let factors = ElementFactors { stiffness: Some(factors), mass: None };
    let kernel = Diffusion::by(topopt_fem::Formulation::Incompatible);
    let problem = Problem::of(Discretization::new(mesh, kernel, held), cases.into()).unwrap();
    problem.with_factors(factors).unwrap()
}

/// Compares slopes along a direction with differences of fourth order, and stays where it is.
struct Differences;

impl Optimizer<Gpu> for Differences {
    fn next(
        &mut self,
        problem: &mut Subproblem<Gpu>,
        next: &mut <Gpu as Backend>::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        let Subproblem { backend, design, objective, constraints, others, .. } = problem;
        let x = backend.download(design)?;
        let direction: Vec<f64> = (0..x.len()).map(|i| (i as f64 * 0.9).cos()).collect();
        let mut at = |step: f64| {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            others.values(&backend.upload(&moved, Space::elements(x.len())).unwrap()).unwrap()
        };
        let h = 2e-4;
        let [far, near, before, behind] = [2.0, 1.0, -1.0, -2.0].map(|k| at(k * h));

        for (k, f) in [*objective].into_iter().chain(constraints.iter()).enumerate() {
            let slope: f64 =
                backend.download(&f.gradient)?.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let difference = (8.0 * (near[k] - before[k]) - (far[k] - behind[k])) / (12.0 * h);
            let error = (slope / difference - 1.0).abs();
            assert!(error < 1e-6, "function {k}: {slope} for {difference}, {error:.1e}");
        }
        backend.copy(design, next);
        Ok(vec![0.0; constraints.len()])
    }
}

struct Nobody;

impl Observer<Gpu> for Nobody {
    fn evaluated(&mut self, _: &IterationReport, _: &Design<Gpu>) -> Result<(), ObserverError> {
        Ok(())
    }
}

#[test]
fn all_responses_agree_with_finite_differences() {
    let Some(device) = device() else { return };
    let problem = structure();
    let on_device = ProblemOnDevice::new(&device, &problem).unwrap();
    hold_against_differences(&device, &problem, Strategy::Mf.build(&on_device, &problem).unwrap());
}

#[test]
fn all_responses_of_heat_agree_with_finite_differences() {
    let Some(device) = device() else { return };
    let problem = heat();
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    for strategy in Diffusion::STRATEGIES {
        hold_against_differences(&device, &problem, strategy.build(&there, &problem).unwrap());
    }
}

fn device() -> Option<Arc<Device>> {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return None;
    };
    Some(Device::open(0).unwrap())
}

/// Compares the gradients of all responses, at a design that is filtered and projected.
fn hold_against_differences<K: ElementKernel<N>, const N: usize>(
    device: &Arc<Device>,
    problem: &Problem<K, N>,
    operator: Box<dyn ElementOperator<Gpu> + '_>,
) {
    let backend = Gpu::new(device).unwrap();
    let space = DesignSpace::new(0.01, 0.4, problem.mesh().volumes(), vec![3], vec![5, 7]);

    let n = space.volumes.len();
    let cone = Cone::new(device, &problem.mesh().centers(), 1.5).unwrap();
    let filter = DensityFilter::new(&backend, Weights::fixed(Box::new(cone)), &space.volumes);
    let projection = Projection::new(&backend, n, space.density_min, 0.45, 4.0).unwrap();
    let transform =
        physical_density(&backend, filter.unwrap(), Some(projection), None, &space).unwrap();

    let shares = (0..problem.n_dofs()).map(|k| (k as f64 * 0.3).cos()).collect();
    let states = problem.space();
    let mean = StateMean::new(&backend, problem, shares).unwrap();
    let mean = OfState::new(&backend, states, ("mean".into(), 0), mean).unwrap();
    let nodes = (0..problem.mesh().n_nodes() as u32).step_by(7).collect();
    let largest = StateNorm::new(problem, nodes, 8.0);
    let largest = OfState::new(&backend, states, ("largest".into(), 1), largest).unwrap();
    let mass = WeightedDensity::new(&backend, "mass".into(), n, &space.volumes).unwrap();
    let of_case = CaseCompliance { name: "of a case".into(), case: 1 };
    let all: Vec<Box<dyn Response<Gpu>>> = vec![
        Box::new(mean),
        Box::new(largest),
        Box::new(mass),
        Box::new(of_case),
        Box::new(Volume),
    ];
    let formulation = Formulation {
        space: &space,
        transform,
        objective: Objective::new(Box::new(Compliance)),
        constraints: all.into_iter().map(|response| Constraint::at_least(response, 1.0)).collect(),
    };

    let solver = Solver {
        operator,
        preconditioner: Box::new(Jacobi::new(&backend, problem.space()).unwrap()),
        whole: None,
        tolerance: 1e-12,
        max_iterations: 20_000,
    };
    let law =
        Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: 2.0, void_stiffness: 1e-3 };
    let equation = StateEquation::new(&backend, problem, law, solver).unwrap();
    let start: Vec<f64> = (0..n).map(|e| 0.5 + 0.3 * (e as f64 * 1.7).sin()).collect();
    let stop = StopRules { max_iterations: 1, ..StopRules::default() };
    let differences = Box::new(Differences);
    let mut optimization =
        Optimization::new(equation, formulation, differences, stop, &start).unwrap();
    assert_eq!(optimization.run(&mut Nobody).unwrap().iterations, 1);
}

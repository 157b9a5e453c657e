//! The design loop on a small distorted cantilever: gradient, volume, warm start, endings.

mod adjoints;
mod beams;
mod differences;
mod failing_filter;
mod heat;
mod heat_in_time;
mod inertia_relief;
mod inverter;
mod loads;
mod materials;
mod own_maps;
mod preconditioners;
mod reaction;
mod responses;
mod sensitivity_filter;
mod sizes;
mod stages;
mod thermal_strain;
mod transforms;

use std::ops::ControlFlow;

use topopt_design::{
    Chain, Compliance, Cone, Constraint, Design, DesignSpace, DesignState, Ended, Formulation,
    Interpolation, IterationReport, Law, Objective, Observer, ObserverError, OptimalityCriteria,
    Optimization, Outcome, SensitivityFilter, Solver, StateEquation, StopRule, StopRules, Weights,
};
use topopt_fem::{ElementKernel, Jacobi, LoadCase, Material, Problem, Strategy, Supports};
use topopt_linalg::{Cpu, Pcg, PcgOptions, PcgProgress, Space, StopReason, System};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};
use topopt_testing::{derivative, unit};

const SIMP: Interpolation =
    Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: 2.0, void_stiffness: 0.0 };
const TIGHT: PcgOptions = PcgOptions { tolerance: 1e-12, max_iterations: 10_000 };
const COUNT: StopRules = StopRules {
    max_iterations: 12,
    change: 0.0,
    relative_objective: 0.0,
    absolute_objective: 0.0,
    kkt_residual: 0.0,
};

/// 8 x 4 x 4 wavy elements, clamped at x = 0, with a transverse and an axial load case.
fn cantilever() -> Problem {
    let (nx, n) = (8, 4);
    let node = |i: usize, j: usize, k: usize| (i + (nx + 1) * (j + (n + 1) * k)) as u32;
    let (coordinates, hexes) = block([nx, n, n], |at| {
        let [x, y, z] = at.map(|v| v as f64);
        [x + 0.2 * (y + z).sin(), y + 0.2 * x.sin(), z + 0.1 * (x * y).cos()]
    });
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();

    let mut supports = Supports::none(mesh.n_nodes());
    let mut cases = [("down", 1.0), ("pull", 0.5)].map(|(name, weight)| LoadCase {
        weight,
        ..LoadCase::new(name, vec![0.0; 3 * mesh.n_nodes()])
    });

    for k in 0..=n {
        for j in 0..=n {
            (0..3).for_each(|c| supports.fix(node(0, j, k) as usize, c));
        }
        cases[0].forces[3 * node(nx, 0, k) as usize + 1] = -1.0;
        cases[1].forces[3 * node(nx, 2, k) as usize] = 2.0;
    }

    Problem::new(mesh, Material::new(2.0, 0.3).unwrap(), supports, cases.into()).unwrap()
}

fn solver<K: ElementKernel<N>, const N: usize>(
    problem: &Problem<K, N>,
    pcg: PcgOptions,
) -> Solver<'_, Cpu> {
    Solver {
        operator: Strategy::Mf.of_kernel(problem),
        preconditioner: Box::new(Jacobi::new(&Cpu, problem.space()).unwrap()),
        whole: None,
        tolerance: pcg.tolerance,
        max_iterations: pcg.max_iterations,
    }
}

/// The compliance by the design variables themselves, under a volume constraint.
fn plain(space: &DesignSpace) -> Formulation<'_, Cpu> {
    Formulation {
        space,
        transform: Chain::identity(space.volumes.len()),
        objective: Objective::new(Box::new(Compliance)),
        constraints: vec![Constraint::volume(space, 0.4)],
    }
}

/// An optimization from the uniform start with a move limit of 0.2.
fn optimization<'a, K: ElementKernel<N>, const N: usize>(
    problem: &'a Problem<K, N>,
    solver: Solver<'a, Cpu>,
    formulation: Formulation<'a, Cpu>,
    stop: StopRules,
) -> Optimization<'a, Cpu> {
    let start = formulation.space.uniform();
    let equation = StateEquation::new(&Cpu, problem, SIMP, solver).unwrap();
    let optimizer =
        Box::new(OptimalityCriteria::new(&Cpu, Space::variables(start.len()), 0.2, 0.5).unwrap());
    Optimization::new(equation, formulation, optimizer, stop, &start).unwrap()
}

fn space(mesh: &HexMesh) -> DesignSpace {
    DesignSpace::new(0.01, 0.4, mesh.volumes(), vec![3, 77], vec![20])
}

#[derive(Default)]
struct Recorder {
    reports: Vec<IterationReport>,
    densities: Vec<Vec<f64>>,
    energy: Vec<f64>,
    states: Vec<DesignState>,
    break_in: Option<usize>,
    fail: bool,
}

impl Observer<Cpu> for Recorder {
    fn solving(&mut self, iteration: usize, _: PcgProgress) -> ControlFlow<()> {
        if self.break_in == Some(iteration) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        design: &Design<Cpu>,
    ) -> Result<(), ObserverError> {
        self.reports.push(report.clone());
        self.densities.push(design.density()?);
        self.energy.push(design.strain_energy()?.iter().sum());
        self.states.push(design.state()?);
        if self.fail { Err("disk full".into()) } else { Ok(()) }
    }
}

/// Runs with a filter of radius 1.5; returns the outcome and the density of the last design.
fn run(pcg: PcgOptions, stop: StopRules, recorder: &mut Recorder) -> (Outcome, Vec<f64>) {
    run_on(pcg, stop, None, recorder)
}

/// Runs the cantilever, from a state if there is one; see [`run`].
fn run_on(
    pcg: PcgOptions,
    stop: StopRules,
    state: Option<&DesignState>,
    recorder: &mut Recorder,
) -> (Outcome, Vec<f64>) {
    let problem = cantilever();
    let space = space(problem.mesh());
    let cone = Weights::fixed(Box::new(Cone::new(problem.mesh().centers(), 1.5, usize::MAX)));
    let filter = SensitivityFilter::new(&Cpu, cone, &space.volumes, 0.01).unwrap();
    let objective = Objective::filtered(Box::new(Compliance), filter);
    let formulation = Formulation { objective, ..plain(&space) };
    let mut optimization = optimization(&problem, solver(&problem, pcg), formulation, stop);
    if let Some(state) = state {
        optimization = optimization.resumed(state).unwrap();
    }
    let outcome = optimization.run(recorder).unwrap();
    let density = optimization.design().density().unwrap();
    (outcome, density)
}

/// Compliance and its gradient at `density`, solved tightly.
fn compliance(problem: &Problem, density: &Vec<f64>) -> (f64, Vec<f64>) {
    let n = density.len();
    let Solver { mut operator, mut preconditioner, .. } = solver(problem, TIGHT);

    let (mut moduli, mut scratch) = (vec![0.0; n], vec![0.0; n]);
    SIMP.moduli(&Cpu, density, &mut scratch, &mut moduli);
    operator.set_coefficients(&[&moduli]);
    preconditioner.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();

    let (mut total, mut energies) = (0.0, vec![0.0; n]);
    for case in problem.load_cases() {
        let system = System {
            backend: &Cpu,
            a: operator.as_ref(),
            m: preconditioner.as_ref(),
            f: &case.forces,
        };

        let mut u = vec![0.0; problem.n_dofs()];
        pcg.solve(&system, &mut u, TIGHT, &mut |_| ControlFlow::Continue(())).unwrap();
        total += case.weight * case.forces.iter().zip(&u).map(|(f, u)| f * u).sum::<f64>();
        let mut energy = vec![0.0; n];
        operator.element_work(0, &u, &u, &mut energy);
        energies.iter_mut().zip(energy).for_each(|(sum, e)| *sum += case.weight * e);
    }

    let mut gradient = vec![0.0; n];
    SIMP.sensitivities(&Cpu, density, &energies, &mut scratch, &mut gradient);
    (total, gradient)
}

#[test]
fn gradient_of_the_compliance_matches_finite_differences() {
    let problem = cantilever();
    let n = problem.mesh().n_elements();
    let density: Vec<f64> = (0..n).map(|e| 0.5 + 0.4 * (e as f64 * 1.7).sin()).collect();
    let (_, gradient) = compliance(&problem, &density);
    for e in [0, 17, 50, 101, n - 1] {
        let h = 1e-4 * density[e];
        let difference =
            derivative(&density, &unit(n, e), h, |moved| compliance(&problem, moved).0);
        let error = (gradient[e] / difference - 1.0).abs();
        assert!(error < 1e-6, "element {e}: {} against {difference}, {error:.1e}", gradient[e]);
    }
}

#[test]
fn compliance_falls_and_the_volume_is_met() {
    let mut recorder = Recorder::default();
    let (outcome, density) = run(TIGHT, COUNT, &mut recorder);
    assert_eq!(outcome.ended, Ended::Rule(StopRule::MaxIterations));
    let reports = &recorder.reports;
    assert_eq!((outcome.iterations, reports.len()), (12, 12));
    assert!(reports[11].objective < 0.5 * reports[0].objective);
    for (report, energy) in reports.iter().zip(&recorder.energy) {
        assert!((report.volume_fraction - 0.4).abs() < 1e-9);
        assert!(report.change <= 0.2 + 1e-12 && report.pcg_residual <= 1e-12);
        // C = f^T u = u^T K u = twice the strain energy.
        assert!((2.0 * energy / report.objective - 1.0).abs() < 1e-10);
    }
    assert_eq!(recorder.densities[11], density);
    assert_eq!((density[3], density[77]), (1.0, 1.0));
    let change =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let moved = change(&recorder.densities[4], &recorder.densities[5]);
    assert_eq!(moved, reports[4].change, "change is that from this design to the next");
}

#[test]
fn reported_compliance_is_that_of_the_reported_density() {
    let mut recorder = Recorder::default();
    run(TIGHT, StopRules { max_iterations: 4, ..COUNT }, &mut recorder);
    let (expected, _) = compliance(&cantilever(), &recorder.densities[3]);
    assert!((recorder.reports[3].objective / expected - 1.0).abs() < 1e-10);
}

#[test]
fn compliances_of_load_cases_are_their_work_and_add_up_to_the_objective() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let stop = StopRules { max_iterations: 3, ..COUNT };
    let mut recorder = Recorder::default();
    let mut optimization = optimization(&problem, solver(&problem, TIGHT), plain(&space), stop);
    optimization.run(&mut recorder).unwrap();

    let found = optimization.compliances();
    for (case, load) in problem.load_cases().iter().enumerate() {
        let u = optimization.design().displacement(case).unwrap();
        let work: f64 = load.forces.iter().zip(&u).map(|(f, u)| f * u).sum();
        assert!((found[case] / work - 1.0).abs() < 1e-12, "{} {work}", found[case]);
    }
    assert_eq!(found[0] + 0.5 * found[1], recorder.reports[2].objective);
}

#[test]
fn interruption_keeps_the_design_evaluated_last() {
    let mut recorder = Recorder { break_in: Some(4), ..Recorder::default() };
    let (outcome, density) = run(TIGHT, COUNT, &mut recorder);
    assert_eq!(outcome, Outcome { iterations: 3, ended: Ended::Interrupted });
    assert_eq!(density, recorder.densities[2]);
}

/// After any iteration, also the last one, and with the state left by an interruption.
#[test]
fn a_run_goes_on_to_the_same_bits() {
    let loose = PcgOptions { tolerance: 1e-5, ..TIGHT };
    let rules = [
        StopRules { max_iterations: 8, ..COUNT },
        StopRules { max_iterations: 50, relative_objective: 0.02, ..COUNT },
    ];

    for stop in rules {
        let mut whole = Recorder::default();
        let expected = run(loose, stop, &mut whole);
        let numbers =
            |r: &IterationReport| (r.objective, r.change, r.pcg_iterations, r.pcg_residual);

        for (done, state) in (1..).zip(&whole.states) {
            // Checkpoints of earlier versions do not hold the next design.
            let without_next = DesignState { next: None, ..state.clone() };
            for state in [state, &without_next] {
                let mut rest = Recorder::default();
                assert_eq!(run_on(loose, stop, Some(state), &mut rest), expected);
                assert_eq!(rest.states, whole.states[done..]);
                let reports =
                    |recorder: &Recorder| recorder.reports.iter().map(numbers).collect::<Vec<_>>();
                assert_eq!(reports(&rest), reports(&whole)[done..]);
            }
        }
    }
}

#[test]
fn a_solve_that_does_not_converge_is_told() {
    let mut recorder = Recorder::default();
    let (outcome, _) = run(PcgOptions { max_iterations: 5, ..TIGHT }, COUNT, &mut recorder);
    let Ended::Solver { iteration: 1, load_case, outcome: solve, .. } = outcome.ended else {
        panic!("{outcome:?}");
    };
    assert_eq!((load_case.as_str(), solve.reason), ("down", StopReason::IterationLimit));
    assert!(recorder.reports.is_empty());
}

#[test]
fn an_observer_that_fails_ends_the_run() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let solver = solver(&problem, TIGHT);
    let mut optimization = optimization(&problem, solver, plain(&space), COUNT);
    let error = optimization.run(&mut Recorder { fail: true, ..Recorder::default() }).unwrap_err();
    assert_eq!(error.to_string(), "disk full");
}

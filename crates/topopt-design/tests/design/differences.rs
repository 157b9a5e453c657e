//! Responses held against finite differences, in one iteration that stays where it is.

use topopt_design::{
    Chain, Compliance, Cone, Constraint, DesignSpace, DesignTransform, Formulation, Function,
    LocalVolume, Objective, Optimization, Optimizer, SolveError, StateEquation, Subproblem, Volume,
    WeightedDensity, Weights,
};
use topopt_fem::{ElementKernel, Problem};
use topopt_linalg::{Cpu, PcgOptions};

use super::responses::{MeanDensity, ONCE, displacement, largest, of_caller, of_case};
use super::transforms::{agrees_with_differences, scattered};
use super::{Recorder, SIMP, TIGHT, solver, space};

/// Holds every gradient against differences of the values at other designs, and stays where it is.
pub struct Differences;

impl Optimizer<Cpu> for Differences {
    fn next(
        &mut self,
        problem: &mut Subproblem<Cpu>,
        next: &mut Vec<f64>,
    ) -> Result<Vec<f64>, SolveError> {
        let Subproblem { design, objective, constraints, others, .. } = problem;
        let functions = [*objective].into_iter().chain(constraints.iter());
        let is_zero = |f: &Function<Cpu>| f.value == 0.0 && f.gradient.iter().all(|g| *g == 0.0);
        for (k, function) in functions.enumerate().filter(|(_, function)| !is_zero(function)) {
            let mut at = |x: &Vec<f64>| others.values(x).unwrap()[k];
            assert!((at(design) / function.value - 1.0).abs() < 1e-9, "{k}");
            agrees_with_differences(design, &function.gradient, &mut at);
        }
        assert_eq!(is_zero(objective), constraints.iter().any(|f| f.share > 0.0));
        next.clone_from(design);
        Ok(vec![0.0; constraints.len()])
    }
}

/// The share of balls that material fills, of two elements' width.
fn local_volume<K: ElementKernel<N>, const N: usize>(
    space: &DesignSpace,
    problem: &Problem<K, N>,
) -> Box<LocalVolume<'static, Cpu>> {
    let radius = 2.0 * problem.mesh().element_width();
    let cone = Cone::new(problem.mesh().centers(), radius, usize::MAX);
    let weights = Weights::fixed(Box::new(cone));
    Box::new(LocalVolume::new(&Cpu, weights, radius, space).unwrap())
}

/// Holds every response that the library has, and one of these tests, against differences.
pub fn hold_against_differences<K: ElementKernel<N>, const N: usize>(
    problem: &Problem<K, N>,
    transform: impl FnMut() -> Chain<'static, Cpu>,
) {
    hold_in(&space(problem.mesh()), problem, transform);
}

/// Does so for the designs of a `space`.
pub fn hold_in<K: ElementKernel<N>, const N: usize>(
    space: &DesignSpace,
    problem: &Problem<K, N>,
    transform: impl FnMut() -> Chain<'static, Cpu>,
) {
    hold_under(&|equation| equation, space, problem, transform);
}

/// Does so for the equation that `changed` makes.
pub fn hold_under<K: ElementKernel<N>, const N: usize>(
    changed: &dyn for<'a> Fn(StateEquation<'a, Cpu>) -> StateEquation<'a, Cpu>,
    space: &DesignSpace,
    problem: &Problem<K, N>,
    mut transform: impl FnMut() -> Chain<'static, Cpu>,
) {
    // Rounding stops solves of tetrahedra and of pinned parts above the residual of other ones.
    let is_loose = problem.elements().are_tetrahedra() || problem.free_part().is_some();
    let loose = if is_loose { 3.0 } else { 1.0 };
    let options = PcgOptions { tolerance: loose * TIGHT.tolerance, ..TIGHT };
    let masses: Vec<f64> = space.volumes.iter().enumerate().map(|(e, v)| v * e as f64).collect();
    let mass = WeightedDensity::new(&Cpu, "mass".into(), masses.len(), &masses).unwrap();
    let constraints = vec![
        Constraint::new(displacement(problem, 0), 1.0),
        Constraint::at_least(displacement(problem, 1), 1.0),
        Constraint::new(largest(problem, 0), 1.0),
        Constraint::at_least(largest(problem, 1), 1.0),
        Constraint::new(Box::new(MeanDensity { elements: vec![5, 90, 17], broken: None }), 1.0),
        Constraint::new(of_caller(problem), 1.0),
        Constraint::new(Box::new(Compliance), 1.0),
        Constraint::new(of_case(0), 1.0),
        Constraint::new(of_case(1), 1.0),
        Constraint::new(Box::new(Volume), 1.0),
        Constraint::at_least(Box::new(mass), 1.0),
        Constraint::new(local_volume(space, problem), 1.0),
    ];

    let worst = Objective::worst(vec![(of_case(0), 1.5), (displacement(problem, 1), 0.3)]);
    let posed = [
        (Objective::new(Box::new(Compliance)), constraints),
        (worst.maximized(), vec![Constraint::volume(space, 0.4)]),
    ];
    for (objective, constraints) in posed {
        let transform = transform();
        let x = scattered(transform.inputs().points);
        let formulation = Formulation { space, transform, objective, constraints };
        let solver = solver(problem, options);
        let equation = changed(StateEquation::new(&Cpu, problem, SIMP, solver).unwrap());
        let mut recorder = Recorder::default();
        let outcome = Optimization::new(equation, formulation, Box::new(Differences), ONCE, &x)
            .unwrap()
            .run(&mut recorder)
            .unwrap();
        assert_eq!(outcome.iterations, 1, "{outcome:?}");
        assert_eq!(recorder.reports[0].change, 0.0, "{outcome:?}");
    }
}

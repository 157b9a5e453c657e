//! The force inverter of the literature with filtered sensitivities, by one layer of hexahedra.

use topopt_design::{
    Chain, Cone, Constraint, DesignSpace, Ended, Formulation, Interpolation, Law, Objective,
    OfState, OptimalityCriteria, Optimization, SensitivityFilter, StateEquation, StateMean,
    StopRule, StopRules, Weights,
};
use topopt_fem::{LoadCase, Material, Problem, Supports};
use topopt_linalg::{Cpu, Space};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};

use super::{Recorder, TIGHT, solver};

/// In plane strain these are E = 1 and nu = 0.3 in plane stress.
const MATERIAL: [f64; 2] = [0.9467455621301775, 0.23076923076923075];

/// Half of the inverter on 40 x 20 squares: the input at (0, 20) pushes along x.
fn problem() -> (Problem, Vec<f64>) {
    let (coordinates, hexes) = block([40, 20, 1], |at| at.map(|i| i as f64));
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
    let mut supports = Supports::none(mesh.n_nodes());
    let mut output = vec![0.0; 3 * mesh.n_nodes()];
    let mut forces = output.clone();
    for (node, x) in mesh.coordinates().iter().enumerate() {
        supports.fix(node, 2);
        match x {
            [0.0, 0.0 | 1.0, _] => (0..2).for_each(|i| supports.fix(node, i)),
            [_, 20.0, _] => supports.fix(node, 1),
            _ => {}
        }
        // Each of two layers of nodes has half of forces, springs and the output.
        if x[1] == 20.0 && [0.0, 40.0].contains(&x[0]) {
            supports.add_spring(node, 0, 0.05);
            let values = if x[0] == 0.0 { &mut forces } else { &mut output };
            values[3 * node] = 0.5;
        }
    }

    let [modulus, ratio] = MATERIAL;
    let material = Material::new(modulus, ratio).unwrap();
    let cases = vec![LoadCase::new("push", forces)];
    (Problem::new(mesh, material, supports, cases).unwrap(), output)
}

/// Published as -1.117 with a bisection of the multiplier that ends at 1e-4 \[Andreassen2011\]. The
/// fourth design moves the output by 1e-14, so that rounding decides how the designs go on: a plain
/// program of two dimensions ends at -1.113 with that bisection and at -1.118 without. The designs
/// then swing about the optimum, and rounding decides whether a change ever falls below 0.01: the
/// mean of the last twenty of a hundred is compared.
#[test]
fn the_force_inverter_of_the_literature() {
    let (problem, output) = problem();
    let volumes = problem.mesh().volumes();
    let n = volumes.len();
    let (solid, void) = (Vec::new(), Vec::new());
    let space = DesignSpace::new(0.0, 0.3, volumes, solid, void);

    let cone = Weights::fixed(Box::new(Cone::new(problem.mesh().centers(), 1.2, usize::MAX)));
    let filter = SensitivityFilter::new(&Cpu, cone, &space.volumes, 0.0).unwrap();
    let output = StateMean::new(&Cpu, &problem, output).unwrap();
    let output = OfState::new(&Cpu, problem.space(), ("output".into(), 0), output).unwrap();
    let formulation = Formulation {
        space: &space,
        transform: Chain::identity(n),
        objective: Objective::filtered(Box::new(output), filter),
        constraints: vec![Constraint::volume(&space, 0.3)],
    };

    let law = Law::Simp;
    let simp =
        Interpolation { law, penalty: 3.0, youngs_modulus: MATERIAL[0], void_stiffness: 1e-9 };
    let equation = StateEquation::new(&Cpu, &problem, simp, solver(&problem, TIGHT)).unwrap();
    let criteria = Box::new(OptimalityCriteria::new(&Cpu, Space::variables(n), 0.1, 0.3).unwrap());
    let stop = StopRules { max_iterations: 100, change: 0.0, ..StopRules::default() };
    let start = space.uniform();
    let mut recorder = Recorder::default();
    let outcome = Optimization::new(equation, formulation, criteria, stop, &start)
        .unwrap()
        .run(&mut recorder)
        .unwrap();

    assert_eq!(outcome.ended, Ended::Rule(StopRule::MaxIterations));
    let found: Vec<f64> = recorder.reports.iter().map(|report| report.objective).collect();
    for (found, expected) in found.iter().zip([0.117700531121, 0.0102699033009, 9.0709089784e-5]) {
        assert!((found - expected).abs() < 1e-11, "{found} for {expected}");
    }
    let last = found[80..].iter().sum::<f64>() / 20.0;
    assert!((last + 1.117).abs() < 7e-3, "{last}");
}

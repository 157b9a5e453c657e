//! Members and gaps of a least width: thresholds, and derivatives of thinner and thicker designs.

use topopt_design::{
    Chain, Cone, Constraint, DensityFilter, DesignSpace, DesignState, DesignTransform, Formulation,
    Mma, Objective, OfThicker, Optimization, Optimizer, Projection, Realization, Response, Sizes,
    StateEquation, StopRules, Weights, depth_of, physical_density, whole_sum,
};
use topopt_linalg::{Cpu, Space};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};
use topopt_testing::{distorted_cube, distorted_tetrahedra};

use super::differences::{Differences, hold_in};
use super::responses::{ONCE, displacement, loaded};
use super::transforms::{backward_is_the_derivative_of_forward, scattered};
use super::{COUNT, Recorder, SIMP, TIGHT, solver, space};

/// Filter, projection and passive elements of a `space`.
fn chain(mesh: &HexMesh, radius: f64, space: &DesignSpace) -> Chain<'static, Cpu> {
    let weights = Weights::fixed(Box::new(Cone::new(mesh.centers(), radius, usize::MAX)));
    let filter = DensityFilter::new(&Cpu, weights, &space.volumes).unwrap();
    let n = space.volumes.len();
    let projection = Projection::new(&Cpu, n, space.density_min, 0.5, 2.0).unwrap();
    physical_density(&Cpu, filter, Some(projection), None, space).unwrap()
}

/// Every other element has void outside of the mesh.
fn sized(mesh: &HexMesh, radius: f64, sizes: Sizes) -> DesignSpace {
    let whole = whole_sum(radius);
    let sums = (0..mesh.n_elements()).map(|e| if e % 2 == 0 { whole } else { 0.0 });
    space(mesh).with_sizes(sizes, sums.collect())
}

#[test]
fn thinner_and_thicker_designs_agree_with_finite_differences() {
    for mesh in [distorted_cube(5, 0.2, true), distorted_tetrahedra(3, 0.2, true)] {
        let radius = 2.5 * mesh.element_width();
        let space = sized(&mesh, radius, Sizes::new(0.8, 0.5));
        let mut chain = chain(&mesh, radius, &space);
        for realization in [Realization::Built, Realization::Eroded, Realization::Dilated] {
            chain.realize(realization);
            backward_is_the_derivative_of_forward(&mut chain);
        }
    }
}

#[test]
fn responses_of_a_thinner_design_agree_with_finite_differences() {
    let problem = loaded();
    let space = sized(problem.mesh(), 1.8, Sizes::new(0.6, 0.0));
    hold_in(&space, &problem, || chain(problem.mesh(), 1.8, &space));
}

/// Runs the worse of the thinner and the thicker design's displacement, with a limit of that of
/// the other load case in the thicker one.
fn run_both(
    optimizer: Box<dyn Optimizer<Cpu>>,
    stop: StopRules,
    state: Option<&DesignState>,
) -> Recorder {
    let problem = loaded();
    let space = sized(problem.mesh(), 1.8, Sizes::new(0.6, 0.0).solving_both());
    let worse = vec![
        (displacement(&problem, 0) as Box<dyn Response<Cpu>>, 1.0),
        (Box::new(OfThicker(displacement(&problem, 0))), 1.0),
    ];
    let limited = OfThicker(displacement(&problem, 1));
    let formulation = Formulation {
        space: &space,
        transform: chain(problem.mesh(), 1.8, &space),
        objective: Objective::worst(worse).maximized(),
        // The volume has the gradient of the thicker design, and the value of the built one.
        constraints: vec![Constraint::at_least(Box::new(limited), 1e-3)],
    };
    let equation = || StateEquation::new(&Cpu, &problem, SIMP, solver(&problem, TIGHT)).unwrap();
    let start = scattered(formulation.transform.inputs().points);
    let mut optimization = Optimization::new(equation(), formulation, optimizer, stop, &start)
        .unwrap()
        .with_thicker(equation());
    if let Some(state) = state {
        optimization = optimization.resumed(state).unwrap();
    }
    let mut recorder = Recorder::default();
    optimization.run(&mut recorder).unwrap();
    recorder
}

#[test]
fn responses_of_thinner_and_thicker_designs_together_agree_with_finite_differences() {
    let recorder = run_both(Box::new(Differences), ONCE, None);
    assert_eq!(recorder.reports[0].change, 0.0);
}

#[test]
fn runs_of_both_designs_go_on_to_the_same_bits() {
    let mma = || Box::new(Mma::new(&Cpu, Space::variables(128), 0.05).unwrap());
    let whole = run_both(mma(), COUNT, None);
    let state = &whole.states[0];
    assert_eq!([state.displacements.len(), state.adjoints.len()], [4, 3]);
    // Whether the states of the thicker design are its own.
    assert_ne!(state.displacements[0], state.displacements[2]);
    for (done, state) in (1..).zip(&whole.states) {
        assert!(run_both(mma(), COUNT, Some(state)).states == whole.states[done..], "from {done}");
    }
}

/// Filtered density across a plate of `thickness` cubes of variables, by a radius of 6 cubes.
fn across(thickness: usize) -> Vec<f64> {
    let n = 25;
    let (coordinates, hexes) = block([n, 13, 13], |at| at.map(|i| i as f64));
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
    let weights = Weights::fixed(Box::new(Cone::new(mesh.centers(), 6.0, usize::MAX)));
    let mut filter = DensityFilter::new(&Cpu, weights, &mesh.volumes()).unwrap();
    let first = (n - thickness) / 2;
    let is_in = |x: &[f64; 3]| f64::from((first..first + thickness).contains(&(x[0] as usize)));
    let x: Vec<f64> = mesh.centers().iter().map(is_in).collect();
    let mut y = vec![0.0; x.len()];
    filter.forward(&Cpu, &x, &mut y).unwrap();
    let middle = n * (6 + 13 * 6);
    y[middle..middle + n].to_vec()
}

#[test]
fn thresholds_are_the_filtered_density_in_the_middle_of_plates() {
    let whole = Sizes::new(1.0, 1.0);
    assert!((whole.eroded - 0.8125).abs() < 1e-12 && (whole.dilated - 0.1875).abs() < 1e-12);
    assert_eq!(Sizes::new(0.0, 0.0), Sizes { eroded: 0.5, dilated: 0.5, solves_both: false });
    let both = Sizes::new(0.0, 1.0).solving_both();
    assert_eq!(both, Sizes { eroded: 0.8125, dilated: 0.1875, solves_both: true });

    for thickness in [5, 7, 9] {
        let filtered = across(thickness);
        // Width of the plate that is built, where the filtered density passes 1/2.
        let first = filtered.iter().position(|y| *y > 0.5).unwrap();
        let [before, after] = [filtered[first - 1], filtered[first]];
        let width = 2.0 * (12.0 - (first as f64 - (after - 0.5) / (after - before)));
        // In radii: the plate of 7 or 9 cubes is wider, and has its core at any threshold.
        let eroded = Sizes::new((width / 6.0).min(1.0), 0.0).eroded;
        let middle = filtered[12];
        match thickness {
            5 => assert!((eroded - middle).abs() < 0.01, "{width}: {eroded} and {middle}"),
            _ => assert!(middle > eroded, "{width}: {eroded} and {middle}"),
        }
    }
}

#[test]
fn the_eroded_design_begins_at_its_depth() {
    for width in [0.3, 0.7, 1.0] {
        let sizes = Sizes::new(width, 0.0);
        let t = depth_of(sizes.eroded);
        assert!((0.5 + t - t.powi(3) + 0.5 * t.powi(4) - sizes.eroded).abs() < 1e-12);
    }
}

//! A physics that the library does not know, with one unknown per node, through operators,
//! multigrid and the design loop: E (u - div grad u) = f, a reaction with diffusion.

use pulp::Simd;
use topopt_design::Chain;
use topopt_fem::operators::{Gradients, Lanes, Nodal};
use topopt_fem::{
    Constraints, Corners, Diffusion, Discretization, ElementKernel, ElementMatrix, ElementVector,
    LoadCase, MAX_TERMS, Multigrid, Problem,
};
use topopt_linalg::CycleKind;
use topopt_mesh::HexMesh;

use super::differences::hold_against_differences;
use super::{COUNT, Recorder, TIGHT, cantilever, optimization, plain, solver, space};

/// Conduction and capacity with one coefficient.
#[derive(Debug, Clone, Copy)]
struct Reaction;

impl ElementKernel<1> for Reaction {
    const TERMS: usize = 1;
    const MODES: usize = 1;
    const HAS_GROUND: bool = true;
    type Packed = [f64; 1];

    fn matrix(&self, _: usize, x: &Corners) -> ElementMatrix<1> {
        let [mut sum, capacity] = [0, 1].map(|term| Diffusion::default().matrix(term, x));
        let entries = sum.as_flattened_mut().as_flattened_mut().as_flattened_mut();
        let capacity = capacity.as_flattened().as_flattened().as_flattened();
        entries.iter_mut().zip(capacity).for_each(|(entry, c)| *entry += c);
        sum
    }

    fn diagonal_blocks(&self, _: usize, hex: &[u32; 8], x: &Corners) -> [[f64; 1]; 8] {
        let [conduction, capacity] =
            [0, 1].map(|term| Diffusion::default().diagonal_blocks(term, hex, x));
        std::array::from_fn(|a| [conduction[a][0] + capacity[a][0]])
    }

    fn flops(&self) -> f64 {
        Diffusion::default().flops()
    }

    fn product<S: Simd>(
        &self,
        simd: S,
        x: &Nodal<S>,
        u: &Nodal<S, 1>,
        [c, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> Nodal<S, 1> {
        Diffusion::default().product(simd, x, u, &[*c, *c])
    }

    fn block<S: Simd>(
        &self,
        simd: S,
        gradients: &Gradients<S>,
        nodes: [usize; 2],
        [c, ..]: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; 1]; 1] {
        Diffusion::default().block(simd, gradients, nodes, &[*c, *c])
    }

    fn coupling(&self, _: usize, a: [f64; 3], b: [f64; 3]) -> [[f64; 1]; 1] {
        Diffusion::default().coupling(Diffusion::CONDUCTION, a, b)
    }

    fn constitutive<S: Simd>(
        &self,
        simd: S,
        gradient: &[[Lanes<S>; 3]; 1],
        coefficients: &[Lanes<S>; MAX_TERMS],
    ) -> [[Lanes<S>; 3]; 1] {
        Diffusion::default().constitutive(simd, gradient, coefficients)
    }

    fn ground(&self, [c, ..]: &[f64; MAX_TERMS], x: &Corners) -> ElementVector<1> {
        Diffusion::default().ground(&[*c, *c], x)
    }

    /// The reaction holds everything.
    fn free_motions(&self, _: &Constraints<1>, _: &HexMesh, _: &[u32]) -> Vec<String> {
        Vec::new()
    }
}

/// On the mesh of the cantilever: a source everywhere, and values held at its nodes of x = 0.
fn reaction() -> Problem<Reaction, 1> {
    let structure = cantilever();
    let mesh = structure.mesh().clone();
    let mut held = Constraints::none(mesh.n_nodes());
    let clamped = (0..mesh.n_nodes()).filter(|&node| structure.supports().is_held(node));
    clamped.for_each(|node| held.fix(node, 0));
    let nodal = |value: fn(f64) -> f64| (0..mesh.n_nodes()).map(|n| value(n as f64)).collect();
    let cases = vec![
        LoadCase {
            body_force: [0.3].into(),
            ..LoadCase::new("source", nodal(|n| (0.3 * n).sin()))
        },
        LoadCase {
            weight: 0.5,
            prescribed: Some(nodal(|n| 1.0 + (0.7 * n).cos())),
            ..LoadCase::new("held", nodal(|_| 0.0))
        },
    ];
    Problem::of(Discretization::new(mesh, Reaction, held), cases).unwrap()
}

#[test]
fn another_physics_agrees_with_finite_differences() {
    hold_against_differences(&reaction(), || Chain::identity(128));
}

#[test]
fn another_physics_is_optimized_with_multigrid() {
    let problem = reaction();
    let space = space(problem.mesh());
    let mut objectives = Vec::new();
    for multigrid in [false, true] {
        let mut solver = solver(&problem, TIGHT);
        if multigrid {
            let made: Multigrid<_, 1, 1> = Multigrid::new(&problem, CycleKind::K).unwrap();
            solver.preconditioner = Box::new(made);
        }
        let mut recorder = Recorder::default();
        let mut loop_ = optimization(&problem, solver, plain(&space), COUNT);
        loop_.run(&mut recorder).unwrap();
        objectives.push(recorder.reports.iter().map(|r| r.objective).collect::<Vec<_>>());
        let fewest = recorder.reports.iter().map(|r| r.pcg_iterations).max().unwrap();
        assert!(!multigrid || fewest < 60, "{fewest}");
    }
    for (plain, multigrid) in objectives[0].iter().zip(&objectives[1]) {
        assert!((plain / multigrid - 1.0).abs() < 1e-9, "{plain} {multigrid}");
    }
}

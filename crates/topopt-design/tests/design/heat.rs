//! Heat: all responses against finite differences, with convection, held temperatures and materials.

use topopt_design::Chain;
use topopt_fem::orthotropy::stretch;
use topopt_fem::{
    Constraints, Coupling, Diffusion, Discretization, ElementFactors, Formulation, LoadCase,
    Problem, surface_load,
};
use topopt_mesh::surface::boundary_faces;

use super::cantilever;
use super::differences::hold_against_differences;
use super::transforms::physical;

/// On the mesh of the cantilever: sources, films at each fifth node and on the boundary, and held
/// temperatures at x = 0 that differ from 0 in one of two cases; the elements are of two
/// conductivities, or of several along each axis.
pub fn heat(is_orthotropic: bool) -> Problem<Diffusion, 1> {
    let structure = cantilever();
    let mesh = structure.mesh().clone();
    let mut held = Constraints::none(mesh.n_nodes());
    for node in 0..mesh.n_nodes() {
        if structure.supports().is_held(node) {
            held.fix(node, 0);
        } else if node % 5 == 0 {
            held.add_spring(node, 0, 0.1 + 0.01 * node as f64);
        }
    }
    let faces = boundary_faces(&mesh);
    for (node, area) in surface_load::areas(&mesh, &faces) {
        held.add_spring(node as usize, 0, 0.3 * area);
    }
    let films = surface_load::couplings(&mesh, &faces).into_iter();
    let films = films.map(|(nodes, area)| Coupling { nodes, weight: 0.3 * area });
    let held = held.with_films(films.collect());
    let nodal = |value: fn(f64) -> f64| (0..mesh.n_nodes()).map(|n| value(n as f64)).collect();
    let cases = vec![
        LoadCase::new("sources", nodal(|n| 1.0 + (0.3 * n).sin())),
        LoadCase {
            weight: 0.5,
            prescribed: Some(nodal(|n| 2.0 + (0.7 * n).cos())),
            ..LoadCase::new("held", nodal(|n| 0.1 * (0.2 * n).cos()))
        },
    ];
    let factors = (0..mesh.n_elements()).map(|e| if e % 3 == 0 { 4.0 } else { 1.0 }).collect();
    let factors = ElementFactors { stiffness: Some(factors), mass: None };
    let mut discretization =
        Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), held);
    if is_orthotropic {
        let along = |e: usize| [1.0 + (e % 4) as f64, 2.0, 0.3 + 0.1 * (e % 7) as f64];
        let n = discretization.mesh().n_elements();
        discretization = discretization.with_stretches((0..n).map(|e| stretch(along(e))).collect());
    }
    let problem = Problem::of(discretization, cases).unwrap();
    problem.with_factors(factors).unwrap()
}

#[test]
fn gradients_of_heat_agree_with_finite_differences() {
    hold_against_differences(&heat(false), || Chain::identity(128));
    hold_against_differences(&heat(false), || physical(Some(4.0)));
}

#[test]
fn gradients_of_orthotropic_heat_agree_with_finite_differences() {
    hold_against_differences(&heat(true), || physical(Some(4.0)));
}

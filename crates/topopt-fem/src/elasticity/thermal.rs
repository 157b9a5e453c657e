//! Stresses and forces of elements against thermal strains, by the formulation of the elements.

use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::gauss_points;
use topopt_mesh::tetrahedron::POINTS;
use topopt_mesh::vector::dot;

use crate::DIM;
use crate::Formulation;
use crate::shape_gradients::physical_gradients;
use crate::strain_modes::{MONOMIALS, StrainMode, monomial};
use crate::strain_tensor::{Strain, Tensor};
use crate::tetrahedra::integrals::{WEIGHT, gradients};
use crate::thermal_strain::{Restrained, ThermalStrains};

/// The stress against a strain at Young's modulus 1, which leaves none on planes of a normal.
type Against<'a> = &'a dyn Fn(&Strain, Option<[f64; DIM]>) -> Tensor;

/// Thermal strains, the mesh and the number of an element.
type Place<'a> = (&'a ThermalStrains, &'a HexMesh, usize);

/// Thermal strain of a mode, or at an integration point.
struct Term {
    /// Gradients of the nodes.
    gradients: Vec<[f64; DIM]>,
    weight: f64,
    strain: Strain,
    stress: Tensor,
}

/// Computes the stress against the thermal strain at the reference coordinates `xi`.
pub fn stress_at(
    against: Against,
    formulation: Formulation,
    (strains, mesh, e): Place,
    xi: [f64; DIM],
) -> [f64; 6] {
    let change = strains.change(e);
    if mesh.shape() == Shape::Tetrahedron {
        return listed(&against(&strains.expansion(e, change.at(mesh, e, xi)), None));
    }
    if formulation == Formulation::Full {
        return listed(&against(&strains.expansion(e, change.mean), None));
    }
    let mut sum = [0.0; 6];
    let modes = MONOMIALS.into_iter().zip(StrainMode::all(&mesh.element_coordinates(e)));
    for ((bits, mode), change) in modes.zip(change.by_mode(mesh, e)) {
        let own = listed(&against(&strains.expansion(e, change), mode.normal));
        (0..6).for_each(|i| sum[i] += monomial(bits, xi) * own[i]);
    }
    sum
}

/// Computes what it takes to hold an element against its thermal strain.
pub fn restrained(against: Against, formulation: Formulation, place: Place) -> Restrained<DIM> {
    let mut forces = vec![[0.0; DIM]; place.1.nodes_per_element()];
    let mut energy = 0.0;
    for Term { gradients, weight, strain, stress } in terms(against, formulation, place) {
        for (force, p) in forces.iter_mut().zip(gradients) {
            (0..DIM).for_each(|i| force[i] += weight * dot(stress[i], p));
        }
        let products = strain.iter().zip(listed(&stress));
        energy += weight * products.map(|(e, s)| e * s).sum::<f64>();
    }
    Restrained { forces, energy }
}

/// Thermal strains by modes, or at integration points.
fn terms(against: Against, formulation: Formulation, (strains, mesh, e): Place) -> Vec<Term> {
    let change = strains.change(e);
    let term = |gradients: Vec<_>, weight, change, normal| {
        let strain = strains.expansion(e, change);
        Term { gradients, weight, strain, stress: against(&strain, normal) }
    };
    if mesh.shape() == Shape::Tetrahedron {
        let x = mesh.tetrahedron_coordinates(e);
        return POINTS
            .map(|point| {
                let ((gradients, det), [_, xi @ ..]) = (gradients(&x, point), point);
                term(gradients.to_vec(), WEIGHT * det, change.at(mesh, e, xi), None)
            })
            .into();
    }

    let x = mesh.element_coordinates(e);
    match formulation {
        Formulation::Full => {
            let at = gauss_points().map(|xi| physical_gradients(&x, xi));
            at.map(|(p, weight)| term(p.to_vec(), weight, change.mean, None)).into()
        }
        Formulation::Incompatible => {
            let modes = StrainMode::all(&x).into_iter().zip(change.by_mode(mesh, e));
            let of = |m: StrainMode, change| term(m.gradients.to_vec(), m.weight, change, m.normal);
            modes.map(|(mode, change)| of(mode, change)).collect()
        }
    }
}

/// A symmetric stress tensor as a list.
fn listed(s: &Tensor) -> [f64; 6] {
    [s[0][0], s[1][1], s[2][2], s[0][1], s[1][2], s[2][0]]
}

//! Forces and energies of elements that are held against their thermal strains.

use crate::{Discretization, ElementKernel, Elements, ThermalStrains};

/// Forces of elements that are held against their thermal strains, at held unknowns as well as at
/// free ones, for `coefficients` c_e, `[n_elements]`: `[n_nodes][N]`.
pub fn thermal_forces<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    coefficients: &[f64],
    strains: &ThermalStrains,
) -> Vec<[f64; N]> {
    let (mesh, elements) = (problem.mesh(), problem.elements());
    let mut sums = vec![[0.0; N]; mesh.n_nodes()];
    for e in strains.elements() {
        let (e, nodes) = (e as usize, mesh.element(e as usize));
        let forces = problem.kernel().restrained(&elements, e, strains).forces;
        for (&node, force) in nodes.iter().zip(forces) {
            let sum = &mut sums[node as usize];
            sum.iter_mut().zip(force).for_each(|(sum, f)| *sum += coefficients[e] * f);
        }
    }
    sums
}

/// Twice the energy at unit coefficient of elements that are held against their thermal strains,
/// `[n_elements]`.
pub fn restrained_energies<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    strains: &ThermalStrains,
) -> Vec<f64> {
    let elements: Elements = problem.elements();
    let mut energies = vec![0.0; elements.n_elements()];
    for e in strains.elements() {
        let e = e as usize;
        energies[e] = problem.kernel().restrained(&elements, e, strains).energy;
    }
    energies
}

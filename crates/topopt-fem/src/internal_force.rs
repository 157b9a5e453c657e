//! The forces with which elements resist a displacement, at held unknowns as well as at free ones.

use rayon::prelude::*;

use crate::element_matrices::ElementMatrices;
use crate::operators::stored::{element_values, product};
use crate::{Discretization, ElementKernel, ElementMatrix};

/// K u = sum_e c_e K_e u_e of the first term at the nodes where `is_wanted`, `[n_nodes]`, and 0 at
/// the others, `[n_nodes][N]`; the same bits on any number of threads. Without the loads there,
/// these are the reactions of held unknowns.
///
/// `coefficients`: c_e, `[n_elements]`; of elasticity Young's moduli (force per area). `u`: values at
/// all nodes, prescribed ones included, `[n_nodes][N]`. Only elements with such a node are looked
/// at, by plain loops.
pub fn internal_forces<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    coefficients: &[f64],
    u: &[f64],
    is_wanted: &[bool],
) -> Vec<[f64; N]> {
    let u = u.as_chunks::<N>().0;
    match problem.elements().are_tetrahedra() {
        true => forces_of::<K, N, 10>(problem, coefficients, u, is_wanted),
        false => forces_of::<K, N, 8>(problem, coefficients, u, is_wanted),
    }
}

/// The [`internal_forces`] of elements of E nodes.
fn forces_of<K: ElementKernel<N> + ElementMatrices<N, E>, const N: usize, const E: usize>(
    problem: &Discretization<K, N>,
    coefficients: &[f64],
    u: &[[f64; N]],
    is_wanted: &[bool],
) -> Vec<[f64; N]> {
    let mesh = problem.mesh();
    let touches = |e: &usize| mesh.element(*e).iter().any(|&node| is_wanted[node as usize]);
    let of_element = |e: usize| {
        let ke: ElementMatrix<N, E> = problem.kernel().element_matrix(0, &problem.elements(), e);
        let forces = product(&ke, &element_values(mesh, e, u));
        (e, forces.map(|force| force.map(|f| coefficients[e] * f)))
    };
    let elements = (0..mesh.n_elements()).into_par_iter().filter(touches);
    let forces: Vec<_> = elements.map(of_element).collect();

    let mut sums = vec![[0.0; N]; mesh.n_nodes()];
    for (e, forces) in forces {
        for (&node, force) in mesh.element(e).iter().zip(forces) {
            if is_wanted[node as usize] {
                sums[node as usize].iter_mut().zip(force).for_each(|(sum, f)| *sum += f);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use topopt_linalg::LinearOperator;
    use topopt_testing::{Noise, distorted_cube, hexagon};

    use super::*;
    use crate::operators::Reference;
    use crate::{Elasticity, ElementOperator, Material, Supports};

    #[test]
    fn forces_are_those_of_an_operator_where_nothing_is_held() {
        let elasticity = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
        for mesh in [distorted_cube(3, 0.3, true), hexagon(2)] {
            let (n_nodes, n_elements) = (mesh.n_nodes(), mesh.n_elements());
            let mut random = Noise(7);
            let u: Vec<f64> = (0..3 * n_nodes).map(|_| random.number()).collect();
            let moduli: Vec<f64> = (0..n_elements).map(|_| 1.0 + random.number()).collect();

            let free = Discretization::new(mesh.clone(), elasticity, Supports::none(n_nodes));
            let mut operator = Reference::new(&free);
            operator.set_coefficients(&[&moduli]);
            let mut expected = vec![0.0; 3 * n_nodes];
            operator.apply(&u, &mut expected);

            // That nodes are held changes nothing.
            let mut supports = Supports::none(n_nodes);
            (0..n_nodes).for_each(|node| supports.fix(node, node % 3));
            let held = Discretization::new(mesh, elasticity, supports);
            let is_wanted: Vec<bool> = (0..n_nodes).map(|node| node % 2 == 0).collect();
            let found = internal_forces(&held, &moduli, &u, &is_wanted);
            for (node, force) in found.iter().enumerate() {
                for i in 0..3 {
                    let expected = if is_wanted[node] { expected[3 * node + i] } else { 0.0 };
                    assert!((force[i] - expected).abs() < 1e-12, "{} {expected}", force[i]);
                }
            }
        }
    }
}

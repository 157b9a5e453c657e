//! Rows of the assembled matrix by plain loops, slow and clear: the oracle of assembly on a device.

use std::collections::BTreeMap;

use topopt_mesh::NodeToElements;

use crate::{Discretization, ElementKernel};

/// The blocks of the rows of `node` in `sum_t c_t K_t` by their columns, for the `coefficients` c_t
/// of every term, `[terms][n_elements]`; springs are left out. Held rows and columns are those of
/// the identity. Elements are added in increasing order.
///
/// # Panics
/// If there are fewer coefficients than terms or elements.
pub fn matrix_row<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    adjacency: &NodeToElements,
    coefficients: &[&[f64]],
    node: usize,
) -> BTreeMap<u32, [[f64; N]; N]> {
    let (mesh, constraints) = (problem.mesh(), problem.constraints());
    let mut blocks = BTreeMap::from([(node as u32, [[0.0; N]; N])]);
    for (e, a) in adjacency.of(node) {
        let (e, a) = (e as usize, a as usize);
        for (term, coefficients) in coefficients.iter().enumerate().take(K::TERMS) {
            let kernel = problem.kernel().of_element(&problem.elements(), e);
            let matrix = kernel.matrix(term, &mesh.element_coordinates(e));
            for (b, &other) in mesh.hexes()[e].iter().enumerate() {
                let block = blocks.entry(other).or_insert([[0.0; N]; N]);
                for (i, row) in block.iter_mut().enumerate() {
                    for (j, value) in row.iter_mut().enumerate() {
                        *value += coefficients[e] * matrix[a][i][b][j];
                    }
                }
            }
        }
    }

    for (&other, block) in &mut blocks {
        let other = other as usize;
        for (i, row) in block.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                if constraints.is_fixed(node, i) || constraints.is_fixed(other, j) {
                    *value = f64::from((node, i) == (other, j));
                }
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use topopt_linalg::LinearOperator;
    use topopt_mesh::HexMesh;
    use topopt_testing::{Noise, assert_close, distorted_cube, wheel};

    use super::*;
    use crate::operators::Reference;
    use crate::{Constraints, Diffusion, Elasticity, ElementOperator, Material};

    /// Rows times a vector, held against the plain operator.
    fn assert_product<K: ElementKernel<N>, const N: usize>(mesh: &HexMesh, kernel: K) {
        let mut constraints = Constraints::none(mesh.n_nodes());
        (0..mesh.n_nodes()).step_by(3).for_each(|node| constraints.fix(node, node % N));
        let problem = Discretization::new(mesh.clone(), kernel, constraints);
        let coefficients: Vec<Vec<f64>> = (0..K::TERMS as u64)
            .map(|seed| Noise(seed + 1).vector(mesh.n_elements()))
            .map(|noise| noise.iter().map(|v| 1.5 + v).collect())
            .collect();
        let x = Noise(9).vector(problem.n_dofs());

        let mut expected = vec![0.0; x.len()];
        let mut reference = Reference::new(&problem);
        reference.set_coefficients(&coefficients.iter().collect::<Vec<_>>());
        reference.apply(&x, &mut expected);

        let adjacency = NodeToElements::new(mesh);
        let coefficients: Vec<&[f64]> = coefficients.iter().map(Vec::as_slice).collect();
        let mut found = vec![0.0; x.len()];
        for node in 0..mesh.n_nodes() {
            for (other, block) in matrix_row(&problem, &adjacency, &coefficients, node) {
                for (i, row) in block.iter().enumerate() {
                    let values = &x[N * other as usize..][..N];
                    let product: f64 = row.iter().zip(values).map(|(k, x)| k * x).sum();
                    found[N * node + i] += product;
                }
            }
        }
        assert_close(&found, &expected, 1e-13, "rows");
    }

    #[test]
    fn rows_are_those_of_the_reference() {
        let steel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
        for mesh in [distorted_cube(3, 0.2, true), wheel(2)] {
            assert_product::<_, 3>(&mesh, steel);
            assert_product::<_, 1>(&mesh, Diffusion::default());
        }
    }
}

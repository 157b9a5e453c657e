//! Stored element matrices, `[8][N][8][N]` numbers per element and term at unit coefficient, for
//! `ebe` and `nbn`.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::element_matrices::ElementMatrices;
use crate::{Discretization, ElementKernel, ElementMatrix, ElementVector};

/// K_et of every element at unit coefficient, `[TERMS][n_elements]`.
pub type Stored<const N: usize> = Vec<Vec<ElementMatrix<N>>>;

/// Computes K_et of every element and term [Ratnakar2022, Fig. 3.6].
pub fn element_matrices<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
) -> Stored<N> {
    let elements = problem.elements();
    let of_term = |term: usize| {
        let ke = |e| problem.kernel().element_matrix(term, &elements, e);
        (0..elements.n_elements()).into_par_iter().map(ke).collect()
    };
    (0..K::TERMS).map(of_term).collect()
}

/// Bytes of the stored matrices of `n_elements`.
pub fn bytes<K: ElementKernel<N>, const N: usize>(n_elements: usize) -> usize {
    n_elements * K::TERMS * size_of::<ElementMatrix<N>>()
}

/// Computes K_e u_e by columns: K_e is symmetric, and a column times a number vectorizes.
pub fn product<const N: usize, const E: usize>(
    ke: &ElementMatrix<N, E>,
    u: &ElementVector<N, E>,
) -> ElementVector<N, E> {
    let mut f = [[0.0; N]; E];
    for (column, u) in ke.as_flattened().iter().zip(u.as_flattened()) {
        for (f, k) in f.as_flattened_mut().iter_mut().zip(column.as_flattened()) {
            *f += k * u;
        }
    }
    f
}

/// A row of K_e times u_e, in eight independent sums, which the compiler vectorizes.
pub fn dot<const N: usize>(row: &ElementVector<N>, u: &ElementVector<N>) -> f64 {
    let row = row.as_flattened().as_chunks::<8>().0;
    let u = u.as_flattened().as_chunks::<8>().0;
    let mut sums = [0.0; 8];
    for (row, u) in row.iter().zip(u) {
        for l in 0..8 {
            sums[l] += row[l] * u[l];
        }
    }
    sums.iter().sum()
}

/// v_e^T K_e u_e.
pub fn work<const N: usize, const E: usize>(
    ke: &ElementMatrix<N, E>,
    v: &ElementVector<N, E>,
    u: &ElementVector<N, E>,
) -> f64 {
    product(ke, u).as_flattened().iter().zip(v.as_flattened()).map(|(f, v)| f * v).sum()
}

/// Nodal values at the nodes of one element.
pub fn element_values<const N: usize, const E: usize>(
    mesh: &HexMesh,
    element: usize,
    field: &[[f64; N]],
) -> ElementVector<N, E> {
    let nodes = mesh.element(element);
    std::array::from_fn(|a| field[nodes[a] as usize])
}

/// The values at the nodes of one element, zero at held components.
pub fn free_values<K: ElementKernel<N>, const N: usize, const E: usize>(
    problem: &Discretization<K, N>,
    element: usize,
    field: &[[f64; N]],
) -> ElementVector<N, E> {
    let mut u = [[0.0; N]; E];
    for (u, &node) in u.iter_mut().zip(problem.mesh().element(element)) {
        *u = problem.constraints().free_part(node as usize, field[node as usize]);
    }
    u
}

/// Writes v_e^T K_et u_e for every element.
pub fn works<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    matrices: &[ElementMatrix<N>],
    [v, u]: [&[f64]; 2],
    out: &mut [f64],
) {
    let (v, u) = (v.as_chunks::<N>().0, u.as_chunks::<N>().0);
    out.par_iter_mut().enumerate().for_each(|(e, out)| {
        let values = |field| element_values(problem.mesh(), e, field);
        *out = work(&matrices[e], &values(v), &values(u));
    });
}

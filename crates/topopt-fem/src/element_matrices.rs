//! Element matrices by plain loops, whatever the shape of the elements.

use crate::{ElementKernel, ElementMatrix, Elements, tetrahedra};

/// Matrices of elements of E nodes: 8 of a hexahedron, 10 of a tetrahedron.
pub trait ElementMatrices<const N: usize, const E: usize> {
    /// K_t at unit coefficient of element `e`.
    fn element_matrix(&self, term: usize, elements: &Elements, e: usize) -> ElementMatrix<N, E>;
}

impl<K: ElementKernel<N>, const N: usize> ElementMatrices<N, 8> for K {
    fn element_matrix(&self, term: usize, elements: &Elements, e: usize) -> ElementMatrix<N> {
        self.of_element(elements, e).matrix(term, &elements.corners(e))
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementMatrices<N, 10> for K {
    fn element_matrix(&self, term: usize, elements: &Elements, e: usize) -> ElementMatrix<N, 10> {
        tetrahedra::matrix(&self.of_element(elements, e), term, &elements.tetrahedron(e))
    }
}

//! Stored element stiffness, 576 numbers an element at unit modulus, for `ebe` and `nbn`.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::Problem;
use crate::stiffness::{ELEMENT_DOFS, element_stiffness};

/// K_e of every element at unit modulus, \[n_elements\]\[24\]\[24\].
pub type Stored = Vec<[[f64; ELEMENT_DOFS]; ELEMENT_DOFS]>;

/// Computes K_e of every element [Ratnakar2022, Fig. 3.6].
pub fn element_stiffnesses(problem: &Problem) -> Stored {
    let mesh = problem.mesh();
    let ke = |e| element_stiffness(&mesh.element_coordinates(e), problem.material());
    (0..mesh.n_elements()).into_par_iter().map(ke).collect()
}

/// Bytes of the stored stiffness of so many elements.
pub fn bytes(n_elements: usize) -> usize {
    n_elements * ELEMENT_DOFS * ELEMENT_DOFS * 8
}

/// K_e u_e. By columns: K_e is symmetric, and a column times a number vectorizes.
pub fn product(
    ke: &[[f64; ELEMENT_DOFS]; ELEMENT_DOFS],
    u: &[f64; ELEMENT_DOFS],
) -> [f64; ELEMENT_DOFS] {
    let mut f = [0.0; ELEMENT_DOFS];
    for (column, u) in ke.iter().zip(u) {
        for (f, k) in f.iter_mut().zip(column) {
            *f += k * u;
        }
    }
    f
}

/// A row of K_e times u_e, in eight independent sums, which the compiler vectorizes.
pub fn dot(row: &[f64; ELEMENT_DOFS], u: &[f64; ELEMENT_DOFS]) -> f64 {
    let (row, u) = (row.as_chunks::<8>().0, u.as_chunks::<8>().0);
    let mut sums = [0.0; 8];
    for (row, u) in row.iter().zip(u) {
        for l in 0..8 {
            sums[l] += row[l] * u[l];
        }
    }
    sums.iter().sum()
}

/// u_e^T K_e u_e.
pub fn energy(ke: &[[f64; ELEMENT_DOFS]; ELEMENT_DOFS], u: &[f64; ELEMENT_DOFS]) -> f64 {
    product(ke, u).iter().zip(u).map(|(f, u)| f * u).sum()
}

/// Nodal values at the nodes of one element, \[3 a + i\].
pub fn element_values(mesh: &HexMesh, element: usize, field: &[[f64; 3]]) -> [f64; ELEMENT_DOFS] {
    let mut values = [0.0; ELEMENT_DOFS];
    for (value, &node) in values.as_chunks_mut::<3>().0.iter_mut().zip(&mesh.hexes()[element]) {
        *value = field[node as usize];
    }
    values
}

/// The displacements of one element, \[3 a + i\], zero at held components.
pub fn element_displacements(
    problem: &Problem,
    element: usize,
    field: &[[f64; 3]],
) -> [f64; ELEMENT_DOFS] {
    let mut u = [0.0; ELEMENT_DOFS];
    for (a, &node) in problem.mesh().hexes()[element].iter().enumerate() {
        let node = node as usize;
        u[3 * a..3 * a + 3].copy_from_slice(&problem.supports().free_part(node, field[node]));
    }
    u
}

/// Writes u_e^T K_e u_e for every element.
pub fn energies(problem: &Problem, stiffness: &Stored, u: &[f64], out: &mut [f64]) {
    let field = u.as_chunks::<3>().0;
    out.par_iter_mut().enumerate().for_each(|(e, out)| {
        *out = energy(&stiffness[e], &element_values(problem.mesh(), e, field));
    });
}

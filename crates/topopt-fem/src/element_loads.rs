//! Loads that follow the design: f = sum_e s_e q_e, with a vector q_e for each of some elements
//! and a factor s_e that the design sets.
//!
//! Gravity has the densities as factors. Prescribed displacements, moved to the right-hand side,
//! have the moduli.

use rayon::prelude::*;

use crate::diffusion::shape_integrals;
use crate::stiffness::{ELEMENT_DOFS, element_stiffness};
use crate::{DIM, Problem};

/// The vectors q_e, zero at held components, and where they are summed. They live on the host: they
/// are summed once a design and not once a product.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementVectors {
    /// Elements that have a vector, increasing.
    elements: Vec<u32>,
    n_elements: usize,
    /// Their nodes, \[elements\]\[8\].
    hexes: Vec<[u32; 8]>,
    /// q_e, \[elements\]\[24\]; number 3 a + i is component i at local node a.
    vectors: Vec<[f64; ELEMENT_DOFS]>,
    /// Nodes of these elements, increasing.
    nodes: Vec<u32>,
    /// `slots[offsets[k]..offsets[k + 1]]` are the places of `nodes[k]`.
    offsets: Vec<u32>,
    /// Places as 8 times the position in `elements`, plus the local node.
    slots: Vec<u32>,
}

impl ElementVectors {
    /// q_e of a force per volume `body_force` on all elements: its consistent nodal forces, the
    /// integral of N_a times it.
    pub fn of_body_force(problem: &Problem, body_force: [f64; DIM]) -> Self {
        let mesh = problem.mesh();
        let vector = |&e: &u32| {
            let mut vector = [0.0; ELEMENT_DOFS];
            for (q, share) in vector
                .as_chunks_mut::<DIM>()
                .0
                .iter_mut()
                .zip(shape_integrals(&mesh.element_coordinates(e as usize)))
            {
                *q = body_force.map(|b| share * b);
            }
            vector
        };
        Self::new(problem, (0..mesh.n_elements() as u32).collect(), vector)
    }

    /// q_e = -K_e u_e at unit modulus, for displacements u of held components, zero at free ones,
    /// \[n_nodes\]\[3\]; elements that do not touch a displaced node have none.
    pub fn of_displacements(problem: &Problem, u: &[f64]) -> Self {
        let (mesh, u) = (problem.mesh(), u.as_chunks::<DIM>().0);
        let is_moved = |node: &u32| u[*node as usize] != [0.0; DIM];
        let hexes = (0..).zip(mesh.hexes());
        let elements = hexes.filter(|(_, hex)| hex.iter().any(is_moved)).map(|(e, _)| e).collect();
        let vector = |&e: &u32| {
            let e = e as usize;
            let ke = element_stiffness(&mesh.element_coordinates(e), problem.material());
            let u = mesh.hexes()[e].map(|node| u[node as usize]);
            ke.map(|row| -row.iter().zip(u.as_flattened()).map(|(k, u)| k * u).sum::<f64>())
        };
        Self::new(problem, elements, vector)
    }

    /// Bytes of vectors for that many elements.
    pub fn bytes(n_elements: usize) -> usize {
        // Number, nodes, vector, slots; some more than one node an element.
        n_elements * (4 + 32 + 8 * ELEMENT_DOFS + 32 + 10)
    }

    /// f += sum_e s_e q_e for factors s, \[n_elements\], and a nodal vector f, \[n_nodes\]\[3\];
    /// the same bits on any number of threads.
    pub fn add(&self, factors: &[f64], f: &mut [f64]) {
        let sum = |rows: &[u32]| {
            let mut total = [0.0; DIM];
            for &slot in &self.slots[rows[0] as usize..rows[1] as usize] {
                let (k, a) = ((slot / 8) as usize, (slot % 8) as usize);
                let factor = factors[self.elements[k] as usize];
                (0..DIM).for_each(|i| total[i] += factor * self.vectors[k][DIM * a + i]);
            }
            total
        };
        let totals: Vec<_> = self.offsets.par_windows(2).with_min_len(1024).map(sum).collect();
        let f = f.as_chunks_mut::<DIM>().0;
        for (&node, total) in self.nodes.iter().zip(totals) {
            (0..DIM).for_each(|i| f[node as usize][i] += total[i]);
        }
    }

    /// q_e . u_e for a nodal vector u, \[n_nodes\]\[3\]; 0 for elements without a vector,
    /// \[n_elements\].
    pub fn work(&self, u: &[f64]) -> Vec<f64> {
        let u = u.as_chunks::<DIM>().0;
        let work = |(hex, vector): (&[u32; 8], &[f64; ELEMENT_DOFS])| -> f64 {
            let u = hex.map(|node| u[node as usize]);
            vector.iter().zip(u.as_flattened()).map(|(q, u)| q * u).sum()
        };
        let pairs = self.hexes.par_iter().zip(&self.vectors).with_min_len(1024);
        let works: Vec<_> = pairs.map(work).collect();
        let mut out = vec![0.0; self.n_elements];
        self.elements.iter().zip(works).for_each(|(&e, work)| out[e as usize] = work);
        out
    }

    fn new(
        problem: &Problem,
        elements: Vec<u32>,
        vector: impl Fn(&u32) -> [f64; ELEMENT_DOFS] + Send + Sync,
    ) -> Self {
        let hexes: Vec<_> = elements.iter().map(|&e| problem.mesh().hexes()[e as usize]).collect();
        let mut vectors: Vec<_> = elements.par_iter().map(vector).collect();
        for (vector, hex) in vectors.iter_mut().zip(&hexes) {
            for (q, &node) in vector.as_chunks_mut::<DIM>().0.iter_mut().zip(hex) {
                *q = problem.supports().free_part(node as usize, *q);
            }
        }
        let mut places: Vec<(u32, u32)> = hexes.as_flattened().iter().copied().zip(0..).collect();
        places.sort_unstable();
        let (mut nodes, mut offsets) = (Vec::new(), vec![0]);
        for run in places.chunk_by(|a, b| a.0 == b.0) {
            nodes.push(run[0].0);
            offsets.push(offsets[offsets.len() - 1] + run.len() as u32);
        }
        let n_elements = problem.mesh().n_elements();
        let slots = places.into_iter().map(|(_, slot)| slot).collect();
        Self { elements, n_elements, hexes, vectors, nodes, offsets, slots }
    }
}

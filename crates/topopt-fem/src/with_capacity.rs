//! `WithCapacity`: a consistent capacity in place of the lumped one, for diffusion on the CPU.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};
use topopt_mesh::hexahedron::{self, GAUSS};

use crate::operators::NODE;
use crate::{Diffusion, Discretization, ElementKernel, ElementOperator};

/// Operator plus c (M - L), which replaces its lumped capacity c L by the consistent one, `M_ab =
/// integral of N_a N_b`. Diagonal and assembled matrix keep the lumped one, for preconditioners: L
/// bounds M from above, u^T M u <= u^T L u.
///
/// In an element (M - L) u = P^T d (P u) - L u, with the values P u at the Gauss points and their
/// determinants times weights d.
pub(crate) struct WithCapacity<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    operator: Box<dyn ElementOperator<Cpu> + 'a>,
    /// det J at the Gauss points, ordered as the local nodes next to them, `[n_elements][8]`.
    determinants: Vec<[f64; 8]>,
    /// Heat capacity per volume, `[n_elements]`.
    capacities: Vec<f64>,
    scratch: Mutex<Vec<f64>>,
}

impl<'a, K: ElementKernel<N>, const N: usize> WithCapacity<'a, K, N> {
    /// Wraps `operator` of `problem`, with all coefficients zero.
    pub fn new(
        problem: &'a Discretization<K, N>,
        operator: Box<dyn ElementOperator<Cpu> + 'a>,
    ) -> Self {
        let mesh = problem.mesh();
        let points = hexahedron::NODES.map(|node| node.map(|x| x * GAUSS));
        let of_element = |e: usize| {
            let x = mesh.element_coordinates(e);
            points.map(|xi| hexahedron::determinant(&hexahedron::jacobian(&x, xi)))
        };
        Self {
            problem,
            operator,
            determinants: (0..mesh.n_elements()).into_par_iter().map(of_element).collect(),
            capacities: vec![0.0; mesh.n_elements()],
            scratch: Mutex::default(),
        }
    }

    /// Bytes besides those of the operator.
    pub fn bytes(problem: &Discretization<K, N>) -> usize {
        72 * problem.mesh().n_elements() + 8 * problem.mesh().n_nodes()
    }
}

/// Computes P u, the values at the Gauss points, one direction after the other; P is symmetric.
fn at_points(u: [f64; 8]) -> [f64; 8] {
    let (near, far) = (0.5 * (1.0 + GAUSS), 0.5 * (1.0 - GAUSS));
    let mut values = NODE.map(|node| u[node]);
    for bit in [1, 2, 4] {
        for low in (0..8).filter(|place| place & bit == 0) {
            let (a, b) = (values[low], values[low | bit]);
            values[low] = near * a + far * b;
            values[low | bit] = far * a + near * b;
        }
    }
    let mut by_node = [0.0; 8];
    NODE.into_iter().zip(values).for_each(|(node, value)| by_node[node] = value);
    by_node
}

fn product(a: [f64; 8], b: [f64; 8]) -> [f64; 8] {
    std::array::from_fn(|i| a[i] * b[i])
}

/// Returns (M - L) u in an element at unit capacity.
fn beyond_lumped(determinants: [f64; 8], u: [f64; 8]) -> [f64; 8] {
    let consistent = at_points(product(determinants, at_points(u)));
    let shares = at_points(determinants);
    std::array::from_fn(|a| consistent[a] - shares[a] * u[a])
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for WithCapacity<'_, K, N> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.operator.apply(x, y);
        let Self { problem, determinants, capacities, scratch, .. } = self;
        let constraints = problem.constraints();
        let free = |node: usize, value: f64| if constraints.is_held(node) { 0.0 } else { value };
        let of_element = |e: usize| {
            let u = problem.mesh().hexes()[e].map(|node| free(node as usize, x[node as usize]));
            beyond_lumped(determinants[e], u).map(|flow| [capacities[e] * flow])
        };
        let mut more = scratch.lock().unwrap_or_else(PoisonError::into_inner);
        more.resize(y.len(), 0.0);
        problem.patches().scatter_elements(&mut more, of_element, |node, [sum]| [free(node, sum)]);
        let both = y.par_iter_mut().zip(more.par_iter()).with_min_len(4096);
        both.for_each(|(y, more)| *y += more);
    }

    fn cost(&self) -> Cost {
        let mesh = self.problem.mesh();
        let (elements, nodes) = (mesh.n_elements() as f64, mesh.n_nodes() as f64);
        self.operator.cost().plus(&Cost {
            bytes_read: 88.0 * elements + 40.0 * nodes,
            bytes_written: 24.0 * nodes,
            flops: 3.0 * 72.0 * elements + 40.0 * elements,
        })
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for WithCapacity<'_, K, N> {
    fn strategy(&self) -> &'static str {
        self.operator.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        self.operator.set_coefficients(terms);
        if let Some(capacities) = terms.get(Diffusion::CAPACITY) {
            self.capacities.copy_from_slice(capacities);
        }
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        self.operator.diagonal(out);
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        if term != Diffusion::CAPACITY {
            return self.operator.element_work(term, v, u, out);
        }
        let hexes = self.problem.mesh().hexes().par_iter().zip(&self.determinants);
        hexes.zip(out).for_each(|((hex, determinants), out)| {
            let [v, u] = [v, u].map(|field| at_points(hex.map(|node| field[node as usize])));
            *out = product(v, product(u, *determinants)).iter().sum();
        });
    }

    fn assembled(&self) -> Option<Box<dyn LinearOperator<Cpu>>> {
        self.operator.assembled()
    }
}

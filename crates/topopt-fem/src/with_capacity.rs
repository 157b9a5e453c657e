//! `WithCapacity`: a consistent capacity in place of the lumped one, for diffusion on the CPU.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};
use topopt_mesh::hexahedron::{self, GAUSS};
use topopt_mesh::{HexMesh, tetrahedron};

use crate::operators::NODE;
use crate::tetrahedra::MASS_SHARES;
use crate::{Diffusion, Discretization, ElementKernel, ElementOperator};

/// Operator plus c (M - L), which replaces its lumped capacity c L by the consistent one, `M_ab =
/// integral of N_a N_b`. Diagonal and assembled matrix keep the lumped one, for preconditioners: of
/// hexahedra L bounds M from above, u^T M u <= u^T L u; of tetrahedra 1.8 L does.
///
/// In an element (M - L) u = P^T d (P u) - L u, with the values P u at Q points and their
/// determinants times weights d.
pub(crate) struct WithCapacity<'a, K, S, const N: usize, const E: usize, const Q: usize> {
    problem: &'a Discretization<K, N>,
    operator: Box<dyn ElementOperator<Cpu> + 'a>,
    /// Determinants times weights, `[n_elements][Q]`.
    determinants: Vec<[f64; Q]>,
    /// Heat capacity per volume, `[n_elements]`.
    capacities: Vec<f64>,
    scratch: Mutex<Vec<f64>>,
    shape: PhantomData<S>,
}

/// [`WithCapacity`] over hexahedra.
pub(crate) type OverHexahedra<'a, K, const N: usize> = WithCapacity<'a, K, OfHexahedra, N, 8, 8>;

/// [`WithCapacity`] over tetrahedra.
pub(crate) type OverTetrahedra<'a, K, const N: usize> =
    WithCapacity<'a, K, OfTetrahedra, N, 10, 14>;

/// Integration of N_a N_b over elements of E nodes by Q points.
pub(crate) trait MassRule<const E: usize, const Q: usize>: Send + Sync {
    /// Determinants times weights at the points of element `e`.
    fn determinants(mesh: &HexMesh, e: usize) -> [f64; Q];

    /// P u, the values at the points.
    fn at_points(u: [f64; E]) -> [f64; Q];

    /// P^T v.
    fn at_nodes(v: [f64; Q]) -> [f64; E];

    /// Diagonal of L for these determinants.
    fn lumped(determinants: [f64; Q]) -> [f64; E];

    /// (M - L) u in an element at unit capacity.
    fn beyond_lumped(determinants: [f64; Q], u: [f64; E]) -> [f64; E] {
        let consistent = Self::at_nodes(product(determinants, Self::at_points(u)));
        let shares = Self::lumped(determinants);
        std::array::from_fn(|a| consistent[a] - shares[a] * u[a])
    }
}

/// Eight Gauss points of hexahedra, ordered as the local nodes next to them.
pub(crate) struct OfHexahedra;

impl MassRule<8, 8> for OfHexahedra {
    fn determinants(mesh: &HexMesh, e: usize) -> [f64; 8] {
        let x = mesh.element_coordinates(e);
        let points = hexahedron::NODES.map(|node| node.map(|x| x * GAUSS));
        points.map(|xi| hexahedron::determinant(&hexahedron::jacobian(&x, xi)))
    }

    fn at_points(u: [f64; 8]) -> [f64; 8] {
        at_gauss_points(u)
    }

    fn at_nodes(v: [f64; 8]) -> [f64; 8] {
        at_gauss_points(v)
    }

    fn lumped(determinants: [f64; 8]) -> [f64; 8] {
        at_gauss_points(determinants)
    }
}

/// The 14 points of the fine rule of tetrahedra.
pub(crate) struct OfTetrahedra;

impl MassRule<10, 14> for OfTetrahedra {
    /// Scaled to the volume that the lumped mass has, which a rule of four points gives.
    fn determinants(mesh: &HexMesh, e: usize) -> [f64; 14] {
        let x = mesh.tetrahedron_coordinates(e);
        let all = tetrahedron::fine_rule().map(|(at, weight)| {
            let jacobian = tetrahedron::jacobian(&x, tetrahedron::with_first(at));
            weight * hexahedron::determinant(&jacobian)
        });
        let scale = tetrahedron::volume(&x) / all.iter().sum::<f64>();
        all.map(|det| scale * det)
    }

    fn at_points(u: [f64; 10]) -> [f64; 14] {
        shapes_at_points().map(|shape| product(shape, u).iter().sum())
    }

    fn at_nodes(v: [f64; 14]) -> [f64; 10] {
        let mut sums = [0.0; 10];
        for (shape, v) in shapes_at_points().into_iter().zip(v) {
            sums.iter_mut().zip(shape).for_each(|(sum, shape)| *sum += shape * v);
        }
        sums
    }

    fn lumped(determinants: [f64; 14]) -> [f64; 10] {
        let volume: f64 = determinants.iter().sum();
        MASS_SHARES.map(|share| share * volume)
    }
}

impl<'a, K, S, const N: usize, const E: usize, const Q: usize> WithCapacity<'a, K, S, N, E, Q>
where
    K: ElementKernel<N>,
    S: MassRule<E, Q>,
{
    /// Wraps `operator` of `problem`, whose elements have E nodes, with all coefficients zero.
    pub fn new(
        problem: &'a Discretization<K, N>,
        operator: Box<dyn ElementOperator<Cpu> + 'a>,
    ) -> Self {
        let (mesh, n) = (problem.mesh(), problem.mesh().n_elements());
        let determinants = (0..n).into_par_iter().map(|e| S::determinants(mesh, e)).collect();
        let (capacities, scratch) = (vec![0.0; n], Mutex::default());
        Self { problem, operator, determinants, capacities, scratch, shape: PhantomData }
    }

    /// Bytes besides those of the operator.
    pub fn bytes(problem: &Discretization<K, N>) -> usize {
        (8 * Q + 8) * problem.mesh().n_elements() + 8 * problem.mesh().n_nodes()
    }
}

/// Shape functions of tetrahedra at the points of the fine rule.
fn shapes_at_points() -> [[f64; 10]; 14] {
    tetrahedron::fine_rule()
        .map(|(at, _)| tetrahedron::shape_functions(tetrahedron::with_first(at)))
}

/// Computes the values at the Gauss points, one direction after the other, by a symmetric matrix.
fn at_gauss_points(u: [f64; 8]) -> [f64; 8] {
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

fn product<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| a[i] * b[i])
}

impl<K, S, const N: usize, const E: usize, const Q: usize> LinearOperator<Cpu>
    for WithCapacity<'_, K, S, N, E, Q>
where
    K: ElementKernel<N>,
    S: MassRule<E, Q>,
{
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.operator.apply(x, y);
        let Self { problem, determinants, capacities, scratch, .. } = self;
        let constraints = problem.constraints();
        let free = |node: usize, value: f64| if constraints.is_held(node) { 0.0 } else { value };
        let of_element = |e: usize| {
            let nodes = problem.mesh().element(e);
            let u = std::array::from_fn(|a| free(nodes[a] as usize, x[nodes[a] as usize]));
            S::beyond_lumped(determinants[e], u).map(|flow| [capacities[e] * flow])
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
            bytes_read: (8 * Q + 4 * E - 8) as f64 * elements + 40.0 * nodes,
            bytes_written: 24.0 * nodes,
            flops: (4 * E * Q) as f64 * elements,
        })
    }
}

impl<K, S, const N: usize, const E: usize, const Q: usize> ElementOperator<Cpu>
    for WithCapacity<'_, K, S, N, E, Q>
where
    K: ElementKernel<N>,
    S: MassRule<E, Q>,
{
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
        let elements = self.problem.mesh().par_elements().zip(&self.determinants);
        elements.zip(out).for_each(|((nodes, determinants), out)| {
            let at_points =
                |field: &[f64]| S::at_points(std::array::from_fn(|a| field[nodes[a] as usize]));
            let [v, u] = [at_points(v), at_points(u)];
            *out = product(v, product(u, *determinants)).iter().sum();
        });
    }

    fn assembled(&self) -> Option<Box<dyn LinearOperator<Cpu>>> {
        self.operator.assembled()
    }
}

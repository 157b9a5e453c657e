//! `HalfModel`: the half, quarter or eighth of a problem that is symmetric about planes.
//!
//! The states of a symmetric problem are S v with the states v of the half, where S mirrors them.
//! So v solves S^T K S v = S^T f, which divided by the number of images is the equation of the
//! elements of the half: nodes in a plane stay there, and have the share of forces and springs of
//! the half.

use std::cmp::Ordering;

use rayon::prelude::*;
use topopt_linalg::{Cpu, Csr, LinearOperator, noise};
use topopt_mesh::{HalfMesh, Mirror};

use crate::constraints::share_of_half;
use crate::{CpuSolvers, DIM, Discretization, Elasticity, ElementVectors, Problem, Strategy};

/// Largest difference of values across a plane that count as equal, as a share of the largest.
const ACCURACY: f64 = 1e-8;

/// The half of a problem with its equation, and its place in the whole.
pub struct HalfModel<K = Elasticity, const N: usize = DIM> {
    /// The equation, whose states are those of the whole in the half.
    pub equation: Discretization<K, N>,
    half: HalfMesh,
}

/// Part of a problem that does not mirror itself about a plane.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Asymmetry {
    /// Nodes or elements have no images, or the plane cuts elements.
    #[error(
        "the mesh does not mirror itself there to a billionth of an element, or has elements on both \
         sides"
    )]
    Mesh,
    /// Held components.
    #[error("the supports do not mirror themselves there")]
    Supports,
    /// Materials, springs or films.
    #[error("materials, springs or films do not mirror themselves there")]
    Stiffness,
    /// Right-hand side of a load case.
    #[error("load case `{name}` does not mirror itself there")]
    Load {
        /// Name of the load case.
        name: String,
    },
}

impl<K: CpuSolvers<N>, const N: usize> HalfModel<K, N> {
    /// Builds the half of `problem` about `mirrors` of different axes, about each of which it
    /// [is symmetric](Asymmetry::of). None where nodes are without elements.
    pub fn of(problem: &Problem<K, N>, mirrors: &[Mirror]) -> Option<Self> {
        let half = HalfMesh::of(problem.mesh(), mirrors)?;
        Some(Self { equation: problem.on_half(&half), half })
    }

    /// Numbers of its elements in the whole, increasing.
    pub fn elements(&self) -> &[u32] {
        &self.half.part.elements
    }

    /// Map from states of the half to those of the whole, `[n_nodes][N]` both.
    pub fn unfolding(&self) -> Csr {
        let HalfMesh { node_of, flips, .. } = &self.half;
        let sign = |(node, i): (usize, usize)| match self.is_flipped(flips[node], i) {
            true => -1.0,
            false => self.free((node_of[node] as usize, i)),
        };
        let values = of_rows::<N, _>(node_of.len(), sign);
        Csr { values, ..Csr::selection(entries::<N>(node_of)) }
    }

    /// Map from states or forces of the whole to the same at the nodes of the half, `[n_nodes][N]`
    /// both.
    pub fn restriction(&self) -> Csr {
        let nodes = &self.half.part.nodes;
        let values = of_rows::<N, _>(nodes.len(), |row| self.free(row));
        Csr { values, ..Csr::selection(entries::<N>(nodes)) }
    }

    /// Shares of the half in the forces on its nodes, `[n_nodes][N]`.
    pub fn shares(&self) -> Vec<f64> {
        let in_planes = &self.half.in_planes;
        of_rows::<N, _>(in_planes.len(), |(node, _)| share_of_half(in_planes[node]))
    }

    /// 0 for a component of a node of the half that a plane holds, else 1.
    fn free(&self, (node, i): (usize, usize)) -> f64 {
        f64::from(u8::from(!self.is_flipped(self.half.in_planes[node], i)))
    }

    /// Whether mirroring along the axes of these bits turns component `i` about.
    fn is_flipped(&self, axes: u8, i: usize) -> bool {
        N == DIM && axes & (1 << i) != 0
    }
}

/// Entries of nodes, `[nodes][N]`.
fn entries<const N: usize>(nodes: &[u32]) -> Vec<u32> {
    of_rows::<N, _>(nodes.len(), |(node, i)| N as u32 * nodes[node] + i as u32)
}

/// Values of the components of `n` nodes, `[n][N]`.
fn of_rows<const N: usize, T: Send>(
    n: usize,
    value: impl Fn((usize, usize)) -> T + Sync,
) -> Vec<T> {
    (0..N * n).into_par_iter().map(|row| value((row / N, row % N))).collect()
}

impl Asymmetry {
    /// Looks for what of `problem` does not mirror itself about `mirror`; none where states and
    /// right-hand sides of all designs that mirror themselves do so, too.
    ///
    /// Tried are a state and a design without any other order: all that stiffness and loads are
    /// made of counts in these.
    pub fn of<K: CpuSolvers<N>, const N: usize>(
        problem: &Problem<K, N>,
        mirror: &Mirror,
    ) -> Option<Self> {
        let held = problem.constraints();
        let pairs = mirror.nodes.par_iter().enumerate();
        let are_held = pairs.all(|(node, &image)| held.mask(node) == held.mask(image as usize));
        if !are_held || problem.free_part().is_some() {
            return Some(Self::Supports);
        }

        let sides = Sides::<N> { mirror };
        let moduli = sides.of_elements(&noise(mirror.elements.len()));
        let moduli: Vec<f64> = moduli.into_par_iter().map(|x| 1.5 + x).collect();
        let springs = held.springs().is_none_or(|springs| sides.are_mirrored(springs, false));
        let factors = problem.factors().stiffness.as_ref();
        let are_alike = factors.is_none_or(|factors| sides.are_alike(factors));
        if !springs || !are_alike || !sides.are_mirrored(&product(problem, &sides, &moduli), true) {
            return Some(Self::Stiffness);
        }
        let mut cases = problem.load_cases().iter().enumerate();
        let (_, skew) = cases.find(|(k, case)| {
            let moved = case.prescribed.as_ref();
            let f = right_hand_side(problem, *k, &moduli);
            moved.is_some_and(|moved| !sides.are_mirrored(moved, true))
                || !sides.are_mirrored(&f, true)
        })?;
        Some(Self::Load { name: skew.name.clone() })
    }
}

/// Computes K u for a u that mirrors itself, at `moduli`.
fn product<K: CpuSolvers<N>, const N: usize>(
    problem: &Problem<K, N>,
    sides: &Sides<N>,
    moduli: &Vec<f64>,
) -> Vec<f64> {
    let mut operator = Strategy::Mf.build(problem);
    let others = vec![vec![0.0; moduli.len()]; K::TERMS - 1];
    operator.set_coefficients(&[&[moduli][..], &others.iter().collect::<Vec<_>>()].concat());
    let u = sides.of_nodes(&noise(problem.n_dofs()));
    let mut product = vec![0.0; u.len()];
    LinearOperator::<Cpu>::apply(operator.as_ref(), &u, &mut product);
    product
}

/// Computes the right-hand side of load case `k` for a design of these densities and moduli.
fn right_hand_side<K: CpuSolvers<N>, const N: usize>(
    problem: &Problem<K, N>,
    k: usize,
    design: &[f64],
) -> Vec<f64> {
    let (case, mut f) = (&problem.load_cases()[k], problem.forces(k).to_vec());
    if !case.body_force.is_zero() {
        ElementVectors::of_body_force(problem, &case.body_force).add(design, &mut f);
    }
    if let Some(strains) = &case.thermal {
        ElementVectors::of_thermal_strains(problem, strains).add(design, &mut f);
    }
    if let Some(moved) = &case.prescribed {
        ElementVectors::of_prescribed(problem, moved).add(design, &mut f);
    }
    f
}

/// The sides of a mirror, with N unknowns per node.
struct Sides<'a, const N: usize> {
    mirror: &'a Mirror,
}

impl<const N: usize> Sides<'_, N> {
    /// Values of elements on both sides, from those of the first of each pair.
    fn of_elements(&self, values: &[f64]) -> Vec<f64> {
        let pairs = self.mirror.elements.par_iter().enumerate();
        pairs.map(|(e, &image)| values[e.min(image as usize)]).collect()
    }

    /// A vector of nodes that mirrors itself, `[n_nodes][N]`, likewise.
    fn of_nodes(&self, values: &[f64]) -> Vec<f64> {
        let nodal = values.as_chunks::<N>().0;
        let pairs = self.mirror.nodes.par_iter().enumerate();
        let value = |(node, &image): (usize, &u32)| self.value(nodal, [node, image as usize]);
        pairs.map(value).collect::<Vec<_>>().into_flattened()
    }

    /// Value at the first of two nodes that are images of each other.
    fn value(&self, nodal: &[[f64; N]], [node, image]: [usize; 2]) -> [f64; N] {
        match node.cmp(&image) {
            Ordering::Less => nodal[node],
            Ordering::Equal => self.within(nodal[node]),
            Ordering::Greater => self.image(nodal[image]),
        }
    }

    /// Whether values of elements are those of their images.
    fn are_alike(&self, values: &[f64]) -> bool {
        let pairs = values.par_iter().zip(&self.mirror.elements);
        let near = nearness(values);
        pairs.all(|(&value, &image)| near(value, values[image as usize]))
    }

    /// Whether values of nodes, `[n_nodes][N]`, are those of their images, which have directions
    /// or not.
    fn are_mirrored(&self, values: &[f64], are_vectors: bool) -> bool {
        let (nodal, near) = (values.as_chunks::<N>().0, nearness(values));
        let pairs = nodal.par_iter().zip(&self.mirror.nodes);
        pairs.all(|(&own, &image)| {
            let other = nodal[image as usize];
            let other = if are_vectors { self.image(other) } else { other };
            own.iter().zip(other).all(|(&own, other)| near(own, other))
        })
    }

    fn image(&self, value: [f64; N]) -> [f64; N] {
        let turns = |i: usize| N == DIM && i == self.mirror.axis;
        std::array::from_fn(|i| if turns(i) { -value[i] } else { value[i] })
    }

    /// The part of a value that is its own image.
    fn within(&self, value: [f64; N]) -> [f64; N] {
        let image = self.image(value);
        std::array::from_fn(|i| 0.5 * (value[i] + image[i]))
    }
}

/// Tells whether two of these `values` count as equal.
fn nearness(values: &[f64]) -> impl Fn(f64, f64) -> bool + Sync {
    let most = values.par_iter().map(|value| value.abs()).reduce(|| 0.0, f64::max);
    move |a, b| (a - b).abs() <= ACCURACY * most
}

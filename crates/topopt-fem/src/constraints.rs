//! `Constraints`: held unknowns, springs between nodes and the ground, and films.

use rayon::prelude::*;
use serde::Serialize;

use crate::{Coupling, DIM};

/// Held components of nodes with N <= 8 unknowns, and springs and films on the nodes.
///
/// The values of held unknowns belong to the load case: they change the right-hand side and not the
/// operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constraints<const N: usize> {
    /// One bit per unknown, `[n_nodes]`.
    mask: Vec<u8>,
    /// Stiffness of the springs, `[n_nodes][N]`, or empty if there are none.
    springs: Vec<f64>,
    /// Off-diagonal entries of the films, between held nodes as well; the row sums are springs.
    films: Vec<Coupling>,
}

impl<const N: usize> Constraints<N> {
    /// Constraints of `n_nodes` without a held node, spring or film.
    pub fn none(n_nodes: usize) -> Self {
        Self { mask: vec![0; n_nodes], springs: Vec::new(), films: Vec::new() }
    }

    /// Restricts the constraints to `nodes`, renumbered in their order.
    pub(crate) fn of_nodes(&self, nodes: &[u32]) -> Self {
        let springs = self.springs().map(|springs| springs.as_chunks::<N>().0);
        Self {
            mask: nodes.iter().map(|&node| self.mask[node as usize]).collect(),
            springs: springs.map_or(Vec::new(), |springs| {
                nodes.iter().flat_map(|&node| springs[node as usize]).collect()
            }),
            films: self.films_among(nodes),
        }
    }

    /// Restricts the constraints to `nodes` of a half, renumbered in their order, which lie in
    /// planes of symmetry as `in_planes` says, a bit per axis across one: they move within these,
    /// and the half has as much of their springs and films as of their surroundings.
    pub(crate) fn in_half(&self, nodes: &[u32], in_planes: &[u8]) -> Self {
        let mut half = self.of_nodes(nodes);
        for (springs, &planes) in half.springs.chunks_mut(N).zip(in_planes) {
            springs.iter_mut().for_each(|spring| *spring *= share_of_half(planes));
        }
        for Coupling { nodes: [a, b], weight } in &mut half.films {
            *weight *= share_of_half(in_planes[*a as usize] & in_planes[*b as usize]);
        }
        if N == DIM {
            half.mask.iter_mut().zip(in_planes).for_each(|(mask, planes)| *mask |= planes);
            half.drop_held_springs();
        }
        half
    }

    /// Restricts the couplings to pairs of `nodes`, renumbered in their order.
    fn films_among(&self, nodes: &[u32]) -> Vec<Coupling> {
        if self.films.is_empty() {
            return Vec::new();
        }
        let mut numbers = vec![None; self.n_nodes()];
        nodes.iter().zip(0..).for_each(|(&node, number)| numbers[node as usize] = Some(number));
        let among = |Coupling { nodes: [a, b], weight }: &Coupling| {
            let nodes = [numbers[*a as usize]?, numbers[*b as usize]?];
            Some(Coupling { nodes, weight: *weight })
        };
        self.films.iter().filter_map(among).collect()
    }

    /// Builds constraints from [`Constraints::masks`] and springs, `[n_nodes][N]` or empty.
    pub(crate) fn of_masks(masks: &[u32], springs: Vec<f64>) -> Self {
        let mask = masks.iter().map(|&mask| mask as u8).collect();
        Self { mask, springs, films: Vec::new() }
    }

    /// Sets the off-diagonal entries of films, for one unknown per node; add their row sums by
    /// [`Constraints::add_spring`].
    #[must_use]
    pub fn with_films(self, films: Vec<Coupling>) -> Self {
        debug_assert!(N == 1 || films.is_empty());
        Self { films, ..self }
    }

    /// Off-diagonal entries of the films, between held nodes as well.
    pub fn films(&self) -> &[Coupling] {
        &self.films
    }

    /// Held unknowns, one bit each, `[n_nodes]`.
    pub(crate) fn masks(&self) -> Vec<u32> {
        self.mask.iter().copied().map(u32::from).collect()
    }

    /// Held unknowns of `node`, one bit each.
    pub(crate) fn mask(&self, node: usize) -> u8 {
        self.mask[node]
    }

    /// Holds `component` < N of `node`.
    pub fn fix(&mut self, node: usize, component: usize) {
        self.mask[node] |= 1 << component;
    }

    /// Adds a spring of `stiffness` (force per length) between the ground and `component` of
    /// `node`; springs on one component add up.
    pub fn add_spring(&mut self, node: usize, component: usize, stiffness: f64) {
        self.springs.resize(N * self.n_nodes(), 0.0);
        self.springs[N * node + component] += stiffness;
    }

    /// Stiffness of the springs, `[n_nodes][N]`, if there are any.
    pub fn springs(&self) -> Option<&[f64]> {
        (!self.springs.is_empty()).then_some(&self.springs)
    }

    /// Drops springs on held components, where they have no effect.
    pub(crate) fn drop_held_springs(&mut self) {
        let mut springs = std::mem::take(&mut self.springs);
        self.clear(&mut springs);
        if springs.iter().any(|&s| s != 0.0) {
            self.springs = springs;
        }
    }

    /// Whether `component` of `node` is held.
    pub fn is_fixed(&self, node: usize, component: usize) -> bool {
        self.mask[node] & (1 << component) != 0
    }

    /// `value` with the held components of `node` set to zero.
    pub fn free_part(&self, node: usize, value: [f64; N]) -> [f64; N] {
        self.choose(node, [0.0; N], value)
    }

    /// `held` at the held components of `node`, `free` at the others.
    pub fn choose(&self, node: usize, held: [f64; N], free: [f64; N]) -> [f64; N] {
        if self.mask[node] == 0 {
            return free;
        }
        std::array::from_fn(|i| if self.is_fixed(node, i) { held[i] } else { free[i] })
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.mask.len()
    }

    /// Whether any component of `node` is held.
    pub fn is_held(&self, node: usize) -> bool {
        self.mask[node] != 0
    }

    /// Number of components held.
    pub fn n_fixed(&self) -> usize {
        self.mask.par_iter().map(|m| m.count_ones() as usize).sum()
    }

    /// Sets the held components of `values`, `[n_nodes][N]`, to zero.
    pub fn clear(&self, values: &mut [f64]) {
        let nodal = values.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(4096);
        nodal.enumerate().for_each(|(node, value)| *value = self.free_part(node, *value));
    }

    /// Sets the free components of `values`, `[n_nodes][N]`, to zero.
    pub fn clear_free(&self, values: &mut [f64]) {
        for (node, value) in values.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            *value = self.choose(node, *value, [0.0; N]);
        }
    }
}

/// Share of a half in the surroundings of a node in planes of symmetry across these axes, a bit
/// each.
pub(crate) fn share_of_half(in_planes: u8) -> f64 {
    0.5_f64.powi(in_planes.count_ones() as i32)
}

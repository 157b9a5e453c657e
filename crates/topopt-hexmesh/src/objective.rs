//! The energy of chosen hexahedra as a function of their nodes, and its minimization.

use std::collections::VecDeque;

use pulp::Arch;
use rayon::prelude::*;
use topopt_mesh::counting_sort::{Grouped, grouped};

use crate::energy::{Form, Value, evaluate};
use crate::fit::Slide;
use crate::surface::Vec3;

/// Hexahedra, or nodes, that one thread takes at a time; sums run over these in their order.
const BLOCK: usize = 512;
/// Pairs of steps and differences of gradients that are kept.
const HISTORY: usize = 6;
/// Longest step of a node, in cells.
const LONGEST: f64 = 0.7;
/// Share of the predicted decrease that a step must reach [NocedalWright2006, Eq. 3.4].
const ARMIJO: f64 = 1e-4;
/// Relative decrease at which the search ends.
const ENOUGH: f64 = 1e-6;

/// Hexahedra with nodes of their own numbering.
pub(crate) struct Objective {
    /// Node of the mesh of each own node, `[n]`.
    pub nodes: Vec<u32>,
    hexes: Vec<[u32; 8]>,
    scales: Vec<[f64; 3]>,
    /// Places `8 element + corner` of each own node.
    corners: Grouped<u32>,
    size: f64,
}

/// Result of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// Energy before.
    pub before: f64,
    /// Energy after.
    pub after: f64,
}

impl Objective {
    /// Takes the hexahedra of numbers `chosen`; `sizes`: lengths of their edges as they should be.
    pub fn new(hexes: &[[u32; 8]], sizes: &[[f64; 3]], chosen: &[u32], size: f64) -> Self {
        let of = |e: &u32| hexes[*e as usize];
        let mut nodes: Vec<u32> = chosen.par_iter().flat_map_iter(of).collect();
        nodes.par_sort_unstable();
        nodes.dedup();
        let last = nodes.last().map_or(0, |&v| v as usize + 1);
        let mut number = vec![0; last];
        nodes.iter().zip(0..).for_each(|(&v, own)| number[v as usize] = own);
        let own: Vec<[u32; 8]> = chosen.iter().map(|e| of(e).map(|v| number[v as usize])).collect();
        let scales = chosen.iter().map(|&e| sizes[e as usize].map(f64::recip)).collect();
        let corners = grouped(own.as_flattened(), nodes.len(), |corner| corner as u32);
        Self { nodes, hexes: own, scales, corners, size }
    }

    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.hexes.is_empty()
    }

    /// Energy and least determinant at `x`; the gradient, along what may slide, into `gradient`.
    pub fn evaluate(
        &self,
        form: Form,
        x: &[Vec3],
        slides: &[Slide],
        gradient: &mut [Vec3],
    ) -> (f64, f64) {
        let zero = Value { energy: 0.0, gradient: [[0.0; 8]; 3], least: 0.0 };
        let mut values = vec![zero; self.hexes.len()];
        let arch = Arch::new();
        values.par_chunks_mut(BLOCK).enumerate().for_each(|(block, values)| {
            evaluate(arch, form, values, |e| {
                let hex = &self.hexes[block * BLOCK + e];
                let at = hex.map(|v| x[v as usize]);
                let coordinates = std::array::from_fn(|i| at.map(|x| x[i]));
                (coordinates, self.scales[block * BLOCK + e])
            });
        });

        gradient.par_iter_mut().enumerate().with_min_len(BLOCK).for_each(|(v, gradient)| {
            let own = &self.corners.values[self.corners.offsets[v]..self.corners.offsets[v + 1]];
            let mut sum = Vec3::zeros();
            for &corner in own {
                let (e, a) = (corner as usize / 8, corner as usize % 8);
                let of = &values[e].gradient;
                sum += Vec3::new(of[0][a], of[1][a], of[2][a]);
            }
            *gradient = along(sum, &slides[v]);
        });
        let blocks: Vec<f64> =
            values.par_chunks(BLOCK).map(|v| v.iter().map(|v| v.energy).sum()).collect();
        let least = values.par_iter().map(|v| v.least).reduce(|| f64::INFINITY, f64::min);
        (blocks.iter().sum(), least)
    }

    /// Moves `x` to less energy by at most `iterations` of L-BFGS [NocedalWright2006, Alg. 7.4].
    pub fn minimize(
        &self,
        form: Form,
        x: &mut Vec<Vec3>,
        slides: &[Slide],
        iterations: usize,
    ) -> Search {
        let mut gradient = vec![Vec3::zeros(); x.len()];
        let mut next = gradient.clone();
        let (mut energy, _) = self.evaluate(form, x, slides, &mut gradient);
        let before = energy;
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        for _ in 0..iterations {
            let steepest = longest(&gradient);
            if steepest == 0.0 || !steepest.is_finite() {
                break;
            }
            let mut direction = self.direction(&gradient, &pairs, steepest);
            let mut slope = dot(&gradient, &direction);
            if slope >= 0.0 {
                pairs.clear();
                let scale = -0.05 * self.size / steepest;
                direction = gradient.par_iter().map(|g| g * scale).collect();
                slope = dot(&gradient, &direction);
            }
            let mut share = (LONGEST * self.size / longest(&direction)).min(1.0);
            let found = (0..12).find_map(|_| {
                let moved = Self::moved(x, share, &direction);
                let (value, _) = self.evaluate(form, &moved, slides, &mut next);
                let limit = energy + ARMIJO * share * slope;
                share *= 0.4;
                (value <= limit).then_some((moved, value))
            });
            let Some((moved, value)) = found else { break };
            keep(Pair::new(&moved, x, &next, &gradient), &mut pairs);
            let decrease = energy - value;
            (*x, energy) = (moved, value);
            std::mem::swap(&mut gradient, &mut next);
            if decrease < ENOUGH * energy.abs() {
                break;
            }
        }
        Search { before, after: energy }
    }

    fn moved(x: &[Vec3], share: f64, direction: &[Vec3]) -> Vec<Vec3> {
        x.par_iter().zip(direction).map(|(x, d)| x + d * share).collect()
    }

    /// Direction of the quasi-Newton step.
    fn direction(&self, gradient: &[Vec3], pairs: &VecDeque<Pair>, steepest: f64) -> Vec<Vec3> {
        let mut q = gradient.to_vec();
        let mut factors = Vec::new();
        for pair in pairs.iter().rev() {
            let factor = dot(&pair.step, &q) / pair.curvature;
            add(&mut q, -factor, &pair.change);
            factors.push(factor);
        }
        let scale = match pairs.back() {
            Some(pair) => pair.curvature / dot(&pair.change, &pair.change),
            None => 0.1 * self.size / steepest,
        };
        q.par_iter_mut().for_each(|q| *q *= scale);
        for (pair, factor) in pairs.iter().zip(factors.into_iter().rev()) {
            let back = dot(&pair.change, &q) / pair.curvature;
            add(&mut q, factor - back, &pair.step);
        }
        q.par_iter_mut().for_each(|q| *q = -*q);
        q
    }
}

/// Step, change of the gradient, and their product.
struct Pair {
    step: Vec<Vec3>,
    change: Vec<Vec3>,
    curvature: f64,
}

impl Pair {
    fn new(x: &[Vec3], old: &[Vec3], gradient: &[Vec3], old_gradient: &[Vec3]) -> Self {
        let minus = |a: &[Vec3], b: &[Vec3]| a.par_iter().zip(b).map(|(a, b)| a - b).collect();
        let (step, change): (Vec<Vec3>, Vec<Vec3>) = (minus(x, old), minus(gradient, old_gradient));
        Self { curvature: dot(&step, &change), step, change }
    }
}

/// Adds a pair to the last ones, unless it says nothing of the curvature.
fn keep(pair: Pair, pairs: &mut VecDeque<Pair>) {
    let [step, change] = [&pair.step, &pair.change].map(|v| dot(v, v));
    if pair.curvature > 1e-12 * (step * change).sqrt() {
        pairs.push_back(pair);
        if pairs.len() > HISTORY {
            pairs.pop_front();
        }
    }
}

fn along(gradient: Vec3, slide: &Slide) -> Vec3 {
    match slide {
        Slide::Free => gradient,
        Slide::Across(normal) => gradient - normal * normal.dot(&gradient),
        Slide::Along(tangent) => tangent * tangent.dot(&gradient),
        Slide::Held => Vec3::zeros(),
    }
}

/// a . b, summed by blocks in their order.
fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let of = |(a, b): (&[Vec3], &[Vec3])| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let blocks: Vec<f64> = a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK)).map(of).collect();
    blocks.iter().sum()
}

/// a += factor b.
fn add(a: &mut [Vec3], factor: f64, b: &[Vec3]) {
    a.par_iter_mut().zip(b).with_min_len(BLOCK).for_each(|(a, b)| *a += b * factor);
}

fn longest(vectors: &[Vec3]) -> f64 {
    vectors.par_iter().map(|v| v.norm()).reduce(|| 0.0, f64::max)
}

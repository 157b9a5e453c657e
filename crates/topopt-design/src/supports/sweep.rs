//! `Supports`: densities that follow from those of other elements, from layer to layer.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_linalg::{Levels, Sample};
use topopt_mesh::HexMesh;

use super::tool::{EQUAL, Tool, closed_backward};

/// Elements on which each element may rest, as weights of their densities at samples below it.
///
/// A density x becomes the printed one, p = min(x, max_k s_k) with the samples s_k = sum_j a_kj
/// p_j, in the order of height; elements that stand keep p = x. All extremes are exact: p(c x) = c
/// p(x), p(x + c) = p(x) + c, p grows with x, and p(p(x)) = p(x). A part that is filled along a
/// draw has p = max(x, max_k s_k), and may be closed where a tool has no room.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Supports {
    /// Elements that do not stand, those of one level after those of the level before.
    pub(super) order: Vec<u32>,
    /// Ends of the levels in `order`: samples of an element are at elements of levels before its
    /// own, or at standing ones.
    pub(super) levels: Vec<usize>,
    /// First sample of each element of `order`, and the end of the last.
    pub(super) starts: Vec<usize>,
    /// Samples. Checksums leave them out, as they follow from the mesh, the order and keys.
    #[serde(skip)]
    pub(super) samples: Vec<Sample>,
    /// Whether an element has at least, and not at most, the density of its samples.
    pub(super) fills: bool,
    /// Tool that comes along the samples, if it has a diameter.
    pub(super) tool: Option<Tool>,
}

/// No sample: the element has its own density.
const OWN: u32 = u32::MAX;

/// No sample: nothing is below the element, whose density is 0.
const NOTHING: u32 = u32::MAX - 1;

/// Elements of a level that one thread takes at least.
pub(super) const CHUNK: usize = 512;

impl Supports {
    /// Bytes of its lists, and of the samples that are chosen.
    pub(crate) fn bytes(&self) -> usize {
        let lists =
            2 * size_of::<u32>() * self.order.len() + size_of::<usize>() * self.starts.len();
        let of_tool = self.tool.as_ref().map_or(0, Tool::bytes);
        lists + size_of_val(&self.samples[..]) + of_tool
    }

    /// Lets elements have at least the densities of their samples, in place of at most.
    #[must_use]
    pub fn filling(self) -> Self {
        Self { fills: true, ..self }
    }

    /// Lets the samples of elements have the `shares` of their densities, `[n_elements]`.
    #[must_use]
    pub(super) fn weighted(mut self, shares: &[f64]) -> Self {
        for (k, &e) in self.order.iter().enumerate() {
            let samples = &mut self.samples[self.starts[k]..self.starts[k + 1]];
            let weights = samples.iter_mut().flat_map(|sample| &mut sample.weights);
            weights.for_each(|weight| *weight *= shares[e as usize]);
        }
        self
    }

    /// Joins supports with those of elements that stand in these, and rest on none of theirs.
    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        let (n, n_samples) = (self.order.len(), self.samples.len());
        self.levels.extend(other.levels.iter().map(|end| n + end));
        self.starts.extend(other.starts.iter().skip(1).map(|start| n_samples + start));
        self.order.extend(other.order);
        self.samples.extend(other.samples);
        self
    }

    /// Fills what a tool of this `diameter` has no room for, which comes along `direction`, of
    /// length 1, to the elements of `mesh`.
    #[must_use]
    pub fn with_tool(self, mesh: &HexMesh, direction: [f64; 3], diameter: f64) -> Self {
        Self { tool: Some(Tool::new(mesh, direction, diameter / 2.0)), ..self }
    }

    /// Computes what is left of the density `p`, `[n_elements]`, where the tool has room, and the
    /// element that each one has its density of; none without a tool.
    pub(crate) fn with_room(&self, p: Vec<f64>) -> (Vec<f64>, Vec<u32>) {
        match &self.tool {
            Some(tool) => tool.closed(&p),
            None => (p, Vec::new()),
        }
    }

    /// Takes derivatives back to the density for what [`Supports::with_room`] has `held`.
    pub(crate) fn with_room_backward(&self, held: &[u32], by_value: Vec<f64>) -> Vec<f64> {
        if self.tool.is_some() { closed_backward(held, &by_value) } else { by_value }
    }

    /// The levels of `n_points` elements; none with a tool, which needs more than these.
    pub(crate) fn levels(&self, n_points: usize) -> Option<Levels<'_>> {
        let Self { order, levels: ends, starts, samples, fills, tool } = self;
        let levels = Levels { n_points, order, ends, starts, samples, fills: *fills };
        tool.is_none().then_some(levels)
    }

    /// Whether each of `n` elements stands without samples.
    pub fn standing(&self, n: usize) -> Vec<bool> {
        let mut stand = vec![true; n];
        self.order.iter().for_each(|&element| stand[element as usize] = false);
        stand
    }

    /// Computes the density p of `x`, `[n_elements]`, and the sample that each element of the order
    /// has it of.
    pub fn swept(&self, x: &[f64]) -> (Vec<f64>, Vec<u32>) {
        let mut p = x.to_vec();
        let mut chosen = Vec::with_capacity(self.order.len());
        let mut start = 0;
        for &end in &self.levels {
            let level = (start..end).into_par_iter().with_min_len(CHUNK);
            let found: Vec<(f64, u32)> = level.map(|k| self.rest(k, x, &p)).collect();
            for (&element, (value, sample)) in self.order[start..end].iter().zip(found) {
                p[element as usize] = value;
                chosen.push(sample);
            }
            start = end;
        }
        (p, chosen)
    }

    /// Density of element `k` of the order, and the number of the sample that it is of.
    fn rest(&self, k: usize, x: &[f64], p: &[f64]) -> (f64, u32) {
        let own = x[self.order[k] as usize];
        let value = |sample: &Sample| -> f64 {
            let weighted = sample.points.iter().zip(&sample.weights);
            weighted.map(|(&e, w)| w * p[e as usize]).sum()
        };
        let samples = &self.samples[self.starts[k]..self.starts[k + 1]];
        let most = samples.iter().map(value).fold(0.0, f64::max);
        let extreme = if self.fills { own.max(most) } else { own.min(most) };
        // Of equal densities the first one takes the derivatives, whatever rounding makes of them.
        if (own - extreme).abs() <= EQUAL {
            return (extreme, OWN);
        }
        let best = samples.iter().position(|sample| most - value(sample) <= EQUAL);
        (extreme, best.map_or(NOTHING, |best| best as u32))
    }

    /// Takes the derivatives `by_printed`, `[n_elements]`, back to the density, for what
    /// [`Supports::swept`] has `chosen`.
    pub fn swept_backward(&self, chosen: &[u32], by_swept: Vec<f64>) -> Vec<f64> {
        let mut gradient = by_swept;
        for (k, &sample) in chosen.iter().enumerate().rev().filter(|(_, sample)| **sample != OWN) {
            let own = std::mem::take(&mut gradient[self.order[k] as usize]);
            if sample == NOTHING {
                continue;
            }
            let Sample { points, weights } = &self.samples[self.starts[k] + sample as usize];
            points.iter().zip(weights).for_each(|(&e, w)| gradient[e as usize] += w * own);
        }
        gradient
    }
}

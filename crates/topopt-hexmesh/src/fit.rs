//! Nodes on what they belong to: corners, curves and patches.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::draft::Draft;
use crate::fault::Fault;
use crate::features::Features;
use crate::surface::{Surface, Vec3};

/// Entity that a node is bound to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// Nothing: a node of the interior.
    Free,
    /// A patch.
    Patch(u32),
    /// A chain.
    Chain(u32),
    /// A corner.
    Corner(u32),
}

/// Direction in which a node may move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Slide {
    /// All.
    Free,
    /// Orthogonal to a unit vector.
    Across(Vec3),
    /// Along a unit vector.
    Along(Vec3),
    /// None.
    Held,
}

/// Least distance of nodes of a curve, as a share of their mean distance; in three for each
/// division of elements.
const LEAST_STEP: f64 = 0.15;
/// Distance, in cells, of a node that counts as on its place already.
const RESTS: f64 = 1e-6;

/// The surface, the bounds of all nodes, and the nodes along each curve.
pub(crate) struct Fit<'a> {
    surface: &'a Surface,
    features: &'a Features,
    /// Bound of each node, `[n_nodes]`.
    pub bounds: Vec<Bound>,
    /// Nodes along each chain; of a closed one the first stands at the end again.
    pub paths: Vec<Vec<u32>>,
    /// Least distance of nodes of a curve, as a share of their mean distance.
    least_step: f64,
}

impl<'a> Fit<'a> {
    /// Reads the bounds from the skin of `draft`.
    ///
    /// # Errors
    /// [`Fault`]: a curve whose edges make no path.
    pub fn of(surface: &'a Surface, features: &'a Features, draft: &Draft) -> Result<Self, Fault> {
        let mut bounds = vec![Bound::Free; draft.points.len()];
        for quad in &draft.quads {
            quad.nodes.iter().for_each(|&v| bounds[v as usize] = Bound::Patch(quad.patch));
        }
        for (&(a, b), &chain) in &draft.curves {
            [a, b].into_iter().for_each(|v| bounds[v as usize] = Bound::Chain(chain));
        }
        for (&v, &corner) in &draft.corners {
            bounds[v as usize] = Bound::Corner(corner);
        }
        let paths = (0..features.chains.len()).map(|chain| path(features, draft, chain));
        let paths = paths.collect::<Result<_, _>>()?;
        let least_step = LEAST_STEP / 3.0_f64.powi(draft.levels);
        Ok(Self { surface, features, bounds, paths, least_step })
    }

    /// Spreads the nodes of curves evenly along them, unless all lie on them in their order.
    pub fn place_curves(&self, points: &mut [Vec3], size: f64) {
        for (chain, path) in self.features.chains.iter().zip(&self.paths) {
            let feet: Vec<_> = path.iter().map(|&v| chain.foot(&points[v as usize])).collect();
            let n = path.len() - 1;
            if chain.is_closed() {
                let length = chain.length();
                // Direction of the path along the curve, then the shift that fits it best.
                let steps = feet.windows(2).map(|ends| {
                    let step = ends[1].arc - ends[0].arc;
                    step - length * (step / length).round()
                });
                let sign = if steps.sum::<f64>() >= 0.0 { 1.0 } else { -1.0 };
                let even = |i: usize| sign * length * i as f64 / n as f64;
                let turn = std::f64::consts::TAU / length;
                let angles = (0..n).map(|i| (feet[i].arc - even(i)) * turn);
                let sum = angles.fold([0.0, 0.0], |[c, s], a| [c + a.cos(), s + a.sin()]);
                let shift = sum[1].atan2(sum[0]) / turn;
                (0..n).for_each(|i| points[path[i] as usize] = chain.at(shift + even(i)));
                continue;
            }
            let lies = |i: usize| (feet[i].point - points[path[i] as usize]).norm() < RESTS * size;
            let ordered = feet.windows(2).all(|ends| ends[1].arc - ends[0].arc > 0.1 * size);
            if (0..=n).all(lies) && ordered {
                continue;
            }
            (0..=n).for_each(|i| {
                points[path[i] as usize] = chain.at(chain.length() * i as f64 / n as f64)
            });
        }
        for (&bound, x) in self.bounds.iter().zip(points) {
            if let Bound::Corner(corner) = bound {
                *x = self.features.corners[corner as usize].point;
            }
        }
    }

    /// Puts the nodes that are `free` on their patches and curves; returns how each may slide. On
    /// patches nodes move along the normal alone, unless `clamped`: while elements are tangled,
    /// nodes would pile up on borders.
    pub fn project(&self, points: &mut [Vec3], is_free: &[bool], clamped: bool) -> Vec<Slide> {
        let nodes = points.par_iter_mut().zip(&self.bounds).zip(is_free);
        let slides = nodes.map(|((x, bound), free)| match free {
            true => self.put(x, *bound, clamped),
            false => Slide::Held,
        });
        let mut slides: Vec<Slide> = slides.collect();
        self.keep_order(points, is_free, &mut slides);
        slides
    }

    /// Puts one node on what it is bound to.
    fn put(&self, x: &mut Vec3, bound: Bound, clamped: bool) -> Slide {
        match bound {
            Bound::Free => Slide::Free,
            Bound::Corner(_) => Slide::Held,
            Bound::Chain(chain) => {
                let foot = self.features.chains[chain as usize].foot(x);
                *x = foot.point;
                Slide::Along(foot.tangent)
            }
            Bound::Patch(patch) => {
                let foot = self.features.patches[patch as usize].foot(x);
                let normal = self.surface.normals[foot.index];
                let off = normal * normal.dot(&(*x - foot.point));
                *x = if clamped { foot.point } else { *x - off };
                Slide::Across(normal)
            }
        }
    }

    /// Keeps the nodes of open curves in their order, with gaps between them.
    fn keep_order(&self, points: &mut [Vec3], is_free: &[bool], slides: &mut [Slide]) {
        for (chain, path) in self.features.chains.iter().zip(&self.paths) {
            let n = path.len() - 1;
            let inner = &path[1..n];
            if chain.is_closed() || inner.iter().all(|&v| !is_free[v as usize]) {
                continue;
            }
            let arcs: Vec<f64> =
                inner.iter().map(|&v| chain.foot(&points[v as usize]).arc).collect();
            let gap = self.least_step * chain.length() / n as f64;
            let mut kept = arcs.clone();
            let mut least = gap;
            for arc in &mut kept {
                *arc = arc.max(least);
                least = *arc + gap;
            }
            let mut most = chain.length() - gap;
            for arc in kept.iter_mut().rev() {
                *arc = arc.min(most);
                most = *arc - gap;
            }
            for ((&v, arc), kept) in inner.iter().zip(arcs).zip(kept) {
                if is_free[v as usize] && (arc - kept).abs() > 1e-9 * chain.length() {
                    points[v as usize] = chain.at(kept);
                    slides[v as usize] = Slide::Along(chain.foot(&points[v as usize]).tangent);
                }
            }
        }
    }

    /// Largest distance of the nodes from what they are bound to.
    pub fn distance(&self, points: &[Vec3]) -> f64 {
        let nodes = points.par_iter().zip(&self.bounds);
        nodes.map(|(x, bound)| self.off(x, *bound)).reduce(|| 0.0, f64::max)
    }

    fn off(&self, x: &Vec3, bound: Bound) -> f64 {
        match bound {
            Bound::Free => 0.0,
            Bound::Corner(c) => (self.features.corners[c as usize].point - x).norm(),
            Bound::Chain(c) => (self.features.chains[c as usize].foot(x).point - x).norm(),
            Bound::Patch(p) => (self.features.patches[p as usize].foot(x).point - x).norm(),
        }
    }
}

/// Nodes along a chain, from its first corner, or closed.
fn path(features: &Features, draft: &Draft, number: usize) -> Result<Vec<u32>, Fault> {
    let chain = &features.chains[number];
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&(a, b), _) in draft.curves.iter().filter(|(_, c)| **c as usize == number) {
        next.entry(a).or_default().push(b);
        next.entry(b).or_default().push(a);
    }
    let is_end = |v: u32| match chain.ends {
        Some(ends) => draft.corners.get(&v) == Some(&ends[0]),
        None => true,
    };
    let fault = || Fault::at(chain.points[0], "edges of elements make no path along the curve");
    let start = next.keys().copied().find(|&v| is_end(v)).ok_or_else(fault)?;
    let (mut path, mut last) = (vec![start], u32::MAX);
    loop {
        let node = path[path.len() - 1];
        let Some(&step) = next[&node].iter().find(|&&v| v != last) else { break };
        last = node;
        path.push(step);
        if step == start || path.len() > next.len() + 1 {
            break;
        }
    }
    let n_nodes = path.len() - usize::from(chain.is_closed());
    let ends_well = match chain.ends {
        Some(ends) => draft.corners.get(&path[path.len() - 1]) == Some(&ends[1]),
        None => path[path.len() - 1] == start,
    };
    if n_nodes == next.len() && ends_well { Ok(path) } else { Err(fault()) }
}

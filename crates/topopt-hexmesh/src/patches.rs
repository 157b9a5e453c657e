//! Patches of the skin: what curves enclose, named after the patches beside the curves.

use std::collections::{BTreeMap, HashMap};

use crate::draft::Draft;
use crate::fault::Fault;
use crate::features::Features;

/// Sets the patch of each quad from the `paths` of the curves.
///
/// # Errors
/// [`Fault`]: patches of the skin are not those of the part.
pub(crate) fn flood(
    features: &Features,
    draft: &mut Draft,
    paths: &[Vec<u32>],
) -> Result<(), Fault> {
    let quad_at = draft.quad_at();
    let (region, regions) = regions(draft, &quad_at);
    let region_at = |edge| region[quad_at[&edge] as usize];
    let votes = votes(features, paths, region_at, regions.len());
    let mut owners = BTreeMap::new();
    for (own, votes) in regions.iter().zip(votes) {
        let most = votes.iter().max_by_key(|(patch, count)| (**count, std::cmp::Reverse(**patch)));
        let patch = most.map_or_else(|| nearest_patch(features, draft, own), |(&patch, _)| patch);
        if votes.len() > 1 || owners.insert(patch, own).is_some() {
            let first = draft.quads[own[0] as usize].nodes[0];
            let text = "cells are too large for faces close together";
            return Err(Fault::at(draft.points[first as usize], text));
        }
        own.iter().for_each(|&q| draft.quads[q as usize].patch = patch);
    }
    let lost = (0..).zip(&features.patches).find(|(patch, _)| !owners.contains_key(patch));
    match lost {
        Some((_, patch)) => Err(Fault::at(patch.first(), "cells are too large for a small face")),
        None => Ok(()),
    }
}

/// Regions of quads between curves: the region of each quad, and the quads of each.
fn regions(draft: &Draft, quad_at: &HashMap<(u32, u32), u32>) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut region = vec![u32::MAX; draft.quads.len()];
    let mut regions: Vec<Vec<u32>> = Vec::new();
    for first in 0..region.len() {
        if region[first] != u32::MAX {
            continue;
        }
        let number = regions.len() as u32;
        region[first] = number;
        let mut own = vec![first as u32];
        let mut next = 0;
        while next < own.len() {
            for (a, b) in draft.quads[own[next] as usize].edges() {
                let other = quad_at[&(b, a)];
                if region[other as usize] == u32::MAX && draft.chain(a, b).is_none() {
                    region[other as usize] = number;
                    own.push(other);
                }
            }
            next += 1;
        }
        regions.push(own);
    }
    (region, regions)
}

/// Edges of curves beside each region, counted by the patch that the curve has on that side.
fn votes(
    features: &Features,
    paths: &[Vec<u32>],
    region_at: impl Fn((u32, u32)) -> u32,
    n_regions: usize,
) -> Vec<BTreeMap<u32, usize>> {
    let mut votes = vec![BTreeMap::new(); n_regions];
    for (chain, path) in features.chains.iter().zip(paths) {
        for ends in path.windows(2) {
            let sides = [(ends[0], ends[1]), (ends[1], ends[0])].into_iter().zip(chain.sides);
            for (edge, side) in sides {
                *votes[region_at(edge) as usize].entry(side).or_default() += 1;
            }
        }
    }
    votes
}

fn nearest_patch(features: &Features, draft: &Draft, own: &[u32]) -> u32 {
    let mut counts = BTreeMap::new();
    for &q in own {
        let nodes = draft.quads[q as usize].nodes;
        let center =
            nodes.map(|v| draft.points[v as usize]).iter().sum::<nalgebra::Vector3<f64>>() / 4.0;
        let patch = features.patch_of[features.foot(&center).index];
        *counts.entry(patch).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(patch, count)| (count, std::cmp::Reverse(patch)))
        .map_or(0, |m| m.0)
}

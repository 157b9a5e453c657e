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
    let sheets = draft.sheets();
    let region_at = |edge| quad_at.get(&edge).map(|&q| region[q as usize]);
    let votes = votes(features, paths, region_at, regions.len());
    let mut owners = BTreeMap::new();
    for (own, votes) in regions.iter().zip(votes) {
        let most = votes.iter().max_by_key(|(patch, count)| (**count, std::cmp::Reverse(**patch)));
        let first = &draft.quads[own[0] as usize];
        let wanted = (draft.body(first), sheets[own[0] as usize]);
        let sides = |patch: u32| (features.sides[patch as usize].body, features.sheet(patch));
        let is_wanted = |patch: u32| sides(patch) == wanted;
        let nearest = || nearest_patch(features, draft, own, is_wanted);
        let patch = most.map(|(&patch, _)| patch).or_else(nearest);
        let mut is_new = |patch: u32| is_wanted(patch) && owners.insert(patch, own).is_none();
        let Some(patch) = patch.filter(|&patch| is_new(patch) && votes.len() <= 1) else {
            let first = first.nodes[0];
            let text = "cells are too large for faces close together";
            return Err(Fault::at(draft.points[first as usize], text));
        };
        own.iter().for_each(|&q| draft.quads[q as usize].patch = patch);
    }
    let lost = (0..).zip(&features.patches).find(|(patch, _)| !owners.contains_key(patch));
    match lost {
        Some((_, patch)) => Err(Fault::at(patch.first(), "cells are too large for a small face")),
        None => Ok(()),
    }
}

/// Regions of quads between curves: the region of each quad, and the quads of each.
fn regions(draft: &Draft, quad_at: &HashMap<(u32, u32, u32), u32>) -> (Vec<u32>, Vec<Vec<u32>>) {
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
            let quad = &draft.quads[own[next] as usize];
            for (a, b) in quad.edges() {
                let other = quad_at[&(b, a, draft.body(quad))];
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
    region_at: impl Fn((u32, u32, u32)) -> Option<u32>,
    n_regions: usize,
) -> Vec<BTreeMap<u32, usize>> {
    let mut votes = vec![BTreeMap::new(); n_regions];
    for (chain, path) in features.chains.iter().zip(paths) {
        for (ends, wedge) in
            path.windows(2).flat_map(|ends| chain.wedges.iter().map(move |w| (ends, w)))
        {
            let edges = [(ends[0], ends[1], wedge.body), (ends[1], ends[0], wedge.body)];
            for (edge, side) in edges.into_iter().zip(wedge.sides) {
                if let Some(region) = region_at(edge) {
                    *votes[region as usize].entry(side).or_default() += 1;
                }
            }
        }
    }
    votes
}

/// Patch that most centers of quads are nearest to, of those that are `wanted`.
fn nearest_patch(
    features: &Features,
    draft: &Draft,
    own: &[u32],
    wanted: impl Fn(u32) -> bool,
) -> Option<u32> {
    let mut counts = BTreeMap::new();
    for &q in own {
        let nodes = draft.quads[q as usize].nodes;
        let center =
            nodes.map(|v| draft.points[v as usize]).iter().sum::<nalgebra::Vector3<f64>>() / 4.0;
        let foot = features.foot(&center, |patch| wanted(patch as u32))?;
        let patch = features.patch_of[foot.index];
        *counts.entry(patch).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(patch, count)| (count, std::cmp::Reverse(patch)))
        .map(|most| most.0)
}

//! Nodes of curved faces moved off them, so that faces of elements enclose the volume of the part.

use std::collections::BTreeMap;

use nalgebra::Matrix3;
use rayon::prelude::*;

use crate::draft::{Draft, Quad};
use crate::features::Features;
use crate::surface::{Surface, Vec3};
use crate::turn::SAME;

/// Places along each side of a face at which its distance from the part is measured.
const SAMPLES: usize = 4;
/// Rounds after which the distances are as good as zero on average.
const ROUNDS: usize = 3;
/// Longest move, in cells.
pub(crate) const LONGEST: f64 = 0.1;
/// Sine of half the angle between faces below which they count as one for their common nodes.
const APART: f64 = 0.15;

/// Moves the nodes of each curved patch along its normals by one distance, at which the faces of
/// elements lie as much outside of it as inside. Nodes of a curve move so in both of its patches,
/// and stay in planar ones.
pub(crate) fn fill(draft: &mut Draft, surface: &Surface, features: &Features) {
    let curved = curved(surface, features);
    let base = draft.points.clone();
    let normals = normals(draft, surface, features, &curved);
    let mut moves = vec![0.0; curved.len()];
    for _ in 0..ROUNDS {
        let gaps = gaps(draft, features, &curved);
        moves.iter_mut().zip(gaps).for_each(|(own, gap)| *own += gap);
        for (&node, own) in &normals {
            draft.points[node as usize] = base[node as usize] + step(own, &moves, draft.size);
        }
    }
}

/// Whether each patch is not flat, `[n_patches]`.
fn curved(surface: &Surface, features: &Features) -> Vec<bool> {
    let mut sums = vec![Vec3::zeros(); features.patches.len()];
    for (t, &patch) in features.patch_of.iter().enumerate() {
        sums[patch as usize] += surface.normals[t] * surface.areas[t];
    }
    let sums: Vec<Vec3> = sums.iter().map(|n| n.try_normalize(0.0).unwrap_or_default()).collect();
    let mut curved = vec![false; sums.len()];
    for (t, &patch) in features.patch_of.iter().enumerate() {
        let is_along = surface.normals[t].dot(&sums[patch as usize]) > SAME;
        curved[patch as usize] |= !is_along && surface.areas[t] > 0.0;
    }
    curved
}

/// Normals of the patches at each node of a curved one.
fn normals(
    draft: &Draft,
    surface: &Surface,
    features: &Features,
    curved: &[bool],
) -> BTreeMap<u32, Vec<(u32, Vec3)>> {
    let mut patches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for quad in &draft.quads {
        for node in quad.nodes {
            let own = patches.entry(node).or_default();
            if !own.contains(&quad.patch) {
                own.push(quad.patch);
            }
        }
    }
    patches.retain(|_, own| own.iter().any(|&patch| curved[patch as usize]));
    let normal = |node: u32, patch: u32| {
        let foot = features.patches[patch as usize].foot(&draft.points[node as usize]);
        (patch, surface.normals[foot.index])
    };
    let of_node = |(node, own): (u32, Vec<u32>)| {
        (node, own.into_iter().map(|patch| normal(node, patch)).collect())
    };
    patches.into_iter().map(of_node).collect()
}

/// Mean distance from the faces of elements out to each curved patch, `[n_patches]`.
fn gaps(draft: &Draft, features: &Features, curved: &[bool]) -> Vec<f64> {
    let of_quad = |quad: &Quad| match curved[quad.patch as usize] {
        true => gap(draft, features, quad),
        false => [0.0; 2],
    };
    let of_quads: Vec<[f64; 2]> = draft.quads.par_iter().map(of_quad).collect();
    let mut sums = vec![[0.0; 2]; curved.len()];
    for (quad, [volume, area]) in draft.quads.iter().zip(of_quads) {
        let sum = &mut sums[quad.patch as usize];
        *sum = [sum[0] + volume, sum[1] + area];
    }
    sums.into_iter().map(|[volume, area]| if area > 0.0 { volume / area } else { 0.0 }).collect()
}

/// Volume between a face of an element and its patch, positive where the patch lies outside, and
/// the area of the face.
fn gap(draft: &Draft, features: &Features, quad: &Quad) -> [f64; 2] {
    let x = quad.nodes.map(|v| draft.points[v as usize]);
    let at = |i: usize| (i as f64 + 0.5) / SAMPLES as f64;
    let mut sums = [0.0; 2];
    for (s, t) in (0..SAMPLES * SAMPLES).map(|i| (at(i / SAMPLES), at(i % SAMPLES))) {
        let point = (x[0] * (1.0 - s) + x[1] * s) * (1.0 - t) + (x[3] * (1.0 - s) + x[2] * s) * t;
        let along = (x[1] - x[0]) * (1.0 - t) + (x[2] - x[3]) * t;
        let across = (x[3] - x[0]) * (1.0 - s) + (x[2] - x[1]) * s;
        let area = along.cross(&across) / SAMPLES.pow(2) as f64;
        let foot = features.patches[quad.patch as usize].foot(&point);
        sums = [sums[0] + (foot.point - point).dot(&area), sums[1] + area.norm()];
    }
    sums
}

/// Shortest step of a node that moves it by `moves` along the normals of its patches.
fn step(normals: &[(u32, Vec3)], moves: &[f64], size: f64) -> Vec3 {
    let mut matrix = Matrix3::zeros();
    let mut side = Vec3::zeros();
    for (patch, normal) in normals {
        matrix += normal * normal.transpose();
        side += normal * moves[*patch as usize];
    }
    // The least eigenvalue of two normals is twice the squared sine of half their angle.
    let inverse = matrix.pseudo_inverse(2.0 * APART * APART).unwrap_or_default();
    let step: Vec3 = inverse * side;
    step * (LONGEST * size / step.norm().max(LONGEST * size))
}

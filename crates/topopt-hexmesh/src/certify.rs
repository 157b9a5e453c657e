//! Checks of a finished mesh against the part.

use std::collections::HashSet;

use rayon::prelude::*;
use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, volume};

use crate::draft::{Draft, edge};
use crate::fault::Fault;
use crate::fit::Fit;
use crate::optimize::qualities;
use crate::report::Report;
use crate::surface::Surface;

/// Checks that no element is inverted, that nodes lie within `most_off` cells of their corners,
/// curves and patches, that the skin is that of the elements, and that it has the holes of the
/// part; measures the quality.
///
/// # Errors
/// [`Fault`]: the first check that fails.
pub(crate) fn certify(
    draft: &Draft,
    fit: &Fit,
    surface: &Surface,
    most_off: f64,
) -> Result<Report, Fault> {
    let mut quality = qualities(draft);
    let corners = |hex: &[u32; 8]| hex.map(|v| <[f64; 3]>::from(draft.points[v as usize]));
    let is_valid = |hex: &[u32; 8]| {
        let x = corners(hex);
        gauss_points().iter().all(|&xi| determinant(&jacobian(&x, xi)) > 0.0)
    };
    let is_positive = quality.iter().all(|q| *q > 0.0);
    if !is_positive || !draft.hexes.par_iter().all(is_valid) {
        let worst = (0..quality.len()).min_by(|&a, &b| quality[a].total_cmp(&quality[b]));
        let worst = corners(&draft.hexes[worst.unwrap_or_default()]);
        return Err(Fault::at(worst[0].into(), "elements are inverted"));
    }
    let distance = fit.distance(&draft.points);
    if distance > most_off * draft.size {
        return Err("a node lies off its face".into());
    }
    if !draft.is_conforming() {
        return Err("the faces of the elements do not close the surface".into());
    }
    let holes = [euler_of_mesh(draft), euler_of_surface(surface)];
    if holes[0] != holes[1] {
        return Err("the mesh does not have the holes of the part".into());
    }

    quality.par_sort_unstable_by(f64::total_cmp);
    let volumes: Vec<f64> = draft.hexes.par_iter().map(|hex| volume(&corners(hex))).collect();
    Ok(Report {
        size: draft.usual,
        least: quality[0],
        fifth_percentile: quality[quality.len() / 20],
        mean: quality.iter().sum::<f64>() / quality.len() as f64,
        part_volume: surface.volume(),
        mesh_volume: volumes.iter().sum(),
        mirrors: Vec::new(),
        distance,
        failed: Vec::new(),
    })
}

fn euler_of_mesh(draft: &Draft) -> i64 {
    let nodes: HashSet<u32> = draft.quads.iter().flat_map(|quad| quad.nodes).collect();
    let edges: HashSet<_> =
        draft.quads.iter().flat_map(|quad| quad.edges()).map(|(a, b)| edge(a, b)).collect();
    nodes.len() as i64 - edges.len() as i64 + draft.quads.len() as i64
}

fn euler_of_surface(surface: &Surface) -> i64 {
    let nodes: HashSet<u32> = surface.triangles.iter().flatten().copied().collect();
    // Each triangle has three halves of edges.
    nodes.len() as i64 - surface.triangles.len() as i64 / 2
}

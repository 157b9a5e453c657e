//! Checks of a finished mesh against the part.

use std::collections::HashSet;

use rayon::prelude::*;
use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, volume};

use crate::draft::{Draft, Quad, edge};
use crate::fault::Fault;
use crate::features::Features;
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
    features: &Features,
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
    let has_holes = |body: u32| euler_of_mesh(draft, body) == euler_of_surface(surface, body);
    if !(0..surface.n_bodies() as u32).all(has_holes) {
        return Err("the mesh does not have the holes of the part".into());
    }
    check_interfaces(draft, features)?;

    let volumes: Vec<f64> = draft.hexes.par_iter().map(|hex| volume(&corners(hex))).collect();
    let mut of_bodies = vec![0.0; surface.n_bodies()];
    volumes.iter().zip(&draft.bodies).for_each(|(own, &body)| of_bodies[body as usize] += own);
    quality.par_sort_unstable_by(f64::total_cmp);
    Ok(Report {
        size: draft.usual,
        least: quality[0],
        fifth_percentile: quality[quality.len() / 20],
        mean: quality.iter().sum::<f64>() / quality.len() as f64,
        part_volume: surface.volume(),
        mesh_volume: volumes.iter().sum(),
        volumes: surface.volumes().into_iter().zip(of_bodies).map(<[f64; 2]>::from).collect(),
        n_interfaces: surface.n_interfaces(),
        mirrors: Vec::new(),
        distance,
        refinement: None,
        failed: Vec::new(),
    })
}

/// Checks that the quads between two bodies lie on the same patch, as seen from either.
pub(crate) fn check_interfaces(draft: &Draft, features: &Features) -> Result<(), Fault> {
    let key = |quad: &Quad, patch: u32| {
        let mut nodes = quad.nodes;
        nodes.sort_unstable();
        (nodes, patch)
    };
    let all: HashSet<([u32; 4], u32)> =
        draft.quads.iter().map(|quad| key(quad, quad.patch)).collect();
    for (quad, sheet) in draft.quads.iter().zip(draft.sheets()) {
        let twin = features.sides[quad.patch as usize].twin;
        let has_twin = twin.is_none_or(|twin| all.contains(&key(quad, twin)));
        if sheet != features.sheet(quad.patch) || !has_twin {
            let place = draft.points[quad.nodes[0] as usize];
            return Err(Fault::at(place, "elements of bodies meet where the bodies do not"));
        }
    }
    Ok(())
}

fn euler_of_mesh(draft: &Draft, body: u32) -> i64 {
    let quads = || draft.quads.iter().filter(|quad| draft.body(quad) == body);
    let nodes: HashSet<u32> = quads().flat_map(|quad| quad.nodes).collect();
    let edges: HashSet<_> =
        quads().flat_map(|quad| quad.edges()).map(|(a, b)| edge(a, b)).collect();
    nodes.len() as i64 - edges.len() as i64 + quads().count() as i64
}

fn euler_of_surface(surface: &Surface, body: u32) -> i64 {
    let own = || (0..surface.bodies.len()).filter(|&t| surface.bodies[t] == body);
    let nodes: HashSet<u32> = own().flat_map(|t| surface.triangles[t]).collect();
    // Each triangle has three halves of edges.
    nodes.len() as i64 - own().count() as i64 / 2
}

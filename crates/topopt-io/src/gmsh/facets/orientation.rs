//! Facets turned so that neighbors agree on what is outside.

use topopt_mesh::vector::difference;

use super::fault::FacetFault;
use super::triangles::{self, Side};

/// Turns facets over, as few as possible, until neighbors agree; how many were turned.
pub(super) fn turn_alike(triangles: &mut [[u32; 3]]) -> usize {
    let turn = turns(triangles.len(), &triangles::sides(triangles));
    let turned = turn.iter().filter(|turn| **turn).count();
    for (triangle, turn) in triangles.iter_mut().zip(turn) {
        if turn {
            triangle.swap(1, 2);
        }
    }
    turned
}

/// Checks that facets close, and that neighbors agree.
///
/// # Errors
/// Surfaces that are not closed, and those that have one side alone.
pub(super) fn check(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(), FacetFault> {
    let at = |edge: [u32; 2]| edge.map(|vertex| vertices[vertex as usize]);
    let open = triangles::open(triangles);
    if let Some(&edge) = open.first() {
        return Err(FacetFault::Open { count: open.len(), edge: at(edge) });
    }

    // Where more than two facets meet, those that run in either direction must be as many.
    let sides = triangles::sides(triangles);
    let forward = |at: &[Side]| at.iter().filter(|side| side.is_forward).count();
    match triangles::by_edge(&sides).find(|at| 2 * forward(at) != at.len()) {
        None => Ok(()),
        Some(side) => {
            let [a, b] = at(side[0].edge);
            let half = difference(b, a).map(|x| 0.5 * x);
            Err(FacetFault::Twisted { at: std::array::from_fn(|i| a[i] + half[i]) })
        }
    }
}

/// Returns per facet whether it must be turned, `[n_facets]`. Facets that are joined by edges of
/// two facets each go with the most.
fn turns(n_facets: usize, sides: &[Side]) -> Vec<bool> {
    let mut neighbors = vec![[(u32::MAX, false); 3]; n_facets];
    for at in triangles::by_edge(sides) {
        let [one, other] = at else { continue };
        let disagree = one.is_forward == other.is_forward;
        for [facet, neighbor] in [[one.facet, other.facet], [other.facet, one.facet]] {
            let mut slots = neighbors[facet as usize].iter_mut();
            if let Some(free) = slots.find(|slot| slot.0 == u32::MAX) {
                *free = (neighbor, disagree);
            }
        }
    }

    let mut turn = vec![None; n_facets];
    for seed in 0..n_facets {
        if turn[seed].is_some() {
            continue;
        }
        turn[seed] = Some(false);
        let mut patch = vec![seed];
        let mut next = 0;
        while let Some(&facet) = patch.get(next) {
            next += 1;
            let own = turn[facet] == Some(true);
            for &(neighbor, disagree) in &neighbors[facet] {
                let Some(known) = turn.get_mut(neighbor as usize) else { continue };
                if known.is_none() {
                    *known = Some(own ^ disagree);
                    patch.push(neighbor as usize);
                }
            }
        }
        let turned = patch.iter().filter(|&&facet| turn[facet] == Some(true)).count();
        if 2 * turned > patch.len() {
            patch.iter().for_each(|&facet| turn[facet] = turn[facet].map(|turn| !turn));
        }
    }
    turn.into_iter().map(|turn| turn == Some(true)).collect()
}

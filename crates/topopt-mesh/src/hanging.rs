//! Nodes that lie on a face without being its corner, as where grids of different size meet.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::coincident::same_place;
use crate::surface::{boundary_faces, face_center, face_coordinates};
use crate::vector::{difference, length};
use crate::{BoundingBox, CellList, Face, HexMesh};

/// Nodes this near to a face lie on it: a share of the shortest edge with a length of the elements
/// of both.
const RELATIVE_DISTANCE: f64 = 1e-3;

/// Nodes of `mesh` that lie on a face of its surface, or on an edge of that, without being one of
/// its corners or in the place of one: each once, increasing, with a face it lies on. What meets
/// there is not joined. Where a mesh fits together there are none.
pub fn hanging_nodes(mesh: &HexMesh) -> Vec<(u32, Face)> {
    let faces = boundary_faces(mesh);
    let mut nodes: Vec<u32> = faces.iter().flat_map(|face| face.nodes(mesh)).collect();
    nodes.par_sort_unstable();
    nodes.dedup();

    let points: Vec<_> = nodes.iter().map(|&node| mesh.coordinates()[node as usize]).collect();
    let sizes = faces.iter().map(|&face| distance(mesh, face));
    let near = CellList::new(&points, sizes.sum::<f64>() / faces.len() as f64);

    let same_place = same_place(mesh);
    let shortest = shortest_edges(mesh, &faces);
    let tolerances: Vec<f64> =
        nodes.iter().map(|&node| RELATIVE_DISTANCE * shortest[node as usize]).collect();

    let mut hanging: Vec<(u32, Face)> = faces
        .par_iter()
        .flat_map_iter(|&face| {
            let corners = mesh.corners(face.element as usize).iter();
            let at_element = corners.map(|&node| shortest[node as usize]);
            let tolerance = RELATIVE_DISTANCE * at_element.fold(f64::INFINITY, f64::min);
            let x = face_coordinates(mesh, face);
            let on_face = nodes_on(&x, &near, (tolerance, &tolerances), same_place);
            on_face.into_iter().map(move |id| (id, face))
        })
        .map(|(id, face)| (nodes[id as usize], face))
        .collect();

    // Several faces share a node on their common edge: the first one is kept.
    hanging.sort_unstable();
    hanging.dedup_by_key(|(node, _)| *node);
    hanging
}

/// From the center of a face to its first corner.
fn distance(mesh: &HexMesh, face: Face) -> f64 {
    let x = face_coordinates(mesh, face);
    length(difference(face_center(&x), x[0]))
}

/// The shortest edge with a length of the elements around every node of the elements at `faces`,
/// `[n_nodes]`: thin elements have their next nodes as near as they are thin. Other nodes have no
/// use for it.
fn shortest_edges(mesh: &HexMesh, faces: &[Face]) -> Vec<f64> {
    let mut is_wanted = vec![false; mesh.n_nodes()];
    let corners = faces.iter().flat_map(|face| mesh.corners(face.element as usize));
    corners.for_each(|&node| is_wanted[node as usize] = true);
    let has_wanted =
        |element: &usize| mesh.corners(*element).iter().any(|&node| is_wanted[node as usize]);
    // The bits of numbers above zero grow with them, and the least stay, whichever come first.
    let shortest: Vec<AtomicU64> =
        (0..mesh.n_nodes()).into_par_iter().map(|_| f64::INFINITY.to_bits().into()).collect();
    (0..mesh.n_elements()).into_par_iter().filter(has_wanted).for_each(|element| {
        let edge = mesh.shortest_edge(element).to_bits();
        for &node in mesh.corners(element) {
            let shortest = &shortest[node as usize];
            // Most are not shorter, and a look is cheaper.
            if shortest.load(Ordering::Relaxed) > edge {
                shortest.fetch_min(edge, Ordering::Relaxed);
            }
        }
    });
    shortest.into_par_iter().map(|edge| f64::from_bits(edge.into_inner())).collect()
}

/// The points of `near` on the face with corners `x`, without those at the corners: within the
/// tolerance of the face and of the point.
fn nodes_on(
    x: &[[f64; 3]; 4],
    near: &CellList,
    (tolerance, of_points): (f64, &[f64]),
    same_place: f64,
) -> Vec<u32> {
    let BoundingBox { min, max } = BoundingBox::of(x.iter().copied());
    let mut found = Vec::new();
    near.for_each_near_box(min.map(|v| v - tolerance), max.map(|v| v + tolerance), |id, point| {
        let at_corner = x.iter().any(|&corner| length(difference(corner, point)) <= same_place);
        let in_box = |i: usize| (min[i] - tolerance..=max[i] + tolerance).contains(&point[i]);
        let tolerance = tolerance.min(of_points[id as usize]);
        if !at_corner && (0..3).all(in_box) && distance_to(x, point) <= tolerance {
            found.push(id);
        }
    });
    found
}

/// The distance of `point` from the bilinear face with corners `x`, by Gauss-Newton steps for the
/// nearest place (s, t) in the unit square; exact where it is zero.
fn distance_to(x: &[[f64; 3]; 4], point: [f64; 3]) -> f64 {
    let (mut s, mut t) = (0.5, 0.5);
    let mut nearest = f64::INFINITY;

    for _ in 0..10 {
        let along = |i: usize| {
            let (bottom, top) = (x[1][i] - x[0][i], x[2][i] - x[3][i]);
            let (left, right) = (x[3][i] - x[0][i], x[2][i] - x[1][i]);
            [(1.0 - t) * bottom + t * top, (1.0 - s) * left + s * right]
        };
        let place = |i: usize| {
            let weights = [(1.0 - s) * (1.0 - t), s * (1.0 - t), s * t, (1.0 - s) * t];
            (0..4).map(|a| weights[a] * x[a][i]).sum::<f64>()
        };

        let rest: [f64; 3] = std::array::from_fn(|i| point[i] - place(i));
        // A step need not lead nearer: the nearest of all places counts.
        nearest = f64::min(nearest, length(rest));

        let [mut ss, mut st, mut tt, mut sr, mut tr] = [0.0; 5];
        for i in 0..3 {
            let [ds, dt] = along(i);
            (ss, st, tt) = (ss + ds * ds, st + ds * dt, tt + dt * dt);
            (sr, tr) = (sr + ds * rest[i], tr + dt * rest[i]);
        }

        // Parallel tangents, as where a face is collapsed, give no step.
        let determinant = ss * tt - st * st;
        if determinant <= 0.0 {
            break;
        }

        s = f64::clamp(s + (tt * sr - st * tr) / determinant, 0.0, 1.0);
        t = f64::clamp(t + (ss * tr - st * sr) / determinant, 0.0, 1.0);
    }

    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Benchmark, Resolution};
    use crate::{Renumbering, Sets};

    type Block = (Vec<[f64; 3]>, Vec<[u32; 8]>);

    /// The block from `low` to `high` in `n` elements a direction, warped by `warp`.
    fn block(low: [f64; 3], high: [f64; 3], n: usize, warp: fn([f64; 3]) -> [f64; 3]) -> Block {
        let at = |i: usize, v: usize| low[i] + (high[i] - low[i]) * v as f64 / n as f64;
        generate::block([n; 3], |[i, j, k]| warp([at(0, i), at(1, j), at(2, k)]))
    }

    fn joined(parts: [Block; 2]) -> HexMesh {
        let [(mut coordinates, mut hexes), (more, others)] = parts;
        let first = coordinates.len() as u32;
        coordinates.extend(more);
        hexes.extend(others.into_iter().map(|hex| hex.map(|node| node + first)));
        HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
    }

    #[test]
    fn a_coarse_block_on_a_fine_one() {
        // The side z = 1 is a bilinear surface, which both halves share as it is.
        let warp = |[x, y, z]: [f64; 3]| [x, y, z + 0.3 * x * y];
        for (warp, name) in [(warp as fn(_) -> _, "warped"), (|x| x, "plane")] {
            let coarse = block([0.0; 3], [1.0; 3], 1, warp);
            let fine = block([0.0, 0.0, 1.0], [1.0, 1.0, 2.0], 3, warp);
            let mesh = joined([coarse, fine]);
            let found = hanging_nodes(&mesh);
            // Of the 16 nodes of the fine side, 4 are in the places of corners.
            let expected: Vec<u32> = (8..24).filter(|n| ![8, 11, 20, 23].contains(n)).collect();
            let nodes: Vec<u32> = found.iter().map(|(node, _)| *node).collect();
            assert_eq!(nodes, expected, "{name}");
            assert!(found.iter().all(|(_, face)| face.element == 0), "{name}: {found:?}");
        }
    }

    #[test]
    fn thin_elements_are_no_contact() {
        for thin in [1e3, 1e6] {
            let flat = |low: [f64; 3], high: [f64; 3], n| {
                let (mut coordinates, hexes) = block(low, high, n, |x| x);
                coordinates.iter_mut().for_each(|x| x[2] /= thin);
                (coordinates, hexes)
            };
            let (coordinates, hexes) = flat([0.0; 3], [4.0; 3], 4);
            let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
            assert_eq!(hanging_nodes(&mesh), [], "thinner by {thin}");
            let fine = flat([0.0, 0.0, 1.0], [1.0, 1.0, 2.0], 3);
            let found = hanging_nodes(&joined([flat([0.0; 3], [1.0; 3], 1), fine]));
            assert_eq!(found.len(), 12, "thinner by {thin}: those that are, are found");
        }
    }

    #[test]
    fn a_gap_is_no_contact() {
        let coarse = block([0.0; 3], [1.0; 3], 1, |x| x);
        let fine = block([0.2, 0.2, 1.01], [0.8, 0.8, 2.0], 2, |x| x);
        assert!(hanging_nodes(&joined([coarse.clone(), fine])).is_empty());
        let touching = block([0.2, 0.2, 1.0], [0.8, 0.8, 2.0], 2, |x| x);
        assert_eq!(hanging_nodes(&joined([coarse, touching])).len(), 9);
    }

    #[test]
    fn meshes_that_fit_together_have_none() {
        for benchmark in [Benchmark::ConnectingRod, Benchmark::Michell, Benchmark::LBeam] {
            let mesh = benchmark.generate(Resolution::Elements(3000)).unwrap();
            let mesh = Renumbering::shuffled(&mesh, 5).apply(&mesh);
            assert!(hanging_nodes(&mesh).is_empty(), "{benchmark:?}");
        }
        let same = block([0.0, 0.0, 1.0], [1.0, 1.0, 2.0], 2, |x| x);
        let below = block([0.0; 3], [1.0; 3], 2, |x| x);
        assert!(hanging_nodes(&joined([below, same])).is_empty(), "nodes in the same place");
    }
}

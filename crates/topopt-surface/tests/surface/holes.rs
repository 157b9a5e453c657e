//! Holes of known bodies: volumes when they are filled, and faces that are no hole.

use std::f64::consts::TAU;

use topopt_surface::{FilledHoles, HoleFaultKind, Holes, TriangleSurface};
use topopt_testing::bodies::prism;

use crate::assert_closed;

/// Sides of the polygons that stand for circles.
const SIDES: usize = 48;

/// A body with the face of each triangle.
type Faced = (TriangleSurface, Vec<u32>);

/// The body that a profile of radii and heights, counter-clockwise, makes around the z axis. Each
/// side of the profile is a face; on the axis it has one point for all angles.
fn revolved(profile: &[[f64; 2]]) -> Faced {
    let (mut vertices, mut rings) = (Vec::new(), Vec::new());
    for &[r, z] in profile {
        let n = if r == 0.0 { 1 } else { SIDES };
        let angle = |i: usize| TAU * i as f64 / SIDES as f64;
        let first = vertices.len() as u32;
        vertices.extend((0..n).map(|i| [r * angle(i).cos(), r * angle(i).sin(), z]));
        rings.push((0..=SIDES).map(|i| first + (i % n) as u32).collect::<Vec<_>>());
    }
    let (mut triangles, mut faces) = (Vec::new(), Vec::new());
    for side in 0..profile.len() {
        let (low, high) = (&rings[side], &rings[(side + 1) % profile.len()]);
        for i in 0..SIDES {
            let quad = [low[i], low[i + 1], high[i + 1], high[i]];
            let both = [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]];
            let own = both.into_iter().filter(|[a, b, c]| a != b && b != c && c != a);
            triangles.extend(own);
            faces.resize(triangles.len(), side as u32);
        }
    }
    (TriangleSurface::new(vertices, triangles), faces)
}

fn filled((surface, of_triangles): &Faced, walls: &[usize], hollow: &[usize]) -> FilledHoles {
    let n = of_triangles.iter().max().map_or(0, |last| 1 + *last as usize);
    let among = |faces: &[usize]| (0..n).map(|face| faces.contains(&face)).collect::<Vec<_>>();
    let (are_walls, are_hollow) = (among(walls), among(hollow));
    let holes = Holes { surface, of_triangles, are_walls: &are_walls, are_hollow: &are_hollow };
    holes.filled()
}

/// Volume of a disk of one unit of height.
fn disk(radius: f64) -> f64 {
    0.5 * SIDES as f64 * (TAU / SIDES as f64).sin() * radius * radius
}

fn assert_fills(body: &Faced, walls: &[usize], volume: f64) {
    let FilledHoles { surface, n_filled, faults } = filled(body, walls, walls);
    assert_eq!((n_filled, faults), (1, vec![]), "{walls:?}");
    assert_closed(&surface);
    let found = surface.volume();
    assert!((found / volume - 1.0).abs() < 1e-12, "{walls:?}: {found} instead of {volume}");
}

fn assert_refused(body: &Faced, walls: &[usize], kind: HoleFaultKind) {
    let FilledHoles { surface, n_filled, faults } = filled(body, walls, &[]);
    assert_eq!((n_filled, faults.len()), (0, 1), "{walls:?}");
    assert_eq!(faults[0].kind, kind, "{walls:?}");
    assert!((surface.volume() / body.0.volume() - 1.0).abs() < 1e-12);
}

#[test]
fn through_and_blind_holes() {
    let ring = [[2.0, 0.0], [10.0, 0.0], [10.0, 8.0], [2.0, 8.0]];
    assert_fills(&revolved(&ring), &[3], 8.0 * disk(10.0));

    // The tip of the drill is found as the floor.
    let blind = [[0.0, 0.0], [10.0, 0.0], [10.0, 8.0], [3.0, 8.0], [3.0, 4.0], [0.0, 2.0]];
    assert_fills(&revolved(&blind), &[3], 8.0 * disk(10.0));
    assert_fills(&revolved(&blind), &[3, 4], 8.0 * disk(10.0));
}

#[test]
fn a_counterbore_is_filled_with_its_bore_or_stays() {
    let profile = [[2.0, 0.0], [10.0, 0.0], [10.0, 8.0], [4.0, 8.0], [4.0, 5.0], [2.0, 5.0]];
    let body = revolved(&profile);
    assert_fills(&body, &[3, 5], 8.0 * disk(10.0));
    assert_fills(&body, &[5], 8.0 * disk(10.0) - 3.0 * disk(4.0));
}

#[test]
fn a_bore_in_two_halves() {
    let ring = [[2.0, 0.0], [10.0, 0.0], [10.0, 8.0], [2.0, 8.0]];
    let (surface, mut faces) = revolved(&ring);
    let wall: Vec<usize> = (0..faces.len()).filter(|t| faces[*t] == 3).collect();
    wall[wall.len() / 2..].iter().for_each(|t| faces[*t] = 4);
    let body = (surface, faces);
    let FilledHoles { surface, n_filled, .. } = filled(&body, &[3], &[3, 4]);
    assert_eq!(n_filled, 1);
    assert!((surface.volume() / (8.0 * disk(10.0)) - 1.0).abs() < 1e-12);
}

#[test]
fn faces_that_are_no_hole() {
    let blind = [[0.0, 0.0], [10.0, 0.0], [10.0, 8.0], [3.0, 8.0], [3.0, 4.0], [0.0, 4.0]];
    assert_refused(&revolved(&blind), &[4], HoleFaultKind::GoesOn);
    assert_refused(&revolved(&blind), &[1], HoleFaultKind::Outside);

    // A groove along a block, whose outline all see from the bottom of the groove.
    let mut outline = vec![[0.0, 5.0]];
    outline.extend(
        [[3.0, 8.0], [10.0, 8.0], [10.0, 0.0], [-10.0, 0.0], [-10.0, 8.0], [-3.0, 8.0]]
            .into_iter()
            .rev(),
    );
    let (vertices, triangles) = prism(&outline, [0.0, 20.0]);
    let surface = TriangleSurface::new(vertices, triangles);
    let in_groove = |t: &[u32; 3]| {
        let x = t.map(|vertex| surface.vertices()[vertex as usize]);
        x.iter().all(|x| x[0].abs() < 3.5 && x[1] > 4.0) && x.iter().any(|y| y[2] != x[0][2])
    };
    let faces = surface.triangles().iter().map(|t| u32::from(in_groove(t))).collect();
    assert_refused(&(surface.clone(), faces), &[1], HoleFaultKind::AroundEdge);
}

#[test]
fn material_in_a_hole() {
    let ring = revolved(&[[4.0, 0.0], [10.0, 0.0], [10.0, 8.0], [4.0, 8.0]]);
    let (vertices, triangles) =
        prism(&[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], [2.0, 6.0]);
    let first = ring.0.vertices().len() as u32;
    let all = [ring.0.vertices(), &vertices].concat();
    let both = ring.0.triangles().iter().copied();
    let both = both.chain(triangles.iter().map(|t| t.map(|vertex| vertex + first))).collect();
    let faces = [ring.1.clone(), vec![4; triangles.len()]].concat();
    assert_refused(&(TriangleSurface::new(all, both), faces), &[3], HoleFaultKind::Crossed);
}

//! Forces at a point, moments and bearings: resultants, distribution, and what is refused.

use std::f64::consts::PI;

use topopt_fem::bearing::{BearingError, bearing};
use topopt_fem::remote_load::{PointLoad, SpreadError, spread};
use topopt_fem::surface_load::{NodalForces, areas};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{Face, HexMesh};
use topopt_testing::mapped_box;

/// Sum of the forces, and of their moments about `at`.
fn resultant(mesh: &HexMesh, forces: &NodalForces, at: [f64; 3]) -> [[f64; 3]; 2] {
    let mut sums = [[0.0; 3]; 2];
    for (node, force) in forces {
        let turned = cross(difference(mesh.coordinates()[*node as usize], at), *force);
        (0..3).for_each(|i| sums[0][i] += force[i]);
        (0..3).for_each(|i| sums[1][i] += turned[i]);
    }
    sums
}

fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
    let near = length(difference(found, expected)) <= tolerance;
    assert!(near, "{found:?} {expected:?} {tolerance:e}");
}

fn equal(nodes: impl IntoIterator<Item = u32>) -> Vec<(u32, f64)> {
    nodes.into_iter().map(|node| (node, 1.0)).collect()
}

/// Nodes on a curve or surface through `map` of the unit cube of 6 x 3 x 1 elements.
fn bent() -> HexMesh {
    mapped_box([6, 3, 1], |[x, y, z]| [x + 0.2 * y * y, y + 0.1 * (3.0 * x).sin(), z + 0.3 * x * x])
}

#[test]
fn force_and_moment_about_the_point_are_exact() {
    let mesh = bent();
    let faces: Vec<Face> = boundary_faces(&mesh).into_iter().step_by(3).collect();
    let sets = [areas(&mesh, &faces), equal(0..20), equal([0, 3, 9])];
    for weights in &sets {
        for at in [[0.3, 0.2, 0.1], [-7.0, 12.0, 30.0]] {
            let (force, moment) = ([3.0, -0.7, 0.01], [0.4, 0.0, -2.0]);
            let forces = spread(&mesh, weights, &PointLoad { force, moment, at }).unwrap();
            let [sum, turned] = resultant(&mesh, &forces, at);
            let size = length(moment) + length(force) * length(at);
            assert_near(sum, force, 1e-12 * length(force));
            assert_near(turned, moment, 1e-12 * size);
        }
    }
}

/// Four corners of a square take a moment about its normal by tangential forces M / (4 r), one
/// about a middle line by couples; a force beside the center is a force in it and a moment.
#[test]
fn a_square_by_hand() {
    let mesh = mapped_box([1, 1, 1], |[x, y, z]| [2.0 * x - 1.0, 2.0 * y - 1.0, z]);
    let weights = equal((0..8).filter(|&n: &u32| mesh.coordinates()[n as usize][2] == 0.0));
    let at = |force, moment, at| {
        let forces = spread(&mesh, &weights, &PointLoad { force, moment, at }).unwrap();
        forces.into_iter().map(|(n, f)| (mesh.coordinates()[n as usize], f)).collect::<Vec<_>>()
    };
    for ([x, y, _], force) in at([0.0; 3], [0.0, 0.0, 4.0], [0.0; 3]) {
        assert_near(force, [-0.5 * y, 0.5 * x, 0.0], 1e-14);
    }
    for ([_, y, _], force) in at([0.0; 3], [4.0, 0.0, 0.0], [9.0; 3]) {
        assert_near(force, [0.0, 0.0, y], 1e-14);
    }
    for ([x, ..], force) in at([0.0, 0.0, 4.0], [0.0; 3], [3.0, 0.0, 5.0]) {
        assert_near(force, [0.0, 0.0, 1.0 + 3.0 * x], 1e-14);
    }
}

#[test]
fn nodes_on_a_line_take_no_moment_about_it() {
    let far = 1e3;
    let mesh = mapped_box([4, 1, 1], |[x, y, z]| [x + far, 0.5 * x + y, 0.25 * x + z]);
    let on_line = |n: &u32| {
        let [x, y, z] = mesh.coordinates()[*n as usize];
        (y - 0.5 * (x - far)).abs() + (z - 0.25 * (x - far)).abs() < 1e-9
    };
    let weights = equal((0..mesh.n_nodes() as u32).filter(on_line));
    assert_eq!(weights.len(), 5);

    let (force, along) = ([1.0, -2.0, 0.5], [1.0, 0.5, 0.25]);
    let on_it = [far + 3.0, 1.5, 0.75];
    let forces = spread(&mesh, &weights, &PointLoad { force, moment: [0.0; 3], at: on_it });
    let [sum, turned] = resultant(&mesh, &forces.unwrap(), on_it);
    assert_near(sum, force, 1e-12);
    assert_near(turned, [0.0; 3], 1e-12 * far);

    let beside = PointLoad { force, moment: [0.0; 3], at: [far, 1.0, 0.0] };
    let Err(SpreadError::Line(found)) = spread(&mesh, &weights, &beside) else { panic!() };
    assert_near(cross(found, along), [0.0; 3], 1e-9);
    let turn = PointLoad { force: [0.0; 3], moment: [1.0, 0.0, 0.0], at: [0.0; 3] };
    assert!(matches!(spread(&mesh, &weights, &turn), Err(SpreadError::Line(_))));

    let one = equal([7]);
    let there = mesh.coordinates()[7];
    let here = PointLoad { force, moment: [0.0; 3], at: there };
    let [(7, found)] = spread(&mesh, &one, &here).unwrap()[..] else { panic!() };
    assert_near(found, force, 1e-14);
    assert_eq!(spread(&mesh, &one, &beside), Err(SpreadError::Point));
    assert_eq!(spread(&mesh, &[], &here), Err(SpreadError::Point));
}

#[test]
fn a_narrow_strip_is_exact_too() {
    for width in [1e-2, 1e-4, 1e-5] {
        let mesh = mapped_box([8, 1, 1], |[x, y, z]| [x, 0.3 * x + width * y, width * z]);
        let weights = equal(0..mesh.n_nodes() as u32);
        let (force, moment) = ([1.0, 2.0, 3.0], [0.5, 0.1, -0.2]);
        let load = PointLoad { force, moment, at: [0.2, 0.1, 0.0] };
        let forces = spread(&mesh, &weights, &load).unwrap();
        let [sum, turned] = resultant(&mesh, &forces, load.at);
        // Forces are as large as the moment over the width, and have that much of rounding.
        let size: f64 = forces.iter().map(|(_, force)| length(*force)).sum();
        assert!(size > 0.5 / width, "{size}");
        assert_near(sum, force, 1e-15 * size);
        assert_near(turned, moment, 1e-15 * size);
    }
}

const RADIUS: f64 = 2.0;
const HEIGHT: f64 = 3.0;

/// A ring of `n` elements around a bore about z, at the angles `angle(s)` of s from 0 to 1; its
/// ends touch without being joined.
fn ring(n: usize, angle: impl Fn(f64) -> f64) -> (HexMesh, Vec<Face>) {
    let mesh = mapped_box([1, n, 2], |[r, s, z]| {
        let (r, t) = (RADIUS + r, angle(s));
        [r * t.cos(), r * t.sin(), HEIGHT * z]
    });
    let in_bore = |face: &Face| {
        let x = face_coordinates(&mesh, *face);
        x.iter().all(|x| (x[0].hypot(x[1]) - RADIUS).abs() < 1e-9)
    };
    let faces = boundary_faces(&mesh).into_iter().filter(in_bore).collect();
    (mesh, faces)
}

#[test]
fn a_pin_pushes_by_the_cosine() {
    let n = 96;
    let (mesh, faces) = ring(n, |s| 2.0 * PI * s);
    assert_eq!(faces.len(), 2 * n);
    let force = [0.0, -600.0, 0.0];
    let forces = bearing(&mesh, &faces, force).unwrap();
    let [sum, turned] = resultant(&mesh, &forces, [0.0, 0.0, 0.5 * HEIGHT]);
    assert_near(sum, force, 1e-12 * 600.0);
    assert_near(turned, [0.0; 3], 1e-12 * 600.0 * RADIUS);

    let peak = 600.0 / (0.5 * PI * RADIUS * HEIGHT);
    for (node, force) in &forces {
        let [x, y, z] = mesh.coordinates()[*node as usize];
        let share = if z > 0.1 && z < HEIGHT - 0.1 { 0.5 } else { 0.25 };
        // The seam has its nodes twice, half of the area each.
        let share = if y.abs() < 1e-9 && x > 0.0 { 0.5 * share } else { share };
        let area = 2.0 * PI * RADIUS * HEIGHT / n as f64 * share;
        let pressure = peak * (-y / RADIUS).max(0.0);
        let expected = [x, y, 0.0].map(|v| pressure * area * v / RADIUS);
        // Flat faces have one pressure each, which nodes beside the unloaded half get all of.
        assert_near(*force, expected, 0.04 * peak * area);
    }
}

/// Uneven faces, a tilted bore and a half of one: the resultant is that force all the same, and no
/// face pulls.
#[test]
fn the_resultant_is_exact_on_any_bore() {
    let uneven =
        |s: f64| 2.0 * PI * (s + 0.06 * (2.0 * PI * s).sin() + 0.01 * (6.0 * PI * s).cos());
    let half = |s: f64| PI * (1.0 + s);
    for (mesh, faces) in [ring(17, uneven), ring(9, half)] {
        for force in [[0.3, -1.0, 0.0], [-0.5, -0.9, 0.05]] {
            let forces = bearing(&mesh, &faces, force).unwrap();
            let [sum, turned] = resultant(&mesh, &forces, [0.0; 3]);
            assert_near(sum, force, 1e-12);
            // No torque about the axis, on facets whose normals meet it.
            assert!(turned[2].abs() < 1e-12, "{turned:?}");
            let outward = |(n, f): &(u32, [f64; 3])| {
                let [x, y, _] = mesh.coordinates()[*n as usize];
                dot([x, y, 0.0], *f)
            };
            assert!(forces.iter().map(outward).all(|push| push > -1e-12));
        }
    }
}

#[test]
fn forces_that_a_bore_does_not_take() {
    let (mesh, faces) = ring(24, |s| 2.0 * PI * s);
    assert_eq!(bearing(&mesh, &faces, [0.0, 0.0, 1.0]), Err(BearingError::NoFace));
    assert_eq!(bearing(&mesh, &[], [1.0, 0.0, 0.0]), Err(BearingError::NoFace));
    let Err(BearingError::Sideways(share)) = bearing(&mesh, &faces, [3.0, 0.0, 4.0]) else {
        panic!("a frictionless pin pushes along its axis");
    };
    assert!((share - 0.8).abs() < 1e-12, "{share}");
    // A flat end takes what pushes on it and nothing across.
    let bar = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let is_end = |face: &Face| face_center(&face_coordinates(&bar, *face))[0] > 10.0 - 1e-9;
    let end: Vec<Face> = boundary_faces(&bar).into_iter().filter(is_end).collect();
    assert_eq!(bearing(&bar, &end, [1.0, 0.0, 0.0]), Err(BearingError::NoFace));
    assert!(matches!(bearing(&bar, &end, [-1.0, 1.0, 0.0]), Err(BearingError::Sideways(_))));
    let pushed = bearing(&bar, &end, [-1.0, 0.0, 0.0]).unwrap();
    assert!(pushed.iter().all(|(_, f)| f[0] < 0.0 && f[1] == 0.0 && f[2] == 0.0));
}

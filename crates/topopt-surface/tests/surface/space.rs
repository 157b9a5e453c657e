//! Spaces of known bodies: volume, clearance, and what makes no space.

use std::f64::consts::PI;

use topopt_mesh::BoundingBox;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{difference, length};
use topopt_surface::{Cylinder, MOST_FACETS, Member, Space, SpaceError, TriangleSurface, Within};
use topopt_testing::bodies::{Body, circle, prism, tube};

use crate::assert_closed;

fn surface((vertices, triangles): Body) -> TriangleSurface {
    TriangleSurface::new(vertices, triangles)
}

fn rod(center: [f64; 2], radius: f64, heights: [f64; 2]) -> TriangleSurface {
    surface(prism(&circle(center, radius, 64), heights))
}

/// A block of so many units from a corner.
fn block([x, y, z]: [f64; 3], [a, b, c]: [f64; 3]) -> TriangleSurface {
    surface(prism(&[[x, y], [x + a, y], [x + a, y + b], [x, y + b]], [z, z + c]))
}

/// Two bosses 60 apart, with bores.
fn bosses() -> [TriangleSurface; 2] {
    [0.0, 60.0].map(|x| surface(tube([x, 0.0], [4.0, 8.0], [0.0, 10.0], 64)))
}

/// A profile that is not convex, 10 high.
fn angle() -> TriangleSurface {
    let outline = [[4.0, 4.0], [4.0, 20.0], [0.0, 20.0], [0.0, 0.0], [20.0, 0.0], [20.0, 4.0]];
    surface(prism(&outline, [0.0, 10.0]))
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} instead of {expected}");
}

fn least_distance(surface: &TriangleSurface, from: &TriangleSurface) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|vertex| from.vertices()[vertex as usize]);
    let triangles = Triangles::new(from.triangles().iter().map(corners));
    let centers = surface.triangles().iter().map(|t| {
        let [a, b, c] = t.map(|vertex| surface.vertices()[vertex as usize]);
        [0, 1, 2].map(|i| (a[i] + b[i] + c[i]) / 3.0)
    });
    let points = surface.vertices().iter().copied().chain(centers);
    points.map(|x| triangles.distance(x)).fold(f64::INFINITY, f64::min)
}

#[test]
fn volumes_of_box_and_hull() {
    let kept = bosses();
    let bolts = [0.0, 60.0].map(|x| (rod([x, 0.0], 4.0, [-20.0, 30.0]), 0.0));
    let tool = (rod([30.0, 0.0], 3.0, [-20.0, 30.0]), 2.0);
    let keep_out = [&bolts[..], std::slice::from_ref(&tool)].concat();
    let circle = |radius: f64| PI * radius * radius;

    for (within, volume) in [
        (Within::Box(0.0), 10.0 * (76.0 * 16.0 - 2.0 * circle(4.0) - circle(5.0))),
        (Within::Box(5.0), 20.0 * (86.0 * 26.0 - 2.0 * circle(4.0) - circle(5.0))),
        (Within::Hull(0.0), 10.0 * (960.0 + circle(8.0) - 2.0 * circle(4.0) - circle(5.0))),
    ] {
        let space =
            Space { kept: &kept, keep_out: &keep_out, within, cylinders: &[] }.surface().unwrap();
        assert_closed(&space);
        assert!(space.crossings().is_empty());
        close(space.volume(), volume, 2e-3);
        let clear = least_distance(&space, &tool.0);
        assert!((1.99..=2.001).contains(&clear), "{clear}");
    }

    // All within 3 of the hull of a cube: the cube, six plates, twelve quarters of rods, a ball.
    let cube = [block([1.0, 2.0, 3.0], [4.0; 3])];
    let space = Space { kept: &cube, keep_out: &[], within: Within::Hull(3.0), cylinders: &[] }
        .surface()
        .unwrap();
    let extent = BoundingBox::of(space.vertices().iter().copied()).extent();
    assert!(extent.iter().all(|x| (x - 10.0).abs() < 1e-3), "{extent:?}");
    close(space.volume(), 64.0 + 6.0 * 48.0 + 27.0 * PI * 4.0 / 3.0 + 12.0 * 9.0 * PI, 1e-2);
}

/// The volume around a body that is not convex, and points near each of its edges.
#[test]
fn clearance_of_a_body_that_is_not_convex() {
    let (body, distance) = (angle(), 3.0);
    let kept = [block([-50.0, -10.0, 0.0], [10.0, 10.0, 10.0])];
    let envelope = block([-60.0, -60.0, -50.0], [120.0; 3]);
    let keep_out = [(body.clone(), distance)];
    let within = Within::Envelope(&envelope);
    let space =
        Space { kept: &kept, keep_out: &keep_out, within, cylinders: &[] }.surface().unwrap();

    // A section grows at its sides, and by quarters of discs at convex corners; at the one within a
    // square counts twice. Above and below sections grow by less.
    let (area, length, corners) = (144.0, 80.0, 5.0 * PI / 4.0 - 1.0);
    let section = area + length * distance + corners * distance.powi(2);
    let caps = area * distance
        + length * PI / 4.0 * distance.powi(2)
        + corners * 2.0 / 3.0 * distance.powi(3);
    let grown = 120.0_f64.powi(3) - space.volume();
    close(grown, 10.0 * section + 2.0 * caps, 1e-2);
    let clear = least_distance(&space, &body);
    assert!((0.995 * distance..=distance + 1e-3).contains(&clear), "{clear}");
}

#[test]
fn parts_that_make_no_space_are_refused() {
    let kept = bosses();
    let made = |keep_out: &[(TriangleSurface, f64)], within: Within| {
        Space { kept: &kept, keep_out, within, cylinders: &[] }.surface()
    };
    let hull = || Within::Hull(0.0);

    // Through the wall of the second boss.
    let cut = made(&[(rod([66.0, 0.0], 1.0, [-5.0, 15.0]), 0.0)], hull());
    assert!(matches!(cut, Err(SpaceError::Cut { keep_out: 0, kept: 1, .. })), "{cut:?}");
    // A bolt of fewer facets in the bore leaves it as it is.
    let bolt = surface(prism(&circle([0.0, 0.0], 4.0, 17), [-5.0, 15.0]));
    assert!(made(&[(bolt, 1.0)], hull()).is_ok());

    // Nothing is left between the bosses.
    let wall = |x: f64, half: f64| block([x - half, -90.0, -90.0], [2.0 * half, 180.0, 180.0]);
    let apart = made(&[(wall(30.0, 5.0), 0.0)], hull());
    assert!(matches!(apart, Err(SpaceError::Apart { kept: Some(_), .. })), "{apart:?}");
    let swallowed = made(&[(wall(30.0, 5.0), 60.0)], hull());
    assert!(matches!(swallowed, Err(SpaceError::Nothing)), "{swallowed:?}");
    let two = [(wall(20.0, 2.0), 0.0), (wall(40.0, 2.0), 0.0)];
    let one = Space { kept: &kept[..1], keep_out: &two, within: Within::Box(50.0), cylinders: &[] }
        .surface();
    assert!(matches!(one, Err(SpaceError::Apart { kept: None, .. })), "{one:?}");
    // An envelope around one of them.
    let apart = made(&[], Within::Envelope(&block([-20.0; 3], [40.0; 3])));
    assert!(matches!(apart, Err(SpaceError::Apart { kept: Some(1), .. })), "{apart:?}");

    let (vertices, triangles) = prism(&circle([30.0, 0.0], 2.0, 8), [0.0, 5.0]);
    let open = TriangleSurface::new(vertices, triangles[1..].to_vec());
    let refused = made(&[(open.clone(), 0.0)], hull());
    assert_eq!(refused, Err(SpaceError::NoBody(Member::KeepOut(0))));
    let refused = made(&[], Within::Envelope(&open));
    assert_eq!(refused, Err(SpaceError::NoBody(Member::Envelope)));

    let fine = surface(tube([30.0, 0.0], [2.0, 3.0], [-9.0, 19.0], MOST_FACETS / 8 + 1));
    assert!(made(&[(fine.clone(), 1.0)], Within::Hull(20.0)).is_ok());
    let refused = made(&[(fine, 1e-3)], hull());
    assert!(matches!(refused, Err(SpaceError::TooFine { keep_out: 0, .. })), "{refused:?}");
}

/// Points of a grid, many of them above and below vertices, edges and facets along their way.
#[test]
fn points_in_a_body() {
    let body = angle();
    let steps = |n: usize| (0..=n).map(|i| i as f64 - 0.5 * (i % 2) as f64);
    let points: Vec<[f64; 3]> = steps(21)
        .flat_map(|x| steps(21).flat_map(move |y| steps(11).map(move |z| [x, y, z])))
        .collect();
    let inside = |[x, y, z]: [f64; 3]| {
        let in_section = x > 0.0 && y > 0.0 && (x < 4.0 && y < 20.0 || y < 4.0 && x < 20.0);
        in_section && z > 0.0 && z < 10.0
    };
    let on_face = |x: [f64; 3]| {
        let corners = |t: &[u32; 3]| t.map(|vertex| body.vertices()[vertex as usize]);
        Triangles::new(body.triangles().iter().map(corners)).distance(x) < 1e-9
    };
    let points: Vec<[f64; 3]> = points.into_iter().filter(|x| !on_face(*x)).collect();
    let expected: Vec<bool> = points.iter().map(|x| inside(*x)).collect();
    assert!(expected.iter().filter(|it| **it).count() > 300);
    assert_eq!(body.holds(&points), expected);
}

/// A pin and its bore with other facets: the bore keeps its volume, and no sliver remains.
#[test]
fn common_cylinders_get_the_same_facets() {
    let ring = |n| surface(tube([0.0; 2], [4.0, 8.0], [0.0, 10.0], n));
    let pin = |radius, n| surface(prism(&circle([0.0; 2], radius, n), [-5.0, 15.0]));
    let cylinders =
        [4.0, 8.0].map(|radius| Cylinder { axis: [0.0, 0.0, 1.0], point: [0.0; 3], radius });
    let envelope = ring(50);
    let kept = [ring(50)];
    let expected = 10.0 * PI * (64.0 - 16.0);
    for (pin, clearance) in [(pin(4.0, 31), 0.0), (pin(3.7, 31), 0.3), (pin(4.0, 50), 0.0)] {
        let keep_out = [(pin, clearance)];
        for (kept, within) in [
            (&kept[..], Within::Hull(0.0)),
            (&kept[..], Within::Box(0.0)),
            (&[][..], Within::Envelope(&envelope)),
        ] {
            let is_box = matches!(within, Within::Box(_));
            let space = Space { kept, keep_out: &keep_out, within, cylinders: &cylinders };
            let Ok(space) = space.surface() else {
                assert!(!kept.is_empty() && !is_box, "nothing besides the ring in its hull");
                continue;
            };
            assert_closed(&space);
            let volume = if is_box { 10.0 * (256.0 - PI * 16.0) } else { expected };
            close(space.volume(), volume, 0.01);
            let edges = space.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
            let x = |vertex: u32| space.vertices()[vertex as usize];
            let lengths = edges.map(|[a, b]| length(difference(x(a), x(b))));
            let least = lengths.fold(f64::INFINITY, f64::min);
            assert!(least > 0.2, "{clearance}: an edge of {least}");
        }
    }
}

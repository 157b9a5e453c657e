//! Solids of odd designs and parts: nothing, everything, parts that touch, other units.

use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_mesh::{Sets, hexahedron};
use topopt_testing::mapped_box;

use super::*;

fn ball(radius: f64, middle: [f64; 3]) -> impl Fn([f64; 3]) -> f64 {
    move |x| radius - (0..3).map(|i| (x[i] - middle[i]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn nothing_and_everything_are_solids() {
    for mesh in meshes(6) {
        let part = Part::of_mesh(&mesh).unwrap();
        for (density, volume) in [(0.0, 0.0), (1.0, 1.0), (0.3, 1.0)] {
            let density = vec![density; mesh.n_elements()];
            let uncut = UncutSolid::of(&mesh, &density, &Shaping::default()).unwrap();
            assert!(!uncut.solid.is_cut());
            let surface = uncut.shape(&part).unwrap().surface;
            assert!((surface.volume() - volume).abs() < 1e-9, "{}", surface.volume());
        }
    }
}

#[test]
fn a_threshold_moves_the_surface() {
    let [mesh, _] = meshes(12);
    let part = Part::of_mesh(&mesh).unwrap();
    let density: Vec<f64> = mesh.centers().iter().map(|x| 1.0 - x[0]).collect();
    for threshold in [0.3, 0.6] {
        let shaping = Shaping { threshold: Some(threshold), ..Shaping::default() };
        let uncut = UncutSolid::of(&mesh, &density, &shaping).unwrap();
        assert_eq!(uncut.solid.threshold(), threshold);
        let volume = uncut.shape(&part).unwrap().surface.volume();
        assert!((volume - (1.0 - threshold)).abs() < 0.01, "{volume}");
        assert!((uncut.solid.volume() - volume).abs() < 0.01, "{volume} {}", uncut.solid.volume());
    }
}

#[test]
fn thresholds_and_shares_that_are_none_are_refused() {
    let [mesh, _] = meshes(3);
    let density: Vec<f64> = mesh.centers().iter().map(|x| 1.0 - x[0]).collect();
    let refused = |threshold, decimation| {
        let shaping = Shaping { threshold, decimation, ..Shaping::default() };
        UncutSolid::of(&mesh, &density, &shaping).err().unwrap().to_string()
    };
    for threshold in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let said = refused(Some(threshold), None);
        assert_eq!(
            said,
            format!(
                "the threshold is {threshold}, not a finite number; give a density of the design"
            )
        );
    }
    for share in [f64::NAN, f64::INFINITY, -0.1, 0.0, 1.0] {
        assert!(refused(None, Some(share)).contains("give one above 0 and below 1"));
    }
}

/// The verified solid is the exported one.
#[test]
fn elements_are_filled_as_far_as_the_surface_goes() {
    for mesh in meshes(12) {
        let depth = ball(0.33, [0.5, 0.45, 0.55]);
        let density = crisp(&mesh, &depth);
        let uncut = UncutSolid::of(&mesh, &density, &Shaping::default()).unwrap();
        let shares = uncut.solid.shares();
        let filled: f64 = shares.iter().zip(mesh.volumes()).map(|(share, v)| share * v).sum();
        let design: f64 = density.iter().zip(mesh.volumes()).map(|(share, v)| share * v).sum();
        assert!((filled / design - 1.0).abs() < 1e-6, "{filled} {design}");
        for (share, x) in shares.iter().zip(mesh.centers()) {
            assert!((0.0..=1.0 + 1e-9).contains(share));
            if depth(x).abs() > 2.0 * uncut.solid.width() {
                assert_eq!(share.round(), if depth(x) > 0.0 { 1.0 } else { 0.0 });
            }
        }
    }
}

#[test]
fn pieces_cavities_and_handles_are_counted() {
    let [mesh, _] = meshes(24);
    let part = Part::of_mesh(&mesh).unwrap();
    let (outer, inner) = (ball(0.27, [0.3, 0.5, 0.5]), ball(0.14, [0.3, 0.5, 0.5]));
    let other = ball(0.14, [0.82, 0.5, 0.5]);
    let depth = |x| outer(x).min(-inner(x)).max(other(x));
    let shape = shaped(&mesh, &shares(&mesh, depth), &part);
    let found = shape.surface.topology();
    assert_eq!((found.pieces, found.cavities, found.genus), (2, 1, 0));
    let volume = |radius: f64| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let [pieces, cavities] = shape.surface.parts();
    // A ball of seven elements loses 4 % of its width.
    let expected = [volume(0.27) - volume(0.14), volume(0.14)];
    for (found, expected) in pieces.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.15, "{pieces:?} {expected}");
    }
    // Between walls of three elements it becomes narrower by a tenth.
    assert!((cavities[0] / volume(0.14) - 1.0).abs() < 0.3, "{cavities:?}");
    let largest = shape.surface.largest_piece();
    assert!((largest.volume() - pieces[0]).abs() < 1e-9);
    assert_eq!(largest.topology().cavities, 1);

    let ring = |x: [f64; 3]| 0.12 - ((x[0] - 0.5).hypot(x[1] - 0.5) - 0.3).hypot(x[2] - 0.5);
    let found = shaped(&mesh, &shares(&mesh, ring), &part).surface.topology();
    assert_eq!((found.pieces, found.cavities, found.genus), (1, 0, 1));
}

/// Two bars of elements that have an edge in common.
#[test]
fn parts_that_touch_in_an_edge_are_cut() {
    let mesh = mapped_box([4, 2, 2], |x| [2.0 * x[0], x[1], x[2]]);
    let kept: Vec<[u32; 8]> = mesh
        .hexes()
        .iter()
        .zip(mesh.centers())
        .filter(|(_, x)| (x[1] < 0.5) == (x[2] < 0.5))
        .map(|(hex, _)| *hex)
        .collect();
    let mut used: Vec<u32> = kept.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let x = used.iter().map(|&node| mesh.coordinates()[node as usize]).collect();
    let number = |node: u32| used.partition_point(|&other| other < node) as u32;
    let kept = kept.iter().map(|hex| hex.map(number)).collect();
    let mesh = HexMesh::new(x, kept, Sets::default()).unwrap();
    let part = Part::of_mesh(&mesh).unwrap();
    let density: Vec<f64> =
        mesh.centers().iter().map(|x| if x[0] < 1.0 { 1.0 } else { 0.0 }).collect();
    let shape = shaped(&mesh, &density, &part);
    assert!((shape.surface.volume() - 0.5).abs() < 1e-3, "{}", shape.surface.volume());
}

/// An open surface bounds no part.
#[test]
fn open_surfaces_are_no_parts() {
    let corners = hexahedron::NODES.map(|n| n.map(|xi| 0.5 * (xi + 1.0)));
    let mesh = HexMesh::new(corners.to_vec(), vec![[0, 1, 2, 3, 4, 5, 6, 7]], Sets::default());
    let whole = Part::of_mesh(&mesh.unwrap()).unwrap();
    let (x, triangles) = (whole.surface().vertices(), whole.surface().triangles());
    assert!(Part::within(TriangleSurface::new(x.to_vec(), triangles.to_vec())).is_some());
    assert!(Part::within(TriangleSurface::new(x.to_vec(), triangles[1..].to_vec())).is_none());
    let turned = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!(Part::within(TriangleSurface::new(x.to_vec(), turned)).is_none());
}

/// Sizes near the ends of floating-point numbers, and far away from the origin.
#[test]
fn the_unit_of_lengths_does_not_matter() {
    let [mesh, _] = meshes(8);
    let density = crisp(&mesh, ball(0.33, [0.5, 0.45, 0.55]));
    let of = |scale: f64, shift: f64| {
        let x = mesh.coordinates().iter().map(|x| x.map(|x| scale * x + shift)).collect();
        let moved = HexMesh::new(x, mesh.hexes().to_vec(), Sets::default()).unwrap();
        let part = Part::of_mesh(&moved).unwrap();
        shaped(&moved, &density, &part).surface.volume() / scale.powi(3)
    };
    let volume = of(1.0, 0.0);
    for (scale, shift) in [(1e30, 0.0), (1e-30, 0.0), (1.0, 1e4)] {
        assert!((of(scale, shift) / volume - 1.0).abs() < 1e-4, "{scale} {shift}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let [mesh, _] = meshes(12);
    let part = Part::of_mesh(&mesh).unwrap();
    let density = crisp(&mesh, ball(0.33, [0.5, 0.45, 0.55]));
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| shaped(&mesh, &density, &part).surface)
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn decimation_keeps_volume_and_topology() {
    let [mesh, _] = meshes(12);
    let part = Part::of_mesh(&mesh).unwrap();
    let density = shares(&mesh, ball(0.33, [0.5, 0.45, 0.55]));
    let of = |decimation| {
        let shaping = Shaping { decimation, ..Shaping::default() };
        UncutSolid::of(&mesh, &density, &shaping).unwrap().shape(&part).unwrap().surface
    };
    let [whole, few] = [None, Some(0.3)].map(of);
    assert_closed(&few);
    let left = few.triangles().len() as f64 / whole.triangles().len() as f64;
    assert!(left < 0.5, "{left}");
    assert!((few.volume() / whole.volume() - 1.0).abs() < 1e-3);
    assert_eq!(few.topology(), whole.topology());
}

/// A wall whose faces have waves, out of its mold to one side and to two, along an axis and not.
#[test]
fn a_drawn_solid_has_no_undercut() {
    for mesh in meshes(16) {
        let part = Part::of_mesh(&mesh).unwrap();
        for direction in [[0.0, 0.0, 1.0], [0.28, 0.0, 0.96]] {
            let height = |x: [f64; 3]| 12.0 * dot(x, direction);
            let across = |x: [f64; 3]| (x[0] - 0.4) * direction[2] - x[2] * direction[0];
            let density = shares(&mesh, |x| 0.2 + 0.04 * height(x).sin() - across(x).abs());
            let volume: f64 = density.iter().zip(mesh.volumes()).map(|(d, v)| d * v).sum();
            let of = |draw: Option<&Draw>| {
                let form = Form { draw, ..Form::default() };
                let uncut = UncutSolid::formed(&mesh, &density, form, &Shaping::default()).unwrap();
                let surface = uncut.shape(&part).unwrap().surface;
                assert!((surface.volume() / volume - 1.0).abs() < 1e-3);
                turned_away(&surface, direction)
            };
            let free = of(None);
            let ways = [direction, direction.map(|x| -x)];
            let [one, two] = [1, 2].map(|n| {
                let draw = Draw { ways: ways[..n].to_vec(), parting: None, draft: 0.0 };
                of(Some(&draw))
            });
            assert!(free > 0.15 && one.max(two) < 0.005, "{direction:?}: {free} {one} {two}");
        }
    }
}

/// Share of the surface off the part that looks against the draw by more than ten degrees.
fn turned_away(surface: &TriangleSurface, direction: [f64; 3]) -> f64 {
    let (mut away, mut all) = (0.0, 0.0);
    for triangle in surface.triangles() {
        let [a, b, c] = triangle.map(|vertex| surface.vertices()[vertex as usize]);
        let area = cross(difference(b, a), difference(c, a));
        if triangle.iter().all(|&vertex| surface.on_boundary()[vertex as usize]) {
            continue;
        }
        all += length(area);
        if dot(area, direction) < -0.17 * length(area) {
            away += length(area);
        }
    }
    away / all
}

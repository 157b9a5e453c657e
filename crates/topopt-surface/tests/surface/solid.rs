//! The solid of a design: smoothed within bounds, without crumbs, and never crossing itself.

use topopt_surface::{Shaping, Solid};

use super::*;

fn solid<'a>(mesh: &'a HexMesh, density: &[f64], smoothing: f64) -> Solid<'a> {
    let shaping = Shaping { smoothing, ..Shaping::default() };
    Solid::of(mesh, density, &shaping).unwrap()
}

/// 1 where `value` is positive at the center of an element, else 0.001.
fn crisp(mesh: &HexMesh, value: impl Fn(&[f64; 3]) -> f64) -> Vec<f64> {
    mesh.centers().iter().map(|x| if value(x) > 0.0 { 1.0 } else { 0.001 }).collect()
}

fn volume_of(mesh: &HexMesh, density: &[f64]) -> f64 {
    density.iter().zip(mesh.volumes()).map(|(density, volume)| density * volume).sum()
}

/// How far `x` is from the nearest vertex of the surface.
fn distance(surface: &TriangleSurface, x: &[f64; 3]) -> f64 {
    let square = |v: &[f64; 3]| (0..3).map(|i| (v[i] - x[i]).powi(2)).sum::<f64>();
    surface.vertices().iter().map(square).fold(f64::INFINITY, f64::min).sqrt()
}

/// On cubes of elements in random order and distorted, the surface of a ball of whole elements
/// shows none of them.
#[test]
fn smoothing_rounds_a_ball_of_elements() {
    let mesh = distorted(16);
    let density = crisp(&mesh, ball(0.35, 0.0));
    // The isoperimetric quotient is 1 for a ball.
    let excess = |surface: &TriangleSurface| {
        let area: f64 = surface.triangles().iter().map(|t| area(surface, t)).sum();
        area.powi(3) / (36.0 * std::f64::consts::PI * surface.volume().powi(2)) - 1.0
    };
    let rough = iso_surface(&mesh, &rough(&mesh, &density), 0.5);
    let [reconstructed, smoothed] = [0.0, 0.1].map(|smoothing| {
        let solid = solid(&mesh, &density, smoothing);
        let surface = solid.surface();
        assert!((surface.volume() / volume_of(&mesh, &density) - 1.0).abs() < 1e-5);
        assert!((surface.volume() / solid.volume() - 1.0).abs() < 1e-9);
        excess(&surface)
    });
    assert!(reconstructed < 0.25 * excess(&rough), "{reconstructed} {}", excess(&rough));
    assert!(smoothed < 0.6 * reconstructed, "{smoothed} {reconstructed}");
}

/// Waves on a wall: those of a length below the smoothing go, and none moves by more.
#[test]
fn the_surface_moves_no_further_than_it_may() {
    let mesh = distorted(16);
    let wavy = |x: &[f64; 3]| 1.0 + 0.06 * (25.0 * x[1]).sin() * (25.0 * x[2]).cos() - x[0];
    let density = crisp(&mesh, wavy);
    let before = solid(&mesh, &density, 0.0).surface();
    let spread = |surface: &TriangleSurface| {
        let free = surface.vertices().iter().zip(surface.on_boundary()).filter(|(_, on)| !**on);
        let x: Vec<f64> = free.map(|(x, _)| x[0]).collect();
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
    };
    for (smoothing, share) in [(0.05, 0.9), (0.15, 0.5)] {
        let after = solid(&mesh, &density, smoothing).surface();
        assert!(spread(&after) < share * spread(&before), "{smoothing}: {}", spread(&after));
        // Vertices lie up to half an edge apart on the surface that they are measured from.
        let furthest = after.vertices().iter().map(|x| distance(&before, x)).fold(0.0, f64::max);
        assert!(furthest < smoothing + 0.04, "{smoothing}: {furthest}");
    }
}

/// A wall across the part keeps its rim on the part's own faces, and stays where it is pinned.
#[test]
fn it_slides_on_the_boundary_and_stays_where_it_is_pinned() {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(6750)).unwrap();
    let bounds = mesh.bounding_box();
    let width = mesh.element_width();
    let steps = |x: &[f64; 3]| 12.0 + 1.5 * f64::from(x[1] > 7.0) - x[0];
    let density = crisp(&mesh, steps);
    let below = |x: &[f64; 3]| x[2] < 3.0;
    let pinned = (0..mesh.n_nodes() as u32).filter(|&n| below(&mesh.coordinates()[n as usize]));

    let free = solid(&mesh, &density, 2.0 * width).surface();
    let shaping = Shaping { smoothing: 2.0 * width, pinned: pinned.collect(), threshold: None };
    let held = Solid::of(&mesh, &density, &shaping).unwrap().surface();
    let before = solid(&mesh, &density, 0.0).surface();
    let moved = |surface: &TriangleSurface, is_meant: &dyn Fn(&[f64; 3]) -> bool| {
        let inner = |x: &&[f64; 3]| is_meant(x) && (x[0] - 12.0).abs() < 3.0 * width;
        let distances = surface.vertices().iter().filter(inner).map(|x| distance(&before, x));
        distances.fold(0.0, f64::max)
    };
    let above = |x: &[f64; 3]| x[2] > 6.0;
    assert!(moved(&held, &|x| x[2] < 2.5) < 0.5 * width, "{}", moved(&held, &|x| x[2] < 2.5));
    for surface in [&free, &held] {
        assert!(moved(surface, &above) > 0.4 * width, "{}", moved(surface, &above));
    }

    for surface in [&free, &held] {
        let on_side = |x: &[f64; 3]| (0..3).any(|i| x[i] == bounds.min[i] || x[i] == bounds.max[i]);
        let vertices = surface.vertices().iter().zip(surface.on_boundary());
        assert!(vertices.clone().all(|(x, on)| *on == on_side(x)));
        assert_closed(surface);
    }
}

/// Rows of single elements at a loaded face are too thin for the field, and carry the load all the
/// same.
#[test]
fn rows_of_elements_at_pinned_nodes_stay() {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(6750)).unwrap();
    let is_single = |x: &[f64; 3]| x[0] < 1.0 && x[1] as usize % 4 == 2;
    let centers = mesh.centers();
    let density: Vec<f64> =
        centers.iter().map(|x| if is_single(x) || x[0] > 15.0 { 1.0 } else { 1e-3 }).collect();
    let at_face = |&node: &u32| mesh.coordinates()[node as usize][0] == 0.0;
    let pinned: Vec<u32> = (0..mesh.n_nodes() as u32).filter(at_face).collect();

    let least_share = |pinned: &[u32], smoothing: f64| {
        let shaping = Shaping { smoothing, pinned: pinned.into(), threshold: None };
        let solid = Solid::of(&mesh, &density, &shaping).unwrap();
        assert!((solid.volume() / volume_of(&mesh, &density) - 1.0).abs() < 1e-3);
        let single = solid.shares().into_iter().zip(&centers).filter(|(_, x)| is_single(x));
        single.map(|(share, _)| share).fold(1.0, f64::min)
    };
    assert!(least_share(&[], 0.0) < 0.25, "{}", least_share(&[], 0.0));
    for smoothing in [0.0, 1.0] {
        let least = least_share(&pinned, smoothing);
        assert!(least > 0.27, "{smoothing}: {least}");
    }
}

#[test]
fn random_designs_never_cross_themselves() {
    for seed in 0..4 {
        let mesh = distorted(8);
        let density: Vec<f64> = random(mesh.n_elements(), seed).iter().map(|x| x.round()).collect();
        for smoothing in [0.0, 0.05, 0.3] {
            let solid = solid(&mesh, &density, smoothing);
            let mut surface = solid.surface();
            assert!((surface.volume() / volume_of(&mesh, &density) - 1.0).abs() < 1e-3);
            assert_closed(&surface);
            assert_eq!(surface.crossings(), [[0; 2]; 0]);
            let (rounded, _) = surface.in_single_precision();
            assert_eq!(rounded.crossings(), [[0; 2]; 0]);
            surface.decimate(0.3).unwrap();
            assert_eq!(surface.crossings(), [[0; 2]; 0]);
        }
    }
}

/// A block with a crumb beside it and two holes in it: what is smaller than an element goes.
#[test]
fn what_is_smaller_than_an_element_is_dropped() {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(6750)).unwrap();
    let near = |c: [f64; 3], r: f64| {
        move |x: &[f64; 3]| r - (0..3).map(|i| (x[i] - c[i]).powi(2)).sum::<f64>().sqrt()
    };
    let block = |x: &[f64; 3]| 20.0 - x[0];
    let (crumb, pore, bubble) =
        (near([25.0, 7.5, 7.5], 0.9), near([6.0, 7.5, 7.5], 0.9), near([14.0, 7.5, 7.5], 3.0));
    let density = crisp(&mesh, |x| block(x).min(-pore(x)).min(-bubble(x)).max(crumb(x)));
    let solid = solid(&mesh, &density, 0.0);
    let [pieces, cavities] = solid.parts();
    assert_eq!((pieces.len(), cavities.len()), (1, 1), "{pieces:?} {cavities:?}");
    assert!((pieces[0] / volume_of(&mesh, &density) - 1.0).abs() < 1e-3);
    assert!((60.0..140.0).contains(&cavities[0]), "{cavities:?}");
    assert_eq!(solid.surface().piece_volumes().len(), 1);
}

#[test]
fn shares_of_elements_add_up_to_the_volume() {
    let mesh = distorted(8);
    let density = random(mesh.n_elements(), 2);
    for smoothing in [0.0, 0.1] {
        let solid = solid(&mesh, &density, smoothing);
        let shares = solid.shares();
        assert!(shares.iter().all(|share| (0.0..=1.0 + 1e-12).contains(share)));
        // The tetrahedra of an element whose faces are not plane are not quite its volume.
        assert!((volume_of(&mesh, &shares) / solid.volume() - 1.0).abs() < 1e-2);
    }
}

#[test]
fn a_design_without_a_surface_is_whole_or_nothing() {
    let mesh = cubes();
    for (density, threshold) in [(0.4, None), (0.7, None), (0.4, Some(0.3)), (0.4, Some(0.5))] {
        let shaping = Shaping { threshold, smoothing: 0.5, pinned: Vec::new() };
        let solid = Solid::of(&mesh, &[density; 27], &shaping).unwrap();
        assert!(!solid.is_cut());
    }
    let error = Solid::of(&mesh, &[f64::NAN; 27], &Shaping::default()).unwrap_err().to_string();
    assert!(error.contains("not a finite number"), "{error}");
}

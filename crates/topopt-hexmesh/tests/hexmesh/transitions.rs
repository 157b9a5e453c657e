//! Smaller elements in a spot: divided in three, with transitions that conform.

use topopt_hexmesh::{Finer, Meshed, Refinement, Sizes, Surface, count, mesh};
use topopt_mesh::hexahedron::volume;

use crate::{checked, shapes};

fn spot(center: [f64; 3], half: f64, size: f64) -> Finer {
    Finer { low: center.map(|x| x - half), high: center.map(|x| x + half), size }
}

fn refined(surface: &Surface, usual: f64, finer: &[Finer]) -> Meshed {
    let sizes = Sizes { usual, across: 1, finer: finer.to_vec() };
    let counted = count(surface, sizes.clone(), 1e9).unwrap();
    let meshed = mesh(surface, sizes, 1e9).unwrap();
    checked(&meshed);
    let Refinement { levels, by_planes, by_transitions } = meshed.report.refinement.unwrap();
    assert!(levels > 0 && 3 * by_transitions < 2 * by_planes, "{:?}", meshed.report);
    assert_eq!(counted, by_transitions);
    assert!(meshed.report.least > 0.4, "{:?}", meshed.report);
    check_sizes(&meshed, usual, finer);
    meshed
}

/// Cube roots of the volumes of elements that lie in a box whole are no larger on average than its
/// size, up to the rounding to whole planes; those at its border, beside transitions, may be by a
/// fifth. Elsewhere elements are usual.
fn check_sizes(meshed: &Meshed, usual: f64, finer: &[Finer]) {
    let corners = |hex: &[u32; 8]| hex.map(|v| meshed.points[v as usize]);
    let edges: Vec<f64> = meshed.hexes.iter().map(|hex| volume(&corners(hex)).cbrt()).collect();
    for own in finer {
        let is_within = |x: &[f64; 3]| (0..3).all(|k| own.low[k] < x[k] && x[k] < own.high[k]);
        let in_box = |hex: &[u32; 8]| corners(hex).iter().all(is_within);
        let hexes = meshed.hexes.iter().zip(&edges).filter(|(hex, _)| in_box(hex));
        let within: Vec<f64> = hexes.map(|(_, edge)| edge / own.size).collect();
        let mean = within.iter().sum::<f64>() / within.len() as f64;
        let most = within.iter().copied().fold(0.0, f64::max);
        assert!(within.len() > 8 && mean < 1.1 && most < 1.25, "{mean} {most}");
    }
    assert!(edges.iter().filter(|edge| **edge > 0.9 * usual).count() > 8);
}

#[test]
fn a_spot_in_a_block_conforms_also_turned() {
    let (points, triangles, faces) = shapes::brick([12.0, 10.0, 8.0]);
    let center = [3.2, 4.1, 5.0];
    let straight = Surface::new(points.clone(), triangles.clone(), faces.clone()).unwrap();
    let meshed = refined(&straight, 1.0, &[spot(center, 0.8, 0.25)]);
    assert!(meshed.report.volume_error().abs() < 1e-12);
    // The spot lies on one side of two mirror planes; its images in all three would be many.
    assert!(meshed.report.mirrors.len() < 3 && !meshed.report.failed.is_empty());

    let turned = Surface::new(shapes::turned(points), triangles, faces).unwrap();
    let center = shapes::turned(vec![center])[0];
    let meshed = refined(&turned, 1.0, &[spot(center, 0.8, 0.25)]);
    assert!(meshed.report.volume_error().abs() < 1e-12);
}

#[test]
fn a_spot_in_the_middle_mirrors_itself_as_the_part() {
    let (points, triangles, faces) = shapes::brick([10.0; 3]);
    let surface = Surface::new(points, triangles, faces).unwrap();
    let meshed = refined(&surface, 1.0, &[spot([5.0; 3], 1.2, 0.25)]);
    assert_eq!(meshed.report.mirrors.len(), 3);
}

#[test]
fn spots_of_two_sizes_overlap() {
    let (points, triangles, faces) = shapes::brick([12.0, 10.0, 8.0]);
    let surface = Surface::new(points, triangles, faces).unwrap();
    let finer = [spot([3.0, 4.0, 5.0], 1.5, 0.34), spot([4.0, 4.0, 4.0], 0.4, 0.112)];
    let meshed = refined(&surface, 1.0, &finer);
    assert_eq!(meshed.report.refinement.map(|own| own.levels), Some(2));
}

#[test]
fn spots_at_faces_and_edges_lie_on_them() {
    let angle = refined(&shapes::angle(), 1.0, &[spot([3.0, 3.0, 0.0], 0.6, 0.25)]);
    assert!(angle.report.volume_error().abs() < 1e-12);
    let wall = refined(&shapes::cylinder(), 0.2, &[spot([1.0, 0.0, 1.0], 0.15, 0.06)]);
    assert!(wall.report.volume_error().abs() < 2e-3, "{:?}", wall.report);
    let rim = refined(&shapes::cylinder(), 0.2, &[spot([1.0, 0.0, 2.0], 0.15, 0.06)]);
    assert!(rim.report.volume_error().abs() < 2e-3, "{:?}", rim.report);
}

#[test]
fn faces_between_bodies_conform_in_a_spot() {
    let body = |[x, ..]: [usize; 3]| Some(u32::from(x > 3));
    let (points, triangles, numbers, sides) = shapes::cubes([8, 6, 5], body);
    let surface = Surface::of_bodies(points, triangles, numbers, &sides).unwrap();
    let meshed = refined(&surface, 1.0, &[spot([4.0, 2.2, 1.7], 0.7, 0.25)]);
    crate::bodies::check_conforming(&meshed);
    let volumes = crate::bodies::volumes(&meshed, 2);
    assert!(volumes.iter().all(|volume| (volume - 120.0).abs() < 1e-9), "{volumes:?}");
}

/// Planes of the grid cost nothing more where smaller elements reach through the part.
#[test]
fn planes_of_the_grid_remain_where_they_take_no_more() {
    let (points, triangles, faces) = shapes::brick([12.0, 3.0, 2.0]);
    let surface = Surface::new(points, triangles, faces).unwrap();
    let finer = vec![Finer { low: [0.0; 3], high: [1.0, 3.0, 2.0], size: 0.25 }];
    let meshed = mesh(&surface, Sizes { usual: 0.5, across: 1, finer }, 1e9).unwrap();
    assert_eq!(meshed.report.refinement.map(|own| own.levels), Some(0));
    assert!(meshed.report.least > 1.0 - 1e-9);
    assert_eq!(mesh(&surface, 0.5, 1e9).unwrap().report.refinement, None);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| refined(&shapes::cylinder(), 0.2, &[spot([1.0, 0.0, 1.0], 0.15, 0.06)]))
    };
    assert_eq!(with(1), with(3));
}

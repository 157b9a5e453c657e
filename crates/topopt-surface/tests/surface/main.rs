//! Surfaces of known bodies and of random fields: closed, oriented, of the right volume and genus.

mod crossings;
mod decimation;
mod solid;

use std::collections::HashSet;

use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::{HexMesh, Renumbering, Sets, hexahedron, nodal_means, surface};
use topopt_surface::{Field, TriangleSurface, clipped_volume, iso_surface, threshold_of_volume};
use topopt_testing::Noise;

/// Every directed edge once and its reverse once, no triangle without area, every vertex used, and
/// no three vertices with two triangles, so that every closed piece has at least four.
fn assert_closed(surface: &TriangleSurface) {
    let mut edges = HashSet::new();
    let mut corners = HashSet::new();
    let mut used = vec![false; surface.vertices().len()];
    for triangle in surface.triangles() {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        assert!(corners.insert(sorted), "two triangles of the same vertices");
        for i in 0..3 {
            assert!(edges.insert((triangle[i], triangle[(i + 1) % 3])), "an edge twice");
            used[triangle[i] as usize] = true;
        }
        assert!(area(surface, triangle) > 0.0, "{triangle:?}");
    }
    assert!(edges.iter().all(|&(a, b)| edges.contains(&(b, a))), "an open edge");
    assert!(used.iter().all(|&used| used));
}

fn area(surface: &TriangleSurface, triangle: &[u32; 3]) -> f64 {
    let [a, b, c] = triangle.map(|vertex| surface.vertices()[vertex as usize]);
    let vector = surface::area_vector(&[a, b, c, c]);
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Vertices - edges + faces: 2 for every sphere, 2 - 2 g for a surface with g handles.
fn euler_characteristic(surface: &TriangleSurface) -> i64 {
    surface.vertices().len() as i64 - surface.triangles().len() as i64 / 2
}

fn cube() -> HexMesh {
    let corners = hexahedron::NODES.map(|n| n.map(|xi| 0.5 * (xi + 1.0)));
    HexMesh::new(corners.to_vec(), vec![[0, 1, 2, 3, 4, 5, 6, 7]], Sets::default()).unwrap()
}

/// The box [0, 2] x [-0.5, 0.5]^2 in elements of about 1/`n`, bent, in random order.
fn distorted(n: usize) -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2 * n * n * n)).unwrap();
    let bounds = mesh.bounding_box();
    let place = |x: &[f64; 3]| {
        let [x, y, z]: [f64; 3] = std::array::from_fn(|i| {
            (x[i] - bounds.min[i]) / bounds.extent()[i] * [2.0, 1.0, 1.0][i] - [0.0, 0.5, 0.5][i]
        });
        [x + 0.04 * (5.0 * y).sin(), y + 0.03 * (4.0 * x * z).sin(), z + 0.03 * (3.0 * x).cos()]
    };
    let coordinates = mesh.coordinates().iter().map(place).collect();
    let mesh = HexMesh::new(coordinates, mesh.hexes().to_vec(), Sets::default()).unwrap();
    Renumbering::shuffled(&mesh, 3).apply(&mesh)
}

fn level_set(mesh: &HexMesh, value: impl Fn(&[f64; 3]) -> f64) -> Field {
    let nodes = mesh.coordinates().iter().map(&value).collect();
    Field::new(mesh, nodes, mesh.centers().iter().map(&value).collect()).unwrap()
}

/// Densities as they are at the centers, and means at the nodes: rougher than any design.
fn rough(mesh: &HexMesh, density: &[f64]) -> Field {
    Field::new(mesh, nodal_means(mesh, density), density.to_vec()).unwrap()
}

/// Radius less distance from (1 + `shift`, 0, 0).
fn ball(radius: f64, shift: f64) -> impl Fn(&[f64; 3]) -> f64 {
    move |x| radius - ((x[0] - 1.0 - shift).powi(2) + x[1] * x[1] + x[2] * x[2]).sqrt()
}

/// A tube of radius 0.12 around a circle of radius 0.3.
fn torus(x: &[f64; 3]) -> f64 {
    0.12 - ((((x[0] - 1.0).powi(2) + x[1] * x[1]).sqrt() - 0.3).powi(2) + x[2] * x[2]).sqrt()
}

/// Densities in [0, 1) without order.
fn random(count: usize, seed: u64) -> Vec<f64> {
    Noise(seed).vector(count).iter().map(|v| 0.5 * (v + 1.0)).collect()
}

#[test]
fn a_cube_is_cut_as_by_a_plane() {
    let mesh = cube();
    for t in [0.05, 0.3, 0.45, 0.77] {
        for axis in 0..3 {
            let field = level_set(&mesh, |x| x[axis]);
            let cut = iso_surface(&mesh, &field, t);
            assert_closed(&cut);
            assert!((cut.volume() - (1.0 - t)).abs() < 1e-14, "{t} {axis} {}", cut.volume());
            assert!((clipped_volume(&mesh, &field, t) - (1.0 - t)).abs() < 1e-14);
            assert!((0..cut.vertices().len()).all(|v| cut.vertices()[v][axis] >= t - 1e-15));
        }
        let field = level_set(&mesh, |x| x[0] + x[1] + x[2]);
        let expected = 1.0 - t.powi(3) / 6.0;
        assert!((iso_surface(&mesh, &field, t).volume() - expected).abs() < 1e-14);
        assert!((clipped_volume(&mesh, &field, t) - expected).abs() < 1e-14);
    }
}

#[test]
fn random_fields_give_closed_surfaces_of_the_clipped_volume() {
    for seed in 0..6 {
        let mesh = distorted(5);
        let mut density = random(mesh.n_elements(), seed);
        if seed % 2 == 1 {
            density.iter_mut().for_each(|d| *d = d.round()); // many equal values at the threshold
        }
        let field = rough(&mesh, &density);
        for t in [0.3, 0.5, 0.6] {
            let surface = iso_surface(&mesh, &field, t);
            assert_closed(&surface);
            let volume = clipped_volume(&mesh, &field, t);
            assert!(volume > 0.1 && (surface.volume() / volume - 1.0).abs() < 1e-12);
            let sum: f64 = surface.piece_volumes().iter().sum();
            assert!((sum / volume - 1.0).abs() < 1e-12);
            assert!(surface.piece_volumes().iter().all(|&volume| volume > 0.0));
        }
    }
}

#[test]
fn the_whole_mesh_has_its_own_boundary() {
    for (benchmark, handles) in [(Benchmark::Cantilever, 0), (Benchmark::ConnectingRod, 2)] {
        let mesh = benchmark.generate(Resolution::Elements(1500)).unwrap();
        let field = rough(&mesh, &vec![0.3; mesh.n_elements()]);
        let whole = iso_surface(&mesh, &field, 0.2);
        assert_closed(&whole);
        assert_eq!(whole.triangles().len(), 2 * surface::boundary_faces(&mesh).len());
        assert_eq!(euler_characteristic(&whole), 2 - 2 * handles);
        assert!(whole.on_boundary().iter().all(|&on| on));
        let volume: f64 = mesh.volumes().iter().sum();
        assert!((whole.volume() / volume - 1.0).abs() < 1e-10);
        assert_eq!(iso_surface(&mesh, &field, 0.4), TriangleSurface::default());
    }
}

#[test]
fn known_bodies_have_their_genus_and_pieces() {
    let mesh = distorted(12);
    let two = |x: &[f64; 3]| ball(0.3, -0.5)(x).max(ball(0.2, 0.5)(x));
    let hollow = |x: &[f64; 3]| ball(0.4, 0.0)(x).min(-ball(0.2, 0.0)(x));
    type Body<'a> = &'a dyn Fn(&[f64; 3]) -> f64;
    let bodies: [(Body, i64, usize); 4] =
        [(&ball(0.4, 0.0), 2, 1), (&torus, 0, 1), (&two, 4, 2), (&hollow, 4, 1)];
    for (body, characteristic, pieces) in bodies {
        let surface = iso_surface(&mesh, &level_set(&mesh, body), 0.0);
        assert_closed(&surface);
        assert!(surface.on_boundary().iter().all(|&on| !on));
        assert_eq!(euler_characteristic(&surface), characteristic);
        assert_eq!(surface.piece_volumes().len(), pieces);
    }
    let both = iso_surface(&mesh, &level_set(&mesh, two), 0.0);
    let larger = both.largest_piece();
    assert_closed(&larger);
    let alone = iso_surface(&mesh, &level_set(&mesh, ball(0.3, -0.5)), 0.0);
    assert_eq!((larger.triangles(), larger.vertices()), (alone.triangles(), alone.vertices()));
    assert!(
        (larger.volume() / both.piece_volumes()[0].max(both.piece_volumes()[1]) - 1.0).abs()
            < 1e-12
    );
}

#[test]
fn the_volume_of_a_ball_converges_with_second_order() {
    let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.4_f64.powi(3);
    let error = |n: usize| {
        let mesh = distorted(n);
        (iso_surface(&mesh, &level_set(&mesh, ball(0.4, 0.0)), 0.0).volume() / exact - 1.0).abs()
    };
    let [coarse, fine, finest] = [6, 12, 24].map(error);
    assert!(finest < 0.01, "{finest}");
    for rate in [(coarse / fine).log2(), (fine / finest).log2()] {
        assert!((1.7..2.4).contains(&rate), "{coarse} {fine} {finest}");
    }
}

#[test]
fn vertices_on_the_boundary_lie_on_it_exactly() {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
    let bounds = mesh.bounding_box();
    let surface = iso_surface(&mesh, &rough(&mesh, &random(mesh.n_elements(), 9)), 0.5);
    let on_side = |x: &[f64; 3]| (0..3).any(|i| x[i] == bounds.min[i] || x[i] == bounds.max[i]);
    for (x, on) in surface.vertices().iter().zip(surface.on_boundary()) {
        assert_eq!(*on, on_side(x));
    }
}

#[test]
fn single_precision_rounds_coordinates_and_tells_by_how_much() {
    let near = distorted(6);
    for (shift, most) in [(0.0, 2.4e-7), (1e6, 0.0625)] {
        let coordinates = near.coordinates().iter().map(|x| x.map(|x| x + shift)).collect();
        let mesh = HexMesh::new(coordinates, near.hexes().to_vec(), Sets::default()).unwrap();
        let field = rough(&mesh, &random(mesh.n_elements(), 1));
        let surface = iso_surface(&mesh, &field, 0.5);
        let (rounded, largest) = surface.in_single_precision();
        assert_eq!(rounded.triangles(), surface.triangles());
        assert!(largest > 0.2 * most && largest <= 0.5 * most, "{shift}: {largest}");
        let coordinates = rounded.vertices().as_flattened();
        assert!(coordinates.iter().all(|&x| f64::from(x as f32) == x));
    }
}

#[test]
fn a_threshold_keeps_the_volume() {
    let mesh = distorted(8);
    let density = random(mesh.n_elements(), 4);
    let field = rough(&mesh, &density);
    let total = clipped_volume(&mesh, &field, 0.0);
    for share in [0.02, 0.3, 0.5, 0.9] {
        let (threshold, volume) = threshold_of_volume(&mesh, &field, share * total);
        assert!((volume / (share * total) - 1.0).abs() < 1e-6, "{share}: {threshold} {volume}");
        assert_eq!(volume, clipped_volume(&mesh, &field, threshold));
        let reached = iso_surface(&mesh, &field, threshold).volume();
        assert!((reached / volume - 1.0).abs() < 1e-12);
    }
}

/// Solid elements make a plateau; a field of one value has a volume of all or nothing.
#[test]
fn plateaus_give_the_nearest_volume() {
    let mesh = distorted(8);
    let half: Vec<f64> =
        mesh.centers().iter().map(|x| if x[0] < 1.0 { 1.0 } else { 0.01 }).collect();
    let field = rough(&mesh, &half);
    let total: f64 = clipped_volume(&mesh, &field, 0.0);
    let (_, volume) = threshold_of_volume(&mesh, &field, 0.5 * total);
    assert!((volume / (0.5 * total) - 1.0).abs() < 1e-5);
    let flat = rough(&mesh, &vec![0.3; mesh.n_elements()]);
    for (share, expected) in [(0.3, 0.0), (0.7, total)] {
        let (_, volume) = threshold_of_volume(&mesh, &flat, share * total);
        assert!((volume - expected).abs() < 1e-10, "{share} {volume}");
    }
}

/// Values that differ by rounding alone are one, and nothing lies between them. On the cantilever
/// nodal means of equal densities differ so.
#[test]
fn uniform_fields_have_a_threshold_at_once() {
    let cantilever = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    for mesh in [cubes(), cantilever] {
        let total: f64 = mesh.volumes().iter().sum();
        for value in [0.25, 0.3, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 1.0, 1e-9, 1e-300, 1e300] {
            for ulps in [0.0, 1.0, 4.0] {
                let noise = random(mesh.n_elements(), 3);
                let noisy = |x: &f64| value * (1.0 + f64::EPSILON * (ulps * x).round());
                let density: Vec<f64> = noise.iter().map(noisy).collect();
                let field = rough(&mesh, &density);
                let (threshold, volume) =
                    threshold_of_volume(&mesh, &field, value.min(1.0) * total);
                let expected = if value > 0.5 { total } else { 0.0 };
                let told = format!("{value} {ulps}: {threshold} {volume}");
                assert!((volume - expected).abs() < 1e-9 * total, "{told}");
                assert!((threshold / value - 1.0).abs() < 1e-9, "{told}");
                assert_eq!(volume, clipped_volume(&mesh, &field, threshold), "{told}");
            }
        }
    }
}

/// 3 x 3 x 3 unit cubes from the origin.
fn cubes() -> HexMesh {
    let place = |n: u32, number: u32| [number % n, number / n % n, number / (n * n)];
    let coordinates = (0..64).map(|node| place(4, node).map(f64::from)).collect();
    let hex = |element: u32| {
        let low = place(3, element);
        hexahedron::NODES.map(|corner| {
            let [i, j, k]: [u32; 3] = std::array::from_fn(|c| low[c] + u32::from(corner[c] > 0.0));
            i + 4 * (j + 4 * k)
        })
    };
    HexMesh::new(coordinates, (0..27).map(hex).collect(), Sets::default()).unwrap()
}

#[test]
fn values_that_make_no_field_are_refused() {
    let mesh = cube();
    let message = |density: &[f64]| Field::of_elements(&mesh, density).unwrap_err().to_string();
    assert!(message(&[]).starts_with("0 values for 1 nodes or elements"));
    assert!(message(&[f64::NAN]).contains("value 0 is NaN, not a finite number"));
}

/// A prism over a hexagon, of wedges around its axis in two layers.
fn wedges() -> HexMesh {
    let angle = |k: u32| std::f64::consts::FRAC_PI_3 * f64::from(k % 6);
    let layer = |z: f64| {
        let corner = move |k: u32| [angle(k).cos() + 1.0, angle(k).sin(), z];
        std::iter::once([1.0, 0.0, z]).chain((0..6).map(corner))
    };
    let coordinates = [-0.5, 0.0, 0.5].into_iter().flat_map(layer).collect();
    let hex = |k: u32| {
        let (first, sector) = (7 * (k / 6), k % 6);
        let [p, q, r] = [1 + sector, 1 + (sector + 1) % 6, 0].map(|node| first + node);
        hexahedron::of_wedge([p, q, r, p + 7, q + 7, r + 7])
    };
    HexMesh::new(coordinates, (0..12).map(hex).collect(), Sets::default()).unwrap()
}

#[test]
fn wedges_are_cut_like_hexahedra() {
    let mesh = Renumbering::shuffled(&wedges(), 2).apply(&wedges());
    let whole = 1.5 * 3.0_f64.sqrt();
    for t in [-0.3, 0.1, 0.4] {
        let cut = iso_surface(&mesh, &level_set(&mesh, |x| x[2]), t);
        assert_closed(&cut);
        assert!((cut.volume() / (whole * (0.5 - t)) - 1.0).abs() < 1e-14, "{}", cut.volume());
    }
    let field = level_set(&mesh, |x| x[0] + x[1] - 0.5 * x[2]);
    let all = iso_surface(&mesh, &field, -9.0);
    assert_closed(&all);
    assert!((all.volume() / whole - 1.0).abs() < 1e-14 && euler_characteristic(&all) == 2);
    for seed in 0..20 {
        let density = random(mesh.n_elements(), seed);
        let field = rough(&mesh, &density);
        let (threshold, volume) = threshold_of_volume(&mesh, &field, 0.4 * whole);
        let cut = iso_surface(&mesh, &field, threshold);
        assert_closed(&cut);
        assert!((cut.volume() / volume - 1.0).abs() < 1e-12);
    }
}

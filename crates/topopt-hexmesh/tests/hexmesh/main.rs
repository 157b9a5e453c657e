//! Meshes of simple bodies, and of the test parts where Gmsh is there.

mod bodies;
mod parts;
mod shapes;
mod transitions;

use topopt_hexmesh::{Finer, HexmeshError, Meshed, Sizes, Surface, mesh};
use topopt_mesh::{HexMesh, Sets};

/// Checks by the program's own mesh, independently of the mesher's.
fn checked(meshed: &Meshed) -> HexMesh {
    HexMesh::new(meshed.points.clone(), meshed.hexes.clone(), Sets::default()).unwrap()
}

#[test]
fn a_box_comes_back_as_a_grid_also_turned() {
    let (points, triangles, faces) = shapes::brick([4.0, 3.0, 2.0]);
    for points in [points.clone(), shapes::turned(points)] {
        let surface = Surface::new(points, triangles.clone(), faces.clone()).unwrap();
        let meshed = mesh(&surface, 0.5, 1e9).unwrap();
        assert_eq!(meshed.hexes.len(), 8 * 6 * 4);
        assert!(meshed.report.least > 1.0 - 1e-9 && meshed.report.volume_error().abs() < 1e-12);
        for (number, count) in [(0, 48), (1, 48), (2, 32), (3, 24), (4, 32), (5, 24)] {
            let own = meshed.faces.iter().filter(|face| face.number == number);
            assert_eq!(own.count(), count, "face {number}");
        }
        checked(&meshed);
    }
}

/// The leg is 3 wide: planes of the grid lie in its faces, though 3 is no multiple of the size.
#[test]
fn planes_of_the_grid_lie_in_planar_faces() {
    let meshed = mesh(&shapes::angle(), 0.7, 1e9).unwrap();
    assert!(meshed.report.least > 1.0 - 1e-9 && meshed.report.volume_error().abs() < 1e-12);
    checked(&meshed);
}

#[test]
fn a_cylinder_keeps_its_rims_and_its_wall() {
    let meshed = mesh(&shapes::cylinder(), 0.1, 1e9).unwrap();
    let mesh = checked(&meshed);
    let report = &meshed.report;
    assert!(
        report.least > 0.7 && report.fifth_percentile > 0.8 && report.mean > 0.95,
        "{report:?}"
    );
    assert!(report.volume_error().abs() < 2e-3, "{report:?}");
    for face in &meshed.faces {
        for node in face.face.nodes(&mesh) {
            let [x, y, z] = mesh.coordinates()[node as usize];
            let off = match face.number {
                0 => z.abs(),
                1 => (z - 2.0).abs(),
                // Chords of the circle lie within it by at most 1 - cos(1.5 degrees).
                _ => (x.hypot(y) - 1.0).abs() - 3.5e-4,
            };
            assert!(off < 1e-4, "face {} at {x} {y} {z}", face.number);
        }
    }
}

#[test]
fn a_sphere_without_edges_is_meshed() {
    let (points, triangles) = shapes::sphere();
    let faces = vec![0; triangles.len()];
    let surface = Surface::new(points, triangles, faces).unwrap();
    let meshed = mesh(&surface, 0.1, 1e9).unwrap();
    let mesh = checked(&meshed);
    let report = &meshed.report;
    assert!(
        report.least > 0.6 && report.mean > 0.88 && report.volume_error().abs() < 1e-3,
        "{report:?}"
    );
    // The surface's triangles lie within the sphere by up to 0.004, and nodes outside of them by
    // the third of the 0.0036 of the volume that faces of elements would cut off.
    let mut skin: Vec<u32> = meshed.faces.iter().flat_map(|f| f.face.nodes(&mesh)).collect();
    skin.sort_unstable();
    skin.dedup();
    let length =
        |v: &u32| mesh.coordinates()[*v as usize].iter().map(|x| x * x).sum::<f64>().sqrt();
    for radius in skin.iter().map(length) {
        assert!((0.997..1.002).contains(&radius), "{radius}");
    }
}

/// A bore of 1.5 elements across: its rims widen in their planes, and the other faces stay.
#[test]
fn a_small_bore_has_its_volume() {
    let Some(surface) = parts::surface(part("plate").1, 2.0, 0.0) else { return };
    let meshed = mesh(&surface, 2.0, 1e9).unwrap();
    assert!(meshed.report.volume_error().abs() < 5e-4, "{:?}", meshed.report);
    let mesh = checked(&meshed);
    for (k, extent) in [40.0, 24.0, 6.0].into_iter().enumerate() {
        let along = || mesh.coordinates().iter().map(|x| x[k]);
        let ends = [along().fold(f64::MAX, f64::min), along().fold(f64::MIN, f64::max) - extent];
        assert!(ends.iter().all(|end| end.abs() < 1e-12), "{ends:?}");
    }
    let near = |x: &&[f64; 3]| (x[0] - 7.0).hypot(x[1] - 8.0) < 1.8;
    let bore: Vec<_> = mesh.coordinates().iter().filter(near).collect();
    let radius = |x: &[f64; 3]| (x[0] - 7.0).hypot(x[1] - 8.0);
    assert!(bore.len() > 20 && bore.iter().all(|x| (1.51..1.7).contains(&radius(x))), "{bore:?}");
}

/// Largest extent and script of a part.
fn part(name: &str) -> (f64, &'static str) {
    let found = parts::PARTS.into_iter().find(|part| part.0 == name).expect("a part");
    (found.1, found.2)
}

/// Checks that nodes and elements of a mesh have images to the last bits in `count` planes.
fn check_mirrored(meshed: &Meshed, count: usize) {
    let mesh = checked(meshed);
    assert_eq!(meshed.report.mirrors.len(), count);
    for plane in &meshed.report.mirrors {
        for places in [meshed.points.clone(), mesh.centers()] {
            let images = plane.paired(&places, 1e-9).expect("an image of each place");
            for (place, &other) in places.iter().zip(&images) {
                let (image, other) = (plane.image(*place), places[other as usize]);
                let off = (0..3).map(|k| (image[k] - other[k]).abs()).fold(0.0, f64::max);
                assert!(off < 1e-13, "{place:?} has an image {off} off {other:?}");
            }
        }
    }
}

#[test]
fn symmetric_bodies_have_meshes_that_mirror_themselves() {
    let meshed = mesh(&shapes::cylinder(), 0.1, 1e9).unwrap();
    check_mirrored(&meshed, 3);
    let near_rim = |z: f64| {
        let rim =
            meshed.points.iter().filter(|x| x[2] == z && (x[0].hypot(x[1]) - 1.0).abs() < 0.01);
        rim.count()
    };
    assert!(near_rim(0.0) > 40 && near_rim(0.0) == near_rim(2.0));

    let (points, triangles) = shapes::sphere();
    let faces = vec![0; triangles.len()];
    let moved = points.iter().map(|[x, y, z]| [x + 0.3, y - 0.7, z * 1.5]).collect();
    for (points, moves) in [(shapes::turned(points), false), (moved, true)] {
        let surface = Surface::new(points, triangles.clone(), faces.clone()).unwrap();
        let meshed = mesh(&surface, 0.15, 1e9).unwrap();
        check_mirrored(&meshed, 3);
        let volume = meshed.report.mesh_volume;
        let exact = surface.volume();
        assert!((volume / exact - 1.0).abs() < 2e-3 && meshed.report.part_volume == exact);
        assert!(!moves || meshed.report.mirrors.iter().any(|plane| plane.point[0].abs() > 0.29));
    }
}

/// The grid of the whole lies along one arm; that of a half does too, and is mirrored.
#[test]
fn a_plane_oblique_to_the_grid_mirrors_a_part() {
    let (cos, sin) = (0.5, 0.75_f64.sqrt());
    let (inner, outer) = ([4.0 * cos, 4.0 * sin], [4.0 * cos - sin, 4.0 * sin + cos]);
    let [below, below_outer] = [inner, outer].map(|[x, y]| [x, -y]);
    let ring = [[0.0, 0.0], inner, outer, [-1.0 / sin, 0.0], below_outer, below];
    let (points, triangles, faces) = shapes::prism(&ring, 3.0, |i| 2 + i as u32);
    let surface = Surface::new(points, triangles, faces).unwrap();
    let meshed = mesh(&surface, 0.25, 1e9).unwrap();
    assert!(meshed.report.least > 0.5, "{:?}", meshed.report);
    check_mirrored(&meshed, 2);

    // A plane that would cost quality is left: between the legs of an angle that is a grid.
    check_mirrored(&mesh(&shapes::angle(), 0.7, 1e9).unwrap(), 1);
}

#[test]
fn a_part_with_one_odd_thing_has_no_mirror_plane_across_it() {
    // One side leans by a fiftieth of an element: planar faces have to agree exactly.
    let ring = [[0.0, 0.0], [4.0, 0.0], [4.01, 3.0], [0.0, 3.0]];
    let (points, triangles, faces) = shapes::prism(&ring, 2.0, |i| 2 + i as u32);
    let leaning = Surface::new(points, triangles, faces).unwrap();
    check_mirrored(&mesh(&leaning, 0.5, 1e9).unwrap(), 1);

    // A face that is divided on one side alone.
    let ring = [[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]];
    let (points, triangles, faces) = shapes::prism(&ring, 2.0, |i| 2 + i as u32);
    let divided = Surface::new(points, triangles, faces).unwrap();
    check_mirrored(&mesh(&divided, 0.5, 1e9).unwrap(), 1);
}

#[test]
fn threads_do_not_change_a_bit() {
    let surface = shapes::cylinder();
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mesh(&surface, 0.15, 1e9).unwrap())
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn a_cavity_is_left_empty() {
    let (mut points, mut triangles, mut faces) = shapes::brick([4.0, 4.0, 4.0]);
    let (hole, inner, own) = shapes::brick([2.0, 2.0, 2.0]);
    let first = points.len() as u32;
    points.extend(hole.into_iter().map(|x| x.map(|c| c + 1.0)));
    triangles.extend(inner.into_iter().map(|[a, b, c]| [a, c, b].map(|v| v + first)));
    faces.extend(own.into_iter().map(|face| face + 6));
    let surface = Surface::new(points, triangles, faces).unwrap();
    assert!((surface.volume() - 56.0).abs() < 1e-12);
    assert_eq!(mesh(&surface, 0.5, 1e9).unwrap().hexes.len(), 8 * 56);
}

#[test]
fn bad_surfaces_are_refused() {
    let (points, triangles, faces) = shapes::brick([1.0; 3]);
    let open = Surface::new(points.clone(), triangles[1..].to_vec(), faces[1..].to_vec());
    assert!(matches!(open, Err(HexmeshError::Edge { triangles: 1, .. })));
    let mut turned = triangles.clone();
    turned[2].swap(1, 2);
    let turned = Surface::new(points.clone(), turned, faces.clone());
    assert!(matches!(turned, Err(HexmeshError::Turned { .. })));
    let mut broken = points.clone();
    broken[3][1] = f64::NAN;
    let broken = Surface::new(broken, triangles.clone(), faces.clone());
    assert_eq!(broken.unwrap_err(), HexmeshError::NotFinite(3));
    let fine = Surface::new(points, triangles, faces).unwrap();
    assert!(matches!(mesh(&fine, 1e-6, 1e9), Err(HexmeshError::TooFine { .. })));
    assert_eq!(mesh(&fine, -1.0, 1e9).unwrap_err(), HexmeshError::BadSize(-1.0));
}

/// Few cells, so that it is quick; the table of all is made by the example `parts`.
#[test]
fn parts_of_gmsh_are_meshed() {
    for (name, extent, script) in parts::PARTS {
        let least = match name {
            "boss" | "plate" | "tube" | "wedge45" => 0.5,
            "block" | "counterbore" | "sharp_boss" => 0.3,
            _ => continue,
        };
        let size = extent / 20.0;
        let Some(surface) = parts::surface(script, size, 17.0) else { return };
        let meshed = mesh(&surface, size, 1e9).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(meshed.report.least > least, "{name}: {:?}", meshed.report);
        checked(&meshed);
    }
}

#[test]
fn parts_of_gmsh_mirror_themselves() {
    let planes = [("bracket", 1), ("holes", 1), ("cylinder", 3), ("torus", 3), ("counterbore", 0)];
    for (name, count) in planes {
        let (extent, script) = part(name);
        let size = extent / 20.0;
        for degrees in [0.0, 17.0] {
            let Some(surface) = parts::surface(script, size, degrees) else { return };
            let meshed =
                mesh(&surface, size, 1e9).unwrap_or_else(|error| panic!("{name}: {error}"));
            check_mirrored(&meshed, count);
        }
    }
}

/// Distinct coordinates of nodes along x, ascending, up to `most`.
fn planes(meshed: &Meshed, most: f64) -> Vec<f64> {
    let mut along: Vec<f64> = meshed.points.iter().map(|x| x[0]).filter(|x| *x <= most).collect();
    along.sort_unstable_by(f64::total_cmp);
    along.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    along
}

#[test]
fn elements_are_smaller_in_a_box_and_grow_away_from_it() {
    let (points, triangles, faces) = shapes::brick([12.0, 3.0, 2.0]);
    let surface = Surface::new(points, triangles, faces).unwrap();
    let finer = vec![Finer { low: [0.0; 3], high: [1.0, 3.0, 2.0], size: 0.25 }];
    let sizes = Sizes { usual: 0.5, across: 1, finer };
    let meshed = mesh(&surface, sizes, 1e9).unwrap();
    checked(&meshed);
    assert!(meshed.report.least > 1.0 - 1e-9 && meshed.report.volume_error().abs() < 1e-12);

    let planes = planes(&meshed, 12.0);
    let widths: Vec<f64> = planes.windows(2).map(|ends| ends[1] - ends[0]).collect();
    // The part mirrors itself, and so do its elements.
    let n = widths.len();
    assert!((0..n).all(|i| (widths[i] - widths[n - 1 - i]).abs() < 1e-9), "{widths:?}");
    assert!(widths[..4].iter().all(|width| (width - 0.25).abs() < 0.01), "{widths:?}");
    assert!((widths[n / 2] - 0.5).abs() < 0.05, "{widths:?}");
}

#[test]
fn walls_have_as_many_elements_across_as_asked() {
    let coarse = mesh(&shapes::angle(), 2.0, 1e9).unwrap();
    assert_eq!(planes(&coarse, 3.0).len(), 3);
    let sizes = Sizes { across: 5, ..2.0.into() };
    let meshed = mesh(&shapes::angle(), sizes, 1e9).unwrap();
    checked(&meshed);
    assert_eq!(planes(&meshed, 3.0).len(), 6);
    assert!(meshed.report.least > 1.0 - 1e-9);

    let plate = |turn: &dyn Fn(Vec<[f64; 3]>) -> Vec<[f64; 3]>| {
        let (points, triangles, faces) = shapes::brick([8.0, 4.0, 1.0]);
        let surface = Surface::new(turn(points), triangles, faces).unwrap();
        mesh(&surface, Sizes { across: 4, ..2.0.into() }, 1e9).unwrap().hexes.len()
    };
    assert_eq!([plate(&|points| points), plate(&shapes::turned)], [4 * 4 * 4; 2]);
}

#[test]
fn a_cylinder_with_smaller_elements_at_one_end_is_certified() {
    let finer = vec![Finer { low: [-1.0, -1.0, 0.0], high: [1.0, 1.0, 0.2], size: 0.07 }];
    let sizes = Sizes { usual: 0.2, across: 1, finer: finer.clone() };
    assert_eq!(sizes.smallest(), 0.07);
    let meshed = mesh(&shapes::cylinder(), sizes, 1e9).unwrap();
    checked(&meshed);
    assert!(meshed.report.least > 0.5, "{:?}", meshed.report);

    let none = Sizes { usual: 0.2, across: 1, finer: vec![Finer { size: 0.0, ..finer[0] }] };
    assert_eq!(mesh(&shapes::cylinder(), none, 1e9).unwrap_err(), HexmeshError::BadSize(0.0));
}

use std::f64::consts::PI;

use super::*;
use crate::{BoundingBox, Face, NodeToElements, Quality, hexahedron};

const THESIS_NODES: [(Benchmark, [usize; 5]); 4] = [
    (Benchmark::Cantilever, [34_476, 92_016, 192_556, 450_241, 1_056_321]),
    (Benchmark::LBeam, [38_313, 95_580, 206_205, 469_700, 1_053_026]),
    (Benchmark::Michell, [52_008, 116_012, 232_125, 526_998, 1_374_415]),
    (Benchmark::ConnectingRod, [48_248, 124_305, 238_578, 572_978, 1_223_392]),
];

fn size(benchmark: Benchmark, size: u32) -> HexMesh {
    benchmark.generate(Resolution::Size(size)).unwrap()
}

fn elements(benchmark: Benchmark, n: usize) -> HexMesh {
    benchmark.generate(Resolution::Elements(n)).unwrap()
}

fn load_points(mesh: &HexMesh) -> Vec<[f64; 3]> {
    mesh.sets().nodes["load"].iter().map(|&n| mesh.coordinates()[n as usize]).collect()
}

/// The four points of every face in the set `fixed`.
fn fixed_faces(mesh: &HexMesh) -> Vec<[[f64; 3]; 4]> {
    let points = |face: &Face| face.nodes(mesh).map(|n| mesh.coordinates()[n as usize]);
    mesh.sets().faces["fixed"].iter().map(points).collect()
}

fn fixed_points(mesh: &HexMesh) -> Vec<[f64; 3]> {
    fixed_faces(mesh).into_flattened()
}

/// Distance from a bore's axis.
fn distance(point: [f64; 3], axis: [f64; 2]) -> f64 {
    (point[0] - axis[0]).hypot(point[1] - axis[1])
}

/// The nodes of the faces that belong to one element only. Every other face must be shared by
/// exactly two, which see it from opposite sides.
fn boundary_faces(mesh: &HexMesh) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 4], [u32; 4])> = Vec::new();
    for hex in mesh.hexes() {
        for face in hexahedron::FACES.map(|face| face.map(|a| hex[a])) {
            let mut sorted = face;
            sorted.sort_unstable();
            faces.push((sorted, face));
        }
    }
    faces.sort_unstable();

    let groups = faces.chunk_by(|a, b| a.0 == b.0);
    let mut boundary = Vec::new();
    for group in groups {
        match group {
            [(_, face)] => boundary.push(*face),
            [(_, one), (_, other)] => {
                let first = other.iter().position(|&n| n == one[0]).unwrap();
                assert_eq!(std::array::from_fn(|k| other[(first + 4 - k) % 4]), *one);
            }
            _ => panic!("{} elements share one face", group.len()),
        }
    }
    boundary
}

fn assert_no_duplicate_nodes(mesh: &HexMesh) {
    let mut cells: Vec<_> =
        mesh.coordinates().iter().map(|x| x.map(|v| (v * 1e6).round() as i64)).collect();
    cells.sort_unstable();
    assert!(cells.windows(2).all(|pair| pair[0] != pair[1]));
}

/// The number of nodes inside the mesh that have not eight elements.
fn count_irregular(mesh: &HexMesh, boundary: &[[u32; 4]]) -> usize {
    let mut outside = vec![false; mesh.n_nodes()];
    boundary.as_flattened().iter().for_each(|&n| outside[n as usize] = true);
    let adjacency = NodeToElements::new(mesh);
    (0..mesh.n_nodes()).filter(|&n| !outside[n] && adjacency.valence(n) != 8).count()
}

#[test]
fn counts_are_those_of_the_thesis() {
    for (benchmark, nodes) in THESIS_NODES {
        let exact = matches!(benchmark, Benchmark::Cantilever | Benchmark::LBeam);
        let allowed = if exact { 0.0 } else { 0.03 };
        for (i, n_elements) in benchmark.thesis_elements().into_iter().enumerate() {
            let mesh = size(benchmark, i as u32 + 1);
            let error = |found: usize, wanted: usize| (found as f64 / wanted as f64 - 1.0).abs();
            assert!(error(mesh.n_elements(), n_elements) <= allowed, "{benchmark:?} {i}");
            assert!(error(mesh.n_nodes(), nodes[i]) <= allowed, "{benchmark:?} {i}");
        }
    }
}

#[test]
fn other_numbers_of_elements_are_met_nearly() {
    for benchmark in Benchmark::ALL {
        for wanted in [60_000, 130_000, 300_000] {
            let found = elements(benchmark, wanted).n_elements() as f64;
            assert!((found / wanted as f64 - 1.0).abs() < 0.1, "{benchmark:?}: {found}");
        }
    }
}

#[test]
fn the_coarsest_meshes_are_valid() {
    for benchmark in Benchmark::ALL {
        let quality = Quality::of(&elements(benchmark, 1)).summary();
        assert!(quality.scaled_jacobian.min > 0.5, "{benchmark:?}");
    }
    assert_eq!(elements(Benchmark::Cantilever, 1).n_elements(), 2);
}

#[test]
fn cantilever_is_clamped_and_loaded_where_it_should_be() {
    let mesh = elements(Benchmark::Cantilever, 2000);
    assert_eq!(mesh.bounding_box().max, [20.0, 10.0, 10.0]);
    assert!(mesh.volumes().iter().all(|v| (v - 1.0).abs() < 1e-14));
    assert_eq!(fixed_faces(&mesh).len(), 100);
    assert!(fixed_points(&mesh).iter().all(|p| p[0] == 0.0));
    let edge: Vec<_> = (0..=10).map(|k| [20.0, 0.0, f64::from(k)]).collect();
    assert_eq!(load_points(&mesh), edge);
    assert_eq!(mesh.sets().elements["design"].len(), 2000);
    assert!(!mesh.sets().elements.contains_key("solid"));
}

#[test]
fn l_beam_is_clamped_and_loaded_where_it_should_be() {
    let mesh = elements(Benchmark::LBeam, 16 * 36 * 3);
    assert_eq!(mesh.n_elements(), 16 * 36 * 3);
    assert_eq!(mesh.bounding_box().max, [30.0, 30.0, 3.0]);
    assert!(mesh.centers().iter().all(|c| c[0] < 12.0 || c[1] < 12.0));
    assert_eq!(fixed_faces(&mesh).len(), 12 * 3);
    assert!(fixed_points(&mesh).iter().all(|p| p[1] == 30.0));
    let edge: Vec<_> = (0..=3).map(|k| [30.0, 12.0, f64::from(k)]).collect();
    assert_eq!(load_points(&mesh), edge);
}

#[test]
fn michell_is_a_rectangle_less_a_half_disc() {
    let mesh = size(Benchmark::Michell, 1);
    let (r, t) = (26.0, 3.0);
    assert_eq!(mesh.bounding_box().max, [5.0 * r, 4.0 * r, t]);
    let on_arc = |p| (distance(p, [0.0, 2.0 * r]) - r).abs() < 1e-9;
    let n_chords = fixed_faces(&mesh).len() as f64 / t;
    assert!(n_chords > 100.0 && fixed_points(&mesh).into_iter().all(on_arc));
    let ends = fixed_points(&mesh).into_iter().filter(|p| p[0] == 0.0).count();
    assert_eq!(ends, 2 * 2 * 3); // both ends, two nodes of each face, three layers
    let middle: Vec<_> = (0..=3).map(|k| [5.0 * r, 2.0 * r, f64::from(k)]).collect();
    assert_eq!(load_points(&mesh), middle);
    // The chords cut segments of relative area (pi/n)^2/6 off the half disc, here 7e-5 of it.
    let half_polygon = 0.5 * n_chords * r * r * (PI / n_chords).sin();
    let volume: f64 = mesh.volumes().iter().sum();
    assert!((volume / (t * (20.0 * r * r - half_polygon)) - 1.0).abs() < 1e-12);
    assert!((volume / (t * r * r * (20.0 - 0.5 * PI)) - 1.0).abs() < 1e-5);
    let mean_area = volume / mesh.n_elements() as f64;
    assert!((mean_area - 1.0).abs() < 0.01);
}

#[test]
fn michell_is_conforming_and_has_irregular_nodes() {
    let mesh = size(Benchmark::Michell, 1);
    let (r, t, axis) = (26.0, 3.0, [0.0, 52.0]);
    let boundary = boundary_faces(&mesh);
    for face in &boundary {
        let points = face.map(|n| mesh.coordinates()[n as usize]);
        let on = |d: usize, value: f64| points.iter().all(|p| p[d] == value);
        let on_side = on(0, 0.0) || on(0, 5.0 * r) || on(1, 0.0) || on(1, 4.0 * r);
        let on_arc = points.iter().all(|&p| (distance(p, axis) - r).abs() < 1e-9);
        assert!(on_side || on(2, 0.0) || on(2, t) || on_arc, "{points:?}");
    }
    assert_no_duplicate_nodes(&mesh);
    assert_eq!(count_irregular(&mesh, &boundary), 2 * 2); // two lines, two inner levels
}

#[test]
fn connecting_rod_is_clamped_and_loaded_in_its_bores() {
    let mesh = size(Benchmark::ConnectingRod, 1);
    let (lower, upper) = ([75.0, 45.0], [75.0, 290.0]);
    assert_eq!(mesh.bounding_box().max, [150.0, 350.0, 8.0]);
    assert!(!fixed_faces(&mesh).is_empty() && !load_points(&mesh).is_empty());
    for p in fixed_points(&mesh) {
        assert!((distance(p, lower) - 17.5).abs() < 1e-9 && p[1] <= 45.0);
    }
    for p in load_points(&mesh) {
        assert!((distance(p, upper) - 30.0).abs() < 1e-9 && p[1] >= 290.0);
    }
    for y in [45.0, 290.0] {
        let ends = [fixed_points(&mesh), load_points(&mesh)].concat();
        let mut at: Vec<f64> = ends.iter().filter(|p| p[1] == y).map(|p| p[0]).collect();
        at.sort_by(f64::total_cmp);
        let radius = if y == 45.0 { 17.5 } else { 30.0 };
        assert_eq!([at[0], at[at.len() - 1]], [75.0 - radius, 75.0 + radius]);
    }
}

#[test]
fn connecting_rod_is_solid_in_its_rings() {
    let mesh = size(Benchmark::ConnectingRod, 1);
    let sets = &mesh.sets().elements;
    assert_eq!(sets["design"].len() + sets["solid"].len(), mesh.n_elements());
    let (lower, upper) = ([75.0, 45.0], [75.0, 290.0]);
    let in_ring = |c: [f64; 3]| distance(c, lower) < 25.0 || distance(c, upper) < 40.0;
    let centers = mesh.centers();
    assert!(sets["solid"].iter().all(|&e| in_ring(centers[e as usize])));
    assert!(sets["design"].iter().all(|&e| !in_ring(centers[e as usize])));
    // Chords in place of arcs change the area of the bores by less than (2 pi/n)^2/6 = 2e-4.
    let squares = |a: f64, b: f64| PI * (a * a + b * b);
    let web = 4.0 * (150.0 * 350.0 - squares(25.0, 40.0));
    let rings = 8.0 * (squares(25.0, 40.0) - squares(17.5, 30.0));
    let volume: f64 = mesh.volumes().iter().sum();
    assert!((volume / (web + rings) - 1.0).abs() < 1e-5);
}

#[test]
fn connecting_rod_is_conforming_and_has_irregular_nodes() {
    let mesh = size(Benchmark::ConnectingRod, 1);
    let (lower, upper) = ([75.0, 45.0], [75.0, 290.0]);
    let boundary = boundary_faces(&mesh);
    for face in &boundary {
        let points = face.map(|n| mesh.coordinates()[n as usize]);
        let on = |d: usize, value: f64| points.iter().all(|p| p[d] == value);
        let around = |axis, r: f64| points.iter().all(|&p| (distance(p, axis) - r).abs() < 1e-9);
        let on_bore = around(lower, 17.5) || around(upper, 30.0);
        let on_ring = (around(lower, 25.0) || around(upper, 40.0))
            && (points.iter().all(|p| p[2] <= 2.0) || points.iter().all(|p| p[2] >= 6.0));
        let on_side = on(0, 0.0) || on(0, 150.0) || on(1, 0.0) || on(1, 350.0);
        let flat = on(2, 0.0) || on(2, 2.0) || on(2, 6.0) || on(2, 8.0);
        assert!(flat || on_bore || on_ring || on_side, "{points:?}");
    }
    assert_no_duplicate_nodes(&mesh);
    assert_eq!(count_irregular(&mesh, &boundary), 8); // eight lines, one inner level
}

#[test]
fn elements_are_well_shaped() {
    for benchmark in [Benchmark::Michell, Benchmark::ConnectingRod] {
        for n in [1, 2] {
            let quality = Quality::of(&size(benchmark, n)).summary();
            assert!(quality.scaled_jacobian.min > 0.7, "{benchmark:?}");
            assert!(quality.scaled_jacobian.mean > 0.99, "{benchmark:?}");
            assert!(quality.aspect_ratio.max < 5.0, "{benchmark:?}");
        }
    }
}

#[test]
fn what_cannot_be_generated_is_refused_with_a_remedy() {
    let refused = |resolution| {
        let error = Benchmark::Michell.generate(resolution).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        refused(Resolution::Size(0)),
        "size 0 is not one of the five; give 1 to 5, or a number of elements"
    );
    assert!(refused(Resolution::Size(6)).starts_with("size 6 is not one of the five"));
    assert!(refused(Resolution::Elements(0)).ends_with("request at least 1"));
    assert!(refused(Resolution::Elements(MOST_ELEMENTS + 1)).ends_with("at most 2147483647"));
    assert_eq!(
        "beam".parse::<Benchmark>().unwrap_err().to_string(),
        "there is no benchmark `beam`; there are: cantilever, l_beam, michell, connecting_rod"
    );
    for benchmark in Benchmark::ALL {
        assert_eq!(benchmark.name().parse(), Ok(benchmark));
    }
}

#[test]
fn filter_radii_are_those_of_the_statement() {
    assert_eq!([1, 2, 3, 4, 5].map(|s| filter_radius(s).unwrap()), [3.0, 3.5, 4.0, 4.5, 5.0]);
    assert_eq!(filter_radius(6), Err(GenerateError::UnknownSize(6)));
}

/// A body has its extents, to rounding, about its volume and an eighth of its elements, or more where
/// one layer stays one, and its loads lie in the same places.
#[test]
fn a_coarser_mesh_is_of_the_same_body() {
    for benchmark in Benchmark::ALL {
        for n in [20_000, 33_000, 300_000] {
            let fine = elements(benchmark, n);
            let coarse = benchmark.generate_coarser(Resolution::Elements(n)).unwrap();
            let ratio = fine.n_elements() as f64 / coarse.n_elements() as f64;
            assert!((3.5..10.0).contains(&ratio), "{benchmark:?} {n}: {ratio}");

            let [a, b] = [&fine, &coarse].map(|mesh| mesh.bounding_box());
            let scale = a.extent().into_iter().fold(0.0, f64::max);
            let ends = a.min.iter().chain(&a.max).zip(b.min.iter().chain(&b.max));
            let off = ends.fold(0.0, |off: f64, (a, b)| off.max((a - b).abs()));
            assert!(off < 1e-9 * scale, "{benchmark:?} {n}: {off}");

            let [a, b] = [&fine, &coarse].map(|mesh| mesh.volumes().iter().sum::<f64>());
            assert!((a / b - 1.0).abs() < 0.02, "{benchmark:?} {n}: {a} {b}");
            let center = |mesh: &HexMesh| {
                let loaded = BoundingBox::of(load_points(mesh));
                std::array::from_fn::<_, 3, _>(|i| 0.5 * (loaded.min[i] + loaded.max[i]))
            };
            let apart = center(&fine).into_iter().zip(center(&coarse)).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 0.02 * scale, "{benchmark:?} {n}");
        }
    }
    let [size, number] = [Resolution::Size(1), Resolution::Elements(31_250)];
    let by = |resolution| Benchmark::Cantilever.generate_coarser(resolution).unwrap();
    assert_eq!(by(size).coordinates(), by(number).coordinates());
}

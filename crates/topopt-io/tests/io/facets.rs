//! STL files are looked at before Gmsh is started: what bounds no body is refused with its place.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use topopt_io::gmsh::{ElementSize, Hexes, Meshing, MeshingError, boundary, mesh};

type Triangle = [[f64; 3]; 3];

/// The facets of a cube from `low` to `high` in each direction, turned outwards.
pub fn cube(low: f64, high: f64) -> Vec<Triangle> {
    let corner =
        |i: usize| [i & 1, i >> 1 & 1, i >> 2].map(|far| if far == 1 { high } else { low });
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    halves.map(|half| half.map(corner)).collect()
}

pub fn turned(facets: &[Triangle]) -> Vec<Triangle> {
    facets.iter().map(|&[a, b, c]| [a, c, b]).collect()
}

/// The facets as a text file.
pub fn text(facets: &[Triangle]) -> String {
    let vertex = |[x, y, z]: [f64; 3]| format!("vertex {x} {y} {z}\n");
    let facet = |corners: &Triangle| {
        let corners = corners.map(vertex).concat();
        format!("facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n")
    };
    let facets: String = facets.iter().map(facet).collect();
    format!("solid part\n{facets}endsolid part\n")
}

fn binary(facets: &[Triangle], header: &[u8]) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes[..header.len()].copy_from_slice(header);
    bytes.extend((facets.len() as u32).to_le_bytes());
    for facet in facets {
        let numbers = [0.0; 3].into_iter().chain(facet.as_flattened().iter().copied());
        bytes.extend(numbers.flat_map(|x| (x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// Meshing by a program that there is not.
fn meshing(size: ElementSize) -> Meshing {
    Meshing {
        program: Some("no-such-gmsh".into()),
        hexes: Hexes::Auto,
        size,
        finer: Vec::new(),
        length_unit: "MM",
        timeout: Duration::from_secs(20),
        trust: false,
        surface: None,
    }
}

/// Returns the error for an STL file, or nothing if Gmsh would be started with it.
fn refusal(bytes: impl AsRef<[u8]>, size: ElementSize) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    fs::write(&path, bytes).unwrap();
    match mesh(&path, &meshing(size), &AtomicBool::new(false)).unwrap_err() {
        MeshingError::Program { .. } => None,
        error => Some(error.to_string().replace(&format!("{}/", folder.path().display()), "")),
    }
}

#[track_caller]
fn assert_refused(bytes: impl AsRef<[u8]>, said: &str) {
    let refusal = refusal(bytes, ElementSize::OfGeometry);
    assert_eq!(refusal.as_deref(), Some(said));
}

#[track_caller]
fn assert_meshed(bytes: impl AsRef<[u8]>) {
    assert_eq!(refusal(bytes, ElementSize::OfGeometry), None);
}

#[test]
fn closed_surfaces_of_every_form_are_meshed() {
    let facets = cube(0.0, 1.0);
    assert_meshed(text(&facets));
    assert_meshed(text(&facets).to_uppercase().replace('\n', "\r\n"));
    assert_meshed(binary(&facets, b"binary"));
    assert_meshed(binary(&facets, b"solid of a writer that does not mind"));
    assert_meshed([binary(&facets, b"binary"), vec![0; 7]].concat());
    assert_meshed(text(&facets).replacen("vertex 0 0 0", "vertex -0.0 0 0", 1));
    assert_meshed(text(&facets).replacen("vertex 0 0 0", "vertex 1e-9 0 0", 1));
}

#[test]
fn what_can_be_repaired_is_meshed() {
    let facets = cube(0.0, 1.0);
    assert_meshed(text(&turned(&facets)));
    assert_meshed(text(&[&facets[..], &facets[3..4]].concat()));
    assert_meshed(text(&[&facets[..], &turned(&facets[3..4])].concat()));
    assert_meshed(text(&[&facets[..3], &turned(&facets[3..4]), &facets[4..]].concat()));
    let needle = [[0.0; 3], [1.0; 3], [1.0; 3]];
    assert_meshed(text(&[&facets[..], &[needle]].concat()));
    // A cavity, and two bodies that touch in a face.
    assert_meshed(text(&[cube(0.0, 3.0), turned(&cube(1.0, 2.0))].concat()));
    let beside: Vec<_> =
        facets.iter().map(|facet| facet.map(|[x, y, z]| [x + 1.0, y, z])).collect();
    assert_meshed(text(&[facets, beside].concat()));
}

/// The facets of a cube of edge 1, each side in `n` x `n` squares.
fn divided(n: usize) -> Vec<Triangle> {
    let at = |i: usize| i as f64 / n as f64;
    let squares = (0..n * n).map(|i| [at(i / n), at(i % n)]);
    let of_square = |[u, v]: [f64; 2]| {
        let [a, b, c, d] = [[u, v], [u + at(1), v], [u + at(1), v + at(1)], [u, v + at(1)]];
        [[a, b, c], [a, c, d]]
    };
    let halves: Vec<[[f64; 2]; 3]> = squares.flat_map(of_square).collect();
    let side = |k: usize, far: f64| {
        let corner = move |[u, v]: [f64; 2]| {
            let mut x = [0.0; 3];
            (x[k], x[(k + 1) % 3], x[(k + 2) % 3]) = (far, u, v);
            x
        };
        let facets: Vec<Triangle> = halves.iter().map(|half| half.map(corner)).collect();
        if far > 0.0 { facets } else { turned(&facets) }
    };
    (0..3).flat_map(|k| [side(k, 0.0), side(k, 1.0)]).flatten().collect()
}

/// A facet, four around a vertex, two that touch in a vertex and one beside an edge are missing,
/// and another is turned over: the boundary is the whole cube.
#[test]
fn small_holes_are_closed() {
    let n = 16;
    let mut facets = divided(n);
    let (row, side) = (2 * n, 2 * n * n);
    facets[3 * side + 40].swap(0, 1);
    let holes = [5 * row + 9, side + 6, side + 7, side + row + 7, side + row + 8, 2 * side + 1];
    let fans = [4 * side + 66, 4 * side + 67, 4 * side + 66 + row + 3];
    let mut missing = [&holes[..], &fans[..]].concat();
    missing.sort_unstable();
    for facet in missing.into_iter().rev() {
        facets.remove(facet);
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    fs::write(&path, text(&facets)).unwrap();
    let meshing = meshing(ElementSize::Edge(0.1));
    let found = boundary(&path, &meshing, 1e9, &AtomicBool::new(false)).unwrap();
    let at = |v: u32| found.vertices[v as usize];
    let cone = |t: &[u32; 3]| topopt_mesh::hexahedron::determinant(&t.map(at)) / 6.0;
    let volume: f64 = found.triangles.iter().map(cone).sum();
    assert!((volume - 1.0).abs() < 1e-6, "{volume}");
    let edges = || found.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let known: std::collections::HashSet<[u32; 2]> = edges().collect();
    assert!(known.len() == edges().count() && edges().all(|[a, b]| known.contains(&[b, a])));
    let mut sides = found.faces.clone();
    sides.sort_unstable();
    sides.dedup();
    assert_eq!(sides.len(), 6);
}

#[test]
fn what_bounds_no_body_is_refused() {
    let facets = cube(0.0, 1.0);
    assert_refused(
        text(&facets[1..]),
        "a.stl: the facets do not close: 3 edges have no neighbor, the first from (0, 0, 0) to (1, 1, 0)",
    );
    assert_refused(
        text(&[cube(0.0, 3.0), cube(1.0, 2.0)].concat()),
        "a.stl: the closed surface at (1, 1, 1) lies within another and is turned as a body, not as a \
         cavity",
    );
    let flat: Vec<_> = facets.iter().map(|facet| facet.map(|[x, y, _]| [x, y, 2.0])).collect();
    assert_refused(text(&flat), "a.stl: all facets lie in one plane: the extent is 1 x 1 x 0");
}

#[test]
fn coordinates_that_are_no_places_are_refused() {
    let one = |value: &str| {
        text(&cube(0.0, 1.0)).replacen("vertex 0 0 0", &format!("vertex 0 {value} 0"), 1)
    };
    for (value, shown) in [("nan", "NaN"), ("-inf", "-inf"), ("1e300", "1e300")] {
        let said = format!("a.stl: facet 1 has the coordinate {shown}, which is no place in space");
        let said = said.replace("1e300", &1e300_f64.to_string());
        assert_refused(one(value), &said);
    }
    let large: Vec<_> = cube(0.0, 1.0).iter().map(|f| f.map(|x| x.map(|x| 1e30 * x))).collect();
    assert!(refusal(binary(&large, b""), ElementSize::OfGeometry).unwrap().contains("facet 1 has"));
}

#[test]
fn what_is_no_stl_file_is_refused_with_its_line() {
    let facets = text(&cube(0.0, 1.0));
    assert_refused(
        "",
        "a.stl: it is no STL file: it neither begins with `solid` nor has the length that its count of facets needs",
    );
    assert_refused("solid\nendsolid\n", "a.stl: it has no facets");
    assert_refused(
        facets.replacen("vertex 0 0 0", "vertex 0 0", 1),
        "a.stl: line 4: expected a coordinate, found the end of the line",
    );
    assert_refused(
        facets.replacen("vertex 0 0 0", "vertex 0 x 0", 1),
        "a.stl: line 4: expected a coordinate, found x",
    );
    assert_refused(
        facets.replacen("facet", "faucet", 1),
        "a.stl: line 2: expected a line of an STL file, found faucet",
    );
    let cut = facets.rfind("endloop").unwrap();
    assert_refused(&facets[..cut], "a.stl: it is no STL file: it ends within facet 12");
}

#[test]
fn elements_are_counted_before_they_are_made() {
    let said = refusal(text(&cube(0.0, 1.0)), ElementSize::Edge(1e-4)).unwrap();
    assert_eq!(said, "elements of 0.0001 in a part of volume 1 are about 3.0e12, more than 5.0e8");
}

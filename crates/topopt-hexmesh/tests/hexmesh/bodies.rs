//! Bodies that share faces: conforming meshes, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use topopt_hexmesh::{HexmeshError, Meshed, Sizes, Surface, count, mesh};
use topopt_io::gmsh::Boundary;
use topopt_mesh::hexahedron::{FACES, volume};
use topopt_mesh::triangles::Triangles;

use crate::parts::{ASSEMBLIES, faces};
use crate::{checked, shapes};

/// Bodies at each face of an element, by its nodes in ascending order.
fn bodies_at_faces(meshed: &Meshed) -> BTreeMap<Vec<u32>, Vec<u32>> {
    let mut found: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for (hex, &body) in meshed.hexes.iter().zip(&meshed.bodies) {
        for face in FACES {
            found.entry(sorted(face.map(|a| hex[a]))).or_default().push(body);
        }
    }
    found
}

fn sorted(mut nodes: [u32; 4]) -> Vec<u32> {
    nodes.sort_unstable();
    nodes.to_vec()
}

/// Checks that the numbered faces are those on the outside and those between two bodies, each once.
pub fn check_conforming(meshed: &Meshed) {
    let at_faces = bodies_at_faces(meshed);
    assert!(at_faces.values().all(|own| own.len() <= 2));
    let is_border = |own: &Vec<u32>| own.len() == 1 || own[0] != own[1];
    let borders: BTreeSet<&Vec<u32>> =
        at_faces.iter().filter(|(_, own)| is_border(own)).map(|(face, _)| face).collect();
    let of_face = |face: &topopt_hexmesh::NumberedFace| {
        let hex = meshed.hexes[face.face.element as usize];
        sorted(FACES[face.face.local as usize].map(|a| hex[a]))
    };
    let numbered: Vec<Vec<u32>> = meshed.faces.iter().map(of_face).collect();
    assert_eq!(numbered.len(), borders.len());
    assert_eq!(numbered.iter().collect::<BTreeSet<_>>(), borders);
}

pub fn volumes(meshed: &Meshed, n_bodies: usize) -> Vec<f64> {
    let mut volumes = vec![0.0; n_bodies];
    for (hex, &body) in meshed.hexes.iter().zip(&meshed.bodies) {
        volumes[body as usize] += volume(&hex.map(|v| meshed.points[v as usize]));
    }
    volumes
}

/// Bodies of unit cubes come back as grids, turned or not.
fn check_grids(n: [usize; 3], body: impl Fn([usize; 3]) -> Option<u32>, expected: &[f64]) {
    let (points, triangles, numbers, sides) = shapes::cubes(n, body);
    for points in [points.clone(), shapes::turned(points)] {
        let surface =
            Surface::of_bodies(points, triangles.clone(), numbers.clone(), &sides).unwrap();
        let meshed = mesh(&surface, 0.5, 1e9).unwrap();
        checked(&meshed);
        check_conforming(&meshed);
        assert!(meshed.report.least > 1.0 - 1e-9, "{:?}", meshed.report);
        let found = volumes(&meshed, expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        let most: usize = expected.iter().map(|v| 8 * *v as usize).sum();
        assert_eq!((meshed.hexes.len(), count(&surface, 0.5, 1e9)), (most, Ok(most)));
    }
}

#[test]
fn bodies_of_cubes_come_back_as_grids() {
    // A tower on a plate.
    let tower = |[x, y, z]: [usize; 3]| match z {
        0 | 1 => Some(0),
        _ => ((1..3).contains(&x) && y == 1).then_some(1),
    };
    check_grids([5, 3, 4], tower, &[30.0, 4.0]);
    // Three bodies around an edge, and four.
    let three = |[x, _, z]: [usize; 3]| Some(if z == 2 { 2 } else { u32::from(x > 1) });
    check_grids([4, 3, 3], three, &[12.0, 12.0, 12.0]);
    check_grids([4, 2, 4], |[x, _, z]| Some(u32::from(x > 1) + 2 * u32::from(z > 1)), &[8.0; 4]);
    // A core without contact to the outside, and two bodies apart.
    let core = |place: [usize; 3]| Some(u32::from(place.iter().all(|c| *c == 1 || *c == 2)));
    check_grids([4, 4, 4], core, &[56.0, 8.0]);
    let apart = |[x, _, _]: [usize; 3]| (x != 1 && x != 2).then_some(u32::from(x > 1));
    check_grids([5, 2, 2], apart, &[4.0, 8.0]);
}

#[test]
fn walls_of_a_body_have_as_many_elements_across_as_asked() {
    let (points, triangles, numbers, sides) =
        shapes::cubes([6, 6, 3], |[_, _, z]| Some(u32::from(z > 0)));
    let surface = Surface::of_bodies(points, triangles, numbers, &sides).unwrap();
    let meshed = mesh(&surface, Sizes { across: 3, ..1.0.into() }, 1e9).unwrap();
    checked(&meshed);
    let mut heights: Vec<f64> = meshed.points.iter().map(|x| x[2]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    heights.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let within = |low: f64, high: f64| heights.iter().filter(|z| **z > low && **z <= high).count();
    assert!(within(0.0, 1.0) >= 3 && within(1.0, 3.0) >= 3, "{heights:?}");
}

#[test]
fn bodies_that_share_no_face_where_they_touch_are_refused() {
    let of = |n, body: &dyn Fn([usize; 3]) -> Option<u32>| {
        let (points, triangles, numbers, sides) = shapes::cubes(n, body);
        Surface::of_bodies(points, triangles, numbers, &sides)
    };
    let edge = |[x, y, _]: [usize; 3]| (x == y).then_some(x as u32);
    let expected =
        HexmeshError::TouchAtEdge { bodies: [0, 1], from: [1.0, 1.0, 0.0], to: [1.0, 1.0, 1.0] };
    assert_eq!(of([2, 2, 1], &edge).unwrap_err(), expected);
    let point = |[x, y, z]: [usize; 3]| (x == y && y == z).then_some(x as u32);
    let expected = HexmeshError::TouchAtPoint { bodies: [0, 1], at: [1.0; 3] };
    assert_eq!(of([2, 2, 2], &point).unwrap_err(), expected);

    // Two boxes with faces of their own, one behind the other or partly in it.
    let two = |shift: f64| {
        let (points, triangles, numbers) = shapes::brick([2.0, 2.0, 2.0]);
        let first = points.len() as u32;
        let others = points.iter().map(|x| [x[0] + shift, x[1] + 0.3, x[2] + 0.4]);
        let moved = triangles.iter().map(|t| t.map(|v| v + first));
        let sides = [[[Some(0), None]; 12], [[Some(1), None]; 12]].concat();
        Surface::of_bodies(
            points.iter().copied().chain(others).collect(),
            triangles.iter().copied().chain(moved).collect(),
            numbers.iter().copied().chain(numbers.iter().map(|number| number + 6)).collect(),
            &sides,
        )
    };
    assert!(matches!(two(2.0), Err(HexmeshError::TouchUnshared { bodies: [0, 1], .. })));
    let overlapping = mesh(&two(1.5).unwrap(), 0.25, 1e9).unwrap_err();
    assert!(
        matches!(overlapping, HexmeshError::Overlap { bodies: [0, 1], at: [x, ..] } if x > 1.4 && x < 2.1)
    );
    assert!(mesh(&two(3.0).unwrap(), 0.25, 1e9).is_ok());

    let (points, triangles, numbers) = shapes::brick([1.0; 3]);
    let nothing = Surface::of_bodies(points, triangles, numbers, &[[None; 2]; 12]);
    assert_eq!(nothing.unwrap_err(), HexmeshError::NoBoundary(0));
}

/// Few cells, so that it is quick; the table of all is made by the example `parts`.
#[test]
fn parts_of_several_bodies_conform_and_keep_their_interfaces() {
    for (name, extent, script) in ASSEMBLIES.into_iter().filter(|part| CHECKED.contains(&part.0)) {
        let degrees = if name == "three" || name == "shaft" { 17.0 } else { 0.0 };
        let size = extent / 16.0;
        let Some(part) = faces(script, size, degrees) else { return };
        let Boundary { vertices, triangles, faces, bodies, .. } = part;
        let surface =
            Surface::of_bodies(vertices.clone(), triangles.clone(), faces.clone(), &bodies);
        let surface = surface.unwrap();
        let meshed = mesh(&surface, size, 1e9).unwrap_or_else(|error| panic!("{name}: {error}"));
        checked(&meshed);
        check_conforming(&meshed);
        assert!(meshed.report.least > 0.35, "{name}: {:?}", meshed.report);
        let found = volumes(&meshed, surface.n_bodies());
        let errors = found.iter().zip(surface.volumes()).map(|(own, exact)| own / exact - 1.0);
        let errors: Vec<f64> = errors.collect();
        assert!(errors.iter().all(|error| error.abs() < 5e-3), "{name}: {errors:?}");
        let worst = errors.iter().fold(0.0, |worst, error| f64::max(worst, error.abs()));
        assert!((worst - meshed.report.worst_volume_error()).abs() < 1e-6, "{name}: {errors:?}");

        let between: BTreeSet<u32> = faces
            .iter()
            .zip(&bodies)
            .filter(|(_, sides)| sides[1].is_some())
            .map(|(face, _)| *face)
            .collect();
        assert_eq!(surface.n_interfaces(), between.len());
        let at_faces = bodies_at_faces(&meshed);
        for number in between {
            let own = triangles.iter().zip(&faces).filter(|(_, face)| **face == number);
            let at = |v: u32| vertices[v as usize];
            let cad = Triangles::new(own.map(|(triangle, _)| triangle.map(at)));
            let on_it: Vec<_> = meshed.faces.iter().filter(|face| face.number == number).collect();
            assert!(!on_it.is_empty(), "{name}: face {number}");
            for face in on_it {
                let hex = meshed.hexes[face.face.element as usize];
                let nodes = FACES[face.face.local as usize].map(|a| hex[a]);
                assert_eq!(at_faces[&sorted(nodes)].len(), 2, "{name}: face {number}");
                for v in nodes {
                    let off = cad.distance(meshed.points[v as usize]);
                    assert!(off < MOST_OFF * size, "{name}: {off} off face {number}");
                }
            }
        }
    }
}

/// Parts with each kind of contact.
const CHECKED: [&str; 12] = [
    "stacked",
    "bushing",
    "shaft",
    "inclusion",
    "three",
    "strip",
    "turned_block",
    "bonded",
    "sectors",
    "bolt",
    "rod",
    "peg",
];

/// Distance of nodes from their interface, in elements: those of curved ones move for the volume.
const MOST_OFF: f64 = 0.1;

//! Wedges, which are hexahedra with a face collapsed to an edge, wherever elements are used.

use std::f64::consts::TAU;

use topopt_mesh::hexahedron::{NODES, determinant, jacobian, of_wedge, wedge};
use topopt_mesh::quality::wedge_scaled_jacobian;
use topopt_mesh::surface::{
    NO_NEIGHBOR, area_vector, boundary_faces, face_center, face_coordinates, face_neighbors,
};
use topopt_mesh::{
    Coloring, Components, Face, HexMesh, MeshError, NodeToElements, Quality, Region, Renumbering,
    Sets, UniformGrid, coincident_nodes, hanging_nodes,
};

/// Local nodes of the hexahedron turned around its z axis, and with its x axis up.
const TURNS: [[usize; 8]; 2] = [[1, 2, 3, 0, 5, 6, 7, 4], [1, 5, 6, 2, 0, 4, 7, 3]];

/// `hex` with its local nodes in another of the 24 orders.
fn turned(mut hex: [u32; 8], times: usize) -> [u32; 8] {
    for turn in 0..times {
        hex = TURNS[turn % 2].map(|a| hex[a]);
    }
    hex
}

const SECTORS: usize = 7;
const RINGS: usize = 3;
const LAYERS: usize = 2;

/// A disc of radius 3 and height 2: wedges around the axis, hexahedra outside of them.
fn wheel() -> HexMesh {
    let in_layer = 1 + SECTORS * RINGS;
    let (mut coordinates, mut hexes) = (Vec::new(), Vec::new());
    for layer in 0..=LAYERS {
        coordinates.push([0.0, 0.0, layer as f64]);
        for place in 0..SECTORS * RINGS {
            let angle = TAU * (place % SECTORS) as f64 / SECTORS as f64;
            let radius = (1 + place / SECTORS) as f64;
            coordinates.push([radius * angle.cos(), radius * angle.sin(), layer as f64]);
        }
    }
    for place in 0..LAYERS * SECTORS * RINGS {
        let [ring, sector] = [place % RINGS, place / RINGS % SECTORS];
        let layer = place / (RINGS * SECTORS);
        let line = |ring: usize, sector: usize| {
            let in_plane = if ring == 0 { 0 } else { 1 + SECTORS * (ring - 1) + sector % SECTORS };
            [layer, layer + 1].map(|layer| (layer * in_layer + in_plane) as u32)
        };
        let [p, q] = [line(ring + 1, sector), line(ring + 1, sector + 1)];
        let [r, s] = [line(ring, sector + 1), line(ring, sector)];
        hexes.push(match ring {
            0 => turned(of_wedge([p[0], q[0], r[0], p[1], q[1], r[1]]), sector),
            _ => [p[0], q[0], r[0], s[0], p[1], q[1], r[1], s[1]],
        });
    }
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

fn volume() -> f64 {
    0.5 * 9.0 * (TAU / SECTORS as f64).sin() * SECTORS as f64 * LAYERS as f64
}

fn is_wedge(mesh: &HexMesh, element: u32) -> bool {
    wedge(&mesh.hexes()[element as usize]).is_some()
}

#[test]
fn a_wedge_is_known_in_every_order_of_its_nodes() {
    let x = [[0.0, 0.1, 0.0], [1.1, 0.0, 0.1], [0.2, 0.9, 0.0]];
    let x = [x, x.map(|[a, b, c]| [a - 0.1, b + 0.1, c + 1.0])].concat();
    for times in 0..48 {
        let hex = turned(of_wedge([0, 1, 2, 3, 4, 5]), times);
        let corners = wedge(&hex).unwrap().map(|a| hex[a] as usize);
        let edge = |b: usize| [0, 1, 2].map(|i| x[corners[b]][i] - x[corners[0]][i]);
        assert!(determinant(&[edge(1), edge(2), edge(3)]) > 0.5, "{corners:?}");
        let is_triangle = |of: &[usize]| of.iter().all(|c| c / 3 == of[0] / 3);
        assert!(is_triangle(&corners[..3]) && is_triangle(&corners[3..]), "{corners:?}");
        HexMesh::new(x.clone(), vec![hex], Sets::default()).unwrap();
    }
}

#[test]
fn other_repetitions_are_refused_and_counted() {
    let whole = [0, 1, 2, 3, 4, 5, 6, 7];
    assert_eq!(wedge(&whole), None);
    let tetrahedron = [0, 1, 2, 2, 4, 4, 4, 4];
    let [askew, one_edge] = [[0, 1, 2, 2, 4, 4, 6, 7], [0, 1, 2, 2, 4, 5, 6, 7]];
    for hex in [tetrahedron, askew, one_edge] {
        assert_eq!(wedge(&hex), None, "{hex:?}");
        let error = HexMesh::new(NODES.to_vec(), vec![whole, hex, hex], Sets::default());
        let error = error.unwrap_err();
        assert!(
            matches!(error, MeshError::RepeatedNode { element: 1, count: 2, .. }),
            "{hex:?}: {error}"
        );
    }
    let nodes = [0, 1, 2, 4, 5, 6].map(|a| NODES[a]).to_vec();
    let inside_out = of_wedge([3, 4, 5, 0, 1, 2]);
    let error = HexMesh::new(nodes, vec![inside_out], Sets::default()).unwrap_err();
    assert!(matches!(error, MeshError::Inverted { element: 0, count: 1, .. }), "{error}");
}

#[test]
fn volumes_centers_and_jacobians() {
    let mesh = wheel();
    assert_eq!(mesh.n_degenerate(), SECTORS * LAYERS);
    let total: f64 = mesh.volumes().iter().sum();
    assert!((total / volume() - 1.0).abs() < 1e-14, "{total}");
    for (hex, center) in mesh.hexes().iter().zip(mesh.centers()) {
        if let Some(corners) = wedge(hex) {
            let nodes = corners.map(|a| mesh.coordinates()[hex[a] as usize]);
            let mean = |i: usize| nodes.iter().map(|x| x[i]).sum::<f64>() / 6.0;
            assert!((0..3).all(|i| (mean(i) - center[i]).abs() < 1e-15));
        }
    }
    let x = mesh.element_coordinates(0);
    assert!(NODES.into_iter().any(|corner| determinant(&jacobian(&x, corner)).abs() < 1e-15));
}

#[test]
fn the_surface_is_closed_and_has_no_collapsed_face() {
    let mesh = wheel();
    let faces = boundary_faces(&mesh);
    assert_eq!(faces.len(), 2 * SECTORS * RINGS + SECTORS * LAYERS);
    let (mut sum, mut flux) = ([0.0; 3], 0.0);
    for &face in &faces {
        let x = face_coordinates(&mesh, face);
        let (area, center) = (area_vector(&x), face_center(&x));
        assert!(area.iter().map(|a| a * a).sum::<f64>() > 0.01, "{face:?}");
        (0..3).for_each(|i| sum[i] += area[i]);
        flux += (0..3).map(|i| area[i] * center[i]).sum::<f64>() / 3.0;
    }
    assert!(sum.iter().all(|s| s.abs() < 1e-13), "{sum:?}");
    assert!((flux / volume() - 1.0).abs() < 1e-13, "{flux}");
    let neighbors = face_neighbors(&mesh);
    for (element, others) in (0..).zip(&neighbors) {
        let own = others.iter().filter(|&&other| other == element).count();
        assert_eq!(own, usize::from(is_wedge(&mesh, element)));
        for other in others.iter().filter(|&&other| other != NO_NEIGHBOR) {
            assert!(neighbors[*other as usize].contains(&element));
        }
    }
}

#[test]
fn a_triangle_over_half_a_quadrilateral_is_no_common_face() {
    let top = |[x, y, z]: [f64; 3]| [x, y, z + 2.0];
    let coordinates = [&NODES[..], &[4, 5, 6].map(|a| top(NODES[a]))].concat();
    let hexes = vec![[0, 1, 2, 3, 4, 5, 6, 7], of_wedge([4, 5, 6, 8, 9, 10])];
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
    assert_eq!(boundary_faces(&mesh).len(), 6 + 5);
    assert_eq!(Face::key([7, 3, 3, 5]), [3, 5, 7, u32::MAX]);
}

#[test]
fn nodes_and_parts() {
    let mesh = wheel();
    assert!(hanging_nodes(&mesh).is_empty());
    assert!(coincident_nodes(&mesh).is_empty());
    assert_eq!(Components::of(&mesh).n_components(), 1);
    let n = mesh.n_elements() as u32;
    assert_eq!(Region::new(&mesh, &vec![true; n as usize]).parts().len(), 1);
    let wedges: Vec<u32> = (0..n).filter(|&e| is_wedge(&mesh, e)).collect();
    let inside: Vec<bool> = (0..n).map(|e| is_wedge(&mesh, e)).collect();
    assert_eq!(Region::new(&mesh, &inside).parts(), [wedges]);
    let shuffled = Renumbering::shuffled(&mesh, 3).apply(&mesh);
    assert_eq!(boundary_faces(&shuffled).len(), boundary_faces(&mesh).len());
}

#[test]
fn adjacency_and_colors() {
    let mesh = wheel();
    let adjacency = NodeToElements::new(&mesh);
    assert_eq!(adjacency.valence(0), 2 * SECTORS);
    let coloring = Coloring::greedy(&mesh, &adjacency);
    let mut color = vec![usize::MAX; mesh.n_elements()];
    for (c, group) in coloring.groups().iter().enumerate() {
        group.iter().for_each(|&e| color[e as usize] = c);
    }
    for node in 0..mesh.n_nodes() {
        for (e, a) in adjacency.of(node) {
            assert_eq!(mesh.hexes()[e as usize][a as usize] as usize, node);
        }
        let mut around = adjacency.elements_of(node).to_vec();
        around.dedup();
        let mut colors: Vec<_> = around.iter().map(|&e| color[e as usize]).collect();
        colors.sort_unstable();
        assert!(colors.is_sorted_by(|a, b| a < b), "{colors:?}");
    }
}

/// The oracle is vtkMeshQuality of VTK 9.7.1.
#[test]
fn quality_of_a_wedge_is_that_of_vtk() {
    let x = [
        [0.0, 0.0, 0.0],
        [1.1, 0.0, 0.1],
        [0.2, 0.9, 0.0],
        [0.0, 0.1, 1.0],
        [1.0, 0.0, 1.2],
        [0.1, 1.0, 1.0],
    ];
    assert!((wedge_scaled_jacobian(&x) - 0.7643339021935243).abs() < 1e-14);
    let hex = turned(of_wedge([0, 1, 2, 3, 4, 5]), 3);
    let mesh = HexMesh::new(x.to_vec(), vec![hex], Sets::default()).unwrap();
    assert!((mesh.volumes()[0] - 0.4969166666666667).abs() < 1e-14);
    let quality = Quality::of(&mesh);
    assert!((quality.scaled_jacobian[0] - 0.7643339021935243).abs() < 1e-14);
    let edge =
        |a: usize, b: usize| (0..3).map(|i| f64::powi(x[a][i] - x[b][i], 2)).sum::<f64>().sqrt();
    assert!((quality.aspect_ratio[0] - edge(4, 5) / edge(3, 5)).abs() < 1e-14);
}

#[test]
fn every_cell_of_a_grid_finds_its_element() {
    let mesh = wheel();
    let grid = UniformGrid::covering(&mesh.bounding_box(), 0.11).unwrap();
    let apothem = (0.5 * TAU / SECTORS as f64).cos();
    for (cell, owner) in grid.locate(&mesh).into_iter().enumerate() {
        let [n, m, _] = grid.cells;
        let [x, y, _] = grid.center([cell % n, cell / n % m, cell / (n * m)]);
        // Outward normals of the sides stand in the middle of the sectors.
        let normal = |s: usize| (TAU * (s as f64 + 0.5) / SECTORS as f64).sin_cos();
        let across = (0..SECTORS).map(normal).map(|(sin, cos)| x * cos + y * sin);
        let across = across.fold(0.0, f64::max);
        assert_eq!(owner != UniformGrid::OUTSIDE, across <= 3.0 * apothem, "{x} {y}");
        let in_wedge = owner != UniformGrid::OUTSIDE && is_wedge(&mesh, owner);
        assert_eq!(in_wedge, across <= apothem, "{x} {y}");
    }
}

//! A conforming mesh of cells of all shapes, and the hexahedra that they are cut into.

use topopt_mesh::cells::{Cells, Cut, Shape};
use topopt_mesh::{HexMesh, Renumbering, Sets};

/// Four unit cubes in a box of 2 x 2 x 1: two of tetrahedra and pyramids, one of two wedges, and
/// one hexahedron. Coordinates `[n_nodes][3]`, and 24 cells.
pub fn mixed_cells() -> (Vec<[f64; 3]>, Cells) {
    let mut coordinates: Vec<[f64; 3]> = Vec::new();
    for k in 0..2 {
        for j in 0..3 {
            coordinates.extend((0..3).map(|i| [i as f64, j as f64, k as f64]));
        }
    }
    coordinates.extend([[0.5; 3], [1.5, 0.5, 0.5]]);

    let node = |i: usize, j: usize, k: usize| (i + 3 * j + 9 * k) as u32;
    let cube = |i: usize, j: usize| {
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        let at = |k: usize| corners.map(|[di, dj]| node(i + di, j + dj, k));
        [at(0), at(1)].concat()
    };
    let mut cells = Cells::default();

    // Pyramids only on faces shared with the hexahedron and the wedges.
    for (center, corners, whole) in [(18, cube(0, 0), vec![3]), (19, cube(1, 0), vec![3, 4])] {
        for (number, face) in Shape::Hexahedron.faces().iter().enumerate() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| corners[face[i]]);
            if whole.contains(&number) {
                cells.push(Shape::Pyramid, &[a, d, c, b, center], &[]);
                continue;
            }
            // Along the diagonal through the smallest node, so that both sides of a face agree.
            let smallest = [a, b, c, d].into_iter().min();
            let [p, q, r, s] = if Some(a) == smallest || Some(c) == smallest {
                [a, b, c, d]
            } else {
                [b, c, d, a]
            };
            cells.push(Shape::Tetrahedron, &[p, r, q, center], &[]);
            cells.push(Shape::Tetrahedron, &[p, s, r, center], &[]);
        }
    }
    cells.push(Shape::Hexahedron, &cube(0, 1), &[]);
    let c = cube(1, 1);
    cells.push(Shape::Wedge, &[c[0], c[1], c[2], c[4], c[5], c[6]], &[]);
    cells.push(Shape::Wedge, &[c[0], c[2], c[3], c[4], c[6], c[7]], &[]);
    (coordinates, cells)
}

/// The mixed cells cut into hexahedra and pyramids and bent, in random order.
pub fn mixed_cut() -> HexMesh {
    let (coordinates, cells) = mixed_cells();
    let cut = Cut::of(&cells, coordinates).unwrap();
    let bent = |[x, y, z]: [f64; 3]| [x + 0.1 * y * z, y + 0.1 * x * x, z + 0.05 * x * y];
    let coordinates = cut.coordinates.into_iter().map(bent).collect();
    let mesh = HexMesh::new(coordinates, cut.hexes, Sets::default()).unwrap();
    Renumbering::shuffled(&mesh, 3).apply(&mesh)
}

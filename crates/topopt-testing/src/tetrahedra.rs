//! Boxes of tetrahedra of ten nodes.

use topopt_mesh::cells::{Cells, Cut, Shape};
use topopt_mesh::{HexMesh, Sets, tetrahedron};

use crate::noise::Noise;

/// Axes in all orders, those of positive orientation first.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];

/// The unit cube in `n` bricks of six tetrahedra each \[Kuhn1960\], mapped by `map`: with straight
/// edges, or if `is_curved` with all ten nodes mapped.
pub fn kuhn(n: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3], is_curved: bool) -> HexMesh {
    let node = |at: [usize; 3]| (at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2])) as u32;
    let mut coordinates = Vec::new();
    for k in 0..=n[2] {
        for j in 0..=n[1] {
            coordinates.extend(
                (0..=n[0]).map(|i| {
                    [i as f64 / n[0] as f64, j as f64 / n[1] as f64, k as f64 / n[2] as f64]
                }),
            );
        }
    }

    let mut cells = Cells::default();
    for brick in 0..n[0] * n[1] * n[2] {
        let corner = [brick % n[0], brick / n[0] % n[1], brick / (n[0] * n[1])];
        for (number, order) in ORDERS.into_iter().enumerate() {
            let mut at = corner;
            let mut vertices = [node(at); 4];
            for (vertex, axis) in vertices[1..].iter_mut().zip(order) {
                at[axis] += 1;
                *vertex = node(at);
            }
            if number >= 3 {
                vertices.swap(1, 2);
            }
            cells.push(Shape::Tetrahedron, &vertices, &[]);
        }
    }

    let cut = Cut::keeping_tetrahedra(&cells, coordinates).unwrap();
    let mut x: Vec<[f64; 3]> = cut.coordinates.iter().map(|&x| map(x)).collect();
    if !is_curved {
        for nodes in &cut.tetrahedra {
            let vertices = [0, 1, 2, 3].map(|a| x[nodes[a] as usize]);
            let straight = tetrahedron::straight(vertices);
            (4..10).for_each(|a| x[nodes[a] as usize] = straight[a]);
        }
    }
    HexMesh::of_tetrahedra(x, cut.tetrahedra, Sets::default()).unwrap()
}

/// The unit cube in n x n x n such bricks, the vertices inside (or, if `surface`, all) moved at
/// random by up to `share` of a brick; with straight edges.
pub fn distorted_tetrahedra(n: usize, share: f64, surface: bool) -> HexMesh {
    let noise = std::cell::RefCell::new(Noise(11));
    let moved = |v: f64| {
        let shift = share / n as f64 * noise.borrow_mut().number();
        let is_inside = v > 1e-9 && v < 1.0 - 1e-9;
        if is_inside || surface { v + shift } else { v }
    };
    kuhn([n; 3], |x| x.map(moved), false)
}

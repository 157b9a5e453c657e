//! Meshes for tests: a box of distorted elements, and one with nodes of irregular valence.

use topopt_mesh::generate::block;
use topopt_mesh::hexahedron::of_wedge;
use topopt_mesh::{HexMesh, Sets};

use crate::noise::Noise;

/// The unit cube in n x n x n elements, mapped by `map`.
pub fn mapped_cube(n: usize, map: impl Fn([f64; 3]) -> [f64; 3]) -> HexMesh {
    mapped_box([n; 3], map)
}

/// The unit cube in nx x ny x nz elements, mapped by `map`.
pub fn mapped_box([nx, ny, nz]: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3]) -> HexMesh {
    let share = |index: usize, n: usize| index as f64 / n as f64;
    let (coordinates, hexes) =
        block([nx, ny, nz], |[i, j, k]| map([share(i, nx), share(j, ny), share(k, nz)]));
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

/// The unit cube with its inner nodes (or, if `surface`, all nodes) moved at random by up to
/// `share` of an element.
pub fn distorted_cube(n: usize, share: f64, surface: bool) -> HexMesh {
    let mut noise = Noise(7);
    let straight = mapped_cube(n, |x| x);
    let coordinates = straight
        .coordinates()
        .iter()
        .map(|x| {
            x.map(|v| {
                let inner = v > 1e-9 && v < 1.0 - 1e-9;
                let shift = share / n as f64 * noise.number();
                if inner || surface { v + shift } else { v }
            })
        })
        .collect();
    HexMesh::new(coordinates, straight.hexes().to_vec(), Sets::default()).unwrap()
}

/// A hexagonal disc of three rhombi, each in n x n quadrilaterals, extruded in n curved layers:
/// three or six elements around a node line where a box has two or four.
pub fn hexagon(n: usize) -> HexMesh {
    let corner = |k: usize| {
        let angle = std::f64::consts::PI / 3.0 * k as f64;
        [angle.cos(), angle.sin()]
    };

    let mut coordinates: Vec<[f64; 3]> = Vec::new();
    // Rhombi share nodes on their edges, which are found by place.
    let mut hexes = Vec::new();
    let mut number = |p: [f64; 3]| {
        let near = |q: &[f64; 3]| (0..3).all(|i| (p[i] - q[i]).abs() < 1e-9);
        let found = coordinates.iter().position(near);
        found.unwrap_or_else(|| {
            coordinates.push(p);
            coordinates.len() - 1
        }) as u32
    };

    for rhombus in 0..3 {
        let (a, b) = (corner(2 * rhombus), corner(2 * rhombus + 2));
        let point = |i: usize, j: usize, k: usize| {
            let (s, t) = (i as f64 / n as f64, j as f64 / n as f64);
            let (x, y) = (s * a[0] + t * b[0], s * a[1] + t * b[1]);
            [x, y, k as f64 / n as f64 + 0.2 * x * y]
        };

        for k in 0..n {
            for j in 0..n {
                for i in 0..n {
                    let mut hex = [0; 8];
                    for (c, [di, dj]) in [[0, 0], [1, 0], [1, 1], [0, 1]].into_iter().enumerate() {
                        hex[c] = number(point(i + di, j + dj, k));
                        hex[c + 4] = number(point(i + di, j + dj, k + 1));
                    }
                    hexes.push(hex);
                }
            }
        }
    }
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

/// A twisted cylinder of radius 1 and height 1 in `n` rings and layers: wedges around the axis,
/// whose local nodes stand in many orders, and hexahedra outside of them. Nodes inside are moved at
/// random.
pub fn wheel(n: usize) -> HexMesh {
    const SECTORS: usize = 7;

    let in_layer = 1 + SECTORS * n;
    let mut noise = Noise(5);
    let mut place = |ring: usize, sector: usize, layer: usize| {
        let [r, z] = [ring, layer].map(|v| v as f64 / n as f64);
        let angle = std::f64::consts::TAU * sector as f64 / SECTORS as f64 + 0.3 * z;
        let inside = ring < n && layer > 0 && layer < n;
        [r * angle.cos(), r * angle.sin(), z + 0.1 * r * angle.sin()]
            .map(|v| if inside { v + 0.15 / n as f64 * noise.number() } else { v })
    };

    let (mut coordinates, mut hexes) = (Vec::new(), Vec::new());
    for layer in 0..=n {
        coordinates.push(place(0, 0, layer));
        let others = (0..SECTORS * n).map(|k| place(1 + k / SECTORS, k % SECTORS, layer));
        coordinates.extend(others);
    }

    for k in 0..n * n * SECTORS {
        let [ring, sector, layer] = [k % n, k / n % SECTORS, k / (n * SECTORS)];
        let line = |ring: usize, sector: usize| {
            let in_plane = if ring == 0 { 0 } else { 1 + SECTORS * (ring - 1) + sector % SECTORS };
            [layer, layer + 1].map(|layer| (layer * in_layer + in_plane) as u32)
        };
        let [p, q] = [line(ring + 1, sector), line(ring + 1, sector + 1)];
        let [r, s] = [line(ring, sector + 1), line(ring, sector)];

        let mut hex = [p[0], q[0], r[0], s[0], p[1], q[1], r[1], s[1]];
        if ring == 0 {
            assert_eq!(hex, of_wedge([p[0], q[0], r[0], p[1], q[1], r[1]]));
            let turns = [[1, 2, 3, 0, 5, 6, 7, 4], [1, 5, 6, 2, 0, 4, 7, 3]];
            (0..sector + 3 * layer).for_each(|turn| hex = turns[turn % 2].map(|a| hex[a]));
        }
        hexes.push(hex);
    }
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}
